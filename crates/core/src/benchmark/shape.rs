//! Puts the benchmark together from its parts.

use std::path::{Path, PathBuf};

use skillgauge_format::Extra;
use skillgauge_format::evals::{Benchmark, BenchmarkMetadata, UnmeasuredRun};
use skillgauge_format::part::{Configuration, EvalId};

use super::record::{Iteration, Run, State, Unmeasured};
use super::role::{self, Roles};
use super::{Aggregate, Settings, feedback, inference, notes, parallel, summary};

pub(super) fn assemble(folder: PathBuf, iteration: Iteration, settings: &Settings) -> Aggregate {
    let configurations = configurations(&iteration);
    let roles = Roles::of(&configurations);
    let run_summary = summary::summarize(&iteration, &configurations, &roles);
    // The two look at the same runs and know nothing of each other.
    let (statistics, feedback) = parallel::both(
        settings.threads,
        || inference::infer(&iteration, &configurations, &roles, settings.seed),
        || feedback::aggregate(&iteration, number_of(&folder)),
    );
    let notes = notes::write(&iteration, &configurations, &roles, &run_summary, &statistics);
    let metadata = metadata(&iteration, &folder, settings);
    let problems = iteration.problems;
    let (mut runs, mut unmeasured) = (Vec::new(), Vec::new());
    for case in iteration.cases {
        for run in case.runs {
            match run.state {
                State::Measured(measured) => runs.push(measured.entry),
                State::Unmeasured(Unmeasured { outcome, reason }) => {
                    unmeasured.push(UnmeasuredRun {
                        eval_id: case.id.clone(),
                        configuration: run.configuration,
                        run_number: run.number,
                        outcome,
                        reason,
                        extra: Extra::new(),
                    });
                }
            }
        }
    }
    let benchmark = Benchmark {
        metadata: Some(metadata),
        runs: Some(runs),
        run_summary,
        notes: Some(notes),
        unmeasured: (!unmeasured.is_empty()).then_some(unmeasured),
        statistics: Some(statistics),
        extra: Extra::new(),
    };
    Aggregate { folder, benchmark, feedback, problems, threads: settings.threads }
}

/// All that have runs, in the order in which they are shown.
fn configurations(iteration: &Iteration) -> Vec<Configuration> {
    let mut found: Vec<Configuration> = Vec::new();
    for run in iteration.cases.iter().flat_map(|case| &case.runs) {
        if !found.contains(&run.configuration) {
            found.push(run.configuration.clone());
        }
    }
    found.sort_by(|a, b| role::order(a).cmp(&role::order(b)));
    found
}

fn metadata(iteration: &Iteration, folder: &Path, settings: &Settings) -> BenchmarkMetadata {
    let mut evals_run: Vec<EvalId> = iteration.cases.iter().map(|case| case.id.clone()).collect();
    evals_run.dedup();
    BenchmarkMetadata {
        skill_name: iteration.skill_name.clone(),
        skill_path: iteration.skill_path.clone().or_else(|| path_of_skill(iteration, folder)),
        executor_model: iteration.executor_model.clone(),
        analyzer_model: iteration.analyzer_model.clone(),
        timestamp: settings.timestamp.clone(),
        evals_run: Some(evals_run),
        runs_per_configuration: Some(
            iteration.planned_runs.unwrap_or_else(|| runs_per_configuration(iteration)),
        ),
        extra: Extra::new(),
    }
}

/// The skill beside the workspace, if it is one.
fn path_of_skill(iteration: &Iteration, folder: &Path) -> Option<String> {
    let skill = folder.parent()?.with_file_name(iteration.skill_name.as_ref()?);
    skill.join("SKILL.md").is_file().then(|| skill.display().to_string())
}

/// The most runs that a case has in a configuration: what was planned, as far as folders tell.
fn runs_per_configuration(iteration: &Iteration) -> u64 {
    let most = iteration.cases.iter().flat_map(|case| {
        let runs = case.runs.chunk_by(|a, b| a.configuration == b.configuration);
        runs.map(<[Run]>::len)
    });
    most.max().unwrap_or(0) as u64
}

/// The number of `iteration-3`; a folder of another name is the first.
fn number_of(folder: &Path) -> u64 {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix("iteration-").and_then(|number| number.parse().ok()).unwrap_or(1)
}
