//! Claims that an agent made about its own work.

use serde::{Deserialize, Serialize};

use crate::part::Quote;
use crate::{Extra, JsonSchema};

/// Something that the agent said about its work, and whether it is so.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Claim {
    /// What was claimed.
    pub claim: String,
    /// The sort of claim, such as `factual`, `process` or `quality`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub claim_type: Option<String>,
    /// Whether the claim holds.
    pub verified: bool,
    /// What shows that it holds or does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Whether all of the quotes were found; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_found: Option<bool>,
    /// The quotes of the judge, and where they were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotes: Option<Vec<Quote>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
