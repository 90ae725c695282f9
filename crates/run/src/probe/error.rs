//! Why there is no measurement.

use skillgauge_core::trigger::{Answer, Observation};
use skillgauge_format::transcript::Outcome;

use super::journal::JournalError;
use super::result::ProbeResult;
use crate::agent::{ExecuteError, InputError};
use crate::budget::OverBudget;
use crate::model::{ModelError, ModelName};
use crate::pool::{Panicked, ServiceDown};

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The agent cannot be used.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The model cannot be used.
    #[error("the model `{model}` cannot be used: {source}")]
    Model {
        model: ModelName,
        #[source]
        source: ModelError,
    },
    /// The model cannot be offered tools.
    #[error(
        "`{model}` cannot be asked without an agent; name a model as anthropic:NAME or openai:NAME"
    )]
    NoTools { model: ModelName },
    /// The agent's request was wanted and could not be captured.
    #[error("{reason}")]
    NoCapture { reason: String },
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A skill cannot be read.
    #[error("the skill `{skill}` cannot be read")]
    Skill { skill: String },
    /// A file of a query's situation cannot be used.
    #[error("the query \"{query}\" cannot be asked: {source}")]
    Input {
        query: String,
        #[source]
        source: Box<InputError>,
    },
    /// The agent can't be put into a query's situation.
    #[error("the query \"{query}\" cannot be asked: {why}")]
    Situation { query: String, why: String },
    /// The agent has no limit on turns.
    #[error("`{agent}` has no limit on turns, so `--max-turns` can't be kept")]
    NoTurnLimit { agent: String },
    /// The control did not trigger.
    #[error(
        "the positive control failed: {}; nothing was measured",
        control_says(&result.observation, skill)
    )]
    Control { skill: String, result: Box<ProbeResult> },
    /// A limit was reached before anything was measured.
    #[error("no run completed ({0}); there is no rate")]
    Budget(OverBudget),
    /// The service was given up before anything was measured.
    #[error("no run completed: {0}; there is no rate")]
    Down(ServiceDown),
    #[error("no run completed ({outcomes}); there is no rate")]
    NothingMeasured {
        /// How often each outcome came up.
        outcomes: String,
    },
    /// Before anything could be measured.
    #[error("interrupted before the positive control ended")]
    Cancelled,
    #[error(transparent)]
    Internal(#[from] Panicked),
}

fn control_says(observation: &Observation, skill: &str) -> String {
    let message =
        observation.message.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
    match observation.answer(skill) {
        Answer::Triggered(_) => "it triggered".to_owned(),
        Answer::NotTriggered => {
            format!("asked for `{skill}` by name, the agent ended without loading it")
        }
        Answer::Unmeasured(Outcome::Denied) => format!("loading `{skill}` was refused{message}"),
        Answer::Unmeasured(outcome) => {
            format!("it ended as {outcome} ({}){message}", observation.reason)
        }
    }
}
