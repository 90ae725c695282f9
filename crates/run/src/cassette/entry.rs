//! One file of a cassette.
//!
//! Written for people as well: what was asked and what was said are plain JSON, with purpose and title in front. A reader
//! accepts every minor of its own major and ignores fields that it does not know. The two hashes notice changes by hand:
//! the key is the hash of the request, `response_sha256` the one of the response. Who edits a response on purpose removes
//! that field.

use serde::Deserialize;
use serde_json::Value;
use skillgauge_format::cassette::CassetteEntry;
pub use skillgauge_format::cassette::EntryKind;
use skillgauge_format::record::RecordVersion;

use super::Filing;
use super::error::{CassetteError, Edited};
use super::key::{Key, digest_of};

/// One file whose hashes are right.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) file: CassetteEntry,
    pub(super) key: Key,
}

/// What must be right before the rest of a file is looked at.
#[derive(Debug, Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<RecordVersion>,
}

impl Entry {
    pub(super) fn new(asked: &Filing, response: Value) -> Self {
        let file = CassetteEntry {
            format: CassetteEntry::FORMAT.to_owned(),
            version: RecordVersion::current(),
            kind: asked.kind,
            purpose: asked.purpose.clone(),
            title: asked.title.clone(),
            key: asked.key.to_string(),
            ask: asked.ask,
            request: asked.request.clone(),
            response_sha256: Some(digest_of(&response)),
            response,
            ..CassetteEntry::default()
        };
        Self { file, key: asked.key.clone() }
    }

    /// The text of the file.
    pub(super) fn text(&self) -> Result<String, CassetteError> {
        let mut text = serde_json::to_string_pretty(&self.file).map_err(CassetteError::response)?;
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
        let (Some(CassetteEntry::FORMAT), Some(version)) = (head.format.as_deref(), head.version)
        else {
            return Err(CassetteError::NotAnEntry { path: path() });
        };
        if !version.is_readable() {
            let known = RecordVersion::MAJOR;
            return Err(CassetteError::Newer { path: path(), found: version, known });
        }
        let file: CassetteEntry = serde_json::from_value(value).map_err(unreadable)?;
        let edited = |what| CassetteError::Edited { path: path(), what };
        let key = Key::of(file.kind, &file.request);
        if key.as_str() != file.key {
            return Err(edited(Edited::Request));
        }
        match &file.response_sha256 {
            Some(hash) if *hash != digest_of(&file.response) => Err(edited(Edited::Response)),
            Some(_) | None => Ok(Self { file, key }),
        }
    }
}
