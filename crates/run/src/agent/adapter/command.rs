//! Any program: the smallest contract.
//!
//! The program gets the prompt on standard input and the work folder as its current folder. Whatever it prints is its
//! answer; exit code 0 means that it is done. If it wants to say more, it prints JSON objects, one per line: those of
//! [`super::command_event`], which has their fields.
//!
//! A `result` ends the run whatever the exit code is. Without one, exit code 0 ends it well, unless an `error` came. What
//! nobody understands, an unknown `type` or field or a skill without a state, is kept as unknown with a note, once each: a
//! misspelled event would otherwise look like an agent that did nothing. An object without any `type` is part of the answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use skillgauge_format::transcript::{
    ErrorLevel, FileChangeKind, Reason, Retry, SkillState, ToolStatus, Usage, UsageBasis,
};

use super::command_event::{SKILL_STATES, unknown_fields, unknown_type};
use super::context::Exit;
use super::evidence::reason;
use super::stream::{Ending, Identity, Joining, PlainText, Recorder, Stream, Trouble};

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Command {
    usage: Usage,
    requests: u64,
    cost: Option<f64>,
    cost_unknown: bool,
    error: Option<Ending>,
    result: Option<Ending>,
    /// What was said about events that are not understood.
    told: BTreeSet<String>,
    /// How often each id of a call was used.
    calls: BTreeMap<String, u64>,
}

/// As many different complaints as are kept.
const MOST_TOLD: usize = 20;

impl Stream for Command {
    fn plain_text(&self) -> PlainText {
        PlainText::Answer
    }

    fn event(&mut self, event: &Value, log: &mut Recorder) {
        log.at(event["time"].as_str());
        log.by(event["sub_agent"].as_str());
        let words = |name: &str| event[name].as_str().unwrap_or_default();
        match words("type") {
            "start" => log.identify(Identity {
                model: event["model"].as_str(),
                agent_version: event["agent_version"].as_str(),
                session_id: event["session_id"].as_str(),
            }),
            "text" => log.text(words("text"), Joining::Separate),
            "thinking" => log.thinking(words("text")),
            "tool_use" => {
                let used = self.calls.entry(words("id").to_owned()).or_default();
                *used = used.saturating_add(1);
                let id = self.call(event);
                log.tool_call(&id, words("name"), &event["input"]);
                log.touches(&id, &event["input"]);
            }
            "tool_result" => {
                let id = self.call(event);
                log.tool_result(&id, tool_status(event), &output(&event["output"]));
            }
            "skill" => self.skill(event, log),
            "file_change" => log.file_change(words("path"), change(words("change"))),
            "usage" => self.usage(event),
            "retry" => log.retry(retry(event)),
            "permission_denied" => {
                log.denial(&self.call(event), words("name"), event["message"].as_str());
            }
            "error" => self.error = Some(problem(event, log)),
            "result" => self.result(event, log),
            other => self.tell(event, &unknown_type(other), log),
        }
        let fields = event.as_object().into_iter().flat_map(|fields| fields.keys());
        for note in unknown_fields(words("type"), fields) {
            self.tell(event, &note, log);
        }
    }

    fn plain(&mut self, text: &str, _note: &'static str, log: &mut Recorder) {
        log.text(text, Joining::Line);
    }

    fn ending(&mut self, exit: &Exit, log: &mut Recorder) -> Option<Ending> {
        let ending = self.result.take().or_else(|| match self.error.take() {
            Some(error) if exit.stop().is_none() => Some(error),
            _ if exit.is_success() => Some(Ending::completed()),
            _ => None,
        });
        if self.requests > 0 {
            let whole = ending.as_ref().is_some_and(|ending| ending.reason == Reason::Completed);
            let basis = if whole { UsageBasis::Reported } else { UsageBasis::Partial };
            log.usage = Some(Usage { requests: Some(self.requests), basis, ..self.usage });
            log.cost_usd = self.cost.filter(|_| !self.cost_unknown);
        }
        ending
    }
}

impl Command {
    /// The call that an event is about. A simple program uses an id again, and means another call.
    fn call(&self, event: &Value) -> String {
        let id = event["id"].as_str().unwrap_or_default();
        match self.calls.get(id) {
            Some(used) if *used > 1 => format!("{id}#{used}"),
            _ => id.to_owned(),
        }
    }

    /// Keeps an event that is not understood, with what is wrong about it the first time.
    fn tell(&mut self, event: &Value, note: &str, log: &mut Recorder) {
        if self.told.len() < MOST_TOLD && self.told.insert(note.to_owned()) {
            log.unknown(event, Some(note));
        }
    }

    fn skill(&mut self, event: &Value, log: &mut Recorder) {
        let name = event["name"].as_str().unwrap_or_default();
        let call = &self.call(event);
        let note = event["message"].as_str().unwrap_or_default();
        match SkillState::deserialize(&event["state"]) {
            Ok(SkillState::Asked) => log.skill_asked(name, call),
            Ok(SkillState::Loaded) => log.skill_loaded(name, call, None),
            Ok(SkillState::Denied) => log.skill_trouble(name, call, Trouble::Denied, note),
            Ok(SkillState::Failed) => log.skill_trouble(name, call, Trouble::Failed, note),
            // A state that nobody knows proves nothing.
            Err(_) if event["state"].is_null() => {
                let note =
                    format!("`skill` without `state` (one of {SKILL_STATES}) proves nothing");
                self.tell(event, &note, log);
            }
            Err(_) => {
                let state = &event["state"];
                let note = format!("the `state` {state} of `skill` is not one of {SKILL_STATES}");
                self.tell(event, &note, log);
            }
        }
    }

    fn usage(&mut self, event: &Value) {
        let count = |name: &str| event[name].as_u64().unwrap_or(0);
        self.requests = self.requests.saturating_add(event["requests"].as_u64().unwrap_or(1));
        self.usage.add_tokens(&Usage {
            input_tokens: count("input_tokens"),
            output_tokens: count("output_tokens"),
            cache_read_tokens: count("cache_read_tokens"),
            cache_write_tokens: count("cache_write_tokens"),
            reasoning_tokens: count("reasoning_tokens"),
            ..Usage::default()
        });
        match event["cost_usd"].as_f64() {
            Some(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
            // One request of unknown cost makes the sum unknown.
            None => self.cost_unknown = true,
        }
    }

    fn result(&mut self, event: &Value, log: &mut Recorder) {
        log.duration_ms = event["duration_ms"].as_u64();
        let failed = event["is_error"] == Value::Bool(true)
            || named_reason(event).is_some_and(|reason| reason != Reason::Completed);
        if failed {
            let ending = match self
                .error
                .take()
                .filter(|_| event["message"].is_null() && event["text"].is_null())
            {
                Some(error) => error,
                None => problem(event, log),
            };
            self.result = Some(ending);
        } else {
            log.final_text = event["text"].as_str().map(ToOwned::to_owned);
            self.result = Some(Ending::completed());
        }
    }
}

fn tool_status(event: &Value) -> ToolStatus {
    let failed = event["is_error"] == Value::Bool(true) || event["ok"] == Value::Bool(false);
    if failed { ToolStatus::Error } else { ToolStatus::Ok }
}

fn output(output: &Value) -> String {
    match output {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn change(name: &str) -> FileChangeKind {
    match name {
        "add" => FileChangeKind::Add,
        "update" => FileChangeKind::Update,
        "delete" => FileChangeKind::Delete,
        _ => FileChangeKind::Write,
    }
}

fn named_reason(event: &Value) -> Option<Reason> {
    event["reason"]
        .as_str()
        .and_then(|name| Reason::ALL.into_iter().find(|reason| reason.as_str() == name))
}

fn status(event: &Value) -> Option<u16> {
    event["status"].as_u64().and_then(|status| status.try_into().ok())
}

fn retry(event: &Value) -> Retry {
    let message = event["message"].as_str();
    let (found, status) = reason::classify(status(event), None, message.unwrap_or_default());
    Retry {
        attempt: event["attempt"].as_u64().unwrap_or(1),
        max_attempts: event["max_attempts"].as_u64(),
        status,
        reason: named_reason(event).unwrap_or(found),
        delay_ms: event["delay_ms"].as_u64(),
        message: message.map(ToOwned::to_owned),
    }
}

fn problem(event: &Value, log: &mut Recorder) -> Ending {
    let message = event["message"]
        .as_str()
        .or_else(|| event["text"].as_str())
        .unwrap_or("the agent reported an error");
    let (found, status) = reason::classify(status(event), None, message);
    // An error that claims to be a success is still an error.
    let found = named_reason(event).filter(|reason| *reason != Reason::Completed).unwrap_or(found);
    log.error(ErrorLevel::Error, found, status, message);
    Ending::because(found, status, Some(message))
}
