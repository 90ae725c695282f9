//! The answer of a benchmark: which outcome decided, and what follows for these cases and for tasks like these.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::statistics::DifferenceVerdict;
use crate::json::Number;
use crate::{Extra, JsonSchema};

/// The one number of a run that decides which arm is better.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    Eq,
    Hash,
    JsonSchema,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum PrimaryOutcome {
    /// The share of the expectations that passed.
    #[default]
    PassRate,
    /// The rubric's scores in one number from 0 to 1.
    RubricNormalized,
    /// The mean of pass rate and rubric; the default of a suite with a rubric.
    OverallEfficiency,
    /// The mean score of all criteria from 1 to 5; the default of the `cases` dialect.
    OverallScore,
    /// The mean score of the required criteria from 1 to 5.
    RequiredScore,
    /// Which of two results a blind comparator prefers, for work that has no checkable answer.
    Preference,
}

impl PrimaryOutcome {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::PassRate,
        Self::RubricNormalized,
        Self::OverallEfficiency,
        Self::OverallScore,
        Self::RequiredScore,
        Self::Preference,
    ];

    /// As files and flags have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PassRate => "pass_rate",
            Self::RubricNormalized => "rubric_normalized",
            Self::OverallEfficiency => "overall_efficiency",
            Self::OverallScore => "overall_score",
            Self::RequiredScore => "required_score",
            Self::Preference => "preference",
        }
    }

    /// The smallest and the largest value.
    pub const fn scale(self) -> (f64, f64) {
        match self {
            Self::OverallScore | Self::RequiredScore => (1.0, 5.0),
            Self::PassRate
            | Self::RubricNormalized
            | Self::OverallEfficiency
            | Self::Preference => (0.0, 1.0),
        }
    }
}

impl fmt::Display for PrimaryOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for PrimaryOutcome {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no outcome `{name}`; choose one of {names}")
        })
    }
}

/// The answer of a comparison.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Verdict {
    /// The outcome that it is about.
    pub outcome: PrimaryOutcome,
    /// A difference below this share of the outcome's scale does not matter.
    pub margin: Number,
    /// On these cases: are runs with the skill better than runs without?
    pub on_suite: OnSuite,
    /// On tasks like these: would other cases show the same?
    pub beyond: Beyond,
    /// The smallest difference that this design finds with 80 % power, from the variance seen, in units of the outcome;
    /// null when no result of this design could be an answer.
    pub resolvable: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a probability was found.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestMethod {
    /// All deals of the runs were counted.
    Exact,
    /// A seeded sample of the deals was counted.
    MonteCarlo,
    /// Pairs of runs were bet on, one after the other; the number is `e`.
    EValue,
}

/// The answer for the cases that were run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct OnSuite {
    /// What can be concluded.
    pub verdict: DifferenceVerdict,
    /// The mean over cases of the difference between the arms; null without cases.
    pub difference: Option<Number>,
    /// Its 95 % interval for these cases; null without cases.
    pub interval: Option<[Number; 2]>,
    /// How likely such a difference is if nothing differs; absent with `--until-decided`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub p: Option<Number>,
    /// The e-value of the pairs of runs, with `--until-decided`; 20 decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e: Option<Number>,
    /// How it was found; null without cases.
    pub method: Option<TestMethod>,
    /// Why the preferences of the comparator decide nothing, when they follow the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_bias: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The answer for tasks like these.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Beyond {
    /// What can be concluded; null when the question was not asked, because there are too few cases.
    pub verdict: Option<DifferenceVerdict>,
    /// The mean difference over cases; null when it was not asked.
    pub difference: Option<Number>,
    /// Its 95 % interval for cases like these; null when it was not asked. It holds the
    /// interval for these cases: the wider claim is never surer.
    pub interval: Option<[Number; 2]>,
    /// The p-value of the sign-flip test over cases; null when it was not asked.
    #[schemars(range(min = 0, max = 1))]
    pub p: Option<Number>,
    /// How many more cases it takes to ask; 0 when it was asked.
    pub cases_needed: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
