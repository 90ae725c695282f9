//! Puts the benchmark together from its parts.

use std::path::Path;

use skillgauge_format::Extra;
use skillgauge_format::evals::{
    Benchmark, BenchmarkMetadata, EvalFeedbackAggregate, UnmeasuredRun,
};
use skillgauge_format::part::{Configuration, EvalId};

use super::measured::Unmeasured;
use super::record::{Iteration, Run, State};
use super::role::{self, Roles};
use super::{Settings, feedback, inference, notes, summary};

/// What the runs come to.
pub(super) struct Conclusions {
    /// The benchmark without its runs.
    pub(super) frame: Benchmark,
    pub(super) feedback: EvalFeedbackAggregate,
}

impl Conclusions {
    pub(super) fn of(
        iteration: &Iteration,
        folder: &Path,
        metadata: BenchmarkMetadata,
        seed: u64,
    ) -> Self {
        let configurations = configurations(iteration);
        let roles = Roles::of(&configurations);
        let run_summary = summary::summarize(iteration, &configurations, &roles);
        let statistics = inference::infer(iteration, &configurations, &roles, seed);
        let notes = notes::write(iteration, &configurations, &roles, &run_summary, &statistics);
        let unmeasured = unmeasured(iteration);
        let frame = Benchmark {
            metadata: Some(metadata),
            runs: None,
            run_summary,
            notes: Some(notes),
            unmeasured: (!unmeasured.is_empty()).then_some(unmeasured),
            statistics: Some(statistics),
            extra: Extra::new(),
        };
        Self { frame, feedback: feedback::aggregate(iteration, number_of(folder)) }
    }
}

/// The runs that say nothing about the skill.
fn unmeasured(iteration: &Iteration) -> Vec<UnmeasuredRun> {
    let mut list = Vec::new();
    for case in &iteration.cases {
        for run in &case.runs {
            if let State::Unmeasured(Unmeasured { outcome, reason }) = &run.state {
                list.push(UnmeasuredRun {
                    eval_id: case.id.clone(),
                    configuration: run.configuration.clone(),
                    run_number: run.number,
                    outcome: outcome.clone(),
                    reason: reason.clone(),
                    extra: Extra::new(),
                });
            }
        }
    }
    list
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

/// What the benchmark is about.
pub(super) fn metadata(
    iteration: &Iteration,
    folder: &Path,
    settings: &Settings,
) -> BenchmarkMetadata {
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
