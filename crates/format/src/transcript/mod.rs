//! The transcript: what an agent did in one run or probe, in one shape for every agent.
//!
//! Adapters in `crates/run` make it from an agent's own event stream; checks, judges, reports and
//! `skillgauge transcript` read it. It is stored as `transcript.jsonl` (see [`Transcript::to_jsonl`]) and shown as
//! one JSON object, the serde form of [`Transcript`].
//!
//! Invariant: nothing in here is a guess. What an agent did not say is absent (`None`, `null`), what was cut is
//! counted, and what was not understood is kept as an [`EventKind::Unknown`].

mod end;
mod event;
mod file;
mod header;
mod outcome;
mod usage;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use crate::JsonSchema;
use crate::json::from_value;

pub use end::{Cut, ErrorRecord, ExitStatus, Stop, ToolTally, TranscriptEnd};
pub use event::{
    ErrorEvent, ErrorLevel, Event, EventKind, FileChange, FileChangeKind, PermissionDenial, Retry,
    SkillLoad, SkillState, SkillTouch, StepTokens, SubAgentEnd, SubAgentId, SubAgentStart,
    ToolCall, ToolCallId, ToolResult, ToolStatus, Unknown,
};
pub use file::TranscriptError;
pub use header::{TranscriptFormat, TranscriptHeader, TranscriptVersion};
pub use outcome::{Outcome, Reason};
pub use usage::{Usage, UsageBasis};

/// The normalised events of a run or probe, whatever agent made it, with what follows from them.
///
/// The JSON form is one flat object: the header's fields, the end's fields, and `events`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Transcript {
    /// What kind of file this is, and which agent wrote the stream.
    #[serde(flatten)]
    pub header: TranscriptHeader,
    /// How it ended, and the totals.
    #[serde(flatten)]
    pub end: TranscriptEnd,
    /// What happened, in the order of the stream.
    pub events: Vec<Event>,
}

impl Transcript {
    /// What became of the run or probe.
    pub fn outcome(&self) -> Outcome {
        self.end.outcome
    }

    /// Whether the body of the skill `name` was loaded, by the main agent or by a sub-agent.
    ///
    /// An agent names a skill of a plugin `plugin:name`; a plain `name` matches that too.
    pub fn loaded(&self, name: &str) -> bool {
        self.end.skills_loaded.iter().any(|loaded| names_skill(loaded, name))
    }

    /// Whether the agent asked for the skill `name`, with or without success.
    pub fn requested(&self, name: &str) -> bool {
        self.end.skills_requested.iter().any(|asked| names_skill(asked, name))
    }

    /// How many tools were called in all.
    pub fn tool_call_count(&self) -> u64 {
        self.end.tool_calls.values().map(|tally| tally.count).sum()
    }
}

/// Whether the name that an agent `used` means the skill `name`: equal, or `name` inside some plugin.
pub fn names_skill(used: &str, name: &str) -> bool {
    used == name || used.rsplit_once(':').is_some_and(|(_, bare)| bare == name)
}

// By hand, because `flatten` on input loses the place of an error.
impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(deserializer)?;
        let events = fields.remove("events").ok_or_else(|| de::Error::missing_field("events"))?;
        let fields = Value::Object(fields);
        Ok(Self {
            header: from_value(&fields)?,
            end: from_value(&fields)?,
            events: from_value(&events)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::names_skill;

    #[test]
    fn a_plugin_skill_is_named_by_its_bare_name() {
        assert!(names_skill("csv-report", "csv-report"));
        assert!(names_skill("undertest:csv-report", "csv-report"));
        assert!(names_skill("undertest:csv-report", "undertest:csv-report"));
        assert!(!names_skill("undertest:csv-report", "other:csv-report"));
        assert!(!names_skill("my-csv-report", "csv-report"));
        assert!(!names_skill("csv-report", "undertest:csv-report"));
    }
}
