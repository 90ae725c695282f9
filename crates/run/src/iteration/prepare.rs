//! From what a user asks for to what will be run: everything that can go wrong before money is spent goes wrong here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillgauge_core::plan::{Plan, RunId};
use skillgauge_core::text::sha256;
use skillgauge_format::part::{Configuration, Timestamp};
use skillgauge_format::record::{Baseline, BaselineKind, IterationRecord, RecordVersion};
use skillgauge_format::{Case, Extra, Suite};

use super::inputs;
use crate::agent::{AgentTask, InputError, SkillError, TaskSkill};

/// What a user asks for.
#[derive(Clone, Debug)]
pub struct Request {
    pub skill: PathBuf,
    /// The folder that the suite's input files are found in: the skill's own, or that of the present skill when a stored
    /// version is run, so that all versions get the same files.
    pub inputs_from: PathBuf,
    /// The skill's version in the workspace's history, if it has one.
    pub version: Option<u64>,
    /// The number under which gradings are kept of a skill that has none.
    pub next_version: u64,
    /// The hash of the skill's files, as a stored version of them has it; none when nobody could tell.
    pub content_hash: Option<String>,
    pub workspace: PathBuf,
    pub suite: Suite,
    /// The cases to run, by id; all if empty.
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
    /// What the skill is compared with: the skill absent, or an earlier version in this folder.
    pub baseline: Option<BaselineRequest>,
    /// The longest that one attempt may take.
    pub timeout: Duration,
    pub seed: u64,
}

/// What the skill is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaselineRequest {
    Without,
    Old { version: u64, folder: PathBuf },
}

/// Why nothing can be run.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A skill cannot be installed.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// Input files that cannot be given to an agent.
    #[error("{}", errors.iter().map(|(case, error)| format!("case {case}: {error}")).collect::<Vec<_>>().join("\n"))]
    Inputs { errors: Vec<(String, InputError)> },
    /// There is nothing to run.
    #[error("there is no case to run")]
    NoCases,
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
    tasks: BTreeMap<(String, String), AgentTask>,
}

impl Prepared {
    pub fn plan(&self) -> Plan {
        skillgauge_core::workspace::Iteration::plan(&self.record)
    }

    /// What is to be done for a run of the plan.
    pub fn spec(&self, id: &RunId) -> Option<RunSpec> {
        let task = self.tasks.get(&(id.case.clone(), id.configuration.to_string()))?;
        Some(RunSpec { id: id.clone(), task: task.clone() })
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
pub fn prepare(request: &Request, started: Timestamp) -> Result<Prepared, PrepareError> {
    let skill = TaskSkill::read(&request.skill)?;
    let (baseline, old) = match &request.baseline {
        None => (None, None),
        Some(BaselineRequest::Without) => (Some(baseline_of(BaselineKind::Without)), None),
        Some(BaselineRequest::Old { version, folder }) => {
            let old = TaskSkill::read(folder)?;
            let digest = Some(old.digest.as_str().to_owned());
            let baseline =
                Baseline { version: Some(*version), digest, ..baseline_of(BaselineKind::Old) };
            (Some(baseline), Some(old))
        }
    };
    let mut installed = vec![(Configuration::WithSkill, vec![skill.clone()])];
    match (&baseline, old) {
        (None, _) => {}
        (Some(_), Some(old)) => installed.push((Configuration::OldSkill, vec![old])),
        (Some(_), None) => installed.push((Configuration::WithoutSkill, Vec::new())),
    }
    let tasks = tasks(request, &installed)?;
    let case_ids = ids(request);
    if case_ids.is_empty() {
        return Err(PrepareError::NoCases);
    }
    let suite_digest = digest(&request.suite.to_json().unwrap_or_default());
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
        version: request.version,
        graded_version: request.version.is_none().then_some(request.next_version),
        content_hash: request.content_hash.clone(),
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
        timeout_seconds: request.timeout.as_secs_f64().into(),
        seed: request.seed,
        skillgauge_version: env!("CARGO_PKG_VERSION").to_owned(),
        extra: Extra::new(),
    };
    Ok(Prepared { record, suite: request.suite.clone(), tasks })
}

fn baseline_of(kind: BaselineKind) -> Baseline {
    Baseline { kind, version: None, digest: None, from_iteration: None, extra: Extra::new() }
}

fn ids(request: &Request) -> Vec<String> {
    let wanted =
        |id: &str| request.cases.is_empty() || request.cases.iter().any(|wanted| wanted == id);
    request.suite.cases().map(|case| case.id().into_owned()).filter(|id| wanted(id)).collect()
}

fn tasks(
    request: &Request,
    installed: &[(Configuration, Vec<TaskSkill>)],
) -> Result<BTreeMap<(String, String), AgentTask>, PrepareError> {
    let (mut tasks, mut errors) = (BTreeMap::new(), Vec::new());
    let wanted = ids(request);
    for case in request.suite.cases().filter(|case| wanted.iter().any(|id| *id == case.id())) {
        let found =
            inputs::read(case, request.suite.dialect(), &request.inputs_from, &request.workspace);
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
    request: &Request,
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
