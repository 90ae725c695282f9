//! What `skillgauge.toml` sets for a project: the same names as the flags. A flag comes first, then the file, then the
//! default that stands beside each question here.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::args::{AgentArgs, BudgetArgs, TapeArgs, duration};

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
    improver: Option<String>,
    runs: Option<u64>,
    seed: Option<u64>,
    jobs: Option<u32>,
    timeout: Option<Time>,
    max_cost: Option<f64>,
    max_calls: Option<u64>,
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
    /// Names of variables that a `command:` model gets beside those that every program gets.
    command_variables: Vec<String>,
    /// Read by the agents' own reader, with its own messages.
    #[serde(rename = "agents")]
    _agents: Option<toml::Table>,
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

    /// Names of variables that a `command:` model gets.
    pub(crate) fn command_variables(&self) -> &[String] {
        &self.command_variables
    }

    /// The agent.
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

    /// The model that judges.
    pub(crate) fn judge(&self, typed: Option<&str>) -> Option<String> {
        typed.map(ToOwned::to_owned).or_else(|| self.judge.clone())
    }

    /// How often the judge is asked.
    pub(crate) fn judge_votes(&self, typed: Option<u32>) -> u32 {
        typed.or(self.judge_votes).unwrap_or(1).max(1)
    }

    /// The model that improves.
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

    /// The most calls.
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
    fn a_key_that_is_no_flag_is_refused_with_its_line() {
        let error = ProjectSettings::read("agent = \"claude\"\njob = 3\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("`job`"), "{error}");
    }
}
