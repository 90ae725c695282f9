//! Keeps account of a question: every attempt, the tokens and what they cost.
//!
//! What [`crate::model::ask`] puts in here comes out as part of the [`Response`] or the [`Failure`]. Invariant: the cost is known
//! only if that of every reply is.

use skillgauge_format::transcript::Usage;

use crate::model::ask::check::JsonAnswer;
use crate::model::ask::wire::{Fault, Reply, Wire};
use crate::model::error::{Failure, ModelError};
use crate::model::response::{Attempt, Manner, Origin, Response};

/// Everything that happened so far.
#[derive(Default)]
pub(in crate::model) struct Ledger {
    attempts: Vec<Attempt>,
    usage: Option<Usage>,
    /// What each reply cost, if that is known.
    costs: Vec<Option<f64>>,
}

impl Ledger {
    pub(in crate::model) fn fault(&mut self, mut attempt: Attempt, fault: &Fault) {
        (attempt.status, attempt.request_id) = (fault.status, fault.request_id.clone());
        attempt.error = Some(fault.error.clone());
        self.attempts.push(attempt);
    }

    pub(in crate::model) fn reply(&mut self, mut attempt: Attempt, reply: &Reply, wire: &dyn Wire) {
        (attempt.status, attempt.request_id) = (reply.status, reply.request_id.clone());
        attempt.error = reply.flaw();
        self.attempts.push(attempt);
        let counted = |usage: &Usage| wire.cost(usage, reply.model.as_deref());
        self.costs.push(reply.cost_usd.or_else(|| reply.usage.as_ref().and_then(counted)));
        if let Some(usage) = &reply.usage {
            match &mut self.usage {
                None => self.usage = Some(*usage),
                Some(sum) => {
                    sum.add_tokens(usage);
                    sum.requests = sum.requests.zip(usage.requests).map(|(sum, more)| sum + more);
                }
            }
        }
    }

    /// Notes that the last answer could not be used after all.
    pub(in crate::model) fn spoil_last(&mut self, error: ModelError) {
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.error = Some(error);
        }
    }

    fn cost_usd(&self) -> Option<f64> {
        let known: Option<Vec<f64>> = self.costs.iter().copied().collect();
        known.filter(|costs| !costs.is_empty()).map(|costs| costs.iter().sum())
    }

    pub(in crate::model) fn response(
        self,
        reply: Reply,
        manner: Manner,
        checked: Option<JsonAnswer>,
    ) -> Response {
        let cost_usd = self.cost_usd();
        let (text, value) = match checked {
            Some(JsonAnswer { text, value }) => (text, Some(value)),
            None => (reply.text, None),
        };
        Response {
            text,
            value,
            tool_calls: reply.tool_calls,
            usage: self.usage,
            cost_usd,
            stop_reason: reply.stop_reason,
            request_id: reply.request_id,
            model: reply.model,
            manner,
            attempts: self.attempts,
            origin: Origin::Live,
        }
    }

    pub(in crate::model) fn failure(self, error: ModelError) -> Failure {
        let cost_usd = self.cost_usd();
        Failure { error, attempts: self.attempts, usage: self.usage, cost_usd }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::{Call, Calling};
    use super::*;
    use crate::model::response::{AnswerFormat, Cause};

    /// Knows the price of one model, and is never called.
    #[derive(Debug)]
    struct Priced;

    impl Wire for Priced {
        fn formats(&self) -> &'static [AnswerFormat] {
            &[]
        }

        fn call<'c>(&'c self, _: &'c Call<'c>) -> Calling<'c> {
            Box::pin(async { Err(ModelError::NoProgram { program: String::new() }.into()) })
        }

        fn cost(&self, usage: &Usage, model: Option<&str>) -> Option<f64> {
            let tokens = u32::try_from(usage.output_tokens).ok()?;
            (model == Some("priced")).then(|| f64::from(tokens))
        }
    }

    fn cost_of(replies: &[(&str, Option<f64>)]) -> Option<f64> {
        let mut ledger = Ledger::default();
        for (model, said) in replies {
            let attempt = Attempt {
                cause: Cause::First,
                delay_ms: 0,
                duration_ms: 0,
                status: None,
                request_id: None,
                error: None,
            };
            let usage = Usage { output_tokens: 2, requests: Some(1), ..Usage::default() };
            let model = Some((*model).to_owned());
            let reply = Reply { model, cost_usd: *said, usage: Some(usage), ..Reply::default() };
            ledger.reply(attempt, &reply, &Priced);
        }
        let failure = ledger.failure(ModelError::NoProgram { program: String::new() });
        let requests = failure.usage.and_then(|usage| usage.requests);
        assert_eq!(requests.unwrap_or(0), replies.len() as u64);
        failure.cost_usd
    }

    #[test]
    fn the_cost_is_the_sum_of_all_replies_or_unknown() {
        assert_eq!(cost_of(&[]), None);
        assert_eq!(cost_of(&[("priced", None)]), Some(2.0));
        assert_eq!(cost_of(&[("priced", None), ("priced", None)]), Some(4.0));
        assert_eq!(cost_of(&[("priced", Some(0.5)), ("other", Some(0.25))]), Some(0.75));
        assert_eq!(cost_of(&[("other", None)]), None);
        assert_eq!(cost_of(&[("priced", None), ("other", None)]), None);
        assert_eq!(cost_of(&[("other", None), ("priced", None)]), None);
    }
}
