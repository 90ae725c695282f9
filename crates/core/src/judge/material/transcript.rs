//! A transcript as a judge reads it, within a budget.
//!
//! Everything is shown when it fits. Otherwise long events are cut in their middle, then whole events are left out: those
//! that show errors are kept first, then the beginning and the end. What is missing is said where it is missing, and
//! counted for the grading.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;
use skillgauge_format::part::TranscriptLeftOut;
use skillgauge_format::transcript::{
    ErrorLevel, Event, EventKind, FileChangeKind, Outcome, SkillState, ToolStatus, Transcript,
};

use super::blind::Blind;
use super::corpus::{Corpus, Gap, Whose};
use super::fence::{FenceKey, mark};
use super::unseen::shown;
use crate::text::cut_middle;

/// What a note about left-out events and a line break may take.
const NOTE: usize = 48;
/// What the note that a text was cut may take.
const CUT_NOTE: usize = 40;
/// What the agent's last words are called among the sources of quotes.
pub(super) const ANSWER: &str = "answer";
/// An event is never cut to less than this.
const LEAST: usize = 240;

/// A transcript within a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptDigest {
    pub text: String,
    /// What it does not see; none when it sees everything.
    pub left_out: Option<TranscriptLeftOut>,
    /// What its events begin with.
    pub mark: Option<String>,
}

impl TranscriptDigest {
    /// For a run without a transcript.
    pub(super) fn absent() -> Self {
        Self { text: "There is no transcript of this run.".to_owned(), left_out: None, mark: None }
    }
}

struct Entry {
    /// The pieces that `text` is made of.
    pieces: Vec<Piece>,
    text: String,
    is_error: bool,
    is_last_words: bool,
}

pub(super) fn digest(
    transcript: &Transcript,
    blind: &Blind,
    key: FenceKey,
    budget: usize,
    corpus: &mut Corpus,
) -> TranscriptDigest {
    let (entries, mark) = entries(transcript, blind, key);
    let ending = ending(transcript, blind, &mark, budget);
    let between = (Whose::Ours, "\n");
    let pieces = entries.iter().flat_map(|entry| {
        entry.pieces.iter().map(|(whose, text)| (*whose, text.as_str())).chain([between])
    });
    let last = ending.iter().map(|(whose, text)| (*whose, text.as_str()));
    corpus.add_pieces("transcript", pieces.chain(last));
    if transcript.end.cut.is_some() {
        corpus.has_gap("transcript", Gap::TooLarge);
    }
    if let Some(words) = last_words(transcript) {
        corpus.add(ANSWER, &blind.said(words));
    }
    let end = joined(&ending);
    let begin = format!("Each event begins with its number and the mark {mark}.\n");
    let room = budget.saturating_sub(begin.len() + end.len());
    let total: usize = entries.iter().map(|entry| entry.text.len() + 1).sum();
    let mut left_out = TranscriptLeftOut {
        of_events: entries.len() as u64,
        never_recorded: transcript.end.cut.map(|cut| cut.bytes).filter(|&bytes| bytes > 0),
        ..TranscriptLeftOut::default()
    };
    let mut text = begin;
    if total <= room {
        for entry in &entries {
            text.push_str(&entry.text);
            text.push('\n');
        }
    } else {
        let shown = shorten(&entries, room, &mut left_out);
        let kept = choose(&entries, &shown, room);
        write_kept(&entries, &shown, &kept, &mut text, &mut left_out);
    }
    text.push_str(&end);
    let is_complete = left_out.bytes == 0 && left_out.never_recorded.is_none();
    TranscriptDigest { text, left_out: (!is_complete).then_some(left_out), mark: Some(mark) }
}

/// Cuts what is long, the agent's last words least.
fn shorten(entries: &[Entry], room: usize, left_out: &mut TranscriptLeftOut) -> Vec<String> {
    let limit = (room / 40).max(LEAST);
    let mut shown = Vec::with_capacity(entries.len());
    for entry in entries {
        let limit = if entry.is_last_words { (room / 4).max(LEAST) } else { limit };
        // A cut that saves less than its own note is none.
        let limit = if entry.text.len() <= limit + CUT_NOTE { entry.text.len() } else { limit };
        let (text, gone) = cut_middle(&entry.text, limit);
        left_out.shortened += u64::from(gone > 0);
        left_out.bytes += gone;
        shown.push(text);
    }
    shown
}

/// Which events are shown: errors first, then from both ends.
fn choose(entries: &[Entry], shown: &[String], room: usize) -> Vec<bool> {
    let cost = |index: usize| shown[index].len() + 1 + NOTE;
    let mut kept = vec![false; entries.len()];
    let mut left = room;
    let mut take = |kept: &mut Vec<bool>, index: usize, limit: &mut usize| -> bool {
        if kept[index] {
            return true;
        }
        let cost = cost(index);
        if cost > *limit || cost > left {
            return false;
        }
        kept[index] = true;
        *limit -= cost;
        left -= cost;
        true
    };
    // The last words, then the errors, the latest first: how it ended matters most.
    let mut all = room;
    if let Some(last) = entries.iter().rposition(|entry| entry.is_last_words) {
        take(&mut kept, last, &mut all);
    }
    let mut for_errors = room / 3;
    for index in (0..entries.len()).rev().filter(|&index| entries[index].is_error) {
        if !take(&mut kept, index, &mut for_errors) {
            break;
        }
    }
    let used: usize = (0..entries.len()).filter(|&index| kept[index]).map(cost).sum();
    let mut for_head = room.saturating_sub(used) * 2 / 5;
    for index in 0..entries.len() {
        if !take(&mut kept, index, &mut for_head) {
            break;
        }
    }
    let mut for_tail = room;
    for index in (0..entries.len()).rev() {
        if !take(&mut kept, index, &mut for_tail) {
            break;
        }
    }
    kept
}

fn write_kept(
    entries: &[Entry],
    shown: &[String],
    kept: &[bool],
    text: &mut String,
    left_out: &mut TranscriptLeftOut,
) {
    let mut gap = 0_u64;
    for (index, entry) in entries.iter().enumerate() {
        if !kept[index] {
            gap += 1;
            left_out.events += 1;
            // What was cut from it is counted already, and it is not shown shortened any more.
            let was_cut = shown[index].len() != entry.text.len();
            left_out.shortened -= u64::from(was_cut);
            left_out.bytes +=
                if was_cut { shown[index].len() as u64 } else { entry.text.len() as u64 };
            continue;
        }
        write_gap(std::mem::take(&mut gap), text);
        text.push_str(&shown[index]);
        text.push('\n');
    }
    write_gap(gap, text);
}

fn write_gap(gap: u64, text: &mut String) {
    if gap > 0 {
        let _ = writeln!(text, "[{gap} events left out here]");
    }
}

/// A piece of what is shown, and who wrote it.
type Piece = (Whose, String);

fn joined(pieces: &[Piece]) -> String {
    pieces.iter().map(|(_, text)| text.as_str()).collect()
}

/// The last thing that the agent itself said.
pub(crate) fn last_words(transcript: &Transcript) -> Option<&str> {
    let said = transcript.events.iter().rev().filter(|event| event.sub_agent.is_none());
    let text = said.filter_map(|event| match &event.kind {
        EventKind::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let last = transcript.end.final_text.as_deref();
    last.into_iter().chain(text).find(|text| !text.trim().is_empty())
}

/// All events that are shown as texts, and the mark that each of them begins with: a tool's output could tell of events
/// that never were, but it cannot know the mark. They are numbered as they are shown.
fn entries(transcript: &Transcript, blind: &Blind, key: FenceKey) -> (Vec<Entry>, String) {
    let events = shown(transcript, blind.skill());
    let last_words = events.iter().rposition(|event| {
        event.sub_agent.is_none() && matches!(event.kind, EventKind::Text { .. })
    });
    let describe = |event: &Event| {
        let mut pieces = Vec::new();
        if let Some(sub_agent) = &event.sub_agent {
            pieces.push((Whose::Ours, format!(" sub-agent {sub_agent}:")));
        }
        pieces.extend(describe(&event.kind));
        for (_, text) in &mut pieces {
            if let Cow::Owned(blinded) = blind.apply(text) {
                *text = blinded;
            }
        }
        trim_end(&mut pieces);
        pieces
    };
    let described: Vec<Vec<Piece>> = events.iter().map(|event| describe(event)).collect();
    let texts: Vec<String> = described.iter().map(|pieces| joined(pieces)).collect();
    let mark = mark(key, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let make = |((index, event), mut pieces): ((usize, &Cow<'_, Event>), Vec<Piece>)| {
        pieces.insert(0, (Whose::Ours, format!("[{} {mark}", index + 1)));
        Entry {
            text: joined(&pieces),
            pieces,
            is_error: is_error(&event.kind),
            is_last_words: Some(index) == last_words,
        }
    };
    let entries = events.iter().enumerate().zip(described).map(make).collect();
    (entries, mark)
}

fn trim_end(pieces: &mut Vec<Piece>) {
    while let Some((_, text)) = pieces.last_mut() {
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            return;
        }
        pieces.pop();
    }
}

fn is_error(kind: &EventKind) -> bool {
    match kind {
        EventKind::ToolResult(result) => result.status == ToolStatus::Error,
        EventKind::Error(error) => error.level == ErrorLevel::Error,
        EventKind::PermissionDenied(_) => true,
        EventKind::SkillLoad(load) => matches!(load.state, SkillState::Denied | SkillState::Failed),
        EventKind::Text { .. }
        | EventKind::Thinking { .. }
        | EventKind::ToolCall(_)
        | EventKind::SkillTouch(_)
        | EventKind::SubAgentStart(_)
        | EventKind::SubAgentEnd(_)
        | EventKind::Retry(_)
        | EventKind::FileChange(_)
        | EventKind::Unknown(_) => false,
    }
}

/// An event in pieces: what the agent and its tools said, and our words about it. These are short and between brackets,
/// so that nobody takes them for something to quote.
fn describe(kind: &EventKind) -> Vec<Piece> {
    let ours = |text: &str| (Whose::Ours, text.to_owned());
    let theirs = |text: &str| (Whose::Theirs, text.to_owned());
    let or_nothing = |text: &Option<String>| theirs(text.as_deref().unwrap_or_default());
    match kind {
        EventKind::Text { text } => vec![ours(" agent]\n"), theirs(text)],
        EventKind::Thinking { text } => vec![ours(" thought]\n"), theirs(text)],
        EventKind::ToolCall(call) => {
            let mut input = String::new();
            describe_input(&call.input, &mut input);
            vec![ours(" call] "), theirs(&call.name), theirs(&input)]
        }
        EventKind::ToolResult(result) => {
            let status = match result.status {
                ToolStatus::Ok => " result]\n",
                ToolStatus::Error => " FAILED]\n",
            };
            vec![ours(status), theirs(&result.output)]
        }
        EventKind::SkillLoad(load) => {
            let state = match load.state {
                SkillState::Asked => " asked for ",
                SkillState::Loaded => " loaded ",
                SkillState::Denied => " denied ",
                SkillState::Failed => " could not be loaded ",
            };
            vec![ours(" skill] "), theirs(&load.name), ours(state), or_nothing(&load.note)]
        }
        EventKind::SkillTouch(touch) => {
            vec![ours(" skill] touches a file of "), theirs(&touch.name)]
        }
        EventKind::SubAgentStart(start) => {
            let id = start.id.to_string();
            vec![ours(" starts sub-agent] "), theirs(&id), ours(" "), or_nothing(&start.task)]
        }
        EventKind::SubAgentEnd(end) => {
            let id = end.id.to_string();
            vec![ours(" sub-agent ended] "), theirs(&id), ours(" "), or_nothing(&end.status)]
        }
        EventKind::Retry(retry) => {
            vec![ours(&format!(" asked again: {}]", retry.reason))]
        }
        EventKind::PermissionDenied(denial) => {
            vec![ours(" DENIED] "), theirs(&denial.tool), ours(" "), or_nothing(&denial.message)]
        }
        EventKind::Error(error) => {
            vec![ours(&format!(" ERROR {}] ", error.reason)), theirs(&error.message)]
        }
        EventKind::FileChange(change) => {
            let done = match change.change {
                FileChangeKind::Add => " file created] ",
                FileChangeKind::Update => " file changed] ",
                FileChangeKind::Delete => " file deleted] ",
                FileChangeKind::Write => " file written] ",
            };
            vec![ours(done), theirs(&change.path)]
        }
        EventKind::Unknown(unknown) => {
            vec![ours(" not understood] "), theirs(&unknown.raw.to_string())]
        }
    }
}

/// What a tool was given: texts as they are and not as JSON, so that they can be quoted.
fn describe_input(input: &Value, text: &mut String) {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match input {
        Value::Object(fields) => {
            for (name, value) in fields {
                let _ = write!(text, "\n{name}: {}", plain(value));
            }
        }
        Value::Null => {}
        other => {
            let _ = write!(text, "\n{}", plain(other));
        }
    }
}

/// How it ended. An agent that did not complete is part of what is judged.
fn ending(transcript: &Transcript, blind: &Blind, mark: &str, budget: usize) -> Vec<Piece> {
    let end = &transcript.end;
    let mut pieces = vec![(
        Whose::Ours,
        match end.outcome {
            Outcome::Completed => format!("[end {mark}: completed]"),
            outcome => format!("[end {mark}: NOT completed, {outcome} ({})]", end.reason),
        },
    )];
    if let Some(message) = end.message.as_ref().filter(|_| end.outcome != Outcome::Completed) {
        pieces.push((Whose::Ours, " ".to_owned()));
        pieces.push((Whose::Theirs, cut_middle(&blind.said(message), 500.min(budget / 4)).0));
    }
    // Some agents give their answer only at the end.
    let is_said = |words: &str| {
        let said =
            |event: &Event| matches!(&event.kind, EventKind::Text { text } if text.trim() == words);
        transcript.events.iter().rev().any(said)
    };
    if let Some(words) = end.final_text.as_deref().map(str::trim).filter(|words| !words.is_empty())
        && !is_said(words)
        && let said = blind.said(words)
        && !said.trim().is_empty()
    {
        pieces.push((Whose::Ours, format!("\n[last words {mark}]\n")));
        pieces.push((Whose::Theirs, cut_middle(&said, 8000.min(budget / 4)).0));
    }
    pieces
}

#[cfg(test)]
mod tests;
