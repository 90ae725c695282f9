//! JUnit XML, for CI systems that show test results.
//!
//! A skill is a test suite, each rule that reported is a test case. Errors fail it. Warnings do not: their test
//! case passes and has them in its output. A valid skill also has a test case `valid`, so that it is seen to
//! have been checked. Counts over all suites and times are left out: the first would have to be known before
//! the first skill is written, the second is not measured.
//!
//! Invariant: what comes from a skill passes through [`escape`], so the result is well-formed XML 1.0.

use std::fmt::Write as _;

use super::place::{Region, from_working_folder, target};
use super::{Detail, Paths, Renderer, Scope, Totals};
use crate::finding::{Finding, Level};
use crate::validate::Checked;

/// The `junit` format.
#[derive(Debug)]
pub struct Junit {
    paths: Paths,
}

impl Junit {
    /// With paths relative to the working folder.
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }

    /// One test case for all findings of one rule.
    fn case(&self, suite: &str, checked: &Checked, reports: &Reports<'_>) -> Case {
        let Reports { code, findings } = reports;
        let [errors, warnings] = [Level::Error, Level::Warning].map(|level| {
            findings.iter().copied().filter(|finding| finding.level == level).collect::<Vec<_>>()
        });
        let mut case = Case::passed(suite, code);
        if let Some(first) = errors.first() {
            case.has_failed = true;
            let more = match errors.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            let message = attribute(&format!("{}{more}", first.message));
            let text = self.listing(checked, &errors);
            case.push(format_args!(
                "      <failure type=\"{code}\" message=\"{message}\">{text}</failure>\n"
            ));
        }
        if !warnings.is_empty() {
            let text = self.listing(checked, &warnings);
            case.push(format_args!("      <system-out>{text}</system-out>\n"));
        }
        case
    }

    /// Place, message and hint of each finding, escaped.
    fn listing(&self, checked: &Checked, findings: &[&Finding]) -> String {
        let mut out = String::new();
        for finding in findings {
            let path = from_working_folder(&self.paths, &target(checked, finding));
            escape(&path, Within::Text, &mut out);
            if let Some(Region { start, .. }) = Region::marked(checked, finding) {
                push(&mut out, format_args!(":{}:{}", start.line, start.column));
            }
            push(&mut out, format_args!(": {}: ", finding.level.as_str()));
            escape(&finding.message, Within::Text, &mut out);
            out.push('\n');
            if let Some(hint) = &finding.hint {
                out.push_str("hint: ");
                escape(hint, Within::Text, &mut out);
                out.push('\n');
            }
        }
        out
    }
}

impl Renderer for Junit {
    fn open(&self, _: Scope) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"skillgauge validate\">\n"
            .to_owned()
    }

    fn skill(&self, checked: &Checked, _: Scope, _: Detail) -> String {
        let suite = attribute(&from_working_folder(&self.paths, &checked.skill.path));
        let mut cases: Vec<Case> = by_rule(&checked.findings)
            .iter()
            .map(|reports| self.case(&suite, checked, reports))
            .collect();
        if checked.is_valid() {
            cases.insert(0, Case::passed(&suite, "valid"));
        }
        let failures = cases.iter().filter(|case| case.has_failed).count();
        let mut out = String::new();
        push(
            &mut out,
            format_args!(
                "  <testsuite name=\"{suite}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\">\n",
                cases.len()
            ),
        );
        for case in cases {
            case.finish(&mut out);
        }
        out.push_str("  </testsuite>\n");
        out
    }

    fn close(&self, _: &Totals, _: Scope) -> String {
        "</testsuites>\n".to_owned()
    }
}

/// A test case as far as it is written.
struct Case {
    start: String,
    body: String,
    has_failed: bool,
}

impl Case {
    /// `suite` is escaped already; names are codes and need no escape.
    fn passed(suite: &str, name: &str) -> Self {
        let start = format!("    <testcase classname=\"{suite}\" name=\"{name}\"");
        Self { start, body: String::new(), has_failed: false }
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        push(&mut self.body, text);
    }

    fn finish(self, out: &mut String) {
        out.push_str(&self.start);
        if self.body.is_empty() {
            out.push_str("/>\n");
        } else {
            out.push_str(">\n");
            out.push_str(&self.body);
            out.push_str("    </testcase>\n");
        }
    }
}

/// What one rule reported in a skill.
struct Reports<'a> {
    code: &'static str,
    findings: Vec<&'a Finding>,
}

/// The findings of each rule together, in the order in which the rules first report.
fn by_rule(findings: &[Finding]) -> Vec<Reports<'_>> {
    let mut reports: Vec<Reports<'_>> = Vec::new();
    for finding in findings {
        let code = finding.rule.code;
        match reports.iter_mut().find(|reports| reports.code == code) {
            Some(reports) => reports.findings.push(finding),
            None => reports.push(Reports { code, findings: vec![finding] }),
        }
    }
    reports
}

/// Where escaped text is put.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Attribute,
    Text,
}

pub(crate) fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, Within::Attribute, &mut out);
    out
}

/// Escapes markup. XML 1.0 has no way to write most control characters, so they are replaced by U+FFFD.
pub(crate) fn escape(text: &str, within: Within, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if within == Within::Attribute => out.push_str("&quot;"),
            // A parser turns white space of an attribute into blanks, and a bare carriage return into a line
            // feed, unless it is written as a reference.
            '\t' | '\n' if within == Within::Attribute => push_reference(c, out),
            '\r' => push_reference(c, out),
            '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
        }
    }
}

fn push_reference(c: char, out: &mut String) {
    push(out, format_args!("&#{};", u32::from(c)));
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        let mut out = String::new();
        escape(text, Within::Text, &mut out);
        out
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(text("a ]]> <b> & \"c\""), "a ]]&gt; &lt;b&gt; &amp; \"c\"");
        assert_eq!(attribute("\"a\"\n\t\r"), "&quot;a&quot;&#10;&#9;&#13;");
    }

    #[test]
    fn characters_that_xml_has_no_way_to_write_are_replaced() {
        assert_eq!(text("a\0b\u{1b}c\u{fffe}d\u{ffff}"), "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}");
        assert_eq!(text("\t\n é\u{7f}\u{fffd}😀"), "\t\n é\u{7f}\u{fffd}😀");
    }
}
