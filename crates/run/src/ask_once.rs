//! Puts one question to a model within a budget, and reads the answer into a type.

use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;
use skillgauge_core::judge::question::Question;
use tokio_util::sync::CancellationToken;

use crate::iteration::Budget;
use crate::model::{Model, Purpose, Request};

/// Reasons, scores and passages take room.
const MAX_TOKENS: u32 = 16_384;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    Cancelled,
    /// A limit is used up.
    Budget(String),
    /// The model did not answer, or not as it should.
    Failed(String),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("stopped"),
            Self::Budget(reason) | Self::Failed(reason) => f.write_str(reason),
        }
    }
}

/// The request that a question makes.
pub(crate) fn request(purpose: Purpose, question: &Question, timeout: Duration) -> Request {
    let mut request = Request::text(purpose, question.user.clone())
        .system(question.system.clone())
        .json(question.schema.clone())
        .timeout(timeout);
    request.max_output_tokens = MAX_TOKENS;
    request
}

/// Asks. Attempts after the first one count, too.
pub(crate) async fn ask<A: DeserializeOwned>(
    model: &dyn Model,
    request: Request,
    budget: &Budget,
    cancel: &CancellationToken,
) -> Result<A, Unanswered> {
    if cancel.is_cancelled() {
        return Err(Unanswered::Cancelled);
    }
    budget.take_model_call().map_err(Unanswered::Budget)?;
    let answer = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Unanswered::Cancelled),
        answer = model.answer(&request) => answer,
    };
    let (attempts, cost) = match &answer {
        Ok(response) => (response.attempts.len(), response.cost_usd),
        // Without a single answer there is nothing to pay.
        Err(failure) => {
            let nothing = failure.usage.is_none().then_some(0.0);
            (failure.attempts.len(), failure.cost_usd.or(nothing))
        }
    };
    budget.add_model_calls(attempts.saturating_sub(1) as u64);
    budget.add_cost(cost);
    let response = answer.map_err(|failure| Unanswered::Failed(failure.error.to_string()))?;
    A::deserialize(response.value.unwrap_or_default())
        .map_err(|error| Unanswered::Failed(format!("the answer cannot be read: {error}")))
}
