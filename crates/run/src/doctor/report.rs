//! What was found, as data.

use std::path::PathBuf;

use serde::Serialize;

use crate::agent::AgentName;
use crate::agent::auto::AgentCandidate;
use crate::agent::descriptor::{PromptVia, Source, Version};
use crate::model::ModelName;
use crate::model::auto::{Finding, ModelCandidate};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Every agent, in the order in which `auto` considers them.
    pub agents: Vec<AgentReport>,
    /// What `--agent auto` means here.
    pub auto_agent: AutoAgent,
    pub models: Vec<ModelReport>,
    /// What `--judge auto` means here.
    pub auto_model: AutoModel,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentReport {
    pub name: AgentName,
    pub about: String,
    /// Where its descriptor comes from.
    pub source: Source,
    pub standing: Standing,
    pub program: Option<PathBuf>,
    /// The launcher that it lies behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<PathBuf>,
    pub version: Option<Version>,
    /// The oldest version that works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Version>,
    /// Its arguments, with placeholders; what stands in brackets vanishes when it has no value.
    pub arguments: Vec<String>,
    /// How it gets the prompt.
    pub prompt: PromptVia,
    /// Where skills are installed, below the work folder.
    pub skills: String,
    pub login: LoginReport,
    /// What keeps it from being used, and how to change that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// What it does not do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How it stands with an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Ready,
    /// It is there, and nobody is logged in.
    NoLogin,
    /// It is there, and too old.
    TooOld,
    /// It is not there.
    NotFound,
    /// It is there and does not work, or misses something.
    Broken,
}

/// Where a login is. Never what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoginReport {
    /// What the agent gets, the one that counts first.
    pub used: Vec<FoundAt>,
    /// What is there and does not count, because another one outranks it.
    pub ignored: Vec<String>,
    /// What is there and cannot be used.
    pub unusable: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundAt {
    /// The name of a variable, or the path of a file.
    pub place: String,
    pub about: String,
}

/// What `auto` means for agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AutoAgent {
    /// The agent; absent when none can be used.
    pub chosen: Option<AgentName>,
    /// Those before it, with what speaks against them, and it.
    pub considered: Vec<AgentCandidate>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelReport {
    /// What stands before the colon.
    pub provider: String,
    pub about: String,
    /// A name that it understands.
    pub example: String,
    /// What was found of what it needs.
    pub finding: Finding,
    /// The variable that changes its address, when it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// What `auto` means for models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AutoModel {
    /// The model; absent when none can be used.
    pub chosen: Option<ModelName>,
    pub considered: Vec<ModelCandidate>,
    /// What would help, when none can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}
