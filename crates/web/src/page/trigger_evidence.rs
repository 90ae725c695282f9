//! Why queries of a trigger report went wrong: what the agent did, and the list of skills that the model chose from.

use serde::Serialize;
use skillgauge_format::trigger::{
    ListingBasis, QueryResult, TriggerListing, TriggerReport, WrongRun,
};

use super::table::{Align, Table};

/// The list of skills that the model chose from.
#[derive(Debug, Serialize)]
pub(super) struct ListingView {
    title: String,
    lines: Vec<String>,
}

/// The words of a query and where it was asked.
pub(super) fn query(result: &QueryResult) -> String {
    let around = result.situation.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    format!("{}{around}", result.query)
}

/// The runs that went wrong, one a row; nothing when all went right.
pub(super) fn wrong_runs(index: usize, report: &TriggerReport) -> Option<Table> {
    let columns = [
        ("query", Align::Left),
        ("run", Align::Right),
        ("outcome", Align::Left),
        ("did", Align::Left),
        ("loaded", Align::Left),
        ("said", Align::Left),
        ("turns", Align::Right),
    ];
    let mut table = Table::new(&format!("wrong-{index}"), "Runs that went wrong", &columns);
    let mut is_empty = true;
    for result in &report.results {
        for run in result.wrong_runs.iter().flatten() {
            is_empty = false;
            table.row(vec![
                query(result).into(),
                run.run.to_string().into(),
                outcome(run).into(),
                did(run).into(),
                run.loaded.join(", ").into(),
                run.said.clone().unwrap_or_default().into(),
                run.turns.map(|turns| turns.to_string()).unwrap_or_default().into(),
            ]);
        }
    }
    (!is_empty).then(|| table.finish())
}

fn outcome(run: &WrongRun) -> String {
    if run.turn_limit { "ended by the turn limit".to_owned() } else { run.outcome.clone() }
}

fn did(run: &WrongRun) -> String {
    let more = match run.did_more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if run.did.is_empty() { "no tool".to_owned() } else { format!("{}{more}", run.did.join(", ")) }
}

pub(super) fn listing(listing: Option<&TriggerListing>) -> Option<ListingView> {
    let listing = listing?;
    let seen = listing.seen.as_ref()?;
    let agent = listing.agent.as_deref().unwrap_or("an agent");
    let title = match seen.basis {
        ListingBasis::Captured => format!("Skills the model chose from, captured from {agent}"),
        ListingBasis::Sent => "Skills the model chose from, as they were sent".to_owned(),
        ListingBasis::Modelled => {
            format!("Skills the model chose from, modelled by what is known of {agent}")
        }
    };
    let mut lines = seen.lines.clone();
    if seen.more > 0 {
        lines.push(format!("and {} more", seen.more));
    }
    Some(ListingView { title, lines })
}
