//! Record and replay: what agents and models said, kept under a hash of what they were asked.
//!
//! A [`Cassette`] is a folder with one JSON file per answer. While recording, [`Cassette::through`] asks for real and keeps
//! the answer; while replaying it answers from the folder and nobody is asked. It knows nothing of models or agents: a
//! request is anything that serialises, a response anything that goes both ways, errors included. That is how users run
//! their CI without a model, and how our own tests run.
//!
//! ```text
//! question -- places and secrets taken out --> canonical JSON -- sha-256 --> key -- n-th time asked --> file
//! ```
//!
//! Invariants
//! - A key depends on what was asked and on nothing else: not on the machine, the time, a temporary folder or a secret.
//!   A recording made on one machine replays on another.
//! - No secret that the cassette was told about is ever in a file of it.
//! - A file is complete or not there; many may record at once.
//! - Asking the same again gives the next answer that was recorded for it, and then the last one again, with a note.

mod entry;
mod error;
mod key;
mod missing;
mod places;
mod store;

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use entry::EntryKind;
pub use error::{CassetteError, Edited};
pub use key::Key;
pub(crate) use key::digest_of;
pub use missing::{Difference, Missing, Nearest};
pub use places::Places;

use crate::model::Secret;
use entry::Entry;
use places::Scrubber;
use store::Store;

/// What a cassette is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: everybody is asked, nothing is kept.
    #[default]
    Off,
    /// To keep what is said in this folder.
    Record(PathBuf),
    /// To answer from this folder.
    Replay(PathBuf),
}

#[derive(Debug)]
pub struct Cassette {
    mode: Mode,
    secrets: Vec<Secret>,
    store: Store,
}

#[derive(Debug)]
pub struct Question<'q, Q> {
    pub kind: EntryKind,
    /// What for: a short label.
    pub purpose: &'q str,
    /// How people recognise it: the first line of a prompt, the id of a run.
    pub title: &'q str,
    /// Everything that decides the answer.
    pub request: &'q Q,
    /// Paths in the request and in the response that are different in every run.
    pub places: &'q Places,
}

/// A question that was put: what its answer is filed under.
#[derive(Clone, Debug, PartialEq)]
pub struct Filing {
    kind: EntryKind,
    purpose: String,
    title: String,
    key: Key,
    /// How often it has been put now, from 1.
    ask: u32,
    request: Value,
    places: Places,
}

/// An answer, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Playback<R> {
    /// Somebody gave it just now.
    Live(R),
    Replayed {
        response: R,
        /// The file that it was in, by its name.
        entry: String,
        /// Whether it was told before.
        repeated: Repeated,
    },
}

/// Whether a recorded answer was told before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeated {
    /// It is the one that was recorded for this time of asking.
    No,
    /// The question was put more often than when it was recorded, so the last answer is told again.
    Yes,
}

impl<R> Playback<R> {
    pub fn into_response(self) -> R {
        match self {
            Self::Live(response) | Self::Replayed { response, .. } => response,
        }
    }
}

impl Cassette {
    /// A cassette that does nothing.
    pub fn off() -> Self {
        Self { mode: Mode::Off, secrets: Vec::new(), store: Store::default() }
    }

    /// Opens a cassette. The secrets are what no file of it may contain.
    pub fn open(mode: Mode, secrets: Vec<Secret>) -> Result<Self, CassetteError> {
        let store = match &mode {
            Mode::Off => Store::default(),
            Mode::Record(folder) => Store::to_record(folder)?,
            Mode::Replay(folder) => Store::to_replay(folder)?,
        };
        Ok(Self { mode, secrets, store })
    }

    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// Puts a question: makes its key and counts it.
    pub fn ask<Q: Serialize>(&self, question: &Question<'_, Q>) -> Result<Filing, CassetteError> {
        let scrubber = Scrubber::new(question.places, &self.secrets);
        let request = serde_json::to_value(question.request).map_err(CassetteError::request)?;
        let request = scrubber.hide(&request);
        let key = Key::of(question.kind, &request);
        Ok(Filing {
            kind: question.kind,
            purpose: question.purpose.to_owned(),
            title: scrubber.hide_text(question.title),
            ask: self.store.count(&key),
            key,
            request,
            places: question.places.clone(),
        })
    }

    /// Keeps the answer to a question, and gives the name of its file.
    pub fn record<R: Serialize>(
        &self,
        asked: &Filing,
        response: &R,
    ) -> Result<String, CassetteError> {
        let scrubber = Scrubber::new(&asked.places, &self.secrets);
        let response = serde_json::to_value(response).map_err(CassetteError::response)?;
        self.store.write(&Entry::new(asked, scrubber.hide(&response)))
    }

    /// The recorded answer to a question.
    pub fn replay<R: DeserializeOwned>(
        &self,
        asked: &Filing,
    ) -> Result<Playback<R>, CassetteError> {
        let found = self.store.read(asked)?;
        let scrubber = Scrubber::new(&asked.places, &[]);
        let response =
            serde_json::from_value(scrubber.show(&found.entry.file.response)).map_err(|error| {
                CassetteError::Response { path: found.path.clone(), detail: error.to_string() }
            })?;
        Ok(Playback::Replayed { response, entry: found.name, repeated: found.repeated })
    }

    /// Answers a question: from the folder when replaying, otherwise by asking for real, and keeps it when recording.
    pub async fn through<Q, R, F>(
        &self,
        question: &Question<'_, Q>,
        live: impl FnOnce() -> F,
    ) -> Result<Playback<R>, CassetteError>
    where
        Q: Serialize,
        R: Serialize + DeserializeOwned,
        F: Future<Output = R>,
    {
        match &self.mode {
            Mode::Off => Ok(Playback::Live(live().await)),
            Mode::Replay(_) => self.replay(&self.ask(question)?),
            Mode::Record(_) => {
                let asked = self.ask(question)?;
                let response = live().await;
                self.record(&asked, &response)?;
                Ok(Playback::Live(response))
            }
        }
    }
}

impl Filing {
    /// What the answer is filed under.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// How often the question has been put now, from 1.
    pub fn ask(&self) -> u32 {
        self.ask
    }
}
