//! Findings of `skillgauge lint-evals`: as text for people, as JSON, as annotations for GitHub.
//!
//! Invariant: one finding is one line of the `github` format, whatever the suite contains.

use std::fmt::Write as _;

use skillgauge_format::{Extra, FindingLevel, LintReport, LintSummary, ReportedLint, write};

use super::github::{Part, escape, push_region};
use super::place::{Region, from_working_folder};
use super::snippet::{Drawing, draw};
use super::{Paths, Style};
use crate::finding::Level;
use crate::suite_lint::{LintFile, LintFinding, LintOutcome};
use crate::text::plural;
use crate::text::printable;

/// Each finding with the line that it is about, and a summary.
pub fn text(linted: &LintOutcome, style: Style) -> String {
    let mut out = String::new();
    for finding in &linted.findings {
        out.push_str(&drawn(finding, &linted.files[finding.file], style));
    }
    if linted.omitted > 0 {
        let _ = writeln!(out, "and {} more findings\n", linted.omitted);
    }
    for note in &linted.notes {
        let _ = writeln!(out, "note: {}", printable(note));
    }
    out.push_str(&summary(linted));
    if !linted.findings.is_empty() {
        out.push_str("`skillgauge explain CODE` tells more about a finding\n");
    }
    out
}

/// `12 cases, 20 queries: 1 error, 2 warnings`.
fn summary(linted: &LintOutcome) -> String {
    let what = match (linted.cases, linted.queries) {
        (cases, 0) => plural(cases, "case"),
        (0, queries) => queries_of(queries),
        (cases, queries) => format!("{}, {}", plural(cases, "case"), queries_of(queries)),
    };
    let verdict = match (linted.count(Level::Error), linted.count(Level::Warning)) {
        (0, 0) => "no findings".to_owned(),
        (0, warnings) => plural(warnings, "warning"),
        (errors, 0) => plural(errors, "error"),
        (errors, warnings) => {
            format!("{}, {}", plural(errors, "error"), plural(warnings, "warning"))
        }
    };
    format!("{what}: {verdict}\n")
}

fn queries_of(count: usize) -> String {
    if count == 1 { "1 query".to_owned() } else { format!("{count} queries") }
}

fn drawn(finding: &LintFinding, file: &LintFile, style: Style) -> String {
    // Bytes that are not text cannot be shown.
    let place = str::from_utf8(&file.text).ok().map(|text| (text, finding.span));
    let path = match place {
        Some(_) => file.path.display().to_string(),
        None => format!("{}:{}:{}", file.path.display(), finding.place.line, finding.place.column),
    };
    let message = format!("{}: {}", finding.path, finding.message);
    let drawing = Drawing {
        level: finding.level,
        code: finding.code,
        message: &printable(&message),
        path: &path,
        place,
        hint: finding.hint.as_deref(),
    };
    draw(&drawing, style)
}

/// A [`LintReport`].
pub fn json(linted: &LintOutcome, paths: &Paths) -> String {
    let shown = |file: &LintFile| from_working_folder(paths, &file.path);
    let findings = linted.findings.iter().map(|finding| ReportedLint {
        file: shown(&linted.files[finding.file]),
        code: finding.code.to_owned(),
        level: match finding.level {
            Level::Error => FindingLevel::Error,
            Level::Warning => FindingLevel::Warning,
        },
        path: finding.path.to_string(),
        line: count(finding.place.line),
        column: count(finding.place.column),
        message: finding.message.clone(),
        hint: finding.hint.clone(),
        extra: Extra::new(),
    });
    let report = LintReport {
        files: linted.files.iter().map(shown).collect(),
        findings: findings.collect(),
        notes: linted.notes.clone(),
        summary: LintSummary {
            cases: count(linted.cases),
            queries: count(linted.queries),
            errors: count(linted.count(Level::Error)),
            warnings: count(linted.count(Level::Warning)),
            omitted: count(linted.omitted),
            extra: Extra::new(),
        },
        ..LintReport::default()
    };
    // Texts and numbers only: nothing here can fail to be written.
    write::to_text(&report).unwrap_or_default()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// One workflow command for each finding, and a summary.
pub fn github(linted: &LintOutcome, paths: &Paths) -> String {
    let mut out = String::new();
    for finding in &linted.findings {
        let file = &linted.files[finding.file];
        let _ = write!(out, "::{} file=", finding.level.as_str());
        escape(&from_working_folder(paths, &file.path), Part::Property, &mut out);
        match str::from_utf8(&file.text) {
            Ok(text) => push_region(Region::of(text, finding.span), &mut out),
            Err(_) => {
                let _ = write!(out, ",line={}", finding.place.line);
            }
        }
        out.push_str(",title=");
        escape(finding.code, Part::Property, &mut out);
        out.push_str("::");
        escape(&format!("{}: {}", finding.path, finding.message), Part::Message, &mut out);
        if let Some(hint) = &finding.hint {
            out.push_str("%0A");
            escape(hint, Part::Message, &mut out);
        }
        out.push('\n');
    }
    out.push_str(&summary(linted));
    out
}
