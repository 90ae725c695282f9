//! A route report as text, for people.

use std::fmt::Write as _;

use skillgauge_format::trigger::{QueryRoute, RouteBasis, RouteReport};

use crate::text::{one_line, percent, table};

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
        let _ = writeln!(text, "\n{one} and {other} collide in {} runs:", collision.runs);
        for query in &collision.queries {
            let _ = writeln!(text, "  {}", one_line(query));
        }
    }
    let failed: Vec<&QueryRoute> =
        report.results.iter().filter(|result| result.pass == Some(false)).collect();
    if !failed.is_empty() {
        text.push_str("\nWent wrong:\n");
        for result in failed {
            wrong(&mut text, result);
        }
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "\nwarning: {warning}");
    }
    let summary = &report.summary;
    let _ =
        write!(text, "\n{} of {} queries went where they should", summary.passed, summary.total);
    if summary.unmeasured > 0 {
        let _ = write!(text, ", {} were not measured", summary.unmeasured);
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
        let _ = writeln!(text, "{}: {recall}, {} false fires", skill.name, skill.false_fires);
    }
}

fn wrong(text: &mut String, result: &QueryRoute) {
    let list =
        |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(" or ") };
    let taken: Vec<String> =
        result.taken_by.iter().map(|taken| format!("{} ({})", taken.skill, taken.runs)).collect();
    let _ = write!(text, "  {}\n    for {}", one_line(&result.query), list(&result.wanted_by));
    if result.wanted_by.is_empty() {
        let _ = write!(text, ", refused by {}", result.refused_by.join(", "));
    }
    let _ = writeln!(text, "; taken by {}", taken.join(", "));
}
