//! A route report as text, for people.

use std::fmt::Write as _;

use skillgauge_format::trigger::{QueryRoute, RouteBasis, RouteReport};

use crate::output::trigger_evidence::route_lines;
use crate::text::{one_line, percent, plural, table};

pub fn render_text(report: &RouteReport) -> String {
    let mut text = String::new();
    if report.basis == RouteBasis::Estimate {
        text.push_str("ESTIMATE from words alone; nothing was measured\n\n");
    }
    matrix(&mut text, report);
    skills(&mut text, report);
    // Writing to a string does not fail.
    for collision in &report.collisions {
        let [one, other] = &collision.skills;
        let both = match collision.together {
            0 => String::new(),
            runs => format!(", {runs} of them with both loaded"),
        };
        let runs = plural(collision.runs, "run");
        let _ = writeln!(text, "\n{one} and {other} collide in {runs}{both}:");
        for query in &collision.queries {
            let _ = writeln!(text, "  {}", one_line(query));
        }
    }
    for (pass, title) in [
        (Some(false), "Went wrong"),
        (None, "Undecided, because runs without a result could turn them"),
    ] {
        let listed: Vec<&QueryRoute> =
            report.results.iter().filter(|result| result.pass == pass).collect();
        if !listed.is_empty() {
            let _ = writeln!(text, "\n{title}:");
        }
        for result in listed {
            query(&mut text, result);
        }
    }
    for control in report.controls.iter().filter(|control| !control.passed) {
        let (skill, outcome) = (&control.skill, &control.outcome);
        let _ = writeln!(text, "\nthe positive control of {skill} failed ({outcome})");
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "\nwarning: {warning}");
    }
    let summary = &report.summary;
    let _ =
        write!(text, "\n{} of {} queries went where they should", summary.passed, summary.total);
    if summary.undecided > 0 {
        let _ = write!(text, ", {} undecided", summary.undecided);
    }
    if report.partial == Some(true) {
        text.push_str(" (partial)");
    }
    text.push('\n');
    text
}

/// Rows are who wants a query, columns who took it.
fn matrix(text: &mut String, report: &RouteReport) {
    let labels = &report.matrix.labels;
    let head = std::iter::once("wanted".to_owned()).chain(labels.iter().cloned());
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for (label, row) in labels.iter().zip(&report.matrix.rows) {
        let shown = |count: &u64| if *count == 0 { ".".to_owned() } else { count.to_string() };
        rows.push(std::iter::once(label.clone()).chain(row.iter().map(shown)).collect());
    }
    text.push_str(&table(&rows, &[0]));
}

fn skills(text: &mut String, report: &RouteReport) {
    text.push('\n');
    for skill in &report.skills {
        let recall = match (skill.recall, skill.recall_interval) {
            (Some(recall), Some([low, high])) => format!(
                "recall {} ({:.0} to {})",
                percent(recall.as_f64()),
                100.0 * low.as_f64(),
                percent(high.as_f64())
            ),
            _ => "no recall".to_owned(),
        };
        let fires = plural(skill.false_fires, "false fire");
        let _ = writeln!(text, "{}: {recall}, {fires}", skill.name);
    }
}

fn query(text: &mut String, result: &QueryRoute) {
    let wanted = match result.wanted_by.as_slice() {
        [] => "wanted by none".to_owned(),
        names => format!("wanted by {}", names.join(" or ")),
    };
    let completed = result.runs.saturating_sub(result.errors);
    let taken: Vec<String> = (result.taken_by.iter())
        .map(|taken| format!("{} {}/{completed}", taken.skill, taken.runs))
        .collect();
    let taken = if taken.is_empty() { "-".to_owned() } else { taken.join(", ") };
    let around = result.situation.as_ref().map(|it| format!(" [{}]", one_line(&it.to_string())));
    let around = around.unwrap_or_default();
    let _ = write!(text, "  {}{around}\n    {wanted}; taken by {taken}", one_line(&result.query));
    for (count, what) in [
        (result.together, "with two or more loaded"),
        (result.errors, "errored"),
        (result.runs_missing, "not made"),
        (result.turn_limited, "ended by the turn limit"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text.push('\n');
    for line in route_lines(result.wrong_runs.as_ref(), result.runs) {
        let _ = writeln!(text, "      {line}");
    }
}
