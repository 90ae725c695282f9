//! The verdicts of a grading: read, and written at once as they will stand in the benchmark.

use std::sync::Arc;

use super::Keeper;
use crate::benchmark::scan::{Cursor, Names, Quoted};
use crate::benchmark::verdict::{self, Verdicts};

/// Reads the verdicts, and writes the list as it will stand in the benchmark.
pub(super) fn verdicts(cursor: &mut Cursor<'_>, keeper: &mut Keeper) -> Option<Verdicts> {
    let Keeper { lists, texts, .. } = keeper;
    let start = lists.len();
    let mut passed = Vec::with_capacity(texts.len());
    // The texts of this grading, as soon as one is not that of the grading before.
    let mut own: Option<Vec<Box<str>>> = None;
    cursor.array(|cursor| {
        let place = passed.len();
        let verdict = verdict(cursor, place, lists)?;
        passed.push(verdict.passed?);
        let text = verdict.text?.text()?;
        match &mut own {
            Some(own) => own.push(text.into()),
            None if texts.get(place).is_some_and(|known| **known == *text) => {}
            None => {
                let same = texts.iter().take(place).cloned();
                own = Some(same.chain([text.into()]).collect());
            }
        }
        Some(())
    })?;
    if passed.is_empty() {
        return Some(Verdicts::default());
    }
    verdict::close(lists);
    match own {
        Some(own) => *texts = own.into(),
        None if passed.len() < texts.len() => *texts = texts[..passed.len()].into(),
        None => {}
    }
    Some(Verdicts::new(Arc::clone(texts), passed.into(), start..lists.len()))
}

/// An expectation with its verdict, as it stands in the file.
#[derive(Default)]
struct Expectation<'t> {
    text: Option<Quoted<'t>>,
    passed: Option<bool>,
    evidence: Option<Quoted<'t>>,
    /// Others; text, value and evidence come before them.
    others: Names<'t>,
}

/// Reads a verdict, and writes it.
fn verdict<'t>(
    cursor: &mut Cursor<'t>,
    place: usize,
    out: &mut Vec<u8>,
) -> Option<Expectation<'t>> {
    let mut found = Expectation::default();
    let mut is_written = false;
    cursor.object(|cursor, key| {
        match key {
            "text" if found.text.is_none() => found.text = Some(cursor.string()?),
            "passed" if found.passed.is_none() => found.passed = Some(cursor.boolean()?),
            "evidence" if found.evidence.is_none() && !is_written => {
                found.evidence = Some(cursor.string()?);
            }
            "text" | "passed" | "evidence" | "assertion" | "expectation" => return None,
            other => {
                if !is_written {
                    found.write(place, out)?;
                    is_written = true;
                }
                found.others.add(other)?;
                verdict::begin_field(other, out);
                cursor.render(verdict::DEPTH, out)?;
            }
        }
        Some(())
    })?;
    if !is_written {
        found.write(place, out)?;
    }
    verdict::end(out);
    Some(found)
}

impl Expectation<'_> {
    /// Writes all but the others, as the types would be written.
    fn write(&self, place: usize, out: &mut Vec<u8>) -> Option<()> {
        verdict::begin(place, self.text?, self.passed?, out)?;
        if let Some(evidence) = self.evidence {
            verdict::begin_field("evidence", out);
            evidence.render(out)?;
        }
        Some(())
    }
}
