//! Reads one run.
//!
//! A run is a few small files; most of the time goes into opening them, so only those are opened that can matter:
//! `metrics.json` when the grading has no metrics, `structural.json` when a rubric is missing that others have, and of
//! a transcript the last line.

use std::borrow::Cow;
use std::path::Path;

use skillgauge_format::json::{self, Node};
use skillgauge_format::transcript::{Outcome, Reason, names_skill};

use super::file::{self, Found, Parsed, Reader, whole};
use super::grading::{self, Graded};
use super::loaded;
use super::measured::{Measured, RunScore, Unmeasured};
use super::quick::Keeper;
use super::told::{Times, Told, named};

/// What a thread has to read runs with.
#[derive(Default)]
pub(super) struct Hands {
    pub(super) reader: Reader,
    pub(super) keeper: Keeper,
}

impl Hands {
    /// The lists of verdicts that were read.
    pub(super) fn lists(&mut self) -> &mut Vec<u8> {
        &mut self.keeper.lists
    }
}

/// What was read of a run.
pub(super) struct Reading {
    pub(super) state: Result<Measured, Unmeasured>,
    pub(super) judge: Option<String>,
    pub(super) model: Option<String>,
    made_with: MadeWith,
    pub(super) problems: Vec<String>,
}

/// The versions of the programs that made a run.
#[derive(Default)]
struct MadeWith {
    skillgauge: Option<String>,
    agent: Option<String>,
}

impl Reading {
    /// Of a run that was planned and is not there.
    pub(super) fn of_missing() -> Self {
        Self {
            state: Err(Unmeasured { outcome: "not_run".into(), reason: None }),
            judge: None,
            model: None,
            made_with: MadeWith::default(),
            problems: Vec::new(),
        }
    }

    /// The versions of skillgauge and of the agent; a run that measured nothing is in no number.
    pub(super) fn made_with(&self) -> (Option<&str>, Option<&str>) {
        match &self.state {
            Ok(_) => (self.made_with.skillgauge.as_deref(), self.made_with.agent.as_deref()),
            Err(_) => (None, None),
        }
    }
}

/// What the files of a run say.
struct Files {
    /// The grading, and how the agent failed to complete if it did.
    state: Result<(Graded, Option<Outcome>), Unmeasured>,
    skill_loaded: Option<bool>,
    model: Option<String>,
    made_with: MadeWith,
    problems: Vec<String>,
}

/// Reads a run of a case.
pub(super) fn read(path: &Path, number: u64, skill: Option<&str>, hands: &mut Hands) -> Reading {
    let Files { state, skill_loaded, model, made_with, problems } = read_files(path, hands);
    let mut judge = None;
    let state = state.map(|(mut graded, outcome)| {
        judge = graded.judge.take();
        let skill_loaded = skill_loaded.or_else(|| {
            let loads = loaded::skills_loaded(path)?;
            Some(match skill {
                Some(name) => loads.iter().any(|loaded| names_skill(loaded, name)),
                None => !loads.is_empty(),
            })
        });
        Measured::new(graded, outcome, skill_loaded, number)
    });
    Reading { state, judge, model, made_with, problems }
}

/// What one finished run says, without its iteration; none when it measured nothing.
pub(crate) fn score_of(run: &Path) -> Option<RunScore> {
    let (graded, outcome) = read_files(run, &mut Hands::default()).state.ok()?;
    Some(RunScore::of(&graded, outcome))
}

/// What failed in one finished run: each expectation with its evidence.
pub(crate) fn failed_in(run: &Path) -> Vec<(String, Option<String>)> {
    let mut hands = Hands::default();
    let Ok((graded, _)) = read_files(run, &mut hands).state else { return Vec::new() };
    let expectations = graded.verdicts.expectations(hands.lists());
    let failed = expectations.into_iter().filter(|found| !found.passed);
    failed.map(|found| (found.text, found.evidence)).collect()
}

/// Reads the files of a run.
fn read_files(path: &Path, hands: &mut Hands) -> Files {
    let Hands { reader, keeper } = hands;
    let mut reading = Files {
        state: Err(Unmeasured::new("not_graded", "there is no grading.json")),
        skill_loaded: None,
        model: None,
        made_with: MadeWith::default(),
        problems: Vec::new(),
    };
    let mut found = reader.parse(path, "grading.json", |bytes| grading::read(bytes, keeper));
    let facts = match &mut found {
        Parsed::Value(graded) => graded.facts.take(),
        Parsed::Missing | Parsed::Unusable(_) => None,
    };
    let times = facts.as_ref().map(Times::from);
    let told = match facts {
        Some(facts) => Parsed::Value(Told::from(facts)),
        None => reader.parse(path, "run.json", Told::read),
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
        found = beside.parse(|bytes| Ok(Graded { facts: None, ..grading::read(bytes, keeper)? }));
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
        Parsed::Value(graded) if graded.total == 0 && graded.judge_errors > 0 => {
            let reason = "the judge decided nothing; `skillgauge grade` asks it again";
            reading.state = Err(Unmeasured::new("judge_error", reason));
            return reading;
        }
        Parsed::Value(graded) => graded,
    };
    match times {
        Some(times) => graded.take_times(&times),
        None => read_timing(path, reader, &mut graded),
    }
    if graded.tool_calls.is_none() {
        read_metrics(path, &mut graded);
    }
    for problem in graded.problems.drain(..) {
        reading.problems.push(format!("grading.json: {problem}"));
    }
    reading.state = Ok((graded, outcome));
    reading
}

/// What became of the run; runs of other tools have no record, and count as completed.
fn read_outcome(told: Parsed<Told>, reading: &mut Files) -> Result<Option<Outcome>, Unmeasured> {
    let told = match told {
        Parsed::Missing => return Ok(None),
        Parsed::Unusable(reason) => return Err(Unmeasured::new("unreadable", reason)),
        Parsed::Value(told) => told,
    };
    let named_something = |text: Cow<'static, str>| (!text.trim().is_empty()).then_some(text);
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    reading.model = filled(told.model);
    reading.made_with = MadeWith { skillgauge: told.skillgauge_version, agent: told.agent_version };
    let Some(name) = told.outcome.and_then(named_something) else {
        return Err(Unmeasured::new("unreadable", "run.json: there is no `outcome`"));
    };
    reading.skill_loaded = told.skill_loaded;
    let reason_text = told.reason.and_then(named_something);
    let reason = reason_text.as_deref().and_then(named::<Reason>);
    match named::<Outcome>(&name) {
        Some(Outcome::Completed) => Ok(None),
        Some(Outcome::TimedOut) => Ok(Some(Outcome::TimedOut)),
        Some(outcome) if reason.is_some_and(Reason::is_result) => Ok(Some(outcome)),
        _ => {
            let parts = [reason_text, filled(told.message).map(Cow::Owned)];
            let reason = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
            let reason = Some(reason).filter(|reason| !reason.is_empty());
            Err(Unmeasured { outcome: name, reason: reason.map(Cow::Owned) })
        }
    }
}

fn read_timing(path: &Path, reader: &mut Reader, graded: &mut Graded) {
    if graded.seconds.is_some() && graded.tokens.is_some() {
        return;
    }
    match reader.parse(path, "timing.json", Times::read) {
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

/// What the structural checks of a run say of the gate.
pub(super) fn gate_passed(run: &Path) -> Option<bool> {
    let Found::Bytes(bytes) = file::read(&run.join("structural.json")) else { return None };
    json::parse(&bytes).ok()?.root.get("gate_passed").and_then(Node::as_bool)
}
