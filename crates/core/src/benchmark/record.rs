//! Reads the runs that the layout found, several at a time.
//!
//! A run is a few small files; most of the time goes into opening them, so only those are opened that can matter:
//! `metrics.json` when the grading has no metrics, `structural.json` when a rubric is missing that others have, and of
//! a transcript the last line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use skillgauge_format::evals::{BenchmarkRun, RunResult};
use skillgauge_format::json::{self, Node, Number};
use skillgauge_format::part::{Configuration, EvalId};
use skillgauge_format::record::IterationRecord;
use skillgauge_format::transcript::{Outcome, Reason, names_skill};
use skillgauge_format::{Extra, write};

use super::file::{self, Found, Parsed, Reader, whole};
use super::grading::{self, Graded, Rubric, Suggestion};
use super::layout::{CaseFolder, Layout, RunFolder, id_from_name};
use super::told::{Times, Told, named};
use super::{Settings, loaded, parallel, planned, role};
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
}

/// All runs of a case.
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
        let of = move |run: &&Run| run.configuration == *configuration;
        self.runs.iter().filter(of).filter_map(|run| match &run.state {
            State::Measured(measured) => Some(&**measured),
            State::Unmeasured(_) => None,
        })
    }
}

/// One run.
pub(super) struct Run {
    pub(super) configuration: Configuration,
    pub(super) number: u64,
    pub(super) state: State,
}

/// Whether a run says something about the skill.
pub(super) enum State {
    /// It does.
    Measured(Box<Measured>),
    /// It does not.
    Unmeasured(Unmeasured),
}

/// Why a run says nothing about the skill.
pub(super) struct Unmeasured {
    pub(super) outcome: String,
    pub(super) reason: Option<String>,
}

impl Unmeasured {
    fn new(outcome: &str, reason: impl Into<String>) -> Self {
        Self { outcome: outcome.to_owned(), reason: Some(reason.into()) }
    }
}

/// What a measured run says.
pub(super) struct Measured {
    /// The entry of the benchmark.
    pub(super) entry: BenchmarkRun,
    pub(super) pass_rate: f64,
    pub(super) run_passed: bool,
    pub(super) rubric: Option<Rubric>,
    pub(super) suggestions: Vec<Suggestion>,
    pub(super) overall_efficiency: f64,
}

/// The best score of a criterion or a dimension.
const BEST_SCORE: f64 = 5.0;

/// What a run comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RunScore {
    /// The share of its expectations that passed.
    pub(crate) pass_rate: f64,
    /// Whether it passed as a whole.
    pub(crate) passed: bool,
    /// The mean score of its criteria, or else of its rubric, from 1 to 5.
    pub(crate) score: Option<f64>,
}

/// What was read of a run, before its case is known.
struct Reading {
    /// The grading, and how the agent failed to complete if it did.
    state: Result<Box<(Graded, Option<Outcome>)>, Unmeasured>,
    skill_loaded: Option<bool>,
    gate_stopped: bool,
    model: Option<String>,
    problems: Vec<String>,
}

/// Reads every run.
pub(super) fn read(mut layout: Layout, folder: &Path, settings: &Settings) -> Iteration {
    let plan = planned::record(folder, &mut layout.problems);
    let planned_name = plan.as_ref().map(|plan| plan.skill_name.clone());
    let skill_name =
        settings.skill_name.clone().or(planned_name).or_else(|| name_of_workspace(folder));
    let missing = plan.as_ref().map(|plan| planned::missing(plan, &layout)).unwrap_or_default();
    let folders: Vec<&RunFolder> = layout.cases.iter().flat_map(|case| &case.runs).collect();
    let mut readings =
        parallel::map_with(&folders, settings.threads, Reader::new, |reader, run| {
            let mut reading = read_run(&run.path, reader);
            if reading.skill_loaded.is_none() {
                let loads = loaded::skills_loaded(&run.path);
                reading.skill_loaded = loads.map(|loads| match &skill_name {
                    Some(name) => loads.iter().any(|loaded| names_skill(loaded, name)),
                    None => !loads.is_empty(),
                });
            }
            reading
        });
    find_gates(
        &folders,
        &mut readings,
        &layout,
        planned::rubrics(folder).as_ref(),
        settings.threads,
    );
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
    };
    let mut readings = readings.into_iter();
    for case in layout.cases {
        let mut runs = Vec::with_capacity(case.runs.len());
        for (run, mut reading) in case.runs.into_iter().zip(&mut readings) {
            for what in reading.problems.drain(..) {
                let place = run.path.strip_prefix(folder).unwrap_or(&run.path);
                iteration.problems.push(format!("{}: {what}", place.display()));
            }
            let (configuration, number) = (run.configuration.clone(), run.number);
            let state = state(reading, &case.id, case.name.as_ref(), run);
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
    folders: &[&RunFolder],
    readings: &[Reading],
) -> (Option<String>, Option<String>) {
    let judge = |reading: &Reading| reading.state.as_ref().ok().and_then(|ok| ok.0.judge.clone());
    let executor = readings
        .iter()
        .find_map(|reading| reading.model.clone())
        .or_else(|| plan.and_then(|plan| plan.executor_model.clone().or(plan.model.clone())))
        .or_else(|| folders.first().and_then(|run| loaded::model(&run.path)));
    let judge =
        plan.and_then(|plan| plan.judge.clone()).or_else(|| readings.iter().find_map(judge));
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

/// What one finished run says, without its iteration; none when it measured nothing.
pub(crate) fn score_of(run: &Path) -> Option<RunScore> {
    let (graded, outcome) = *read_run(run, &mut Reader::new()).state.ok()?;
    let of_rubric = || graded.rubric.as_ref().map(|rubric| rubric.normalized * BEST_SCORE);
    Some(RunScore {
        pass_rate: graded.pass_rate.as_f64(),
        passed: graded.run_passed && outcome.is_none(),
        score: graded.overall_score.map(Number::as_f64).or_else(of_rubric),
    })
}

/// What failed in one finished run: each expectation with its evidence.
pub(crate) fn failed_in(run: &Path) -> Vec<(String, Option<String>)> {
    let Ok(read) = read_run(run, &mut Reader::new()).state else { return Vec::new() };
    let failed = read.0.expectations.into_iter().filter(|found| !found.passed);
    failed.map(|found| (found.text, found.evidence)).collect()
}

fn read_run(path: &Path, reader: &mut Reader) -> Reading {
    let mut reading = Reading {
        state: Err(Unmeasured::new("not_graded", "there is no grading.json")),
        skill_loaded: None,
        gate_stopped: false,
        model: None,
        problems: Vec::new(),
    };
    let mut found = reader.parse(&path.join("grading.json"), grading::read);
    let facts = match &mut found {
        Parsed::Value(graded) => graded.facts.take(),
        Parsed::Missing | Parsed::Unusable(_) => None,
    };
    let told = match facts.clone() {
        Some(facts) => Parsed::Value(Told::from(facts)),
        None => reader.parse(&path.join("run.json"), Told::read),
    };
    let outcome = match read_outcome(told, &mut reading) {
        Ok(outcome) => outcome,
        Err(unmeasured) => {
            reading.state = Err(unmeasured);
            return reading;
        }
    };
    if let Parsed::Missing = found {
        // Some graders put it beside the outputs that they looked at. An agent can write there, so it says nothing
        // about its run.
        let beside = file::read_output(&path.join("outputs/grading.json"));
        found = beside.parse(|bytes| Ok(Graded { facts: None, ..grading::read(bytes)? }));
    }
    let mut graded = match found {
        // The agent brought it to an end that leaves nothing to grade: it failed.
        Parsed::Missing if outcome.is_some() => Graded::default(),
        Parsed::Missing => return reading,
        Parsed::Unusable(reason) => {
            let reason = format!("grading.json: {reason}");
            reading.state = Err(Unmeasured::new("unreadable", reason));
            return reading;
        }
        Parsed::Value(graded) => graded,
    };
    match facts {
        Some(facts) => graded.take_times(&Times::from(facts)),
        None => read_timing(path, reader, &mut graded),
    }
    if graded.tool_calls.is_none() {
        read_metrics(path, &mut graded);
    }
    for problem in graded.problems.drain(..) {
        reading.problems.push(format!("grading.json: {problem}"));
    }
    reading.state = Ok(Box::new((graded, outcome)));
    reading
}

/// What became of the run; runs of other tools have no record, and count as completed.
fn read_outcome(told: Parsed<Told>, reading: &mut Reading) -> Result<Option<Outcome>, Unmeasured> {
    let told = match told {
        Parsed::Missing => return Ok(None),
        Parsed::Unusable(reason) => return Err(Unmeasured::new("unreadable", reason)),
        Parsed::Value(told) => told,
    };
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    reading.model = filled(told.model);
    let Some(name) = filled(told.outcome) else {
        return Err(Unmeasured::new("unreadable", "run.json: there is no `outcome`"));
    };
    reading.skill_loaded = told.skill_loaded;
    let reason_text = filled(told.reason);
    let reason = reason_text.as_deref().and_then(named::<Reason>);
    match named::<Outcome>(&name) {
        Some(Outcome::Completed) => Ok(None),
        Some(Outcome::TimedOut) => Ok(Some(Outcome::TimedOut)),
        Some(outcome) if reason.is_some_and(Reason::is_result) => Ok(Some(outcome)),
        _ => {
            let parts = [reason_text, filled(told.message)];
            let reason = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
            let reason = Some(reason).filter(|reason| !reason.is_empty());
            Err(Unmeasured { outcome: name, reason })
        }
    }
}

fn read_timing(path: &Path, reader: &mut Reader, graded: &mut Graded) {
    if graded.seconds.is_some() && graded.tokens.is_some() {
        return;
    }
    match reader.parse(&path.join("timing.json"), Times::read) {
        Parsed::Value(times) => graded.take_times(&times),
        Parsed::Missing => {}
        Parsed::Unusable(_) => graded.problems.push("timing.json cannot be read".to_owned()),
    }
}

fn read_metrics(path: &Path, graded: &mut Graded) {
    let found = match file::read(&path.join("metrics.json")) {
        Found::Missing => file::read_output(&path.join("outputs/metrics.json")),
        found => found,
    };
    let Found::Bytes(bytes) = found else { return };
    let Ok(document) = json::parse(&bytes) else {
        return graded.problems.push("metrics.json cannot be read".to_owned());
    };
    graded.tool_calls = whole(Some(&document.root), "total_tool_calls");
    graded.errors = graded.errors.or_else(|| whole(Some(&document.root), "errors_encountered"));
}

/// Finds the runs whose rubric is missing because the gate stopped them.
///
/// Only where a rubric is to be expected: by the suite or the case's metadata, and where neither tells, when another run
/// of the case, or of the iteration, was scored.
fn find_gates(
    folders: &[&RunFolder],
    readings: &mut [Reading],
    layout: &Layout,
    rubrics: Option<&BTreeSet<String>>,
    threads: usize,
) {
    let is_scored =
        |reading: &Reading| reading.state.as_ref().is_ok_and(|graded| graded.0.rubric.is_some());
    let any_scored = readings.iter().any(is_scored);
    let expects = |case: &CaseFolder| match rubrics {
        Some(rubrics) => rubrics.contains(&case.id.to_string()),
        None => case.has_rubric || any_scored,
    };
    let expected = layout.cases.iter().flat_map(|case| vec![expects(case); case.runs.len()]);
    let unscored: Vec<usize> = expected
        .enumerate()
        .filter(|(index, expected)| {
            let reading = &readings[*index];
            *expected && reading.state.is_ok() && !is_scored(reading)
        })
        .map(|(index, _)| index)
        .collect();
    let stopped = parallel::map(&unscored, threads, |index| {
        let told = readings[*index].state.as_ref().ok().and_then(|graded| graded.0.gate_passed);
        told.or_else(|| gate_passed(&folders[*index].path)) == Some(false)
    });
    for (index, stopped) in unscored.into_iter().zip(stopped) {
        readings[index].gate_stopped = stopped;
    }
}

/// What the structural checks of a run say of the gate.
fn gate_passed(run: &Path) -> Option<bool> {
    let Found::Bytes(bytes) = file::read(&run.join("structural.json")) else { return None };
    json::parse(&bytes).ok()?.root.get("gate_passed").and_then(Node::as_bool)
}

fn state(reading: Reading, id: &EvalId, name: Option<&String>, run: RunFolder) -> State {
    let (graded, outcome) = match reading.state {
        Ok(read) => *read,
        Err(unmeasured) => return State::Unmeasured(unmeasured),
    };
    let pass_rate = graded.pass_rate.as_f64();
    let normalized = graded.rubric.as_ref().map(|rubric| rubric.normalized);
    let overall_efficiency = match normalized {
        Some(normalized) => f64::midpoint(pass_rate, normalized),
        None if reading.gate_stopped => pass_rate / 2.0,
        None => pass_rate,
    };
    let run_passed = graded.run_passed && outcome.is_none();
    // A run that timed out before it was graded has no counts at all.
    let counted = |count| (graded.total > 0).then_some(count);
    let rounded = |number| Number::Float(write::round_rate(number));
    let result = RunResult {
        pass_rate: graded.pass_rate,
        passed: counted(graded.passed),
        failed: counted(graded.failed),
        total: counted(graded.total),
        time_seconds: graded.seconds,
        tokens: graded.tokens.map(Number::Unsigned),
        tool_calls: graded.tool_calls,
        errors: graded.errors,
        rubric_normalized: normalized.map(rounded),
        overall_efficiency: Some(rounded(overall_efficiency)),
        overall_score: graded.overall_score,
        run_passed: Some(run_passed),
        extra: Extra::new(),
    };
    let entry = BenchmarkRun {
        eval_id: id.clone(),
        eval_name: name.cloned(),
        configuration: run.configuration,
        run_number: run.number,
        result,
        expectations: Some(graded.expectations),
        notes: Some(graded.notes),
        outcome,
        skill_loaded: reading.skill_loaded,
        extra: Extra::new(),
    };
    State::Measured(Box::new(Measured {
        entry,
        pass_rate,
        run_passed,
        rubric: graded.rubric,
        suggestions: graded.suggestions,
        overall_efficiency,
    }))
}
