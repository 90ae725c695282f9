//! Asks until there is an answer that can be used, or a reason why not.
//!
//! [`Asker`] is the [`Model`] of every provider. Around the one call of a [`Wire`] it puts, from the inside out: retries
//! with delays ([`RetryRules`]), another manner of asking when the service rejects ours, the check against the schema,
//! and one repair. Everything that happens goes into the [`Ledger`], so that a failure tells as much as an answer.
//!
//! Invariant: the number of calls is bounded by the policy, the manners and the one repair; a JSON answer that leaves here
//! has passed the check.

mod check;
mod extract;
mod ledger;
pub(in crate::model) mod wire;

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use self::check::{JsonAnswer, check};
use self::ledger::Ledger;
use self::wire::{Adaptation, Call, CallManner, LimitName, Repair, Reply, Wire};
use crate::model::error::{Failure, ModelError, millis};
use crate::model::name::ModelName;
use crate::model::provider::Connection;
use crate::model::request::{Fit, Request};
use crate::model::response::{AnswerFormat, Attempt, Cause, Manner, Response, TemperatureUse};
use crate::model::{Answering, Model};
use crate::pool::{Breaker, RetryRules};

/// A model behind a wire.
#[derive(Debug)]
pub(in crate::model) struct Asker {
    name: ModelName,
    wire: Box<dyn Wire>,
    retry: RetryRules,
    /// Where the jitter of delays comes from.
    seed: u64,
    breaker: Breaker,
    /// The manner that worked last.
    manner: Mutex<CallManner>,
    /// Why the service answers nobody with this key and model: it is not asked again to hear the same.
    refused: OnceLock<ModelError>,
}

impl Asker {
    pub(in crate::model) fn new(
        name: ModelName,
        (wire, limit_name): Connection,
        (retry, seed): (RetryRules, u64),
        breaker: Breaker,
    ) -> Self {
        let format = wire.formats().first().copied().unwrap_or(AnswerFormat::PlainText);
        let manner = CallManner { format, limit_name, temperature: TemperatureUse::AsAsked };
        Self {
            name,
            wire,
            retry,
            seed,
            breaker,
            manner: Mutex::new(manner),
            refused: OnceLock::new(),
        }
    }

    async fn ask(&self, request: &Request) -> Result<Response, Failure> {
        let mut ledger = Ledger::default();
        match self.ask_and_check(request, &mut ledger).await {
            Ok((reply, manner, checked)) => Ok(ledger.response(reply, manner, checked)),
            Err(error) => Err(ledger.failure(error)),
        }
    }

    async fn ask_and_check(
        &self,
        request: &Request,
        ledger: &mut Ledger,
    ) -> Result<(Reply, Manner, Option<JsonAnswer>), ModelError> {
        let (reply, manner) = self.call(request, None, ledger).await?;
        let Some(schema) = request.schema() else { return Ok((reply, manner, None)) };
        if request.fit == Fit::AsItComes {
            return Ok((as_text(reply), manner, None));
        }
        let repair = match check(&reply, schema) {
            Ok(checked) => return Ok((reply, manner, Some(checked))),
            Err(repair) => repair,
        };
        ledger.spoil_last(repair.error());
        let (reply, manner) = self.call(request, Some(&repair), ledger).await?;
        match check(&reply, schema) {
            Ok(checked) => Ok((reply, manner, Some(checked))),
            Err(repair) => {
                ledger.spoil_last(repair.error());
                Err(repair.error())
            }
        }
    }

    /// One call, repeated while it fails in ways that may pass and changed while its manner is rejected.
    async fn call(
        &self,
        request: &Request,
        repair: Option<&Repair>,
        ledger: &mut Ledger,
    ) -> Result<(Reply, Manner), ModelError> {
        if let Some(refused) = self.refused.get() {
            return Err(refused.clone());
        }
        let began = self.remembered();
        let mut manner = began;
        let mut retries = self.retry.start(self.seed, salt(&request.user));
        let mut cause = if repair.is_some() { Cause::Repair } else { Cause::First };
        let mut delay = Duration::ZERO;
        let mut rejected = None;
        loop {
            tokio::time::sleep(delay).await;
            let call = Call { request, manner, repair };
            let pass = match self.breaker.pass().await {
                Ok(pass) => pass,
                Err(down) => return Err(down.into()),
            };
            let started = Instant::now();
            let result = self.wire.call(&call).await;
            match &result {
                Ok(_) => pass.end(None, ""),
                Err(fault) => {
                    // A request that the service rejects was answered; a program that is missing was not.
                    let problem = fault.error.problem();
                    if problem.is_some() || matches!(fault.error, ModelError::BadRequest { .. }) {
                        pass.end(problem.as_ref(), &fault.error.to_string());
                    }
                }
            }
            let attempt = Attempt {
                cause,
                delay_ms: millis(delay),
                duration_ms: millis(started.elapsed()),
                status: None,
                request_id: None,
                error: None,
            };
            let (model, ms) = (&self.name, attempt.duration_ms);
            match &result {
                Ok(_) => tracing::info!(%model, ?cause, ms, "model answered"),
                Err(fault) => {
                    tracing::info!(%model, ?cause, ms, error = %fault.error, "model failed");
                }
            }
            let (error, adaptation) = match result {
                Ok(reply) => {
                    self.remember(began, manner);
                    ledger.reply(attempt, &reply, self.wire.as_ref());
                    let told = Manner { format: call.format(), temperature: manner.temperature };
                    match reply.flaw() {
                        None => return Ok((reply, told)),
                        Some(flaw) => (flaw, None),
                    }
                }
                Err(fault) => {
                    ledger.fault(attempt, &fault);
                    (fault.error, fault.adaptation)
                }
            };
            if let Some(other) = adaptation.and_then(|change| self.adapted(change, &call)) {
                rejected.get_or_insert(error);
                (manner, cause, delay) = (other, Cause::OtherManner, Duration::ZERO);
                continue;
            }
            let problem = error.problem().filter(|_| error.is_worth_another_attempt());
            let Some(next) = problem.and_then(|problem| retries.after(&problem)) else {
                // Usage limits and what this machine lacks may change while a worker lives; these do not.
                use ModelError::{BadKey, NoCredit, UnknownModel};
                if matches!(error, BadKey { .. } | NoCredit { .. } | UnknownModel { .. }) {
                    let _ = self.refused.set(error.clone());
                }
                return Err(worth_reading(rejected, error));
            };
            tracing::info!(%model, wait = ?next, "model is asked again");
            (cause, delay) = (Cause::Retry, next);
        }
    }

    /// The next manner to try, when the last one was rejected and there is another.
    fn adapted(&self, change: Adaptation, call: &Call<'_>) -> Option<CallManner> {
        let manner = call.manner;
        match change {
            Adaptation::PlainerFormat => {
                let formats = self.wire.formats();
                let place = formats.iter().position(|format| Some(*format) == call.format())?;
                Some(CallManner { format: *formats.get(place + 1)?, ..manner })
            }
            Adaptation::OtherLimitName => (manner.limit_name == LimitName::MaxTokens)
                .then_some(CallManner { limit_name: LimitName::MaxCompletionTokens, ..manner }),
            Adaptation::NoTemperature => call
                .temperature()
                .map(|_| CallManner { temperature: TemperatureUse::LeftOut, ..manner }),
        }
    }

    fn remembered(&self) -> CallManner {
        *self.manner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what a call had to change. What it did not change it says nothing about: others may have learnt more
    /// in the meantime.
    fn remember(&self, began: CallManner, worked: CallManner) {
        let mut manner = self.manner.lock().unwrap_or_else(PoisonError::into_inner);
        if worked.format != began.format {
            manner.format = worked.format;
        }
        if worked.limit_name != began.limit_name {
            manner.limit_name = worked.limit_name;
        }
        if worked.temperature != began.temperature {
            manner.temperature = worked.temperature;
        }
    }
}

impl Model for Asker {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn answer<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(self.ask(request))
    }
}

/// A reply whose text is all that it says, what the model gave to the tool for answering included.
fn as_text(mut reply: Reply) -> Reply {
    let inputs = std::mem::take(&mut reply.tool_inputs);
    let said = std::mem::take(&mut reply.text);
    let texts = std::iter::once(said).chain(inputs.iter().map(ToString::to_string));
    reply.text = texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n");
    reply
}

/// The error to report: when every manner was rejected, it was not about the manner, and the first complaint is the one
/// about what the caller wanted.
fn worth_reading(rejected: Option<ModelError>, last: ModelError) -> ModelError {
    match (rejected, &last) {
        (Some(first), ModelError::BadRequest { .. }) => first,
        _ => last,
    }
}

/// A hash of texts (FNV-1a), the same on every machine: it tells requests apart that fail together.
fn salt(texts: &[impl AsRef<str>]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.as_ref().bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_salt_is_the_same_on_every_machine() {
        // The published test vectors of 64-bit FNV-1a.
        assert_eq!(salt(&[""]), 0xCBF2_9CE4_8422_2325);
        assert_eq!(salt(&["a"]), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(salt(&["foo", "bar"]), 0x8594_4171_F739_67E8);
    }
}
