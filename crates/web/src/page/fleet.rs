//! The page of a fleet: workers, and each plan with what is queued, running and done. The same facts as `fleet status`.

use minijinja::{Value, context};
use serde_json::Value as Json;
use skillgauge_core::text::plural;

use super::show;
use super::table::{Align, Cell, Table, Tone};
use super::view;
use crate::model::json::{count, items, number, text};
use crate::server::FleetView;

/// What the page of a fleet shows.
pub(crate) fn fleet(found: &FleetView) -> Value {
    let status = &found.status;
    context! {
        problem => found.problem.clone(),
        sentence => sentence(status),
        workers => view(workers(status)),
        plans => view(plans(status)),
    }
}

fn sentence(status: &Json) -> String {
    let (workers, plans) = (items(status, "workers"), items(status, "plans"));
    let running: u64 = plans.iter().filter_map(|plan| count(plan, "running")).sum();
    format!(
        "{}, {} running in {}",
        plural(workers.len(), "worker"),
        plural(running, "run"),
        plural(plans.len(), "plan")
    )
}

fn cell(value: &Json, key: &str) -> Cell {
    count(value, key).map_or_else(|| show::UNKNOWN.to_owned(), |count| count.to_string()).into()
}

/// A count that is bad news when it is not zero.
fn bad_when_any(value: &Json, key: &str) -> Cell {
    let tone = if count(value, key).unwrap_or_default() > 0 { Tone::Bad } else { Tone::Quiet };
    cell(value, key).tone(tone)
}

fn workers(status: &Json) -> Table {
    let columns = [
        ("worker", Align::Left),
        ("running", Align::Right),
        ("slots", Align::Right),
        ("slots for gradings", Align::Right),
        ("done", Align::Right),
        ("given back", Align::Right),
        ("skillgauge", Align::Left),
        ("leaves to others", Align::Left),
    ];
    let mut table = Table::new("fleet-workers", "Workers of the last two minutes", &columns);
    for worker in items(status, "workers") {
        let by_plan = worker.get("running").and_then(Json::as_object);
        let running: u64 =
            by_plan.into_iter().flatten().filter_map(|(_, runs)| runs.as_u64()).sum();
        table.row(vec![
            text(worker, "name").unwrap_or_default().into(),
            running.to_string().into(),
            cell(worker, "slots"),
            cell(worker, "grade_slots"),
            cell(worker, "done"),
            bad_when_any(worker, "failed"),
            text(worker, "tool_version").unwrap_or_default().into(),
            left(worker).into(),
        ]);
    }
    table.finish()
}

/// What a worker cannot do, and why.
fn left(worker: &Json) -> String {
    let one = |left: &Json| {
        let of = |key: &str| text(left, key).unwrap_or_default();
        let jobs = if of("queue") == "grades" { "gradings" } else { "runs" };
        format!("{jobs} of plan {}: {}", of("plan"), of("why"))
    };
    items(worker, "left").iter().map(one).collect::<Vec<_>>().join("; ")
}

fn plans(status: &Json) -> Table {
    // What people look for comes first: on a narrow screen the rest is out of sight.
    let columns = [
        ("skill", Align::Left),
        ("state", Align::Left),
        ("done", Align::Right),
        ("running", Align::Right),
        ("queued", Align::Right),
        ("runs a minute", Align::Right),
        ("time left", Align::Right),
        ("not completed", Align::Right),
        ("lost", Align::Right),
        ("graded", Align::Right),
        ("to grade", Align::Right),
        ("agent", Align::Left),
        ("plan", Align::Left),
    ];
    let mut table = Table::new("fleet-plans", "Plans", &columns);
    for plan in items(status, "plans") {
        let of = |key: &str| Cell::from(text(plan, key).unwrap_or_default());
        let is_running = text(plan, "state").as_deref() == Some("running");
        // A plan that is over has neither.
        let rate = number(plan, "runs_per_minute").filter(|_| is_running);
        let left = number(plan, "seconds_left").filter(|_| is_running);
        let done = format!(
            "{} of {}",
            count(plan, "done").unwrap_or_default(),
            count(plan, "planned").unwrap_or_default()
        );
        table.row(vec![
            of("skill"),
            of("state"),
            done.into(),
            cell(plan, "running"),
            cell(plan, "queued"),
            rate.map_or_else(|| show::UNKNOWN.to_owned(), |rate| format!("{rate:.1}")).into(),
            show::seconds(left).into(),
            bad_when_any(plan, "failed"),
            bad_when_any(plan, "lost"),
            cell(plan, "graded"),
            cell(plan, "grades_queued"),
            of("agent"),
            of("id"),
        ]);
    }
    table.finish()
}
