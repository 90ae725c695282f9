//! `transcript.jsonl`: the header, one event per line, the end.
//!
//! A reader accepts every minor version of its major, ignores fields that it does not know, and refuses a newer
//! major. A file without its last record was not written to the end and is refused too.

use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::Transcript;
use super::end::TranscriptEnd;
use super::event::Event;
use super::header::{TranscriptHeader, TranscriptVersion};
use crate::json::from_value;

/// The `type` of the last record; no event has it.
const END: &str = "end";

/// Why a file is not a transcript that this version can read.
#[derive(Debug, Error)]
pub enum TranscriptError {
    /// There is nothing in it.
    #[error("the file is empty; expected the header of a transcript")]
    Empty,
    /// A line is not what it should be.
    #[error("line {line}: {source}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// It was written by a version that changed the meaning of something.
    #[error("the transcript has version {}.{}; this version reads {supported}.x", found.major, found.minor)]
    NewerMajor {
        /// The file's version.
        found: TranscriptVersion,
        /// The major version that can be read.
        supported: u32,
    },
    /// The last record is missing.
    #[error("the file has no end record after line {line}; it was not written to the end")]
    NoEnd {
        /// The last line, from 1.
        line: usize,
    },
    /// Something follows the last record.
    #[error("line {line} follows the end record")]
    AfterEnd {
        /// The line, from 1.
        line: usize,
    },
}

impl Transcript {
    /// The content of `transcript.jsonl`, with a final newline.
    pub fn to_jsonl(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string(&self.header)?;
        text.push('\n');
        for event in &self.events {
            text.push_str(&serde_json::to_string(event)?);
            text.push('\n');
        }
        let mut end = Map::from_iter([("type".to_owned(), Value::from(END))]);
        if let Value::Object(fields) = serde_json::to_value(&self.end)? {
            end.extend(fields);
        }
        text.push_str(&serde_json::to_string(&end)?);
        text.push('\n');
        Ok(text)
    }

    /// Reads the content of `transcript.jsonl`.
    pub fn from_jsonl(text: &str) -> Result<Self, TranscriptError> {
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let header = match lines.next() {
            Some((line, text)) if !text.trim().is_empty() => header(text, line)?,
            _ => return Err(TranscriptError::Empty),
        };
        let mut events: Vec<Event> = Vec::new();
        let mut end: Option<TranscriptEnd> = None;
        let mut last = 1;
        for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
            if end.is_some() {
                return Err(TranscriptError::AfterEnd { line });
            }
            last = line;
            let at = |source| TranscriptError::Line { line, source };
            let fields: Value = serde_json::from_str(text).map_err(at)?;
            if fields.get("type").and_then(Value::as_str) == Some(END) {
                end = Some(from_value(&fields).map_err(at)?);
            } else {
                events.push(Event::deserialize(fields).map_err(at)?);
            }
        }
        let end = end.ok_or(TranscriptError::NoEnd { line: last })?;
        Ok(Self { header, end, events })
    }
}

fn header(text: &str, line: usize) -> Result<TranscriptHeader, TranscriptError> {
    let at = |source| TranscriptError::Line { line, source };
    let fields: Value = serde_json::from_str(text).map_err(at)?;
    // The version comes first: a newer major may have changed any other field.
    let version = fields.get("version").map(from_value::<TranscriptVersion, serde_json::Error>);
    if let Some(Ok(found)) = version {
        let supported = TranscriptVersion::CURRENT.major;
        if found.major > supported {
            return Err(TranscriptError::NewerMajor { found, supported });
        }
    }
    from_value(&fields).map_err(at)
}

#[cfg(test)]
mod tests;
