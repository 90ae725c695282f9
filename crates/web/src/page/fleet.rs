//! The page of a fleet: workers, and each plan with what is queued, running and done. The same facts as `fleet status`.

use minijinja::{Value, context};
use skillgauge_core::text::plural;

use super::table::{Align, Cell, Table, Tone};
use super::{show, view};
use crate::server::FleetView;

/// What the page of a fleet shows.
pub(crate) fn fleet(found: &FleetView) -> Value {
    let running: u64 = found.plans.iter().map(|plan| plan.running).sum();
    let sentence = format!(
        "{}, {} running in {}",
        plural(found.workers.len(), "worker"),
        plural(running, "run"),
        plural(found.plans.len(), "plan")
    );
    context! {
        problem => found.problem.clone(),
        sentence => sentence,
        workers => view(workers(found)),
        plans => view(plans(found)),
    }
}

/// A count that is bad news when it is not zero.
fn bad_when_any(count: u64) -> Cell {
    Cell::from(count.to_string()).tone(if count > 0 { Tone::Bad } else { Tone::Quiet })
}

fn workers(fleet: &FleetView) -> Table {
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
    for worker in &fleet.workers {
        // What it leaves to others.
        let left = worker.left.iter().map(|left| {
            let jobs = if left.queue == "grades" { "gradings" } else { "runs" };
            format!("{jobs} of plan {}: {}", left.plan, left.why)
        });
        table.row(vec![
            worker.name.as_str().into(),
            worker.running.values().sum::<u32>().to_string().into(),
            worker.slots.to_string().into(),
            worker.grade_slots.to_string().into(),
            worker.done.to_string().into(),
            bad_when_any(worker.failed),
            worker.tool_version.as_str().into(),
            left.collect::<Vec<_>>().join("; ").into(),
        ]);
    }
    table.finish()
}

fn plans(fleet: &FleetView) -> Table {
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
    for plan in &fleet.plans {
        // A plan that is over has neither.
        let is_running = plan.state == "running";
        let rate = plan.runs_per_minute.filter(|_| is_running);
        let left = plan.seconds_left.filter(|_| is_running);
        table.row(vec![
            plan.skill.as_str().into(),
            plan.state.as_str().into(),
            format!("{} of {}", plan.done, plan.planned).into(),
            plan.running.to_string().into(),
            plan.queued.to_string().into(),
            rate.map_or_else(|| show::UNKNOWN.to_owned(), |rate| format!("{rate:.1}")).into(),
            show::seconds(left).into(),
            bad_when_any(plan.failed),
            bad_when_any(plan.lost),
            plan.graded.to_string().into(),
            plan.grades_queued.to_string().into(),
            plan.agent.as_str().into(),
            plan.id.as_str().into(),
        ]);
    }
    table.finish()
}
