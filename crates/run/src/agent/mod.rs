//! Agents: programs that carry out a prompt in a folder with tools.
//!
//! An agent is data ([`descriptor`], [`registry`]); what reads its events is code ([`adapter`]). An [`AgentTask`] says what
//! to do, an [`Executor`] does it in a private place, and an [`AgentRun`] says what became of it.

pub mod adapter;
pub mod auto;
pub mod descriptor;
mod environment;
mod execute;
mod isolation;
mod locate;
pub(crate) mod login;
pub mod registry;
mod run;
mod scrub;
mod task;

pub use crate::model::BASE_VARIABLES;
pub use descriptor::{AgentName, BundledSkills, Descriptor};
pub(crate) use execute::described;
pub use execute::{Attempt, ExecuteError, Executor, ExecutorSettings, OnProgress, Progress};
pub use isolation::IsolationError;
pub(crate) use isolation::PREFIX;
pub(crate) use locate::Search;
pub(crate) use locate::is_program;
pub use locate::{LocateError, Located};
pub use registry::{Registry, SourceFile, SourceKind, UnknownAgent};
pub use run::{AgentRun, AttemptRecord, CallRecord, RunNote, RunOrigin, RunTiming};
pub use scrub::ROOT;
pub(crate) use scrub::without_secrets;
pub use task::{
    AgentTask, InputError, SkillError, StopCondition, TaskInput, TaskLimits, TaskSkill,
};
