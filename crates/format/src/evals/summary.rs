//! The statistics of a benchmark.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::json::{self, Number};
use crate::part::Configuration;
use crate::{Extra, JsonSchema};

/// Statistics by configuration, and the difference that the skill makes.
///
/// Configurations of other tools are kept with the unknown fields; [`RunSummary::get`] finds them too.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunSummary {
    /// Runs with the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_skill: Option<ConfigurationSummary>,
    /// Runs without the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_skill: Option<ConfigurationSummary>,
    /// Runs with an earlier version of the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_skill: Option<ConfigurationSummary>,
    /// With the skill minus the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl RunSummary {
    /// The statistics of a configuration, one of another tool included.
    pub fn get(&self, configuration: &Configuration) -> Option<Cow<'_, ConfigurationSummary>> {
        match configuration {
            Configuration::WithSkill => self.with_skill.as_ref().map(Cow::Borrowed),
            Configuration::WithoutSkill => self.without_skill.as_ref().map(Cow::Borrowed),
            Configuration::OldSkill => self.old_skill.as_ref().map(Cow::Borrowed),
            Configuration::Other(name) => {
                json::from_value::<_, serde_json::Error>(self.extra.get(name)?).ok().map(Cow::Owned)
            }
        }
    }
}

/// Statistics of the runs in one configuration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ConfigurationSummary {
    /// Share of the expectations that passed.
    pub pass_rate: Stats,
    /// The rubric's scores in one number from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubric_normalized: Option<Stats>,
    /// Mean of `pass_rate` and `rubric_normalized`, run by run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_efficiency: Option<Stats>,
    /// 1 - stddev / mean of `overall_efficiency`, at least 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub consistency: Option<Number>,
    /// Duration in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<Stats>,
    /// Tokens of all kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Stats>,
    /// The rubric's scores by the name of the dimension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubric_dimensions: Option<IndexMap<String, Stats>>,
    /// Mean of the criteria's scores from 1 to 5, in a suite of the `cases` dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_score: Option<Stats>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Mean and spread of a number over runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Stats {
    /// Mean.
    pub mean: Number,
    /// Sample standard deviation; 0 for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stddev: Option<Number>,
    /// Smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// Largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// With the skill minus the baseline.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Delta {
    /// Difference of the mean pass rates, such as `+0.50`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<DeltaValue>,
    /// Difference of the mean durations in seconds, such as `+13.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<DeltaValue>,
    /// Difference of the mean tokens, such as `+1700`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<DeltaValue>,
    /// Difference of the mean rubric scores, such as `+0.12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubric_normalized: Option<DeltaValue>,
    /// Difference of the mean overall efficiency, such as `+0.31`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_efficiency: Option<DeltaValue>,
    /// Difference of the mean scores from 1 to 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_score: Option<DeltaValue>,
    /// Difference of the mean costs in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<DeltaValue>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A difference: a signed text in the skill-creator's files, a number in others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DeltaValue {
    /// `"+0.50"`
    Text(String),
    /// `0.5`
    Number(Number),
}

impl DeltaValue {
    /// A signed text with so many decimals, as we write it. What rounds to zero is `+0.00`, never `-0.00`.
    pub fn signed(difference: f64, decimals: usize) -> Self {
        let text = format!("{difference:+.decimals$}");
        let is_zero = text.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'0' | b'.'));
        Self::Text(if is_zero { text.replacen('-', "+", 1) } else { text })
    }

    /// The difference; nothing when the text is not a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Number(number) => Some(number.as_f64()),
        }
    }
}

impl<'de> Deserialize<'de> for DeltaValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            number => json::from_value(&number).map(Self::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign_and_can_be_read_back() {
        for (difference, decimals, text) in [
            (0.5, 2, "+0.50"),
            (13.0, 1, "+13.0"),
            (1700.0, 0, "+1700"),
            (-0.126, 2, "-0.13"),
            (-0.001, 2, "+0.00"),
        ] {
            assert_eq!(DeltaValue::signed(difference, decimals), DeltaValue::Text(text.into()));
        }
        assert_eq!(DeltaValue::Text("+0.50".into()).as_f64(), Some(0.5));
        assert_eq!(DeltaValue::Number(Number::Unsigned(2)).as_f64(), Some(2.0));
        assert_eq!(DeltaValue::Text("n/a".into()).as_f64(), None);
    }

    #[test]
    fn a_configuration_of_another_tool_is_found() {
        let summary: RunSummary =
            serde_json::from_str(r#"{"new_skill": {"pass_rate": {"mean": 0.5}}, "note": 1}"#)
                .unwrap();
        let other = |name: &str| summary.get(&Configuration::Other(name.into()));
        assert_eq!(other("new_skill").unwrap().pass_rate.mean, Number::Float(0.5));
        assert!(other("note").is_none());
        assert!(summary.get(&Configuration::WithSkill).is_none());
    }
}
