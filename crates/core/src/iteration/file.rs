//! Reads the JSON files of a run: bounded, and never through a link that an agent may have left.

use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use skillgauge_format::LIMITS;
use skillgauge_format::json::{self, Node, Number};

/// What became of reading a file.
pub(super) enum Found<T> {
    Value(T),
    Missing,
    /// It is there and cannot be used; why.
    Unusable(String),
}

impl Found<Vec<u8>> {
    pub(super) fn parse<T>(self, parse: impl FnOnce(&Node<'_>) -> Result<T, String>) -> Found<T> {
        match self {
            Self::Missing => Found::Missing,
            Self::Unusable(reason) => Found::Unusable(reason),
            Self::Value(bytes) => {
                let document = json::parse(&bytes).map_err(|error| error.to_string());
                match document.and_then(|document| parse(&document.root)) {
                    Ok(value) => Found::Value(value),
                    Err(reason) => Found::Unusable(reason),
                }
            }
        }
    }
}

pub(super) fn read(path: &Path) -> Found<Vec<u8>> {
    // Whoever made the folder may want a file of somebody else in a report.
    if fs_err::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Found::Unusable("a link; links are not followed".to_owned());
    }
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Missing,
        Err(error) => return Found::Unusable(error.to_string()),
    };
    let size = match file.metadata() {
        Ok(metadata) if !metadata.is_file() => return Found::Unusable("not a file".to_owned()),
        Ok(metadata) => metadata.len(),
        Err(error) => return Found::Unusable(error.to_string()),
    };
    if let Err(issue) = LIMITS.check_size(size) {
        return Found::Unusable(issue.to_string());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // The file may grow meanwhile; what is too large then is no JSON that we read.
    match file.by_ref().take(LIMITS.bytes as u64).read_to_end(&mut bytes) {
        Ok(_) => Found::Value(bytes),
        Err(error) => Found::Unusable(error.to_string()),
    }
}

/// Reads a file in a folder that an agent wrote: only if it is a plain file, not a link or a pipe.
pub(super) fn read_output(path: &Path) -> Found<Vec<u8>> {
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => read(path),
        _ => Found::Missing,
    }
}

/// The last line of a file, without the ones before it being read; a line longer than 4 MB is none.
pub(super) fn last_line(path: &Path) -> Option<Vec<u8>> {
    for most in [16 * 1024, 4 * 1024 * 1024] {
        let mut file = File::open(path).ok()?;
        let size = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(most))).ok()?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).ok()?;
        let text = bytes.trim_ascii_end();
        if let Some(newline) = memchr::memrchr(b'\n', text) {
            return Some(text[newline + 1..].to_vec());
        }
        if size < most {
            return None;
        }
    }
    None
}

/// The first line of a file, up to 16 KB.
pub(super) fn first_line(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let mut line = Vec::new();
    io::BufReader::new(file).take(16 * 1024).read_until(b'\n', &mut line).ok()?;
    Some(line)
}

/// An amount that a field has; negative ones and those that are no numbers are none.
pub(super) fn amount(node: Option<&Node<'_>>, key: &str) -> Option<Number> {
    let number = node?.get(key)?.as_number()?;
    (number.as_f64().is_finite() && number.as_f64() >= 0.0).then_some(number)
}

/// A count that a field has.
pub(super) fn whole(node: Option<&Node<'_>>, key: &str) -> Option<u64> {
    match amount(node, key)? {
        Number::Unsigned(count) => Some(count),
        other if other.is_integer() && other.as_f64() < 9e15 =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, positive and below 2^53"
            )]
            Some(other.as_f64() as u64)
        }
        _ => None,
    }
}

/// A text that a field has; an empty one is none.
pub(super) fn words<'n>(node: &'n Node<'_>, key: &str) -> Option<&'n str> {
    node.get(key)?.as_str().filter(|text| !text.trim().is_empty())
}

/// [`words`] to keep.
pub(super) fn text(node: &Node<'_>, key: &str) -> Option<String> {
    words(node, key).map(str::to_owned)
}
