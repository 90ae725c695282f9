//! `skillgauge bench`: aggregating an iteration, beside the public skill-creator's script.
//!
//! Both aggregate the same iteration in turns. The script is not ours: its folder comes from `SKILLGAUGE_SKILL_CREATOR`,
//! and without it only our side is measured, and the page says so.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use self::iteration::{Shape, Writer};
use self::report::{Costs, Report};
use crate::child::{self, Cost};
use crate::{page, say, text};

pub(crate) mod floor;
mod iteration;
mod report;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Cases in the iteration; each is run 10 times with the skill and 10 times without it
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    cases: u32,
    /// Aggregations by each side
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
}

pub(crate) fn measure(arguments: &Arguments, program: &Path) -> Result<String> {
    let place = tempfile::tempdir_in(crate::place()?)?;
    let shape = Shape { cases: arguments.cases, runs: 10 };
    say("writing the iterations")?;
    let folder = place.path().join("bench-workspace/iteration-1");
    let written = iteration::write(&folder, shape, Writer::Ours)?;
    let other = place.path().join("other-workspace/iteration-1");
    iteration::write(&other, shape, Writer::Other)?;
    // What was just written is on its way to the disk for a while, and that is nobody's time.
    std::process::Command::new("sync").status()?;
    let script = script()?;
    let theirs = place.path().join("theirs.json");
    let (folder_text, other_text, theirs_text) = (text(&folder)?, text(&other)?, text(&theirs)?);
    let (cases, runs) = (shape.cases.to_string(), shape.runs.to_string());
    let load = page::load();
    let mut costs = Costs::default();
    for repetition in 1..=arguments.repetitions {
        say(&format!("turn {repetition} of {}", arguments.repetitions))?;
        costs.ours.push(second(program, &["bench", folder_text], &folder)?);
        costs.others.push(second(program, &["bench", other_text], &other)?);
        let floor = [floor::READ, folder_text, &cases, &runs];
        costs.floor.push(second(&std::env::current_exe()?, &floor, place.path())?);
        if let Some(Script { python, file }) = &script {
            let call = [text(file)?, folder_text, "--output", theirs_text];
            costs.script.push(second(python, &call, place.path())?);
        }
    }
    let numbers = match script {
        Some(_) => Some(agreement(&folder, &theirs)?),
        None => None,
    };
    Ok(Report { machine: page::describe(), load, shape, written, costs, numbers }.render())
}

/// Starts a program twice and measures the second time: the first one finds what the program before it left, in caches and
/// on its way to the disk. What it wrote is removed before each start: files that are there take longer to write.
fn second(program: &Path, arguments: &[&str], writes_to: &Path) -> Result<Cost> {
    let mut cost = None;
    for _ in 0..2 {
        for name in [
            "benchmark.json",
            "benchmark.md",
            "eval_feedback_aggregate.json",
            "theirs.json",
            "theirs.md",
        ] {
            match fs_err::remove_file(writes_to.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        std::process::Command::new("sync").status()?;
        cost = Some(child::measure(program, arguments)?);
    }
    cost.context("nothing was measured")
}

/// The public script.
struct Script {
    /// What runs it: not a shim that looks for it at each start.
    python: PathBuf,
    file: PathBuf,
}

/// The script; nothing when nobody says where it is.
fn script() -> Result<Option<Script>> {
    let Some(folder) = std::env::var_os("SKILLGAUGE_SKILL_CREATOR") else {
        say("SKILLGAUGE_SKILL_CREATOR is not set: the script is left out")?;
        return Ok(None);
    };
    let file = PathBuf::from(folder).join("scripts/aggregate_benchmark.py");
    ensure!(file.is_file(), "SKILLGAUGE_SKILL_CREATOR has no scripts/aggregate_benchmark.py");
    let which = ["-c", "import sys; print(sys.executable)"];
    let found = std::process::Command::new("python3").args(which).output()?;
    let python = PathBuf::from(String::from_utf8(found.stdout)?.trim());
    Ok(Some(Script { python, file }))
}

/// A race in which the two did different things would say nothing: their summaries must have the same numbers.
fn agreement(folder: &Path, theirs: &Path) -> Result<usize> {
    let read = |path: &Path| -> Result<Value> { Ok(serde_json::from_slice(&fs_err::read(path)?)?) };
    let (ours, theirs) = (read(&folder.join("benchmark.json"))?, read(theirs)?);
    let runs = |benchmark: &Value| benchmark["runs"].as_array().map(Vec::len);
    ensure!(runs(&ours) == runs(&theirs), "the two counted different numbers of runs");
    compare(&theirs["run_summary"], &ours["run_summary"])
}

fn compare(theirs: &Value, ours: &Value) -> Result<usize> {
    if let Value::Object(members) = theirs {
        let mut count = 0;
        for (key, value) in members {
            count += compare(value, &ours[key]).with_context(|| key.clone())?;
        }
        return Ok(count);
    }
    let same = theirs == ours || (theirs.is_number() && theirs.as_f64() == ours.as_f64());
    ensure!(same, "{theirs} is not {ours}");
    Ok(1)
}
