//! `skillgauge run`.
//!
//! ```text
//! target: skill, suite, workspace --> request: who, how often, against what --> prepared --> plan shown
//!   --> lock --> begin or go on --> drive (progress) --> benchmark --> summary, exit code
//! ```

mod plan;
mod progress;
mod request;
mod summary;
mod target;

use std::sync::Arc;

use skillgauge_core::workspace::Holder;
use skillgauge_run::agent::timestamp;
use skillgauge_run::iteration::{self, Budget, Continuation, Evaluator, Means};
use skillgauge_run::pool::RetryRules;

use super::Outcome;
use crate::args::RunArgs;
use crate::printer::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer, keep};
use plan::show_plan;
use progress::Progress;
use request::Asked;
use target::Target;

pub(crate) fn run(args: &RunArgs, printer: &Printer) -> Outcome {
    let target = Target::read(args, printer)?;
    let session = Session::open(&args.tape)?;
    let executor = Arc::new(session.executor());
    let mut asked = Asked::new(args, &target, &session, &executor, printer)?;
    let prepared = asked.prepare()?;
    show_plan(&prepared, &asked, &target, printer);
    if args.dry_run {
        return Ok(ExitCode::Success);
    }
    let lock = target.workspace.lock(&holder()).map_err(workspace_error)?;
    let continuation = match (args.resume, args.fresh) {
        (true, _) => Continuation::Required,
        (false, true) => Continuation::Never,
        (false, false) => Continuation::IfSame,
    };
    let begun = iteration::begin(&target.workspace, &prepared, continuation)
        .map_err(|error| CommandError::usage(error.to_string(), error.hint()))?;
    plan::say_begun(&begun, printer);
    if let Some(number) = args.baseline_from {
        let from = target.workspace.iteration(number);
        let copied =
            iteration::take_over(&from, &begun.iteration, &begun.record).map_err(|error| {
                CommandError::usage(
                    error.to_string(),
                    "leave --baseline-from out to run the baseline again",
                )
            })?;
        printer
            .say(&format!("{copied} runs of the baseline were taken over from iteration-{number}"));
    }
    let budget = Arc::new(Budget::new(asked.max_calls, asked.max_cost));
    let evaluator = asked.evaluator(&target, &session, &prepared, Arc::clone(&budget));
    let means = Means::<Evaluator> {
        executor,
        evaluate: Arc::new(evaluator),
        jobs: asked.jobs,
        retry: RetryRules::for_runs().retries(args.retries),
        budget,
        cancel: session.cancel.clone(),
    };
    let plan = prepared.plan();
    let plan = args.shard.map_or(plan.clone(), |shard| plan.shard(shard));
    let mut progress = Progress::new(printer, plan.runs().len());
    let driven = session.block_on(
        printer,
        iteration::drive(&prepared, &begun.iteration, plan.runs(), &means, &mut |event| {
            progress.take(event);
        }),
    )?;
    progress.finish();
    let driven = driven.map_err(workspace_error)?;
    keep::record_scores(&target.workspace, &lock, printer);
    let ended = summary::Ended { args, begun: &begun, driven: &driven, plan: &plan };
    ended.conclude(&session, printer)
}

/// Who we are, for others that want to write.
fn holder() -> Holder {
    let command: Vec<String> =
        std::env::args_os().map(|text| text.to_string_lossy().into_owned()).collect();
    Holder {
        command: command.join(" "),
        process: std::process::id(),
        machine: fs_err::read_to_string("/etc/hostname").ok().map(|name| name.trim().to_owned()),
        since: timestamp(std::time::SystemTime::now()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn workspace_error(error: skillgauge_core::workspace::WorkspaceError) -> CommandError {
    CommandError::usage(error.to_string(), error.hint())
}
