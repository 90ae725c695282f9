//! The events that a program may print, with their fields: for the adapter that reads them, and for the documentation.

use crate::agent::descriptor::similar;

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventField {
    pub name: &'static str,
    pub takes: &'static str,
}

/// An event that a program may print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandEvent {
    /// The value of `type`.
    pub name: &'static str,
    pub about: &'static str,
    pub fields: &'static [EventField],
}

const fn field(name: &'static str, takes: &'static str) -> EventField {
    EventField { name, takes }
}

const fn event(
    name: &'static str,
    about: &'static str,
    fields: &'static [EventField],
) -> CommandEvent {
    CommandEvent { name, about, fields }
}

const ID: EventField = field("id", "a text that ties a call to its result");
const TEXT: EventField = field("text", "a text");
const MESSAGE: EventField = field("message", "a text");
const STATUS: EventField = field("status", "an HTTP status");
const REASON: EventField =
    field("reason", "a reason as in a transcript, such as `max_turns` or `rate_limit`");
const COUNT: &str = "a number";

/// The states of a `skill` event.
pub(super) const SKILL_STATES: &str = "asked, loaded, denied, failed";

/// Fields that every event may have.
pub static COMMON_FIELDS: [EventField; 3] = [
    field("type", "the name of the event"),
    field("time", "when it happened (RFC 3339)"),
    field("sub_agent", "the id of the sub-agent that did it"),
];

/// The events that a program may print.
pub static COMMAND_EVENTS: [CommandEvent; 12] = [
    event(
        "start",
        "who it is",
        &[
            field("model", "a name"),
            field("agent_version", "a version"),
            field("session_id", "an id"),
        ],
    ),
    event("text", "it said something", &[TEXT]),
    event("thinking", "it thought aloud", &[TEXT]),
    event(
        "tool_use",
        "it called a tool",
        &[ID, field("name", "the tool"), field("input", "an object")],
    ),
    event(
        "tool_result",
        "the tool answered",
        &[
            ID,
            field("output", "a text or any JSON"),
            field("is_error", "`true` when it failed"),
            field("ok", "`false` when it failed"),
        ],
    ),
    event(
        "skill",
        "it asked for a skill, or got it; only `loaded` counts as a trigger",
        &[
            field("name", "the skill"),
            field("state", "required: `asked`, `loaded`, `denied` or `failed`"),
            ID,
            MESSAGE,
        ],
    ),
    event(
        "file_change",
        "it changed a file",
        &[field("path", "the file"), field("change", "`add`, `update` or `delete`")],
    ),
    event(
        "usage",
        "the tokens of one request; several add up",
        &[
            field("input_tokens", COUNT),
            field("output_tokens", COUNT),
            field("cache_read_tokens", COUNT),
            field("cache_write_tokens", COUNT),
            field("reasoning_tokens", COUNT),
            field("requests", "how many requests it covers; 1 if absent"),
            field(
                "cost_usd",
                "US dollars; the cost of the run is unknown when one of these lacks it",
            ),
        ],
    ),
    event(
        "retry",
        "a request failed and is tried again",
        &[
            field("attempt", COUNT),
            field("max_attempts", COUNT),
            STATUS,
            REASON,
            field("delay_ms", COUNT),
            MESSAGE,
        ],
    ),
    event("permission_denied", "a tool was refused", &[ID, field("name", "the tool"), MESSAGE]),
    event("error", "something went wrong", &[MESSAGE, TEXT, STATUS, REASON]),
    event(
        "result",
        "it is done, and this is the answer",
        &[
            TEXT,
            field("is_error", "`true` when it failed"),
            MESSAGE,
            STATUS,
            REASON,
            field("duration_ms", COUNT),
        ],
    ),
];

/// What is wrong with the type of an event that nobody knows.
pub(super) fn unknown_type(name: &str) -> String {
    let meant = similar(name, COMMAND_EVENTS.iter().map(|event| event.name));
    let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("unknown `type` \"{name}\"{meant}")
}

/// The fields of an event that nobody reads, each with what is wrong with it.
pub(super) fn unknown_fields<'f>(
    kind: &str,
    fields: impl Iterator<Item = &'f String>,
) -> Vec<String> {
    let Some(event) = COMMAND_EVENTS.iter().find(|event| event.name == kind) else {
        return Vec::new();
    };
    let known = || event.fields.iter().chain(&COMMON_FIELDS).map(|field| field.name);
    let unknown = fields.filter(|name| known().all(|known| known != name.as_str()));
    let told = unknown.map(|name| {
        let meant = similar(&name.replace('_', "-"), known());
        let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        format!("`{kind}` has no field `{name}`, so it is ignored{meant}")
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_is_told_with_what_was_meant() {
        let names = ["type", "name", "stat", "sub_agent"].map(str::to_owned);
        assert_eq!(
            unknown_fields("skill", names.iter()),
            ["`skill` has no field `stat`, so it is ignored; did you mean `state`?"]
        );
        assert_eq!(unknown_type("skil"), "unknown `type` \"skil\"; did you mean `skill`?");
        assert_eq!(unknown_type("dance"), "unknown `type` \"dance\"");
    }
}
