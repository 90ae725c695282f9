//! A trigger report for CI: JUnit XML, and annotations for a GitHub Actions log.
//!
//! A query is a test case. One that fails is a failure; one that is undecided is an error, because it was not measured well
//! enough. Invariant: what comes from a query passes through the escapes of the format.

use std::fmt::Write as _;

use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::trigger::{
    QueryResult, QueryVerdict, TriggerComparison, TriggerMeasurement, TriggerReport,
};

use super::github::{Part, escape as escape_command};
use super::junit::attribute;
use crate::text::plural;
use crate::trigger::against;

fn message(result: &QueryResult) -> String {
    let completed = result.completed();
    let wanted = if result.should_trigger { "should trigger" } else { "should not trigger" };
    let mut text = match (result.verdict(), completed) {
        (QueryVerdict::Undecided, 0) => "undecided: no run completed".to_owned(),
        (QueryVerdict::Undecided, _) => format!(
            "undecided: {wanted}, and did in {} of {}; runs without a result could turn that",
            result.triggers,
            plural(completed, "completed run")
        ),
        _ => format!(
            "{wanted}, and did in {} of {}",
            result.triggers,
            plural(completed, "completed run")
        ),
    };
    for (words, skills) in [("taken by", &result.other_skills), ("also loaded", &result.co_loaded)]
    {
        for (skill, count) in skills.iter().flatten() {
            push(&mut text, format_args!("; {words} {skill} {count}/{completed}"));
        }
    }
    if result.errors > 0 {
        push(&mut text, format_args!(" ({} errored)", result.errors));
    }
    text
}

/// The report and, if there is one, the crowd's, as JUnit XML.
pub fn render_junit(report: &TriggerReport) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"skillgauge trigger\">\n",
    );
    suite(&report.skill_name, &report.results, report.measurement.as_ref(), &mut out);
    if let Some(crowd) = &report.crowd {
        let name = format!("{} in a crowd", report.skill_name);
        suite(&name, &crowd.results, Some(&crowd.measurement), &mut out);
    }
    if let Some(found) = &report.against {
        comparison(&report.skill_name, found, &mut out);
    }
    out.push_str("</testsuites>\n");
    out
}

/// The test case of a measurement that is broken as a whole.
fn broken(measurement: Option<&TriggerMeasurement>) -> Option<String> {
    let measurement = measurement?;
    match &measurement.control {
        Some(control) if control.passed => None,
        Some(control) => Some(format!("the positive control failed ({})", control.outcome)),
        None if measurement.partial == Some(true) => {
            Some("nothing was measured; the warnings of the report say why".to_owned())
        }
        None => None,
    }
}

fn suite(
    name: &str,
    results: &[QueryResult],
    measurement: Option<&TriggerMeasurement>,
    out: &mut String,
) {
    let name = attribute(name);
    let broken = broken(measurement);
    let count = |verdict| results.iter().filter(|result| result.verdict() == verdict).count();
    push(
        out,
        format_args!(
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
            results.len() + usize::from(broken.is_some()),
            count(QueryVerdict::Failed),
            count(QueryVerdict::Undecided) + usize::from(broken.is_some()),
        ),
    );
    if let Some(words) = &broken {
        let case = format!("    <testcase classname=\"{name}\" name=\"measurement\"");
        unhappy(&case, "error", "broken", words, out);
    }
    for result in results {
        let around = result.situation.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let query = attribute(&format!("{}{around}", result.query));
        let case = format!("    <testcase classname=\"{name}\" name=\"{query}\"");
        match result.verdict() {
            QueryVerdict::Passed => push(out, format_args!("{case}/>\n")),
            QueryVerdict::Failed => unhappy(&case, "failure", "trigger", &message(result), out),
            QueryVerdict::Undecided => unhappy(&case, "error", "undecided", &message(result), out),
        }
    }
    out.push_str("  </testsuite>\n");
}

/// The comparison as a test case of its own: it fails when the skill got worse.
fn comparison(skill: &str, found: &TriggerComparison, out: &mut String) {
    let name = attribute(&format!("{skill} against {}", found.report));
    let is_worse = found.verdict == DifferenceVerdict::Worse;
    push(
        out,
        format_args!(
            "  <testsuite name=\"{name}\" tests=\"1\" failures=\"{}\" errors=\"0\">\n",
            u8::from(is_worse)
        ),
    );
    let words = against::sentence(found);
    let case = format!("    <testcase classname=\"{name}\" name=\"{}\"", found.verdict);
    if is_worse {
        unhappy(&case, "failure", "worse", &words, out);
    } else {
        let words = attribute(&words);
        push(
            out,
            format_args!("{case}>\n      <system-out>{words}</system-out>\n    </testcase>\n"),
        );
    }
    out.push_str("  </testsuite>\n");
}

fn unhappy(case: &str, element: &str, kind: &str, words: &str, out: &mut String) {
    let words = attribute(words);
    push(
        out,
        format_args!(
            "{case}>\n      <{element} type=\"{kind}\" message=\"{words}\"/>\n    </testcase>\n"
        ),
    );
}

/// A workflow command for each query that does not pass, and a summary. `file` is where the description is.
pub fn render_github(report: &TriggerReport, file: &str) -> String {
    let mut out = String::new();
    let mut say = |level: &str, text: &str| {
        push(&mut out, format_args!("::{level} file="));
        escape_command(file, Part::Property, &mut out);
        out.push_str(",title=trigger::");
        escape_command(text, Part::Message, &mut out);
        out.push('\n');
    };
    if let Some(words) = broken(report.measurement.as_ref()) {
        say("error", &words);
    }
    let crowd = report.crowd.iter().flat_map(|crowd| &crowd.results);
    let all = report
        .results
        .iter()
        .map(|result| (result, ""))
        .chain(crowd.map(|result| (result, " in a crowd")));
    for (result, place) in all {
        let level = match result.verdict() {
            QueryVerdict::Passed => continue,
            QueryVerdict::Failed => "error",
            QueryVerdict::Undecided => "warning",
        };
        say(level, &format!("{:?}{place}: {}", result.query, message(result)));
    }
    if let Some(found) = &report.against {
        let level = match found.verdict {
            DifferenceVerdict::Worse => "error",
            _ => "notice",
        };
        say(level, &against::sentence(found));
    }
    let summary = &report.summary;
    escape_command(
        &format!(
            "{}: {} of {} queries passed, {} failed, {} undecided",
            report.skill_name, summary.passed, summary.total, summary.failed, summary.undecided
        ),
        Part::Message,
        &mut out,
    );
    out.push('\n');
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use skillgauge_format::trigger::TriggerControl;

    use super::*;

    fn report() -> TriggerReport {
        let result = |query: &str, should_trigger, pass, errors| QueryResult {
            query: query.into(),
            should_trigger,
            runs: 3,
            errors,
            pass,
            ..QueryResult::default()
        };
        TriggerReport {
            skill_name: "x<y>".into(),
            results: vec![
                result("a \"quoted\" & <b>\n::error::injected", true, false, 1),
                result("fine", false, true, 0),
                result("nothing", false, false, 3),
            ],
            ..TriggerReport::default()
        }
    }

    #[test]
    fn junit_tells_a_failure_from_what_is_undecided() {
        let text = render_junit(&report());
        let document = roxmltree::Document::parse(&text).unwrap();
        let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
        assert_eq!((suite.attribute("name"), suite.attribute("tests")), (Some("x<y>"), Some("3")));
        assert_eq!(
            (suite.attribute("failures"), suite.attribute("errors")),
            (Some("1"), Some("1"))
        );
        let failed = document.descendants().find(|node| node.has_tag_name("failure")).unwrap();
        assert_eq!(
            failed.attribute("message"),
            Some("should trigger, and did in 0 of 2 completed runs (1 errored)")
        );
        let open = document.descendants().find(|node| node.has_tag_name("error")).unwrap();
        assert_eq!(open.attribute("type"), Some("undecided"));
    }

    #[test]
    fn a_failed_control_is_an_error_and_no_empty_suite() {
        let control = TriggerControl { outcome: "completed".into(), ..TriggerControl::default() };
        let measurement =
            TriggerMeasurement { control: Some(control), ..TriggerMeasurement::default() };
        let report = TriggerReport { measurement: Some(measurement), ..TriggerReport::default() };
        let text = render_junit(&report);
        assert!(text.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{text}");
        assert!(text.contains("the positive control failed (completed)"), "{text}");
        assert!(
            render_github(&report, "x").starts_with("::error file=x,title=trigger::the positive")
        );
    }

    #[test]
    fn a_query_cannot_issue_a_workflow_command() {
        let text = render_github(&report(), "skills/x/SKILL.md");
        let commands = text.lines().filter(|line| line.starts_with("::")).count();
        assert_eq!(commands, 2, "{text}");
        assert!(!text.lines().any(|line| line.starts_with("::error::injected")), "{text}");
    }
}
