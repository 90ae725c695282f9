//! What `skillgauge.toml` sets for a project: the same names as the flags. A flag comes first, then the file, then the
//! default that stands beside each question here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use skillgauge_run::model::{ANSWER_LIMIT, Price};

use crate::args::{AgentArgs, BudgetArgs, JudgeGateArg, TapeArgs, duration};

/// How many work at once when nobody says.
const JOBS: u32 = 4;
/// The seed when nobody says.
const SEED: u64 = 42;

/// `skillgauge.toml` without its agents.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct ProjectSettings {
    agent: Option<String>,
    model: Option<String>,
    judge: Option<String>,
    judge_votes: Option<u32>,
    judge_gate: Option<JudgeGateArg>,
    judge_context: Option<u32>,
    judge_timeout: Option<Time>,
    improver: Option<String>,
    runs: Option<u64>,
    seed: Option<u64>,
    jobs: Option<u32>,
    timeout: Option<Time>,
    max_cost: Option<f64>,
    max_calls: Option<u64>,
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
    /// What models cost, by name.
    prices: BTreeMap<String, PriceSetting>,
    /// Names of variables that a `command:` model gets beside those that every program gets.
    command_variables: Vec<String>,
    /// Read by the agents' own reader, with its own messages.
    #[serde(rename = "agents")]
    _agents: Option<toml::Table>,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PriceSetting {
    input: Dollars,
    output: Dollars,
    cache_read: Option<Dollars>,
    cache_write: Option<Dollars>,
}

/// An amount that is one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "f64")]
struct Dollars(f64);

impl TryFrom<f64> for Dollars {
    type Error = &'static str;

    fn try_from(amount: f64) -> Result<Self, Self::Error> {
        let is_amount = amount.is_finite() && amount >= 0.0;
        if is_amount { Ok(Self(amount)) } else { Err("a price is 0 or more") }
    }
}

/// A time as `90` or `"5m"`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "toml::Value")]
struct Time(Duration);

impl TryFrom<toml::Value> for Time {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(seconds) => seconds.to_string(),
            toml::Value::Float(seconds) => seconds.to_string(),
            _ => return Err("write a time as 90 or \"5m\"".to_owned()),
        };
        duration(&text).map(Self)
    }
}

impl ProjectSettings {
    /// Reads the file's text.
    pub(crate) fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// What models cost, as the user says.
    pub(crate) fn prices(&self) -> BTreeMap<String, Price> {
        let price = |(name, price): (&String, &PriceSetting)| {
            let cached = |own: Option<Dollars>| own.unwrap_or(price.input).0;
            let price = Price {
                input: price.input.0,
                output: price.output.0,
                cache_read: cached(price.cache_read),
                cache_write: cached(price.cache_write),
            };
            (name.clone(), price)
        };
        self.prices.iter().map(price).collect()
    }

    /// Names of variables that a `command:` model gets.
    pub(crate) fn command_variables(&self) -> &[String] {
        &self.command_variables
    }

    pub(crate) fn agent(&self, args: &AgentArgs) -> String {
        args.agent.clone().or_else(|| self.agent.clone()).unwrap_or_else(|| "auto".to_owned())
    }

    /// The agent's model, if anybody names one.
    pub(crate) fn model(&self, args: &AgentArgs) -> Option<String> {
        args.model.clone().or_else(|| self.model.clone())
    }

    /// The longest that an attempt may take, if anybody says.
    pub(crate) fn timeout(&self, args: &AgentArgs) -> Option<Duration> {
        args.timeout.or_else(|| self.timeout.map(|time| time.0))
    }

    pub(crate) fn judge(&self, typed: Option<&str>) -> Option<String> {
        typed.map(ToOwned::to_owned).or_else(|| self.judge.clone())
    }

    /// How often the judge is asked.
    pub(crate) fn judge_votes(&self, typed: Option<u32>) -> u32 {
        typed.or(self.judge_votes).unwrap_or(1).max(1)
    }

    /// Whether only a measured judge may decide.
    pub(crate) fn is_gated(&self, typed: Option<JudgeGateArg>) -> bool {
        typed.or(self.judge_gate) == Some(JudgeGateArg::Calibrated)
    }

    /// How many tokens the judge takes in all, if anybody says.
    pub(crate) fn judge_context(&self, typed: Option<u32>) -> Option<u32> {
        typed.or(self.judge_context)
    }

    /// The longest that a judge or another model may take for an answer.
    pub(crate) fn judge_timeout(&self, args: &BudgetArgs) -> Duration {
        let typed = args.judge_timeout.or_else(|| self.judge_timeout.map(|time| time.0));
        typed.unwrap_or(ANSWER_LIMIT)
    }

    pub(crate) fn improver(&self, typed: Option<&str>) -> Option<String> {
        typed.map(ToOwned::to_owned).or_else(|| self.improver.clone())
    }

    /// How often something is run, if anybody says.
    pub(crate) fn runs(&self, typed: Option<u64>) -> Option<u64> {
        typed.or(self.runs)
    }

    /// The seed of everything that is drawn.
    pub(crate) fn seed(&self, typed: Option<u64>) -> u64 {
        typed.or(self.seed).unwrap_or(SEED)
    }

    /// How many work at once, at most.
    pub(crate) fn jobs(&self, args: &BudgetArgs) -> u32 {
        args.jobs.or(self.jobs).unwrap_or(JOBS).max(1)
    }

    /// The most that may be spent, in US dollars.
    pub(crate) fn max_cost(&self, args: &BudgetArgs) -> Option<f64> {
        args.max_cost.or(self.max_cost)
    }

    pub(crate) fn max_calls(&self, args: &BudgetArgs) -> Option<u64> {
        args.max_calls.or(self.max_calls)
    }

    /// Record or replay; what is typed replaces both settings of the file.
    pub(crate) fn tape(&self, args: &TapeArgs) -> TapeArgs {
        if args.record.is_some() || args.replay.is_some() {
            args.clone()
        } else {
            TapeArgs { record: self.record.clone(), replay: self.replay.clone() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_comes_before_the_file_and_the_file_before_the_default() {
        let file = ProjectSettings::read("jobs = 8\ntimeout = \"5m\"\n[agents.mine]\n").unwrap();
        assert_eq!(file.jobs(&BudgetArgs::default()), 8);
        assert_eq!(file.jobs(&BudgetArgs { jobs: Some(2), ..BudgetArgs::default() }), 2);
        assert_eq!(ProjectSettings::default().jobs(&BudgetArgs::default()), JOBS);
        assert_eq!(file.timeout(&AgentArgs::default()), Some(Duration::from_mins(5)));
        assert_eq!(file.agent(&AgentArgs::default()), "auto");
    }

    #[test]
    fn a_price_is_an_amount_and_the_cache_costs_as_much_as_input_unless_it_is_said() {
        let text = "[prices]\n\"openai:gpt-5\" = { input = 1, output = 10.5, cache-read = 0.1 }\n";
        let prices = ProjectSettings::read(text).unwrap().prices();
        let expected = Price { input: 1.0, output: 10.5, cache_read: 0.1, cache_write: 1.0 };
        assert_eq!(prices["openai:gpt-5"], expected);
        for bad in ["input = -1, output = 1", "input = nan, output = 1", "input = 1"] {
            let text = format!("[prices]\nm = {{ {bad} }}\n");
            assert!(ProjectSettings::read(&text).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_that_is_no_flag_is_refused_with_its_line() {
        let error = ProjectSettings::read("agent = \"claude\"\njob = 3\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("`job`"), "{error}");
    }
}
