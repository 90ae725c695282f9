//! A transcript as text for people: who, what happened turn by turn, and the totals.
//!
//! `skillgauge transcript` prints it. Texts of an agent are untrusted: control characters are replaced, long texts
//! are shortened, and nothing of it can look like a line of ours, because every line of ours begins with its kind.

use std::fmt::Write as _;

use skillgauge_format::transcript::{
    ErrorLevel, Event, EventKind, FileChangeKind, Outcome, Retry, SkillLoad, SkillState,
    ToolStatus, Transcript, Usage, UsageBasis,
};

use crate::text::printable;

/// Characters of a tool's input or output.
const SHORT: usize = 160;
/// Characters of a line of text.
const LONG: usize = 400;
const MAX_LINES: usize = 12;
/// The width of the column that says what an event is.
const KIND: usize = 7;

/// The transcript as text, with a final newline.
pub fn render_text(transcript: &Transcript) -> String {
    let mut page = Page::default();
    page.head(transcript);
    let mut turn = Turn::default();
    for (event, index) in transcript.events.iter().zip(0..) {
        if turn.begins_with(&event.kind) {
            page.line(&format!("\nturn {}", turn.number));
        } else if index == 0 {
            page.line("");
        }
        page.event(event);
    }
    page.totals(transcript);
    page.text
}

/// Counts turns: what the agent says and calls until a tool answers is one.
#[derive(Default)]
struct Turn {
    number: u64,
    answered: bool,
}

impl Turn {
    fn begins_with(&mut self, kind: &EventKind) -> bool {
        match kind {
            EventKind::Text { .. } | EventKind::Thinking { .. } | EventKind::ToolCall(_) => {
                let begins = self.number == 0 || self.answered;
                self.answered = false;
                self.number += u64::from(begins);
                begins
            }
            EventKind::ToolResult(_) => {
                self.answered = true;
                false
            }
            _ => false,
        }
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn field(&mut self, name: &str, value: &str) {
        self.line(&format!("{name:<9} {value}"));
    }

    fn head(&mut self, transcript: &Transcript) {
        let header = &transcript.header;
        let mut agent = short(&header.agent);
        if let Some(version) = &header.agent_version {
            let _ = write!(agent, " {}", short(version));
        }
        self.field("agent", &agent);
        for (name, value) in [("model", &header.model), ("session", &header.session_id)] {
            if let Some(value) = value {
                self.field(name, &short(value));
            }
        }
        self.field("outcome", &outcome(transcript));
    }

    fn event(&mut self, event: &Event) {
        let line = event.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
        let by =
            event.sub_agent.as_ref().map_or_else(String::new, |id| format!("[{}] ", short(&id.0)));
        let (kind, body) = describe(&event.kind);
        let cut =
            event.cut_bytes.map_or_else(String::new, |bytes| format!(" ({bytes} bytes left out)"));
        for (index, text) in body.iter().enumerate() {
            let cut = if index + 1 == body.len() { cut.as_str() } else { "" };
            if index == 0 {
                self.line(&format!("{line:>6}  {kind:<KIND$} {by}{text}{cut}"));
            } else {
                self.line(&format!("{:>6}  {:<KIND$} {text}{cut}", "", ""));
            }
        }
    }

    fn totals(&mut self, transcript: &Transcript) {
        let end = &transcript.end;
        self.line("\ntotals");
        self.field("loaded", &list(&end.skills_loaded, "no skill"));
        for (name, skills) in [
            ("requested", &end.skills_requested),
            ("denied", &end.skills_denied),
            ("touched", &end.skills_touched),
        ] {
            if !skills.is_empty() {
                self.field(name, &list(skills, ""));
            }
        }
        let tools = end.tool_calls.iter().map(|(name, tally)| match tally.failed {
            0 => format!("{name} {}", tally.count),
            failed => format!("{name} {} ({failed} failed)", tally.count),
        });
        self.field("tools", &list(&tools.collect::<Vec<_>>(), "none"));
        self.field(
            "tokens",
            &end.usage.map_or_else(|| "unknown".to_owned(), |usage| tokens(&usage)),
        );
        self.field(
            "cost",
            &end.cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost}")),
        );
        if let Some(duration) = end.duration_ms {
            self.field("duration", &format!("{duration} ms"));
        }
        for error in &end.errors {
            self.field("error", &format!("{}: {}", error.reason, short(&error.message)));
        }
        if let Some(cut) = end.cut {
            self.field("left out", &format!("{} bytes, {} events", cut.bytes, cut.events));
        }
    }
}

fn outcome(transcript: &Transcript) -> String {
    let end = &transcript.end;
    let mut text = end.outcome.to_string();
    if end.outcome != Outcome::Completed || end.reason.as_str() != text {
        let _ = write!(text, " ({})", end.reason);
    }
    if let Some(message) = &end.message {
        let _ = write!(text, ": {}", short(message));
    }
    text
}

/// What an event is, and its text.
fn describe(kind: &EventKind) -> (&'static str, Vec<String>) {
    match kind {
        EventKind::Text { text } => ("says", paragraph(text)),
        EventKind::Thinking { text } => ("thinks", paragraph(text)),
        other => {
            let (kind, text) = describe_line(other);
            (kind, vec![text])
        }
    }
}

fn describe_line(kind: &EventKind) -> (&'static str, String) {
    match kind {
        EventKind::Text { text } => ("says", short(text)),
        EventKind::Thinking { text } => ("thinks", short(text)),
        EventKind::ToolCall(call) => {
            ("calls", format!("{} {}", short(&call.name), short(&call.input.to_string())))
        }
        EventKind::ToolResult(result) => match result.status {
            ToolStatus::Ok => ("ok", short(&result.output)),
            ToolStatus::Error => ("FAILED", short(&result.output)),
        },
        EventKind::SkillLoad(load) => ("SKILL", skill(load)),
        EventKind::SkillTouch(touch) => {
            ("touches", format!("{} of skill {}", short(&touch.path), short(&touch.name)))
        }
        EventKind::SubAgentStart(start) => {
            ("starts", format!("sub-agent {}{}", short(&start.id.0), after(start.task.as_ref())))
        }
        EventKind::SubAgentEnd(end) => {
            ("ends", format!("sub-agent {}{}", short(&end.id.0), after(end.status.as_ref())))
        }
        EventKind::Retry(retry) => ("retry", attempt(retry)),
        EventKind::PermissionDenied(denial) => {
            ("DENIED", format!("{}{}", short(&denial.tool), after(denial.message.as_ref())))
        }
        EventKind::Error(error) => {
            let kind = if error.level == ErrorLevel::Error { "ERROR" } else { "warning" };
            let status = error.status.map_or_else(String::new, |status| format!(" ({status})"));
            (kind, format!("{}{status}: {}", error.reason, short(&error.message)))
        }
        EventKind::FileChange(change) => {
            let what = match change.change {
                FileChangeKind::Add => "added",
                FileChangeKind::Update => "updated",
                FileChangeKind::Delete => "deleted",
                FileChangeKind::Write => "written",
            };
            ("file", format!("{} {what}", short(&change.path)))
        }
        EventKind::Unknown(unknown) => (
            "unknown",
            format!("{}{}", short(&unknown.raw.to_string()), after(unknown.note.as_ref())),
        ),
    }
}

fn skill(load: &SkillLoad) -> String {
    let state = match load.state {
        SkillState::Asked => "asked for",
        SkillState::Loaded => "LOADED",
        SkillState::Denied => "DENIED",
        SkillState::Failed => "FAILED",
    };
    let fork = load
        .forked_to
        .as_ref()
        .map_or_else(String::new, |id| format!(", runs in {}", short(&id.0)));
    format!("{} {state}{fork}{}", short(&load.name), after(load.note.as_ref()))
}

fn attempt(retry: &Retry) -> String {
    let most = retry.max_attempts.map_or_else(String::new, |most| format!(" of {most}"));
    let status = retry.status.map_or_else(String::new, |status| format!(", status {status}"));
    let delay = retry.delay_ms.map_or_else(String::new, |delay| format!(", waits {delay} ms"));
    format!("{}{most}: {}{status}{delay}", retry.attempt, retry.reason)
}

fn after(text: Option<&String>) -> String {
    text.filter(|text| !text.is_empty())
        .map_or_else(String::new, |text| format!(": {}", short(text)))
}

fn list(names: &[String], none: &str) -> String {
    if names.is_empty() {
        return none.to_owned();
    }
    names.iter().map(|name| short(name)).collect::<Vec<_>>().join(", ")
}

fn tokens(usage: &Usage) -> String {
    let mut text = format!(
        "{} in, {} out, {} read from cache, {} written to cache",
        usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
    );
    if usage.reasoning_tokens > 0 {
        let _ = write!(text, ", {} of the output reasoning", usage.reasoning_tokens);
    }
    if let Some(requests) = usage.requests {
        let _ = write!(text, "; {requests} requests seen");
    }
    if usage.basis == UsageBasis::Partial {
        text.push_str("; at least, the stream broke off");
    }
    text
}

/// A text on one line, shortened.
fn short(text: &str) -> String {
    clip(&text.trim().replace(['\n', '\r', '\t'], " "), SHORT)
}

/// A text on its lines, the first of them.
fn paragraph(text: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        text.trim().lines().take(MAX_LINES).map(|line| clip(line, LONG)).collect();
    let more = text.trim().lines().count().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.push(format!("... {more} more lines"));
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

fn clip(line: &str, limit: usize) -> String {
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", printable(&line[..end])),
        None => printable(line).into_owned(),
    }
}
