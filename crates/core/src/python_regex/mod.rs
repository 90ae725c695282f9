//! Regular expressions as Python's `re.search` understands them.
//!
//! A pattern is read as Python reads it ([`parse`](self::parse)), and written anew for a Rust engine ([`translate`]): linear where the
//! pattern allows it, with bounded backtracking where it has look-around or references. The table
//! `testdata/python_regex.json`, whose answers come from Python, holds both to each other.
//!
//! The invariant: a pattern either means what it means in Python 3.11, or it is refused with the place and the reason.
//! One difference is known: what a *group* holds after a repetition whose last round was empty, as in `(a|b*)*`.

mod ecma;
mod error;
mod parse;
mod translate;
mod tree;

pub use error::{PatternError, SearchError};

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use fancy_regex::{Regex, RegexBuilder};
use parse::Parsed;
use translate::{Texts, WORD, translate};
use tree::Flags;

/// Steps back that a search may take in a text up to [`SMALL`] bytes.
const SMALL_LIMIT: usize = 1_000_000;
/// Steps back that a search may take in a larger text: there each position may cost some.
const LARGE_LIMIT: usize = 64_000_000;
/// From this length on a text is large.
const SMALL: usize = 64 << 10;
/// The largest automaton that a pattern may become.
const MOST_BYTES: usize = 16 << 20;
/// A longer pattern is refused.
const LONGEST: usize = 32 << 10;

/// Characters that are part of a word for the engine and not for Python, or the other way round.
static DIFFERENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"[\w~~[{WORD}]]")).ok());

/// A regular expression with Python's meaning.
#[derive(Debug)]
pub struct PythonRegex {
    source: String,
    names: Vec<Option<String>>,
    exact: Engine,
    /// For texts in which words are the same for both; absent when it makes no difference.
    plain: Option<Engine>,
}

impl PythonRegex {
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        if pattern.len() > LONGEST {
            return Err(PatternError::Engine { reason: format!("more than {LONGEST} bytes") });
        }
        Self::from_parsed(pattern, &parse::parse(pattern)?)
    }

    /// Reads the pattern of a JSON Schema: what ECMA-262 and Python write alike, with ECMA-262's meaning.
    pub(crate) fn for_json_schema(pattern: &str) -> Result<Self, PatternError> {
        ecma::check(pattern)?;
        let mut parsed = parse::parse(pattern)?;
        parsed.flags = parsed.flags.with(Flags::ASCII).with(Flags::ECMA);
        Self::from_parsed(pattern, &parsed)
    }

    fn from_parsed(pattern: &str, parsed: &Parsed) -> Result<Self, PatternError> {
        let exact = translate(parsed, Texts::All)?;
        let plain = if exact.has_boundary {
            Some(Engine::new(translate(parsed, Texts::Plain)?.pattern)?)
        } else {
            None
        };
        let exact = Engine::new(exact.pattern)?;
        Ok(Self { source: pattern.to_owned(), names: parsed.names.clone(), exact, plain })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The name of each group, the whole match first.
    pub fn group_names(&self) -> &[Option<String>] {
        &self.names
    }

    /// Whether the pattern matches somewhere.
    pub fn is_match(&self, text: &str) -> Result<bool, SearchError> {
        self.find_from(text, 0).map(|found| found.is_some())
    }

    /// The first match that begins at `start` or later, as a range of bytes; `start` must be at a character.
    pub fn find_from(&self, text: &str, start: usize) -> Result<Option<Range<usize>>, SearchError> {
        let found = self.engine(text).for_length(text.len()).find_from_pos(text, start);
        let found = found.map_err(|_| SearchError { bytes: text.len() })?;
        Ok(found.map(|found| found.start()..found.end()))
    }

    /// The first match with all its groups, the whole match first.
    pub fn groups(&self, text: &str) -> Result<Option<Vec<Option<Range<usize>>>>, SearchError> {
        let found = self.engine(text).for_length(text.len()).captures(text);
        let found = found.map_err(|_| SearchError { bytes: text.len() })?;
        Ok(found.map(|found| {
            let range = |number| found.get(number).map(|group| group.start()..group.end());
            (0..self.names.len()).map(range).collect()
        }))
    }

    fn engine(&self, text: &str) -> &Engine {
        let is_plain = || {
            text.is_ascii()
                || DIFFERENT.as_ref().is_some_and(|regex| matches!(regex.is_match(text), Ok(false)))
        };
        self.plain.as_ref().filter(|_| is_plain()).unwrap_or(&self.exact)
    }
}

/// A compiled pattern, for small and for large texts.
#[derive(Debug)]
struct Engine {
    pattern: String,
    small: Regex,
    large: OnceLock<Regex>,
}

impl Engine {
    fn new(pattern: String) -> Result<Self, PatternError> {
        let small = build(&pattern, SMALL_LIMIT)
            .map_err(|error| PatternError::Engine { reason: error.to_string() })?;
        Ok(Self { pattern, small, large: OnceLock::new() })
    }

    fn for_length(&self, length: usize) -> &Regex {
        if length <= SMALL {
            return &self.small;
        }
        // The same pattern has been built before, so that the other branch is never taken.
        self.large.get_or_init(|| {
            build(&self.pattern, LARGE_LIMIT).unwrap_or_else(|_| self.small.clone())
        })
    }
}

fn build(pattern: &str, limit: usize) -> fancy_regex::Result<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.backtrack_limit(limit).delegate_size_limit(MOST_BYTES);
    builder.build()
}

#[cfg(test)]
mod tests;
