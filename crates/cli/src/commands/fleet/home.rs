//! Results on their way home, and what is told when they are there.

use std::sync::Arc;

use skillgauge_cluster::{CollectSettings, Collected, Coordinator, Fleet};
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceLock};
use skillgauge_format::Suite;
use skillgauge_run::budget::Budget;
use skillgauge_run::iteration::{IterationEvent, OpenIteration};
use tokio_util::sync::CancellationToken;

use crate::args::PaceArgs;
use crate::commands::run::DrivenIteration;
use crate::error::CommandError;
use crate::progress::RunProgress;
use crate::{Printer, keep};

/// Where results are brought to.
pub(super) struct Home<'h> {
    pub(super) workspace: &'h Workspace,
    pub(super) suite: &'h Suite,
    pub(super) pace: &'h PaceArgs,
    pub(super) budget: Arc<Budget>,
    pub(super) printer: &'h Printer,
}

impl Home<'_> {
    pub(super) async fn collect<F: Fleet>(
        &self,
        fleet: &F,
        open: &OpenIteration,
        stop: &CancellationToken,
    ) -> Result<Collected, CommandError> {
        let usual = CollectSettings::default();
        let settings = CollectSettings {
            reconcile: self.pace.reconcile_every.unwrap_or(usual.reconcile),
            grace: self.pace.grace.unwrap_or(usual.grace),
            cancel: stop.clone(),
            ..usual
        };
        let coordinator = Coordinator {
            fleet,
            iteration: &open.iteration,
            workspace: self.workspace,
            record: &open.record,
            suite: self.suite,
            budget: Arc::clone(&self.budget),
            settings,
        };
        let planned = Iteration::plan(&open.record).runs().len();
        let mut progress = RunProgress::new(self.printer, planned);
        let mut on_event = |event: &IterationEvent| progress.take(event);
        let teller = self.printer.clone();
        let mut on_trouble = |message: &str| teller.say(&format!("warning: {message}"));
        let collected = coordinator.run(&mut on_event, &mut on_trouble).await;
        progress.finish();
        Ok(collected?)
    }
}

/// What a command tells when results were brought home.
pub(super) fn brought(
    collected: Collected,
    open: OpenIteration,
    workspace: &Workspace,
    lock: &WorkspaceLock,
    printer: &Printer,
) -> DrivenIteration {
    keep::record_scores(workspace, lock, printer);
    say_mixtures(&collected, printer);
    let plan = Iteration::plan(&open.record);
    DrivenIteration { open, result: collected.result, plan }
}

/// Runs of different programs are no single measurement; who reads the result should know.
fn say_mixtures(collected: &Collected, printer: &Printer) {
    for warning in collected.mixture.warnings() {
        printer.say(&format!("warning: {warning}"));
    }
    if collected.given_out_again > 0 {
        printer.say(&format!(
            "{} runs were given out more than once, so more was executed than counts",
            collected.given_out_again
        ));
    }
}
