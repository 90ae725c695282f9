//! Shows what will be run, where it goes, how many calls are left to make, and what they may cost.

use std::collections::HashSet;
use std::io::Write as _;

use serde_json::json;
use skillgauge_core::plan::{Plan, RunId};
use skillgauge_core::text::ending;
use skillgauge_core::workspace::{Iteration, Workspace};
use skillgauge_run::iteration::{Begun, GradedWhen, Prepared, TakeOver};

use super::request::Asked;
use crate::Printer;
use crate::args::{RunArgs, RunFormat};
use crate::error::CommandError;

/// So many earlier runs are enough to guess from.
const SAMPLE: usize = 200;

/// So many runs of a plan are listed as text.
const LISTED: usize = 40;

/// What a command would do now.
#[derive(Debug)]
pub(super) struct Outlook {
    /// The iteration, which may have been begun earlier.
    iteration: Iteration,
    is_begun: bool,
    /// The plan, or this machine's part of it.
    plan: Plan,
    /// The runs that have no result yet.
    left: Vec<RunId>,
    /// How many have one in another iteration.
    taken: usize,
    /// How many have to be judged.
    to_judge: usize,
}

impl Outlook {
    /// Looks at what is there. Nothing is locked or written, so it may be different in a moment.
    pub(super) fn new(
        args: &RunArgs,
        workspace: &Workspace,
        prepared: &Prepared,
        taken: Option<&TakeOver>,
    ) -> Self {
        let newest = workspace.newest().ok().flatten();
        let begun = newest.as_ref().filter(|iteration| {
            let is_same = |record: &skillgauge_format::record::IterationRecord| {
                record.finished.is_none() && record.key == prepared.record.key
            };
            !args.fresh && iteration.record().is_ok_and(|record| is_same(&record))
        });
        let next = || newest.as_ref().and_then(Iteration::number).map_or(1, |last| last + 1);
        let iteration = begun.cloned().unwrap_or_else(|| workspace.iteration(next()));
        let plan = prepared.plan();
        let plan = args.shard.map_or(plan.clone(), |shard| plan.shard(shard));
        let is_there = |id: &RunId| {
            iteration.run_dir(id).record().is_ok_and(|record| record.reason.is_result())
        };
        let is_taken = |id: &RunId| taken.is_some_and(|taken| taken.runs().contains(id));
        let missing = plan.without(is_there);
        let left: Vec<RunId> = missing.iter().filter(|id| !is_taken(id)).cloned().collect();
        let needs_judge = |id: &RunId| {
            let case = prepared.cases().find(|case| case.id() == id.case);
            case.is_some_and(|case| !case.expectations().is_empty() || case.rubric().is_some())
        };
        let is_open = |id: &RunId| {
            if is_there(id) {
                let when = GradedWhen { has_checks: false, has_judge: true };
                return !when.holds(&iteration.run_dir(id));
            }
            !is_taken(id) || taken.is_some_and(|taken| taken.to_judge().contains(id))
        };
        let has_judge = prepared.record.judge.is_some();
        let open = plan.runs().iter().filter(|id| has_judge && needs_judge(id) && is_open(id));
        let (to_judge, taken) = (open.count(), missing.len() - left.len());
        Self { is_begun: begun.is_some(), iteration, plan, left, taken, to_judge }
    }

    /// Says where a dry run would write, and lists its runs.
    pub(super) fn list(&self, format: RunFormat, printer: &Printer) -> Result<(), CommandError> {
        let verb = if self.is_begun { "go on with" } else { "begin" };
        printer.say(&format!("would {verb} {}", self.iteration.root().display()));
        let mut out = printer.stdout();
        if format == RunFormat::Json {
            let ids = |runs: &[RunId]| runs.iter().map(ToString::to_string).collect::<Vec<_>>();
            let plan = json!({
                "iteration": self.iteration.number(),
                "begun": self.is_begun,
                "runs": ids(self.plan.runs()),
                "left": ids(&self.left),
            });
            writeln!(out, "{plan:#}")?;
        } else {
            for id in self.left.iter().take(LISTED) {
                writeln!(out, "{id}")?;
            }
        }
        out.flush()?;
        if format != RunFormat::Json && self.left.len() > LISTED {
            let more = self.left.len() - LISTED;
            printer.say(&format!("and {more} more; --format json lists all"));
        }
        Ok(())
    }
}

/// Says what will be run.
pub(super) fn show_plan(
    prepared: &Prepared,
    asked: &Asked,
    outlook: &Outlook,
    workspace: &Workspace,
    printer: &Printer,
) {
    let record = &prepared.record;
    let runs = prepared.plan().runs().len();
    let configurations: Vec<&str> =
        record.configurations.iter().map(skillgauge_format::part::Configuration::as_str).collect();
    let cases = record.case_ids.len();
    printer.say(&format!(
        "{}: {cases} case{} x {} x {} run{} = {runs} run{} with {}{}",
        record.skill_name,
        ending(cases),
        configurations.join(" and "),
        record.runs_per_configuration,
        ending(record.runs_per_configuration),
        ending(runs),
        record.agent,
        record.agent_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default(),
    ));
    let (part, left) = (outlook.plan.runs().len(), outlook.left.len());
    if part < runs {
        printer.say(&format!("{part} of them are this part"));
    }
    let there = part - left - outlook.taken;
    if there > 0 {
        printer.say(&format!("{there} of them are there; {left} are left to run"));
    }
    if outlook.taken > 0 {
        printer.say(&format!("{} of them are taken over", outlook.taken));
    }
    let votes = usize::try_from(record.judge_votes).unwrap_or(usize::MAX);
    let judged = outlook.to_judge.saturating_mul(votes);
    // Which fail, and how often, nobody knows before.
    let more = "more when some are tried again";
    match &record.judge {
        Some(judge) => printer.say(&format!(
            "{} calls: {left} of the agent, {judged} of the judge {judge}, {} at once ({more})",
            left.saturating_add(judged),
            asked.jobs
        )),
        None => printer
            .say(&format!("{left} call{} of the agent ({more}), nobody judges", ending(left))),
    }
    if left > 0 {
        let earlier = Earlier::read(workspace, &record.agent);
        printer.say(&cost(
            &earlier,
            left,
            if judged > 0 { " (the judge comes on top)" } else { "" },
        ));
    }
}

/// Says where the results go.
pub(super) fn say_begun(begun: &Begun, printer: &Printer) {
    if let Some((number, differences)) = &begun.left {
        printer.say(&format!(
            "iteration-{number} stays unfinished, because {}",
            differences.join("; ")
        ));
    }
    let verb = if begun.resumed { "going on with" } else { "writing to" };
    printer.say(&format!("{verb} {}", begun.iteration.root().display()));
}

/// What earlier runs of the same agent cost.
struct Earlier {
    costs: Vec<f64>,
    seconds: Vec<f64>,
}

impl Earlier {
    fn read(workspace: &Workspace, agent: &str) -> Self {
        let mut found = Self { costs: Vec::new(), seconds: Vec::new() };
        // A run that was taken over is in two iterations, and was made once.
        let mut seen = HashSet::new();
        let numbers = workspace.iterations().unwrap_or_default();
        for number in numbers.into_iter().rev() {
            for (_, run) in workspace.iteration(number).runs() {
                let Ok(record) = run.record() else { continue };
                if record.agent != agent || !record.reason.is_result() {
                    continue;
                }
                if !seen.insert((record.id.clone(), record.started.as_str().to_owned())) {
                    continue;
                }
                found.seconds.push(record.seconds.as_f64());
                found.costs.extend(record.cost_usd.map(skillgauge_format::Number::as_f64));
                if found.seconds.len() >= SAMPLE {
                    return found;
                }
            }
        }
        found
    }
}

fn cost(earlier: &Earlier, runs: usize, judge: &str) -> String {
    #[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
    let mean = |values: &[f64]| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    #[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
    let runs = runs as f64;
    match (mean(&earlier.costs), mean(&earlier.seconds)) {
        (Some(cost), _) => format!(
            "about ${:.2} for the agent, from {} earlier run{}{judge}",
            cost * runs,
            earlier.costs.len(),
            ending(earlier.costs.len())
        ),
        (None, Some(seconds)) => {
            format!("cost unknown: earlier runs told none; they took {seconds:.0} s each")
        }
        (None, None) => "cost unknown: nothing was run here before".to_owned(),
    }
}
