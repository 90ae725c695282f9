//! From what a user asks for to what will be run: everything that can go wrong before money is spent goes wrong here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillgauge_core::check::compile_suite;
use skillgauge_core::plan::{Plan, RunId, Shard};
use skillgauge_core::statistics::PairTally;
use skillgauge_core::text::sha256;
use skillgauge_core::version::{self, VersionError, VersionStore};
use skillgauge_core::workspace::Workspace;
use skillgauge_format::cases::History;
use skillgauge_format::evals::PrimaryOutcome;
use skillgauge_format::part::{Configuration, Timestamp};
use skillgauge_format::record::{Baseline, BaselineKind, IterationRecord, RecordVersion};
use skillgauge_format::{Case, Dialect, Extra, Suite};

use crate::agent::{AgentTask, InputError, SkillError, TaskSkill};
use crate::grade::{OldSkill, Subject};
use crate::inputs;

/// What a user asks for.
#[derive(Clone, Debug)]
pub struct RunRequest {
    pub skill: PathBuf,
    /// The folder that the suite's input files are found in: the skill's own, or that of the present skill when a stored
    /// version is run, so that all versions get the same files.
    pub inputs_from: PathBuf,
    /// The stored version that `skill` is the folder of; none for the skill as it is now.
    pub stored: Option<u64>,
    pub workspace: Workspace,
    pub suite: Suite,
    /// Patterns for the ids of the cases to run; all if empty.
    pub cases: Vec<String>,
    /// Who carries it out: a name, never `auto`, so that a resumed iteration means the same agent.
    pub agent: String,
    /// The agent's version, if it told one.
    pub agent_version: Option<String>,
    /// The model of the agent.
    pub model: Option<String>,
    /// The judge, if there is one.
    pub judge: Option<String>,
    /// How often the judge is asked.
    pub judge_votes: u32,
    /// How often each case is run in each configuration.
    pub runs: u32,
    /// What the skill is compared with; the suite says it if absent.
    pub baseline: Option<BaselineChoice>,
    /// The outcome that decides; the suite says it if absent.
    pub primary: Option<PrimaryOutcome>,
    /// The margin below which a difference does not matter; the suite says it if absent.
    pub margin: Option<f64>,
    /// Whether to stop as soon as the pairs of runs decide; `runs` is then the most there can be.
    pub until_decided: bool,
    /// The longest that one attempt may take.
    pub timeout: Duration,
    pub seed: u64,
}

/// What a skill is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineChoice {
    /// Nothing.
    None,
    /// The skill absent.
    Without,
    /// An earlier version; without a number the one before that which the skill is, or the current one when the skill was
    /// changed since.
    Old(Option<u64>),
    /// The same skill again, for the noise of suite, agent and judge.
    Same,
}

impl FromStr for BaselineChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let version = |text: &str| text.trim_start_matches('v').parse::<u64>().ok();
        match text.split_once('=') {
            None if text == "none" => Ok(Self::None),
            None if text == "without" => Ok(Self::Without),
            None if text == "old" => Ok(Self::Old(None)),
            None if text == "same" => Ok(Self::Same),
            Some(("old", number)) if version(number).is_some() => Ok(Self::Old(version(number))),
            _ => Err("write none, without, same, old, or old=3".to_owned()),
        }
    }
}

/// Why nothing can be run.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("--case {pattern}: {source}")]
    Pattern { pattern: String, source: globset::Error },
    #[error("--case {pattern} matches no case; there are {}", cases.join(", "))]
    NoMatch { pattern: String, cases: Vec<String> },
    /// Checks that cannot work.
    #[error("{}", .0.join("\n"))]
    Checks(Vec<String>),
    #[error("there is no earlier version to compare with")]
    NoEarlierVersion,
    #[error("there is no version {0}")]
    NoSuchVersion(u64),
    #[error(transparent)]
    Version(#[from] VersionError),
    /// A skill cannot be installed.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// Input files that cannot be given to an agent.
    #[error("{}", errors.iter().map(|(case, error)| format!("case {case}: {error}")).collect::<Vec<_>>().join("\n"))]
    Inputs { errors: Vec<(String, InputError)> },
    #[error("there is no case to run")]
    NoCases,
    #[error("this suite has no {outcome}; its outcomes are {}", has.join(", "))]
    NoSuchOutcome { outcome: PrimaryOutcome, has: Vec<&'static str> },
    #[error("{outcome} needs a judge, and there is none")]
    OutcomeWithoutJudge { outcome: PrimaryOutcome },
    #[error(
        "{} {} nothing that can be decided without a judge",
        if cases.len() == 1 { "case" } else { "cases" },
        format!("{} {}", cases.join(", "), if cases.len() == 1 { "has" } else { "have" })
    )]
    NeedsJudge { cases: Vec<String> },
    #[error("the margin is {margin}, and must be above 0 and at most 1")]
    Margin { margin: f64 },
    #[error("--until-decided compares two arms, and there is only the skill")]
    OneArm,
    #[error("a preference compares two arms, and there is only the skill")]
    NothingToPrefer,
    #[error("at most {pairs} pairs of runs cannot decide: it takes 8 that all agree")]
    TooFewPairs { pairs: usize },
}

impl PrepareError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Pattern { .. } => "write a pattern such as login-*",
            Self::NoMatch { .. } => "write the id of a case, or a pattern such as login-*",
            Self::Checks(_) => "docs/checks.md has the types of checks and their fields",
            Self::NoEarlierVersion => {
                "`skillgauge init SKILL` and `skillgauge snapshot SKILL` keep versions"
            }
            Self::NoSuchVersion(_) => "`skillgauge history SKILL` shows the versions",
            Self::Version(error) => error.hint(),
            Self::NoSuchOutcome { .. } => {
                "choose one of them with --primary, or change `eval_config.primary_outcome`"
            }
            Self::OutcomeWithoutJudge { .. } => {
                "name a judge with --judge, or choose --primary pass_rate"
            }
            Self::NeedsJudge { .. } => {
                "name a judge with --judge, add structural checks, or choose other cases with --case"
            }
            Self::Margin { .. } => "0.1 is 10 points; --margin or `eval_config.margin` set it",
            Self::NothingToPrefer => "add --baseline without, or choose another --primary",
            Self::OneArm => "add --baseline without, or leave --until-decided out",
            Self::TooFewPairs { .. } => "raise --max-runs, or leave --until-decided out",
            Self::Skill(_) | Self::Inputs { .. } | Self::NoCases => {
                "nothing was run; put it right and try again"
            }
        }
    }
}

/// One run: all that a machine needs to carry it out, the files excepted, which are named by digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    pub id: RunId,
    /// What is asked of the agent.
    pub task: AgentTask,
}

#[derive(Clone, Debug)]
pub struct Prepared {
    pub record: IterationRecord,
    pub suite: Suite,
    /// What the runs are checked and graded by.
    pub subject: Arc<Subject>,
    /// Whether there are versions, and the skill is none of them.
    pub is_unstored: bool,
    tasks: BTreeMap<(String, String), AgentTask>,
}

impl Prepared {
    pub fn plan(&self) -> Plan {
        skillgauge_core::workspace::Iteration::plan(&self.record)
    }

    /// The plan, or one part of it.
    pub fn part(&self, shard: Option<Shard>) -> Plan {
        shard.map_or_else(|| self.plan(), |shard| self.plan().shard(shard))
    }

    /// What is to be done for a run of the plan.
    pub fn spec(&self, id: &RunId) -> Option<RunSpec> {
        let task = self.tasks.get(&(id.case.clone(), id.configuration.to_string()))?;
        let task = AgentTask { run: Some(id.to_string()), ..task.clone() };
        Some(RunSpec { id: id.clone(), task })
    }

    /// The task of each case in each configuration.
    pub fn tasks(&self) -> impl Iterator<Item = (&str, &str, &AgentTask)> {
        self.tasks.iter().map(|((case, configuration), task)| (&**case, &**configuration, task))
    }

    /// The cases that are run, in the order of the suite.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        let wanted = &self.record.case_ids;
        self.suite.cases().filter(move |case| wanted.iter().any(|id| *id == case.id()))
    }
}

/// Reads everything that a run needs, and computes what decides its result. Blocks.
pub fn prepare(request: &RunRequest, started: Timestamp) -> Result<Prepared, PrepareError> {
    let case_ids = matching_cases(&request.suite, &request.cases)?;
    let checks = compile_suite(&request.suite).map_err(|problems| {
        PrepareError::Checks(problems.iter().map(ToString::to_string).collect())
    })?;
    let history = history(&request.workspace);
    let version = present_version(request, history.as_ref())?;
    let skill = TaskSkill::read(&request.skill)?;
    let mut installed = vec![(Configuration::WithSkill, vec![skill.clone()])];
    let mut baseline = None;
    let old = match baseline_of(request, history.as_ref(), version)? {
        ResolvedBaseline::None => None,
        ResolvedBaseline::Without => {
            baseline = Some(record_of(BaselineKind::Without));
            installed.push((Configuration::WithoutSkill, Vec::new()));
            None
        }
        ResolvedBaseline::Same => {
            baseline = Some(record_of(BaselineKind::Same));
            installed.push((Configuration::from("same_skill"), vec![skill.clone()]));
            None
        }
        ResolvedBaseline::Old(old) => {
            let skill = TaskSkill::read(&old.folder)?;
            let digest = Some(skill.digest.as_str().to_owned());
            let version = Some(old.version);
            baseline = Some(Baseline { version, digest, ..record_of(BaselineKind::Old) });
            installed.push((Configuration::OldSkill, vec![skill]));
            Some(old)
        }
    };
    let tasks = tasks(request, &case_ids, &installed)?;
    if case_ids.is_empty() {
        return Err(PrepareError::NoCases);
    }
    let (primary_outcome, margin) = question(request)?;
    if installed.len() < 2 && primary_outcome == PrimaryOutcome::Preference {
        return Err(PrepareError::NothingToPrefer);
    }
    refuse_undecidable(request, case_ids.len(), installed.len())?;
    refuse_unjudged(request, &case_ids)?;
    let suite_digest = digest(&request.suite.to_json().unwrap_or_default());
    // A skill that was changed is not the version that it was, but may be the next.
    let next_version = history.as_ref().map_or(0, |history| history.versions.len() as u64);
    let record = IterationRecord {
        format: "iteration".to_owned(),
        format_version: RecordVersion::current(),
        key: key(request, &tasks, &case_ids, &suite_digest),
        started,
        finished: None,
        partial: None,
        skill_name: skill.name.clone(),
        skill_path: shown(&request.skill),
        skill_digest: skill.digest.as_str().to_owned(),
        version,
        graded_version: version.is_none().then_some(next_version),
        // One whose files cannot be hashed is refused elsewhere.
        content_hash: match request.stored {
            Some(_) => version::hash_of_version(&request.skill).ok(),
            None => version::hash_of_skill(&request.skill).ok(),
        },
        suite_digest,
        agent: request.agent.clone(),
        agent_version: request.agent_version.clone(),
        model: request.model.clone(),
        executor_model: None,
        judge: request.judge.clone(),
        judge_votes: u64::from(request.judge_votes),
        case_ids,
        configurations: installed.into_iter().map(|(configuration, _)| configuration).collect(),
        runs_per_configuration: u64::from(request.runs),
        baseline,
        primary_outcome: Some(primary_outcome),
        margin: margin.map(Into::into),
        until_decided: request.until_decided,
        max_runs_per_configuration: request.until_decided.then(|| u64::from(request.runs)),
        timeout_seconds: request.timeout.as_secs_f64().into(),
        seed: request.seed,
        skillgauge_version: env!("CARGO_PKG_VERSION").to_owned(),
        extra: Extra::new(),
    };
    let subject = Subject {
        suite: request.suite.clone(),
        checks: checks.into_iter().map(Arc::new).collect(),
        skill: Some(request.skill.clone()),
        skill_name: Some(skill.name),
        inputs_from: Some(request.inputs_from.clone()),
        version: record.graded_version(),
        old,
        workspace: request.workspace.clone(),
        is_recorded: true,
        model: None,
    };
    Ok(Prepared {
        is_unstored: version.is_none() && history.is_some(),
        record,
        suite: request.suite.clone(),
        subject: Arc::new(subject),
        tasks,
    })
}

/// The outcome that decides, and the margin.
fn question(request: &RunRequest) -> Result<(PrimaryOutcome, Option<f64>), PrepareError> {
    let (config, outcomes) = (request.suite.config(), request.suite.outcomes());
    // Without a judge only the checks count, which make a pass rate.
    let default = if request.judge.is_some() { outcomes[0] } else { PrimaryOutcome::PassRate };
    let outcome = request.primary.or(config.primary_outcome).unwrap_or(default);
    if !outcomes.contains(&outcome) {
        let has = outcomes.iter().map(|outcome| outcome.as_str()).collect();
        return Err(PrepareError::NoSuchOutcome { outcome, has });
    }
    if request.judge.is_none() && outcome != PrimaryOutcome::PassRate {
        return Err(PrepareError::OutcomeWithoutJudge { outcome });
    }
    let margin = request.margin.or(config.margin);
    match margin {
        Some(margin) if !(margin > 0.0 && margin <= 1.0) => Err(PrepareError::Margin { margin }),
        margin => Ok((outcome, margin)),
    }
}

/// Without a judge, a case without checks would be run and paid for, and tell nothing.
fn refuse_unjudged(request: &RunRequest, case_ids: &[String]) -> Result<(), PrepareError> {
    if request.judge.is_some() {
        return Ok(());
    }
    let cases = request.suite.cases().filter(|case| case.checks().is_empty());
    let ids = cases.map(|case| case.id().into_owned()).filter(|id| case_ids.contains(id));
    let cases: Vec<String> = ids.collect();
    if cases.is_empty() { Ok(()) } else { Err(PrepareError::NeedsJudge { cases }) }
}

fn refuse_undecidable(request: &RunRequest, cases: usize, arms: usize) -> Result<(), PrepareError> {
    if !request.until_decided {
        return Ok(());
    }
    if arms < 2 {
        return Err(PrepareError::OneArm);
    }
    let pairs = cases * request.runs as usize;
    if PairTally::default().can_be_decided(pairs) {
        Ok(())
    } else {
        Err(PrepareError::TooFewPairs { pairs })
    }
}

/// The ids that some patterns mean; all if there is no pattern.
pub fn matching_cases(suite: &Suite, patterns: &[String]) -> Result<Vec<String>, PrepareError> {
    let all: Vec<String> = suite.cases().map(|case| case.id().into_owned()).collect();
    let mut wanted = vec![patterns.is_empty(); all.len()];
    for pattern in patterns {
        let glob = globset::Glob::new(pattern)
            .map_err(|source| PrepareError::Pattern { pattern: pattern.clone(), source })?
            .compile_matcher();
        let mut is_found = false;
        for (id, is_wanted) in all.iter().zip(&mut wanted) {
            is_found |= glob.is_match(id);
            *is_wanted |= glob.is_match(id);
        }
        if !is_found {
            return Err(PrepareError::NoMatch { pattern: pattern.clone(), cases: all });
        }
    }
    Ok(all.into_iter().zip(wanted).filter_map(|(id, wanted)| wanted.then_some(id)).collect())
}

fn history(workspace: &Workspace) -> Option<History> {
    let bytes = fs_err::read(workspace.root().join("history.json")).ok()?;
    skillgauge_format::read::<History>(&bytes).ok().map(|read| read.value)
}

/// The version that the skill is: none when it was changed since the last snapshot, for then the current version is not
/// what is run.
fn present_version(
    request: &RunRequest,
    history: Option<&History>,
) -> Result<Option<u64>, PrepareError> {
    if request.stored.is_some() || history.is_none() {
        return Ok(request.stored);
    }
    let store = VersionStore::of(&request.skill)?;
    Ok(store.present_version(env!("CARGO_PKG_VERSION"))?.map(|version| version.0))
}

enum ResolvedBaseline {
    None,
    Without,
    Same,
    Old(OldSkill),
}

/// What the skill, which is this version or none, is compared with.
fn baseline_of(
    request: &RunRequest,
    history: Option<&History>,
    version: Option<u64>,
) -> Result<ResolvedBaseline, PrepareError> {
    let of_suite = if request.suite.config().baseline_comparison {
        BaselineChoice::Without
    } else {
        BaselineChoice::None
    };
    let named = match request.baseline.unwrap_or(of_suite) {
        BaselineChoice::None => return Ok(ResolvedBaseline::None),
        BaselineChoice::Without => return Ok(ResolvedBaseline::Without),
        BaselineChoice::Same => return Ok(ResolvedBaseline::Same),
        BaselineChoice::Old(named) => named,
    };
    let history = history.ok_or(PrepareError::NoEarlierVersion)?;
    let number = match (named, version) {
        (Some(number), _) => number,
        (None, Some(version)) => version.checked_sub(1).ok_or(PrepareError::NoEarlierVersion)?,
        // What was changed since the last snapshot is compared with the version that it was changed from.
        (None, None) => history.current_version,
    };
    let entry = history.versions.iter().find(|entry| entry.version == number);
    let entry = entry.ok_or(PrepareError::NoSuchVersion(number))?;
    let folder = request.workspace.root().join(&entry.path);
    Ok(ResolvedBaseline::Old(OldSkill { folder, version: number }))
}

fn record_of(kind: BaselineKind) -> Baseline {
    Baseline { kind, version: None, digest: None, from_iteration: None, extra: Extra::new() }
}

fn tasks(
    request: &RunRequest,
    wanted: &[String],
    installed: &[(Configuration, Vec<TaskSkill>)],
) -> Result<BTreeMap<(String, String), AgentTask>, PrepareError> {
    let (mut tasks, mut errors) = (BTreeMap::new(), Vec::new());
    for case in request.suite.cases().filter(|case| wanted.iter().any(|id| *id == case.id())) {
        let (skill, workspace) = (request.inputs_from.as_path(), request.workspace.root());
        // The seeds differ: paths are relative to the workspace in one dialect, to the skill in the other.
        let roots = match request.suite.dialect() {
            Dialect::Cases => [workspace, skill],
            Dialect::Evals | Dialect::Trigger => [skill, workspace],
        };
        let found = inputs::read(case.files().iter().map(String::as_str), &roots);
        let inputs = found.unwrap_or_else(|found| {
            errors.extend(found.into_iter().map(|error| (case.id().into_owned(), error)));
            Vec::new()
        });
        for (configuration, skills) in installed {
            let mut task = AgentTask::new(&request.agent, case.prompt());
            task.model.clone_from(&request.model);
            task.skills.clone_from(skills);
            task.inputs.clone_from(&inputs);
            task.limits.timeout = request.timeout;
            // An agent that may take less than the usual silence need not be watched for it.
            task.limits.silence = task.limits.silence.filter(|silence| *silence < request.timeout);
            tasks.insert((case.id().into_owned(), configuration.to_string()), task);
        }
    }
    if errors.is_empty() { Ok(tasks) } else { Err(PrepareError::Inputs { errors }) }
}

/// Everything that decides the results, and nothing else: not where things are, not how many run at once.
fn key(
    request: &RunRequest,
    tasks: &BTreeMap<(String, String), AgentTask>,
    cases: &[String],
    suite_digest: &str,
) -> String {
    #[derive(Serialize)]
    struct Key<'a> {
        tasks: Vec<serde_json::Value>,
        cases: &'a [String],
        suite: &'a str,
        agent_version: &'a Option<String>,
        judge: &'a Option<String>,
        judge_votes: u32,
        runs: u32,
        seed: u64,
        until_decided: bool,
    }
    let key = Key {
        tasks: tasks.values().map(without_paths).collect(),
        cases,
        suite: suite_digest,
        agent_version: &request.agent_version,
        judge: &request.judge,
        judge_votes: request.judge_votes,
        runs: request.runs,
        seed: request.seed,
        until_decided: request.until_decided,
    };
    digest(&serde_json::to_string(&key).unwrap_or_default())
}

/// A task without the places of its files, which are told apart by digest.
fn without_paths(task: &AgentTask) -> serde_json::Value {
    let mut task = task.clone();
    for skill in &mut task.skills {
        skill.folder = PathBuf::new();
    }
    for input in &mut task.inputs {
        input.root = PathBuf::new();
    }
    serde_json::to_value(task).unwrap_or_default()
}

pub(super) fn digest(text: &str) -> String {
    format!("sha256:{}", sha256(text))
}

fn shown(path: &Path) -> String {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_is_one_of_five_texts() {
        assert_eq!("none".parse(), Ok(BaselineChoice::None));
        assert_eq!("old=v3".parse(), Ok(BaselineChoice::Old(Some(3))));
        assert_eq!("old".parse(), Ok(BaselineChoice::Old(None)));
        assert_eq!("same".parse(), Ok(BaselineChoice::Same));
        for bad in ["", "old=", "with", "old=x", "without=1"] {
            assert!(bad.parse::<BaselineChoice>().is_err(), "{bad}");
        }
    }
}
