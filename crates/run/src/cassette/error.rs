//! Why a cassette cannot be used.

use std::fmt;
use std::path::PathBuf;

use skillgauge_format::record::RecordVersion;

use super::missing::Missing;

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// There is no such folder to replay from.
    #[error("no folder {path:?} to replay from; record it first with --record")]
    NoFolder { path: PathBuf },
    /// A file could not be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A file is not JSON, or misses what an entry has.
    #[error("{path:?} cannot be read ({detail}): it is cut short or was edited; record it again")]
    Unreadable {
        path: PathBuf,
        /// What is wrong, and where.
        detail: String,
    },
    /// A file with the name of an entry is something else.
    #[error("{path:?} is no entry of a cassette: `format` and `version` are missing or different")]
    NotAnEntry { path: PathBuf },
    /// A file was written by a newer skillgauge.
    #[error("{path:?} has version {}.{}, and this skillgauge knows up to {known}.x; update it, or record again", found.major, found.minor)]
    Newer {
        path: PathBuf,
        found: RecordVersion,
        /// The newest major version that this build reads.
        known: u64,
    },
    /// A file was changed by hand.
    #[error("{path:?} was edited: {what}")]
    Edited { path: PathBuf, what: Edited },
    /// The response in a file is not what the asker understands.
    #[error("the response in {path:?} cannot be read: {detail}; record it again")]
    Response { path: PathBuf, detail: String },
    /// A request or a response has no JSON form.
    #[error("the {what} cannot be written as JSON: {source}")]
    NotJson { what: &'static str, source: serde_json::Error },
    /// Nothing was recorded for this request.
    #[error("{0}")]
    Missing(Box<Missing>),
}

/// What was changed by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    Request,
    Response,
}

impl fmt::Display for Edited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "its request no longer has its key; record it again",
            Self::Response => {
                "its response no longer has its hash; record it again, or remove `response_sha256` if the change is meant"
            }
        })
    }
}

impl CassetteError {
    pub(super) fn request(source: serde_json::Error) -> Self {
        Self::NotJson { what: "request", source }
    }

    pub(super) fn response(source: serde_json::Error) -> Self {
        Self::NotJson { what: "response", source }
    }
}
