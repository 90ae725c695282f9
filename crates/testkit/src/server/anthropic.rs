//! Anthropic Messages: reads requests, writes messages and their event streams.
//!
//! A stream is a list of complete events, one per chunk, so that a fault can stop between any two of them.

use serde_json::{Value, json};

use super::answer::{Answer, event};
use super::reply::{Block, Stop, Usage, halves, words};
use super::request::{Reading, flat_text, items};

/// Fills a view from a request body.
pub(super) fn read(body: &Value, reading: &mut Reading) {
    reading.model_and_transfer(body);
    let system = flat_text(&body["system"]);
    if !system.is_empty() {
        reading.context(&system);
    }
    for message in items(&body["messages"]) {
        match message["role"].as_str() {
            Some("assistant") => reading.assistant(),
            Some("system") => reading.context(&flat_text(&message["content"])),
            _ => read_user(&message["content"], reading),
        }
    }
    for tool in items(&body["tools"]) {
        reading.tool(tool["name"].as_str().unwrap_or_default());
    }
    if body["tool_choice"]["type"] == "tool" {
        reading.view.forced_tool = body["tool_choice"]["name"].as_str().map(str::to_owned);
    }
}

fn read_user(content: &Value, reading: &mut Reading) {
    if let Some(text) = content.as_str() {
        reading.user(text);
    }
    for block in items(content) {
        match block["type"].as_str() {
            Some("tool_result") => reading.tool_result(flat_text(&block["content"])),
            Some("text") => reading.user(block["text"].as_str().unwrap_or_default()),
            _ => {}
        }
    }
}

/// The answer as one message.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let content: Vec<Value> = answer
        .reply
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| full_block(answer, index, block))
        .collect();
    let mut message = message(answer, &usage(answer.reply.usage, answer.reply.usage.output));
    message["content"] = content.into();
    message["stop_reason"] = stop_reason(answer).into();
    message
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<String> {
    let opening = message(answer, &usage(answer.reply.usage, 1));
    let mut events = vec![named("message_start", json!({"message": opening}))];
    for (index, block) in answer.reply.blocks.iter().enumerate() {
        let start = json!({"index": index, "content_block": empty_block(answer, index, block)});
        events.push(named("content_block_start", start));
        if index == 0 {
            events.push(named("ping", json!({})));
        }
        events.extend(
            deltas(block)
                .into_iter()
                .map(|delta| named("content_block_delta", json!({"index": index, "delta": delta}))),
        );
        events.push(named("content_block_stop", json!({"index": index})));
    }
    let end = json!({
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
        "usage": usage(answer.reply.usage, answer.reply.usage.output),
    });
    events.push(named("message_delta", end));
    events.push(named("message_stop", json!({})));
    events
}

/// An event whose name is repeated as `type` in its data, first among its fields.
fn named(name: &str, fields: Value) -> String {
    let mut data = json!({"type": name});
    if let (Value::Object(data), Value::Object(fields)) = (&mut data, fields) {
        data.extend(fields);
    }
    event(Some(name), &data)
}

fn message(answer: &Answer<'_>, usage: &Value) -> Value {
    json!({
        "id": format!("msg_{:06}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": answer.view.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    })
}

fn usage(usage: Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
        "service_tier": "standard",
    })
}

fn stop_reason(answer: &Answer<'_>) -> String {
    match &answer.reply.stop {
        Stop::Natural if answer.reply.calls_tools() => "tool_use".to_owned(),
        Stop::Natural => "end_turn".to_owned(),
        Stop::MaxTokens => "max_tokens".to_owned(),
        Stop::Refusal => "refusal".to_owned(),
        Stop::Other(reason) => reason.clone(),
    }
}

const SIGNATURE: &str = "c2lnbmF0dXJl";

fn full_block(answer: &Answer<'_>, index: usize, block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": SIGNATURE})
        }
        Block::Tool(call) => {
            json!({"type": "tool_use", "id": answer.call_id("toolu", index), "name": call.name, "input": call.input})
        }
        Block::Json(value) => json!({"type": "text", "text": value.to_string()}),
    }
}

fn empty_block(answer: &Answer<'_>, index: usize, block: &Block) -> Value {
    match block {
        Block::Text(_) | Block::Json(_) => json!({"type": "text", "text": ""}),
        Block::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Block::Tool(call) => {
            json!({"type": "tool_use", "id": answer.call_id("toolu", index), "name": call.name, "input": {}})
        }
    }
}

fn deltas(block: &Block) -> Vec<Value> {
    let text = |text: &str| -> Vec<Value> {
        words(text).into_iter().map(|word| json!({"type": "text_delta", "text": word})).collect()
    };
    match block {
        Block::Text(words) => text(words),
        Block::Json(value) => text(&value.to_string()),
        Block::Thinking(thinking) => vec![
            json!({"type": "thinking_delta", "thinking": thinking}),
            json!({"type": "signature_delta", "signature": SIGNATURE}),
        ],
        Block::Tool(call) => halves(&call.input.to_string())
            .into_iter()
            .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
            .collect(),
    }
}
