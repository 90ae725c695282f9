//! Where a file differs from the schema of its kind.

use std::fmt;

use super::Level;
use crate::json::Place;

/// A difference between a file and its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeIssue {
    /// A value of the wrong type, or outside of its range, or not one of the values that a field can have.
    Mismatch {
        /// What could stand here: `a boolean`, `an integer from 1 to 5`.
        expected: String,
        /// What stands here: `the string "yes"`.
        found: String,
        /// What to write instead, when that can be guessed.
        hint: Option<String>,
    },
    /// A field that must be there and is not.
    MissingField {
        /// Its name.
        field: String,
        /// A field that is there and looks like a misspelling of it.
        similar: Option<Similar>,
        /// What makes it necessary, when another value does.
        because: Option<Because>,
    },
    /// None of several fields is there, and one must be.
    MissingChoice {
        /// Their names.
        fields: Vec<String>,
        /// A field that is there and looks like a misspelling of one of them.
        similar: Option<Similar>,
        /// What makes one necessary, when another value does.
        because: Option<Because>,
    },
    /// Several fields are there that exclude each other.
    ExclusiveFields {
        /// The names of those that are there.
        fields: Vec<String>,
    },
    /// A field that nobody reads and that looks like a misspelling of one that somebody would.
    UnknownField {
        /// Its name, and what it could be.
        similar: Similar,
    },
    /// A key that its object already has.
    DuplicateKey {
        /// The key.
        key: String,
        /// Where it stands for the first time.
        first: Place,
    },
    /// A time that is not written as RFC 3339 says.
    NotATime {
        /// What stands there.
        found: String,
    },
}

/// A value that makes a field necessary: `type` is `"file_exists"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because {
    /// The field with the value.
    pub field: String,
    /// The value.
    pub value: String,
}

/// A name that is there, and the one that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Similar {
    /// The name that is there.
    pub found: String,
    /// The name that we know.
    pub meant: String,
}

impl ShapeIssue {
    /// The stable name of this kind of problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Mismatch { .. } => "mismatch",
            Self::MissingField { .. } | Self::MissingChoice { .. } => "missing-field",
            Self::ExclusiveFields { .. } => "exclusive-fields",
            Self::UnknownField { .. } => "unknown-field",
            Self::DuplicateKey { .. } => "duplicate-key",
            Self::NotATime { .. } => "not-a-time",
        }
    }

    /// How bad this is: a field that we do not know may be somebody else's, and times are only shown.
    pub fn level(&self) -> Level {
        match self {
            Self::UnknownField { .. } | Self::NotATime { .. } => Level::Warning,
            Self::Mismatch { .. }
            | Self::MissingField { .. }
            | Self::MissingChoice { .. }
            | Self::ExclusiveFields { .. }
            | Self::DuplicateKey { .. } => Level::Error,
        }
    }
}

impl std::error::Error for ShapeIssue {}

impl fmt::Display for ShapeIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch { expected, found, hint } => {
                write!(f, "expected {expected}, found {found}")?;
                match hint {
                    Some(hint) => write!(f, "; {hint}"),
                    None => Ok(()),
                }
            }
            Self::MissingField { field, similar, because } => {
                write!(f, "missing field `{field}`")?;
                reason(f, because.as_ref())?;
                rename(f, similar.as_ref())
            }
            Self::MissingChoice { fields, similar, because } => {
                write!(f, "missing one of the fields {}", Listed(fields, "or"))?;
                reason(f, because.as_ref())?;
                rename(f, similar.as_ref())
            }
            Self::ExclusiveFields { fields } => {
                write!(f, "the fields {} exclude each other; keep one", Listed(fields, "and"))
            }
            Self::UnknownField { similar: Similar { found, meant } } => {
                write!(f, "unknown field `{found}`; did you mean `{meant}`?")
            }
            Self::DuplicateKey { key, first } => {
                write!(f, "the key `{key}` is there twice, first at {first}")
            }
            Self::NotATime { found } => {
                write!(f, "expected a time such as \"2026-02-22T20:00:00Z\", found {found}")
            }
        }
    }
}

fn reason(f: &mut fmt::Formatter<'_>, because: Option<&Because>) -> fmt::Result {
    match because {
        Some(Because { field, value }) => write!(f, ", needed when `{field}` is \"{value}\""),
        None => Ok(()),
    }
}

fn rename(f: &mut fmt::Formatter<'_>, similar: Option<&Similar>) -> fmt::Result {
    match similar {
        Some(Similar { found, meant }) => write!(f, "; found `{found}`, did you mean `{meant}`?"),
        None => Ok(()),
    }
}

/// Names in backticks with a word before the last.
struct Listed<'l>(&'l [String], &'static str);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(names, word) = self;
        for (number, name) in names.iter().enumerate() {
            match number {
                0 => {}
                last if last + 1 == names.len() => write!(f, " {word} ")?,
                _ => f.write_str(", ")?,
            }
            write!(f, "`{name}`")?;
        }
        Ok(())
    }
}
