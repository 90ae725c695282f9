//! `skillgauge fleet collect`: the newest iteration of the workspace, another one, or that of a plan from elsewhere.

use std::path::Path;
use std::sync::Arc;

use skillgauge_cluster::{Collected, NatsFleet, PlanId, PlanIteration};
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceLock};
use skillgauge_format::Suite;
use skillgauge_run::agent::TaskSkill;
use skillgauge_run::budget::Budget;
use skillgauge_run::iteration::OpenIteration;

use super::home::{Home, brought};
use super::login;
use crate::args::{FleetCollectArgs, TapeArgs};
use crate::commands::Outcome;
use crate::commands::run::RunSummary;
use crate::error::CommandError;
use crate::session::Session;
use crate::{Printer, keep};

/// What to do about runs that a fleet has lost: collecting again does not queue them.
const SUBMIT: &str =
    "`skillgauge fleet submit` tries them again; what has a result is not run twice";

pub(super) fn run(args: &FleetCollectArgs, printer: &Printer) -> Outcome {
    let session = Session::open(&TapeArgs::default())?;
    let workspace = match &args.workspace {
        Some(root) => Workspace::at(std::path::absolute(root).unwrap_or_else(|_| root.clone())),
        None if !args.skill.exists() => {
            return Err(CommandError::usage(
                format!("there is no {}", args.skill.display()),
                "give the folder of the skill whose plan was submitted, or --workspace",
            ));
        }
        None => Workspace::beside(&args.skill)?,
    };
    // Before anything is asked or locked: a mistake is said at once.
    let wanted = match &args.plan {
        Some(id) => Wanted::Plan(id),
        None => Wanted::Iteration(iteration_here(&workspace, args.iteration)?),
    };
    let connect = login::connect(&args.url, &args.login, &session, "coordinator");
    let shared = login::shared_folder(&args.archive, &session)?;
    let (collected, open, lock) = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await?.sharing(shared);
        let (open, lock) = match wanted {
            Wanted::Iteration(iteration) => {
                let lock = workspace.lock(&keep::holder())?;
                let record = iteration.record()?;
                (OpenIteration { iteration, record, resumed: true, left: None }, lock)
            }
            Wanted::Plan(id) => {
                // Found before anything is written: a plan that is not there leaves nothing here.
                let found = PlanIteration::find(&fleet, id, &workspace).await;
                let found = found?;
                refuse_another_skill(&found, id, &args.skill)?;
                let lock = workspace.lock(&keep::holder())?;
                let open = found.begin(&workspace)?;
                if !open.resumed {
                    let place = open.iteration.root().display();
                    printer.say(&format!("writing to {place}, made from the plan {id}"));
                }
                (open, lock)
            }
        };
        let unreadable = || nothing("readable suite of the iteration", &workspace);
        let suite = fs_err::read(open.iteration.suite_file()).map_err(|_| unreadable())?;
        let suite = Suite::read(&suite).map_err(|_| unreadable())?.value;
        let budget = Arc::new(Budget::default());
        let home = Home { workspace: &workspace, suite: &suite, pace: &args.pace, budget, printer };
        let collected = home.collect(&fleet, &open, &session.cancel).await?;
        Ok::<(Collected, OpenIteration, WorkspaceLock), CommandError>((collected, open, lock))
    })??;
    let ran = brought(collected, open, &workspace, &lock, printer);
    RunSummary { shard: None, output: &args.output, ran: &ran, remedy: SUBMIT }
        .conclude(&session, printer)
}

enum Wanted<'a> {
    Iteration(Iteration),
    Plan(&'a PlanId),
}

/// The iteration that was submitted from this workspace.
fn iteration_here(workspace: &Workspace, number: Option<u64>) -> Result<Iteration, CommandError> {
    let iteration = match number {
        Some(number) => workspace.iteration(number),
        None => workspace.newest()?.ok_or_else(|| nothing("iteration", workspace))?,
    };
    if !iteration.record_file().is_file() {
        let name = iteration.root().file_name().unwrap_or_default();
        return Err(nothing(&name.to_string_lossy(), workspace));
    }
    Ok(iteration)
}

fn nothing(what: &str, workspace: &Workspace) -> CommandError {
    CommandError::usage(
        format!("there is no {what} in {}", workspace.root().display()),
        "collect with the workspace that the plan was submitted with, or give --plan ID to make its iteration here \
         (`skillgauge fleet status URL` lists the plans); submitting again begins another plan, which is paid for again",
    )
}

/// Results of another skill would be credited to this one. A skill that is not here says nothing.
fn refuse_another_skill(
    found: &PlanIteration,
    id: &PlanId,
    skill: &Path,
) -> Result<(), CommandError> {
    match TaskSkill::read(skill) {
        Ok(here) if here.name != found.skill_name() => Err(CommandError::usage(
            format!("the plan {id} measures {}, and this is {}", found.skill_name(), here.name),
            "give the folder of the skill that the plan measures; `skillgauge fleet status URL` shows which it is",
        )),
        _ => Ok(()),
    }
}
