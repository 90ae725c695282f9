//! A trigger report as text for people: the verdicts, a line for each query, and what it cost.
//!
//! Queries are untrusted: control characters are replaced and long ones are shortened.

use std::fmt::Write as _;

use skillgauge_format::json::Number;
use skillgauge_format::trigger::{
    ListedDescription, QueryResult, QueryVerdict, TriggerListing, TriggerMeasurement,
    TriggerMetrics, TriggerReport, TriggerSummary, Via, ViaDetail,
};

use super::trigger_evidence as evidence;
use crate::text::{plural, printable, shorten};
use crate::trigger::against;

const QUERY: usize = 72;

/// The report as text, with a final newline.
pub fn render_text(report: &TriggerReport) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", printable(&report.skill_name), counts(&report.summary));
    if let Some(measurement) = &report.measurement {
        let _ = writeln!(out, "{}", how(measurement));
    }
    if !report.results.is_empty() {
        queries(report, &mut out);
        if let Some(metrics) = &report.metrics {
            let _ = writeln!(out, "\n{}", metrics_line(metrics));
        }
    }
    if let Some(found) = &report.against {
        let _ = writeln!(out, "{}", against::sentence(found));
        for line in against::left_out(found) {
            let _ = writeln!(out, "  {line}");
        }
    }
    crowd(report, &mut out);
    calibration(report, &mut out);
    if let Some(measurement) = &report.measurement {
        let _ = writeln!(out, "{}", spending(measurement));
    }
    let crowd = report.crowd.as_ref();
    let measured = [
        (report.listing.as_ref(), report.measurement.as_ref(), ""),
        (
            crowd.and_then(|crowd| crowd.listing.as_ref()),
            crowd.map(|it| &it.measurement),
            "in a crowd ",
        ),
    ];
    for (listing, measurement, place) in measured {
        let Some(listing) = listing else { continue };
        let version = measurement.and_then(|it| it.agent_version.as_deref());
        if let Some(seen) = evidence::seen(listing, version) {
            let _ = writeln!(out, "{place}{seen}");
        }
        let _ = write!(out, "{}", listed(listing));
    }
    for warning in report.warnings.iter().flatten() {
        let _ = writeln!(out, "warning: {}", printable(warning));
    }
    out
}

fn counts(summary: &TriggerSummary) -> String {
    if summary.total == 0 {
        return "nothing was measured".to_owned();
    }
    let undecided = match summary.undecided {
        0 => String::new(),
        count => format!(", {count} undecided"),
    };
    let (passed, total) = (summary.passed, summary.total);
    let threshold = summary.threshold.as_f64();
    format!("{passed} of {total} queries passed{undecided} (threshold {threshold})")
}

fn how(measurement: &TriggerMeasurement) -> String {
    let named =
        |name: &Option<String>| name.as_deref().map(printable).unwrap_or_default().into_owned();
    let whom = match measurement.via {
        Via::Agent => {
            format!(
                "through the agent {} {}",
                named(&measurement.agent),
                named(&measurement.agent_version)
            )
        }
        Via::Api => format!("by one model request per probe, {}", request(measurement)),
        Via::Estimate => "an estimate from the words alone".to_owned(),
    };
    let model = measurement.model.as_deref().map(|model| format!(", model {}", printable(model)));
    let control = match &measurement.control {
        None => String::new(),
        Some(control) if control.passed => "; the positive control passed".to_owned(),
        Some(control) => format!("; the positive control failed ({})", printable(&control.outcome)),
    };
    format!("{}{}{control}", whom.trim_end(), model.unwrap_or_default())
}

/// Where the request of a probe without an agent came from.
fn request(measurement: &TriggerMeasurement) -> String {
    match (measurement.via_detail, &measurement.agent) {
        (Some(ViaDetail::Captured), Some(agent)) => {
            let version = measurement.agent_version.as_deref().map(|version| format!(" {version}"));
            let version = version.unwrap_or_default();
            format!("captured from {}{}", printable(agent), printable(&version))
        }
        (Some(ViaDetail::Captured), None) => "captured from an agent".to_owned(),
        (Some(ViaDetail::BuiltIn), _) => "built in and not an agent's own".to_owned(),
        (None, _) => "without an agent".to_owned(),
    }
}

fn queries(report: &TriggerReport, out: &mut String) {
    let in_crowd = |result: &QueryResult| {
        let crowd = report.crowd.as_ref()?;
        crowd.results.iter().find(|other| other.is_same_query(result))
    };
    let limit = report.measurement.as_ref().and_then(|it| it.max_turns);
    let heading = if report.crowd.is_some() {
        "        alone                  in a crowd"
    } else {
        "        rate"
    };
    let _ = writeln!(out, "\n{heading}");
    let row = |result: &QueryResult, out: &mut String| {
        let sign = if result.should_trigger { '+' } else { '-' };
        let _ = write!(out, "  {}  {:<21}", mark(result), rate(result));
        if report.crowd.is_some() {
            let shown = in_crowd(result).map(|other| format!("{} {}", mark(other), rate(other)));
            let _ = write!(out, "  {:<26}", shown.unwrap_or_default());
        }
        let around =
            result.situation.as_ref().map(|it| format!(" [{}]", printable(&it.to_string())));
        let around = around.unwrap_or_default();
        let _ = write!(out, "  {sign} {}{around}{}", short(&result.query), notes(result, limit));
        let other = in_crowd(result);
        let said = other.map(|other| notes(other, limit));
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            let _ = write!(out, "  in a crowd: {}", said.trim_start());
        }
        out.push('\n');
        for (result, place) in [(Some(result), ""), (other, "in a crowd, ")] {
            let failed = result.filter(|it| it.verdict() == QueryVerdict::Failed);
            for line in failed.into_iter().flat_map(evidence::wrong_lines) {
                let _ = writeln!(out, "          {place}{line}");
            }
        }
    };
    let (decided, open): (Vec<&QueryResult>, Vec<&QueryResult>) =
        report.results.iter().partition(|result| result.verdict() != QueryVerdict::Undecided);
    for result in decided {
        row(result, out);
    }
    if !open.is_empty() {
        out.push_str(
            "  undecided: runs without a result could turn these; they are in no metric\n",
        );
    }
    for result in open {
        row(result, out);
    }
    out.push_str("  (+ should trigger, - should not; rate, 95 % interval and triggers of the runs that completed)\n");
}

fn mark(result: &QueryResult) -> &'static str {
    match result.verdict() {
        QueryVerdict::Passed => "ok  ",
        QueryVerdict::Failed => "FAIL",
        QueryVerdict::Undecided => "?   ",
    }
}

/// Rate, interval and counts: all of the runs that completed.
fn rate(result: &QueryResult) -> String {
    let (Some(rate), Some([low, high])) = (result.completed_rate, result.interval) else {
        return "-".to_owned();
    };
    let [rate, low, high] = [rate, low, high].map(Number::as_f64);
    format!("{rate:.2} [{low:.2} {high:.2}] {}/{}", result.triggers, result.completed())
}

fn notes(result: &QueryResult, max_turns: Option<u64>) -> String {
    let mut notes = Vec::new();
    // Who took the query comes first: it is what to work on.
    for (words, skills) in [("taken by", &result.other_skills), ("also loaded", &result.co_loaded)]
    {
        for (skill, count) in skills.iter().flatten() {
            notes.push(format!("{words} {} {count}/{}", printable(skill), result.completed()));
        }
    }
    if let Some(count) = result.turn_limited {
        let turns = max_turns.map_or_else(|| "the turn limit".to_owned(), |n| plural(n, "turn"));
        notes.push(format!("{count} did not trigger within {turns}"));
    }
    for (count, what) in [
        (Some(result.errors), "errored"),
        (result.runs_missing, "not made"),
        (result.sub_agent_triggers, "in a sub-agent"),
        (result.soft_touches, "touched only"),
        (result.runs_saved, "saved"),
    ] {
        if let Some(count) = count.filter(|count| *count > 0) {
            notes.push(format!("{count} {what}"));
        }
    }
    if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) }
}

fn short(query: &str) -> String {
    shorten(query, QUERY)
}

fn metrics_line(metrics: &TriggerMetrics) -> String {
    let shown = |number: Option<Number>| {
        number.map_or_else(|| "undefined".to_owned(), |number| format!("{:.2}", number.as_f64()))
    };
    format!(
        "precision {}, recall {}, F1 {}, accuracy {}",
        shown(metrics.precision),
        shown(metrics.recall),
        shown(metrics.f1),
        shown(metrics.accuracy)
    )
}

fn crowd(report: &TriggerReport, out: &mut String) {
    let Some(crowd) = &report.crowd else { return };
    let _ = writeln!(
        out,
        "in a crowd of {} ({} made up): {}; {}",
        plural(crowd.neighbours.len(), "neighbour"),
        crowd.made_up,
        counts(&crowd.summary),
        metrics_line(&crowd.metrics),
    );
    let _ = writeln!(out, "in a crowd: {}", spending(&crowd.measurement));
}

fn calibration(report: &TriggerReport, out: &mut String) {
    let Some(found) = &report.calibration else { return };
    let shown = |number: Option<Number>| {
        number.map_or_else(|| "undefined".to_owned(), |number| format!("{:.2}", number.as_f64()))
    };
    let _ = writeln!(
        out,
        "calibration: {} agrees with the agent on {} of {} (agreement {}, kappa {})",
        how(&found.measurement),
        found.compared - (found.disagreements.len() as u64).min(found.compared),
        found.compared,
        shown(found.agreement),
        shown(found.kappa),
    );
    for other in &found.disagreements {
        let _ = writeln!(
            out,
            "  agent {:.2}, api {:.2}  {}",
            other.agent_rate.as_f64(),
            other.other_rate.as_f64(),
            short(&other.query)
        );
    }
    for line in
        report.measurement.iter().filter_map(|it| it.turns.as_ref()).flat_map(evidence::turns)
    {
        let _ = writeln!(out, "{line}");
    }
}

fn spending(measurement: &TriggerMeasurement) -> String {
    let unknown = || "unknown".to_owned();
    let requests = measurement.requests.map_or_else(unknown, |count| count.to_string());
    let tokens = match (measurement.tokens, measurement.tokens_at_least) {
        (Some(count), _) => count.to_string(),
        (None, 0) => unknown(),
        (None, known) => format!("unknown (at least {known})"),
    };
    let cost = match (measurement.cost_usd, measurement.cost_at_least_usd.as_f64()) {
        (Some(cost), _) => format!("${:.4}", cost.as_f64()),
        (None, known) if known > 0.0 => format!("unknown (at least ${known:.4})"),
        (None, _) => unknown(),
    };
    let outcomes = measurement.outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}"));
    let outcomes: Vec<String> = outcomes.collect();
    let mut text = format!(
        "calls {}, model requests {requests}, tokens {tokens}, cost {cost}, {:.1} s of runs; {}",
        measurement.calls,
        measurement.seconds.as_f64(),
        outcomes.join(", ")
    );
    if let Some(saved) = measurement.runs_saved {
        let _ = write!(text, "; {saved} runs saved");
    }
    text
}

fn listed(listing: &TriggerListing) -> String {
    let agent = match listing.agent.as_deref() {
        Some("claude") => "Claude Code".into(),
        Some(agent) => printable(agent),
        None => "the request".into(),
    };
    match (listing.description, listing.entry_chars, listing.budget_chars) {
        (Some(ListedDescription::Cut), Some(most), _) => format!(
            "warning: {agent} cuts this description in its list of skills after {most} characters\n"
        ),
        (Some(ListedDescription::AtRisk), _, Some(budget)) => format!(
            "warning: with {} skills the list of {agent} needs {} characters and has room for {budget}: {} skills are listed \
             by name only, those that were used least first\n",
            listing.skills, listing.needed_chars, listing.name_only
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use skillgauge_format::transcript::Reason;

    use super::*;
    use crate::trigger::{LabelledQuery, Measured, Observation, Steps, assemble};

    #[test]
    fn the_example_of_the_documentation_is_what_comes_out() {
        let loads = |names: &[&str]| Observation::completed(names.iter().map(|&name| name.into()));
        let limit = || Observation::failed(Reason::RateLimit, "too many");
        let (own, mut other, none) = (loads(&["pdf-forms"]), loads(&["csv-report"]), loads(&[]));
        let write = serde_json::json!({"file_path": "totals.csv"});
        let skill = serde_json::json!({"skill": "csv-report"});
        other.steps = Steps::of_calls([("Skill", &skill), ("Write", &write)], "");
        let queries = [
            LabelledQuery::new("fill in this form", true),
            LabelledQuery::new("put the totals into the PDF", true),
            LabelledQuery::new("merge two PDF files", false),
            LabelledQuery::new("convert this PDF to text", false),
        ];
        let report = assemble(&Measured {
            skill_name: "pdf-forms",
            description: "d",
            threshold: 0.5,
            runs: 3,
            max_turns: None,
            queries: &queries,
            observations: &[
                vec![own.clone(), own.clone(), own.clone()],
                vec![other.clone(), other.clone(), other],
                vec![none.clone(), none, limit()],
                vec![own, limit(), limit()],
            ],
            saved: &[],
        });
        let text = render_text(&report);
        let page = include_str!("../../../../docs/trigger.md");
        let shown = text.lines().filter(|line| line.starts_with("  ") || line.contains("queries"));
        let shown = shown.filter(|line| !line.starts_with("  (+"));
        let missing: Vec<&str> = shown.filter(|line| !page.contains(line)).collect();
        assert!(!missing.iter().any(|line| !line.starts_with("warning")), "{missing:#?}");
    }
}
