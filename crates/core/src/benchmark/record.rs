//! Reads the runs that the layout found, several at a time, and puts them to their cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use skillgauge_format::part::{Configuration, EvalId};
use skillgauge_format::record::IterationRecord;

use super::layout::{CaseFolder, Layout, RunFolder, id_from_name};
use super::measured::{Measured, Unmeasured};
use super::reading::{self, Hands, Reading};
use super::{Settings, loaded, parallel, planned, role};
use crate::mixture::Mixture;
use crate::plan::RunId;

/// All runs of an iteration.
pub(super) struct Iteration {
    pub(super) cases: Vec<CaseRuns>,
    pub(super) problems: Vec<String>,
    pub(super) skill_name: Option<String>,
    pub(super) skill_path: Option<String>,
    /// How often each case was to be run in each configuration; absent when no plan tells.
    pub(super) planned_runs: Option<u64>,
    pub(super) executor_model: Option<String>,
    pub(super) analyzer_model: Option<String>,
    /// What the runs were made with.
    pub(super) mixture: Mixture,
}

/// All runs of a case.
#[derive(Debug)]
pub(super) struct CaseRuns {
    pub(super) id: EvalId,
    pub(super) name: Option<String>,
    folder: String,
    pub(super) runs: Vec<Run>,
}

impl CaseRuns {
    /// The measured runs of a configuration.
    pub(super) fn measured<'c>(
        &'c self,
        configuration: &'c Configuration,
    ) -> impl Iterator<Item = &'c Measured> {
        self.all_measured().filter(move |run| run.entry.configuration == *configuration)
    }

    /// The measured runs of all configurations.
    pub(super) fn all_measured(&self) -> impl Iterator<Item = &Measured> {
        self.runs.iter().filter_map(|run| match &run.state {
            State::Measured(measured) => Some(&**measured),
            State::Unmeasured(_) => None,
        })
    }
}

/// One run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) configuration: Configuration,
    pub(super) number: u64,
    pub(super) state: State,
}

/// Whether a run says something about the skill.
#[derive(Debug)]
pub(super) enum State {
    /// It does.
    Measured(Box<Measured>),
    /// It does not.
    Unmeasured(Unmeasured),
}

/// Reads every run.
pub(super) fn read(mut layout: Layout, folder: &Path, settings: &Settings) -> Iteration {
    let plan = planned::record(folder, &mut layout.problems);
    let planned_name = plan.as_ref().map(|plan| plan.skill_name.clone());
    let skill_name =
        settings.skill_name.clone().or(planned_name).or_else(|| name_of_workspace(folder));
    let missing = plan.as_ref().map(|plan| planned::missing(plan, &layout)).unwrap_or_default();
    let folders: Vec<(&CaseFolder, &RunFolder)> =
        layout.cases.iter().flat_map(|case| case.runs.iter().map(move |run| (case, run))).collect();
    let mut readings =
        parallel::map_with(&folders, settings.threads, Hands::new, |hands, (case, run)| {
            reading::read(case, run, skill_name.as_deref(), hands)
        });
    let rubrics = planned::rubrics(folder);
    stop_at_gates(&folders, &mut readings, rubrics.as_ref(), settings.threads);
    let (executor_model, analyzer_model) = models(plan.as_ref(), &folders, &readings);
    let mut iteration = Iteration {
        analyzer_model: settings.analyzer_model.clone().or(analyzer_model),
        executor_model: settings.executor_model.clone().or(executor_model),
        cases: Vec::with_capacity(layout.cases.len()),
        problems: layout.problems,
        skill_name,
        skill_path: settings
            .skill_path
            .clone()
            .or(plan.as_ref().map(|plan| plan.skill_path.clone())),
        planned_runs: plan.map(|plan| plan.runs_per_configuration),
        mixture: readings.iter().map(Reading::made_with).collect(),
    };
    let mut readings = readings.into_iter();
    for case in layout.cases {
        let mut runs = Vec::with_capacity(case.runs.len());
        for (run, mut reading) in case.runs.into_iter().zip(&mut readings) {
            for what in reading.problems.drain(..) {
                let place = run.path.strip_prefix(folder).unwrap_or(&run.path);
                iteration.problems.push(format!("{}: {what}", place.display()));
            }
            let RunFolder { configuration, number, .. } = run;
            let state = reading.state.map_or_else(State::Unmeasured, State::Measured);
            runs.push(Run { configuration, number, state });
        }
        let folder = case.folder;
        iteration.cases.push(CaseRuns { id: case.id, name: case.name, folder, runs });
    }
    iteration.add_missing(&missing);
    iteration
}

/// The model that did the work and the one that judged.
fn models(
    plan: Option<&IterationRecord>,
    folders: &[(&CaseFolder, &RunFolder)],
    readings: &[Reading],
) -> (Option<String>, Option<String>) {
    let executor = readings
        .iter()
        .find_map(|reading| reading.model.clone())
        .or_else(|| plan.and_then(|plan| plan.executor_model.clone().or(plan.model.clone())))
        .or_else(|| folders.first().and_then(|(_, run)| loaded::model(&run.path)));
    let told = || readings.iter().find_map(|reading| reading.judge.clone());
    let judge = plan.and_then(|plan| plan.judge.clone()).or_else(told);
    (executor, judge)
}

impl Iteration {
    /// Lists the runs that were planned and are not there.
    fn add_missing(&mut self, missing: &[RunId]) {
        let mut places: BTreeMap<String, usize> =
            self.cases.iter().enumerate().map(|(at, case)| (case.folder.clone(), at)).collect();
        for id in missing {
            let folder = format!("eval-{}", id.case);
            let place = *places.entry(folder.clone()).or_insert_with(|| {
                let id = id_from_name(&folder);
                self.cases.push(CaseRuns { id, name: None, folder, runs: Vec::new() });
                self.cases.len() - 1
            });
            self.cases[place].runs.push(Run {
                configuration: id.configuration.clone(),
                number: u64::from(id.number),
                state: State::Unmeasured(Unmeasured {
                    outcome: "not_run".to_owned(),
                    reason: None,
                }),
            });
        }
        if !missing.is_empty() {
            self.cases.sort_by(|a, b| (&a.id, &a.folder).cmp(&(&b.id, &b.folder)));
            for case in &mut self.cases {
                case.runs.sort_by(|a, b| {
                    let order = role::order(&a.configuration).cmp(&role::order(&b.configuration));
                    order.then_with(|| a.number.cmp(&b.number))
                });
            }
        }
    }
}

/// `testing-workspace/iteration-1` is about `testing`.
fn name_of_workspace(iteration: &Path) -> Option<String> {
    let workspace = iteration.parent()?.file_name()?.to_str()?;
    workspace.strip_suffix("-workspace").filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Finds the runs whose rubric is missing because the gate stopped them, and scores them so.
///
/// Only where a rubric is to be expected: by the suite or the case's metadata, and where neither tells, when another run
/// of the case, or of the iteration, was scored.
fn stop_at_gates(
    folders: &[(&CaseFolder, &RunFolder)],
    readings: &mut [Reading],
    rubrics: Option<&BTreeSet<String>>,
    threads: usize,
) {
    let is_unscored =
        |reading: &Reading| reading.state.as_ref().is_ok_and(|measured| measured.rubric.is_none());
    let any_scored = readings.iter().any(|reading| reading.state.is_ok() && !is_unscored(reading));
    let expects = |case: &CaseFolder| match rubrics {
        Some(rubrics) => rubrics.contains(&case.id.to_string()),
        None => case.has_rubric || any_scored,
    };
    let unscored: Vec<usize> = (0..readings.len())
        .filter(|index| is_unscored(&readings[*index]) && expects(folders[*index].0))
        .collect();
    let stopped = parallel::map(&unscored, threads, |index| {
        let path = &folders[*index].1.path;
        readings[*index].gate_passed.or_else(|| reading::gate_passed(path)) == Some(false)
    });
    for (index, _) in unscored.into_iter().zip(stopped).filter(|(_, stopped)| *stopped) {
        if let Ok(measured) = &mut readings[index].state {
            measured.stop_at_gate();
        }
    }
}
