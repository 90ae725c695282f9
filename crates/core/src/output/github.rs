//! Annotations for a GitHub Actions log: one workflow command for each finding, and a summary.
//!
//! GitHub shows at most 10 annotations of each level per step, and drops the others from the page. Nothing is
//! cut here: every finding is still in the log of the step.
//!
//! Invariant: one finding is one line, whatever the skill contains, so that a skill cannot issue a command of
//! its own.

use std::fmt::Write as _;

use super::place::{Region, from_working_folder, target};
use super::{Detail, Paths, Renderer, Scope, Totals};
use crate::finding::Finding;
use crate::text::plural;
use crate::validate::Checked;

/// The `github` format.
#[derive(Debug)]
pub struct Github {
    paths: Paths,
}

impl Github {
    /// With paths relative to the working folder, which is the repository in most workflows.
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }

    fn command(&self, checked: &Checked, finding: &Finding, out: &mut String) {
        let file = from_working_folder(&self.paths, &target(checked, finding));
        out.push_str("::");
        out.push_str(finding.level.as_str());
        out.push_str(" file=");
        escape(&file, Part::Property, out);
        if let Some(region) = Region::marked(checked, finding) {
            push_region(region, out);
        }
        out.push_str(",title=");
        escape(finding.rule.code, Part::Property, out);
        out.push_str("::");
        escape(&finding.message, Part::Message, out);
        if let Some(hint) = &finding.hint {
            out.push_str("%0A");
            escape(hint, Part::Message, out);
        }
        out.push('\n');
    }
}

impl Renderer for Github {
    fn skill(&self, checked: &Checked, _: Scope, _: Detail) -> String {
        let mut out = String::new();
        for finding in &checked.findings {
            self.command(checked, finding, &mut out);
        }
        out
    }

    fn close(&self, totals: &Totals, _: Scope) -> String {
        format!(
            "{} checked, {} not valid: {}, {}\n",
            plural(totals.skills, "skill"),
            totals.invalid,
            plural(totals.errors, "error"),
            plural(totals.warnings, "warning"),
        )
    }
}

/// GitHub refuses columns when the lines differ, and takes the end line from the start when there is none.
pub(super) fn push_region(Region { start, end }: Region, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = if start.line == end.line {
        write!(out, ",line={},col={},endColumn={}", start.line, start.column, end.column)
    } else {
        write!(out, ",line={},endLine={}", start.line, end.line)
    };
}

/// The two parts of a workflow command that have their own escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Property,
    Message,
}

/// Escapes what would end the part; other control characters could still play with the log, and are replaced.
pub(crate) fn escape(text: &str, part: Part, out: &mut String) {
    for c in text.chars() {
        match c {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            ':' if part == Part::Property => out.push_str("%3A"),
            ',' if part == Part::Property => out.push_str("%2C"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    fn escaped(text: &str, part: Part) -> String {
        let mut out = String::new();
        escape(text, part, &mut out);
        out
    }

    #[test]
    fn each_part_has_its_own_escapes() {
        assert_eq!(
            escaped("100%,\r\na: b\u{1b}[0m", Part::Message),
            "100%25,%0D%0Aa: b\u{fffd}[0m"
        );
        assert_eq!(escaped("100%,\r\na:b", Part::Property), "100%25%2C%0D%0Aa%3Ab");
    }

    #[test]
    fn columns_are_given_on_one_line_only() {
        let text = "name: x\ndescription: |\n  y\n";
        let region = |start, end| {
            let mut out = String::new();
            push_region(Region::of(text, Span::new(start, end)), &mut out);
            out
        };
        assert_eq!(region(6, 7), ",line=1,col=7,endColumn=8");
        assert_eq!(region(21, 26), ",line=2,endLine=3");
    }
}
