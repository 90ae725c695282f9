//! What became of a run or probe, and why.
//!
//! [`Reason`] is the fact that an adapter establishes; [`Outcome`] follows from it through one table
//! ([`Reason::facts`]), so the two can never contradict each other. A reason stays visible beside its outcome: a
//! prober that asked for one turn counts `max_turns` as fine, a run does not.

use std::fmt;

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a run or probe.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent finished, or was stopped by us because the proof was there.
    Completed,
    /// It ran into the wall-clock limit, or said nothing for too long.
    TimedOut,
    /// A skill that it asked for was refused or could not be loaded.
    Denied,
    /// A rate, usage or spend limit stopped it; later it may work.
    RateLimited,
    /// Anything else that kept it from finishing; the reason says what.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}

impl Outcome {
    /// The name in files and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::TimedOut => "timed_out",
            Self::Denied => "denied",
            Self::RateLimited => "rate_limited",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Why a run or probe ended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The agent said that it was done.
    Completed,
    /// We stopped it because what we wanted to know was proven.
    StoppedAtProof,
    /// The wall-clock limit passed.
    Timeout,
    /// No event came for too long.
    Silence,
    /// A skill was asked for, and neither that nor a later attempt loaded it.
    SkillDenied,
    /// The model's service answered "too many requests".
    RateLimit,
    /// The plan's usage or quota is used up until it resets.
    UsageLimit,
    /// A spending limit was reached.
    SpendLimit,
    /// We were told to stop it.
    Cancelled,
    /// It was interrupted from outside (SIGINT).
    Interrupted,
    /// The key or token was refused.
    Authentication,
    /// There was no key or login at all.
    NotLoggedIn,
    /// The account has no credit.
    Billing,
    /// The model (or the endpoint) does not exist or may not be used.
    ModelNotFound,
    /// The model's service was overloaded.
    Overloaded,
    /// The model's service failed.
    ServerError,
    /// The connection to the model's service failed, broke or timed out.
    Connection,
    /// The model's service answered with something that is no answer.
    BadResponse,
    /// The model's service rejected the request.
    BadRequest,
    /// The conversation does not fit into the model's context window.
    ContextWindow,
    /// The model's answer was cut at the output limit.
    MaxOutputTokens,
    /// The model refused.
    Refusal,
    /// The limit on turns was reached.
    MaxTurns,
    /// The agent's own cost limit was reached.
    Budget,
    /// The stream ended without the event that says how it went.
    NoTerminalEvent,
    /// The stream broke off inside a line, or is not in the adapter's language.
    MalformedStream,
    /// The agent ended with an error before it said anything.
    StartFailed,
    /// The agent died: a signal or an error exit without a terminal event.
    Crashed,
    /// The agent reported an error that has no better name here.
    #[serde(other)]
    Other,
}

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chance {
    /// The cause may be gone the next time.
    MayPass,
    /// The same thing will happen again.
    Final,
}

impl Reason {
    /// Every reason, in the order of the table.
    pub const ALL: [Self; 29] = [
        Self::Completed,
        Self::StoppedAtProof,
        Self::Timeout,
        Self::Silence,
        Self::SkillDenied,
        Self::RateLimit,
        Self::UsageLimit,
        Self::SpendLimit,
        Self::Cancelled,
        Self::Interrupted,
        Self::Authentication,
        Self::NotLoggedIn,
        Self::Billing,
        Self::ModelNotFound,
        Self::Overloaded,
        Self::ServerError,
        Self::Connection,
        Self::BadResponse,
        Self::BadRequest,
        Self::ContextWindow,
        Self::MaxOutputTokens,
        Self::Refusal,
        Self::MaxTurns,
        Self::Budget,
        Self::NoTerminalEvent,
        Self::MalformedStream,
        Self::StartFailed,
        Self::Crashed,
        Self::Other,
    ];

    /// The one table: name, outcome, whether a retry can help.
    const fn facts(self) -> (&'static str, Outcome, Chance) {
        use Chance::{Final, MayPass};
        use Outcome as O;
        match self {
            Self::Completed => ("completed", O::Completed, Final),
            Self::StoppedAtProof => ("stopped_at_proof", O::Completed, Final),
            Self::Timeout => ("timeout", O::TimedOut, MayPass),
            Self::Silence => ("silence", O::TimedOut, MayPass),
            Self::SkillDenied => ("skill_denied", O::Denied, Final),
            Self::RateLimit => ("rate_limit", O::RateLimited, MayPass),
            Self::UsageLimit => ("usage_limit", O::RateLimited, MayPass),
            Self::SpendLimit => ("spend_limit", O::RateLimited, Final),
            Self::Cancelled => ("cancelled", O::Cancelled, Final),
            Self::Interrupted => ("interrupted", O::Cancelled, Final),
            Self::Authentication => ("authentication", O::Failed, Final),
            Self::NotLoggedIn => ("not_logged_in", O::Failed, Final),
            Self::Billing => ("billing", O::Failed, Final),
            Self::ModelNotFound => ("model_not_found", O::Failed, Final),
            Self::Overloaded => ("overloaded", O::Failed, MayPass),
            Self::ServerError => ("server_error", O::Failed, MayPass),
            Self::Connection => ("connection", O::Failed, MayPass),
            Self::BadResponse => ("bad_response", O::Failed, MayPass),
            Self::BadRequest => ("bad_request", O::Failed, Final),
            Self::ContextWindow => ("context_window", O::Failed, Final),
            Self::MaxOutputTokens => ("max_output_tokens", O::Failed, Final),
            Self::Refusal => ("refusal", O::Failed, Final),
            Self::MaxTurns => ("max_turns", O::Failed, Final),
            Self::Budget => ("budget", O::Failed, Final),
            Self::NoTerminalEvent => ("no_terminal_event", O::Failed, MayPass),
            Self::MalformedStream => ("malformed_stream", O::Failed, MayPass),
            Self::StartFailed => ("start_failed", O::Failed, Final),
            Self::Crashed => ("crashed", O::Failed, MayPass),
            Self::Other => ("other", O::Failed, MayPass),
        }
    }

    /// Whether the agent itself brought it to this end, so that it says something about the skill: a run that is tried
    /// until the agent does not crash says too much good. Everything else is the fault of a service, a login or a
    /// machine: no result, and worth another try when the cause is gone.
    pub const fn is_result(self) -> bool {
        match self {
            Self::Completed
            | Self::StoppedAtProof
            | Self::Timeout
            | Self::Silence
            | Self::SkillDenied
            | Self::ContextWindow
            | Self::MaxOutputTokens
            | Self::Refusal
            | Self::MaxTurns
            | Self::Budget
            | Self::Crashed => true,
            Self::RateLimit
            | Self::UsageLimit
            | Self::SpendLimit
            | Self::Cancelled
            | Self::Interrupted
            | Self::Authentication
            | Self::NotLoggedIn
            | Self::Billing
            | Self::ModelNotFound
            | Self::Overloaded
            | Self::ServerError
            | Self::Connection
            | Self::BadResponse
            | Self::BadRequest
            | Self::NoTerminalEvent
            | Self::MalformedStream
            | Self::StartFailed
            | Self::Other => false,
        }
    }

    /// Whether every other run will meet the same end, so that going on only costs.
    pub const fn stops_all(self) -> bool {
        matches!(
            self,
            Self::Authentication
                | Self::NotLoggedIn
                | Self::Billing
                | Self::ModelNotFound
                | Self::UsageLimit
                | Self::SpendLimit
                | Self::StartFailed
        )
    }

    /// The name in files and messages.
    pub const fn as_str(self) -> &'static str {
        self.facts().0
    }

    /// The outcome that this reason means.
    pub const fn outcome(self) -> Outcome {
        self.facts().1
    }

    /// Whether a later attempt may succeed: a rate limit passes, a refused key does not.
    pub const fn may_pass(self) -> bool {
        matches!(self.facts().2, Chance::MayPass)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Outcome, Reason};

    #[test]
    fn every_reason_has_one_name_in_the_table_and_in_files() {
        let names: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(names.len(), Reason::ALL.len());
        for reason in Reason::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
            assert_eq!(serde_json::to_value(reason.outcome()).unwrap(), reason.outcome().as_str());
        }
    }

    #[test]
    fn a_refused_key_is_final_and_a_rate_limit_passes() {
        assert!(!Reason::Authentication.may_pass());
        assert!(!Reason::NotLoggedIn.may_pass());
        assert!(Reason::RateLimit.may_pass());
        assert!(Reason::Overloaded.may_pass());
    }

    #[test]
    fn nothing_but_a_proof_or_an_ending_counts_as_completed() {
        let completed: Vec<Reason> = Reason::ALL
            .into_iter()
            .filter(|reason| reason.outcome() == Outcome::Completed)
            .collect();
        assert_eq!(completed, [Reason::Completed, Reason::StoppedAtProof]);
    }

    #[test]
    fn a_reason_of_a_newer_version_is_read_as_other() {
        assert_eq!(serde_json::from_str::<Reason>("\"sun_went_down\"").unwrap(), Reason::Other);
    }
}
