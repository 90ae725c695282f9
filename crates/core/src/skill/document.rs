//! Reads a SKILL.md: bytes to text, front matter and body, whatever the file contains.

use std::cell::OnceCell;
use std::io::Read as _;
use std::path::Path;

use super::front_matter::{self, FrontMatter, Parts};
use super::markdown::Markdown;
use super::trace::{Trace, traces};
use crate::text::Span;
use crate::yaml::{Entry, Mapping};

/// The largest SKILL.md that is read. The largest public ones have some hundred kilobytes.
pub const MAX_BYTES: u64 = 8 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The name that every agent looks for.
pub const SKILL_MD: &str = "SKILL.md";

/// A SKILL.md that could be read.
#[derive(Debug)]
pub struct Document {
    /// The text without a byte order mark; bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
    /// Whether a byte order mark came first.
    pub byte_order_mark: bool,
    /// The first byte that is not UTF-8.
    pub not_utf8_at: Option<usize>,
    pub parts: Parts,
    markdown: OnceCell<Markdown>,
    traces: OnceCell<Vec<Trace>>,
}

/// Why a SKILL.md could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// Bigger than any SKILL.md should be.
    #[error("has {size} bytes; SKILL.md files over {limit} bytes are not read")]
    TooLarge { size: u64, limit: u64 },
    /// A folder, a pipe, a device.
    #[error("is not a regular file")]
    NotFile,
}

impl Document {
    /// Reads the file at `path`, which must be a regular file or a link to one.
    pub fn read(path: &Path) -> Result<Self, DocumentError> {
        let mut file = fs_err::File::open(path)?;
        let mut bytes = Vec::new();
        file.by_ref().take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            let size = file.metadata()?.len();
            return Err(DocumentError::TooLarge { size, limit: MAX_BYTES });
        }
        Ok(Self::from_bytes(&bytes))
    }

    /// The document that these bytes make.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let rest = bytes.strip_prefix(BYTE_ORDER_MARK);
        let (text, not_utf8_at) = match str::from_utf8(rest.unwrap_or(bytes)) {
            Ok(text) => (text.to_owned(), None),
            Err(error) => {
                let text = String::from_utf8_lossy(rest.unwrap_or(bytes)).into_owned();
                (text, Some(error.valid_up_to()))
            }
        };
        Self::new(text, rest.is_some(), not_utf8_at)
    }

    fn new(text: String, byte_order_mark: bool, not_utf8_at: Option<usize>) -> Self {
        let parts = front_matter::split(&text);
        Self {
            text,
            byte_order_mark,
            not_utf8_at,
            parts,
            markdown: OnceCell::new(),
            traces: OnceCell::new(),
        }
    }

    /// The front matter's mapping, when it has one.
    pub fn mapping(&self) -> Option<&Mapping> {
        match &self.parts.front_matter {
            FrontMatter::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// Key and value of a front matter key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.mapping()?.entry(key)
    }

    pub fn body(&self) -> &str {
        self.parts.body.slice(&self.text)
    }

    /// Rare pieces of text that rules look for, found in one pass on first use.
    pub fn traces(&self) -> &[Trace] {
        self.traces.get_or_init(|| traces(&self.text))
    }

    /// The body parsed as Markdown, on first use, once for all rules.
    pub fn markdown(&self) -> &Markdown {
        self.markdown.get_or_init(|| Markdown::parse(self.body(), self.parts.body.start))
    }

    /// The front matter's YAML.
    pub fn yaml(&self) -> &str {
        self.parts.yaml.slice(&self.text)
    }

    /// The first line of the text, for findings about the file as a whole.
    pub fn first_line(&self) -> Span {
        crate::text::lines(&self.text).next().map_or(Span::at(0), |(span, _)| span)
    }
}
