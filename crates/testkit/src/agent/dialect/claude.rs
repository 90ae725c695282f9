//! Claude Code's `stream-json`.
//!
//! Kept from the real stream because adapters trip over it: one event per content block, `subtype: "success"` on API
//! errors, a synthetic assistant message for them, and the body of a skill in a synthetic user message.

use serde_json::{Map, Value, json};

use super::{Act, Dialect, Failed, SESSION, Scene, SkillLoad, TIMESTAMP, Work};
use crate::agent::script::{Failure, FailureKind, Finish};
use crate::server::Usage;

/// Whether partial messages are in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Partial {
    Shown,
    Hidden,
}

/// The state of a stream: how many messages, tool calls and events there were.
pub(super) struct Claude {
    scene: Scene,
    partial: Partial,
    messages: u32,
    calls: u32,
    events: u32,
}

/// What a tool answered, in the stream's terms.
struct ToolAnswer {
    content: Value,
    is_error: bool,
    result: Value,
}

impl Claude {
    pub(super) fn new(scene: Scene, partial: Partial) -> Self {
        Self { scene, partial, messages: 0, calls: 0, events: 0 }
    }

    fn start(&self) -> Value {
        json!({
            "type": "system", "subtype": "init", "cwd": self.scene.folder, "session_id": SESSION,
            "tools": ["Bash", "Edit", "Read", "Skill", "Write"], "mcp_servers": [], "model": self.scene.model,
            "permissionMode": "bypassPermissions", "slash_commands": self.scene.skills,
            "apiKeySource": "ANTHROPIC_API_KEY", "claude_code_version": "2.1.325", "output_style": "default",
            "agents": ["general-purpose"], "skills": self.scene.skills, "plugins": [],
        })
    }

    /// One content block as an assistant event, with the partial messages around it if they are wanted.
    fn block(&mut self, block: &Value) -> Vec<Value> {
        self.messages += 1;
        let usage = usage(Usage::default(), 1);
        let message = json!({
            "id": format!("msg_{:06}", self.messages), "type": "message", "role": "assistant",
            "model": self.scene.model, "content": [block], "stop_reason": null, "stop_sequence": null, "usage": usage,
        });
        let event = enveloped(json!({"type": "assistant", "message": message}));
        match self.partial {
            Partial::Hidden => vec![event],
            Partial::Shown => with_partial(&message, block, event),
        }
    }

    fn call(&mut self, name: &str, input: &Value, answer: &ToolAnswer) -> Vec<Value> {
        self.calls += 1;
        let id = format!("toolu_{:06}", self.calls);
        let mut events =
            self.block(&json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        let mut content =
            json!({"type": "tool_result", "tool_use_id": id, "content": answer.content});
        if answer.is_error {
            content["is_error"] = true.into();
        }
        events.push(enveloped(json!({
            "type": "user", "message": {"role": "user", "content": [content]}, "tool_use_result": answer.result,
        })));
        events
    }

    fn work(&mut self, work: &Work<'_>) -> Vec<Value> {
        let done = |content: String, result: Value| ToolAnswer {
            content: content.into(),
            is_error: false,
            result,
        };
        match work {
            Work::Write { path, text } => {
                let result = json!({"type": "create", "filePath": path, "content": text, "structuredPatch": [], "originalFile": null});
                let answer =
                    done(format!("File created successfully at: {}", path.display()), result);
                self.call("Write", &json!({"file_path": path, "content": text}), &answer)
            }
            Work::Edit { path, find, replace } => {
                let input = json!({"file_path": path, "old_string": find, "new_string": replace});
                let result = json!({"filePath": path, "oldString": find, "newString": replace, "structuredPatch": []});
                let answer = done(format!("The file {} has been updated.", path.display()), result);
                self.call("Edit", &input, &answer)
            }
            Work::Read { path, text } => {
                let result = json!({"type": "text", "file": {"filePath": path, "content": text}});
                self.call("Read", &json!({"file_path": path}), &done((*text).to_owned(), result))
            }
            Work::Shell { command, output, code: 0 } => {
                let result = json!({"stdout": output, "stderr": "", "interrupted": false});
                let answer = done((*output).to_owned(), result);
                self.call("Bash", &json!({"command": command}), &answer)
            }
            Work::Shell { command, output, code } => {
                let text = format!("Exit code {code}\n{output}");
                let answer = ToolAnswer {
                    content: text.clone().into(),
                    is_error: true,
                    result: format!("Error: {text}").into(),
                };
                self.call("Bash", &json!({"command": command}), &answer)
            }
        }
    }

    fn skill(&mut self, load: &SkillLoad<'_>) -> Vec<Value> {
        let input = json!({"skill": load.name});
        let Some(found) = load.found else {
            let text = format!("Unknown skill: {}", load.name);
            let answer = ToolAnswer {
                content: format!("<tool_use_error>{text}</tool_use_error>").into(),
                is_error: true,
                result: format!("Error: {text}").into(),
            };
            return self.call("Skill", &input, &answer);
        };
        let answer = ToolAnswer {
            content: format!("Launching skill: {}", load.name).into(),
            is_error: false,
            result: json!({"success": true, "commandName": load.name}),
        };
        let mut events = self.call("Skill", &input, &answer);
        let text =
            format!("Base directory for this skill: {}\n{}", found.folder.display(), found.body());
        let mut body = enveloped(json!({
            "type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        }));
        body["isSynthetic"] = true.into();
        events.push(body);
        events
    }

    /// Gives each event an id that no other has, as consumers may tell events apart by it.
    fn numbered(&mut self, mut events: Vec<Value>) -> Vec<Value> {
        for event in &mut events {
            self.events += 1;
            event["uuid"] = uuid(self.events).into();
        }
        events
    }

    fn result(&self, fields: Value) -> Value {
        let mut result = json!({
            "type": "result", "session_id": SESSION, "num_turns": self.messages.max(1),
            "duration_ms": 1000, "duration_api_ms": 500, "permission_denials": [],
        });
        extend(&mut result, fields);
        result
    }
}

impl Dialect for Claude {
    fn act(&mut self, act: &Act<'_>) -> Vec<Value> {
        let events = match act {
            Act::Start => vec![self.start()],
            Act::Say(text) => self.block(&json!({"type": "text", "text": text})),
            Act::Think(text) => {
                self.block(&json!({"type": "thinking", "thinking": text, "signature": "c2ln"}))
            }
            Act::Tool(tool) => {
                let content: Value = tool.output.clone().into();
                let answer =
                    ToolAnswer { content: content.clone(), is_error: tool.failed, result: content };
                self.call(&tool.name, &tool.input, &answer)
            }
            Act::Work(work) => self.work(work),
            Act::Skill(load) => self.skill(load),
        };
        self.numbered(events)
    }

    fn finish(&mut self, finish: &Finish) -> Vec<Value> {
        let mut events = self.block(&json!({"type": "text", "text": finish.text}));
        let Usage { input, output, cache_read, cache_write, .. } = finish.usage;
        let cost = finish.cost_usd.unwrap_or(0.01);
        let mut result = self.result(json!({
            "subtype": "success", "is_error": false, "terminal_reason": "completed", "api_error_status": null,
            "stop_reason": "end_turn", "result": finish.text, "total_cost_usd": cost,
            "usage": usage(finish.usage, output),
            "modelUsage": {&self.scene.model: {
                "inputTokens": input, "outputTokens": output, "cacheReadInputTokens": cache_read,
                "cacheCreationInputTokens": cache_write, "costUSD": cost, "contextWindow": 200_000, "costBasis": "list",
            }},
        }));
        if let Some(value) = &finish.structured {
            result["structured_output"] = value.clone();
        }
        events.push(result);
        self.numbered(events)
    }

    fn fail(&mut self, failure: &Failure) -> Failed {
        let Some(status) = failure.kind.status() else {
            let end = self.result(json!({
                "subtype": "error_max_turns", "is_error": true, "terminal_reason": "max_turns",
                "total_cost_usd": 0.01, "usage": usage(Usage::default(), 50), "modelUsage": {},
                "errors": [failure.message()],
            }));
            return Failed { events: self.numbered(vec![end]), code: 1 };
        };
        // A retry calls an overload by its name; the message after it does not.
        let (retry, error) = match failure.kind {
            FailureKind::RateLimit => ("rate_limit", "rate_limit"),
            FailureKind::Overloaded => ("overloaded", "server_error"),
            FailureKind::Authentication => ("authentication_failed", "authentication_failed"),
            FailureKind::Server | FailureKind::MaxTurns => ("server_error", "server_error"),
        };
        let text = format!("API Error: {status} {}", failure.message());
        let mut message = enveloped(json!({
            "type": "assistant",
            "message": {
                "id": uuid(0), "type": "message", "role": "assistant", "model": "<synthetic>",
                "content": [{"type": "text", "text": text}], "stop_reason": "stop_sequence", "usage": {"input_tokens": 0, "output_tokens": 0},
            },
        }));
        extend(
            &mut message,
            json!({"error": error, "is_api_error_message": true, "api_error_status": status}),
        );
        let events = vec![
            json!({
                "type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 1, "retry_delay_ms": 1000,
                "error_status": status, "error": retry, "session_id": SESSION,
            }),
            message,
            self.result(json!({
                "subtype": "success", "is_error": true, "terminal_reason": "api_error", "api_error_status": status,
                "result": text, "total_cost_usd": 0, "usage": {"input_tokens": 0, "output_tokens": 0}, "modelUsage": {},
            })),
        ];
        Failed { events: self.numbered(events), code: 1 }
    }
}

/// An assistant event between the partial messages that lead up to it and away from it.
fn with_partial(message: &Value, block: &Value, event: Value) -> Vec<Value> {
    let part = |event: Value| enveloped(json!({"type": "stream_event", "event": event}));
    let mut opening = message.clone();
    opening["content"] = json!([]);
    let (empty, delta) = match block["type"].as_str() {
        Some("tool_use") => {
            let mut empty = block.clone();
            empty["input"] = json!({});
            (empty, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        }
        Some("thinking") => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            json!({"type": "thinking_delta", "thinking": block["thinking"]}),
        ),
        _ => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": block["text"]}),
        ),
    };
    let stop_reason = if block["type"] == "tool_use" { "tool_use" } else { "end_turn" };
    vec![
        part(json!({"type": "message_start", "message": opening})),
        part(json!({"type": "content_block_start", "index": 0, "content_block": empty})),
        part(json!({"type": "content_block_delta", "index": 0, "delta": delta})),
        event,
        part(json!({"type": "content_block_stop", "index": 0})),
        part(json!({
            "type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": usage(Usage::default(), Usage::default().output),
        })),
        part(json!({"type": "message_stop"})),
    ]
}

fn usage(usage: Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input, "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read, "output_tokens": output, "service_tier": "standard",
    })
}

/// Adds the fields that most events share.
fn enveloped(mut event: Value) -> Value {
    extend(
        &mut event,
        json!({"parent_tool_use_id": null, "session_id": SESSION, "timestamp": TIMESTAMP}),
    );
    event
}

fn extend(event: &mut Value, fields: Value) {
    if let (Value::Object(event), Value::Object(fields)) = (event, fields) {
        Map::extend(event, fields);
    }
}

fn uuid(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}
