//! A model behind a cassette.
//!
//! When recording, every answer and every failure is kept; when replaying, nobody is asked and nothing is needed: no key,
//! no program, no network. The request is recorded under the name that the user wrote, so that `auto` replays on a
//! machine that has none of the models that `auto` found on the other.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::{Failure, ModelError};
use super::name::ModelName;
use super::provider::{Access, connect};
use super::request::Request;
use super::response::{Origin, Response};
use super::{Answering, Model};
use crate::cassette::{Cassette, CassetteError, EntryKind, Mode, Playback, Question};

/// The model of that name, behind a cassette that may be off.
pub fn open(
    name: &ModelName,
    access: &Access,
    cassette: &Arc<Cassette>,
) -> Result<Arc<dyn Model>, ModelError> {
    let live = match cassette.mode() {
        Mode::Off => return connect(name, access),
        Mode::Record(_) => Some(connect(name, access)?),
        Mode::Replay(_) => None,
    };
    Ok(Arc::new(TapedModel { name: name.clone(), live, cassette: Arc::clone(cassette) }))
}

/// A model that is recorded or replayed.
#[derive(Debug)]
struct TapedModel {
    name: ModelName,
    /// Who is asked; nobody when replaying.
    live: Option<Arc<dyn Model>>,
    cassette: Arc<Cassette>,
}

/// What a cassette keeps of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Take {
    Answer(Response),
    Failure(Failure),
}

impl TapedModel {
    async fn ask(&self, request: &Request) -> Result<Response, Failure> {
        let recorded = request.recorded(&self.name);
        let question = Question {
            kind: EntryKind::Model,
            purpose: request.purpose.as_str(),
            title: request.first_line(),
            request: &recorded,
            places: &request.places,
        };
        let live = || async {
            match &self.live {
                None => Take::Failure(ModelError::NothingFound { hints: Vec::new() }.into()),
                Some(model) => match model.answer(request).await {
                    Ok(response) => Take::Answer(response),
                    Err(failure) => Take::Failure(failure),
                },
            }
        };
        let (take, origin) =
            match self.cassette.through(&question, live).await.map_err(ModelError::from)? {
                Playback::Live(take) => (take, Origin::Live),
                Playback::Replayed { response, entry, repeated } => {
                    (response, Origin::Replayed { entry, repeated })
                }
            };
        match take {
            Take::Answer(response) => Ok(Response { origin, ..response }),
            Take::Failure(failure) => Err(failure),
        }
    }
}

impl Model for TapedModel {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn answer<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(self.ask(request))
    }
}

impl From<CassetteError> for ModelError {
    fn from(error: CassetteError) -> Self {
        match error {
            CassetteError::Missing(missing) => Self::ReplayMissing(missing),
            other => Self::Cassette { detail: other.to_string() },
        }
    }
}
