//! The comparison of a trigger report with an earlier one.

use serde::{Deserialize, Serialize};

use crate::evals::{DifferenceVerdict, TestMethod};
use crate::json::Number;
use crate::{Extra, JsonSchema};

/// Whether a skill is right more often than in an earlier report, on the queries that both have. A run is right when the
/// skill triggers for a query that should trigger it, or stays quiet for one that should not.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerComparison {
    /// The file of the earlier report.
    pub report: String,
    /// The description that was measured there.
    pub description: String,
    /// Queries that are compared.
    pub queries: u64,
    /// What can be concluded for these queries.
    pub verdict: DifferenceVerdict,
    /// The share of right runs now minus that of the earlier report, the mean over queries; null without queries.
    pub difference: Option<Number>,
    /// Its 95 % interval for these queries; null without queries.
    pub interval: Option<[Number; 2]>,
    /// How likely such a difference is if nothing differs; null without queries.
    #[schemars(range(min = 0, max = 1))]
    pub p: Option<Number>,
    /// How it was found; null without queries.
    pub method: Option<TestMethod>,
    /// The share of right runs now, the mean over queries; null without queries.
    pub rate: Option<Number>,
    /// The same in the earlier report; null without queries.
    pub earlier_rate: Option<Number>,
    /// The smallest difference that so many runs of this spread find with 80 % power; null when none can be found.
    pub resolvable: Option<Number>,
    /// Queries that are not compared, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutQuery>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A query that is not compared.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct LeftOutQuery {
    /// The query.
    pub query: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a query is not compared.
#[derive(
    Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// The earlier report doesn't have it.
    OnlyNow,
    /// Only the earlier report has it.
    OnlyEarlier,
    /// The reports differ in whether it should trigger.
    OtherLabel,
    /// Its files hold something else than in the earlier report.
    OtherFiles,
    /// No run of it completed now.
    UnmeasuredNow,
    /// No run of it completed in the earlier report.
    UnmeasuredEarlier,
}

impl LeftOutReason {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OnlyNow => "not in the earlier report",
            Self::OnlyEarlier => "only in the earlier report",
            Self::OtherLabel => "labelled otherwise in the earlier report",
            Self::OtherFiles => "asked with other content of its files in the earlier report",
            Self::UnmeasuredNow => "no completed run now",
            Self::UnmeasuredEarlier => "no completed run in the earlier report",
        }
    }
}
