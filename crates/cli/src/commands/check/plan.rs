//! Which runs are checked for what: the suite of each iteration, its checks made ready, everything that is wrong at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::check::{CheckTarget, CompiledChecks, compile_suite};
use skillgauge_core::suite_lint::{Examination, examine};
use skillgauge_core::workspace::Iteration;
use skillgauge_format::Suite;
use skillgauge_run::check::{CheckJob, input_files};
use skillgauge_run::grade::FindError;

use crate::args::CheckArgs;
use crate::error::{CommandError, Explain as _};
use crate::suite;

/// What all runs of an iteration share.
struct Prepared {
    /// The checks and the input files of each case, by its id.
    cases: BTreeMap<String, (Arc<CompiledChecks>, Vec<PathBuf>)>,
    skill_dir: Option<PathBuf>,
    skill_name: Option<String>,
    suite_file: PathBuf,
}

/// All runs with what they are checked for. Nothing has been checked when this fails.
pub(super) fn plan(args: &CheckArgs) -> Result<Vec<(CheckTarget, CheckJob)>, CommandError> {
    let mut targets = Vec::new();
    for path in &args.paths {
        targets.extend(CheckTarget::find(path).map_err(|error| {
            let hint = "name the folder of a run (with outputs/) or of an iteration (with eval-*)";
            CommandError::usage(super::chain(&error), hint)
        })?);
    }
    targets.sort();
    targets.dedup();
    let mut iterations: BTreeMap<PathBuf, Prepared> = BTreeMap::new();
    let mut jobs = Vec::new();
    for target in targets {
        if !iterations.contains_key(&target.iteration) {
            let prepared = prepare(&target.iteration, args)?;
            iterations.insert(target.iteration.clone(), prepared);
        }
        let prepared = &iterations[&target.iteration];
        let Some((checks, inputs)) = prepared.cases.get(&target.case) else {
            let message = format!(
                "there is no eval `{}` in {}, which {} belongs to",
                target.case,
                prepared.suite_file.display(),
                target.run_dir.display()
            );
            return Err(CommandError::usage(message, "name the right suite with --evals"));
        };
        let job = CheckJob {
            run_dir: target.run_dir.clone(),
            checks: Arc::clone(checks),
            skill_dir: prepared.skill_dir.clone(),
            skill_name: prepared.skill_name.clone(),
            inputs: inputs.clone(),
        };
        jobs.push((target, job));
    }
    Ok(jobs)
}

fn prepare(folder: &Path, args: &CheckArgs) -> Result<Prepared, CommandError> {
    let iteration = Iteration::at(folder);
    let suite_file = args.evals.clone().unwrap_or_else(|| iteration.suite_file());
    if args.evals.is_none() && !suite_file.is_file() {
        let missing = FindError::NoSuite { iteration: folder.to_owned() };
        return Err(CommandError::usage(missing.to_string(), missing.hint()));
    }
    let suite = read_suite(&suite_file)?;
    let compiled = compile_suite(&suite).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|problem| format!("  {problem}")).collect();
        let message =
            format!("{} has checks that cannot work:\n{}", suite_file.display(), lines.join("\n"));
        CommandError::usage(
            message,
            "docs/checks.md describes the types of checks and their fields",
        )
    })?;
    let record = iteration.record().ok();
    let recorded = record.as_ref().map(|record| PathBuf::from(&record.skill_path));
    let skill_dir = args.skill.clone().or_else(|| recorded.filter(|path| path.is_dir()));
    let skill_name = record.map(|record| record.skill_name);
    let skill_name = skill_name.or_else(|| suite.skill().map(str::to_owned));
    let mut cases = BTreeMap::new();
    for (case, checks) in suite.cases().zip(compiled) {
        let inputs = input_files(case, skill_dir.as_deref(), folder.parent());
        cases.insert(case.id().into_owned(), (Arc::new(checks), inputs));
    }
    Ok(Prepared { cases, skill_dir, skill_name, suite_file })
}

fn read_suite(file: &Path) -> Result<Suite, CommandError> {
    let text = fs_err::read(file).or_hint("name the suite with --evals")?;
    // The inputs are only compared with, and may be gone by now.
    let request =
        Examination { text: &text, skill: None, workspace: None, is_wanted: &|_: &str| true };
    suite::usable(file, examine(&request))
}
