//! A run's transcript, one window of it at a time: a long one is never held as a whole.
//!
//! `transcript.jsonl` is read line by line. Lines outside of the window are only looked through for what the page lists
//! (skill loads, errors); lines that are not JSON are shown as they are.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use fs_err as fs;
use serde_json::Value;
use skillgauge_core::text::shorten;
use skillgauge_core::time::unix_seconds;

use super::json::{Bytes, load_bytes, number, text};
use super::output::text_of;

/// A line longer than this is cut.
const MAX_LINE: usize = 4 << 20;
const MAX_MARKS: usize = 200;

/// A part of a transcript, and what is known of the whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// The first line of the file: the agent and its model.
    pub header: Value,
    /// The events of the window, with their numbers from 0.
    pub events: Vec<(usize, Value)>,
    /// The last line of the file: outcome, totals.
    pub end: Option<Value>,
    /// How many events there are in all.
    pub total: usize,
    /// Skill loads and errors anywhere in the transcript.
    pub marks: Vec<Mark>,
    /// A transcript of another tool, as text.
    pub plain: Option<String>,
    /// Why there is none, or less than there should be.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The number of the event.
    pub event: usize,
    pub kind: MarkKind,
    pub label: String,
}

/// What a mark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// A skill was loaded or asked for.
    Skill,
    Error,
}

/// Reads the window of events from `first`, `count` of them.
pub fn window(run_folder: &Path, first: usize, count: usize) -> Window {
    let path = run_folder.join("transcript.jsonl");
    match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => {
            return Window {
                problem: Some("transcript.jsonl is not a file".into()),
                ..Window::default()
            };
        }
        Err(_) => return plain(run_folder),
    }
    let mut window = Window::default();
    let visit = |number: usize, line: &str, window: &mut Window| {
        let is_inside = (first..first.saturating_add(count)).contains(&number);
        let kind = mark_kind(line);
        if !is_inside && kind.is_none() {
            return;
        }
        let event = serde_json::from_str(line)
            .unwrap_or_else(|_| serde_json::json!({"type": "unreadable", "text": line}));
        if let Some(kind) = kind
            && window.marks.len() < MAX_MARKS
            && let Some(label) = mark_label(kind, &event)
        {
            window.marks.push(Mark { event: number, kind, label });
        }
        if is_inside {
            window.events.push((number, event));
        }
    };
    if let Err(error) = each_line(&path, &mut window, visit) {
        window.problem = Some(format!("the transcript cannot be read: {error}"));
    } else if window.end.is_none() {
        window.problem =
            Some("the transcript has no end: the run was stopped, or is still going on".into());
    }
    window
}

/// The first event that holds each of the texts, if there is one; both are compared as JSON writes them.
pub fn find(run_folder: &Path, texts: &[String]) -> Vec<Option<usize>> {
    let needles: Vec<String> = texts
        .iter()
        .map(|text| Value::from(text.as_str()).to_string().trim_matches('"').to_owned())
        .collect();
    let mut found = vec![None; texts.len()];
    let path = run_folder.join("transcript.jsonl");
    if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
        return found;
    }
    let mut whole = Window::default();
    let _ = each_line(&path, &mut whole, |number, line, _| {
        for (place, needle) in found.iter_mut().zip(&needles) {
            if place.is_none() && !needle.is_empty() && line.contains(needle.as_str()) {
                *place = Some(number);
            }
        }
    });
    found
}

/// Goes through the lines; header and end go into the window, everything between to the visitor.
fn each_line(
    path: &Path,
    window: &mut Window,
    mut visit: impl FnMut(usize, &str, &mut Window),
) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(256 << 10, fs::File::open(path)?);
    let mut is_first = true;
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        if reader.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if std::mem::take(&mut is_first) && text.contains("\"format\"") {
            window.header = serde_json::from_str(text).unwrap_or_default();
            continue;
        }
        if text.starts_with("{\"type\":\"end\"")
            && let Ok(end) = serde_json::from_str(text)
        {
            window.end = Some(end);
            continue;
        }
        visit(window.total, text, window);
        window.total += 1;
    }
}

fn mark_kind(line: &str) -> Option<MarkKind> {
    if line.contains("\"type\":\"skill_load\"") {
        Some(MarkKind::Skill)
    } else if ["\"type\":\"error\"", "\"status\":\"error\"", "\"type\":\"permission_denied\""]
        .iter()
        .any(|sign| line.contains(sign))
    {
        Some(MarkKind::Error)
    } else {
        None
    }
}

/// The words of a mark; nothing when the sign stood in the text of something else.
fn mark_label(kind: MarkKind, event: &Value) -> Option<String> {
    let of = |key: &str| text(event, key).unwrap_or_default();
    let event_type = of("type");
    match (kind, event_type.as_str()) {
        (MarkKind::Skill, "skill_load") => Some(format!("{} {}", of("name"), of("state"))),
        (MarkKind::Error, "tool_result") if of("status") == "error" => {
            Some(format!("tool failed: {}", first_words(&of("output"))))
        }
        (MarkKind::Error, "error") => Some(first_words(&of("message"))),
        (MarkKind::Error, "permission_denied") => Some(format!("{} was refused", of("tool"))),
        _ => None,
    }
}

/// The first line of a text, cut to what fits a list.
pub(crate) fn first_words(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    shorten(line, 96)
}

/// A transcript of another tool.
fn plain(run_folder: &Path) -> Window {
    for name in ["transcript.md", "outputs/transcript.md"] {
        if let Bytes::Read(bytes) = load_bytes(&run_folder.join(name), 4 << 20) {
            return Window { plain: text_of(&bytes), ..Window::default() };
        }
    }
    Window { problem: Some("this run has no transcript".into()), ..Window::default() }
}

/// Seconds since the epoch of an RFC 3339 time in UTC, as far as one is there.
pub(crate) fn seconds_of(event: &Value) -> Option<f64> {
    unix_seconds(&text(event, "time")?)
}

/// What went into the model and what came out, of the answer that begins with an event.
pub(crate) fn tokens_of(event: &Value) -> Option<(f64, Option<f64>)> {
    let tokens = event.get("tokens")?;
    Some((number(tokens, "input")?, number(tokens, "output")))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn write(events: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from("{\"format\":\"transcript\",\"agent\":\"fake\"}\n");
        for index in 0..events {
            let _ = writeln!(
                text,
                "{{\"index\":{index},\"type\":\"text\",\"text\":\"line {index}.\"}}"
            );
        }
        text.push_str(
            "{\"index\":9,\"type\":\"skill_load\",\"name\":\"csv\",\"state\":\"loaded\"}\n",
        );
        text.push_str("broken\n");
        text.push_str("{\"type\":\"end\",\"outcome\":\"completed\"}\n");
        fs::write(folder.path().join("transcript.jsonl"), text).unwrap();
        folder
    }

    #[test]
    fn a_window_of_a_long_transcript_is_read_with_the_marks_of_all() {
        let folder = write(5000);
        let window = window(folder.path(), 4000, 10);
        assert_eq!(window.total, 5002);
        assert_eq!(window.events.len(), 10);
        assert_eq!(window.events[0].1["text"], "line 4000.");
        assert_eq!(window.marks.len(), 1);
        assert_eq!((window.marks[0].event, window.marks[0].label.as_str()), (5000, "csv loaded"));
        assert_eq!(window.end.unwrap()["outcome"], "completed");
        assert_eq!(window.problem, None);
    }

    #[test]
    fn a_line_that_is_not_json_is_shown_as_it_is() {
        let folder = write(1);
        let window = window(folder.path(), 2, 10);
        assert_eq!(window.events[0].1["type"], "unreadable");
        assert_eq!(window.events[0].1["text"], "broken");
    }

    #[test]
    fn evidence_is_found_in_the_event_that_holds_it() {
        let folder = write(20);
        let texts = ["line 7.".to_owned(), "nowhere".to_owned(), String::new()];
        assert_eq!(find(folder.path(), &texts), [Some(7), None, None]);
    }

    #[test]
    fn times_are_read_to_the_fraction() {
        let event = serde_json::json!({"time": "2026-01-02T03:04:05.5Z"});
        assert_eq!(seconds_of(&event), Some(1_767_323_045.5));
        assert_eq!(seconds_of(&serde_json::json!({"time": "yesterday"})), None);
    }

    #[test]
    fn a_run_without_a_transcript_says_so() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(window(folder.path(), 0, 10).problem.unwrap(), "this run has no transcript");
    }
}
