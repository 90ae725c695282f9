//! The events that a judge is shown: all but those that show a skill being looked for, loaded or read.
//!
//! They are left out of every arm, and what is left is numbered anew, so that no gap tells of them. A command that reads
//! the skill and works as well is shown without the reading.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use skillgauge_format::transcript::{
    ErrorEvent, Event, EventKind, SubAgentStart, ToolCall, ToolCallId, ToolResult, Transcript,
};

use super::command::{Command, Does};
use super::skill_mask::{Share, SkillMask, normalised};

/// Tools that load a skill, in small letters.
const SKILL_TOOLS: [&str; 6] =
    ["skill", "activate_skill", "load_skill", "use_skill", "skill_tool", "read_skill"];
/// Fields of an input that hold a command.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];
/// Fields of an input that hold what is written, and no path that is read.
const CONTENTS: [&str; 8] = [
    "content",
    "contents",
    "new_string",
    "newString",
    "old_string",
    "oldString",
    "patch",
    "prompt",
];
/// Whether a tool call is shown.
enum Fate {
    Hidden,
    /// Shown with another input; the answer without the lines of the skill.
    Without(Value),
}

/// The events that are shown, in their order.
pub(super) fn shown<'t>(
    transcript: &'t Transcript,
    mask: Option<&SkillMask>,
) -> Vec<Cow<'t, Event>> {
    let Some(mask) = mask else { return transcript.events.iter().map(Cow::Borrowed).collect() };
    let (linked, forks) = links(transcript);
    let written = written(transcript);
    let mut calls: BTreeMap<&ToolCallId, &ToolCall> = BTreeMap::new();
    let mut fates: BTreeMap<&ToolCallId, Fate> = BTreeMap::new();
    for event in &transcript.events {
        match &event.kind {
            EventKind::ToolCall(call) => {
                calls.insert(&call.id, call);
                if let Some(fate) = fate(call, linked.contains(&call.id), mask) {
                    fates.insert(&call.id, fate);
                }
            }
            // Whatever the call says, a result with the skill's own lines is a read of it.
            EventKind::ToolResult(result) => {
                let share = mask.share(&result.output, &written);
                let is_only_read = share == Share::Nearly
                    && calls.get(&result.id).is_some_and(|call| !does_work(call));
                if is_only_read {
                    fates.insert(&result.id, Fate::Hidden);
                }
            }
            _ => {}
        }
    }
    let events = transcript.events.iter().filter_map(|event| keep(event, &fates, &written, mask));
    events
        .filter(|event| !is_fork(&event.kind, &forks))
        .map(|mut event| {
            if event.sub_agent.as_ref().is_some_and(|id| forks.contains(id.0.as_str())) {
                event.to_mut().sub_agent = None;
            }
            event
        })
        .collect()
}

/// The calls that loaded or touched a skill, and the sub-agents that carried one out.
fn links(transcript: &Transcript) -> (HashSet<&ToolCallId>, HashSet<&str>) {
    let (mut calls, mut forks) = (HashSet::new(), HashSet::new());
    for event in &transcript.events {
        match &event.kind {
            EventKind::SkillLoad(load) => {
                calls.extend(&load.call);
                forks.extend(load.forked_to.as_ref().map(|id| id.0.as_str()));
            }
            EventKind::SkillTouch(touch) => {
                calls.insert(&touch.call);
            }
            _ => {}
        }
    }
    (calls, forks)
}

fn is_fork(kind: &EventKind, forks: &HashSet<&str>) -> bool {
    match kind {
        EventKind::SubAgentStart(start) => forks.contains(start.id.0.as_str()),
        EventKind::SubAgentEnd(end) => forks.contains(end.id.0.as_str()),
        _ => false,
    }
}

fn keep<'t>(
    event: &'t Event,
    fates: &BTreeMap<&ToolCallId, Fate>,
    written: &HashSet<String>,
    mask: &SkillMask,
) -> Option<Cow<'t, Event>> {
    let with = |kind: EventKind| Some(Cow::Owned(Event { kind, ..event.clone() }));
    match &event.kind {
        EventKind::SkillLoad(_) | EventKind::SkillTouch(_) => None,
        EventKind::ToolCall(call) => match fates.get(&call.id) {
            Some(Fate::Hidden) => None,
            fate => {
                let input = match fate {
                    Some(Fate::Without(input)) => input,
                    _ => &call.input,
                };
                with(EventKind::ToolCall(ToolCall {
                    input: unsaid(input, None, mask),
                    ..call.clone()
                }))
            }
        },
        EventKind::ToolResult(result) => {
            let fate = fates.get(&result.id);
            if matches!(fate, Some(Fate::Hidden)) {
                return None;
            }
            let has_read = fate.is_some() || mask.share(&result.output, written) != Share::None;
            let output = mask.answered(&result.output, has_read, written);
            let output = mask.written(&output).into_owned();
            with(EventKind::ToolResult(ToolResult { output, ..result.clone() }))
        }
        EventKind::PermissionDenied(denial) => {
            let is_hidden = is_skill_tool(&denial.tool)
                || denial
                    .call
                    .as_ref()
                    .is_some_and(|id| matches!(fates.get(id), Some(Fate::Hidden)));
            (!is_hidden).then_some(Cow::Borrowed(event))
        }
        EventKind::Text { text } => match mask.said(text) {
            Cow::Borrowed(_) => Some(Cow::Borrowed(event)),
            Cow::Owned(text) if text.trim().is_empty() => None,
            Cow::Owned(text) => with(EventKind::Text { text }),
        },
        EventKind::Thinking { text } => match mask.said(text) {
            Cow::Borrowed(_) => Some(Cow::Borrowed(event)),
            Cow::Owned(text) if text.trim().is_empty() => None,
            Cow::Owned(text) => with(EventKind::Thinking { text }),
        },
        // What we do not understand may be a list of skills.
        EventKind::Unknown(unknown) => {
            let is_telling = unknown.raw.to_string().to_lowercase().contains("skill");
            (!is_telling).then_some(Cow::Borrowed(event))
        }
        EventKind::FileChange(change) => {
            (!mask.is_path_in(&change.path)).then_some(Cow::Borrowed(event))
        }
        EventKind::SubAgentStart(start) => {
            let task = start.task.as_ref().map(|task| mask.said(task).into_owned());
            with(EventKind::SubAgentStart(SubAgentStart { task, ..start.clone() }))
        }
        EventKind::Error(error) => {
            let message = mask.said(&error.message).into_owned();
            with(EventKind::Error(ErrorEvent { message, ..error.clone() }))
        }
        EventKind::SubAgentEnd(_) | EventKind::Retry(_) => Some(Cow::Borrowed(event)),
    }
}

/// The lines that the agent wrote itself, in files and commands.
fn written(transcript: &Transcript) -> HashSet<String> {
    let mut lines = HashSet::new();
    for event in &transcript.events {
        if let EventKind::ToolCall(call) = &event.kind {
            add_lines(&call.input, &mut lines);
        }
    }
    lines
}

fn add_lines(input: &Value, lines: &mut HashSet<String>) {
    match input {
        Value::String(text) => lines.extend(text.lines().map(normalised)),
        Value::Array(items) => items.iter().for_each(|item| add_lines(item, lines)),
        Value::Object(fields) => fields.values().for_each(|item| add_lines(item, lines)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// An input without phrases about the skill: what was written keeps its words about skills in general.
fn unsaid(input: &Value, key: Option<&str>, mask: &SkillMask) -> Value {
    let is_written = key.is_some_and(|key| COMMANDS.contains(&key) || CONTENTS.contains(&key));
    match input {
        Value::String(text) if is_written => mask.written(text).into(),
        Value::String(text) => mask.said(text).into(),
        Value::Array(items) => items.iter().map(|item| unsaid(item, key, mask)).collect(),
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(key, item)| (key.clone(), unsaid(item, Some(key), mask)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => input.clone(),
    }
}

fn is_skill_tool(name: &str) -> bool {
    SKILL_TOOLS.contains(&name.to_lowercase().as_str())
}

/// What becomes of a call; nothing when it is shown as it is.
fn fate(call: &ToolCall, is_linked: bool, mask: &SkillMask) -> Option<Fate> {
    if is_skill_tool(&call.name) {
        return Some(Fate::Hidden);
    }
    if let Some((key, command)) = command(call) {
        let names_skill = |part: &str| mask.is_path_in(part);
        if !is_linked && !names_skill(&command) {
            return None;
        }
        let Some(rest) = Command::new(&command).without_reading(&names_skill) else {
            return Some(Fate::Hidden);
        };
        let mut fields = call.input.as_object().cloned().unwrap_or_default();
        fields.insert(key.to_owned(), Value::String(rest));
        return Some(Fate::Without(Value::Object(fields)));
    }
    let is_read = is_linked || mask.is_path_in(&call.input.to_string());
    (is_read && !writes(call)).then_some(Fate::Hidden)
}

/// The command that a call runs, and the field that it stands in.
fn command(call: &ToolCall) -> Option<(&'static str, String)> {
    let fields = call.input.as_object()?;
    let key = COMMANDS.into_iter().find(|&key| fields.contains_key(key))?;
    Some((key, in_words(&fields[key])))
}

fn writes(call: &ToolCall) -> bool {
    let fields = call.input.as_object();
    fields.is_some_and(|fields| CONTENTS.iter().any(|key| fields.contains_key(*key)))
}

/// Whether a call does more than look.
fn does_work(call: &ToolCall) -> bool {
    match command(call) {
        Some((_, command)) => Command::new(&command).does() == Does::Work,
        None => writes(call),
    }
}

/// A command as one text; some agents give it as a list.
fn in_words(command: &Value) -> String {
    match command {
        Value::String(text) => text.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
