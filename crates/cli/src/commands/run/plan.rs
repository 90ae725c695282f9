//! Shows what will be run, where it goes, how many calls are left to make, and what they may cost.

use std::io::Write as _;

use serde_json::json;
use skillgauge_core::plan::RunId;
use skillgauge_core::statistics::Design;
use skillgauge_core::text::{ending, plural};
use skillgauge_core::workspace::Workspace;
use skillgauge_format::evals::PrimaryOutcome;
use skillgauge_format::part::Configuration;
use skillgauge_format::record::IterationRecord;
use skillgauge_run::grade::same_model;
use skillgauge_run::iteration::{EarlierRuns, OpenIteration, Outlook, Prepared};

use crate::Printer;
use crate::args::RunFormat;
use crate::error::CommandError;

/// The difference that people usually want to see.
const SMALL: f64 = 0.2;

/// So many runs of a plan are listed as text.
const LISTED: usize = 40;

/// Says where a dry run would write, and lists its runs.
pub(super) fn list_runs(
    outlook: &Outlook,
    format: RunFormat,
    printer: &Printer,
) -> Result<(), CommandError> {
    let verb = if outlook.is_begun { "go on with" } else { "begin" };
    printer.say(&format!("would {verb} {}", outlook.iteration.root().display()));
    let mut out = printer.stdout();
    if format == RunFormat::Json {
        let ids = |runs: &[RunId]| runs.iter().map(ToString::to_string).collect::<Vec<_>>();
        let plan = json!({
            "iteration": outlook.iteration.number(),
            "begun": outlook.is_begun,
            "runs": ids(outlook.plan.runs()),
            "left": ids(&outlook.left),
        });
        writeln!(out, "{plan:#}")?;
    } else {
        for id in outlook.left.iter().take(LISTED) {
            writeln!(out, "{id}")?;
        }
    }
    out.flush()?;
    if format != RunFormat::Json && outlook.left.len() > LISTED {
        let more = outlook.left.len() - LISTED;
        printer.say(&format!("and {more} more; --format json lists all"));
    }
    Ok(())
}

/// Says what will be run.
pub(super) fn show_plan(
    prepared: &Prepared,
    outlook: &Outlook,
    jobs: u32,
    workspace: &Workspace,
    printer: &Printer,
) {
    let record = &prepared.record;
    let runs = prepared.plan().runs().len();
    let configurations: Vec<&str> =
        record.configurations.iter().map(Configuration::as_str).collect();
    let cases = record.case_ids.len();
    let (up_to, at_most) = if record.until_decided { ("up to ", "at most ") } else { ("", "") };
    printer.say(&format!(
        "{}: {cases} case{} x {} x {up_to}{} run{} = {at_most}{runs} run{} with {}{}",
        record.skill_name,
        ending(cases),
        configurations.join(" and "),
        record.runs_per_configuration,
        ending(record.runs_per_configuration),
        ending(runs),
        record.agent,
        record.agent_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default(),
    ));
    if record.configurations.len() > 1 {
        printer.say(&can_show(record));
    }
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
            "{} calls: {left} of the agent, {judged} of the judge {judge}, {jobs} at once ({more})",
            left.saturating_add(judged),
        )),
        None => {
            printer.say(&format!("{left} call{} of the agent ({more}), no judge", ending(left)));
        }
    }
    if record.primary_outcome == Some(PrimaryOutcome::Preference) {
        let pairs =
            record.case_ids.len() * usize::try_from(record.runs_per_configuration).unwrap_or(0);
        let most = if record.until_decided { "at most " } else { "" };
        printer.say(&format!(
            "and {most}{} of the comparator: each pair in both orders",
            plural(2 * pairs, "call")
        ));
    }
    if left > 0 {
        let judge = if judged > 0 { " (the judge comes on top)" } else { "" };
        printer.say(&cost(&EarlierRuns::read(workspace, &record.agent), left, judge));
    }
    if let Some(warning) = same_model(record.model.as_deref(), record.judge.as_deref()) {
        printer.say(&format!("warning: {warning}"));
    }
}

/// What this design can show, before anything is paid.
fn can_show(record: &IterationRecord) -> String {
    let runs = usize::try_from(record.runs_per_configuration).unwrap_or(usize::MAX);
    let cases = record.case_ids.len();
    let design = Design { is_sequential: record.until_decided, ..Design::new(cases, runs) };
    let most = if record.until_decided { "at most " } else { "" };
    let here = format!("{} x {most}{}", plural(cases, "case"), plural(runs, "run"));
    let points = |share: f64| format!("{:.0} points", 100.0 * share);
    let resolvable = design.resolvable();
    let shown = match resolvable {
        Some(share) => format!("with {here}, differences of {} or more show", points(share)),
        None => format!("with {here}, no difference can be shown"),
    };
    let is_fine = resolvable.is_some_and(|share| share <= SMALL);
    let more = design.cases_for(SMALL).filter(|_| !is_fine).map(|cases| {
        format!("; for {} take {cases} cases x {}", points(SMALL), plural(runs, "run"))
    });
    format!("{shown}{}", more.unwrap_or_default())
}

/// Says where the results go.
pub(super) fn say_begun(open: &OpenIteration, printer: &Printer) {
    if let Some((number, differences)) = &open.left {
        printer.say(&format!(
            "iteration-{number} stays unfinished, because {}",
            differences.join("; ")
        ));
    }
    let verb = if open.resumed { "going on with" } else { "writing to" };
    printer.say(&format!("{verb} {}", open.iteration.root().display()));
}

#[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
fn cost(earlier: &EarlierRuns, runs: usize, judge: &str) -> String {
    let mean = |values: &[f64]| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    match (mean(&earlier.costs), mean(&earlier.seconds)) {
        (Some(cost), _) => format!(
            "about ${:.2} for the agent, from {} earlier run{}{judge}",
            cost * runs as f64,
            earlier.costs.len(),
            ending(earlier.costs.len())
        ),
        (None, Some(seconds)) => {
            format!("cost unknown: earlier runs told none; they took {seconds:.0} s each")
        }
        (None, None) => "cost unknown: nothing was run here before".to_owned(),
    }
}
