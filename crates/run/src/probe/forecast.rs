//! What probes will cost, told before any is made.
//!
//! Earlier probes know best. Without any, the list price of one request is what can be said: an agent that goes on makes more of
//! them, so its forecast is a lower bound. A price that nobody knows is said to be unknown, never 0.

use std::fmt;

use skillgauge_format::trigger::Via;

use super::api::ApiAsk;
use super::capture::{Offer, RequestSource};
use super::measure::Probing;
use super::result::ProbeResult;
use crate::agent::auto::AUTO;
use crate::model::{Access, ModelName, Price, ProviderKind};

/// Bytes of the first request of each agent with one skill: Claude Code 2.1.325 and Codex 0.166.0, heard on loopback.
const REQUEST_BYTES: [(ProviderKind, u64); 2] =
    [(ProviderKind::Anthropic, 96_322), (ProviderKind::OpenAi, 37_302)];

/// Bytes of English text and JSON to a token, as a rule of thumb.
const BYTES_PER_TOKEN: u64 = 4;

/// Tokens of a first answer: a sentence and a call.
const ANSWER_TOKENS: u64 = 300;

/// What some calls will cost.
#[derive(Clone, Debug, PartialEq)]
pub enum CostForecast {
    /// As much as earlier probes did.
    AsEarlier {
        /// US dollars of all calls.
        usd: f64,
        probes: usize,
    },
    /// By list prices, for one request each.
    ByPrice {
        /// US dollars of all calls.
        usd: f64,
        /// Input tokens of a request.
        tokens: u64,
        /// Whether a call may make more requests.
        bound: Bound,
    },
    /// The agent chooses its model, so nobody knows the price.
    NoModel,
    /// The model's price is not known.
    NoPrice { model: String },
}

/// Whether a forecast is all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// One request is all that a call makes.
    About,
    /// A call makes at least one.
    AtLeast,
}

impl CostForecast {
    /// What so many probes will cost; `earlier` are results of probes that may be like them.
    pub fn of_probes(
        probing: &Probing,
        calls: u64,
        earlier: &[ProbeResult],
        access: &Access,
    ) -> Self {
        let costs: Vec<f64> = earlier
            .iter()
            .filter(|result| is_like(result, probing))
            .filter_map(|result| {
                let spent = &result.spending;
                let known = Some(spent.cost_at_least_usd).filter(|known| *known > 0.0);
                let all = spent.cost_usd.or(known)?;
                Some(all / as_float(spent.calls.max(1)))
            })
            .collect();
        if !costs.is_empty() {
            let mean = costs.iter().sum::<f64>() / as_float(costs.len() as u64);
            return Self::AsEarlier { usd: mean * as_float(calls), probes: costs.len() };
        }
        match probing {
            Probing::Agent { model: None, .. } => Self::NoModel,
            Probing::Agent { model: Some(name), agent, .. } => {
                let provider = match agent.as_str() {
                    "codex" => ProviderKind::OpenAi,
                    _ => ProviderKind::Anthropic,
                };
                let own = || access.own_price(provider, name);
                let price = own().or_else(|| crate::model::price_of(provider, name));
                Self::by_price(price, name, request_tokens(provider), calls, Bound::AtLeast)
            }
            Probing::Api { model, source, .. } => {
                let provider = match model {
                    ModelName::Of { provider, .. } => *provider,
                    ModelName::Auto => ProviderKind::Anthropic,
                };
                let tokens = match source {
                    RequestSource::BuiltIn => built_in_tokens(model),
                    RequestSource::Auto | RequestSource::Captured => request_tokens(provider),
                };
                let price = access.price_of(model);
                Self::by_price(price, &model.to_string(), tokens, calls, Bound::About)
            }
        }
    }

    /// What so many questions of some length to a model will cost.
    pub fn of_questions(model: &ModelName, bytes: usize, calls: u64, access: &Access) -> Self {
        let tokens = bytes as u64 / BYTES_PER_TOKEN;
        let price = access.price_of(model);
        Self::by_price(price, &model.to_string(), tokens, calls, Bound::About)
    }

    fn by_price(price: Option<Price>, model: &str, tokens: u64, calls: u64, bound: Bound) -> Self {
        let Some(price) = price else { return Self::NoPrice { model: model.to_owned() } };
        let each = price.cost(&skillgauge_format::transcript::Usage {
            input_tokens: tokens,
            output_tokens: ANSWER_TOKENS,
            ..skillgauge_format::transcript::Usage::default()
        });
        Self::ByPrice { usd: each * as_float(calls), tokens, bound }
    }

    /// US dollars, if they are known.
    pub fn usd(&self) -> Option<f64> {
        match self {
            Self::AsEarlier { usd, .. } | Self::ByPrice { usd, .. } => Some(*usd),
            Self::NoModel | Self::NoPrice { .. } => None,
        }
    }
}

impl fmt::Display for CostForecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsEarlier { usd, probes } => {
                write!(f, "about ${usd:.2}, as {probes} earlier probes")
            }
            Self::ByPrice { usd, tokens, bound: Bound::About } => {
                write!(f, "about ${usd:.2}, if a request has {tokens} tokens")
            }
            Self::ByPrice { usd, tokens, bound: Bound::AtLeast } => write!(
                f,
                "at least ${usd:.2}, if a request has {tokens} tokens; an agent may make more than one"
            ),
            Self::NoModel => f.write_str(
                "cost unknown, because the agent chooses its model; name one with `--model`",
            ),
            Self::NoPrice { model } => write!(
                f,
                "cost unknown, because no price of `{model}` is known; set one under [prices] in skillgauge.toml"
            ),
        }
    }
}

/// Whether an earlier probe was like those to come.
fn is_like(result: &ProbeResult, probing: &Probing) -> bool {
    let begins = |name: &str| result.model.as_deref().is_some_and(|own| own.starts_with(name));
    match probing {
        Probing::Agent { agent, model, .. } => {
            let is_agent = agent == AUTO || result.agent.as_deref() == Some(agent.as_str());
            result.via == Via::Agent && is_agent && model.as_deref().is_none_or(begins)
        }
        Probing::Api { model, source, .. } => {
            let is_model = match model {
                ModelName::Of { name, .. } => begins(name),
                ModelName::Auto => false,
            };
            let is_source = (*source == RequestSource::BuiltIn) == result.agent.is_none();
            result.via == Via::Api && is_model && is_source
        }
    }
}

fn request_tokens(provider: ProviderKind) -> u64 {
    let bytes = REQUEST_BYTES.iter().find(|(of, _)| *of == provider).map_or(0, |(_, bytes)| *bytes);
    bytes / BYTES_PER_TOKEN
}

/// The tokens of our own request without its skills and its query.
fn built_in_tokens(model: &ModelName) -> u64 {
    let nothing = Offer::built_in(&[]);
    let ask = ApiAsk::new(model.clone(), "", Vec::new(), nothing, std::time::Duration::ZERO);
    let request = serde_json::to_string(&ask.request().recorded(model)).unwrap_or_default();
    request.len() as u64 / BYTES_PER_TOKEN
}

#[expect(clippy::cast_precision_loss, reason = "nobody makes 2^53 calls")]
fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use skillgauge_core::trigger::Observation;

    use super::super::result::Spending;
    use super::super::spec::ProbeSpec;
    use super::*;
    use crate::agent::{AgentTask, BundledSkills, TaskLimits};
    use crate::process::Guard;

    fn access(variables: &[(&str, &str)]) -> Access {
        let environment = variables.iter().copied().collect();
        Access { environment, ..Access::new(Guard::new("/guard"), "/tmp", "/project") }
    }

    fn agent(model: Option<&str>) -> Probing {
        Probing::Agent {
            agent: "claude".to_owned(),
            model: model.map(str::to_owned),
            limits: TaskLimits::default(),
            bundled_skills: BundledSkills::Off,
        }
    }

    fn api(model: &str, source: RequestSource) -> Probing {
        Probing::Api {
            model: model.parse().unwrap(),
            agent: AUTO.to_owned(),
            source,
            timeout: std::time::Duration::ZERO,
        }
    }

    fn result(via: Via, model: &str, cost_usd: Option<f64>) -> ProbeResult {
        ProbeResult {
            id: ProbeSpec::agent(AgentTask::new("claude", "x"), 1, None).id,
            observation: Observation::completed([]),
            spending: Spending { calls: 2, cost_usd, ..Spending::default() },
            via,
            agent: Some("claude".to_owned()),
            agent_version: None,
            model: Some(model.to_owned()),
        }
    }

    #[test]
    fn earlier_probes_of_the_same_kind_know_best() {
        let earlier = [
            result(Via::Agent, "claude-sonnet-4-5-20250929", Some(0.2)),
            result(Via::Agent, "claude-sonnet-4-5-20250929", Some(0.4)),
            result(Via::Agent, "claude-sonnet-4-5-20250929", None),
            result(Via::Agent, "claude-opus-5", Some(9.0)),
            result(Via::Api, "claude-sonnet-4-5", Some(9.0)),
        ];
        let probing = agent(Some("claude-sonnet-4-5"));
        let forecast = CostForecast::of_probes(&probing, 10, &earlier, &access(&[]));
        let CostForecast::AsEarlier { usd, probes } = forecast else { panic!("{forecast}") };
        assert!((usd - 1.5).abs() < 1e-9, "two calls each: {usd}");
        assert_eq!(probes, 2);
    }

    #[test]
    fn without_earlier_probes_the_price_of_a_request_counts() {
        let of = |probing: &Probing, access: &Access| {
            CostForecast::of_probes(probing, 100, &[], access).to_string()
        };
        let nobody = access(&[]);
        assert_eq!(
            of(&agent(Some("claude-sonnet-4-5")), &nobody),
            "at least $7.67, if a request has 24080 tokens; an agent may make more than one"
        );
        assert_eq!(
            of(&api("anthropic:claude-sonnet-4-5", RequestSource::Auto), &nobody),
            "about $7.67, if a request has 24080 tokens"
        );
        let built_in = of(&api("anthropic:claude-sonnet-4-5", RequestSource::BuiltIn), &nobody);
        assert!(built_in.starts_with("about $0."), "{built_in}");
        assert!(of(&agent(None), &nobody).starts_with("cost unknown, because the agent chooses"));
    }

    #[test]
    fn an_unknown_price_is_unknown_until_the_user_sets_it() {
        let probing = api("openai:gpt-5", RequestSource::Auto);
        let mut access = access(&[]);
        let forecast = CostForecast::of_probes(&probing, 1, &[], &access);
        assert_eq!(
            (forecast.usd(), &forecast),
            (None, &CostForecast::NoPrice { model: "openai:gpt-5".into() })
        );
        let price = Price { input: 1.0, output: 10.0, cache_read: 0.1, cache_write: 1.0 };
        access.prices.insert("openai:gpt-5".to_owned(), price);
        let forecast = CostForecast::of_probes(&probing, 1, &[], &access);
        assert!(forecast.usd().is_some_and(|usd| (usd - 0.012_325).abs() < 1e-9), "{forecast:?}");
    }

    #[test]
    fn list_prices_do_not_hold_at_a_gateway() {
        let probing = api("anthropic:claude-sonnet-4-5", RequestSource::Auto);
        let gateway = access(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")]);
        assert_eq!(CostForecast::of_probes(&probing, 1, &[], &gateway).usd(), None);
    }
}
