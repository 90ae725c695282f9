//! Who runs, who judges, how often and against what: flags, then the project's settings, then the suite, then defaults.

use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::check::{self, CompiledChecks};
use skillgauge_core::version::{self, VersionStore};
use skillgauge_core::workspace::Workspace;
use skillgauge_format::cases::History;
use skillgauge_run::agent::{ExecuteError, Executor};
use skillgauge_run::budget::Budget;
use skillgauge_run::check::Scripts;
use skillgauge_run::grade::Judge;
use skillgauge_run::iteration::{
    BaselineRequest, Evaluator, EvaluatorSettings, OldSkill, Prepared, Request, prepare,
};
use skillgauge_run::model::ModelName;

use super::target::Target;
use crate::args::{BaselineArg, RunArgs};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{Printer, judge};

/// The longest that one attempt may take when nobody says.
const TIMEOUT: Duration = Duration::from_mins(10);

/// Where the agent and the judge are: on this machine, or on those of a fleet, which may have what this one lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Judging {
    Here,
    Elsewhere,
}

/// Everything that was asked for, found out before anything is run.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) judge: Option<Judge>,
    pub(super) checks: Vec<CompiledChecks>,
    pub(super) jobs: u32,
}

impl Asked {
    pub(super) fn new(
        args: &RunArgs,
        target: &Target,
        session: &Session,
        executor: &Executor,
        printer: &Printer,
        judging: Judging,
    ) -> Result<Self, CommandError> {
        let settings = &session.settings;
        let config = target.suite.config();
        let cases = matching(args, target)?;
        let checks = compile(target)?;
        let (agent, agent_version) = agent(args, session, executor, printer, judging)?;
        let history = history(&target.workspace);
        let (judge, judged_by) = find_judge(args, target, session, judging)?;
        let version = match target.version {
            Some(version) => Some(version.0),
            None => present_version(&target.skill, history.as_ref())?,
        };
        let runs = settings.runs(args.runs).unwrap_or(config.runs_per_eval);
        let request = Request {
            skill: target.skill.clone(),
            inputs_from: target.inputs_from.clone(),
            version,
            // A skill that was changed is not the version that it was, but may be the next.
            next_version: history.as_ref().map_or(0, |history| history.versions.len() as u64),
            content_hash: content_hash(target),
            workspace: target.workspace.root().to_owned(),
            suite: target.suite.clone(),
            cases,
            agent,
            agent_version,
            model: settings.model(&args.agent),
            judge_votes: judged_by.as_ref().map_or(1, |_| settings.judge_votes(args.judge_votes)),
            judge: judged_by,
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
            baseline: baseline(args, target, history.as_ref(), version)?,
            timeout: settings.timeout(&args.agent).unwrap_or(TIMEOUT),
            seed: settings.seed(args.seed),
        };
        Ok(Self { request, judge, checks, jobs: settings.jobs(&args.budget) })
    }

    /// Reads the skill and the inputs.
    pub(super) fn prepare(&self) -> Result<Prepared, CommandError> {
        prepare(&self.request, skillgauge_run::now())
            .or_hint("nothing was run; put it right and try again")
    }

    /// What checks and grades the runs.
    pub(super) fn evaluator(
        &mut self,
        target: &Target,
        session: &Session,
        prepared: &Prepared,
        budget: Arc<Budget>,
    ) -> Evaluator {
        Evaluator::new(EvaluatorSettings {
            suite: target.suite.clone(),
            checks: std::mem::take(&mut self.checks),
            judge: self.judge.clone(),
            skill: target.skill.clone(),
            inputs_from: target.inputs_from.clone(),
            version: prepared.record.graded_version(),
            old: self.old(),
            workspace: target.workspace.clone(),
            skill_name: prepared.record.skill_name.clone(),
            scripts: Scripts::new(
                session.guard().clone(),
                session.environment().clone(),
                session.cancel.clone(),
            ),
            budget,
        })
    }

    fn old(&self) -> Option<OldSkill> {
        match self.request.baseline.as_ref()? {
            BaselineRequest::Without => None,
            BaselineRequest::Old { version, folder } => {
                Some(OldSkill { folder: folder.clone(), version: *version })
            }
        }
    }
}

/// The cases that `--case` names; none when it names none, which means all.
pub(in crate::commands) fn matching(
    args: &RunArgs,
    target: &Target,
) -> Result<Vec<String>, CommandError> {
    let all: Vec<String> = target.suite.cases().map(|case| case.id().into_owned()).collect();
    if args.cases.is_empty() {
        return Ok(Vec::new());
    }
    let mut wanted = Vec::new();
    for pattern in &args.cases {
        let glob = globset::Glob::new(pattern).map_err(|error| {
            CommandError::usage(
                format!("--case {pattern}: {error}"),
                "write a pattern such as login-*",
            )
        })?;
        let glob = glob.compile_matcher();
        let found: Vec<String> = all.iter().filter(|id| glob.is_match(id)).cloned().collect();
        if found.is_empty() {
            let message = format!("--case {pattern} matches no case; there are {}", all.join(", "));
            return Err(CommandError::usage(
                message,
                "write the id of a case, or a pattern such as login-*",
            ));
        }
        wanted.extend(found);
    }
    Ok(wanted)
}

/// Every check of every case, or all that is wrong with them.
fn compile(target: &Target) -> Result<Vec<CompiledChecks>, CommandError> {
    check::compile_suite(&target.suite).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        CommandError::usage(
            lines.join("\n"),
            "docs/checks.md has the types of checks and their fields",
        )
    })
}

/// The agent by its own name, and its version; found before anything is run.
fn agent(
    args: &RunArgs,
    session: &Session,
    executor: &Executor,
    printer: &Printer,
    judging: Judging,
) -> Result<(String, Option<String>), CommandError> {
    let name = session.settings.agent(&args.agent);
    let located = session.block_on(printer, executor.prepare(&name))?;
    if located.is_err() && judging == Judging::Elsewhere && name != "auto" {
        printer.say(&format!("{name} is not on this machine; workers need it"));
        return Ok((name, None));
    }
    let located = located.map_err(|error| {
        let hint = "`skillgauge doctor` shows which agents can be used";
        match error {
            ExecuteError::Unknown(_) => CommandError::usage(error.to_string(), hint),
            _ => CommandError::unmeasurable(error.to_string(), hint),
        }
    })?;
    // A command line is its own name: the descriptor behind it is made up for the occasion.
    Ok(match located {
        Some(located) if name == "auto" => {
            let found = located.descriptor.name.as_str().to_owned();
            printer.say(&format!("agent: {found} (the first that can be used)"));
            (found, located.version.as_ref().map(ToString::to_string))
        }
        Some(located) => (name, located.version.as_ref().map(ToString::to_string)),
        None => (name, None),
    })
}

/// The judge and its name. One that others ask need not be known here, unless it is for us to choose.
fn find_judge(
    args: &RunArgs,
    target: &Target,
    session: &Session,
    judging: Judging,
) -> Result<(Option<Judge>, Option<String>), CommandError> {
    let config = target.suite.config();
    let named = session.settings.judge(args.judge.as_deref());
    let named = named.or_else(|| config.judge_model.map(judge::model_name));
    let name: Option<ModelName> = named.as_deref().and_then(|name| name.parse().ok());
    match (open_judge(args, target, session), judging, name) {
        (Ok(judge), ..) => {
            let name = judge.as_ref().map(|judge| judge.model.name().to_string());
            Ok((judge, name))
        }
        (Err(_), Judging::Elsewhere, Some(name)) if name.to_string() != "auto" => {
            Ok((None, Some(name.to_string())))
        }
        (Err(error), ..) => Err(error),
    }
}

/// The judge; nobody when the suite has nothing to judge, or when nobody is wanted.
fn open_judge(
    args: &RunArgs,
    target: &Target,
    session: &Session,
) -> Result<Option<Judge>, CommandError> {
    let settings = &session.settings;
    let needed =
        target.suite.cases().any(|case| !case.expectations().is_empty() || case.rubric().is_some());
    let config = target.suite.config();
    let typed = args.judge.as_deref();
    if !needed || judge::is_unwanted(session, typed, config.judge_model) {
        return Ok(None);
    }
    let judge = judge::open(session, typed, config.judge_model, args.judge_votes);
    let mut judge = judge.map_err(|error| {
        error.hinting(
            "--judge MODEL names another one, --judge none runs only the structural checks; \
             `skillgauge doctor` shows what can be used",
        )
    })?;
    judge.seed = settings.seed(args.seed);
    Ok(Some(judge))
}

/// The version that the skill is: none when it was changed since the last snapshot, for then the current version is not
/// what is run.
fn present_version(
    skill: &std::path::Path,
    history: Option<&History>,
) -> Result<Option<u64>, CommandError> {
    if history.is_none() {
        return Ok(None);
    }
    let found = VersionStore::of(skill)?.present_version(env!("CARGO_PKG_VERSION"))?;
    Ok(found.map(|version| version.0))
}

/// What gradings of this skill are bound to; a skill whose files cannot be hashed is refused elsewhere.
fn content_hash(target: &Target) -> Option<String> {
    let hash = match target.version {
        Some(_) => version::hash_of_version(&target.skill),
        None => version::hash_of_skill(&target.skill),
    };
    hash.ok()
}

/// Warns when there are versions, and the skill is none of them.
pub(super) fn warn_unstored(prepared: &Prepared, target: &Target, printer: &Printer) {
    if prepared.record.version.is_none() && history(&target.workspace).is_some() {
        printer.say(
            "warning: the skill is no stored version, so `compare` will not find these runs; \
             `skillgauge snapshot` first if it should",
        );
    }
}

fn history(workspace: &Workspace) -> Option<History> {
    let bytes = fs_err::read(workspace.root().join("history.json")).ok()?;
    skillgauge_format::read::<History>(&bytes).ok().map(|read| read.value)
}

/// What the skill, which is this version or none, is compared with.
fn baseline(
    args: &RunArgs,
    target: &Target,
    history: Option<&History>,
    version: Option<u64>,
) -> Result<Option<BaselineRequest>, CommandError> {
    let wanted = match args.baseline {
        Some(wanted) => wanted,
        None if target.suite.config().baseline_comparison => BaselineArg::Without,
        None => BaselineArg::None,
    };
    let named = match wanted {
        BaselineArg::None => return Ok(None),
        BaselineArg::Without => return Ok(Some(BaselineRequest::Without)),
        BaselineArg::Old(named) => named,
    };
    let no_versions = || {
        CommandError::usage(
            "there is no earlier version to compare with",
            "`skillgauge init SKILL` and `skillgauge snapshot SKILL` keep versions",
        )
    };
    let history = history.ok_or_else(no_versions)?;
    let number = match (named, version) {
        (Some(number), _) => number,
        (None, Some(version)) => version.checked_sub(1).ok_or_else(no_versions)?,
        // What was changed since the last snapshot is compared with the version that it was changed from.
        (None, None) => history.current_version,
    };
    let entry = history.versions.iter().find(|entry| entry.version == number).ok_or_else(|| {
        CommandError::usage(
            format!("there is no version {number}"),
            "`skillgauge history SKILL` shows the versions",
        )
    })?;
    let folder = target.workspace.root().join(&entry.path);
    Ok(Some(BaselineRequest::Old { version: number, folder }))
}
