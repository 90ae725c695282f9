//! The page of a transcript: one window of events at a time, since a long one is never held as a whole.
//!
//! `transcript.jsonl` is read line by line. Lines outside of the window are only looked through for what the page lists
//! (skill loads, errors); lines that are no events are shown as they are.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use fs_err as fs;
use minijinja::{Value, context};
use serde::Serialize;
use skillgauge_core::iteration::{Case, Run};
use skillgauge_core::text::shorten;
use skillgauge_core::time;
use skillgauge_format::transcript::{
    ErrorLevel, Event, EventKind, FileChangeKind, SkillState, ToolCall, ToolStatus, TranscriptEnd,
    TranscriptHeader,
};

use super::case::title;
use super::links::{Target, event_anchor, transcript_anchor};
use super::outputs::text_of;
use super::show;
use super::table::Tone;
use super::{Scene, view};
use crate::read::{Bytes, load_bytes};

/// Events on one page of the server.
pub(crate) const EVENTS_PER_PAGE: usize = 500;
/// Events of one transcript in the one-file report.
const EVENTS_IN_FILE: usize = 300;
/// A text longer than this is cut.
const MAX_TEXT: usize = 16 << 10;
/// A line longer than this is cut.
const MAX_LINE: u64 = 4 << 20;
const MAX_JUMPS: usize = 200;

/// A part of a transcript, and what is known of the whole.
#[derive(Debug, Default)]
struct Window {
    header: Option<TranscriptHeader>,
    /// With their numbers from 0.
    events: Vec<(usize, Line)>,
    end: Option<TranscriptEnd>,
    total: usize,
    /// Skill loads and errors anywhere in the transcript.
    jumps: Vec<(usize, Line)>,
    /// A transcript of another tool, as text.
    plain: Option<String>,
    /// Why there is none, or less than there should be.
    problem: Option<String>,
}

/// A line of a transcript.
#[derive(Debug)]
enum Line {
    Event(Box<Event>),
    /// What is no event.
    Other(String),
}

impl Line {
    fn parse(text: &str) -> Self {
        let event = serde_json::from_str(text);
        event.map_or_else(|_| Self::Other(text.to_owned()), |event| Self::Event(Box::new(event)))
    }

    /// Whether the page has a link to it from its top.
    fn is_jump(&self) -> bool {
        let Self::Event(event) = self else { return false };
        match &event.kind {
            EventKind::SkillLoad(_) | EventKind::Error(_) | EventKind::PermissionDenied(_) => true,
            EventKind::ToolResult(result) => result.status == ToolStatus::Error,
            _ => false,
        }
    }
}

/// Reads the window of events from `first`, `count` of them.
fn window(run_folder: &Path, first: usize, count: usize) -> Window {
    let path = run_folder.join("transcript.jsonl");
    match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => {
            let problem = Some("transcript.jsonl is not a file".to_owned());
            return Window { problem, ..Window::default() };
        }
        Err(_) => return plain(run_folder),
    }
    let mut window = Window::default();
    let read = each_line(&path, &mut window, |number, text, window| {
        let is_inside = (first..first.saturating_add(count)).contains(&number);
        let may_jump =
            window.jumps.len() < MAX_JUMPS && JUMPS.iter().any(|sign| text.contains(sign));
        if may_jump {
            let line = Line::parse(text);
            if line.is_jump() {
                window.jumps.push((number, line));
            }
        }
        if is_inside {
            window.events.push((number, Line::parse(text)));
        }
    });
    if let Err(error) = read {
        window.problem = Some(format!("the transcript cannot be read: {error}"));
    } else if window.end.is_none() {
        window.problem =
            Some("the transcript has no end: the run was stopped, or is still going on".into());
    }
    window
}

/// What a line that may be jumped to has in it; most have none, and are not parsed.
const JUMPS: [&str; 4] = [
    "\"type\":\"skill_load\"",
    "\"type\":\"error\"",
    "\"status\":\"error\"",
    "\"type\":\"permission_denied\"",
];

/// The first event that holds each of the texts, if there is one; both are compared as JSON writes them.
pub(super) fn find(run_folder: &Path, texts: &[String]) -> Vec<Option<usize>> {
    let as_json = |text: &String| serde_json::to_string(text).unwrap_or_default();
    let needles: Vec<String> =
        texts.iter().map(|text| as_json(text).trim_matches('"').to_owned()).collect();
    let mut found = vec![None; texts.len()];
    let path = run_folder.join("transcript.jsonl");
    if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
        return found;
    }
    // A transcript that cannot be read has no place to show.
    let _ = each_line(&path, &mut Window::default(), |number, line, _| {
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
        if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if std::mem::take(&mut is_first) && text.contains("\"format\"") {
            window.header = serde_json::from_str(text).ok();
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

/// A transcript of another tool.
fn plain(run_folder: &Path) -> Window {
    for name in ["transcript.md", "outputs/transcript.md"] {
        if let Bytes::Read(bytes) = load_bytes(&run_folder.join(name), MAX_LINE) {
            return Window { plain: text_of(&bytes), ..Window::default() };
        }
    }
    Window { problem: Some("this run has no transcript".into()), ..Window::default() }
}

/// The first line of a text, cut to what fits a list.
fn first_words(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    shorten(line, 96)
}

#[derive(Debug, Serialize)]
struct EventView {
    anchor: String,
    number: usize,
    title: String,
    body: String,
    tone: Tone,
    is_folded: bool,
    is_skill: bool,
    sub_agent: Option<String>,
    after: Option<String>,
    size: String,
}

#[derive(Debug, Serialize)]
struct Jump {
    href: String,
    label: String,
    is_skill: bool,
}

/// What the page of a transcript shows; pages count from 1.
pub(crate) fn transcript(scene: &Scene, (case, run): (&Case, &Run), page: usize) -> Value {
    let links = &scene.links;
    let (is_file, count) = match links.target {
        Target::Server => (false, EVENTS_PER_PAGE),
        Target::File => (true, EVENTS_IN_FILE),
    };
    let first = page.saturating_sub(1).saturating_mul(count);
    let window = window(&scene.run_folder(run), first, count);
    let link = |event: usize| links.transcript(&run.folder, &run.id, Some(event));
    let jumps = window.jumps.iter().filter(|(event, _)| !is_file || *event < count);
    let jumps: Vec<Jump> = jumps
        .map(|(event, line)| Jump {
            href: link(*event),
            label: format!("{event} {}", Words::of(line).title),
            is_skill: matches!(line, Line::Event(event) if matches!(event.kind, EventKind::SkillLoad(_))),
        })
        .collect();
    let pages = window.total.div_ceil(count).max(1);
    let page_link = |page: usize| (!is_file).then(|| link((page - 1) * count));
    context! {
        anchor => transcript_anchor(&run.id),
        case => case.title(),
        run => title(run),
        back => links.case(&case.key, Some(&run.id)),
        facts => view(facts(&window)),
        events => view(event_views(run, &window)),
        jumps => view(jumps),
        plain => window.plain.clone(),
        problem => window.problem.clone(),
        total => window.total,
        left_out => if is_file { window.total.saturating_sub(count) } else { 0 },
        page => page,
        pages => pages,
        before => (page > 1).then(|| page_link(page - 1)).flatten(),
        after => (page < pages).then(|| page_link(page + 1)).flatten(),
    }
}

fn event_views(run: &Run, window: &Window) -> Vec<EventView> {
    let mut before: Option<f64> = None;
    let view = |(number, line): &(usize, Line)| {
        let event = match line {
            Line::Event(event) => Some(event),
            Line::Other(_) => None,
        };
        let now = event.and_then(|event| seconds_of(event));
        let after = before.zip(now).map(|(before, now)| show::seconds(Some(now - before)));
        before = now.or(before);
        let Words { title, body, tone, is_folded } = Words::of(line);
        let tokens = event.and_then(|event| event.tokens).map(|tokens| {
            let output = tokens.output.map(|output| format!(", {} out", show::count(output)));
            format!("{} tokens in{}, ", show::count(tokens.input), output.unwrap_or_default())
        });
        let size = show::count(body.chars().count() as u64);
        let end = body.floor_char_boundary(MAX_TEXT);
        let body = if end < body.len() { format!("{}\n… cut", &body[..end]) } else { body };
        EventView {
            anchor: event_anchor(&run.id, *number),
            number: *number,
            is_skill: event.is_some_and(|event| matches!(event.kind, EventKind::SkillLoad(_))),
            title,
            body,
            tone,
            is_folded,
            sub_agent: event.and_then(|event| event.sub_agent.as_ref()).map(ToString::to_string),
            after: after.map(|after| format!("+{after}")),
            size: format!("{}{size} characters", tokens.unwrap_or_default()),
        }
    };
    window.events.iter().map(view).collect()
}

fn seconds_of(event: &Event) -> Option<f64> {
    time::unix_seconds(event.time.as_ref()?)
}

/// A line in words.
struct Words {
    title: String,
    body: String,
    tone: Tone,
    is_folded: bool,
}

impl Words {
    fn open(title: impl Into<String>, body: Option<&str>, tone: Tone) -> Self {
        let body = body.unwrap_or_default().to_owned();
        Self { title: title.into(), body, tone, is_folded: false }
    }

    fn folded(title: impl Into<String>, body: &str, tone: Tone) -> Self {
        Self { is_folded: true, ..Self::open(title, Some(body), tone) }
    }

    fn of(line: &Line) -> Self {
        let event = match line {
            Line::Other(text) => return Self::folded("a line that is no event", text, Tone::Warn),
            Line::Event(event) => event,
        };
        match &event.kind {
            EventKind::Text { text } => Self::open("says", Some(text), Tone::Plain),
            EventKind::Thinking { text } => Self::folded("thinks", text, Tone::Quiet),
            EventKind::ToolCall(call) => {
                let body = match call.input.as_str() {
                    Some(text) => text.to_owned(),
                    None => format!("{:#}", call.input),
                };
                let title = format!("calls {} {}", call.name, hint(call));
                Self::folded(title, &body, Tone::Plain)
            }
            EventKind::ToolResult(result) if result.status == ToolStatus::Error => {
                let title = format!("tool failed: {}", first_words(&result.output));
                Self::open(title, Some(&result.output), Tone::Bad)
            }
            EventKind::ToolResult(result) => {
                let title = format!("tool answered {}", first_words(&result.output));
                Self::folded(title, &result.output, Tone::Quiet)
            }
            EventKind::SkillLoad(load) => {
                let (state, tone) = match load.state {
                    SkillState::Loaded => ("loaded", Tone::Good),
                    SkillState::Asked => ("asked", Tone::Warn),
                    SkillState::Denied => ("denied", Tone::Warn),
                    SkillState::Failed => ("failed", Tone::Warn),
                };
                Self::open(format!("skill {} {state}", load.name), load.note.as_deref(), tone)
            }
            EventKind::SkillTouch(touch) => {
                let title = format!("file of skill {} touched", touch.name);
                Self::open(title, Some(&touch.path), Tone::Warn)
            }
            EventKind::SubAgentStart(start) => {
                let title = format!("sub-agent {} begins", start.id);
                Self::open(title, start.task.as_deref(), Tone::Plain)
            }
            EventKind::SubAgentEnd(end) => {
                let title = format!("sub-agent {} ends", end.id);
                Self::open(title, end.status.as_deref(), Tone::Plain)
            }
            EventKind::Retry(retry) => {
                let title = format!("tries again ({})", show::words(&retry.reason.to_string()));
                Self::open(title, retry.message.as_deref(), Tone::Warn)
            }
            EventKind::PermissionDenied(denial) => {
                let title = format!("{} was refused", denial.tool);
                Self::open(title, denial.message.as_deref(), Tone::Bad)
            }
            EventKind::Error(error) => {
                let tone = match error.level {
                    ErrorLevel::Warning => Tone::Warn,
                    ErrorLevel::Error => Tone::Bad,
                };
                let title = format!("error: {}", show::words(&error.reason.to_string()));
                Self::open(title, Some(&error.message), tone)
            }
            EventKind::FileChange(change) => {
                let verb = match change.change {
                    FileChangeKind::Add => "adds",
                    FileChangeKind::Update => "updates",
                    FileChangeKind::Delete => "deletes",
                    FileChangeKind::Write => "writes",
                };
                Self::open(format!("{verb} {}", change.path), None, Tone::Plain)
            }
            EventKind::Unknown(unknown) => {
                let kind = unknown.raw.get("type").and_then(|name| name.as_str());
                let title = format!("unknown event {}", kind.unwrap_or_default());
                Self::folded(title, &format!("{:#}", unknown.raw), Tone::Quiet)
            }
        }
    }
}

/// What a tool is called with, in a few words.
fn hint(call: &ToolCall) -> String {
    let keys = ["command", "file_path", "path", "skill", "pattern", "query", "url", "description"];
    let found = keys.into_iter().find_map(|key| call.input.get(key)?.as_str());
    first_words(found.unwrap_or_default())
}

fn facts(window: &Window) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    if let Some(header) = &window.header {
        add("agent", Some(header.agent.clone()));
        add("version", header.agent_version.clone());
        add("model", header.model.clone());
    }
    add("events", Some(show::count(window.total as u64)));
    let Some(end) = &window.end else { return facts };
    add("outcome", Some(show::words(&end.outcome.to_string())));
    let duration = end.duration_ms.map(std::time::Duration::from_millis);
    add("time", duration.map(|time| show::seconds(Some(time.as_secs_f64()))));
    if let Some(usage) = &end.usage {
        for (name, tokens) in [
            ("input tokens", usage.input_tokens),
            ("output tokens", usage.output_tokens),
            ("cache read", usage.cache_read_tokens),
            ("cache written", usage.cache_write_tokens),
        ] {
            add(name, Some(show::count(tokens)));
        }
    }
    let states_tokens = |line: &Line| matches!(line, Line::Event(event) if event.tokens.is_some());
    let is_stated = window.events.iter().any(|(_, line)| states_tokens(line));
    add("tokens per step", (!is_stated).then(|| "not reported by this agent".to_owned()));
    add("cost", end.cost_usd.map(|cost| show::dollars(Some(cost))));
    add("skills loaded", Some(end.skills_loaded.join(", ")).filter(|names| !names.is_empty()));
    let cut = end.cut.map(|cut| cut.events).filter(|events| *events > 0);
    add("left out", cut.map(|events| format!("{events} events")));
    facts
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn write(events: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from(
            "{\"format\":\"transcript\",\"version\":{\"major\":1,\"minor\":0},\"agent\":\"fake\",\"adapter\":\"command\"}\n",
        );
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
        fs::write(folder.path().join("transcript.jsonl"), text).unwrap();
        folder
    }

    fn said(line: &Line) -> String {
        let Words { title, body, .. } = Words::of(line);
        format!("{title}: {body}")
    }

    #[test]
    fn a_window_of_a_long_transcript_is_read_with_the_jumps_of_all() {
        let folder = write(5000);
        let window = window(folder.path(), 4000, 10);
        assert_eq!((window.total, window.events.len()), (5002, 10));
        assert_eq!(said(&window.events[0].1), "says: line 4000.");
        let jumps: Vec<_> = window.jumps.iter().map(|(at, line)| (*at, said(line))).collect();
        assert_eq!(jumps, [(5000, "skill csv loaded: ".to_owned())]);
        assert_eq!(window.header.unwrap().agent, "fake");
        assert!(window.problem.unwrap().contains("no end"));
    }

    #[test]
    fn a_line_that_is_not_json_is_shown_as_it_is() {
        let folder = write(1);
        let window = window(folder.path(), 2, 10);
        assert_eq!(said(&window.events[0].1), "a line that is no event: broken");
    }

    #[test]
    fn evidence_is_found_in_the_event_that_holds_it() {
        let folder = write(20);
        let texts = ["line 7.".to_owned(), "nowhere".to_owned(), String::new()];
        assert_eq!(find(folder.path(), &texts), [Some(7), None, None]);
    }

    #[test]
    fn a_run_without_a_transcript_says_so() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(window(folder.path(), 0, 10).problem.unwrap(), "this run has no transcript");
    }
}
