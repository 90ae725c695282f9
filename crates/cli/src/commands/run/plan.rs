//! Shows what will be run, how many calls that is, and what it may cost.

use skillgauge_core::workspace::Workspace;
use skillgauge_run::iteration::{Begun, Prepared};

use super::request::Asked;
use super::target::Target;
use crate::Printer;

/// So many earlier runs are enough to guess from.
const SAMPLE: usize = 200;

/// Says what will be run.
pub(super) fn show_plan(prepared: &Prepared, asked: &Asked, target: &Target, printer: &Printer) {
    let record = &prepared.record;
    let runs = prepared.plan().runs().len();
    let configurations: Vec<&str> =
        record.configurations.iter().map(skillgauge_format::part::Configuration::as_str).collect();
    let cases = record.case_ids.len();
    printer.say(&format!(
        "{}: {cases} case{} x {} x {} run{} = {runs} runs with {}{}",
        record.skill_name,
        plural(cases),
        configurations.join(" and "),
        record.runs_per_configuration,
        if record.runs_per_configuration == 1 { "" } else { "s" },
        record.agent,
        record.agent_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default(),
    ));
    let votes = usize::try_from(record.judge_votes).unwrap_or(usize::MAX);
    let judged = if record.judge.is_some() { runs.saturating_mul(votes) } else { 0 };
    match &record.judge {
        Some(judge) => printer.say(&format!(
            "at most {} calls: {runs} of the agent, {judged} of the judge {judge} ({} at once)",
            runs + judged,
            asked.jobs
        )),
        None => printer.say(&format!("at most {runs} calls of the agent, nobody judges")),
    }
    printer.say(&cost(&Earlier::read(&target.workspace, &record.agent), runs));
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

/// The ending of a word that is counted.
pub(in crate::commands) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// What earlier runs of the same agent cost.
struct Earlier {
    costs: Vec<f64>,
    seconds: Vec<f64>,
}

impl Earlier {
    fn read(workspace: &Workspace, agent: &str) -> Self {
        let mut found = Self { costs: Vec::new(), seconds: Vec::new() };
        let numbers = workspace.iterations().unwrap_or_default();
        for number in numbers.into_iter().rev() {
            for (_, run) in workspace.iteration(number).runs() {
                let Ok(record) = run.record() else { continue };
                if record.agent != agent || !record.reason.is_result() {
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

fn cost(earlier: &Earlier, runs: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
    let mean = |values: &[f64]| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    #[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
    let runs = runs as f64;
    match (mean(&earlier.costs), mean(&earlier.seconds)) {
        (Some(cost), _) => format!(
            "about ${:.2} for the agent, from {} earlier runs (the judge comes on top)",
            cost * runs,
            earlier.costs.len()
        ),
        (None, Some(seconds)) => {
            format!("cost unknown: earlier runs told none; they took {seconds:.0} s each")
        }
        (None, None) => {
            "cost unknown: nothing was run here before (--max-cost and --max-calls cap it)"
                .to_owned()
        }
    }
}
