//! What a probe found and what it cost: a record that can be stored twice without harm.

use serde::{Deserialize, Serialize};
use skillgauge_core::trigger::Observation;
use skillgauge_format::transcript::{Usage, UsageBasis};
use skillgauge_format::trigger::Via;

use super::spec::ProbeId;
use crate::agent::AgentRun;
use crate::model::{Access, ProviderKind, price_of};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    pub id: ProbeId,
    /// What the last attempt saw.
    pub observation: Observation,
    pub spending: Spending,
    #[serde(default)]
    pub via: Via,
    /// The agent that was really asked, or whose request was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The model that answered, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// What was spent. What is not known is absent, and so is every sum that it is part of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// Agent runs or model requests that we made.
    pub calls: u64,
    /// Requests to the model behind them.
    pub requests: Option<u64>,
    pub tokens: Option<u64>,
    /// Tokens of the part that is known.
    #[serde(default)]
    pub tokens_at_least: u64,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// US dollars of the part that is known.
    pub cost_at_least_usd: f64,
    /// Milliseconds.
    pub millis: u64,
}

impl Default for Spending {
    fn default() -> Self {
        Self {
            calls: 0,
            requests: Some(0),
            tokens: Some(0),
            tokens_at_least: 0,
            cost_usd: Some(0.0),
            cost_at_least_usd: 0.0,
            millis: 0,
        }
    }
}

impl Spending {
    /// Adds what something else cost.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.requests = self.requests.zip(other.requests).map(|(one, two)| one + two);
        self.tokens = self.tokens.zip(other.tokens).map(|(one, two)| one.saturating_add(two));
        self.tokens_at_least = self.tokens_at_least.saturating_add(other.tokens_at_least);
        self.cost_usd = self.cost_usd.zip(other.cost_usd).map(|(one, two)| one + two);
        self.cost_at_least_usd += other.cost_at_least_usd;
        self.millis = self.millis.saturating_add(other.millis);
    }

    pub fn sum<'s>(parts: impl IntoIterator<Item = &'s Self>) -> Self {
        let mut sum = Self::default();
        for part in parts {
            sum.add(part);
        }
        sum
    }

    /// What one attempt of an agent cost. A run that was stopped at the proof has no bill: what is known of it is a part.
    pub(super) fn of_run(run: &AgentRun, access: &Access) -> Self {
        let end = &run.transcript.end;
        let usage = end.usage;
        let is_whole = usage.is_some_and(|usage| usage.basis == UsageBasis::Reported);
        let model = run.transcript.header.model.as_deref();
        // An agent that tells no price may be one whose price the user knows.
        let own = || {
            let price = access.own_price(ProviderKind::OpenAi, model?)?;
            usage.as_ref().map(|usage| price.cost(usage))
        };
        let cost_usd = end.cost_usd.or_else(|| own().filter(|_| is_whole));
        let known = cost_usd.or_else(own).or_else(|| priced(usage.as_ref()?, model?));
        Self {
            calls: 1,
            requests: usage.and_then(|usage| usage.requests),
            tokens: usage.filter(|_| is_whole).map(|usage| usage.total_tokens()),
            tokens_at_least: usage.map(|usage| usage.total_tokens()).unwrap_or_default(),
            cost_usd,
            cost_at_least_usd: known.unwrap_or_default(),
            millis: run.timing.total_ms,
        }
    }

    /// What one request to a model cost.
    pub(super) fn of_request(usage: Option<&Usage>, cost_usd: Option<f64>, millis: u64) -> Self {
        Self {
            calls: 1,
            requests: Some(1),
            tokens: usage.map(Usage::total_tokens),
            tokens_at_least: usage.map(Usage::total_tokens).unwrap_or_default(),
            cost_usd,
            cost_at_least_usd: cost_usd.unwrap_or_default(),
            millis,
        }
    }
}

/// The list price of what an agent had used when it was stopped.
fn priced(usage: &Usage, model: &str) -> Option<f64> {
    price_of(ProviderKind::Anthropic, model).map(|price| price.cost(usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_with_an_unknown_part_is_unknown_but_not_what_is_known_of_it() {
        let known = Spending {
            calls: 1,
            cost_usd: Some(0.5),
            cost_at_least_usd: 0.5,
            ..Spending::default()
        };
        let unknown = Spending { calls: 2, cost_usd: None, tokens: None, ..Spending::default() };
        let sum = Spending::sum([&known, &unknown, &known]);
        assert_eq!((sum.calls, sum.cost_usd, sum.tokens, sum.requests), (4, None, None, Some(0)));
        assert!((sum.cost_at_least_usd - 1.0).abs() < 1e-12);
        assert_eq!(Spending::sum([]).cost_usd, Some(0.0));
    }
}
