//! What was found, as data.

use std::path::PathBuf;

use skillgauge_format::{JsonPath, Place};

use crate::finding::Level;
use crate::text::Span;

/// One problem of a suite or a trigger set.
#[derive(Clone, Debug, PartialEq)]
pub struct LintFinding {
    /// The code of its [`LintRule`](super::LintRule).
    pub code: &'static str,
    pub level: Level,
    /// Which of the files it is in, counted from 0.
    pub file: usize,
    /// The value that it is about.
    pub path: JsonPath,
    /// The bytes of that value.
    pub span: Span,
    pub place: Place,
    /// What is wrong, in one sentence without a period.
    pub message: String,
    pub hint: Option<String>,
}

/// A file that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFile {
    /// As it was given or found.
    pub path: PathBuf,
    pub text: Vec<u8>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LintOutcome {
    pub files: Vec<LintFile>,
    /// The findings, by file and place.
    pub findings: Vec<LintFinding>,
    /// How many more there are than were kept.
    pub omitted: usize,
    /// How many cases there are.
    pub cases: usize,
    /// How many queries there are.
    pub queries: usize,
    /// What else a reader should know, in whole sentences without a period.
    pub notes: Vec<String>,
}

impl LintOutcome {
    /// How many findings of that level were kept.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}
