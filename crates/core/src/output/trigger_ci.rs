//! A trigger report for CI: JUnit XML, and annotations for a GitHub Actions log.
//!
//! A query is a test case. One that fails is a failure; one of which no run completed is an error, because nothing was
//! measured. Invariant: what comes from a query passes through the escapes of the format.

use std::fmt::Write as _;

use skillgauge_format::trigger::{QueryResult, TriggerReport};

use super::github::{Part, escape as escape_command};
use super::junit::attribute;

/// What became of a query.
enum Verdict {
    Passed,
    Failed,
    Unmeasured,
}

fn verdict(result: &QueryResult) -> Verdict {
    match (result.pass, result.errors < result.runs) {
        (true, _) => Verdict::Passed,
        (false, true) => Verdict::Failed,
        (false, false) => Verdict::Unmeasured,
    }
}

fn message(result: &QueryResult) -> String {
    let QueryResult { triggers, runs, errors, .. } = result;
    let wanted = if result.should_trigger { "should trigger" } else { "should not trigger" };
    match verdict(result) {
        Verdict::Unmeasured => format!("none of {runs} runs completed, so nothing was measured"),
        Verdict::Passed | Verdict::Failed => {
            format!("{wanted}, and did in {triggers} of {runs} runs ({errors} errored)")
        }
    }
}

/// The report and, if there is one, the crowd's, as JUnit XML.
pub fn render_junit(report: &TriggerReport) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"skillgauge trigger\">\n",
    );
    suite(&report.skill_name, &report.results, &mut out);
    if let Some(crowd) = &report.crowd {
        suite(&format!("{} in a crowd", report.skill_name), &crowd.results, &mut out);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(name: &str, results: &[QueryResult], out: &mut String) {
    let name = attribute(name);
    let count =
        |is: fn(&Verdict) -> bool| results.iter().filter(|result| is(&verdict(result))).count();
    push(
        out,
        format_args!(
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
            results.len(),
            count(|verdict| matches!(verdict, Verdict::Failed)),
            count(|verdict| matches!(verdict, Verdict::Unmeasured)),
        ),
    );
    for result in results {
        let case =
            format!("    <testcase classname=\"{name}\" name=\"{}\"", attribute(&result.query));
        let words = attribute(&message(result));
        match verdict(result) {
            Verdict::Passed => push(out, format_args!("{case}/>\n")),
            Verdict::Failed => push(
                out,
                format_args!(
                    "{case}>\n      <failure type=\"trigger\" message=\"{words}\"/>\n    </testcase>\n"
                ),
            ),
            Verdict::Unmeasured => push(
                out,
                format_args!(
                    "{case}>\n      <error type=\"unmeasured\" message=\"{words}\"/>\n    </testcase>\n"
                ),
            ),
        }
    }
    out.push_str("  </testsuite>\n");
}

/// A workflow command for each query that does not pass, and a summary. `file` is where the description is.
pub fn render_github(report: &TriggerReport, file: &str) -> String {
    let mut out = String::new();
    let crowd = report.crowd.iter().flat_map(|crowd| &crowd.results);
    let all = report
        .results
        .iter()
        .map(|result| (result, ""))
        .chain(crowd.map(|result| (result, " in a crowd")));
    for (result, place) in all.filter(|(result, _)| !result.pass) {
        out.push_str("::error file=");
        escape_command(file, Part::Property, &mut out);
        out.push_str(",title=trigger::");
        escape_command(
            &format!("{:?}{place}: {}", result.query, message(result)),
            Part::Message,
            &mut out,
        );
        out.push('\n');
    }
    let summary = &report.summary;
    escape_command(
        &format!("{}: {} of {} queries passed", report.skill_name, summary.passed, summary.total),
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
    fn junit_tells_a_failure_from_what_was_not_measured() {
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
            Some("should trigger, and did in 0 of 3 runs (1 errored)")
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
