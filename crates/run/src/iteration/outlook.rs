//! What a measurement would do now, and what earlier runs cost. Nothing is locked or written here, so it may be different in
//! a moment.

use std::collections::HashSet;

use skillgauge_core::plan::{Plan, RunId, Shard};
use skillgauge_core::workspace::{Iteration, Workspace};
use skillgauge_format::Number;

use super::begin::Continuation;
use super::prepare::Prepared;
use super::takeover::TakeOver;
use crate::grade::GradedWhen;

/// So many earlier runs are enough to guess from.
const SAMPLE: usize = 200;

/// What a measurement would do now.
#[derive(Debug)]
pub struct Outlook {
    /// The iteration, which may have been begun earlier.
    pub iteration: Iteration,
    pub is_begun: bool,
    /// The plan, or this machine's part of it.
    pub plan: Plan,
    /// The runs that have no result yet.
    pub left: Vec<RunId>,
    /// How many have one in another iteration.
    pub taken: usize,
    /// How many have to be judged.
    pub to_judge: usize,
}

impl Outlook {
    pub fn new(
        workspace: &Workspace,
        prepared: &Prepared,
        continuation: Continuation,
        shard: Option<Shard>,
        taken: Option<&TakeOver>,
    ) -> Self {
        let newest = workspace.newest().ok().flatten();
        let is_same = |iteration: &&Iteration| {
            iteration
                .record()
                .is_ok_and(|record| record.finished.is_none() && record.key == prepared.record.key)
        };
        let begun = newest.as_ref().filter(|_| continuation != Continuation::Never).filter(is_same);
        let next = || newest.as_ref().and_then(Iteration::number).map_or(1, |last| last + 1);
        let iteration = begun.cloned().unwrap_or_else(|| workspace.iteration(next()));
        let plan = prepared.part(shard);
        let is_there = |id: &RunId| {
            iteration.run_dir(id).record().is_ok_and(|record| record.reason.is_result())
        };
        let is_taken = |id: &RunId| taken.is_some_and(|taken| taken.runs().contains(id));
        let missing = plan.without(is_there);
        let left: Vec<RunId> = missing.iter().filter(|id| !is_taken(id)).cloned().collect();
        let needs_judge = |id: &RunId| {
            let case = prepared.cases().find(|case| case.id() == id.case);
            case.is_some_and(|case| !case.expectations().is_empty() || case.rubric().is_some())
        };
        let is_open = |id: &RunId| {
            if is_there(id) {
                let when = GradedWhen { has_checks: false, has_judge: true };
                return !when.holds(&iteration.run_dir(id));
            }
            !is_taken(id) || taken.is_some_and(|taken| taken.is_to_judge(id))
        };
        let has_judge = prepared.record.judge.is_some();
        let open = plan.runs().iter().filter(|id| has_judge && needs_judge(id) && is_open(id));
        let (to_judge, taken) = (open.count(), missing.len() - left.len());
        Self { is_begun: begun.is_some(), iteration, plan, left, taken, to_judge }
    }
}

/// What earlier runs of the same agent cost.
#[derive(Debug, Default)]
pub struct EarlierRuns {
    /// US dollars of those that told it.
    pub costs: Vec<f64>,
    pub seconds: Vec<f64>,
}

impl EarlierRuns {
    /// Blocks.
    pub fn read(workspace: &Workspace, agent: &str) -> Self {
        let mut found = Self::default();
        // A run that was taken over is in two iterations, and was made once.
        let mut seen = HashSet::new();
        let numbers = workspace.iterations().unwrap_or_default().into_iter().rev();
        for (_, run) in numbers.flat_map(|number| workspace.iteration(number).runs()) {
            let Ok(record) = run.record() else { continue };
            if record.agent != agent || !record.reason.is_result() {
                continue;
            }
            if !seen.insert((record.id.clone(), record.started.as_str().to_owned())) {
                continue;
            }
            found.seconds.push(record.seconds.as_f64());
            found.costs.extend(record.cost_usd.map(Number::as_f64));
            if found.seconds.len() >= SAMPLE {
                break;
            }
        }
        found
    }
}
