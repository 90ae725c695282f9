//! Tools that a model is offered and may call; nobody carries them out here.
//!
//! A probe without an agent offers the tools of one and looks at what the model calls first. Only the HTTP services can
//! be offered tools; [`super::ProviderKind::takes_tools`] says which.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfferedTool {
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}

/// A tool that a model called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalledTool {
    pub name: String,
    /// What it was given; a text when it was not JSON.
    pub input: Value,
}
