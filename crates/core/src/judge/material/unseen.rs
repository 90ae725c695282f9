//! The events that a judge is shown: all but those that show a skill being looked for, loaded or read.
//!
//! They are left out of every arm, and what is left is numbered anew, so that no gap tells of them. A call that reads the
//! skill and does anything else is shown without the reading, and its result without the skill's own lines: what is not
//! the skill's is never lost.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use skillgauge_format::transcript::{
    ErrorEvent, Event, EventKind, SubAgentStart, ToolCall, ToolCallId, ToolResult, Transcript,
};

use super::command::{Command, Does, Left};
use super::skill_mask::{SkillMask, normalised};

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
/// Programs and tools that search: what finds nothing but the skill is the same search as one that finds nothing.
const SEARCHES: [&str; 8] = ["ls", "find", "grep", "rg", "git", "tree", "glob", "fd"];

/// What becomes of a tool call that has to do with the skill.
enum Fate {
    Hidden,
    /// Shown with another input; the answer without the lines of the skill.
    Without(Value),
    /// Hidden if nothing but the skill is in its answer: nobody can tell from the call.
    Unclear,
}

/// The events that are shown, in their order.
pub(super) fn shown<'t>(
    transcript: &'t Transcript,
    mask: Option<&SkillMask>,
) -> Vec<Cow<'t, Event>> {
    let Some(mask) = mask else { return transcript.events.iter().map(Cow::Borrowed).collect() };
    let written = written(transcript);
    let calls = calls(transcript);
    let (linked, forks) = links(transcript, &calls);
    let mut fates: BTreeMap<usize, Fate> = BTreeMap::new();
    for (index, event) in transcript.events.iter().enumerate() {
        match &event.kind {
            EventKind::ToolCall(call) => {
                if let Some(fate) = fate(call, linked.contains(&index), mask) {
                    fates.insert(index, fate);
                }
            }
            // Whatever the call says, a result with nothing but the skill's own lines is a read of it.
            EventKind::ToolResult(result) => {
                let Some(&of) = calls.get(&index) else { continue };
                let EventKind::ToolCall(call) = &transcript.events[of].kind else { continue };
                let is_unclear = matches!(fates.get(&of), Some(Fate::Unclear));
                let input = match fates.get(&of) {
                    Some(Fate::Hidden) => continue,
                    Some(Fate::Without(input)) => input,
                    Some(Fate::Unclear) | None => &call.input,
                };
                let is_more = !is_unclear && (does_work(input) || is_search(&call.name, input));
                let output = &result.output;
                let is_own = mask.encodes(output)
                    || ((is_unclear || mask.has_lines(output, &written))
                        && is_blank(&mask.answered(output, true, &written)));
                if is_own && !is_more {
                    fates.insert(of, Fate::Hidden);
                } else if is_unclear {
                    fates.insert(of, Fate::Without(call.input.clone()));
                }
            }
            _ => {}
        }
    }
    let fate_at = |index: usize| {
        let of = calls.get(&index).copied().unwrap_or(index);
        fates.get(&of)
    };
    let events = transcript.events.iter().enumerate();
    let events = events.filter_map(|(index, event)| keep(event, fate_at(index), &written, mask));
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

fn is_blank(text: &str) -> bool {
    !text.contains(char::is_alphanumeric)
}

/// Which call each other event belongs to, both by their places: the nearest before it with the same id, as agents may
/// use an id again.
fn calls(transcript: &Transcript) -> BTreeMap<usize, usize> {
    let mut latest: BTreeMap<&ToolCallId, usize> = BTreeMap::new();
    let mut calls = BTreeMap::new();
    for (index, event) in transcript.events.iter().enumerate() {
        let id = match &event.kind {
            EventKind::ToolCall(call) => {
                latest.insert(&call.id, index);
                continue;
            }
            EventKind::ToolResult(result) => Some(&result.id),
            EventKind::SkillLoad(load) => load.call.as_ref(),
            EventKind::SkillTouch(touch) => Some(&touch.call),
            EventKind::PermissionDenied(denial) => denial.call.as_ref(),
            _ => None,
        };
        if let Some(&call) = id.and_then(|id| latest.get(id)) {
            calls.insert(index, call);
        }
    }
    calls
}

/// The calls that loaded or touched a skill, and the sub-agents that carried one out.
fn links<'t>(
    transcript: &'t Transcript,
    calls: &BTreeMap<usize, usize>,
) -> (HashSet<usize>, HashSet<&'t str>) {
    let (mut linked, mut forks) = (HashSet::new(), HashSet::new());
    for (index, event) in transcript.events.iter().enumerate() {
        match &event.kind {
            EventKind::SkillLoad(load) => {
                linked.extend(calls.get(&index));
                forks.extend(load.forked_to.as_ref().map(|id| id.0.as_str()));
            }
            EventKind::SkillTouch(_) => linked.extend(calls.get(&index)),
            _ => {}
        }
    }
    (linked, forks)
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
    fate: Option<&Fate>,
    written: &HashSet<String>,
    mask: &SkillMask,
) -> Option<Cow<'t, Event>> {
    let with = |kind: EventKind| Some(Cow::Owned(Event { kind, ..event.clone() }));
    match &event.kind {
        EventKind::SkillLoad(_) | EventKind::SkillTouch(_) => None,
        EventKind::ToolCall(call) => match fate {
            // Without an answer there is nothing but the reading.
            Some(Fate::Hidden | Fate::Unclear) => None,
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
            if matches!(fate, Some(Fate::Hidden)) {
                return None;
            }
            let has_read = fate.is_some() || mask.has_lines(&result.output, written);
            let output = mask.answered(&result.output, has_read, written);
            let output = mask.written(&output).into_owned();
            with(EventKind::ToolResult(ToolResult { output, ..result.clone() }))
        }
        EventKind::PermissionDenied(denial) => {
            let is_hidden =
                is_skill_tool(&denial.tool) || matches!(fate, Some(Fate::Hidden | Fate::Unclear));
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
    if let Some((key, command)) = command(&call.input) {
        let names_skill = |part: &str| mask.is_path_in(part);
        if !names_skill(&command) {
            return is_linked.then_some(Fate::Unclear);
        }
        let rest = match Command::new(&command).without_reading(&names_skill) {
            Left::Nothing => return Some(Fate::Hidden),
            Left::Code => return Some(Fate::Unclear),
            Left::Rest(rest) => rest,
        };
        let mut fields = call.input.as_object().cloned().unwrap_or_default();
        fields.insert(key.to_owned(), Value::String(rest));
        return Some(Fate::Without(Value::Object(fields)));
    }
    let is_read = is_linked || mask.is_path_in(&call.input.to_string());
    if !is_read || writes(&call.input) {
        return None;
    }
    Some(without_paths(&call.input, mask).map_or(Fate::Hidden, Fate::Without))
}

/// The input of a tool that reads several files, without those of the skill; nothing when there are no others.
fn without_paths(input: &Value, mask: &SkillMask) -> Option<Value> {
    let fields = input.as_object()?;
    let is_own = |item: &Value| mask.is_path_in(&item.to_string());
    let mut is_left = false;
    let fields = fields.iter().map(|(key, value)| match value {
        Value::Array(items) => {
            let kept: Vec<Value> = items.iter().filter(|item| !is_own(item)).cloned().collect();
            is_left |= !kept.is_empty() && kept.len() < items.len();
            (key.clone(), Value::Array(kept))
        }
        other => (key.clone(), other.clone()),
    });
    let fields = Value::Object(fields.collect());
    (is_left && !is_own(&fields)).then_some(fields)
}

/// The command that a call runs, and the field that it stands in.
fn command(input: &Value) -> Option<(&'static str, String)> {
    let fields = input.as_object()?;
    let key = COMMANDS.into_iter().find(|&key| fields.contains_key(key))?;
    Some((key, in_words(&fields[key])))
}

fn writes(input: &Value) -> bool {
    let fields = input.as_object();
    fields.is_some_and(|fields| CONTENTS.iter().any(|key| fields.contains_key(*key)))
}

/// Whether a call does more than look.
fn does_work(input: &Value) -> bool {
    match command(input) {
        Some((_, command)) => Command::new(&command).does() == Does::Work,
        None => writes(input),
    }
}

/// Whether a call searches files for something, and reads none as a whole.
fn is_search(tool: &str, input: &Value) -> bool {
    let command = command(input).map_or_else(|| tool.to_lowercase(), |(_, command)| command);
    let program = command.split_whitespace().next().unwrap_or_default();
    SEARCHES.contains(&program)
}

/// A command as one text; some agents give it as a list.
fn in_words(command: &Value) -> String {
    match command {
        Value::String(text) => text.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
