//! `skillgauge check`: structural checks on large outputs, beside the same checks in plain Python.
//!
//! There is no public script for these checks, so the other side is plain.py: `glob`, `re` and `in`, as one would write
//! it. Both must find the same verdicts, or there is no number.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::child::{self, Cost, Sample};
use crate::{page, text};

const PLAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/check/plain.py");

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Finished runs
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Text files of about 20 kB in each run
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    files: u32,
    /// Turns of each side
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
}

/// The checks: what is there, what is not, and a pattern that looks at every line.
fn suite() -> Value {
    let check = |id: &str, kind: &str, fields: Value| {
        let mut check = json!({"id": id, "type": kind, "description": id, "critical": false});
        if let (Some(check), Some(fields)) = (check.as_object_mut(), fields.as_object()) {
            check.extend(fields.clone());
        }
        check
    };
    let checks = [
        check("S1", "file_exists", json!({"pattern": "*.md"})),
        check("S2", "file_count", json!({"pattern": "*.md", "operator": ">=", "count": 1})),
        check("S3", "file_contains", json!({"pattern": "*.md", "match": "the last word of all"})),
        check(
            "S4",
            "file_not_contains",
            json!({"pattern": "*.md", "match_any": ["TODO", "FIXME", "XXX"]}),
        ),
        check(
            "S5",
            "file_contains",
            json!({"pattern": "*.md", "match_regex": r"(?m)^## (?P<name>\w+) \d{7}$"}),
        ),
        check(
            "S6",
            "file_not_contains",
            json!({"pattern": "*.md", "match_regex": r"(?i)\bnever\s+there\b"}),
        ),
    ];
    json!({"skill_name": "bench", "evals": [{"id": 1, "prompt": "p", "structural_expectations": checks}]})
}

fn write_runs(folder: &Path, arguments: &Arguments) -> Result<u64> {
    let mut bytes = 0;
    for run in 1..=arguments.runs {
        let outputs = folder.join(format!("eval-1/with_skill/run-{run}/outputs"));
        fs_err::create_dir_all(&outputs)?;
        for file in 0..arguments.files {
            let mut text = String::new();
            for line in 0..400 {
                let _ = writeln!(
                    text,
                    "Line {line} of file {file}: nothing in particular is said here."
                );
            }
            if file + 1 == arguments.files {
                text.push_str("## section 1234567\nthe last word of all\n");
            }
            bytes += text.len() as u64;
            fs_err::write(outputs.join(format!("file-{file}.md")), text)?;
        }
    }
    Ok(bytes)
}

pub(crate) fn measure(arguments: &Arguments, program: &Path) -> Result<String> {
    let place = tempfile::tempdir_in(crate::place()?)?;
    let folder = place.path().join("bench-workspace/iteration-1");
    let bytes = write_runs(&folder, arguments)?;
    let suite_file = place.path().join("evals.json");
    fs_err::write(&suite_file, suite().to_string())?;
    let (iteration, evals) = (text(&folder)?, text(&suite_file)?);
    let load = page::load();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for repetition in 0..=arguments.repetitions {
        let cost = child::measure(program, &["check", iteration, "--evals", evals])?;
        let verdicts = passed(&folder, "structural.json")?;
        let python = ["python3", PLAIN, iteration, evals];
        let rival = child::measure(Path::new("/usr/bin/env"), &python)?;
        ensure!(verdicts == passed(&folder, "plain.json")?, "the two sides disagree");
        // The first turn of each only brings the files into the cache.
        if repetition > 0 {
            ours.push(cost);
            theirs.push(rival);
        }
    }
    Ok(render(arguments, bytes, &load, &ours, &theirs))
}

/// The verdicts of the first run, by check.
fn passed(folder: &Path, file: &str) -> Result<Vec<bool>> {
    let path = folder.join("eval-1/with_skill/run-1").join(file);
    let found: Value = serde_json::from_slice(&fs_err::read(path)?)?;
    let results = found["expectations"].as_array().context("there are no results")?;
    Ok(results.iter().map(|result| result["passed"] == true).collect())
}

fn render(arguments: &Arguments, bytes: u64, load: &str, ours: &[Cost], theirs: &[Cost]) -> String {
    let checks = f64::from(arguments.runs) * 6.0;
    #[expect(clippy::cast_precision_loss, reason = "nothing here comes near 2^53")]
    let megabytes = bytes as f64 / 1e6;
    let mut out = format!(
        "## Structural checks on large outputs\n\nMeasured on {}; load {load} at the start. {} finished runs with {} text \
         files each ({megabytes:.0} MB), six checks a run, the files in the page cache; {} turns of each side, in turns. \
         Both found the same.\n\n| | wall, median | CPU, median | checks a second | peak memory |\n|---|---|---|---|---|\n",
        page::describe(),
        arguments.runs,
        arguments.files,
        ours.len()
    );
    for (name, costs) in [("`skillgauge check`", ours), ("the same in plain Python", theirs)] {
        let wall = Sample::of(costs.iter().map(|cost| cost.wall_seconds)).median();
        let cpu = Sample::of(costs.iter().map(Cost::cpu_seconds)).median();
        #[expect(clippy::cast_precision_loss, reason = "a process has less than 2^52 KiB")]
        let memory = Sample::of(costs.iter().map(|cost| cost.peak_kib as f64 / 1024.0)).max();
        let _ = writeln!(
            out,
            "| {name} | {wall:.2} s | {cpu:.2} s | {:.0} | {memory:.0} MiB |",
            checks / wall
        );
    }
    out
}
