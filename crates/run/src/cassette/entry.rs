//! One file of a cassette.
//!
//! Written for people as well: what was asked and what was said are plain JSON, with purpose and title in front. A reader
//! accepts every minor of its own major and ignores fields that it does not know. The two hashes notice changes by hand:
//! the key is the hash of the request, `response_sha256` the one of the response. Who edits a response on purpose removes
//! that field.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Asked;
use super::error::{CassetteError, Edited};
use super::key::{Key, digest_of};

/// The `format` of every entry.
const FORMAT: &str = "cassette-entry";

/// Who was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A model.
    Model,
    /// An agent.
    Agent,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Model => "model",
            Self::Agent => "agent",
        })
    }
}

/// The version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryVersion {
    /// Changes when an old reader would misread a new file.
    pub major: u32,
    /// Changes when something was added that an old reader may ignore.
    pub minor: u32,
}

impl EntryVersion {
    /// The version that this build writes.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };
}

impl fmt::Display for EntryVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    format: String,
    version: EntryVersion,
    pub(super) kind: EntryKind,
    pub(super) purpose: String,
    pub(super) title: String,
    pub(super) key: Key,
    /// How often the question had been put when this was said, from 1.
    pub(super) ask: u32,
    pub(super) request: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response_sha256: Option<String>,
    pub(super) response: Value,
}

/// What must be right before the rest of a file is looked at.
#[derive(Debug, Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<EntryVersion>,
}

impl Entry {
    pub(super) fn new(asked: &Asked, response: Value) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: EntryVersion::CURRENT,
            kind: asked.kind,
            purpose: asked.purpose.clone(),
            title: asked.title.clone(),
            key: asked.key.clone(),
            ask: asked.ask,
            request: asked.request.clone(),
            response_sha256: Some(digest_of(&response)),
            response,
        }
    }

    /// The text of the file.
    pub(super) fn text(&self) -> Result<String, CassetteError> {
        let mut text = serde_json::to_string_pretty(self).map_err(CassetteError::response)?;
        text.push('\n');
        Ok(text)
    }

    /// Reads a file and holds it to its hashes.
    pub(super) fn read(text: &str, path: &std::path::Path) -> Result<Self, CassetteError> {
        let path = || path.to_owned();
        let unreadable = |error: serde_json::Error| CassetteError::Unreadable {
            path: path(),
            detail: error.to_string(),
        };
        let value: Value = serde_json::from_str(text).map_err(unreadable)?;
        let head = Head::deserialize(&value).map_err(unreadable)?;
        let (Some(FORMAT), Some(version)) = (head.format.as_deref(), head.version) else {
            return Err(CassetteError::NotAnEntry { path: path() });
        };
        if version.major > EntryVersion::CURRENT.major {
            return Err(CassetteError::Newer {
                path: path(),
                found: version,
                known: EntryVersion::CURRENT,
            });
        }
        let entry: Self = serde_json::from_value(value).map_err(unreadable)?;
        let edited = |what| CassetteError::Edited { path: path(), what };
        if Key::of(entry.kind, &entry.request) != entry.key {
            return Err(edited(Edited::Request));
        }
        match &entry.response_sha256 {
            Some(hash) if *hash != digest_of(&entry.response) => Err(edited(Edited::Response)),
            Some(_) | None => Ok(entry),
        }
    }
}
