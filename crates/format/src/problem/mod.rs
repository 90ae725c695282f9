//! What is wrong with a file, as data.
//!
//! A [`Problem`] says what, where and how bad; its `Display` is one sentence, and the caller adds the file and renders
//! the rest (text with a caret, JSON, SARIF). The three sources of problems have an enumeration each: the grammar of
//! JSON ([`SyntaxIssue`]), the schema of the file kind ([`ShapeIssue`]) and the rules that no schema can say
//! ([`MeaningIssue`]).
//!
//! The invariant: the level of a problem follows from its issue alone, so that the same mistake is never an error in
//! one file kind and a warning in another.

mod at;
mod meaning;
mod report;
mod shape;

pub use at::At;
pub use meaning::{ExpectedKind, IdKind, MeaningIssue};
pub use report::{MAX_PROBLEMS, Problems, Report};
pub use shape::{Because, ShapeIssue, Similar};

use std::fmt;

use serde::{Serialize, Serializer};

use crate::json::{JsonPath, Place, Span, SyntaxIssue};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The file can be used, but its author should look at this.
    Warning,
    /// The file cannot be used.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The value that is wrong, or the object that misses something.
    pub path: JsonPath,
    /// The bytes to point at.
    pub span: Span,
    /// Where the span starts, in lines and columns.
    pub place: Place,
    /// What is wrong.
    pub issue: Issue,
}

/// What is wrong, by who found it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Issue {
    /// The text is not JSON, or more of it than we read.
    #[error(transparent)]
    Syntax(#[from] SyntaxIssue),
    /// The JSON does not have the shape of its kind of file.
    #[error(transparent)]
    Shape(#[from] ShapeIssue),
    /// The shape is right and the content makes no sense.
    #[error(transparent)]
    Meaning(#[from] MeaningIssue),
    /// The schema accepts what the type does not: a mistake of skillgauge, reported rather than hidden.
    #[error("the file fits its schema but cannot be read ({0}); please report this")]
    Unreadable(String),
}

impl Issue {
    /// A stable name in kebab-case for the kind of problem, to filter and to document.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax(issue) => issue.code(),
            Self::Shape(issue) => issue.code(),
            Self::Meaning(issue) => issue.code(),
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// How bad this is.
    pub fn level(&self) -> Level {
        match self {
            Self::Syntax(_) | Self::Unreadable(_) => Level::Error,
            Self::Shape(issue) => issue.level(),
            Self::Meaning(issue) => issue.level(),
        }
    }
}

impl Problem {
    /// How bad it is.
    pub fn level(&self) -> Level {
        self.issue.level()
    }

    /// How bad it is under `--strict`: a vague criterion is an error there, other warnings stay warnings.
    pub fn strict_level(&self) -> Level {
        match &self.issue {
            Issue::Meaning(MeaningIssue::Vague { .. }) => Level::Error,
            issue => issue.level(),
        }
    }

    /// The stable name of this kind of problem.
    pub fn code(&self) -> &'static str {
        self.issue.code()
    }

    /// The other place that this problem is about, for problems of two places.
    pub fn related(&self) -> Option<Place> {
        match &self.issue {
            Issue::Shape(ShapeIssue::DuplicateKey { first, .. })
            | Issue::Meaning(
                MeaningIssue::ConflictingLabels { first, .. }
                | MeaningIssue::RepeatedQuery { first, .. }
                | MeaningIssue::DuplicateId { first, .. },
            ) => Some(*first),
            Issue::Syntax(SyntaxIssue::Truncated { opened, .. }) => Some(*opened),
            Issue::Syntax(_) | Issue::Shape(_) | Issue::Meaning(_) | Issue::Unreadable(_) => None,
        }
    }

    /// The sentence with its place in front: `4:12: $.cases[0].id: expected a string, found null`.
    pub fn with_place(&self) -> WithPlace<'_> {
        WithPlace(self)
    }
}

/// One sentence without place, level or final period.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.issue.fmt(f)
    }
}

/// A problem in the usual form of compilers, see [`Problem::with_place`].
#[derive(Clone, Copy, Debug)]
pub struct WithPlace<'p>(&'p Problem);

impl fmt::Display for WithPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { path, place: Place { line, column }, issue, .. } = self.0;
        write!(f, "{line}:{column}: {path}: {issue}")
    }
}

/// For machines: `{path, line, column, level, code, message}`.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'p> {
            path: &'p JsonPath,
            line: usize,
            column: usize,
            level: Level,
            code: &'static str,
            message: String,
        }
        let Place { line, column } = self.place;
        Flat {
            path: &self.path,
            line,
            column,
            level: self.level(),
            code: self.code(),
            message: self.to_string(),
        }
        .serialize(serializer)
    }
}
