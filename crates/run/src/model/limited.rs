//! A model whose answers may take only so long. Each attempt has that limit; the error names it, and the flag that sets it.

use std::sync::Arc;
use std::time::Duration;

use super::error::{Failure, ModelError, Phase};
use super::name::ModelName;
use super::request::Request;
use super::{Answering, Model};

/// How long an answer may take when nobody says.
pub const ANSWER_LIMIT: Duration = Duration::from_mins(10);

/// The model, with a limit for each attempt.
pub fn limited(model: Arc<dyn Model>, limit: Duration) -> Arc<dyn Model> {
    Arc::new(Limited { model, limit })
}

#[derive(Debug)]
struct Limited {
    model: Arc<dyn Model>,
    limit: Duration,
}

impl Model for Limited {
    fn name(&self) -> &ModelName {
        self.model.name()
    }

    fn answer<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(async {
            let request = request.clone().timeout(self.limit);
            let answer = self.model.answer(&request).await;
            answer.map_err(|failure| match failure.error {
                ModelError::Timeout { phase: Phase::Total | Phase::Program, limit_ms } => {
                    let error = ModelError::Slow { limit_ms };
                    Failure { error, ..failure }
                }
                _ => failure,
            })
        })
    }
}
