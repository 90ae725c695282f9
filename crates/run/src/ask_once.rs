//! Puts one question to a model within a budget, and reads the answer into a type.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::time::Duration;

use serde::de::DeserializeOwned;
use skillgauge_core::judge::material::FenceKey;
use skillgauge_core::judge::question::Question;
use tokio_util::sync::CancellationToken;

use crate::budget::{Budget, OverBudget};
use crate::cassette::Places;
use crate::model::{Failure, Model, ModelError, Purpose, Request, Response};

/// Reasons, scores and passages take room.
const MAX_TOKENS: u32 = 16_384;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unanswered {
    #[error("stopped")]
    Cancelled,
    #[error(transparent)]
    Budget(#[from] OverBudget),
    /// The model did not answer, or not as it should.
    #[error("{0}")]
    Failed(String),
}

/// The key of this process for the lines around material. Nobody stores it, so no agent can read it; and all arms have the
/// same, so that the same work gives the same question.
pub(crate) fn fence_key() -> FenceKey {
    static KEY: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("fence"));
    FenceKey::new(*KEY)
}

/// The numbers of a question that no other process would draw, by names that a recording can keep.
pub(crate) fn drawn(question: &Question) -> Places {
    let numbers = question.drawn.iter().enumerate();
    Places::new(numbers.map(|(index, number)| (number, format!("drawn-{index}"))))
}

/// The request that a question makes.
pub(crate) fn request(purpose: Purpose, question: &Question, timeout: Duration) -> Request {
    let mut request = Request::text(purpose, question.user.clone())
        .system(question.system.clone())
        .json(question.schema.clone())
        .timeout(timeout);
    request.max_output_tokens = MAX_TOKENS;
    request.places = drawn(question);
    request
}

/// Asks, and reads the answer.
pub(crate) async fn ask<A: DeserializeOwned>(
    model: &dyn Model,
    request: &Request,
    budget: &Budget,
    cancel: &CancellationToken,
) -> Result<A, Unanswered> {
    let answer = put(model, request, budget, cancel).await?;
    read(answer.map_err(|failure| Unanswered::Failed(failure.error.to_string()))?)
}

pub(crate) fn read<A: DeserializeOwned>(response: Response) -> Result<A, Unanswered> {
    A::deserialize(response.value.unwrap_or_default())
        .map_err(|error| Unanswered::Failed(format!("the answer cannot be read: {error}")))
}

/// Asks. Attempts after the first one count, too.
pub(crate) async fn put(
    model: &dyn Model,
    request: &Request,
    budget: &Budget,
    cancel: &CancellationToken,
) -> Result<Result<Response, Failure>, Unanswered> {
    if cancel.is_cancelled() {
        return Err(Unanswered::Cancelled);
    }
    budget.take_model_calls(1)?;
    let answer = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Unanswered::Cancelled),
        answer = model.answer(request) => answer,
    };
    let (attempts, cost) = match &answer {
        Ok(response) => (response.attempts.len().max(1) as u64, response.cost_usd),
        Err(failure) => (failure.calls(), cost_of(failure)),
    };
    budget.made_model_calls(1, attempts, cost);
    Ok(answer)
}

/// Who was turned away has nothing to pay; an answer of unknown price is not free, be it useless.
pub(crate) fn cost_of(failure: &Failure) -> Option<f64> {
    let nothing = failure.usage.is_none() && is_turned_away(&failure.error);
    failure.cost_usd.or(nothing.then_some(0.0))
}

/// Whether nobody worked on an answer.
fn is_turned_away(error: &ModelError) -> bool {
    use ModelError as E;
    match error {
        E::NoKey { .. }
        | E::BadKey { .. }
        | E::NotLoggedIn { .. }
        | E::NoCredit { .. }
        | E::UnknownModel { .. }
        | E::RateLimited { .. }
        | E::UsedUp { .. }
        | E::Overloaded { .. }
        | E::BadRequest { .. }
        | E::Connection { .. }
        | E::NoProgram { .. }
        | E::Setting { .. }
        | E::Down { .. }
        | E::NothingFound { .. }
        | E::ReplayMissing(_)
        | E::Cassette { .. } => true,
        E::Server { .. }
        | E::Timeout { .. }
        | E::Slow { .. }
        | E::Malformed { .. }
        | E::Cut { .. }
        | E::TooLarge { .. }
        | E::Refusal { .. }
        | E::OutputCut { .. }
        | E::Answer { .. }
        | E::Program { .. } => false,
    }
}
