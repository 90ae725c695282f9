//! Gemini CLI's `stream-json`.
//!
//! Skills are loaded by the tool `activate_skill`; the exit code of an API error is its status modulo 256.

use serde_json::{Value, json};

use super::{Act, Dialect, Failed, SESSION, Scene, SkillLoad, TIMESTAMP, Work};
use crate::agent::script::{Failure, Finish};

/// The state of a stream: how many tool calls there were.
pub(super) struct Gemini {
    scene: Scene,
    calls: u32,
}

impl Gemini {
    pub(super) fn new(scene: Scene) -> Self {
        Self { scene, calls: 0 }
    }

    fn call(&mut self, name: &str, parameters: &Value, status: &str, output: &str) -> Vec<Value> {
        self.calls += 1;
        let id = format!("{name}_{}", self.calls);
        vec![
            json!({"type": "tool_use", "timestamp": TIMESTAMP, "tool_name": name, "tool_id": id, "parameters": parameters}),
            json!({"type": "tool_result", "timestamp": TIMESTAMP, "tool_id": id, "status": status, "output": output}),
        ]
    }

    fn work(&mut self, work: &Work<'_>) -> Vec<Value> {
        match work {
            Work::Write { path, text } => {
                self.call("write_file", &json!({"file_path": path, "content": text}), "success", "")
            }
            Work::Edit { path, find, replace } => {
                let parameters =
                    json!({"file_path": path, "old_string": find, "new_string": replace});
                self.call("replace", &parameters, "success", "")
            }
            Work::Read { path, text } => {
                self.call("read_file", &json!({"file_path": path}), "success", text)
            }
            Work::Shell { command, output, code } => {
                let status = if *code == 0 { "success" } else { "error" };
                self.call("run_shell_command", &json!({"command": command}), status, output)
            }
        }
    }

    fn skill(&mut self, load: &SkillLoad<'_>) -> Vec<Value> {
        let parameters = json!({"name": load.name});
        let (status, text) = match load.found {
            Some(found) => {
                let folder = found.folder.display();
                let text =
                    format!("Skill **{}** activated. Resources loaded from `{folder}`", load.name);
                ("success", text)
            }
            None => ("error", format!("Skill {} not found", load.name)),
        };
        self.call("activate_skill", &parameters, status, &text)
    }

    fn result(&self, fields: Value, tokens: &Value) -> Value {
        let mut result = json!({"type": "result", "timestamp": TIMESTAMP});
        if let (Value::Object(result), Value::Object(fields)) = (&mut result, fields) {
            result.extend(fields);
        }
        let mut stats = tokens.clone();
        stats["duration_ms"] = 1000.into();
        stats["tool_calls"] = self.calls.into();
        stats["models"] = json!({&self.scene.model: tokens});
        result["stats"] = stats;
        result
    }
}

impl Dialect for Gemini {
    fn act(&mut self, act: &Act<'_>) -> Vec<Value> {
        match act {
            Act::Start => vec![
                json!({"type": "init", "timestamp": TIMESTAMP, "session_id": SESSION, "model": self.scene.model}),
                json!({"type": "message", "timestamp": TIMESTAMP, "role": "user", "content": self.scene.prompt}),
            ],
            Act::Say(text) => {
                vec![
                    json!({"type": "message", "timestamp": TIMESTAMP, "role": "assistant", "content": text, "delta": true}),
                ]
            }
            // The real stream does not show thoughts.
            Act::Think(_) => Vec::new(),
            Act::Tool(tool) => {
                let status = if tool.failed { "error" } else { "success" };
                self.call(&tool.name, &tool.input, status, &tool.output)
            }
            Act::Work(work) => self.work(work),
            Act::Skill(load) => self.skill(load),
        }
    }

    fn finish(&mut self, finish: &Finish) -> Vec<Value> {
        let usage = finish.usage;
        let input = usage.input.saturating_add(usage.cache_read);
        let tokens = json!({
            "total_tokens": input.saturating_add(usage.output), "input_tokens": input,
            "output_tokens": usage.output, "cached": usage.cache_read, "input": usage.input,
        });
        let mut events = self.act(&Act::Say(&finish.text));
        events.push(self.result(json!({"status": "success"}), &tokens));
        events
    }

    fn fail(&mut self, failure: &Failure) -> Failed {
        let status = failure.kind.status();
        let message = match status {
            Some(code) => {
                let error = json!({"error": {"code": code, "message": failure.message()}});
                format!("[API Error: {error}]")
            }
            None => failure.message().to_owned(),
        };
        let tokens = json!({"total_tokens": 0, "input_tokens": 0, "output_tokens": 0, "cached": 0, "input": 0});
        let error = json!({"status": "error", "error": {"type": "unknown", "message": message}});
        let code = status.map_or(53, |code| code.to_le_bytes()[0]);
        Failed { events: vec![self.result(error, &tokens)], code }
    }
}
