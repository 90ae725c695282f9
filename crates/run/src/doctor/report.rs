//! What was found, as data.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::agent::AgentName;
use crate::agent::auto::AgentCandidate;
use crate::agent::descriptor::{PromptVia, Source, Version};
use crate::model::auto::{Finding, ModelCandidate};
use crate::model::{Environment, ModelName};
use crate::preflight;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Every agent, in the order in which `auto` considers them.
    pub agents: Vec<AgentReport>,
    /// What `--agent auto` means here.
    pub auto_agent: AutoAgent,
    pub models: Vec<ModelReport>,
    /// What `--judge auto` means here.
    pub auto_model: AutoModel,
    /// Where private folders are made.
    pub scratch: RoomReport,
}

/// A folder, and how much room there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoomReport {
    pub folder: PathBuf,
    /// Bytes; absent where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<u64>,
    /// What is wrong with it, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl RoomReport {
    pub(super) fn of(folder: &Path) -> Self {
        let problem = preflight::room(folder).err();
        Self {
            folder: folder.to_owned(),
            free: preflight::free_room(folder),
            problem: problem.map(|unready| format!("{unready}; {}", unready.hint())),
        }
    }
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
    /// Older versions are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Version>,
    /// The oldest and the newest version that was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tested: Option<[Version; 2]>,
    /// Why its version may be measured wrongly, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untested: Option<String>,
    /// Its arguments, with placeholders; what stands in brackets vanishes when it has no value.
    pub arguments: Vec<String>,
    /// How it gets the prompt.
    pub prompt: PromptVia,
    /// Where skills are installed, below the work folder.
    pub skills: String,
    pub login: LoginReport,
    /// The variables with an address that it gets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<AddressReport>,
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
    pub address: Option<AddressReport>,
}

/// An address of the user's own, and whether somebody answers there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressReport {
    pub variable: String,
    /// What is wrong with it, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl AddressReport {
    /// Blocks for a few seconds at most.
    pub(super) fn of(variable: &str, environment: &Environment) -> Self {
        let reached = preflight::reach(variable, environment);
        let problem = reached.err().map(|unready| format!("{unready}; {}", unready.hint()));
        Self { variable: variable.to_owned(), problem }
    }

    pub(super) fn text(&self) -> String {
        match &self.problem {
            Some(problem) => problem.clone(),
            None => format!("in {}", self.variable),
        }
    }
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
