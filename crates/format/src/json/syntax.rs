//! What can be wrong with a text that should be JSON.
//!
//! After the first of these nothing in the file is sure any more, so a file has at most one. The texts name the
//! mistake that people make, not the token that the parser wanted: most broken files were written by hand, by a Python
//! `print`, or by a model that added a comment.

use std::fmt;

use super::{JsonPath, LIMITS, Place, Span};

/// The first violation of JSON's grammar, or of our limits, in a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {issue}")]
pub struct SyntaxError {
    /// Where it is.
    pub span: Span,
    /// Where that starts, in lines and columns.
    pub place: Place,
    /// The value that was being read.
    pub path: JsonPath,
    /// What is wrong.
    pub issue: SyntaxIssue,
}

/// The things that can be open when a file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// `{ ... }`
    Object,
    /// `[ ... ]`
    Array,
    /// `" ... "`
    String,
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
        })
    }
}

/// A violation of JSON's grammar or of our limits.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SyntaxIssue {
    /// The file is larger than we read.
    #[error("the file has {size} bytes ({} MiB), the limit is {} MiB", in_mebibytes(*size), in_mebibytes(*limit))]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The largest size that is read.
        limit: u64,
    },
    /// The file has more values than we keep in memory.
    #[error("the file has more than {} values, the limit", LIMITS.values)]
    TooManyValues,
    /// Arrays and objects lie too deep inside each other.
    #[error("arrays and objects are nested deeper than {} levels, the limit", LIMITS.depth)]
    TooDeep,
    /// Nothing but white space.
    #[error("the file is empty")]
    Empty,
    /// A byte that UTF-8 does not have.
    #[error("the byte 0x{byte:02X} is not valid UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// The first byte that does not fit.
        byte: u8,
    },
    /// A byte order mark of UTF-16, as some Windows programs write it.
    #[error("the file is encoded as UTF-16; save it as UTF-8")]
    Utf16,
    /// The text ends too early.
    #[error("the file ends inside the {inside} that starts at {opened}")]
    Truncated {
        /// What is still open.
        inside: Container,
        /// Where it was opened.
        opened: Place,
    },
    /// There is more than one value in the file.
    #[error("expected the end of the file after the value, found {found}")]
    TextAfterValue {
        /// What follows.
        found: Found,
    },
    /// Something that cannot stand here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What could stand here.
        expected: &'static str,
        /// What does.
        found: Found,
    },
    /// A comma with nothing behind it.
    #[error("trailing comma in the {inside}; remove it")]
    TrailingComma {
        /// What it stands in.
        inside: Container,
    },
    /// `//`, `/*` or `#`.
    #[error("JSON has no comments; remove it, or keep the note in a field of its own")]
    Comment,
    /// A string in single or typographic quotes.
    #[error("strings and keys need straight double quotes, found `{quote}`")]
    WrongQuote {
        /// The quote that was used.
        quote: char,
    },
    /// A key without quotes.
    #[error("the key `{key}` needs double quotes")]
    UnquotedKey {
        /// The key as far as it looks like one word.
        key: String,
    },
    /// A word that some other language has for a value.
    #[error("`{word}` is not JSON; write {instead}")]
    ForeignWord {
        /// The word.
        word: String,
        /// What JSON has for it.
        instead: &'static str,
    },
    /// A word that means nothing.
    #[error("`{word}` is not a JSON value; a string needs double quotes")]
    UnknownWord {
        /// The word.
        word: String,
    },
    /// Digits that do not make a JSON number.
    #[error("`{text}` is not a JSON number: {reason}")]
    BadNumber {
        /// The number as written, cut when it is long.
        text: String,
        /// What JSON does not allow.
        reason: &'static str,
    },
    /// An escape that JSON does not have.
    #[error("`{escape}` is not an escape of JSON; a backslash itself is written `\\\\`")]
    BadEscape {
        /// The backslash and what follows it.
        escape: String,
    },
    /// One half of a pair of `\u` escapes.
    #[error("`{escape}` is one half of a surrogate pair, and the other half is missing")]
    LoneSurrogate {
        /// The escape.
        escape: String,
    },
    /// A line break or another control character in a string.
    #[error("a string cannot hold {} as it is; write `{}`", control_name(*code), control_escape(*code))]
    ControlCharacter {
        /// Its code.
        code: u8,
    },
}

/// What stands at a place where something else was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A character.
    Character(char),
    /// Nothing more.
    End,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character('"') => f.write_str("a string"),
            Self::Character(character) if character.is_control() => {
                write!(f, "the character U+{:04X}", u32::from(*character))
            }
            Self::Character(character) => write!(f, "`{character}`"),
            Self::End => f.write_str("the end of the file"),
        }
    }
}

impl SyntaxIssue {
    /// The stable name of this kind of problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too-large",
            Self::TooManyValues => "too-many-values",
            Self::TooDeep => "too-deep",
            Self::Empty => "empty-file",
            Self::NotUtf8 { .. } | Self::Utf16 => "not-utf8",
            Self::Truncated { .. } => "truncated",
            Self::TextAfterValue { .. }
            | Self::Unexpected { .. }
            | Self::TrailingComma { .. }
            | Self::Comment
            | Self::WrongQuote { .. }
            | Self::UnquotedKey { .. }
            | Self::ForeignWord { .. }
            | Self::UnknownWord { .. }
            | Self::BadNumber { .. }
            | Self::BadEscape { .. }
            | Self::LoneSurrogate { .. }
            | Self::ControlCharacter { .. } => "syntax",
        }
    }
}

/// Whole mebibytes, rounded up, so that a file just above the limit does not look like one at the limit.
fn in_mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1024 * 1024)
}

fn control_name(code: u8) -> String {
    match code {
        b'\n' | b'\r' => "a line break".to_owned(),
        b'\t' => "a tab".to_owned(),
        _ => format!("the control character U+{code:04X}"),
    }
}

fn control_escape(code: u8) -> String {
    match code {
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        _ => format!("\\u{code:04x}"),
    }
}
