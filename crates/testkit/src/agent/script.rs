//! The fake agent's script: which dialect it speaks and which steps it takes.
//!
//! The same types are built by tests and read as JSON by the program. Texts and paths may hold `{{cwd}}`, `{{home}}`,
//! `{{prompt}}` and `{{skill_dir}}` (the folder of the skill that was looked for last).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::server::Usage;

/// What the fake agent does from start to end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentScript {
    /// The event dialect; taken from the program's name when absent.
    pub dialect: Option<DialectName>,
    /// What `--version` prints; what the real program prints when absent.
    pub version: Option<String>,
    /// Folders below the work folder in which skills are looked for; those of the real program when empty.
    pub skill_roots: Vec<String>,
    /// A pause after each event, in milliseconds.
    pub event_delay_ms: u64,
    /// The steps, one after the other.
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialectName {
    /// Claude Code's `stream-json`.
    Claude,
    /// `codex exec --json`.
    Codex,
    /// Gemini CLI's `stream-json`.
    Gemini,
    /// `opencode run --format json`.
    Opencode,
    /// Our own events for any program.
    Command,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Emit the opening events now; otherwise they come before the first other event.
    Start,
    Say(String),
    Think(String),
    /// Report a tool call that never happened.
    Tool(ScriptedTool),
    /// Look for a skill and load it; reports the failed load when it is not there.
    LoadSkill {
        name: String,
    },
    /// End well: the final text with usage and cost.
    Finish(Finish),
    /// End badly, with the events and the exit code of the real program.
    Fail(Failure),
    /// Answer as a model: the first answer whose text is in the prompt.
    Answer(Vec<Canned>),

    /// Print a line as it is.
    Raw(String),
    /// Print bytes that are neither JSON nor UTF-8.
    Garbage {
        bytes: usize,
    },
    /// Print a recorded stream line by line.
    Replay {
        file: String,
        /// A pause after each line, in milliseconds.
        #[serde(default)]
        delay_ms: u64,
        /// What to replace in each line, for example `/WORK` by `{{cwd}}`.
        #[serde(default)]
        replace: BTreeMap<String, String>,
    },
    Flood {
        /// How much, in megabytes.
        megabytes: u64,
        #[serde(default)]
        stream: FloodStream,
        #[serde(default)]
        shape: FloodShape,
    },

    /// Write a file, and say so.
    Write {
        /// Where, relative to the work folder.
        path: String,
        text: String,
    },
    /// Replace a text in a file, and say so; fails when it does not occur.
    Edit {
        path: String,
        find: String,
        replace: String,
    },
    /// Read a file, and say so.
    Read {
        path: String,
    },
    /// Run a shell command, and say so.
    Shell(String),
    /// Take steps without any event: what a shell script of the agent does unseen.
    Quietly(Vec<Step>),
    /// Write argv, environment, folders and open files as JSON.
    Dump {
        path: String,
    },

    SleepMs(u64),
    /// Run until killed, but at most ten minutes.
    Hang,
    /// From here on ignore SIGTERM, SIGINT and SIGHUP.
    IgnoreSignals,
    /// Start children that ignore those signals and outlive this program.
    Fork(Fork),
    Exit(u8),
    /// Die by a signal, named as in `SIGSEGV`.
    Signal(String),

    BigFile {
        path: String,
        bytes: u64,
        #[serde(default)]
        filling: Filling,
    },
    /// Make many small files, a thousand to a folder.
    ManyFiles {
        path: String,
        count: u32,
    },
    /// Make files whose names break naive programs: newlines, quotes, other encodings.
    HostileNames {
        path: String,
    },
    Symlink {
        path: String,
        /// To what; `/` is a favourite.
        target: String,
    },

    /// Go one way when a skill is installed, another when it is not.
    IfSkill {
        name: String,
        then: Vec<Step>,
        #[serde(default)]
        otherwise: Vec<Step>,
    },
    /// Go one way when the prompt contains a text, another when it does not.
    IfPrompt {
        contains: String,
        then: Vec<Step>,
        #[serde(default)]
        otherwise: Vec<Step>,
    },
    /// Go one way the first so many times, another afterwards; the count is in a file and survives the program.
    FirstTimes {
        times: u32,
        /// The file with the count.
        state: String,
        then: Vec<Step>,
        #[serde(default)]
        otherwise: Vec<Step>,
    },
}

/// A tool call that is only reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedTool {
    pub name: String,
    #[serde(default)]
    pub input: Value,
    #[serde(default)]
    pub output: String,
    #[serde(default)]
    pub failed: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Finish {
    pub text: String,
    /// Tokens of the whole run.
    pub usage: Usage,
    /// Cost of the whole run, in the dialects that report one.
    pub cost_usd: Option<f64>,
    /// A structured answer beside the text; only Claude Code reports one, and only for `--json-schema`.
    pub structured: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub kind: FailureKind,
    /// What the service said; a usual text when absent.
    #[serde(default)]
    pub message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Too many requests, 429.
    RateLimit,
    /// The service is overloaded, 529.
    Overloaded,
    /// A bad key, 401.
    Authentication,
    /// A fault of the service, 500.
    Server,
    /// The limit on turns was reached; no status.
    MaxTurns,
}

/// One answer of the fake agent as a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canned {
    /// What the prompt must contain; an empty text fits every prompt.
    #[serde(default)]
    pub contains: String,
    /// The answer: a string is printed as text, anything else as JSON.
    pub answer: Value,
}

/// Children that are hard to get rid of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    pub children: u32,
    /// The file that gets their process ids, one per line.
    pub pids: String,
    /// After how many seconds they end at the latest.
    #[serde(default = "one_minute")]
    pub seconds: u64,
    /// Whether they share the parent's process group.
    #[serde(default)]
    pub group: ChildGroup,
    /// Whether they keep the parent's output open.
    #[serde(default)]
    pub output: ChildOutput,
}

fn one_minute() -> u64 {
    60
}

/// The process group of a child.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildGroup {
    /// The parent's: a kill of the group reaches it.
    #[default]
    Same,
    /// Its own: a kill of the parent's group does not.
    Own,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildOutput {
    #[default]
    Null,
    /// The parent's, so that a reader that waits for the end of the output waits for the child.
    Inherited,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FloodStream {
    #[default]
    Stdout,
    Stderr,
}

/// What a flood consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FloodShape {
    /// Lines of one kilobyte that are no events.
    #[default]
    Lines,
    /// One line without an end.
    OneLine,
    /// Events of the dialect that say one kilobyte each; always on stdout.
    Events,
}

/// What a large file consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filling {
    /// A hole: large in size, small on disk.
    #[default]
    Sparse,
    /// Real bytes.
    Bytes,
}

impl AgentScript {
    /// A script of the given steps.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), ..Self::default() }
    }

    #[must_use]
    pub fn dialect(mut self, dialect: DialectName) -> Self {
        self.dialect = Some(dialect);
        self
    }
}

impl Finish {
    /// A good end with a text and the usual numbers.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl FailureKind {
    /// The HTTP status behind the failure, if there is one.
    pub(super) fn status(self) -> Option<u16> {
        match self {
            Self::RateLimit => Some(429),
            Self::Overloaded => Some(529),
            Self::Authentication => Some(401),
            Self::Server => Some(500),
            Self::MaxTurns => None,
        }
    }
}

impl Failure {
    pub(super) fn message(&self) -> &str {
        self.message.as_deref().unwrap_or(match self.kind {
            FailureKind::RateLimit => "Too many requests",
            FailureKind::Overloaded => "Overloaded",
            FailureKind::Authentication => "Invalid API key",
            FailureKind::Server => "Internal server error",
            FailureKind::MaxTurns => "Reached maximum number of turns (1)",
        })
    }
}
