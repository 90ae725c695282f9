//! What is said of a suite before it is used: every problem with its file, line, column and path.

use std::path::Path;

use skillgauge_core::finding::Level;
use skillgauge_core::suite_lint::{ExaminationResult, LintFinding};
use skillgauge_format::Suite;

use crate::Printer;
use crate::error::CommandError;

/// The code of a check that cannot work.
const BAD_CHECK: &str = "bad-check";
/// The code of an input file that cannot be used.
const MISSING_INPUT: &str = "missing-input";
/// The code of a case that nothing can be said about.
const NOTHING_TO_GRADE: &str = "nothing-to-grade";

/// Says what the author should look at all the same.
pub(crate) fn say_warnings(path: &Path, examined: &ExaminationResult, printer: &Printer) {
    for finding in examined.findings.iter().filter(|finding| finding.level == Level::Warning) {
        printer.say(&format!("warning: {}", line(path, finding)));
    }
}

/// The suite, or everything that stands against it at once.
pub(crate) fn usable(path: &Path, examined: ExaminationResult) -> Result<Suite, CommandError> {
    let ExaminationResult { suite, findings, omitted } = examined;
    if let Some(suite) = suite {
        return Ok(suite);
    }
    let errors = findings.iter().filter(|finding| finding.level == Level::Error);
    let mut lines: Vec<String> = errors.clone().map(|finding| line(path, finding)).collect();
    if omitted > 0 {
        lines.push(format!("and {omitted} more"));
    }
    let all = |code: &str| errors.clone().all(|finding| finding.code == code);
    let hint = if all(BAD_CHECK) {
        "docs/checks.md has the types of checks and their fields"
    } else if all(MISSING_INPUT) || all(NOTHING_TO_GRADE) {
        "nothing was run; put it right and try again"
    } else {
        "`skillgauge schema evals-suite` tells what a suite looks like"
    };
    Err(CommandError::usage(lines.join("\n"), hint))
}

pub(crate) fn line(path: &Path, finding: &LintFinding) -> String {
    let LintFinding { place, path: way, message, hint, .. } = finding;
    let (line, column) = (place.line, place.column);
    let hint = hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{}:{line}:{column}: {way}: {message}{hint}", path.display())
}
