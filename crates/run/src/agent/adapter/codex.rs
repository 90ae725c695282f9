//! Codex, `exec --json`.
//!
//! What to know about this stream:
//! - There is no tool for skills. A skill is asked for by a command that names its SKILL.md, and loaded when the body
//!   stands in that command's output. A path alone proves nothing; a body counts even if the command then failed.
//! - Errors are prose: `Reconnecting... n/m (why)` is a retry, the rest is classified by its words. A plain 500 says
//!   only "high demand".
//! - Without a connection it waits for ever: `Reconnecting... waiting for network (why)`, again and again, whatever the
//!   limits on retries. After [`WAITS`] of these without anything else we stop it.
//! - The tokens come once, with `turn.completed`; input includes the cache. Cost, model, time and requests never come.
//! - A command that the sandbox refused may leave no event at all.

use std::collections::HashMap;

use serde_json::{Value, json};
use skillgauge_format::transcript::{
    ErrorLevel, FileChangeKind, Reason, Retry, ToolStatus, Usage, UsageBasis,
};

use super::context::{Exit, InstalledSkill};
use super::evidence::{reason, skill_paths};
use super::stream::{Ending, Identity, Joining, Recorder, Stream, Trouble, key};

/// Commands whose request for a skill is remembered.
const MAX_OPEN: usize = 5000;
/// How a retry is announced.
const RECONNECTING: &str = "Reconnecting... ";
/// How it says that there is no connection.
const NO_NETWORK: &str = "waiting for network";
/// So often it may look for a connection in vain: three times take about half a minute.
const WAITS: u32 = 3;

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Codex {
    /// The skills that a running command asked for, by item.
    asked: HashMap<String, Vec<String>>,
    /// How often it found no connection, since anything else happened.
    waits: u32,
    ending: Option<Ending>,
}

impl Stream for Codex {
    fn event(&mut self, event: &Value, log: &mut Recorder) {
        if let Some(why) = no_network(event) {
            self.waits += 1;
            return log.retry(Retry {
                attempt: u64::from(self.waits),
                max_attempts: None,
                status: None,
                reason: Reason::Connection,
                delay_ms: None,
                message: Some(why.to_owned()),
            });
        }
        self.waits = 0;
        match event["type"].as_str() {
            Some("thread.started") => {
                let session_id = event["thread_id"].as_str();
                log.identify(Identity { session_id, ..Identity::default() });
            }
            Some("turn.started") => self.ending = None,
            Some("item.started") => self.started(&event["item"], event, log),
            Some("item.completed") => self.completed(&event["item"], event, log),
            Some("error") => problem(event["message"].as_str().unwrap_or_default(), log),
            Some("turn.completed") => {
                log.usage = Some(usage(&event["usage"]));
                self.ending = Some(Ending::completed());
            }
            Some("turn.failed") => {
                let message = event["error"]["message"].as_str().unwrap_or("the turn failed");
                let (found, status) = reason::classify(None, None, message);
                log.error(ErrorLevel::Error, found, status, message);
                self.ending = Some(Ending::because(found, status, Some(message)));
            }
            _ => log.unknown(event, None),
        }
    }

    fn is_stuck(&self) -> bool {
        self.waits >= WAITS
    }

    fn ending(&mut self, _exit: &Exit, _log: &mut Recorder) -> Option<Ending> {
        let lost = || {
            let message = "no connection to the model's service; Codex waited for one";
            Ending::because(Reason::Connection, None, Some(message))
        };
        self.ending.take().or_else(|| self.is_stuck().then(lost))
    }
}

impl Codex {
    fn started(&mut self, item: &Value, event: &Value, log: &mut Recorder) {
        match item["type"].as_str() {
            Some("command_execution") => self.command(item, log),
            Some("file_change" | "mcp_tool_call" | "web_search") => call(item, log),
            // These are complete in their last event.
            Some("agent_message" | "reasoning" | "error") => {}
            _ => log.unknown(event, None),
        }
    }

    fn completed(&mut self, item: &Value, event: &Value, log: &mut Recorder) {
        let text = item["text"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("agent_message") => log.text(text, Joining::Separate),
            Some("reasoning") => log.thinking(text),
            Some("command_execution") => self.command_done(item, log),
            Some("file_change") => {
                call(item, log);
                log.tool_result(id(item), status(item), "");
                if status(item) == ToolStatus::Ok {
                    item["changes"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .for_each(|change| file_change(change, log));
                }
            }
            Some("mcp_tool_call" | "web_search") => {
                call(item, log);
                log.tool_result(id(item), status(item), &answer(item));
            }
            Some("error") => {
                // The agent goes on after these.
                let message = item["message"].as_str().unwrap_or_default();
                let (found, status) = reason::classify(None, None, message);
                log.error(ErrorLevel::Warning, found, status, message);
            }
            _ => log.unknown(event, None),
        }
    }

    /// A command runs: the skills whose SKILL.md it names are asked for, other files of skills are touched.
    fn command(&mut self, item: &Value, log: &mut Recorder) {
        let (id, command) = (id(item), item["command"].as_str().unwrap_or_default());
        if log.tool_name(id).is_some() {
            return;
        }
        call(item, log);
        let mut asked: Vec<String> = Vec::new();
        if command.contains(skill_paths::SKILL_FILE) {
            for name in skills_asked_for(command, &log.context.skills) {
                log.skill_asked(&name, id);
                asked.push(key(&name));
            }
        } else {
            log.touches(id, &item["command"]);
        }
        if self.asked.len() < MAX_OPEN {
            self.asked.insert(key(id), asked);
        }
    }

    /// A command ended: a skill is loaded if its body is in the output.
    fn command_done(&mut self, item: &Value, log: &mut Recorder) {
        self.command(item, log);
        let (id, command) = (id(item), item["command"].as_str().unwrap_or_default());
        let output = item["aggregated_output"].as_str().unwrap_or_default();
        let status = status(item);
        log.tool_result(id, status, output);
        let declined = item["status"].as_str() == Some("declined");
        if declined {
            log.denial(id, "command_execution", Some(output));
        }
        let mut loaded = Vec::new();
        if command.contains(skill_paths::SKILL_FILE) || output.contains(skill_paths::SKILL_FILE) {
            loaded = skill_paths::bodies_in(output, &log.context.skills);
        }
        for name in &loaded {
            log.skill_loaded(name, id, None);
        }
        log.touches_in_output(id, output);
        for name in self.asked.remove(&key(id)).unwrap_or_default() {
            if loaded.contains(&name) {
                continue;
            }
            match status {
                ToolStatus::Error => {
                    log.skill_trouble(&name, id, trouble(declined, output), output);
                }
                // It looked at the file, but did not read it.
                ToolStatus::Ok => log.touches(id, &item["command"]),
            }
        }
    }
}

fn id(item: &Value) -> &str {
    item["id"].as_str().unwrap_or_default()
}

/// The call behind an item, with what it was given and without what came out.
fn call(item: &Value, log: &mut Recorder) {
    let kind = item["type"].as_str().unwrap_or_default();
    match kind {
        "mcp_tool_call" => {
            let part = |name: &str| item[name].as_str().unwrap_or_default();
            let name = format!("mcp__{}__{}", part("server"), part("tool"));
            log.tool_call(id(item), &name, &item["arguments"]);
        }
        "file_change" => log.tool_call(id(item), kind, &json!({ "changes": item["changes"] })),
        "web_search" => log.tool_call(id(item), kind, &json!({ "query": item["query"] })),
        _ => log.tool_call(id(item), kind, &json!({ "command": item["command"] })),
    }
}

fn status(item: &Value) -> ToolStatus {
    let failed = matches!(item["status"].as_str(), Some("failed" | "declined"))
        || item["exit_code"].as_i64().is_some_and(|code| code != 0)
        || item["error"].is_object();
    if failed { ToolStatus::Error } else { ToolStatus::Ok }
}

fn answer(item: &Value) -> String {
    if let Some(message) = item["error"]["message"].as_str() {
        return message.to_owned();
    }
    let content = item["result"]["content"].as_array().into_iter().flatten();
    content.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn file_change(change: &Value, log: &mut Recorder) {
    let kind = match change["kind"].as_str() {
        Some("add") => FileChangeKind::Add,
        Some("delete") => FileChangeKind::Delete,
        Some("update") => FileChangeKind::Update,
        _ => FileChangeKind::Write,
    };
    log.file_change(change["path"].as_str().unwrap_or_default(), kind);
}

fn trouble(declined: bool, output: &str) -> Trouble {
    if declined
        || output.contains("Permission denied")
        || output.contains("Operation not permitted")
    {
        Trouble::Denied
    } else if output.contains("No such file or directory") {
        Trouble::NoSuchSkill
    } else {
        Trouble::Failed
    }
}

/// An `error` event: a retry, or the end of the attempts.
fn problem(message: &str, log: &mut Recorder) {
    if let Some(retry) = retry(message) {
        return log.retry(retry);
    }
    let (found, status) = reason::classify(None, None, message);
    log.error(ErrorLevel::Error, found, status, message);
}

/// `Reconnecting... waiting for network (why)`.
fn no_network(event: &Value) -> Option<&str> {
    let message = event["message"].as_str().filter(|_| event["type"] == "error")?;
    let why = message.strip_prefix(RECONNECTING)?.strip_prefix(NO_NETWORK)?.trim();
    Some(why.strip_prefix('(').and_then(|why| why.strip_suffix(')')).unwrap_or(why))
}

/// `Reconnecting... 2/5 (why)`.
fn retry(message: &str) -> Option<Retry> {
    let rest = message.strip_prefix(RECONNECTING)?;
    let (count, why) = rest.split_once(' ').unwrap_or((rest, ""));
    let (attempt, most) = count.split_once('/')?;
    let why = why.strip_prefix('(').and_then(|why| why.strip_suffix(')')).unwrap_or(why);
    let (reason, status) = reason::classify(None, None, why);
    Some(Retry {
        attempt: attempt.parse().ok()?,
        max_attempts: most.parse().ok(),
        status,
        reason,
        delay_ms: None,
        message: Some(why.to_owned()),
    })
}

/// The tokens of the turn, with the cache taken out of the input.
fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let (read, write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Usage {
        input_tokens: count("input_tokens").saturating_sub(read).saturating_sub(write),
        output_tokens: count("output_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: count("reasoning_output_tokens"),
        requests: None,
        basis: UsageBasis::Reported,
    }
}

/// The skills whose SKILL.md a command names, in order and without repetition.
pub(crate) fn skills_asked_for(command: &str, skills: &[InstalledSkill]) -> Vec<String> {
    let mut asked: Vec<String> = Vec::new();
    if command.contains(skill_paths::SKILL_FILE) {
        for (name, _) in skill_paths::in_text(command, skills) {
            if !asked.contains(&name) {
                asked.push(name);
            }
        }
    }
    asked
}
