//! Checks of what the agent did and said: the transcript, the tokens and the time.

use std::collections::HashMap;

use serde_json::Value;
use skillgauge_format::evals::{Operator, Presence};
use skillgauge_format::transcript::{
    ErrorLevel, EventKind, Outcome, Reason, Stop, ToolCallId, ToolStatus, Transcript, TranscriptEnd,
};

use super::context::CheckContext;
use super::evidence::{self, Evidence};
use super::glob::NameGlob;
use super::needle::Needle;
use super::verdict::{Finding, Verdict};

/// Tools that only show what is there: an error in what they show is an error in a file, not one of the run.
const READERS: [&str; 14] = [
    "Read",
    "Grep",
    "Glob",
    "LS",
    "NotebookRead",
    "Skill",
    "WebFetch",
    "WebSearch",
    "read_file",
    "read_many_files",
    "search_file_content",
    "list_directory",
    "read",
    "grep",
];

/// What Python writes above the calls that led to an exception.
const TRACEBACK: &str = "Traceback (most recent call last)";

/// Beginnings of lines by which programs say that they failed.
const ERROR_STARTS: [&str; 7] =
    ["error:", "error[", "fatal:", "fatal error:", "panic:", "npm ERR!", "Segmentation fault"];

/// Which calls of a tool are meant.
#[derive(Debug)]
pub(super) struct ToolPattern {
    pub(super) tool: NameGlob,
    /// What the call's input must contain.
    pub(super) input: Option<Needle>,
}

const NO_TRANSCRIPT: &str = "the run has no transcript.jsonl";

pub(super) fn no_errors(context: &CheckContext<'_>) -> Finding {
    let Some(transcript) = context.transcript else {
        return Finding::plain(Verdict::Unknown, NO_TRANSCRIPT);
    };
    let tools = tools(transcript);
    let mut evidence = Evidence::new();
    for (line, kind) in events(transcript) {
        match kind {
            EventKind::ToolResult(result) => {
                let tool = tools.get(&result.id).copied().unwrap_or("a tool");
                if result.status == ToolStatus::Error {
                    let first = result.output.lines().find(|line| !line.trim().is_empty());
                    let first = evidence::line(first.unwrap_or("no output"));
                    evidence.add(format!("transcript.jsonl:{line}: {tool} failed: {first}"));
                } else if !READERS.contains(&tool)
                    && let Some(found) = result.output.lines().find(|line| is_error_line(line))
                {
                    let found = evidence::line(found);
                    evidence.add(format!("transcript.jsonl:{line}: output of {tool}: {found}"));
                }
            }
            EventKind::Error(error) if error.level == ErrorLevel::Error => {
                let message = evidence::line(&error.message);
                evidence.add(format!("transcript.jsonl:{line}: {message}"));
            }
            _ => {}
        }
    }
    if evidence.is_empty() {
        // Errors without an event of their own.
        for error in &transcript.end.errors {
            evidence.add(evidence::line(&error.message));
        }
    }
    if transcript.end.outcome != Outcome::Completed {
        let reason = why_incomplete(&transcript.end, context.seconds);
        evidence.add(format!("the run did not complete: {}", evidence::line(&reason)));
    }
    if evidence.is_empty() {
        return Finding::plain(Verdict::Holds, "No errors in the transcript");
    }
    Finding::new(Verdict::Fails, evidence)
}

/// Why a run did not come to its end. When we stopped it, the agent had no chance to say so.
fn why_incomplete(end: &TranscriptEnd, seconds: Option<f64>) -> String {
    let exit = end.exit.unwrap_or_default();
    let after = seconds.map_or_else(String::new, |seconds| format!(" after {seconds:.1} seconds"));
    match (exit.stop, end.reason) {
        (Some(Stop::Timeout), _) | (None, Reason::Timeout) => {
            return format!("it was stopped{after}, at its time limit");
        }
        (Some(Stop::Silence), _) | (None, Reason::Silence) => {
            return format!("it was stopped{after}, because nothing came from the agent");
        }
        (Some(Stop::Cancel), _) => return format!("it was cancelled{after}"),
        (Some(Stop::Proof) | None, _) => {}
    }
    match (&end.message, exit.code, exit.signal) {
        (Some(message), _, _) => message.clone(),
        (None, Some(code), _) if code != 0 => {
            format!("the agent ended with exit code {code} and did not say why")
        }
        (None, _, Some(signal)) => format!("the agent was ended by signal {signal}"),
        (None, _, None) => "the agent did not say why".to_owned(),
    }
}

/// Whether a line of a program's output reports an error. Indented lines are quotes and lists, but for a traceback, whose
/// words nobody else uses.
fn is_error_line(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}');
    if line.trim_start().starts_with(TRACEBACK) {
        return true;
    }
    if line.starts_with("panicked at") || line.starts_with("panic(") {
        return true;
    }
    if line.starts_with("thread '") && line.contains(" panicked at ") {
        return true;
    }
    let starts = |start: &str| {
        line.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    };
    // `TypeError: ...`, `subprocess.CalledProcessError: ...`: the last line of a traceback that was cut.
    let is_exception = line.split_once(": ").is_some_and(|(name, _)| {
        name.len() > "Error".len()
            && name.ends_with("Error")
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
    });
    ERROR_STARTS.iter().any(|start| starts(start)) || is_exception
}

/// The events with their lines in transcript.jsonl, which begins with a header.
fn events(transcript: &Transcript) -> impl Iterator<Item = (usize, &EventKind)> {
    transcript.events.iter().enumerate().map(|(number, event)| (number + 2, &event.kind))
}

/// The name of the tool of each call.
fn tools(transcript: &Transcript) -> HashMap<&ToolCallId, &str> {
    let calls = transcript.events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolCall(call) => Some((&call.id, call.name.as_str())),
        _ => None,
    });
    calls.collect()
}

/// The tool was called, so often as is wanted.
pub(super) fn tool_called(
    context: &CheckContext<'_>,
    tool: &ToolPattern,
    (operator, count): (Operator, u64),
) -> Finding {
    match calls(context, tool) {
        Err(finding) => finding,
        Ok((found, places)) => {
            let mut evidence = Evidence::new();
            let times = if found == 1 { "time" } else { "times" };
            let name = tool.tool.as_str();
            evidence.note(format!(
                "`{name}` was called {found} {times}{}, expected {} {count}",
                tool.condition(),
                operator.as_str()
            ));
            evidence.take_places(places);
            Finding::new(Verdict::of(operator.holds(found, count)), evidence)
        }
    }
}

/// The tool was not called.
pub(super) fn tool_not_called(context: &CheckContext<'_>, tool: &ToolPattern) -> Finding {
    tool_called(context, tool, (Operator::Equal, 0))
}

impl ToolPattern {
    fn condition(&self) -> String {
        self.input.as_ref().map(|needle| format!(" with {needle}")).unwrap_or_default()
    }
}

fn calls(context: &CheckContext<'_>, tool: &ToolPattern) -> Result<(u64, Evidence), Finding> {
    let transcript =
        context.transcript.ok_or_else(|| Finding::plain(Verdict::Unknown, NO_TRANSCRIPT))?;
    let mut evidence = Evidence::new();
    let mut count = 0;
    for (line, kind) in events(transcript) {
        let EventKind::ToolCall(call) = kind else { continue };
        if !tool.tool.matches(&call.name) {
            continue;
        }
        let input = call.input.to_string();
        if let Some(needle) = &tool.input {
            let found = needle.find(&input, 0).map_err(|error| {
                Finding::plain(Verdict::Unknown, format!("transcript.jsonl:{line}: {error}"))
            })?;
            if found.is_none() {
                continue;
            }
        }
        count += 1;
        let shown = evidence::line(&input);
        evidence.add(format!("transcript.jsonl:{line}: {} {shown}", call.name));
    }
    let left_out = transcript.end.cut.is_some_and(|cut| cut.events > 0);
    if left_out {
        let note = "the transcript was cut, so that not all calls are in it";
        return Err(Finding::plain(Verdict::Unknown, note));
    }
    Ok((count, evidence))
}

/// The skill's body reached the model.
pub(super) fn skill_loaded(context: &CheckContext<'_>, skill: Option<&str>) -> Finding {
    let Some(transcript) = context.transcript else {
        return Finding::plain(Verdict::Unknown, NO_TRANSCRIPT);
    };
    let Some(skill) = skill.or(context.skill_name) else {
        let note = "the name of the skill under test is not known; name it with `skill`";
        return Finding::plain(Verdict::Unknown, note);
    };
    if transcript.loaded(skill) {
        return Finding::plain(Verdict::Holds, format!("The skill `{skill}` was loaded"));
    }
    let others = &transcript.end.skills_loaded;
    let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
    Finding::plain(
        Verdict::Fails,
        format!("The skill `{skill}` was not loaded; loaded were: {}", evidence::line(&others)),
    )
}

/// So many tokens at most.
pub(super) fn max_tokens(context: &CheckContext<'_>, limit: f64) -> Finding {
    match context.tokens {
        None => Finding::plain(Verdict::Unknown, "nobody said how many tokens were used"),
        #[expect(clippy::cast_precision_loss, reason = "no run has 2^53 tokens")]
        Some(tokens) => Finding::plain(
            Verdict::of(tokens as f64 <= limit),
            format!("{tokens} tokens, at most {limit} are right"),
        ),
    }
}

/// So many seconds at most.
pub(super) fn max_seconds(context: &CheckContext<'_>, limit: f64) -> Finding {
    match context.seconds {
        None => Finding::plain(Verdict::Unknown, "nobody said how long the run took"),
        Some(seconds) => Finding::plain(
            Verdict::of(seconds <= limit),
            format!("{seconds:.1} seconds, at most {limit} are right"),
        ),
    }
}

/// What the agent did and said matches, or does not. The whole is searched at once, so that a pattern can ask for an order.
pub(super) fn transcript_regex(
    context: &CheckContext<'_>,
    needle: &Needle,
    presence: Presence,
) -> Finding {
    let Some(transcript) = context.transcript else {
        return Finding::plain(Verdict::Unknown, NO_TRANSCRIPT);
    };
    let mut text = String::new();
    // Where the part of each line of transcript.jsonl begins.
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for (line, kind) in events(transcript) {
        let part = match kind {
            EventKind::Text { text } => text.clone(),
            EventKind::ToolCall(call) => format!("{} {}", call.name, on_one_line(&call.input)),
            EventKind::ToolResult(result) => result.output.clone(),
            _ => continue,
        };
        parts.push((text.len(), line));
        text.push_str(&part);
        text.push('\n');
    }
    // Some agents give their last words only with the result.
    let said = |answer: &&str| {
        !transcript
            .events
            .iter()
            .any(|event| matches!(&event.kind, EventKind::Text { text } if text == answer))
    };
    if let Some(answer) = context.final_answer.filter(said) {
        parts.push((text.len(), transcript.events.len() + 2));
        text.push_str(answer);
    }
    let hit = match needle.find(&text, 0) {
        Ok(hit) => hit,
        Err(error) => return Finding::plain(Verdict::Unknown, error.to_string()),
    };
    if let Some(hit) = hit {
        let begun = parts.partition_point(|(start, _)| *start <= hit.start);
        let line = begun.checked_sub(1).and_then(|index| parts.get(index)).map_or(2, |part| part.1);
        let shown = evidence::line(super::content::line_at(&text, hit.start).1);
        let note = format!("Found {needle}: transcript.jsonl:{line}: {shown}");
        return Finding::plain(Verdict::of(presence == Presence::Present), note);
    }
    let cut = transcript.end.cut.unwrap_or_default();
    if cut.events > 0 {
        let note = format!("{needle} is not in what is left of the transcript, which was cut");
        return Finding::plain(Verdict::Unknown, note);
    }
    let mut evidence = Evidence::new();
    evidence.note(format!("{needle} matches nothing that the agent did or said"));
    if cut.bytes > 0 {
        evidence.note(format!("{} bytes of long texts were not kept", cut.bytes));
    }
    Finding::new(Verdict::of(presence == Presence::Absent), evidence)
}

/// An input in JSON with spaces for its line ends, so that `Bash.*find` finds a command on the second line of a script, and
/// `\\b` is not misled by the `n` of an escaped line end.
fn on_one_line(input: &Value) -> String {
    fn flat(value: &Value) -> Value {
        match value {
            Value::String(text) => text.replace(['\n', '\r', '\t'], " ").into(),
            Value::Array(items) => items.iter().map(flat).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (key.clone(), flat(value))).collect()
            }
            plain => plain.clone(),
        }
    }
    flat(input).to_string()
}

/// The final answer contains it.
pub(super) fn output_contains(context: &CheckContext<'_>, needle: &Needle) -> Finding {
    let Some(answer) = context.final_answer else {
        return Finding::plain(Verdict::Unknown, "the run has no final answer");
    };
    match needle.find(answer, 0) {
        Err(error) => Finding::plain(Verdict::Unknown, error.to_string()),
        Ok(None) => Finding::plain(Verdict::Fails, format!("{needle} is not in the final answer")),
        Ok(Some(hit)) => {
            let (number, line) = super::content::line_at(answer, hit.start);
            let line = evidence::line(line);
            Finding::plain(
                Verdict::Holds,
                format!("Found {needle} in the final answer, line {number}: {line}"),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_error_line;

    #[test]
    fn lines_that_report_errors_are_told_from_prose() {
        for line in [
            "Traceback (most recent call last):",
            "error: could not compile `x`",
            "Error: Cannot find module",
            "error[E0308]: mismatched types",
            "fatal: not a git repository",
            "panic: runtime error: index out of range",
            "thread 'main' (123) panicked at src/main.rs:1:1:",
            "TypeError: x is not a function",
            "    Traceback (most recent call last):",
            "json.decoder.JSONDecodeError: Expecting value",
            "npm ERR! code 1",
        ] {
            assert!(is_error_line(line), "{line}");
        }
        for line in [
            "There was no error: all good",
            "  error: what the tool prints when it fails",
            "\tTypeError: x is not a function",
            "errors: 0",
            "0 errors",
            "Handles the error case",
            "panicking is not allowed",
            "test error_is_reported ... ok",
            "The ValueError: is documented",
            "",
        ] {
            assert!(!is_error_line(line), "{line}");
        }
    }
}
