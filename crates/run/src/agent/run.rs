//! What became of a task: a value that can be stored twice without harm.

use skillgauge_core::trigger::NOT_UNDERSTOOD;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillgauge_format::transcript::{Outcome, Reason, Transcript};

use super::descriptor::{PromptVia, Version};
use crate::cassette::Repeated;
use crate::outputs::Outputs;
use crate::pool::{Asked, Problem};

/// One execution of a task, all attempts included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentRun {
    /// What the agent did in the last attempt.
    pub transcript: Transcript,
    /// What it left in the work folder.
    pub outputs: Outputs,
    /// When, and for how long.
    pub timing: RunTiming,
    /// Every attempt, in order; the last one is what the rest is about.
    pub attempts: Vec<AttemptRecord>,
    /// The agent's version, if it told one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<Version>,
    pub skillgauge_version: String,
    /// How the agent was called.
    pub call: CallRecord,
    /// The end of what it wrote to standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// What somebody who reads the result should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<RunNote>,
    /// Whether it was run or replayed.
    #[serde(default)]
    pub origin: RunOrigin,
}

impl AgentRun {
    pub fn outcome(&self) -> Outcome {
        self.transcript.outcome()
    }

    pub fn reason(&self) -> Reason {
        self.transcript.end.reason
    }

    /// What kept it from a result that counts, if anything did; for whoever decides on another attempt.
    pub fn problem(&self) -> Option<Problem> {
        match self.outcome() {
            Outcome::Completed | Outcome::Denied | Outcome::Cancelled => None,
            Outcome::TimedOut | Outcome::RateLimited | Outcome::Failed => {
                Some(Problem::new(self.reason()))
            }
        }
    }

    /// What it says of the service behind the agent.
    pub fn asked(&self) -> Asked {
        match self.outcome() {
            Outcome::Cancelled => Asked::No,
            Outcome::Completed
            | Outcome::Denied
            | Outcome::TimedOut
            | Outcome::RateLimited
            | Outcome::Failed => {
                Asked::Yes { message: self.transcript.end.message.clone().unwrap_or_default() }
            }
        }
    }

    /// This run with the attempts that were made before it, each with how long we waited after it.
    #[must_use]
    pub fn after(mut self, earlier: Vec<(Self, Duration)>) -> Self {
        let mut attempts = Vec::new();
        let mut delay = 0;
        let last = std::mem::take(&mut self.attempts);
        if let Some((first, _)) = earlier.first() {
            self.timing.started.clone_from(&first.timing.started);
        }
        for (run, waited) in earlier {
            attempts.extend(run.attempts.into_iter().map(|record| delayed(record, &mut delay)));
            delay = millis(waited);
            let (timing, before) = (&mut self.timing, run.timing);
            timing.total_ms += before.total_ms + delay;
            timing.all_agents_ms += before.all_agents_ms;
            timing.waited_ms += before.waited_ms + delay;
            timing.overhead_ms += before.overhead_ms;
        }
        attempts.extend(last.into_iter().map(|record| delayed(record, &mut delay)));
        self.attempts = attempts;
        self
    }
}

/// The first attempt after a wait gets it as its delay.
fn delayed(record: AttemptRecord, delay: &mut u64) -> AttemptRecord {
    AttemptRecord { delay_ms: record.delay_ms + std::mem::take(delay), ..record }
}

/// Whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// When a run was, and for how long. Times are RFC 3339 in UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTiming {
    pub started: String,
    pub ended: String,
    /// From the one to the other.
    pub total_ms: u64,
    /// How long the agent's process ran in the last attempt.
    pub agent_ms: u64,
    /// How long the agents of all attempts ran.
    pub all_agents_ms: u64,
    /// How long we waited between attempts.
    pub waited_ms: u64,
    /// What remains: making and removing folders, starting, reading, copying.
    pub overhead_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// How long we waited before it.
    pub delay_ms: u64,
    /// When its agent was started.
    pub started: String,
    /// How long the agent ran.
    pub duration_ms: u64,
    pub outcome: Outcome,
    pub reason: Reason,
    /// What was said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The largest resident size of one process, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss: Option<u64>,
    /// User and system time of the agent and all that it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
}

/// How an agent was called, without secrets: values that came from the user are named and not shown, private folders
/// stand below `/skillgauge`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// How it got the prompt.
    pub prompt: PromptVia,
    /// The variables that it got from us.
    pub variables: BTreeMap<String, String>,
    /// The names of the variables that it got from the user.
    pub passed: Vec<String>,
    /// Where its login is: names of variables and files.
    pub login: Vec<String>,
}

/// Something to know about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum RunNote {
    /// A limit that the agent has no flag for.
    LimitNotPassed {
        limit: String,
    },
    /// What the switch for bundled skills does not do.
    BundledSkills {
        text: String,
    },
    /// A link that leads elsewhere, a pipe or the like, which was not copied into the work folder.
    LeftOut {
        path: String,
    },
    NoLogin,
    /// More logins are there than the one that counts.
    OtherLogins {
        /// Those that the agent did not get.
        ignored: Vec<String>,
    },
    /// A secret stood in an output and was taken out.
    SecretInOutput {
        path: String,
    },
    /// The agent said a secret in pieces. It was taken out of the transcript, but not out of the lines that would have
    /// been recorded, so nothing was.
    NotRecorded,
    /// The agent printed an event that isn't understood.
    UnknownEvent {
        text: String,
    },
    /// The agent said more than is kept.
    OutputCut {
        text: String,
    },
    /// Processes that still ran after the agent had ended. They were ended.
    Stragglers {
        count: u32,
    },
    /// Processes that could not be ended.
    Survivors {
        count: u32,
    },
    /// The private folder could not be removed.
    NotRemoved {
        message: String,
    },
}

impl fmt::Display for RunNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LimitNotPassed { limit } => {
                write!(f, "the agent has no flag for the limit on {limit}")
            }
            Self::BundledSkills { text } | Self::OutputCut { text } => f.write_str(text),
            Self::LeftOut { path } => write!(f, "{path:?} was not copied into the work folder"),
            Self::NoLogin => f.write_str("no login was found"),
            Self::OtherLogins { ignored } => {
                write!(f, "more logins are there than the one that counts: {}", ignored.join(", "))
            }
            Self::SecretInOutput { path } => {
                write!(f, "a secret stood in the output {path:?} and was taken out")
            }
            Self::UnknownEvent { text } => {
                write!(f, "{NOT_UNDERSTOOD}: {text}")
            }
            Self::NotRecorded => {
                f.write_str("the agent said a secret in pieces, so nothing was recorded")
            }
            Self::Stragglers { count } => {
                write!(f, "{count} processes still ran after the agent and were ended")
            }
            Self::Survivors { count } => write!(f, "{count} processes could not be ended"),
            Self::NotRemoved { message } => {
                write!(f, "the private folder could not be removed: {message}")
            }
        }
    }
}

impl RunNote {
    pub(super) fn left_out(path: &Path) -> Self {
        Self::LeftOut { path: path.to_string_lossy().into_owned() }
    }
}

/// Where a run came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOrigin {
    #[default]
    Live,
    Replayed {
        entry: String,
        /// Whether it was told before, because it was asked for more often than when it was recorded.
        repeated: Repeated,
    },
}
