//! `opencode run --format json`.
//!
//! A stream has no final event: it ends with the last `step_finish` and the exit code. Each step here is one thing that
//! the agent did, and only the last one carries the usage of the script.

use serde_json::{Value, json};

use super::{Act, Dialect, Failed, SkillLoad, TIMESTAMP_MS, Work};
use crate::agent::script::{Failure, Finish};
use crate::server::Usage;

const SESSION: &str = "ses_000000000001";

/// The state of a stream: how many parts there were.
#[derive(Default)]
pub(super) struct Opencode {
    parts: u32,
}

impl Opencode {
    fn event(&mut self, kind: &str, mut part: Value) -> Value {
        self.parts += 1;
        part["id"] = format!("prt_{:06}", self.parts).into();
        part["messageID"] = "msg_000001".into();
        part["sessionID"] = SESSION.into();
        json!({"type": kind, "timestamp": TIMESTAMP_MS, "sessionID": SESSION, "part": part})
    }

    fn step(&mut self, middle: Value, kind: &str, reason: &str) -> Vec<Value> {
        let none = Usage { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
        vec![
            self.event("step_start", json!({"type": "step-start"})),
            self.event(kind, middle),
            self.step_finish(reason, none, 0.0),
        ]
    }

    fn step_finish(&mut self, reason: &str, usage: Usage, cost: f64) -> Value {
        let total = usage.input.saturating_add(usage.cache_read).saturating_add(usage.output);
        self.event(
            "step_finish",
            json!({
                "type": "step-finish", "reason": reason, "cost": cost,
                "tokens": {
                    "total": total, "input": usage.input, "output": usage.output, "reasoning": usage.reasoning,
                    "cache": {"write": usage.cache_write, "read": usage.cache_read},
                },
            }),
        )
    }

    fn call(&mut self, tool: &str, input: &Value, output: &str, failed: bool) -> Vec<Value> {
        let mut state = json!({
            "status": "completed", "input": input, "output": output,
            "time": {"start": TIMESTAMP_MS, "end": TIMESTAMP_MS},
        });
        if failed {
            state["status"] = "error".into();
            state["error"] = output.into();
        }
        let call = format!("call_{}", self.parts);
        let part = json!({"type": "tool", "tool": tool, "callID": call, "state": state});
        self.step(part, "tool_use", "tool-calls")
    }

    fn work(&mut self, work: &Work<'_>) -> Vec<Value> {
        match work {
            Work::Write { path, text } => {
                let input = json!({"filePath": path, "content": text});
                self.call("write", &input, "Wrote file successfully.", false)
            }
            Work::Edit { path, find, replace } => {
                let input = json!({"filePath": path, "oldString": find, "newString": replace});
                self.call("edit", &input, "Edit applied successfully.", false)
            }
            Work::Read { path, text } => self.call("read", &json!({"filePath": path}), text, false),
            Work::Shell { command, output, code } => {
                self.call("bash", &json!({"command": command}), output, *code != 0)
            }
        }
    }

    fn skill(&mut self, load: &SkillLoad<'_>) -> Vec<Value> {
        let input = json!({"name": load.name});
        match load.found {
            Some(found) => {
                let text = format!(
                    "<skill_content name=\"{}\">\n{}\nBase directory for this skill: {}\n</skill_content>",
                    load.name,
                    found.body(),
                    found.folder.display()
                );
                let mut events = self.call("skill", &input, &text, false);
                events[1]["part"]["state"]["metadata"] =
                    json!({"name": load.name, "dir": found.folder});
                events
            }
            None => self.call("skill", &input, &format!("Skill \"{}\" not found", load.name), true),
        }
    }
}

impl Dialect for Opencode {
    fn act(&mut self, act: &Act<'_>) -> Vec<Value> {
        match act {
            // There is no opening event of its own.
            Act::Start => Vec::new(),
            // Only the last step stops; in the middle of a run the model went on to use tools.
            Act::Say(text) => {
                self.step(json!({"type": "text", "text": text}), "text", "tool-calls")
            }
            Act::Think(text) => {
                self.step(json!({"type": "reasoning", "text": text}), "reasoning", "tool-calls")
            }
            Act::Tool(tool) => self.call(&tool.name, &tool.input, &tool.output, tool.failed),
            Act::Work(work) => self.work(work),
            Act::Skill(load) => self.skill(load),
        }
    }

    fn finish(&mut self, finish: &Finish) -> Vec<Value> {
        vec![
            self.event("step_start", json!({"type": "step-start"})),
            self.event("text", json!({"type": "text", "text": finish.text})),
            self.step_finish("stop", finish.usage, finish.cost_usd.unwrap_or(0.0)),
        ]
    }

    fn fail(&mut self, failure: &Failure) -> Failed {
        let status = failure.kind.status();
        let retryable = status.is_some_and(|status| status != 401);
        let error = json!({
            "type": "error", "timestamp": TIMESTAMP_MS, "sessionID": SESSION,
            "error": {"name": "APIError", "data": {"message": failure.message(), "statusCode": status, "isRetryable": retryable}},
        });
        Failed { events: vec![error], code: 1 }
    }
}
