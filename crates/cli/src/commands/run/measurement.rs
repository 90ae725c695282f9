//! One measurement of a skill as it is now: prepared before anything is spent, then driven as far as it goes.
//!
//! `run` makes one, `improve` one for each version. The one invariant: whoever drives holds the workspace's lock.

use std::sync::Arc;

use skillgauge_core::plan::Plan;
use skillgauge_core::workspace::WorkspaceLock;
use skillgauge_run::agent::Executor;
use skillgauge_run::budget::Budget;
use skillgauge_run::grade::same_model;
use skillgauge_run::iteration::{
    self, BaselineRefused, Begun, Continuation, Driven, Evaluator, Means, Prepared, TakeOver,
};
use skillgauge_run::pool::RetryRules;

use super::plan::{self, Outlook};
use super::request::{self, Asked, Judging};
use super::target::Target;
use crate::args::RunArgs;
use crate::error::CommandError;
use crate::progress::RunProgress;
use crate::session::Session;
use crate::{Printer, keep};

#[derive(Debug)]
pub(in crate::commands) struct Measurement<'m> {
    pub(in crate::commands) target: Target,
    pub(in crate::commands) prepared: Prepared,
    /// What need not be run, because another iteration has it.
    taken: Option<TakeOver>,
    args: &'m RunArgs,
    pub(in crate::commands) session: &'m Session,
    printer: &'m Printer,
    asked: Asked,
    executor: Arc<Executor>,
}

/// An iteration that was driven as far as it went.
#[derive(Debug)]
pub(in crate::commands) struct Ran {
    pub(in crate::commands) begun: Begun,
    pub(in crate::commands) driven: Driven,
    pub(in crate::commands) plan: Plan,
}

impl<'m> Measurement<'m> {
    /// Finds out everything that can go wrong before money is spent.
    pub(in crate::commands) fn prepare(
        args: &'m RunArgs,
        target: Target,
        session: &'m Session,
        printer: &'m Printer,
        judging: Judging,
    ) -> Result<Self, CommandError> {
        let executor = Arc::new(session.executor());
        let asked = Asked::new(args, &target, session, &executor, printer, judging)?;
        let prepared = asked.prepare()?;
        let taken = take_over(args, &target, &prepared)?;
        Ok(Self { target, prepared, taken, args, session, printer, asked, executor })
    }

    pub(in crate::commands) fn warn_unstored(&self) {
        request::warn_unstored(&self.prepared, &self.target, self.printer);
    }

    pub(in crate::commands) fn show_plan(&self) {
        let (outlook, workspace) = (self.outlook(), &self.target.workspace);
        plan::show_plan(&self.prepared, &self.asked, &outlook, workspace, self.printer);
        let record = &self.prepared.record;
        if let Some(warning) = same_model(record.model.as_deref(), record.judge.as_deref()) {
            self.printer.say(&format!("warning: {warning}"));
        }
    }

    /// What a dry run shows beside the plan.
    pub(in crate::commands) fn list_runs(&self) -> Result<(), CommandError> {
        self.outlook().list(self.args.output.format, self.printer)
    }

    fn outlook(&self) -> Outlook {
        Outlook::new(self.args, &self.target.workspace, &self.prepared, self.taken.as_ref())
    }

    /// Begins an iteration or goes on with it, and runs and grades what is left of it.
    pub(in crate::commands) fn drive(
        &mut self,
        budget: &Arc<Budget>,
        lock: &WorkspaceLock,
    ) -> Result<Ran, CommandError> {
        let begun = self.begin()?;
        let evaluator =
            self.asked.evaluator(&self.target, self.session, &self.prepared, Arc::clone(budget));
        let means = Means::<Evaluator> {
            executor: Arc::clone(&self.executor),
            evaluate: Arc::new(evaluator),
            jobs: self.asked.jobs,
            retry: RetryRules::for_runs().retries(self.args.retries),
            budget: Arc::clone(budget),
            cancel: self.session.cancel.clone(),
        };
        let plan = self.prepared.plan();
        let plan = self.args.shard.map_or(plan.clone(), |shard| plan.shard(shard));
        let mut progress = RunProgress::new(self.printer, plan.runs().len());
        let mut on_event = |event: &iteration::IterationEvent| progress.take(event);
        let work =
            iteration::drive(&self.prepared, &begun.iteration, plan.runs(), &means, &mut on_event);
        let driven = self.session.block_on(self.printer, work)?;
        progress.finish();
        let driven = driven?;
        keep::record_scores(&self.target.workspace, lock, self.printer);
        Ok(Ran { begun, driven, plan })
    }

    /// The number under which gradings are kept.
    pub(in crate::commands) fn version(&self) -> u64 {
        self.prepared.record.graded_version()
    }

    /// Begins an iteration or goes on with it. The caller holds the workspace's lock.
    pub(in crate::commands) fn begin(&self) -> Result<Begun, CommandError> {
        let continuation = match (self.args.resume, self.args.fresh) {
            (true, _) => Continuation::Required,
            (false, true) => Continuation::Never,
            (false, false) => Continuation::IfSame,
        };
        let workspace = &self.target.workspace;
        let begun = iteration::begin(workspace, &self.prepared, continuation)?;
        plan::say_begun(&begun, self.printer);
        if let (Some(taken), Some(number)) = (&self.taken, self.args.baseline_from) {
            let copied = taken.copy_into(&begun.iteration)?;
            self.printer.say(&format!(
                "{copied} runs of the baseline were taken over from iteration-{number}"
            ));
        }
        Ok(begun)
    }
}

/// What `--baseline-from` names, if it can be used.
fn take_over(
    args: &RunArgs,
    target: &Target,
    prepared: &Prepared,
) -> Result<Option<TakeOver>, CommandError> {
    let Some(number) = args.baseline_from else { return Ok(None) };
    let taken = TakeOver::plan(&target.workspace, number, &prepared.record);
    taken.map(Some).map_err(|error| {
        let hint = match &error {
            BaselineRefused::Workspace(error) => error.hint(),
            BaselineRefused::Unknown { .. } | BaselineRefused::Differs { .. } => {
                "leave --baseline-from out to run the baseline again"
            }
        };
        CommandError::usage(error.to_string(), hint)
    })
}
