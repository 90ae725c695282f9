//! Puts the benchmark together from its parts.

use std::borrow::Cow;
use std::path::Path;

use skillgauge_format::Extra;
use skillgauge_format::evals::{
    Benchmark, BenchmarkMetadata, EvalFeedbackAggregate, UnmeasuredRun,
};
use skillgauge_format::part::Configuration;

use super::measured::Unmeasured;
use super::record::{Iteration, State};
use super::role::{self, Roles};
use super::{feedback, inference, notes, parallel, summary};

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
        let skill_name = metadata.skill_name.as_deref();
        let (statistics, (run_summary, feedback)) = parallel::both(
            || inference::infer(iteration, &configurations, &roles, seed),
            || {
                let run_summary = summary::summarize(iteration, &configurations, &roles);
                (run_summary, feedback::aggregate(iteration, skill_name, number_of(folder)))
            },
        );
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
        Self { frame, feedback }
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
                    outcome: outcome.clone().into_owned(),
                    reason: reason.clone().map(Cow::into_owned),
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

/// The number of `iteration-3`; a folder of another name is the first.
fn number_of(folder: &Path) -> u64 {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix("iteration-").and_then(|number| number.parse().ok()).unwrap_or(1)
}
