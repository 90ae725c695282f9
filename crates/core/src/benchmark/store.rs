//! Puts the three files of a benchmark into its iteration, each complete or not there.
//!
//! Nearly all of `benchmark.json` is its runs, so these are written by several threads, a part of them each; the text is
//! the same as that of one. Nothing is synced: a rename is enough for "complete or not there" as long as the machine
//! lives, and what a power cut takes can be computed again from the runs.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;
use skillgauge_format::evals::{Benchmark, BenchmarkRun};
use skillgauge_format::write::{WriteError, to_text};

use super::{Aggregate, BenchmarkError, parallel};
use crate::workspace::replace_file;

/// Runs that are written at once: about a quarter of a megabyte.
const PART: usize = 100;

pub(super) fn write(aggregate: &Aggregate) -> Result<Vec<PathBuf>, BenchmarkError> {
    let json = |source| BenchmarkError::NotJson { source };
    let unwritable = |source| BenchmarkError::Unwritable { source };
    let put = |name: &str, fill: &mut (dyn FnMut(&mut File) -> io::Result<()> + Send)| {
        let path = aggregate.folder.join(name);
        replace_file(&path, fill).map_err(unwritable)?;
        Ok(path)
    };
    let frame = Frame::of(&aggregate.benchmark).map_err(json)?;
    let (benchmark, others) = parallel::both(
        aggregate.threads,
        || put("benchmark.json", &mut |file| frame.write(aggregate.threads, file)),
        || {
            let markdown = aggregate.to_markdown();
            let feedback = to_text(&aggregate.feedback).map_err(json)?;
            Ok([
                put("benchmark.md", &mut |file| file.write_all(markdown.as_bytes()))?,
                put("eval_feedback_aggregate.json", &mut |file| {
                    file.write_all(feedback.as_bytes())
                })?,
            ])
        },
    );
    Ok([benchmark?].into_iter().chain(others?).collect())
}

/// The text of a benchmark around its runs.
struct Frame<'b> {
    before: String,
    runs: &'b [BenchmarkRun],
    after: String,
}

impl<'b> Frame<'b> {
    fn of(benchmark: &'b Benchmark) -> Result<Self, WriteError> {
        let runs = benchmark.runs.as_deref().unwrap_or_default();
        let whole = |text| Self { before: text, runs: &[], after: String::new() };
        if runs.len() <= PART {
            return to_text(benchmark).map(whole);
        }
        let Benchmark { metadata, runs: _, run_summary, notes, unmeasured, statistics, extra } =
            benchmark;
        let mut before = to_text(&Benchmark {
            metadata: metadata.clone(),
            runs: Some(Vec::new()),
            run_summary: run_summary.clone(),
            notes: notes.clone(),
            unmeasured: unmeasured.clone(),
            statistics: statistics.clone(),
            extra: extra.clone(),
        })?;
        // No text in JSON has a line break in it, and only a member of the document itself is indented by two, so this
        // is the place.
        let Some(place) = before.find(EMPTY) else { return to_text(benchmark).map(whole) };
        let after = CLOSED.to_owned() + &before[place + EMPTY.len()..];
        before.truncate(place);
        before.push_str(OPENED);
        Ok(Self { before, runs, after })
    }

    fn write(&self, threads: usize, out: &mut (impl Write + Send)) -> io::Result<()> {
        out.write_all(self.before.as_bytes())?;
        let mut separator: &[u8] = b"";
        let parts: Vec<&[BenchmarkRun]> = self.runs.chunks(PART).collect();
        parallel::in_order(&parts, threads, members, |buffer: &Vec<u8>| {
            out.write_all(separator)?;
            separator = b",";
            out.write_all(&buffer[BEFORE..buffer.len() - AFTER])
        })?;
        out.write_all(self.after.as_bytes())
    }
}

const EMPTY: &str = "\n  \"runs\": []";
const OPENED: &str = "\n  \"runs\": [";
const CLOSED: &str = "\n  ]";

/// What stands before and after the runs in what [`members`] writes.
const BEFORE: usize = "{".len() + OPENED.len();
const AFTER: usize = CLOSED.len() + "\n}".len();

/// Some runs, at least one, as they stand in the document, with what is around them there.
fn members(runs: &&[BenchmarkRun], buffer: &mut Vec<u8>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Around<'r> {
        runs: &'r [BenchmarkRun],
    }
    buffer.clear();
    Ok(serde_json::to_writer_pretty(buffer, &Around { runs })?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skillgauge_format::part::{Configuration, EvalId, GradedExpectation};

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn many_threads_write_what_one_writes(count in 0_usize..350, text in any::<String>(), threads in 1_usize..4) {
            let run = |number: usize| BenchmarkRun {
                eval_id: EvalId::from(text.as_str()),
                eval_name: Some(format!("\n  \"runs\": [] {text}")),
                configuration: Configuration::WithSkill,
                run_number: number as u64,
                result: skillgauge_format::evals::RunResult::default(),
                expectations: Some(vec![GradedExpectation { text: text.clone(), ..GradedExpectation::default() }]),
                notes: Some(Vec::new()),
                outcome: None,
                skill_loaded: Some(true),
                extra: skillgauge_format::Extra::new(),
            };
            let benchmark = Benchmark {
                runs: Some((0..count).map(run).collect()),
                notes: Some(vec![text.clone()]),
                ..Benchmark::default()
            };
            let mut written = Vec::new();
            Frame::of(&benchmark).unwrap().write(threads, &mut written).unwrap();
            prop_assert_eq!(String::from_utf8(written).unwrap(), to_text(&benchmark).unwrap());
        }
    }
}
