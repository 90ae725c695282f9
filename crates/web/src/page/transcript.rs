//! The page of a transcript: one window of events at a time.

use minijinja::{Value, context};
use serde::Serialize;
use serde_json::Value as Json;

use super::case::title;
use super::links::{Links, Target, event_anchor, transcript_anchor};
use super::show;
use super::table::Tone;
use super::view;
use crate::model::case::Case;
use crate::model::iteration::Iteration;
use crate::model::json::{count, items, number, text};
use crate::model::run::Run;
use crate::model::transcript::{MarkKind, Window, first_words, seconds_of, tokens_of, window};

/// Events on one page of the server.
pub(crate) const EVENTS_PER_PAGE: usize = 500;
/// Events of one transcript in the one-file report.
const EVENTS_IN_FILE: usize = 300;
/// A text longer than this is cut.
const MAX_TEXT: usize = 16 << 10;

#[derive(Debug, Serialize)]
struct EventView {
    anchor: String,
    number: usize,
    kind: String,
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
pub(crate) fn transcript(
    iteration: &Iteration,
    (case, run): (&Case, &Run),
    page: usize,
    links: &Links,
) -> Value {
    let count = match links.target {
        Target::Server => EVENTS_PER_PAGE,
        Target::File => EVENTS_IN_FILE,
    };
    let first = page.saturating_sub(1).saturating_mul(count);
    let window = window(&iteration.path.join(&run.folder), first, count);
    let events = event_views(run, &window);
    let jumps: Vec<Jump> = window
        .marks
        .iter()
        .filter(|mark| links.target == Target::Server || mark.event < count)
        .map(|mark| Jump {
            href: links.transcript(&run.folder, &run.id, Some(mark.event)),
            label: format!("{} {}", mark.event, mark.label),
            is_skill: mark.kind == MarkKind::Skill,
        })
        .collect();
    let last_page = window.total.div_ceil(count).max(1);
    let page_link = |page: usize| {
        let event = (page - 1) * count;
        (links.target == Target::Server)
            .then(|| links.transcript(&run.folder, &run.id, Some(event)))
    };
    context! {
        anchor => transcript_anchor(&run.id),
        case => case.name.clone(),
        run => title(run),
        back => links.case(&case.key, Some(&run.id)),
        facts => view(facts(&window)),
        events => view(events),
        jumps => view(jumps),
        plain => window.plain.clone(),
        problem => window.problem.clone(),
        total => window.total,
        left_out => if links.target == Target::File { window.total.saturating_sub(count) } else { 0 },
        page => page,
        pages => last_page,
        before => (page > 1).then(|| page_link(page - 1)).flatten(),
        after => (page < last_page).then(|| page_link(page + 1)).flatten(),
    }
}

fn event_views(run: &Run, window: &Window) -> Vec<EventView> {
    let mut before: Option<f64> = None;
    let mut views = Vec::with_capacity(window.events.len());
    for (number, event) in &window.events {
        let time = seconds_of(event);
        let after =
            before.zip(time).map(|(before, now)| format!("+{}", show::seconds(Some(now - before))));
        before = time.or(before);
        views.push(event_view(run, *number, event, after));
    }
    views
}

fn event_view(run: &Run, number: usize, event: &Json, after: Option<String>) -> EventView {
    let of = |key: &str| text(event, key).unwrap_or_default();
    let kind = of("type");
    let (title, body, tone, is_folded) = match kind.as_str() {
        "text" => ("says".to_owned(), of("text"), Tone::Plain, false),
        "thinking" => ("thinks".to_owned(), of("text"), Tone::Quiet, true),
        "tool_call" => {
            let input = event.get("input").cloned().unwrap_or_default();
            let body = input.as_str().map_or_else(|| format!("{input:#}"), str::to_owned);
            (format!("calls {} {}", of("name"), hint(&input)), body, Tone::Plain, true)
        }
        "tool_result" if of("status") == "error" => {
            (format!("tool failed: {}", first_words(&of("output"))), of("output"), Tone::Bad, false)
        }
        "tool_result" => (
            format!("tool answered {}", first_words(&of("output"))),
            of("output"),
            Tone::Quiet,
            true,
        ),
        "skill_load" => {
            let tone = if of("state") == "loaded" { Tone::Good } else { Tone::Warn };
            (format!("skill {} {}", of("name"), of("state")), of("note"), tone, false)
        }
        "skill_touch" => {
            (format!("file of skill {} touched", of("name")), of("path"), Tone::Warn, false)
        }
        "sub_agent_start" => {
            (format!("sub-agent {} begins", of("id")), of("task"), Tone::Plain, false)
        }
        "sub_agent_end" => {
            (format!("sub-agent {} ends", of("id")), of("status"), Tone::Plain, false)
        }
        "retry" => (
            format!("tries again ({})", show::words(&of("reason"))),
            of("message"),
            Tone::Warn,
            false,
        ),
        "permission_denied" => {
            (format!("{} was refused", of("tool")), of("message"), Tone::Bad, false)
        }
        "error" => {
            let tone = if of("level") == "warning" { Tone::Warn } else { Tone::Bad };
            (format!("error: {}", show::words(&of("reason"))), of("message"), tone, false)
        }
        "file_change" => {
            (format!("{} {}", of("change"), of("path")), String::new(), Tone::Plain, false)
        }
        "unreadable" => ("a line that is no event".to_owned(), of("text"), Tone::Warn, true),
        _ => (format!("unknown event {kind}"), format!("{event:#}"), Tone::Quiet, true),
    };
    let tokens = tokens_of(event).map(|(input, output)| {
        let output = output.map(|output| format!(", {} out", show::whole(Some(output))));
        format!("{} tokens in{}, ", show::whole(Some(input)), output.unwrap_or_default())
    });
    #[expect(clippy::cast_precision_loss, reason = "the length of a text")]
    let characters = body.chars().count() as f64;
    let end = body.floor_char_boundary(MAX_TEXT);
    let body = if end < body.len() { format!("{}\n… cut", &body[..end]) } else { body };
    EventView {
        anchor: event_anchor(&run.id, number),
        number,
        is_skill: kind == "skill_load",
        kind,
        title,
        body,
        tone,
        is_folded,
        sub_agent: text(event, "sub_agent"),
        after,
        size: format!("{}{} characters", tokens.unwrap_or_default(), show::whole(Some(characters))),
    }
}

/// What a tool is called with, in a few words.
fn hint(input: &Json) -> String {
    let keys = ["command", "file_path", "path", "skill", "pattern", "query", "url", "description"];
    let found = keys.into_iter().find_map(|key| text(input, key));
    first_words(&found.unwrap_or_default())
}

fn facts(window: &Window) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    add("agent", text(&window.header, "agent"));
    add("version", text(&window.header, "agent_version"));
    add("model", text(&window.header, "model"));
    add("events", Some(show::whole(Some(as_f64(window.total)))));
    let Some(end) = &window.end else { return facts };
    add("outcome", text(end, "outcome").map(|outcome| show::words(&outcome)));
    add("time", number(end, "duration_ms").map(|time| show::seconds(Some(time / 1000.0))));
    if let Some(usage) = end.get("usage") {
        for (name, key) in [
            ("input tokens", "input_tokens"),
            ("output tokens", "output_tokens"),
            ("cache read", "cache_read_tokens"),
            ("cache written", "cache_write_tokens"),
        ] {
            add(name, number(usage, key).map(|tokens| show::whole(Some(tokens))));
        }
    }
    let states_steps = window.events.iter().any(|(_, event)| tokens_of(event).is_some());
    add("tokens per step", (!states_steps).then(|| "not told by this agent".to_owned()));
    add("cost", number(end, "cost_usd").map(|cost| show::dollars(Some(cost))));
    let skills: Vec<String> = items(end, "skills_loaded")
        .iter()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    add("skills loaded", (!skills.is_empty()).then(|| skills.join(", ")));
    let cut = end.get("cut").and_then(|cut| count(cut, "events")).filter(|events| *events > 0);
    add("left out", cut.map(|events| format!("{events} events")));
    facts
}

#[expect(clippy::cast_precision_loss, reason = "a count of events")]
fn as_f64(count: usize) -> f64 {
    count as f64
}
