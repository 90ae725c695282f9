//! Asks a model for a better description, and sends a bad one back once.

use serde::Deserialize;
use serde_json::{Value, json};
use skillgauge_core::tune::{Improve, candidate, prompt};
use skillgauge_format::AnswerSchema;
use tokio_util::sync::CancellationToken;

use super::tuning::StopReason;
use crate::ask_once::{self, Unanswered, cost_of};
use crate::budget::Budget;
use crate::model::{Failure, Model, Purpose, Request, Response};
use crate::probe::Spending;

#[derive(Debug, Deserialize)]
struct Answer {
    description: String,
}

/// The schema of the answer. The reasoning comes first, so that it is done before the description is written.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "reasoning": {"type": "string", "description": "What is wrong with the current description, in a sentence or two."},
            "description": {"type": "string", "description": "The new description."},
        },
        "required": ["reasoning", "description"],
        "additionalProperties": false,
    })
}

/// A proposal, and what asking for it cost.
#[derive(Debug)]
pub(super) struct Proposal {
    /// The description; none when nothing usable was proposed.
    pub(super) description: Option<String>,
    /// What was proposed last and cannot be used.
    pub(super) refused: Option<String>,
}

pub(super) struct Improver<'i> {
    pub(super) model: &'i dyn Model,
    pub(super) template: &'i str,
    pub(super) budget: &'i Budget,
    pub(super) cancel: &'i CancellationToken,
    pub(super) spent: Spending,
}

impl Improver<'_> {
    /// One proposal. Nothing of `improve` is more than the training part.
    pub(super) async fn propose(&mut self, improve: &Improve<'_>) -> Result<Proposal, StopReason> {
        let schema = AnswerSchema::new("description", schema())
            .map_err(|error| StopReason::Improver { message: error.to_string() })?;
        let mut request =
            Request::text(Purpose::new("improve"), improve.prompt(self.template)).json(schema);
        let queries = || improve.train.iter().map(|result| result.query.as_str());
        let mut tried: Vec<&str> =
            improve.tried.iter().map(|tried| tried.description.as_str()).collect();
        tried.push(improve.description);
        let mut refused = None;
        for _ in 0..2 {
            let answer = self.ask(&request).await?;
            match candidate::check(&answer.description, queries(), &tried) {
                Ok(description) => return Ok(Proposal { description: Some(description), refused }),
                Err(rejections) => {
                    request = request.and(prompt::send_back(&answer.description, &rejections));
                    refused = Some(candidate::normal(&answer.description));
                }
            }
        }
        Ok(Proposal { description: None, refused })
    }

    async fn ask(&mut self, request: &Request) -> Result<Answer, StopReason> {
        let stop = |unanswered| match unanswered {
            Unanswered::Cancelled => StopReason::Interrupted,
            Unanswered::Budget(over) => StopReason::Limit { limit: over.to_string() },
            Unanswered::Failed(message) => StopReason::Improver { message },
        };
        let answered =
            ask_once::put(self.model, request, self.budget, self.cancel).await.map_err(stop)?;
        self.spent.add(&spending(&answered));
        let response = answered
            .map_err(|failure| StopReason::Improver { message: failure.error.to_string() })?;
        ask_once::read(response).map_err(stop)
    }
}

fn spending(answered: &Result<Response, Failure>) -> Spending {
    let (attempts, usage, cost_usd) = match answered {
        Ok(response) => (&response.attempts, response.usage, response.cost_usd),
        Err(failure) => (&failure.attempts, failure.usage, cost_of(failure)),
    };
    let calls = attempts.len() as u64;
    Spending {
        calls,
        requests: Some(calls),
        tokens: usage.map(|usage| usage.total_tokens()),
        tokens_at_least: usage.map(|usage| usage.total_tokens()).unwrap_or_default(),
        cost_usd,
        cost_at_least_usd: cost_usd.unwrap_or_default(),
        millis: attempts.iter().map(|attempt| attempt.duration_ms).sum(),
    }
}
