//! The short way for the files of a run: what every grading of ours and of the public skill-creator looks like, read in one
//! pass and without a tree.
//!
//! The one invariant: whatever is unusual is none of its business. A field of another type or of another name, a key
//! twice, broken JSON: the answer is nothing, and the long way reads the file again and says what it is. So the
//! two can only agree, and a property test holds that they do.

mod expectation;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use skillgauge_format::json::Number;

use super::file::{amount_of, whole_of};
use super::grading::{Counts, Graded, Suggestion, rubric_of};
use super::scan::Cursor;
use super::told::{Times, Told, named};
use crate::judge::record::{GRADER, RunFacts};

/// Reads a type from a file, if it is a plain one.
fn read<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Option<T> {
    serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()
}

/// What `run.json` tells.
pub(super) fn told(bytes: &[u8]) -> Option<Told> {
    read(bytes)
}

/// What `timing.json` tells.
pub(super) fn times(bytes: &[u8]) -> Option<Times> {
    read(bytes)
}

/// The ids of the cases of a suite that a rubric is scored for.
pub(super) fn scored_cases(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let mut scored = BTreeSet::new();
    let mut cursor = Cursor::new(bytes)?;
    let mut has_evals = false;
    fields(&mut cursor, &["evals"], |cursor, _| {
        has_evals = true;
        cursor.array(|cursor| {
            let (mut id, mut is_scored) = (None, false);
            fields(cursor, &["id", "quality_rubric"], |cursor, name| {
                match name {
                    "id" => id = Some(cursor.id()?),
                    _ => is_scored = has_dimensions(cursor)?,
                }
                Some(())
            })?;
            scored.extend(id.filter(|_| is_scored));
            Some(())
        })
    })?;
    (has_evals && cursor.is_at_end()).then_some(scored)
}

fn has_dimensions(cursor: &mut Cursor<'_>) -> Option<bool> {
    let mut count = 0;
    fields(cursor, &["dimensions"], |cursor, _| {
        cursor.array(|cursor| {
            count += 1;
            cursor.skip()
        })
    })?;
    Some(count > 0)
}

/// What is kept of the gradings of a case.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    /// The lists of their verdicts, as they stand in a benchmark.
    pub(super) lists: Vec<u8>,
    /// The texts of the grading before: the runs of a case have the same in the same order.
    texts: Arc<[Box<str>]>,
    /// The dimensions of the rubric before.
    dimensions: Vec<Arc<str>>,
}

/// A name, that of the grading before at the same place if it is the same.
fn shared(known: &mut Vec<Arc<str>>, place: usize, name: &str) -> Arc<str> {
    match known.get(place) {
        Some(known) if **known == *name => Arc::clone(known),
        _ => {
            let new: Arc<str> = name.into();
            known.truncate(place);
            known.push(Arc::clone(&new));
            new
        }
    }
}

/// Reads a grading; nothing when it is an unusual one, an error when it measures nothing.
pub(super) fn grading(bytes: &[u8], keeper: &mut Keeper) -> Option<Result<Graded, String>> {
    let mut cursor = Cursor::new(bytes)?;
    let mut document = Document::default();
    fields(&mut cursor, &FIELDS, |cursor, name| document.read(cursor, name, keeper))?;
    if !cursor.is_at_end() || !document.has_verdicts || !document.has_summary {
        return None;
    }
    Some(document.graded())
}

/// Reads an object: `read` is called for each of the fields that has a name of these, the others are passed over. A field
/// that is there twice is unusual.
fn fields<'t>(
    cursor: &mut Cursor<'t>,
    names: &[&str],
    mut read: impl FnMut(&mut Cursor<'t>, &'t str) -> Option<()>,
) -> Option<()> {
    let mut seen = 0_u32;
    cursor.object(|cursor, key| {
        let Some(place) = names.iter().position(|name| *name == key) else {
            return cursor.skip();
        };
        let bit = 1 << place;
        if seen & bit != 0 {
            return None;
        }
        seen |= bit;
        read(cursor, key)
    })
}

/// The fields of a grading that matter.
const FIELDS: [&str; 17] = [
    "expectations",
    "summary",
    "rubric_scores",
    "rubric_summary",
    "execution_metrics",
    "timing",
    "user_notes_summary",
    "eval_feedback",
    "gate_passed",
    "run_record",
    "judge_errors",
    GRADER,
    // Shapes and names of others.
    "results",
    "overall_score",
    "assertion_results",
    "judge",
    "judge_model",
];

#[derive(Default)]
struct Document {
    graded: Graded,
    has_verdicts: bool,
    has_summary: bool,
    /// It says who graded, and names no model.
    is_unjudged: bool,
    counts: Counts,
    scores: Vec<(Arc<str>, f64)>,
    normalized: Option<f64>,
    weighted_mean: Option<f64>,
}

impl Document {
    fn read(&mut self, cursor: &mut Cursor<'_>, name: &str, keeper: &mut Keeper) -> Option<()> {
        match name {
            "expectations" => {
                self.graded.verdicts = expectation::verdicts(cursor, keeper)?;
                self.has_verdicts = true;
                Some(())
            }
            "summary" => {
                self.has_summary = true;
                self.summary(cursor)
            }
            "gate_passed" => {
                self.graded.gate_passed = cursor.optional(Cursor::boolean)?;
                Some(())
            }
            "run_record" => {
                self.graded.facts = cursor.optional(facts)?;
                Some(())
            }
            GRADER => {
                let mut model = None;
                fields(cursor, &["model"], |cursor, _| {
                    model = cursor.optional(Cursor::string)?;
                    Some(())
                })?;
                self.is_unjudged = model.is_none();
                Some(())
            }
            "judge_errors" => cursor
                .optional(|cursor| {
                    cursor.array(|cursor| {
                        self.graded.judge_errors += 1;
                        cursor.skip()
                    })
                })
                .map(drop),
            "rubric_scores" => {
                cursor.optional(|cursor| self.scores(cursor, &mut keeper.dimensions)).map(drop)
            }
            "rubric_summary" => cursor.optional(|cursor| self.rubric(cursor)).map(drop),
            "execution_metrics" => cursor.optional(|cursor| self.metrics(cursor)).map(drop),
            "timing" => cursor.optional(|cursor| self.timing(cursor)).map(drop),
            "user_notes_summary" => cursor.optional(|cursor| self.notes(cursor)).map(drop),
            "eval_feedback" => cursor.optional(|cursor| self.feedback(cursor)).map(drop),
            _ => None,
        }
    }

    fn summary(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let counts = &mut self.counts;
        fields(cursor, &["passed", "failed", "total", "pass_rate"], |cursor, name| {
            let number = cursor.optional(Cursor::number)?;
            match name {
                "passed" => counts.passed = number.and_then(whole_of),
                "failed" => counts.failed = number.and_then(whole_of),
                "total" => counts.total = number.and_then(whole_of),
                _ => counts.pass_rate = number.and_then(amount_of),
            }
            Some(())
        })
    }

    fn scores(&mut self, cursor: &mut Cursor<'_>, known: &mut Vec<Arc<str>>) -> Option<()> {
        self.scores.reserve_exact(known.len());
        cursor.object(|cursor, name| {
            let mut score = None;
            fields(cursor, &["score"], |cursor, _| {
                score = Some(cursor.number()?.as_f64());
                Some(())
            })?;
            let score = score.filter(|score| (0.0..=5.0).contains(score))?;
            self.scores.push((shared(known, self.scores.len(), name), score));
            Some(())
        })
    }

    fn rubric(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        fields(cursor, &["normalized", "weighted_mean"], |cursor, name| {
            let number = cursor.optional(Cursor::number)?;
            let number = number.and_then(amount_of).map(Number::as_f64);
            match name {
                "normalized" => self.normalized = number,
                _ => self.weighted_mean = number,
            }
            Some(())
        })
    }

    fn metrics(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        fields(cursor, &["total_tool_calls", "errors_encountered"], |cursor, name| {
            let number = cursor.optional(Cursor::number)?.and_then(whole_of);
            match name {
                "total_tool_calls" => self.graded.tool_calls = number,
                _ => self.graded.errors = number,
            }
            Some(())
        })
    }

    fn timing(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        fields(cursor, &["total_duration_seconds", "total_tokens"], |cursor, name| {
            let number = cursor.optional(Cursor::number)?;
            if name == "total_tokens" {
                self.graded.tokens = number.and_then(whole_of).filter(|tokens| *tokens > 0);
            } else {
                let seconds = number.and_then(amount_of);
                self.graded.seconds = seconds.filter(|seconds| seconds.as_f64() > 0.0);
            }
            Some(())
        })
    }

    fn notes(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        const LISTS: [&str; 3] = ["uncertainties", "needs_review", "workarounds"];
        let mut lists = [const { Vec::new() }; LISTS.len()];
        fields(cursor, &LISTS, |cursor, name| {
            let list = LISTS.iter().zip(&mut lists).find(|(list, _)| **list == name)?.1;
            cursor.array(|cursor| {
                list.push(cursor.string()?.text()?.into_owned());
                Some(())
            })
        })?;
        self.graded.notes = lists.into_iter().flatten().collect();
        Some(())
    }

    fn feedback(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let suggestions = &mut self.graded.suggestions;
        fields(cursor, &["suggestions"], |cursor, _| {
            cursor.array(|cursor| suggestion(cursor, suggestions))
        })
    }

    fn graded(self) -> Result<Graded, String> {
        let mut graded = self.graded;
        if self.is_unjudged {
            graded.judge_errors = 0;
        }
        graded.count(self.counts)?;
        graded.rubric = rubric_of(self.scores, self.normalized, self.weighted_mean);
        Ok(graded)
    }
}

/// What the grading says of its run.
fn facts(cursor: &mut Cursor<'_>) -> Option<RunFacts> {
    const NAMES: [&str; 8] = [
        "outcome",
        "reason",
        "model",
        "skill_loaded",
        "seconds",
        "total_tokens",
        "agent_version",
        "skillgauge_version",
    ];
    let text = |cursor: &mut Cursor<'_>| {
        let found = cursor.optional(|cursor| cursor.string()?.text())?;
        Some(found.map(Cow::into_owned))
    };
    let (mut outcome, mut reason, mut model) = (None, None, None);
    let (mut agent_version, mut skillgauge_version) = (None, None);
    let (mut skill_loaded, mut seconds, mut total_tokens) = (None, None, None);
    fields(cursor, &NAMES, |cursor, name| {
        match name {
            "outcome" => outcome = Some(named(&cursor.string()?.text()?)?),
            "reason" => reason = Some(named(&cursor.string()?.text()?)?),
            "model" => model = text(cursor)?,
            "agent_version" => agent_version = text(cursor)?,
            "skillgauge_version" => skillgauge_version = text(cursor)?,
            "skill_loaded" => skill_loaded = Some(cursor.boolean()?),
            "seconds" => seconds = Some(cursor.number()?),
            _ => {
                total_tokens = cursor.optional(|cursor| match cursor.number()? {
                    Number::Unsigned(count) => Some(count),
                    Number::Signed(_) | Number::Float(_) => None,
                })?;
            }
        }
        Some(())
    })?;
    Some(RunFacts {
        outcome: outcome?,
        reason: reason?,
        model,
        skill_loaded: skill_loaded?,
        seconds: seconds?,
        total_tokens,
        agent_version,
        skillgauge_version,
    })
}

/// A suggestion; one that gives no reason is none.
fn suggestion(cursor: &mut Cursor<'_>, suggestions: &mut Vec<Suggestion>) -> Option<()> {
    let (mut assertion, mut reason, mut action) = (None, None, None);
    fields(cursor, &["assertion", "reason", "action"], |cursor, name| {
        let found = match cursor.optional(Cursor::string)? {
            Some(quoted) => Some(quoted.text()?.trim().to_owned()).filter(|text| !text.is_empty()),
            None => None,
        };
        match name {
            "assertion" => assertion = found,
            "reason" => reason = found,
            _ => action = found,
        }
        Some(())
    })?;
    if let Some(reason) = reason {
        // Most have one, and there are many gradings.
        suggestions.reserve_exact(1);
        suggestions.push(Suggestion { assertion, reason, action });
    }
    Some(())
}

#[cfg(test)]
mod tests;
