//! Why a model did not answer.
//!
//! [`ModelError`] is plain data: it can be compared, stored in a cassette and told again. Whether a later attempt may
//! help is one table ([`ModelError::problem`]). [`Failure`] is what a caller gets: the last error together with every
//! attempt and what they cost, because a question without an answer has been paid for, too.
//!
//! The one invariant: texts that came from outside have been scrubbed of secrets before they get in here.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillgauge_format::transcript::{ExitStatus, Reason, Usage};

use super::name::ProviderKind;
use super::response::Attempt;
use crate::cassette::Missing;
use crate::pool::{Problem, ServiceDown};

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum ModelError {
    #[error("no key for `{provider}`: set {variable}")]
    NoKey {
        provider: String,
        /// The variable that should hold it.
        variable: String,
    },
    #[error("the key was refused ({status}): {message}")]
    BadKey { status: u16, message: String },
    /// A CLI is not logged in.
    #[error("`{program}` is not logged in: {message}")]
    NotLoggedIn { program: String, message: String },
    /// The account has no credit, or its quota is used up for good.
    #[error("the account has no credit: {message}")]
    NoCredit { message: String },
    /// The service does not know the model, or the address.
    #[error("no model `{model}` there: {message}; check the name and the base URL")]
    UnknownModel {
        /// The name that was asked for.
        model: String,
        message: String,
    },
    #[error("rate limited: {message}")]
    RateLimited {
        message: String,
        /// How long the service wants us to wait.
        retry_after_ms: Option<u64>,
    },
    /// The plan behind a login is used up until it resets.
    #[error("the plan is used up: {message}")]
    UsedUp { message: String },
    #[error("the service is overloaded: {message}")]
    Overloaded {
        message: String,
        /// How long the service wants us to wait.
        retry_after_ms: Option<u64>,
    },
    #[error("the service failed ({status}): {message}")]
    Server {
        status: u16,
        message: String,
        /// How long the service wants us to wait.
        retry_after_ms: Option<u64>,
    },
    /// The service rejects the request as it is.
    #[error("the request was rejected ({status}): {message}")]
    BadRequest { status: u16, message: String },
    #[error("{phase} took longer than {limit_ms} ms")]
    Timeout {
        phase: Phase,
        /// How long it was given.
        limit_ms: u64,
    },
    /// A judge, comparator, analyst or improver did not answer in its time.
    #[error(
        "no answer within {} s; --judge-timeout allows more time",
        std::time::Duration::from_millis(*limit_ms).as_secs_f64()
    )]
    Slow { limit_ms: u64 },
    /// There is no connection, or it broke before anything came.
    #[error("no connection: {detail}")]
    Connection { detail: String },
    /// The answer of the service is not what its protocol promises.
    #[error("the service answered with something else: {detail}")]
    Malformed {
        /// What is wrong with it.
        detail: String,
        excerpt: String,
    },
    /// The answer of the service ended too early.
    #[error("the answer was cut off after {received} bytes: {detail}")]
    Cut { received: u64, detail: String },
    /// The answer of the service, or the output of the program, is too large.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The most that is read.
        limit: u64,
    },
    #[error("the model refused: {message}")]
    Refusal { message: String },
    /// The model ran into the limit on its output.
    #[error("the answer was cut at the limit of {max_output_tokens} output tokens")]
    OutputCut {
        max_output_tokens: u32,
        /// What there is of the answer.
        text: String,
    },
    /// The answer does not fit its schema, and asking again did not help.
    #[error("the answer does not fit its schema: {}", problems.join("; "))]
    Answer {
        /// What is wrong with it.
        problems: Vec<String>,
        text: String,
    },
    /// The program is not there.
    #[error("no program `{program}`")]
    NoProgram { program: String },
    /// The program could not be started, or ended badly.
    #[error("`{program}` failed{}: {message}", ended(exit.as_ref()))]
    Program {
        program: String,
        /// How it ended; absent when it was never started.
        exit: Option<ExitStatus>,
        message: String,
        /// Whether it says that another attempt may help.
        chance: Chance,
    },
    /// A setting cannot be used: an address, a proxy, the certificates of the system.
    #[error("{setting} cannot be used: {detail}")]
    Setting {
        setting: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The service failed too often; nobody was asked.
    #[error("{detail}; {hint}")]
    Down {
        detail: String,
        /// What to do about it.
        hint: String,
    },
    /// `auto` found nothing.
    #[error("no model found; {}", hints.join("; or "))]
    NothingFound { hints: Vec<String> },
    /// The cassette has no answer to this request.
    #[error("{0}")]
    ReplayMissing(Box<Missing>),
    /// The cassette cannot be used.
    #[error("the cassette cannot be used: {detail}")]
    Cassette {
        /// Which file, and what is wrong with it.
        detail: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Connect,
    /// To the first byte of the answer.
    FirstByte,
    /// From the start to the last byte.
    Total,
    /// From the start of a program to its end.
    Program,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::FirstByte => "the first byte",
            Self::Total => "the answer",
            Self::Program => "the program",
        })
    }
}

/// Whether another attempt may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chance {
    /// The cause may be gone the next time.
    MayPass,
    /// The same would happen again.
    Final,
}

fn ended(exit: Option<&ExitStatus>) -> String {
    match exit {
        Some(ExitStatus { code: Some(code), .. }) => format!(" with code {code}"),
        Some(ExitStatus { signal: Some(signal), .. }) => format!(" by signal {signal}"),
        Some(_) | None => String::new(),
    }
}

impl ModelError {
    /// No key in the variable where it should be.
    pub(super) fn no_key(provider: ProviderKind, variable: &str) -> Self {
        Self::NoKey { provider: provider.to_string(), variable: variable.to_owned() }
    }

    pub(super) fn timeout(phase: Phase, limit: Duration) -> Self {
        Self::Timeout { phase, limit_ms: millis(limit) }
    }

    /// What the rules for retries know it as; nothing for what cannot pass.
    ///
    /// A rate limit passes, a refused key does not. [`Problem::is_pressure`] also tells the pool to make fewer requests.
    pub fn problem(&self) -> Option<Problem> {
        let reason = match self {
            Self::RateLimited { .. } => Reason::RateLimit,
            Self::UsedUp { .. } => Reason::UsageLimit,
            Self::Overloaded { .. } => Reason::Overloaded,
            Self::Server { .. } => Reason::ServerError,
            Self::Timeout { phase: Phase::Connect, .. }
            | Self::Connection { .. }
            | Self::Cut { .. } => Reason::Connection,
            Self::Timeout { .. } | Self::Slow { .. } => Reason::Timeout,
            Self::Malformed { .. } => Reason::BadResponse,
            Self::Program { chance: Chance::MayPass, .. } => Reason::Crashed,
            Self::Program { chance: Chance::Final, .. }
            | Self::NoKey { .. }
            | Self::BadKey { .. }
            | Self::NotLoggedIn { .. }
            | Self::NoCredit { .. }
            | Self::UnknownModel { .. }
            | Self::BadRequest { .. }
            | Self::TooLarge { .. }
            | Self::Refusal { .. }
            | Self::OutputCut { .. }
            | Self::Answer { .. }
            | Self::NoProgram { .. }
            | Self::Setting { .. }
            | Self::Down { .. }
            | Self::NothingFound { .. }
            | Self::ReplayMissing(_)
            | Self::Cassette { .. } => return None,
        };
        let problem = Problem::new(reason);
        Some(self.retry_after().map_or(problem, |delay| problem.retry_after(delay)))
    }

    /// Whether the same attempt may come to something. A program that hung will hang again, for as long.
    pub(super) fn is_worth_another_attempt(&self) -> bool {
        !matches!(self, Self::Timeout { phase: Phase::Program, .. })
    }

    /// Whether every other question will meet the same end, so that asking only costs: nobody is there who would answer.
    pub fn stops_all(&self) -> bool {
        matches!(
            self,
            Self::NoKey { .. }
                | Self::BadKey { .. }
                | Self::NotLoggedIn { .. }
                | Self::NoCredit { .. }
                | Self::UsedUp { .. }
                | Self::UnknownModel { .. }
                | Self::NoProgram { .. }
                | Self::Setting { .. }
                | Self::Down { .. }
                | Self::NothingFound { .. }
        )
    }

    /// Whether the request was longer than the model's context, and how many tokens that holds, if it says so.
    pub fn context_exceeded(&self) -> Option<Option<u32>> {
        let Self::BadRequest { message, .. } = self else { return None };
        let text = message.to_lowercase();
        let is_meant = [
            "context length",
            "context size",
            "context window",
            "n_ctx",
            "prompt is too long",
            "too many tokens",
        ]
        .iter()
        .any(|words| text.contains(words));
        is_meant.then(|| context_size(&text))
    }

    /// Whether a later attempt may succeed.
    pub fn may_pass(&self) -> bool {
        self.problem().is_some()
    }

    /// How long the service wants us to wait, if it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after_ms, .. }
            | Self::Overloaded { retry_after_ms, .. }
            | Self::Server { retry_after_ms, .. } => retry_after_ms.map(Duration::from_millis),
            _ => None,
        }
    }

    /// Whether the model did answer, but not with what was asked for: the caller's `judge_error`.
    ///
    /// All other errors mean that nobody was asked, or that nobody answered.
    pub fn is_bad_answer(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::OutputCut { .. } | Self::Refusal { .. })
    }
}

/// The size of the context in a service's words: "maximum context length is 4096 tokens", "(n_ctx = 2048)", "exceeds the
/// available context size (8192 tokens)", "210000 tokens > 200000 maximum".
fn context_size(text: &str) -> Option<u32> {
    let number_after = |text: &str| {
        let text = text.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse::<u32>().ok()
    };
    let words = [
        "context length is",
        "context length of",
        "n_ctx",
        "context size",
        "context window of",
        "context window",
        "context length",
        "> ",
    ];
    let found = words.iter().filter_map(|words| number_after(text.split_once(words)?.1));
    // Smaller numbers are counts of something else.
    found.into_iter().find(|size| *size >= 256)
}

/// A question without an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    pub error: ModelError,
    pub attempts: Vec<Attempt>,
    /// Tokens of the answers that came and could not be used; absent when nobody counted any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What they cost in US dollars; absent when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl From<ServiceDown> for ModelError {
    fn from(down: ServiceDown) -> Self {
        Self::Down { detail: down.to_string(), hint: down.hint().to_owned() }
    }
}

impl Failure {
    /// How many calls were made: none of a service that was not asked any more.
    pub fn calls(&self) -> u64 {
        match (&self.error, self.attempts.len() as u64) {
            (error, calls) if error.stops_all() => calls,
            (_, calls) => calls.max(1),
        }
    }
}

/// A failure before the first attempt.
impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { error, attempts: Vec::new(), usage: None, cost_usd: None }
    }
}

/// Whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_pass_and_bad_keys_and_requests_do_not() {
        let message = String::from("m");
        let limit =
            ModelError::RateLimited { message: message.clone(), retry_after_ms: Some(1500) };
        assert!(limit.may_pass() && limit.problem().unwrap().is_pressure());
        assert_eq!(limit.retry_after(), Some(Duration::from_millis(1500)));
        for error in [
            ModelError::BadKey { status: 401, message: message.clone() },
            ModelError::BadRequest { status: 400, message: message.clone() },
            ModelError::UnknownModel { model: "x".into(), message },
        ] {
            assert!(!error.may_pass() && error.retry_after().is_none(), "{error}");
        }
    }

    #[test]
    fn a_context_that_is_too_small_is_known_by_its_words() {
        let says = |message: &str| {
            ModelError::BadRequest { status: 400, message: message.into() }.context_exceeded()
        };
        for (message, size) in [
            (
                "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens",
                Some(4096),
            ),
            (
                "the request exceeds the available context size (8192 tokens), try increasing it",
                Some(8192),
            ),
            ("request (9000 tokens) exceeds the available context size, n_ctx = 2048", Some(2048)),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            ("input exceeds the context window", None),
        ] {
            assert_eq!(says(message), Some(size), "{message}");
        }
        assert_eq!(says("unknown field `x`"), None);
    }

    #[test]
    fn errors_survive_a_cassette() {
        let errors = [
            ModelError::Timeout { phase: Phase::FirstByte, limit_ms: 200 },
            ModelError::Answer { problems: vec!["$: missing field `a`".into()], text: "{}".into() },
            ModelError::Program {
                program: "judge".into(),
                exit: Some(ExitStatus { code: Some(3), ..ExitStatus::default() }),
                message: "no".into(),
                chance: Chance::Final,
            },
        ];
        for error in errors {
            let text = serde_json::to_string(&error).unwrap();
            assert_eq!(serde_json::from_str::<ModelError>(&text).unwrap(), error, "{text}");
        }
    }

    #[test]
    fn a_message_says_what_happened_and_what_to_do() {
        assert_eq!(
            ModelError::no_key(ProviderKind::Anthropic, "ANTHROPIC_API_KEY").to_string(),
            "no key for `anthropic`: set ANTHROPIC_API_KEY"
        );
        assert_eq!(
            ModelError::timeout(Phase::Connect, Duration::from_secs(2)).to_string(),
            "connecting took longer than 2000 ms"
        );
    }
}
