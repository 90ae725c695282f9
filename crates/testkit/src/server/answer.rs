//! From a settled reply to the bytes of one answer, and the small answers that need no script.
//!
//! [`Answer`] is what every protocol module renders; [`Body`] is the result, before [`super::fault`] spoils it. Nothing
//! in an answer depends on the clock, so that tests can compare whole responses.

use serde_json::{Value, json};

use super::protocol::Protocol;
use super::reply::Reply;
use super::request::{RequestView, Transfer};
use super::{anthropic, gemini, openai_chat, openai_responses};

/// The time that answers claim to be made at.
pub(super) const CREATED: u64 = 1_790_000_000;

/// Everything that a protocol needs to write an answer.
pub(super) struct Answer<'a> {
    pub(super) reply: &'a Reply,
    pub(super) view: &'a RequestView,
    /// The request's number, from 1: makes ids that differ between requests and not between test runs.
    pub(super) number: u32,
}

/// The body of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    Whole(String),
    Events(Vec<String>),
}

impl Answer<'_> {
    /// The answer in a protocol, whole or as events as the request wants it.
    pub(super) fn render(&self, protocol: Protocol) -> Body {
        let whole = |value: Value| Body::Whole(value.to_string());
        match (protocol, self.view.transfer) {
            (Protocol::Anthropic, Transfer::Whole) => whole(anthropic::whole(self)),
            (Protocol::Anthropic, Transfer::Stream) => Body::Events(anthropic::stream(self)),
            (Protocol::OpenaiChat, Transfer::Whole) => whole(openai_chat::whole(self)),
            (Protocol::OpenaiChat, Transfer::Stream) => Body::Events(openai_chat::stream(self)),
            (Protocol::OpenaiResponses, Transfer::Whole) => whole(openai_responses::whole(self)),
            (Protocol::OpenaiResponses, Transfer::Stream) => {
                Body::Events(openai_responses::stream(self))
            }
            (Protocol::Gemini, Transfer::Whole) => whole(gemini::whole(self)),
            (Protocol::Gemini, Transfer::Stream) => Body::Events(gemini::stream(self)),
        }
    }

    /// The id of a tool call.
    pub(super) fn call_id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}_{:06}_{index}", self.number)
    }
}

pub(super) fn event(name: Option<&str>, data: &Value) -> String {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}

/// A token count for a request body: a quarter of its bytes, which is enough for clients that only want a number.
pub(super) fn token_count(protocol: Protocol, body_length: usize) -> Value {
    let tokens = body_length.div_ceil(4);
    match protocol {
        Protocol::Gemini => json!({"totalTokens": tokens}),
        Protocol::Anthropic | Protocol::OpenaiChat | Protocol::OpenaiResponses => {
            json!({"input_tokens": tokens})
        }
    }
}

/// The list of models in a protocol's shape.
pub(super) fn model_list(protocol: Protocol, names: &[String]) -> Value {
    let stand_in = ["scripted-model".to_owned()];
    let names = if names.is_empty() { &stand_in[..] } else { names };
    let each =
        |shape: &dyn Fn(&String) -> Value| -> Vec<Value> { names.iter().map(shape).collect() };
    match protocol {
        Protocol::Anthropic => json!({
            "data": each(&|name| json!({"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"})),
            "has_more": false,
            "first_id": names.first(),
            "last_id": names.last(),
        }),
        // `models` is where Codex looks; an empty list lets it use what it knows itself.
        Protocol::OpenaiChat | Protocol::OpenaiResponses => json!({
            "object": "list",
            "data": each(&|name| json!({"id": name, "object": "model", "created": CREATED, "owned_by": "script"})),
            "models": [],
        }),
        Protocol::Gemini => json!({
            "models": each(&|name| json!({"name": format!("models/{name}"), "displayName": name})),
        }),
    }
}
