//! What an eval folder is about; it lies beside the configurations.

use serde::{Deserialize, Serialize};

use crate::part::{EvalId, Statement};
use crate::{Extra, JsonSchema};

/// What the runs below this folder are runs of.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EvalMetadata {
    /// The eval of the suite.
    pub eval_id: EvalId,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_name: Option<String>,
    /// The task.
    pub prompt: String,
    /// What the result is judged by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertions: Option<Vec<Statement>>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
