//! Puts the three files of a benchmark into its iteration, each complete or not there.
//!
//! Nearly all of `benchmark.json` is its runs, so these are written by several threads, a part of them each, and the first
//! parts while it is still computed what the runs come to. Nearly all of a run is its verdicts, whose text is there
//! already. The whole is the same as if the types were written. Nothing is synced: a rename is enough for "complete or not there" as long as the machine lives, and what a power cut takes can be
//! computed again from the runs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::Serialize;
use skillgauge_format::evals::{Benchmark, BenchmarkMetadata, BenchmarkRun};
use skillgauge_format::write::to_text;

use super::measured::Measured;
use super::record::CaseRuns;
use super::shape::Conclusions;
use super::{BenchmarkError, markdown, parallel};
use crate::workspace::replace_file;

/// Runs that are written at once: about a quarter of a megabyte.
const PART: usize = 100;

/// Writes the three files, and lets it be concluded meanwhile what the runs come to.
pub(super) fn write(
    folder: &Path,
    metadata: &BenchmarkMetadata,
    cases: &[CaseRuns],
    threads: usize,
    conclude: impl FnOnce() -> Conclusions,
) -> Result<(Conclusions, [PathBuf; 3]), BenchmarkError> {
    let runs: Vec<&Measured> = cases.iter().flat_map(CaseRuns::all_measured).collect();
    let path = folder.join("benchmark.json");
    let document = Document { metadata, runs: &runs, threads };
    let conclude = || {
        let conclusions = conclude();
        let others = write_others(folder, &conclusions);
        (conclusions, others)
    };
    let (conclusions, others) =
        replace_file(&path, |file| document.write(file, conclude, |(found, _)| &found.frame))
            .map_err(|source| BenchmarkError::Unwritable { source })?;
    let [markdown, feedback] = others?;
    Ok((conclusions, [path, markdown, feedback]))
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

/// The text of a benchmark: what is known before it is concluded what the runs come to.
struct Document<'b> {
    metadata: &'b BenchmarkMetadata,
    runs: &'b [&'b Measured],
    threads: usize,
}

impl Document<'_> {
    /// Writes it; `conclude` gives the rest while the runs are written.
    fn write<C>(
        &self,
        out: &mut (impl Write + Send),
        conclude: impl FnOnce() -> C,
        frame: impl FnOnce(&C) -> &Benchmark,
    ) -> io::Result<C> {
        let known = Benchmark { metadata: Some(self.metadata.clone()), ..Benchmark::default() };
        let (before, _) = around_runs(known)?;
        out.write_all(before.as_bytes())?;
        let mut separator: &[u8] = b"";
        let parts: Vec<&[&Measured]> = self.runs.chunks(PART).collect();
        let (concluded, result) =
            parallel::in_order(&parts, self.threads, conclude, Part::make, |part: &Part| {
                out.write_all(separator)?;
                separator = b",";
                out.write_all(&part.text)
            });
        result?;
        if !self.runs.is_empty() {
            out.write_all(CLOSED.as_bytes())?;
        }
        let (_, after) = around_runs(frame(&concluded).clone())?;
        out.write_all(b"]")?;
        out.write_all(after.as_bytes())?;
        Ok(concluded)
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

/// Some runs, at least one, as they stand in the document.
#[derive(Default)]
struct Part {
    text: Vec<u8>,
    /// The same, without the verdicts.
    bare: Vec<u8>,
}

impl Part {
    fn make(measured: &&[&Measured], part: &mut Self) -> io::Result<()> {
        #[derive(Serialize)]
        struct Around<'r> {
            runs: Vec<&'r BenchmarkRun>,
        }
        let Self { text, bare } = part;
        bare.clear();
        text.clear();
        let runs = measured.iter().map(|run| &run.entry).collect();
        serde_json::to_writer_pretty(&mut *bare, &Around { runs })?;
        let bare = &bare[BEFORE..bare.len() - AFTER];
        let mut done = 0;
        for (place, run) in memmem::find_iter(bare, NO_VERDICTS).zip(*measured) {
            let place = place + NO_VERDICTS.len() - "[]".len();
            text.extend_from_slice(&bare[done..place]);
            run.verdicts.write(text);
            done = place + "[]".len();
        }
        text.extend_from_slice(&bare[done..]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skillgauge_format::part::{Configuration, EvalId, GradedExpectation};

    use super::super::grading::Graded;
    use super::super::layout::{CaseFolder, RunFolder};
    use super::super::verdict::Verdicts;
    use super::*;

    fn measured(text: &str, number: usize) -> Measured {
        let name = format!("\n  \"runs\": [] \n      \"expectations\": []{text}");
        let case = CaseFolder::new(EvalId::from(text), Some(name));
        let configuration = Configuration::WithSkill;
        let run = RunFolder { path: PathBuf::new(), configuration, number: number as u64 };
        let one = GradedExpectation { text: text.to_owned(), ..GradedExpectation::default() };
        let graded = Graded {
            verdicts: Verdicts::of(&vec![one; number % 3]),
            notes: vec![text.to_owned(); number % 2],
            ..Graded::default()
        };
        Measured::new(graded, None, Some(true), &case, &run)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn many_threads_write_what_the_types_would(count in 0_usize..350, text in any::<String>(), threads in 1_usize..4) {
            let runs: Vec<Measured> = (0..count).map(|number| measured(&text, number)).collect();
            let runs: Vec<&Measured> = runs.iter().collect();
            let metadata = BenchmarkMetadata { skill_name: Some(text.clone()), ..BenchmarkMetadata::default() };
            let document = Document { metadata: &metadata, runs: &runs, threads };
            let conclude = || Benchmark {
                metadata: Some(metadata.clone()),
                notes: Some(vec![text.clone()]),
                ..Benchmark::default()
            };
            let mut written = Vec::new();
            let frame = document.write(&mut written, conclude, |frame| frame).unwrap();
            let whole = Benchmark { runs: Some(runs.iter().map(|run| run.whole()).collect()), ..frame };
            prop_assert_eq!(String::from_utf8(written).unwrap(), to_text(&whole).unwrap());
        }
    }
}
