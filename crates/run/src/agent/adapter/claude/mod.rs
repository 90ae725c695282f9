//! Claude Code, `--output-format stream-json --verbose`, with or without `--include-partial-messages`.
//!
//! What to know about this stream:
//! - One message of the model is several `assistant` events with one `message.id`; requests are counted by it.
//! - A skill is asked for by a `Skill` tool call and loaded when its result says so; with partial messages the call
//!   is visible earlier. Text that forces a skill (`/name`) leaves no trace at all.
//! - `result.subtype` is `success` for API errors too; `is_error`, `terminal_reason` and the status tell.
//! - `init.skills` is not what the model was offered, so it is not looked at.

mod message;
mod partial;
mod result;
mod skill;

use std::collections::HashMap;

use serde_json::Value;
use skillgauge_format::transcript::{ErrorLevel, FileChangeKind, Reason, Retry, ToolStatus};

use super::context::Exit;
use super::evidence::reason;
use super::stream::{Ending, Identity, Joining, Recorder, Stream, key};
use message::MessageLedger;
use partial::PartialCalls;
use skill::SkillCalls;

/// Events that say nothing about what happened.
const NOISE: [&str; 5] =
    ["status", "ui_invalidate", "thinking_tokens", "task_progress", "task_updated"];
/// The model of messages that the program wrote itself.
const SYNTHETIC: &str = "<synthetic>";
/// Sub-agents that are told apart.
const MAX_SUB_AGENTS: usize = 1000;

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Claude {
    messages: MessageLedger,
    partial: PartialCalls,
    skills: SkillCalls,
    /// Sub-agents by the tool call that started them.
    sub_agents: HashMap<String, SubAgent>,
    /// What the program itself said last, in place of the model.
    synthetic: Option<Ending>,
    ending: Option<Ending>,
}

#[derive(Debug)]
struct SubAgent {
    id: String,
    ended: bool,
}

impl Stream for Claude {
    fn event(&mut self, event: &Value, log: &mut Recorder) {
        log.identify(Identity { session_id: event["session_id"].as_str(), ..Identity::default() });
        log.at(event["timestamp"].as_str());
        let sub_agent = self.sub_agent_of(event, log);
        log.by(sub_agent.as_deref());
        match event["type"].as_str() {
            Some("system") => self.system(event, log),
            Some("assistant") => self.assistant(event, log),
            Some("user") => self.user(event, log),
            Some("stream_event") => self.stream_event(event, log),
            Some("result") => self.result(event, log),
            Some("rate_limit_event") => rate_limit(event, log),
            _ => log.unknown(event, None),
        }
    }

    fn ending(&mut self, _exit: &Exit, log: &mut Recorder) -> Option<Ending> {
        if self.ending.is_none() {
            log.usage = self.messages.partial_usage();
        }
        self.ending
            .take()
            .or_else(|| self.synthetic.take().filter(|ending| ending.reason != Reason::Completed))
    }
}

impl Claude {
    /// The sub-agent that an event belongs to. One that was not announced is announced here.
    fn sub_agent_of(&mut self, event: &Value, log: &mut Recorder) -> Option<String> {
        let parent = event["parent_tool_use_id"].as_str()?;
        if let Some(known) = self.sub_agents.get(&key(parent)) {
            return Some(known.id.clone());
        }
        let id = key(event["agent_id"].as_str().unwrap_or(parent));
        self.begin_sub_agent(
            &id,
            parent,
            event["subagent_type"].as_str(),
            event["task_description"].as_str(),
            log,
        );
        Some(id)
    }

    fn begin_sub_agent(
        &mut self,
        id: &str,
        call: &str,
        kind: Option<&str>,
        task: Option<&str>,
        log: &mut Recorder,
    ) {
        if self.sub_agents.len() < MAX_SUB_AGENTS && !self.sub_agents.contains_key(&key(call)) {
            self.sub_agents.insert(key(call), SubAgent { id: key(id), ended: false });
            log.sub_agent_start(id, Some(call), kind, task);
        }
    }

    fn end_sub_agent(&mut self, call: &str, status: Option<&str>, log: &mut Recorder) {
        if let Some(agent) = self.sub_agents.get_mut(&key(call))
            && !agent.ended
        {
            agent.ended = true;
            log.sub_agent_end(&agent.id, status);
        }
    }

    fn system(&mut self, event: &Value, log: &mut Recorder) {
        let call = event["tool_use_id"].as_str().unwrap_or_default();
        match event["subtype"].as_str() {
            Some("init") => log.identify(Identity {
                model: event["model"].as_str(),
                agent_version: event["claude_code_version"].as_str(),
                session_id: None,
            }),
            Some("api_retry") => log.retry(retry(event)),
            Some("permission_denied") => {
                log.denial(
                    call,
                    event["tool_name"].as_str().unwrap_or_default(),
                    event["message"].as_str(),
                );
            }
            Some("task_started") => {
                let id = event["task_id"].as_str().unwrap_or(call);
                let (kind, task) = (event["subagent_type"].as_str(), event["description"].as_str());
                self.begin_sub_agent(id, call, kind, task, log);
                if event["prompt"].as_str().is_some_and(skill::is_body) {
                    self.skills.forked(call, id, log);
                }
            }
            Some("task_notification") => self.end_sub_agent(call, event["status"].as_str(), log),
            Some("model_refusal_no_fallback") => {
                let message = event["content"]
                    .as_str()
                    .filter(|text| !text.is_empty())
                    .unwrap_or("the model refused");
                self.synthetic = Some(Ending::because(Reason::Refusal, None, Some(message)));
            }
            Some(subtype) if NOISE.contains(&subtype) => {}
            _ => log.unknown(event, None),
        }
    }

    fn assistant(&mut self, event: &Value, log: &mut Recorder) {
        let message = &event["message"];
        if message["model"].as_str() == Some(SYNTHETIC) {
            return self.synthetic(event, log);
        }
        self.synthetic = None;
        self.messages.see(message);
        let first_event = log.event_count();
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("text") => {
                    log.text(block["text"].as_str().unwrap_or_default(), Joining::Separate);
                }
                Some("thinking") => log.thinking(block["thinking"].as_str().unwrap_or_default()),
                Some("redacted_thinking") => log.thinking("[redacted]"),
                Some("tool_use" | "server_tool_use") => self.tool_use(block, log),
                _ => log.unknown(block, None),
            }
        }
        self.messages.tell(message, first_event, log);
    }

    /// A message that the program wrote in place of the model: an error, or a limit.
    fn synthetic(&mut self, event: &Value, log: &mut Recorder) {
        let words = text_of(&event["message"]["content"]);
        let refused = event["message"]["stop_reason"].as_str() == Some("refusal");
        let (found, status) = reason::classify(status_of(event), event["error"].as_str(), &words);
        let is_error =
            event["error"].is_string() || event["is_api_error_message"] == Value::Bool(true);
        let found = if refused { Reason::Refusal } else { found };
        if is_error || found != Reason::Other {
            log.error(ErrorLevel::Error, found, status, &words);
            self.synthetic = Some(Ending::because(found, status, Some(&words)));
        } else {
            log.text(&words, Joining::Separate);
        }
    }

    fn tool_use(&mut self, block: &Value, log: &mut Recorder) {
        let (id, name) =
            (block["id"].as_str().unwrap_or_default(), block["name"].as_str().unwrap_or_default());
        log.tool_call(id, name, &block["input"]);
        match skill::name_in(name, &block["input"]) {
            Some(skill) => self.skills.ask(id, skill, log),
            None => log.touches(id, &block["input"]),
        }
    }

    fn user(&mut self, event: &Value, log: &mut Recorder) {
        let content = &event["message"]["content"];
        if let Some(text) = content.as_str() {
            self.user_text(text, log);
        }
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_result") => self.tool_result(block, event, log),
                Some("text") => self.user_text(block["text"].as_str().unwrap_or_default(), log),
                _ => log.unknown(block, None),
            }
        }
    }

    /// What the program says to the model: a skill's body, a prompt, a nudge. Only the first two facts matter.
    fn user_text(&mut self, text: &str, log: &mut Recorder) {
        if text.starts_with("[Request interrupted by user") {
            log.interrupted = true;
        } else if skill::is_body(text) {
            self.skills.body(log);
        }
    }

    fn tool_result(&mut self, block: &Value, event: &Value, log: &mut Recorder) {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let output = text_of(&block["content"]);
        let is_error = block["is_error"] == Value::Bool(true);
        if was_rejected(event, id) {
            let tool = log.tool_name(id).unwrap_or_default().to_owned();
            log.denial(id, &tool, Some(&output));
        }
        log.tool_result(id, if is_error { ToolStatus::Error } else { ToolStatus::Ok }, &output);
        let details = &event["tool_use_result"];
        self.skills.answer(id, is_error, &output, details, log);
        if !is_error {
            file_change(details, log);
        }
        // A sub-agent in the background answers at once and goes on; its notification comes later.
        if let Some(status @ ("completed" | "forked" | "failed" | "killed")) =
            details["status"].as_str()
        {
            self.end_sub_agent(id, Some(status), log);
        }
    }

    fn stream_event(&mut self, event: &Value, log: &mut Recorder) {
        let inner = &event["event"];
        let parent = event["parent_tool_use_id"].as_str().unwrap_or_default();
        match inner["type"].as_str() {
            Some("message_start") => self.messages.start(parent, &inner["message"]),
            Some("message_delta") => {
                self.messages.end(parent, event["api_message_id"].as_str(), &inner["usage"], log);
            }
            Some("content_block_start") => self.partial.start(parent, inner),
            Some("content_block_delta") => {
                if let Some((id, skill)) = self.partial.delta(parent, inner) {
                    self.skills.ask(&id, &skill, log);
                }
            }
            Some("content_block_stop") => self.partial.stop(parent, inner),
            Some("message_stop" | "ping") => {}
            _ => log.unknown(event, None),
        }
    }

    fn result(&mut self, event: &Value, log: &mut Recorder) {
        for denial in event["permission_denials"].as_array().into_iter().flatten() {
            let id = denial["tool_use_id"].as_str().unwrap_or_default();
            log.denial(id, denial["tool_name"].as_str().unwrap_or_default(), None);
            self.skills.refused(id, log);
        }
        log.usage = result::usage(event, self.messages.requests());
        log.cost_usd = result::cost(event);
        log.duration_ms = event["duration_ms"].as_u64();
        self.ending = Some(result::ending(event, self.synthetic.take(), log));
    }
}

fn retry(event: &Value) -> Retry {
    let (reason, status) = reason::classify(
        event["error_status"].as_u64().and_then(|status| status.try_into().ok()),
        event["error"].as_str(),
        "",
    );
    Retry {
        attempt: event["attempt"].as_u64().unwrap_or(0),
        max_attempts: event["max_retries"].as_u64(),
        status,
        reason,
        delay_ms: event["retry_delay_ms"].as_f64().map(millis),
        message: event["error"].as_str().map(ToOwned::to_owned),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and a delay is positive"
)]
fn millis(delay: f64) -> u64 {
    delay as u64
}

fn rate_limit(event: &Value, log: &mut Recorder) {
    if event["rate_limit_info"]["status"].as_str() == Some("rejected") {
        log.error(ErrorLevel::Warning, Reason::UsageLimit, None, "the plan's limit is used up");
    }
}

fn status_of(event: &Value) -> Option<u16> {
    event["api_error_status"].as_u64().and_then(|status| status.try_into().ok())
}

/// Whether the program refused to run the tool.
fn was_rejected(event: &Value, id: &str) -> bool {
    event["tool_result_meta"].as_array().into_iter().flatten().any(|meta| {
        meta["id"].as_str() == Some(id)
            && meta["permission_decision"]["decision"].as_str() == Some("reject")
    })
}

fn file_change(details: &Value, log: &mut Recorder) {
    let Some(path) = details["filePath"].as_str() else { return };
    let change = match details["type"].as_str() {
        Some("create") => FileChangeKind::Add,
        Some("update") => FileChangeKind::Update,
        _ if details["structuredPatch"].is_array() => FileChangeKind::Update,
        _ => return,
    };
    log.file_change(path, change);
}

/// The text of a message's content: a string, or blocks.
fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.map(|block| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("[{}]", block["type"].as_str().unwrap_or("block")),
    });
    texts.collect::<Vec<_>>().join("\n")
}
