//! Collects the findings of one file.

use std::cell::OnceCell;

use skillgauge_format::json::{LineIndex, Node, Span as Bytes, Step};
use skillgauge_format::problem::MAX_PROBLEMS;
use skillgauge_format::{JsonPath, Level as Severity, Place, Problems};

use super::{LintFinding, LintRule};
use crate::finding::Level;
use crate::profile::Strictness;
use crate::rule::DefaultLevel;
use crate::text::Span;

/// A value in the file: where it stands and how to get there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spot {
    pub(super) path: JsonPath,
    pub(super) span: Bytes,
}

impl Spot {
    /// A member of this object.
    pub(super) fn field(&self, key: &str, node: &Node<'_>) -> Self {
        let mut steps = self.path.steps().to_vec();
        steps.push(Step::Key(key.to_owned()));
        Self { path: JsonPath::new(steps), span: node.span }
    }
}

/// The findings of one file.
pub(super) struct Report<'t> {
    text: &'t [u8],
    lines: OnceCell<LineIndex<'t>>,
    strictness: Strictness,
    findings: Vec<LintFinding>,
    own: usize,
    omitted: usize,
}

impl<'t> Report<'t> {
    pub(super) fn new(text: &'t [u8], strictness: Strictness) -> Self {
        let (lines, findings) = (OnceCell::new(), Vec::new());
        Self { text, lines, strictness, findings, own: 0, omitted: 0 }
    }

    /// Finds the way to each finding anew, for a tree that was translated: places stay, ways do not.
    pub(super) fn relocate(&mut self, root: &Node<'_>) {
        for finding in &mut self.findings {
            let span = Bytes { start: finding.span.start, end: finding.span.end };
            if let Some(path) = root.path_of(span) {
                finding.path = path;
            }
        }
    }

    /// A finding of one of our rules; nobody reads the thousandth, so further ones are counted.
    pub(super) fn add(
        &mut self,
        rule: &'static LintRule,
        spot: &Spot,
        message: String,
        hint: impl Into<Option<String>>,
    ) {
        self.own += 1;
        if self.own > MAX_PROBLEMS {
            self.omitted += 1;
            return;
        }
        let level = match (rule.level, self.strictness) {
            (DefaultLevel::Error, _) | (DefaultLevel::WarningOrStrictError, Strictness::Strict) => {
                Level::Error
            }
            (DefaultLevel::Off | DefaultLevel::Warning | DefaultLevel::WarningOrStrictError, _) => {
                Level::Warning
            }
        };
        let finding = LintFinding {
            code: rule.code,
            level,
            file: 0,
            path: spot.path.clone(),
            span: Span::new(spot.span.start, spot.span.end),
            place: self.place(spot),
            message,
            hint: hint.into(),
        };
        self.findings.push(finding);
    }

    /// Takes over what the reader of the file found.
    pub(super) fn add_problems(&mut self, problems: &Problems) {
        self.omitted += problems.omitted();
        for problem in problems {
            let level = match self.strictness {
                Strictness::Strict => problem.strict_level(),
                Strictness::Normal => problem.level(),
            };
            self.findings.push(LintFinding {
                code: problem.code(),
                level: match level {
                    Severity::Error => Level::Error,
                    Severity::Warning => Level::Warning,
                },
                file: 0,
                path: problem.path.clone(),
                span: Span::new(problem.span.start, problem.span.end),
                place: problem.place,
                message: problem.to_string(),
                hint: None,
            });
        }
    }

    /// Line and column of a value, for messages that name a second place.
    pub(super) fn place(&self, spot: &Spot) -> Place {
        self.lines.get_or_init(|| LineIndex::new(self.text)).place(spot.span.start)
    }

    /// The findings in the order of the file, and how many more there are.
    pub(super) fn finish(mut self, file: usize) -> (Vec<LintFinding>, usize) {
        for finding in &mut self.findings {
            finding.file = file;
        }
        self.findings.sort_by_key(|finding| finding.span.start);
        (self.findings, self.omitted)
    }
}
