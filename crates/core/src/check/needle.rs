//! What is looked for in a text: a text, one of several, or a regular expression.

use std::fmt;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::python_regex::{PatternError, PythonRegex, SearchError};

#[derive(Debug)]
pub(super) enum Needle {
    Texts { texts: Vec<String>, search: AhoCorasick },
    Regex(Box<PythonRegex>),
}

impl Needle {
    /// Texts of which one is enough; nothing when they are too many for the search.
    pub(super) fn texts(texts: &[String]) -> Option<Self> {
        // Texts are read as Python reads them, with one kind of line end.
        let texts: Vec<String> = texts.iter().map(|text| text.replace("\r\n", "\n")).collect();
        let search =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&texts).ok()?;
        Some(Self::Texts { texts, search })
    }

    pub(super) fn regex(pattern: &str) -> Result<Self, PatternError> {
        PythonRegex::new(pattern).map(Box::new).map(Self::Regex)
    }

    /// The first place from `start` on.
    pub(super) fn find(
        &self,
        text: &str,
        start: usize,
    ) -> Result<Option<Range<usize>>, SearchError> {
        match self {
            Self::Texts { search, .. } => {
                let input = aho_corasick::Input::new(text).range(start..);
                Ok(search.find(input).map(|found| found.range()))
            }
            Self::Regex(regex) => regex.find_from(text, start),
        }
    }
}

impl fmt::Display for Needle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Texts { texts, .. } => {
                let shown: Vec<String> =
                    texts.iter().take(5).map(|text| format!("{text:?}")).collect();
                let more = if texts.len() > 5 { ", ..." } else { "" };
                write!(f, "{}{more}", shown.join(" or "))
            }
            Self::Regex(regex) => write!(f, "/{}/", regex.as_str()),
        }
    }
}
