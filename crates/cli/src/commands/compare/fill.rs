//! Runs what a comparison lacks: each version on the cases that it has no stored run of.
//!
//! The one invariant: a case with runs of both versions by one agent is not run again, so the same command twice spends
//! nothing on runs the second time.

use std::sync::Arc;

use skillgauge_core::comparison::{Maker, StoredRuns, Task};
use skillgauge_core::version::{VersionNumber, VersionStore};
use skillgauge_core::workspace::WorkspaceError;
use skillgauge_format::record::IterationRecord;
use skillgauge_run::budget::Budget;
use skillgauge_run::iteration::matching_cases;

use crate::args::{CompareArgs, RunArgs, VersionRun};
use crate::commands::run::{Judging, Measurement, RunSummary, Target};
use crate::error::CommandError;
use crate::session::Session;
use crate::{Printer, keep};

/// How often each case is run when nobody says: the comparator looks at one run.
const RUNS: u64 = 1;

#[derive(Debug)]
pub(super) struct Fill<'f> {
    /// The cases that are compared.
    pub(super) tasks: Vec<Task>,
    target: Target,
    run_args: RunArgs,
    store: &'f VersionStore,
    versions: [VersionNumber; 2],
    session: &'f Session,
    printer: &'f Printer,
}

/// What will be run, shown and not begun yet.
#[derive(Debug)]
pub(super) struct Planned<'f> {
    fill: &'f Fill<'f>,
    batches: Vec<Batch>,
}

#[derive(Debug)]
struct Batch {
    version: VersionNumber,
    run_args: RunArgs,
}

impl<'f> Fill<'f> {
    pub(super) fn new(
        args: &CompareArgs,
        store: &'f VersionStore,
        versions: [VersionNumber; 2],
        session: &'f Session,
        printer: &'f Printer,
    ) -> Result<Self, CommandError> {
        let mut run_args = run_args(args);
        run_args.runs = Some(session.settings.runs(args.runs).unwrap_or(RUNS));
        let target = Target::present(&run_args, store, printer)?;
        let wanted = matching_cases(&target.suite, &run_args.cases)?;
        let is_wanted = |case: &str| wanted.iter().any(|id| id == case);
        let tasks = target
            .suite
            .cases()
            .filter(|case| is_wanted(&case.id()))
            .map(|case| Task { case: case.id().into_owned(), prompt: case.prompt().to_owned() });
        let tasks = tasks.collect();
        Ok(Self { tasks, target, run_args, store, versions, session, printer })
    }

    /// Finds out what is missing, and says what running it takes.
    pub(super) fn plan(&'f self, stored: &StoredRuns) -> Result<Planned<'f>, CommandError> {
        let mut planned = Planned { fill: self, batches: Vec::new() };
        if stored.is_complete(&self.tasks) {
            self.printer.say("both versions have runs of all cases; nothing is run");
            return Ok(planned);
        }
        // The agent that is found for the first version runs the other one too.
        let maker = Maker::of(&self.prepare(self.versions[0], &self.run_args)?.prepared.record);
        let lacking = stored.lacking(&self.tasks, &maker);
        for (version, cases) in self.versions.into_iter().zip(lacking) {
            if cases.is_empty() {
                continue;
            }
            let run_args = self.batch_args(version, &maker, &cases)?;
            let s = if cases.len() == 1 { "" } else { "s" };
            self.printer.say(&format!("{version} lacks runs of {} case{s}", cases.len()));
            self.prepare(version, &run_args)?.show_plan();
            planned.batches.push(Batch { version, run_args });
        }
        Ok(planned)
    }

    fn prepare<'m>(
        &'m self,
        version: VersionNumber,
        run_args: &'m RunArgs,
    ) -> Result<Measurement<'m>, CommandError> {
        let target = self.target.of_version(self.store, version, self.printer)?;
        Measurement::prepare(run_args, target, self.session, self.printer, Judging::Here)
    }

    /// The cases that are missing; or all of an iteration that was begun with them and can be resumed.
    fn batch_args(
        &self,
        version: VersionNumber,
        maker: &Maker,
        cases: &[String],
    ) -> Result<RunArgs, CommandError> {
        let with = |cases: &[String]| {
            let mut args = self.run_args.clone();
            args.agent.agent = Some(maker.agent.clone());
            args.cases = cases.iter().map(|case| globset::escape(case)).collect();
            args
        };
        if let Some(record) = self.unfinished(version)?
            && cases.iter().all(|case| record.case_ids.contains(case))
        {
            let args = with(&record.case_ids);
            // A case that the suite has no more cannot be named; then the key differs too.
            if let Ok(measurement) = self.prepare(version, &args)
                && measurement.prepared.record.key == record.key
            {
                drop(measurement);
                return Ok(args);
            }
        }
        Ok(with(cases))
    }

    fn unfinished(
        &self,
        version: VersionNumber,
    ) -> Result<Option<IterationRecord>, WorkspaceError> {
        let newest = self.store.workspace().newest()?;
        let record = newest.and_then(|iteration| iteration.record().ok());
        Ok(record.filter(|found| found.finished.is_none() && found.version == Some(version.0)))
    }
}

impl Planned<'_> {
    /// Runs and grades; what could not be run is said.
    pub(super) fn carry_out(&self, budget: &Arc<Budget>) -> Result<(), CommandError> {
        let fill = self.fill;
        for Batch { version, run_args } in &self.batches {
            if fill.session.cancel.is_cancelled() {
                break;
            }
            fill.printer.say(&format!("running {version}"));
            let measurement = fill.prepare(*version, run_args)?;
            let lock = keep::lock(fill.store, "compare --run")?;
            let ran = measurement.drive(budget, &lock)?;
            let root = ran.open.iteration.root().display();
            let remedy = format!(
                "the same command runs what is missing, `skillgauge grade {root}` grades what is not graded"
            );
            RunSummary { shard: None, output: &run_args.output, ran: &ran, remedy: &remedy }
                .note(fill.session, fill.printer)?;
        }
        Ok(())
    }
}

fn run_args(args: &CompareArgs) -> RunArgs {
    RunArgs::for_version(&VersionRun {
        skill: &args.pair.skill,
        evals: args.evals.as_deref(),
        cases: &args.cases,
        runs: args.runs,
        judge: args.judge.as_deref(),
        judge_votes: None,
        retries: args.retries,
        seed: args.seed,
        agent: &args.agent,
        budget: &args.budget,
        tape: &args.tape,
    })
}
