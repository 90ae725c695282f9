//! `skillgauge improve`.
//!
//! ```text
//! skill, suite, models --> lock --> record (new, or resumed) --> step by step (core::improve says which) --> conclusion
//! ```
//!
//! The one invariant: the skill's folder changes only when what is in it is stored as a version.

mod models;
mod tell;
mod work;

use std::sync::Arc;

use skillgauge_core::improve::{self, Improvement, Rules, Setting};
use skillgauge_core::version::VersionStore;
use skillgauge_format::evals::PrimaryOutcome;
use skillgauge_format::{Case, Suite};
use skillgauge_run::budget::Budget;

use super::Outcome;
use super::run::{Judging, Measurement, Target};
use crate::Printer;
use crate::args::{ImproveArgs, RunArgs, VersionRun};
use crate::error::CommandError;
use crate::keep::{self, PROGRAM};
use crate::session::Session;
use models::Models;
use work::Work;

/// How often each case is run when nobody says.
const RUNS: u64 = 3;

pub(crate) fn run(args: &ImproveArgs, printer: &Printer) -> Outcome {
    let mut run_args = run_args(args);
    let target = Target::read(&run_args, printer)?;
    let session = Session::open(&args.tape)?;
    run_args.runs = Some(session.settings.runs(args.runs).unwrap_or(RUNS));
    let store = VersionStore::of(&args.skill)?;
    let models = Models::open(args, &target, &session)?;
    let expectations = expectations(&target.suite);
    run_args.outcome.primary = args.primary;
    refuse_preference(args, &target.suite)?;
    let measurement = Measurement::prepare(&run_args, target, &session, printer, Judging::Here)?;
    let setting = Setting::of(&measurement.prepared.record);
    // The agent that was found is the agent of the whole loop.
    let agent = Some(setting.agent.clone());
    let lock = keep::lock(&store, "improve")?;
    let improvement = begin(args, &store, setting, printer)?;
    tell::plan(args, &measurement, &models, &improvement, printer);
    drop(measurement);
    run_args.agent.agent = agent;
    let settings = &session.settings;
    let budget = Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget));
    let work = Work {
        rules: Rules { target: args.target, rounds: args.rounds },
        run_args: &run_args,
        store: &store,
        session: &session,
        models: &models,
        budget: Arc::new(budget),
        lock: &lock,
        printer,
        expectations,
        improvement,
    };
    work.go(&args.output)
}

/// A loop that is not over and means the same is resumed.
fn begin(
    args: &ImproveArgs,
    store: &VersionStore,
    setting: Setting,
    printer: &Printer,
) -> Result<Improvement, CommandError> {
    let workspace = store.workspace();
    let found = improve::load(workspace)?.filter(|found| found.conclusion.is_none());
    match found {
        Some(found) if args.fresh => {
            printer.say(&format!("the loop of {} is left as it is", found.started.as_str()));
        }
        Some(found) if found.setting == setting => {
            printer.say(&format!(
                "going on with the loop of {}: {} so far",
                found.started.as_str(),
                match found.rounds.len() {
                    1 => "1 version".to_owned(),
                    count => format!("{count} versions"),
                }
            ));
            return Ok(found);
        }
        Some(found) => printer.say(&format!(
            "beginning a new loop: the suite, the agent, the judge, the outcome or the number of runs is not that of {}",
            found.started.as_str()
        )),
        None => {}
    }
    let newest = workspace.iterations()?.last().copied().unwrap_or(0);
    let sealed = improve::seal(&setting.case_ids, setting.seed);
    let begun = Improvement::new(setting, skillgauge_run::now(), PROGRAM, newest);
    Ok(Improvement { sealed, ..begun })
}

/// A preference belongs to a pair of runs with and without the skill; versions are measured one by one.
fn refuse_preference(args: &ImproveArgs, suite: &Suite) -> Result<(), CommandError> {
    if args.primary.or(suite.config().primary_outcome) != Some(PrimaryOutcome::Preference) {
        return Ok(());
    }
    let others = suite.outcomes().iter().filter(|it| **it != PrimaryOutcome::Preference);
    let others: Vec<&str> = others.map(|outcome| outcome.as_str()).collect();
    Err(CommandError::usage(
        "improve can't measure versions by preference",
        format!("choose another outcome with --primary: {}", others.join(", ")),
    ))
}

/// What the suite expects, in all of its cases.
fn expectations(suite: &Suite) -> Vec<String> {
    let all = suite.cases().flat_map(Case::expectations);
    all.map(|expectation| expectation.text().to_owned()).collect()
}

fn run_args(args: &ImproveArgs) -> RunArgs {
    RunArgs::for_version(&VersionRun {
        skill: &args.skill,
        evals: args.evals.as_deref(),
        cases: &args.cases,
        runs: args.runs,
        judge: args.judge.as_deref(),
        judge_votes: args.judge_votes,
        retries: args.retries,
        seed: args.seed,
        agent: &args.agent,
        budget: &args.budget,
        tape: &args.tape,
    })
}
