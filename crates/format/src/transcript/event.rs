//! One event of a transcript.
//!
//! Every agent's events are mapped to these kinds by its adapter; anything else is kept as [`EventKind::Unknown`].
//! In JSON an event is one flat object: where it stands (`index`, `line`, `time`, `sub_agent`), its `type`, and the
//! fields of that type.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use super::outcome::Reason;
use crate::JsonSchema;
use crate::json::from_value;

/// The agent's id of one tool call; it ties a call to its result.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ToolCallId(pub String);

/// The agent's id of one sub-agent.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct SubAgentId(pub String);

impl fmt::Display for ToolCallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl fmt::Display for SubAgentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Something that happened, and where in the raw stream it stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(transform = crate::schema_tests::by_type)]
pub struct Event {
    /// The number of the event, from 0.
    pub index: u64,
    /// The line of the raw stream that it came from, from 1; absent for what was read from standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// When it happened, if the agent says so (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The sub-agent that did it; absent for the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<SubAgentId>,
    /// How many bytes of text were left out to keep the transcript small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_bytes: Option<u64>,
    /// The tokens of the model's answer that begins with this event, if the agent says so; the other events of the same
    /// answer have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<StepTokens>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The tokens of one answer of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepTokens {
    /// What the model was given, cached or not.
    pub input: u64,
    /// What it generated, reasoning included; absent when the stream does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    /// The agent said something.
    Text {
        /// What it said.
        text: String,
    },
    /// The agent thought aloud.
    Thinking {
        /// What it thought, or a summary of it.
        text: String,
    },
    /// A tool was called.
    ToolCall(ToolCall),
    /// A tool answered.
    ToolResult(ToolResult),
    /// A skill was asked for, loaded, or not.
    SkillLoad(SkillLoad),
    /// A file of a skill was touched without loading the skill.
    SkillTouch(SkillTouch),
    /// A sub-agent began.
    SubAgentStart(SubAgentStart),
    /// A sub-agent ended.
    SubAgentEnd(SubAgentEnd),
    /// A request to the model failed and is tried again.
    Retry(Retry),
    /// A tool call was refused.
    PermissionDenied(PermissionDenial),
    /// The agent reported a problem.
    Error(ErrorEvent),
    /// The agent reported that it changed a file.
    FileChange(FileChange),
    /// Something that this version does not know.
    Unknown(Unknown),
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// Ties the call to its result.
    pub id: ToolCallId,
    /// The tool's name, as the agent calls it.
    pub name: String,
    /// What the tool was given; long strings are cut.
    pub input: Value,
}

/// The result of one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResult {
    /// The call that this answers.
    pub id: ToolCallId,
    /// Whether the tool did what it was asked to.
    pub status: ToolStatus,
    /// What it answered; long output is cut in the middle.
    pub output: String,
}

/// Whether a tool call worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It worked.
    Ok,
    /// It failed or was refused; a command with an exit code other than 0 has failed.
    Error,
}

/// A step on the way to a loaded skill. Only `loaded` proves that its body reached the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillLoad {
    /// The skill's name, as the agent gives it (`plugin:name` for a skill of a plugin).
    pub name: String,
    /// How far it got.
    pub state: SkillState,
    /// The tool call that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCallId>,
    /// The sub-agent that carries the skill out, for a skill that runs in a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_to: Option<SubAgentId>,
    /// What the agent said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How far the loading of a skill got.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    /// The model asked for it.
    Asked,
    /// Its body was given to the model.
    Loaded,
    /// A rule or a missing permission kept it away.
    Denied,
    /// It could not be loaded: no such skill, or an error.
    Failed,
}

/// A file of a skill was read or run without (or before) loading the skill: a soft trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillTouch {
    /// The skill's name.
    pub name: String,
    /// The path as it stands in the tool's input.
    pub path: String,
    /// The tool call that touched it.
    pub call: ToolCallId,
}

/// A sub-agent began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubAgentStart {
    /// Its id.
    pub id: SubAgentId,
    /// The tool call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCallId>,
    /// What kind of sub-agent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What it is to do, in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// A sub-agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubAgentEnd {
    /// Its id.
    pub id: SubAgentId,
    /// How it ended, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// A request to the model failed and is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retry {
    /// Which attempt failed, from 1.
    pub attempt: u64,
    /// How many the agent makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u64>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why it failed.
    pub reason: Reason,
    /// How long the agent waits before it tries again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// What the agent said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A tool call was refused by a rule or for want of a permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDenial {
    /// The refused call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCallId>,
    /// The tool.
    pub tool: String,
    /// What the agent said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A problem that the agent reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorEvent {
    /// Whether the agent could go on.
    pub level: ErrorLevel,
    /// What kind of problem it is.
    pub reason: Reason,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The agent's words.
    pub message: String,
}

/// How bad a reported problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorLevel {
    /// The agent goes on; it does not count as an error.
    Warning,
    /// It counts as an error of the run.
    Error,
}

/// A file that the agent says it changed. Files written by a shell command do not appear: compare the work folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// The path, as the agent gives it.
    pub path: String,
    /// What was done to it.
    pub change: FileChangeKind,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChangeKind {
    /// It was created.
    Add,
    /// It was changed.
    Update,
    /// It was removed.
    Delete,
    /// It was written; the agent does not say whether it was there before.
    Write,
}

/// Something that this version does not know, kept as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unknown {
    /// The event's JSON, or the line's text if it was not JSON.
    pub raw: Value,
    /// Why it was not understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

// By hand, because `flatten` on input loses the place of an error, and because a kind that a newer version added
// must stay readable.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(deserializer)?;
        Ok(Self {
            index: take(&mut fields, "index")?.ok_or_else(|| de::Error::missing_field("index"))?,
            line: take(&mut fields, "line")?,
            time: take(&mut fields, "time")?,
            sub_agent: take(&mut fields, "sub_agent")?,
            cut_bytes: take(&mut fields, "cut_bytes")?,
            tokens: take(&mut fields, "tokens")?,
            kind: kind(fields)?,
        })
    }
}

fn take<T: de::DeserializeOwned, E: de::Error>(
    fields: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<T>, E> {
    fields.remove(name).map_or(Ok(None), |value| {
        from_value(&value)
            .map_err(|error: serde_json::Error| E::custom(format_args!("{name}: {error}")))
    })
}

/// What [`EventKind::Text`] and [`EventKind::Thinking`] hold.
#[derive(Deserialize)]
struct Words {
    text: String,
}

/// Not by `#[serde(tag)]`, which would take whole numbers that are written `3.0` for broken ones.
fn kind<E: de::Error>(fields: Map<String, Value>) -> Result<EventKind, E> {
    let raw = Value::Object(fields);
    let words = || from_value(&raw).map(|words: Words| words.text);
    let Some(name) = raw.get("type").and_then(Value::as_str) else {
        return Err(E::missing_field("type"));
    };
    match name {
        "text" => words().map(|text| EventKind::Text { text }),
        "thinking" => words().map(|text| EventKind::Thinking { text }),
        "tool_call" => from_value(&raw).map(EventKind::ToolCall),
        "tool_result" => from_value(&raw).map(EventKind::ToolResult),
        "skill_load" => from_value(&raw).map(EventKind::SkillLoad),
        "skill_touch" => from_value(&raw).map(EventKind::SkillTouch),
        "sub_agent_start" => from_value(&raw).map(EventKind::SubAgentStart),
        "sub_agent_end" => from_value(&raw).map(EventKind::SubAgentEnd),
        "retry" => from_value(&raw).map(EventKind::Retry),
        "permission_denied" => from_value(&raw).map(EventKind::PermissionDenied),
        "error" => from_value(&raw).map(EventKind::Error),
        "file_change" => from_value(&raw).map(EventKind::FileChange),
        "unknown" => from_value(&raw).map(EventKind::Unknown),
        _ => {
            let note = Some("written by a newer version".to_owned());
            Ok(EventKind::Unknown(Unknown { raw, note }))
        }
    }
}
