//! The agents whose requests can be captured: how each is led to us, what it sends, and what ends its turn.

use serde_json::{Value, json};

use crate::agent::Descriptor;
use crate::agent::descriptor::Slot;
use crate::model::{Protocol, ProviderKind};

/// What the agent is told instead of a login. It leaves neither this machine nor the request that it came with.
pub(super) const DUMMY_KEY: &str = "skillgauge-capture-no-real-key";

/// What the model says, so that the agent ends by itself.
const LAST_WORD: &str = "Done.";

/// How one agent asks its model.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The adapter of the agents that speak it.
    pub(super) adapter: &'static str,
    /// The provider that understands what is captured.
    pub(super) provider: ProviderKind,
    pub(super) protocol: Protocol,
    /// The variable with the base URL.
    pub(super) base_url: &'static str,
    /// How the agent gets it.
    reach: Reach,
    /// What follows the address in the base URL.
    pub(super) base_path: &'static str,
    /// The variable with the key.
    pub(super) key: &'static str,
    /// How the path of a question ends.
    pub(super) path: &'static str,
    /// The headers without which a body would be refused.
    pub(super) headers: &'static [&'static str],
    /// Fields that say who asks, or how to send the answer.
    pub(super) removed: &'static [&'static str],
    /// The answer that ends the turn.
    answer: fn(&str) -> Answer,
}

/// An answer as a whole, and as the named events of a stream.
type Answer = (Value, Vec<(&'static str, Value)>);

/// How an agent gets its base URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Variable,
    /// It is put into an argument.
    Argument,
}

pub(super) static DIALECTS: [Dialect; 2] = [
    Dialect {
        adapter: "claude",
        provider: ProviderKind::Anthropic,
        protocol: Protocol::AnthropicMessages,
        base_url: "ANTHROPIC_BASE_URL",
        reach: Reach::Variable,
        base_path: "",
        key: "ANTHROPIC_API_KEY",
        path: "/messages",
        headers: &["anthropic-beta"],
        removed: &["metadata", "stream"],
        answer: answer_of_messages,
    },
    Dialect {
        adapter: "codex",
        provider: ProviderKind::OpenAi,
        protocol: Protocol::OpenaiResponses,
        base_url: "OPENAI_BASE_URL",
        reach: Reach::Argument,
        base_path: "/v1",
        key: "CODEX_API_KEY",
        path: "/responses",
        headers: &[],
        removed: &["client_metadata", "prompt_cache_key", "safety_identifier", "stream", "user"],
        answer: answer_of_responses,
    },
];

impl Dialect {
    /// Whether an agent asks us, and nobody else, when it is told our address.
    pub(super) fn reaches_us(&self, descriptor: &Descriptor) -> bool {
        let is_passed = descriptor.pass.iter().any(|name| name == self.base_url)
            && !descriptor.environment.contains_key(self.base_url);
        match self.reach {
            Reach::Variable => is_passed,
            Reach::Argument => {
                is_passed && descriptor.uses(&Slot::Variable(self.base_url.to_owned()))
            }
        }
    }

    /// The answer to a question: its type and its text.
    pub(super) fn reply(&self, question: &Value) -> (&'static str, String) {
        let model = question["model"].as_str().unwrap_or_default();
        let (whole, events) = (self.answer)(model);
        if question["stream"] != true {
            return ("application/json", whole.to_string());
        }
        let events = events.into_iter().map(|(name, mut data)| {
            data["type"] = name.into();
            format!("event: {name}\ndata: {data}\n\n")
        });
        ("text/event-stream", events.collect())
    }
}

fn answer_of_messages(model: &str) -> Answer {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = |content: Value, stop: Value| {
        json!({
            "id": "msg_skillgauge", "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage,
        })
    };
    let events = vec![
        ("message_start", json!({"message": message(json!([]), Value::Null)})),
        ("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}})),
        (
            "content_block_delta",
            json!({"index": 0, "delta": {"type": "text_delta", "text": LAST_WORD}}),
        ),
        ("content_block_stop", json!({"index": 0})),
        (
            "message_delta",
            json!({"delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": usage}),
        ),
        ("message_stop", json!({})),
    ];
    (message(json!([{"type": "text", "text": LAST_WORD}]), json!("end_turn")), events)
}

fn answer_of_responses(model: &str) -> Answer {
    let item = json!({
        "type": "message", "id": "msg_skillgauge", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": LAST_WORD, "annotations": []}],
    });
    let response = |status: &str, output: Value| {
        json!({
            "id": "resp_skillgauge", "object": "response", "model": model, "status": status, "output": output,
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        })
    };
    let whole = response("completed", json!([item]));
    let events = vec![
        ("response.created", json!({"response": response("in_progress", json!([]))})),
        ("response.output_item.done", json!({"output_index": 0, "item": item})),
        ("response.completed", json!({"response": whole})),
    ];
    (whole, events)
}
