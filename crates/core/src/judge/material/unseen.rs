//! The events that a judge is shown: all but those that show a skill being looked for, loaded or read.
//!
//! They are left out of every arm, and what is left is numbered anew, so that no gap tells of them. A command that reads
//! the skill and works as well is shown without the reading.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use skillgauge_format::transcript::{
    Event, EventKind, ToolCall, ToolCallId, ToolResult, Transcript,
};

use super::skill_mask::SkillMask;

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
/// Programs that only look.
const READERS: [&str; 24] = [
    "bat", "cat", "cd", "dir", "echo", "exa", "file", "find", "grep", "head", "less", "ls", "more",
    "nl", "printf", "pwd", "rg", "sed", "stat", "tail", "test", "tree", "true", "wc",
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
    let calls = transcript.events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolCall(call) => Some((&call.id, fate(call, linked.contains(&call.id), mask)?)),
        _ => None,
    });
    let fates: BTreeMap<&ToolCallId, Fate> = calls.collect();
    let events = transcript.events.iter().filter_map(|event| keep(event, &fates, mask));
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
    mask: &SkillMask,
) -> Option<Cow<'t, Event>> {
    let with = |kind: EventKind| Some(Cow::Owned(Event { kind, ..event.clone() }));
    match &event.kind {
        EventKind::SkillLoad(_) | EventKind::SkillTouch(_) => None,
        EventKind::ToolCall(call) => match fates.get(&call.id) {
            Some(Fate::Hidden) => None,
            Some(Fate::Without(input)) => {
                with(EventKind::ToolCall(ToolCall { input: input.clone(), ..call.clone() }))
            }
            None => Some(Cow::Borrowed(event)),
        },
        EventKind::ToolResult(result) => {
            let fate = fates.get(&result.id);
            if matches!(fate, Some(Fate::Hidden)) {
                return None;
            }
            match mask.answered(&result.output, fate.is_some()) {
                Cow::Borrowed(_) => Some(Cow::Borrowed(event)),
                Cow::Owned(output) => {
                    with(EventKind::ToolResult(ToolResult { output, ..result.clone() }))
                }
            }
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
        EventKind::SubAgentStart(_)
        | EventKind::SubAgentEnd(_)
        | EventKind::Retry(_)
        | EventKind::Error(_)
        | EventKind::FileChange(_) => Some(Cow::Borrowed(event)),
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
    let fields = call.input.as_object();
    let command =
        fields.and_then(|fields| COMMANDS.into_iter().find(|&key| fields.contains_key(key)));
    if let (Some(key), Some(fields)) = (command, fields) {
        let command = in_words(&fields[key]);
        let names_skill =
            |part: &str| mask.is_path_in(part) || (is_linked && part.contains("SKILL.md"));
        if !is_linked && !names_skill(&command) {
            return None;
        }
        let Some(rest) = without_reading(&command, &names_skill) else { return Some(Fate::Hidden) };
        let mut fields = fields.clone();
        fields.insert(key.to_owned(), Value::String(rest));
        return Some(Fate::Without(Value::Object(fields)));
    }
    let is_written =
        fields.is_some_and(|fields| CONTENTS.iter().any(|key| fields.contains_key(*key)));
    let is_read = is_linked || mask.is_path_in(&call.input.to_string());
    (is_read && !is_written).then_some(Fate::Hidden)
}

/// A command as one text; some agents give it as a list.
fn in_words(command: &Value) -> String {
    match command {
        Value::String(text) => text.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// The command without the parts that read the skill; nothing when only looking is left.
fn without_reading(command: &str, names_skill: &dyn Fn(&str) -> bool) -> Option<String> {
    let command = unwrapped(command);
    let (mut kept, mut works) = (String::new(), false);
    for part in parts(command) {
        let looks = part.split('|').all(|step| is_reader(step.trim_end_matches(['&', ';', '\n'])));
        if looks && names_skill(part) {
            continue;
        }
        works |= !looks;
        kept.push_str(part);
    }
    let kept = kept.trim().trim_end_matches(['&', ';']).trim_end();
    (works && !kept.is_empty()).then(|| kept.to_owned())
}

/// The command within `bash -lc '...'`.
fn unwrapped(command: &str) -> &str {
    let rest = command.trim();
    let shell = rest.split_once(" -lc ").or_else(|| rest.split_once(" -c "));
    let Some((_, inner)) = shell.filter(|(shell, _)| shell.ends_with("sh") && !shell.contains(' '))
    else {
        return rest;
    };
    let inner = inner.trim();
    let quoted = ['"', '\'']
        .into_iter()
        .find_map(|mark| inner.strip_prefix(mark).and_then(|inner| inner.strip_suffix(mark)));
    quoted.unwrap_or(inner)
}

/// A command in the parts that run one after the other, each with what parts it from the next.
fn parts(command: &str) -> impl Iterator<Item = &str> {
    let mut rest = command;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = ["&&", "||", ";", "\n"]
            .into_iter()
            .filter_map(|mark| rest.find(mark).map(|at| at + mark.len()))
            .min()
            .unwrap_or(rest.len());
        let (part, left) = rest.split_at(end);
        rest = left;
        Some(part)
    })
}

/// Whether a step only looks: its program does, and it writes into no file.
fn is_reader(step: &str) -> bool {
    let step = step.trim();
    let program = step.split_whitespace().next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    let writes = step.contains('>') && !step.contains("2>") || step.contains(" -i");
    step.is_empty() || (READERS.contains(&program) && !writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_the_skill_is_cut_out_of_a_command_that_does_more() {
        let mask = SkillMask::new("csv-report", ["Sum it up"]).unwrap();
        let names = |part: &str| mask.is_path_in(part);
        for (command, expected) in [
            ("cat .claude/skills/csv-report/SKILL.md", None),
            ("bash -lc 'sed -n 1,200p /x/.agents/skills/csv-report/SKILL.md'", None),
            ("ls .claude/skills | head -3 && cat .claude/skills/csv-report/SKILL.md", None),
            ("cat .claude/skills/csv-report/SKILL.md; make all", Some("make all")),
            ("cd .claude/skills && python run.py", Some("python run.py")),
            (
                "python .claude/skills/csv-report/sum.py a.csv",
                Some("python .claude/skills/csv-report/sum.py a.csv"),
            ),
            (
                "cat .claude/skills/csv-report/a.md > report.md",
                Some("cat .claude/skills/csv-report/a.md > report.md"),
            ),
        ] {
            assert_eq!(without_reading(command, &names).as_deref(), expected, "{command}");
        }
    }
}
