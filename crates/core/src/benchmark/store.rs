//! Puts the three files of a benchmark into its iteration, each complete or not there.
//!
//! Nearly all of `benchmark.json` is its runs, and nearly all of a run is its verdicts, which are written when its grading is
//! read. So several threads read and write a case each, and the text goes into the file as soon as it is its turn: little
//! of it is ever in memory. Only when the runs must first tell what stands before them are they kept until all are
//! read. The whole is the same as if the types were written. Nothing is synced: a rename is enough for "complete or
//! not there" as long as the machine lives, and what a power cut takes can be computed again from the runs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::Serialize;
use skillgauge_format::evals::{Benchmark, BenchmarkMetadata, BenchmarkRun};
use skillgauge_format::write::{append, to_text};

use super::record::{self, CaseRuns, Desk, Iteration, Run};
use super::shape::Conclusions;
use super::subject::Subject;
use super::{BenchmarkError, FILE, markdown, parallel};
use crate::workspace::replace_file;

/// What was written: the runs, what they come to, and the three files.
pub(super) struct Stored {
    pub(super) iteration: Iteration,
    pub(super) conclusions: Conclusions,
    pub(super) files: [PathBuf; 3],
}

/// Reads the runs, concludes what they come to, and writes the three files.
pub(super) fn write(
    subject: &Subject<'_>,
    threads: usize,
    seed: u64,
) -> Result<Stored, BenchmarkError> {
    let path = subject.folder.join(FILE);
    let early = subject.settled_metadata();
    let early = early.map(|metadata| write_early(&path, subject, metadata, threads, seed));
    let (iteration, conclusions) = match early.transpose()?.flatten() {
        Some(written) => written,
        None => write_late(&path, subject, threads, seed)?,
    };
    let [markdown, feedback] = write_others(&subject.folder, &conclusions)?;
    Ok(Stored { iteration, conclusions, files: [path, markdown, feedback] })
}

/// The runs, and what they come to.
type Found = (Iteration, Conclusions);

/// Writes each case as soon as it is read; nothing when one of them is not what the name of its folder says, or when there is
/// none.
pub(super) fn write_early(
    path: &Path,
    subject: &Subject<'_>,
    metadata: BenchmarkMetadata,
    threads: usize,
    seed: u64,
) -> Result<Option<Found>, BenchmarkError> {
    let mut is_expected = true;
    let finish = |desk: &mut Desk| {
        let (mut text, mut bare) = (std::mem::take(&mut desk.text), std::mem::take(&mut desk.bare));
        let made =
            desk.case().map_or(Ok(()), |(case, lists)| make(case, lists, &mut text, &mut bare));
        (desk.text, desk.bare) = (text, bare);
        desk.forget_texts();
        made
    };
    let written = replace_file(path, |file| {
        let mut document = Document::begin(file, &metadata)?;
        let iteration = record::read(subject, threads, finish, |desk| {
            is_expected &= desk.is_expected;
            if is_expected { document.add(&desk.text) } else { Err(io::Error::other("unexpected")) }
        })?;
        if iteration.cases.is_empty() {
            is_expected = false;
            return Err(io::Error::other("no runs"));
        }
        let conclusions = Conclusions::of(&iteration, &subject.folder, metadata, seed);
        document.end(&conclusions.frame)?;
        Ok((iteration, conclusions))
    });
    match written {
        Ok(found) => Ok(Some(found)),
        Err(_) if !is_expected => Ok(None),
        Err(source) => Err(BenchmarkError::Unwritable { source }),
    }
}

/// Writes the cases when all are read.
pub(super) fn write_late(
    path: &Path,
    subject: &Subject<'_>,
    threads: usize,
    seed: u64,
) -> Result<Found, BenchmarkError> {
    let mut iteration = record::read_all(subject, threads, Desk::keep_lists)?;
    let metadata = subject.metadata(&iteration);
    let conclusions = Conclusions::of(&iteration, &subject.folder, metadata.clone(), seed);
    let fill = |case: &CaseRuns, (text, bare): &mut (Vec<u8>, Vec<u8>)| {
        make(case, &case.lists, text, bare)
    };
    replace_file(path, |file| {
        let mut document = Document::begin(file, &metadata)?;
        parallel::in_order(&iteration.cases, threads, fill, |(text, _)| document.add(text))?;
        document.end(&conclusions.frame)
    })
    .map_err(|source| BenchmarkError::Unwritable { source })?;
    iteration.cases.iter_mut().for_each(|case| case.lists = Vec::new());
    Ok((iteration, conclusions))
}

fn write_others(folder: &Path, conclusions: &Conclusions) -> Result<[PathBuf; 2], BenchmarkError> {
    let markdown = markdown::render(&conclusions.frame);
    let feedback = to_text(&conclusions.feedback);
    let feedback = feedback.map_err(|source| BenchmarkError::NotJson { source })?;
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        replace_file(&path, |file| file.write_all(text.as_bytes()))
            .map_err(|source| BenchmarkError::Unwritable { source })?;
        Ok(path)
    };
    Ok([put("benchmark.md", &markdown)?, put("eval_feedback_aggregate.json", &feedback)?])
}

/// The text of a benchmark, from its beginning to its end.
struct Document<W> {
    out: W,
    is_empty: bool,
}

impl<W: Write> Document<W> {
    /// Writes what stands before the runs.
    fn begin(mut out: W, metadata: &BenchmarkMetadata) -> io::Result<Self> {
        let known = Benchmark { metadata: Some(metadata.clone()), ..Benchmark::default() };
        let (before, _) = around_runs(known)?;
        out.write_all(before.as_bytes())?;
        Ok(Self { out, is_empty: true })
    }

    /// Writes the runs of a case, if it has any, as [`make`] made them.
    fn add(&mut self, runs: &[u8]) -> io::Result<()> {
        let Some((_separator, first)) = runs.split_first() else { return Ok(()) };
        let is_first = std::mem::replace(&mut self.is_empty, false);
        self.out.write_all(if is_first { first } else { runs })
    }

    /// Writes what stands after the runs.
    fn end(mut self, frame: &Benchmark) -> io::Result<()> {
        if !self.is_empty {
            self.out.write_all(CLOSED.as_bytes())?;
        }
        let (_, after) = around_runs(frame.clone())?;
        self.out.write_all(b"]")?;
        self.out.write_all(after.as_bytes())
    }
}

/// What stands before and after the runs of a benchmark.
fn around_runs(benchmark: Benchmark) -> io::Result<(String, String)> {
    let mut text =
        to_text(&Benchmark { runs: Some(Vec::new()), ..benchmark }).map_err(io::Error::other)?;
    // No text in JSON has a line break in it, and only a member of the document itself is indented by two, so this is the
    // place.
    let place = text.find(EMPTY).map_or(text.len(), |place| place + EMPTY.len());
    let after = text.split_off(place);
    text.pop();
    Ok((text, after))
}

const EMPTY: &str = "\n  \"runs\": []";
/// What stands before the end of a list that is not empty.
const CLOSED: &str = "\n  ";

/// What stands before and after the runs where only they are written.
const BEFORE: usize = "{".len() + EMPTY.len() - "]".len();
const AFTER: usize = CLOSED.len() + "]\n}".len();

/// Where the verdicts of a run go. Like [`EMPTY`], it can be nothing else: only a member of a run is indented by six.
const NO_VERDICTS: &str = "\n      \"expectations\": []";

/// Makes the text of a case's runs as they stand in the document, with a separator before them; `bare` is the same without
/// the verdicts.
fn make(case: &CaseRuns, lists: &[u8], text: &mut Vec<u8>, bare: &mut Vec<u8>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Around<'r> {
        runs: &'r [BenchmarkRun],
    }
    bare.clear();
    text.clear();
    let entry = |run: &Run| Some(run.measured()?.entry(case, &run.configuration));
    let runs: Vec<BenchmarkRun> = case.runs.iter().filter_map(entry).collect();
    if runs.is_empty() {
        return Ok(());
    }
    append(&Around { runs: &runs }, bare).map_err(io::Error::other)?;
    let bare = &bare[BEFORE..bare.len() - AFTER];
    let mut done = 0;
    text.push(b',');
    for (place, run) in memmem::find_iter(bare, NO_VERDICTS).zip(case.all_measured()) {
        let place = place + NO_VERDICTS.len() - "[]".len();
        text.extend_from_slice(&bare[done..place]);
        text.extend_from_slice(run.verdicts.list(lists));
        done = place + "[]".len();
    }
    text.extend_from_slice(&bare[done..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skillgauge_format::part::{Configuration, EvalId, GradedExpectation};

    use super::super::grading::Graded;
    use super::super::measured::Measured;
    use super::super::record::State;
    use super::super::verdict::Verdicts;
    use super::*;

    fn case(text: &str, runs: usize) -> CaseRuns {
        let mut lists = Vec::new();
        let run = |number: usize| {
            let one = GradedExpectation { text: text.to_owned(), ..GradedExpectation::default() };
            let graded = Graded {
                verdicts: Verdicts::of(&vec![one; number % 3], &mut lists),
                notes: vec![text.to_owned(); number % 2],
                ..Graded::default()
            };
            let state = State::Measured(Measured::new(graded, None, Some(true), number as u64));
            Run { configuration: Configuration::WithSkill, number: number as u64, state }
        };
        let runs = (0..runs).map(run).collect();
        let name = Some(format!("\n  \"runs\": [] \n      \"expectations\": []{text}"));
        CaseRuns { id: EvalId::from(text), name, runs, lists }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_is_put_together_is_what_the_types_would_write(
            counts in proptest::collection::vec(0_usize..5, 0..8),
            text in any::<String>(),
        ) {
            let metadata = BenchmarkMetadata { skill_name: Some(text.clone()), ..BenchmarkMetadata::default() };
            let mut written = Vec::new();
            let mut document = Document::begin(&mut written, &metadata).unwrap();
            let (mut whole, mut out, mut bare) = (Vec::new(), Vec::new(), Vec::new());
            for count in counts {
                let case = case(&text, count);
                whole.extend(case.runs.iter().filter_map(Run::measured).map(|run| BenchmarkRun {
                    expectations: Some(run.verdicts.expectations(&case.lists)),
                    ..run.entry(&case, &Configuration::WithSkill)
                }));
                make(&case, &case.lists, &mut out, &mut bare).unwrap();
                document.add(&out).unwrap();
            }
            let frame = Benchmark {
                metadata: Some(metadata.clone()),
                notes: Some(vec![text.clone()]),
                ..Benchmark::default()
            };
            document.end(&frame).unwrap();
            let whole = Benchmark { runs: Some(whole), ..frame };
            prop_assert_eq!(String::from_utf8(written).unwrap(), to_text(&whole).unwrap());
        }
    }
}
