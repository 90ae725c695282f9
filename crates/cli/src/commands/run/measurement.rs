//! One measurement of a skill as it is now: prepared before anything is spent, then driven as far as it goes.
//!
//! `run` makes one, `improve` one for each version. The one invariant: whoever drives holds the workspace's lock.

use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::plan::Plan;
use skillgauge_core::statistics::{DECISIVE, PairTally};
use skillgauge_core::text::plural;
use skillgauge_core::workspace::WorkspaceLock;
use skillgauge_format::evals::PrimaryOutcome;
use skillgauge_run::agent::{ExecuteError, Executor, TaskSkill};
use skillgauge_run::budget::Budget;
use skillgauge_run::check::Scripts;
use skillgauge_run::grade::{Evaluator, Judge};
use skillgauge_run::iteration::{
    self, Continuation, DriveSettings, FailedRuns, IterationEvent, IterationResult, OpenIteration,
    Outlook, Prepared, RunRequest, TakeOver,
};
use skillgauge_run::model::ModelName;
use skillgauge_run::pool::RetryRules;

use super::plan;
use super::target::Target;
use crate::args::RunArgs;
use crate::error::{CommandError, Explain as _};
use crate::progress::RunProgress;
use crate::session::Session;
use crate::{Printer, caution, judge, keep};

/// The longest that one attempt may take when nobody says.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The most runs of each case in each arm with `--until-decided`, when nobody says.
const REPLICATES: u64 = 15;

/// Where the agent and the judge are: on this machine, or on those of a fleet, which may have what this one lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judging {
    Here,
    Elsewhere,
}

#[derive(Debug)]
pub(crate) struct Measurement<'m> {
    pub(crate) target: Target,
    pub(crate) prepared: Prepared,
    pub(crate) session: &'m Session,
    /// What need not be run, because another iteration has it.
    taken: Option<TakeOver>,
    args: &'m RunArgs,
    pub(super) printer: &'m Printer,
    pub(super) judge: Option<Judge>,
    pub(super) jobs: u32,
    executor: Arc<Executor>,
}

/// An iteration that was driven as far as it went.
#[derive(Debug)]
pub(crate) struct DrivenIteration {
    pub(crate) open: OpenIteration,
    pub(crate) result: IterationResult,
    pub(crate) plan: Plan,
}

impl<'m> Measurement<'m> {
    /// Finds out everything that can go wrong before money is spent.
    pub(crate) fn prepare(
        args: &'m RunArgs,
        target: Target,
        session: &'m Session,
        printer: &'m Printer,
        judging: Judging,
    ) -> Result<Self, CommandError> {
        // What was typed wrong is said before anybody is looked for.
        let cases = iteration::matching_cases(&target.suite, &args.cases)?.len();
        Session::warn_of_room(target.workspace.root(), printer);
        let executor = Arc::new(session.executor());
        let (agent, agent_version) = agent(args, &target, session, &executor, printer, judging)?;
        let (judge, judged_by) = find_judge(args, &target, session, judging)?;
        let settings = &session.settings;
        let runs = if args.until.until_decided {
            most_replicates(args.until.max_runs, cases)?
        } else {
            settings.runs(args.runs).unwrap_or(target.suite.config().runs_per_eval)
        };
        let request = RunRequest {
            skill: target.skill.clone(),
            inputs_from: target.inputs_from.clone(),
            stored: target.version.map(|version| version.0),
            workspace: target.workspace.clone(),
            suite: target.suite.clone(),
            cases: args.cases.clone(),
            agent,
            agent_version,
            model: settings.model(&args.agent),
            judge_votes: judged_by.as_ref().map_or(1, |_| settings.judge_votes(args.judge_votes)),
            judge: judged_by,
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
            baseline: args.baseline,
            primary: args.outcome.primary,
            margin: args.outcome.margin,
            until_decided: args.until.until_decided,
            timeout: settings.timeout(&args.agent).unwrap_or(TIMEOUT),
            seed: settings.seed(args.seed),
        };
        // To the millisecond: a fleet knows the plan by it, and two iterations may begin within a second.
        let started = skillgauge_core::time::timestamp(std::time::SystemTime::now());
        let prepared = iteration::prepare(&request, started)?;
        if settings.is_gated(args.outcome.judge_gate) {
            judge::refuse_unmeasured(session, &prepared.record, &target.suite, &target.workspace)?;
        }
        let taken = args
            .baseline_from
            .map(|number| TakeOver::plan(&target.workspace, number, &prepared.record))
            .transpose()?;
        let jobs = settings.jobs(&args.budget);
        Ok(Self { target, prepared, session, taken, args, printer, judge, jobs, executor })
    }

    /// Says what will be run, and what to know before.
    pub(crate) fn show_plan(&self) {
        plan::show_plan(
            &self.prepared,
            &self.outlook(),
            self.jobs,
            &self.target.workspace,
            self.printer,
        );
    }

    pub(crate) fn warn_unstored(&self) {
        if self.prepared.is_unstored {
            self.printer.say(
                "warning: the skill is no stored version, so `compare` will not find these runs; \
                 `skillgauge snapshot` first if it should",
            );
        }
    }

    /// What a dry run shows beside the plan.
    pub(crate) fn list_runs(&self) -> Result<(), CommandError> {
        plan::list_runs(&self.outlook(), self.args.output.format, self.printer)
    }

    fn outlook(&self) -> Outlook {
        let workspace = &self.target.workspace;
        let (shard, taken) = (self.args.shard, self.taken.as_ref());
        Outlook::new(workspace, &self.prepared, self.continuation(), shard, taken)
    }

    fn continuation(&self) -> Continuation {
        match (self.args.resume, self.args.fresh) {
            (true, _) => Continuation::Required,
            (false, true) => Continuation::Never,
            (false, false) => Continuation::IfSame,
        }
    }

    /// Begins an iteration or resumes it, and runs and grades what is left of it.
    pub(crate) fn drive(
        &self,
        budget: &Arc<Budget>,
        lock: &WorkspaceLock,
    ) -> Result<DrivenIteration, CommandError> {
        let open = self.begin()?;
        let session = self.session;
        let scripts = Scripts::new(
            session.guard().clone(),
            session.environment().clone(),
            session.cancel.clone(),
        );
        let evaluator =
            Evaluator { judge: self.judge.clone(), scripts, budget: Arc::clone(budget) };
        let settings = DriveSettings {
            executor: Arc::clone(&self.executor),
            evaluator: Arc::new(evaluator),
            subject: Arc::clone(&self.prepared.subject),
            jobs: self.jobs,
            retry: RetryRules::for_runs().retries(self.args.retries),
            failed_runs: if self.args.retry_failed { FailedRuns::Retry } else { FailedRuns::Leave },
            cancel: session.cancel.clone(),
        };
        let plan = self.prepared.part(self.args.shard);
        let mut progress = RunProgress::new(self.printer, plan.runs().len());
        let mut on_event = |event: &IterationEvent| progress.take(event);
        let result = if self.args.until.until_decided && self.args.shard.is_none() {
            self.drive_until_decided(&plan, &open, &settings, &mut on_event)?
        } else {
            let ids = plan.runs();
            let work =
                iteration::drive(&self.prepared, &open.iteration, ids, &settings, &mut on_event);
            let mut result = session.block_on(self.printer, work)??;
            if self.is_by_preference() {
                self.prefer(ids, &open.iteration, &mut result, budget)?;
            }
            result
        };
        progress.finish();
        keep::record_scores(&self.target.workspace, lock, self.printer);
        Ok(DrivenIteration { open, result, plan })
    }

    pub(crate) fn is_by_preference(&self) -> bool {
        self.prepared.record.primary_outcome == Some(PrimaryOutcome::Preference)
    }

    /// Runs every case in both arms once, then again, until the pairs decide or cannot decide any more.
    fn drive_until_decided(
        &self,
        plan: &Plan,
        open: &OpenIteration,
        settings: &DriveSettings,
        on_event: &mut (dyn FnMut(&IterationEvent) + Send),
    ) -> Result<IterationResult, CommandError> {
        // What decides may have been chosen anew; the pairs are read by it.
        open.iteration.write_record(&open.record)?;
        let mut result = IterationResult::default();
        let pairs = self.prepared.record.case_ids.len();
        let mut left = pairs * plan.replicates().count();
        for (number, ids) in (1..).zip(plan.replicates()) {
            let work = iteration::drive(&self.prepared, &open.iteration, ids, settings, on_event);
            let mut next = self.session.block_on(self.printer, work)??;
            if self.is_by_preference() {
                let budget = &settings.evaluator.budget;
                self.prefer(ids, &open.iteration, &mut next, budget)?;
            }
            result = result.and(next);
            left -= pairs;
            let read = skillgauge_core::iteration::Iteration::read(open.iteration.root())?;
            let tally = read.pair_tally().unwrap_or_default();
            let is_over = tally.is_decided() || !tally.can_be_decided(left);
            self.printer.say(&how_sure(number, tally, left));
            if is_over && left > 0 {
                result.replicates = Some(number);
            }
            if is_over || result.stopped.is_some() || self.session.cancel.is_cancelled() {
                break;
            }
        }
        Ok(result)
    }

    /// Begins an iteration or resumes it. The caller holds the workspace's lock.
    pub(crate) fn begin(&self) -> Result<OpenIteration, CommandError> {
        let workspace = &self.target.workspace;
        let open = iteration::begin(workspace, &self.prepared, self.continuation())?;
        plan::say_begun(&open, self.printer);
        if let (Some(taken), Some(number)) = (&self.taken, self.args.baseline_from) {
            let copied = taken.copy_into(&open.iteration)?;
            self.printer.say(&format!(
                "{copied} runs of the baseline were taken over from iteration-{number}"
            ));
        }
        Ok(open)
    }
}

/// How often each case may be run in each of two arms.
fn most_replicates(max_runs: Option<u64>, cases: usize) -> Result<u64, CommandError> {
    let Some(most) = max_runs else { return Ok(REPLICATES) };
    let once = 2 * cases as u64;
    match most / once.max(1) {
        0 => Err(CommandError::usage(
            format!("--max-runs {most}: running every case once in both arms takes {once}"),
            "raise it, or choose fewer cases with --case",
        )),
        replicates => Ok(replicates),
    }
}

/// How sure the pairs are after a replicate, and what is left.
fn how_sure(number: u64, tally: PairTally, left: usize) -> String {
    let PairTally { won, lost, tied } = tally;
    let state = format!(
        "replicate {number}: E = {:.1}, {DECISIVE} decides ({won} won, {lost} lost, {tied} tied)",
        tally.e_value()
    );
    if tally.is_decided() {
        format!("{state}: decided")
    } else if !tally.can_be_decided(left) {
        format!("{state}: {left} more pairs can't decide, stopping")
    } else {
        format!("{state}; at most {} left", plural(left, "pair"))
    }
}

/// The agent by its own name, and its version; found before anything is run.
fn agent(
    args: &RunArgs,
    target: &Target,
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
            ExecuteError::Unready(unready) => unready.into(),
            _ => CommandError::unmeasurable(error.to_string(), hint),
        }
    })?;
    // A command line is its own name: the descriptor behind it is made up for the occasion.
    let Some(located) = located else { return Ok((name, None)) };
    let skill = TaskSkill::read(&target.skill).or_hint("name the folder of a skill")?;
    caution::agent(&located, &[skill], session, printer)?;
    let version = located.version.as_ref().map(ToString::to_string);
    if name != "auto" {
        return Ok((name, version));
    }
    let found = located.descriptor.name.as_str().to_owned();
    printer.say(&format!("agent: {found} (the first that can be used)"));
    Ok((found, version))
}

/// The judge and its name: nobody when the suite has nothing to judge, or when nobody is wanted. One that others ask need
/// not be known here, unless it is for us to choose.
fn find_judge(
    args: &RunArgs,
    target: &Target,
    session: &Session,
    judging: Judging,
) -> Result<(Option<Judge>, Option<String>), CommandError> {
    let of_suite = target.suite.config().judge_model;
    let typed = args.judge.as_deref();
    // Also when no case needs it: nobody learns from silence that a name is wrong.
    judge::check_name(session, typed)?;
    let outcome = args.outcome.primary.or(target.suite.config().primary_outcome);
    let is_needed = outcome == Some(PrimaryOutcome::Preference)
        || target
            .suite
            .cases()
            .any(|case| !case.expectations().is_empty() || case.rubric().is_some());
    if !is_needed || judge::is_unwanted(session, typed, of_suite) {
        return Ok((None, None));
    }
    let named = session.settings.judge(typed).or_else(|| of_suite.map(judge::model_name));
    let named = named.and_then(|name| name.parse::<ModelName>().ok()).map(|name| name.to_string());
    match judge::open(
        session,
        typed,
        of_suite,
        (args.judge_votes, args.judge_context, &args.budget),
    ) {
        Ok(judge) => {
            let name = judge.model.name().to_string();
            Ok((Some(judge), Some(name)))
        }
        Err(_)
            if judging == Judging::Elsewhere && named.as_ref().is_some_and(|it| it != "auto") =>
        {
            Ok((None, named))
        }
        Err(error) => Err(error.hinting(
            "--judge MODEL names another one, --judge none runs only the structural checks; \
             `skillgauge doctor` shows what can be used",
        )),
    }
}
