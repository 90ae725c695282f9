//! `codex exec --json`.
//!
//! Codex has no tool for skills: it reads SKILL.md with a command, and that command is the only trace. Status codes are
//! only in the text of its errors, and a fault of the service loses even that; both are kept.

use serde_json::{Value, json};

use super::{Act, Dialect, Failed, SESSION, SkillLoad, Work};
use crate::agent::script::{Failure, FailureKind, Finish};

/// The state of a stream: how many items there were.
#[derive(Default)]
pub(super) struct Codex {
    items: u32,
}

impl Codex {
    fn id(&mut self) -> String {
        let id = format!("item_{}", self.items);
        self.items += 1;
        id
    }

    fn item(&mut self, mut item: Value) -> Value {
        item["id"] = self.id().into();
        json!({"type": "item.completed", "item": item})
    }

    fn command(&mut self, command: &str, output: &str, code: i32) -> Vec<Value> {
        let id = self.id();
        let item = |output: &str, code: Value, status: &str| {
            json!({
                "id": id, "type": "command_execution", "command": format!("/bin/bash -lc '{command}'"),
                "aggregated_output": output, "exit_code": code, "status": status,
            })
        };
        let status = if code == 0 { "completed" } else { "failed" };
        vec![
            json!({"type": "item.started", "item": item("", Value::Null, "in_progress")}),
            json!({"type": "item.completed", "item": item(output, code.into(), status)}),
        ]
    }

    fn change(&mut self, path: &std::path::Path, kind: &str) -> Vec<Value> {
        let id = self.id();
        let item = |status: &str| json!({"id": id, "type": "file_change", "changes": [{"path": path, "kind": kind}], "status": status});
        vec![
            json!({"type": "item.started", "item": item("in_progress")}),
            json!({"type": "item.completed", "item": item("completed")}),
        ]
    }

    fn skill(&mut self, load: &SkillLoad<'_>) -> Vec<Value> {
        let Some(found) = load.found else {
            let file = format!(".agents/skills/{}/SKILL.md", load.name);
            let output = format!("cat: {file}: No such file or directory\n");
            return self.command(&format!("cat {file}"), &output, 1);
        };
        let file = found.folder.join("SKILL.md");
        self.command(&format!("cat {}", file.display()), &found.text, 0)
    }
}

impl Dialect for Codex {
    fn act(&mut self, act: &Act<'_>) -> Vec<Value> {
        match act {
            Act::Start => vec![
                json!({"type": "thread.started", "thread_id": SESSION}),
                json!({"type": "turn.started"}),
            ],
            Act::Say(text) => vec![self.item(json!({"type": "agent_message", "text": text}))],
            Act::Think(text) => vec![self.item(json!({"type": "reasoning", "text": text}))],
            Act::Tool(tool) => {
                let status = if tool.failed { "failed" } else { "completed" };
                vec![self.item(json!({
                    "type": "mcp_tool_call", "server": "script", "tool": tool.name, "arguments": tool.input,
                    "result": {"content": [{"type": "text", "text": tool.output}]}, "status": status,
                }))]
            }
            Act::Work(Work::Write { path, .. }) => self.change(path, "add"),
            Act::Work(Work::Edit { path, .. }) => self.change(path, "update"),
            Act::Work(Work::Read { path, text }) => {
                self.command(&format!("cat {}", path.display()), text, 0)
            }
            Act::Work(Work::Shell { command, output, code }) => {
                self.command(command, output, *code)
            }
            Act::Skill(load) => self.skill(load),
        }
    }

    fn finish(&mut self, finish: &Finish) -> Vec<Value> {
        let mut events = self.act(&Act::Say(&finish.text));
        let usage = finish.usage;
        events.push(json!({
            "type": "turn.completed",
            "usage": {
                "input_tokens": usage.input.saturating_add(usage.cache_read),
                "cached_input_tokens": usage.cache_read, "cache_write_input_tokens": 0,
                "output_tokens": usage.output, "reasoning_output_tokens": usage.reasoning,
            },
        }));
        events
    }

    fn fail(&mut self, failure: &Failure) -> Failed {
        let said = failure.message();
        let message = match failure.kind {
            FailureKind::RateLimit => {
                "exceeded retry limit, last status: 429 Too Many Requests, request id: req_1"
                    .to_owned()
            }
            FailureKind::Authentication => format!("unexpected status 401 Unauthorized: {said}"),
            FailureKind::Overloaded | FailureKind::Server => {
                "We\u{2019}re currently experiencing high demand, which may cause temporary errors."
                    .to_owned()
            }
            FailureKind::MaxTurns => said.to_owned(),
        };
        let events = vec![
            json!({"type": "error", "message": format!("Reconnecting... 1/1 ({message})")}),
            json!({"type": "error", "message": message}),
            json!({"type": "turn.failed", "error": {"message": message}}),
        ];
        Failed { events, code: 1 }
    }
}
