//! Our own events, for any program that wants to be an agent: the smallest vocabulary that says everything.
//!
//! One JSON object per line, told apart by `type`. A program may leave out all of them; whoever emits some should end
//! with `result` or `error`.

use serde_json::{Value, json};

use super::{Act, Dialect, Failed, SESSION, SkillLoad, Work};
use crate::agent::script::{Failure, FailureKind, Finish};

/// The state of a stream: how many tool calls there were.
#[derive(Default)]
pub(super) struct Command {
    calls: u32,
}

impl Command {
    fn call(&mut self, name: &str, input: &Value, output: &str, failed: bool) -> Vec<Value> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        vec![
            json!({"type": "tool_call", "id": id, "name": name, "input": input}),
            json!({"type": "tool_result", "id": id, "output": output, "is_error": failed}),
        ]
    }

    fn work(&mut self, work: &Work<'_>) -> Vec<Value> {
        match work {
            Work::Write { path, text } => {
                self.call("write", &json!({"path": path, "content": text}), "written", false)
            }
            Work::Edit { path, find, replace } => {
                let input = json!({"path": path, "find": find, "replace": replace});
                self.call("edit", &input, "edited", false)
            }
            Work::Read { path, text } => self.call("read", &json!({"path": path}), text, false),
            Work::Shell { command, output, code } => {
                self.call("shell", &json!({"command": command}), output, *code != 0)
            }
        }
    }
}

fn skill(load: &SkillLoad<'_>) -> Vec<Value> {
    let asked = json!({"type": "skill", "name": load.name, "state": "requested"});
    let answered = match load.found {
        Some(found) => {
            json!({"type": "skill", "name": load.name, "state": "loaded", "path": found.folder.join("SKILL.md")})
        }
        None => {
            json!({"type": "skill", "name": load.name, "state": "denied", "reason": "not installed"})
        }
    };
    vec![asked, answered]
}

impl Dialect for Command {
    fn act(&mut self, act: &Act<'_>) -> Vec<Value> {
        match act {
            Act::Start => vec![json!({"type": "start", "session": SESSION})],
            Act::Say(text) => vec![json!({"type": "text", "text": text})],
            Act::Think(text) => vec![json!({"type": "thinking", "text": text})],
            Act::Tool(tool) => self.call(&tool.name, &tool.input, &tool.output, tool.failed),
            Act::Work(work) => self.work(work),
            Act::Skill(load) => skill(load),
        }
    }

    fn finish(&mut self, finish: &Finish) -> Vec<Value> {
        let usage = finish.usage;
        vec![json!({
            "type": "result",
            "text": finish.text,
            "usage": {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cache_read_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
            },
            "cost_usd": finish.cost_usd,
        })]
    }

    fn fail(&mut self, failure: &Failure) -> Failed {
        let kind = match failure.kind {
            FailureKind::RateLimit => "rate_limit",
            FailureKind::Overloaded => "overloaded",
            FailureKind::Authentication => "authentication",
            FailureKind::Server => "server",
            FailureKind::MaxTurns => "max_turns",
        };
        let error = json!({
            "type": "error", "kind": kind, "status": failure.kind.status(), "message": failure.message(),
        });
        Failed { events: vec![error], code: 1 }
    }
}
