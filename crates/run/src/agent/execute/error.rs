//! Why a task was not run. An agent that ran and failed is no error: it is an outcome.

use crate::agent::auto::AgentCandidate;
use crate::agent::isolation::IsolationError;
use crate::agent::locate::LocateError;
use crate::agent::registry::UnknownAgent;
use crate::cassette::CassetteError;
use crate::outputs::OutputsError;
use crate::pool::Problem;
use crate::preflight::Unready;
use crate::process::ProcessError;

/// Why a task was not run, or why its result could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// There is no such agent.
    #[error(transparent)]
    Unknown(#[from] UnknownAgent),
    /// `auto` found no agent that can be used.
    #[error("no agent can be used:{}", considered.iter().map(said).collect::<String>())]
    NoAgent { considered: Vec<AgentCandidate> },
    /// The agent is not there, or too old.
    #[error(transparent)]
    Locate(#[from] LocateError),
    /// Something is missing that everything needs: a login, a gateway, room.
    #[error(transparent)]
    Unready(#[from] Unready),
    /// The task cannot be prepared.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
    /// The agent could not be started, or nobody knows how it ended.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// What it produced could not be kept.
    #[error(transparent)]
    Outputs(#[from] OutputsError),
    /// The folder for outputs is not empty.
    #[error("the folder {folder:?} for outputs is not empty")]
    OutputsNotEmpty { folder: std::path::PathBuf },
    /// A file of ours could not be read or written.
    #[error("cannot keep what the agent produced")]
    Io(#[from] std::io::Error),
    /// The cassette cannot be used, or has no answer.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// A recording was made with an adapter that this version does not have.
    #[error(
        "the recording is of an agent whose events are read by `{adapter}`, which this version does not know"
    )]
    NoAdapter { adapter: String },
    /// A task of the runtime broke: a bug of ours.
    #[error("an internal error stopped the run: {message}")]
    Internal { message: String },
}

impl ExecuteError {
    /// What a scheduler should make of it: a failure of this machine may pass, anything else stays.
    pub fn problem(&self) -> Option<Problem> {
        let may_pass = match self {
            Self::Process(error) => error.may_pass(),
            Self::Io(_) => true,
            Self::Unknown(_)
            | Self::NoAgent { .. }
            | Self::Locate(_)
            | Self::Unready(_)
            | Self::Isolation(_)
            | Self::Outputs(_)
            | Self::OutputsNotEmpty { .. }
            | Self::Cassette(_)
            | Self::NoAdapter { .. }
            | Self::Internal { .. } => false,
        };
        may_pass.then(Problem::machine)
    }
}

fn said(considered: &AgentCandidate) -> String {
    let against = considered.against.as_deref().unwrap_or("it can be used");
    format!("\n  {}: {against}", considered.agent)
}
