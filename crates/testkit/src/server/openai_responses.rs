//! OpenAI Responses: reads requests, writes responses and their event streams, with the events that Codex waits for.
//!
//! A tool call whose input is a string becomes a custom tool call (that is how Codex takes patches), any other a
//! function call. Events carry a running `sequence_number`, as the real ones do.

use serde_json::{Map, Value, json};

use super::answer::{Answer, CREATED, event};
use super::reply::{Block, Stop, ToolCall, halves, words};
use super::request::{Reading, flat_text, items};

/// Fills a view from a request body.
pub(super) fn read(body: &Value, reading: &mut Reading) {
    reading.model_and_transfer(body);
    if let Some(text) = body["instructions"].as_str() {
        reading.context(text);
    }
    if let Some(text) = body["input"].as_str() {
        reading.user(text);
    }
    for item in items(&body["input"]) {
        read_item(item, reading);
    }
    for tool in items(&body["tools"]) {
        let name = tool["name"].as_str().or_else(|| tool["type"].as_str());
        reading.tool(name.unwrap_or_default());
    }
    if body["tool_choice"]["type"] == "function" {
        reading.view.forced_tool = body["tool_choice"]["name"].as_str().map(str::to_owned);
    }
}

fn read_item(item: &Value, reading: &mut Reading) {
    match (item["type"].as_str(), item["role"].as_str()) {
        (Some("function_call_output" | "custom_tool_call_output"), _) => {
            reading.tool_result(flat_text(&item["output"]));
        }
        (_, Some("developer" | "system")) => reading.context(&flat_text(&item["content"])),
        (_, Some("user")) => reading.user(&flat_text(&item["content"])),
        _ => reading.assistant(),
    }
}

/// The answer as one response.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    finished(answer, &output(answer))
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<String> {
    let mut writer = Writer::default();
    let opening = response(answer, "in_progress", &[]);
    writer.push("response.created", json!({"response": opening}));
    writer.push("response.in_progress", json!({"response": opening}));
    let items = output(answer);
    for (index, item) in items.iter().enumerate() {
        writer.item(index, item);
    }
    let end = finished(answer, &items);
    let name =
        if end["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
    writer.push(name, json!({"response": end}));
    writer.events
}

#[derive(Default)]
struct Writer {
    events: Vec<String>,
}

impl Writer {
    fn push(&mut self, name: &str, fields: Value) {
        let mut data = Map::new();
        data.insert("type".to_owned(), name.into());
        data.insert("sequence_number".to_owned(), self.events.len().into());
        if let Value::Object(fields) = fields {
            data.extend(fields);
        }
        self.events.push(event(Some(name), &data.into()));
    }

    fn item(&mut self, index: usize, item: &Value) {
        let mut opening = item.clone();
        if let Value::Object(fields) = &mut opening {
            for (key, empty) in [
                ("content", json!([])),
                ("summary", json!([])),
                ("arguments", json!("")),
                ("input", json!("")),
            ] {
                if fields.contains_key(key) {
                    fields.insert(key.to_owned(), empty);
                }
            }
            if fields.contains_key("status") {
                fields.insert("status".to_owned(), "in_progress".into());
            }
        }
        self.push("response.output_item.added", json!({"output_index": index, "item": opening}));
        match item["type"].as_str() {
            Some("message") => self.message_parts(index, item),
            Some("reasoning") => self.reasoning_parts(index, item),
            Some("function_call") => {
                self.arguments(index, item, "response.function_call_arguments", "arguments");
            }
            _ => self.arguments(index, item, "response.custom_tool_call_input", "input"),
        }
        self.push("response.output_item.done", json!({"output_index": index, "item": item}));
    }

    fn message_parts(&mut self, index: usize, item: &Value) {
        let place = json!({"item_id": item["id"], "output_index": index, "content_index": 0});
        let part = &item["content"][0];
        let (event, key) = match part["type"].as_str() {
            Some("refusal") => ("response.refusal", "refusal"),
            _ => ("response.output_text", "text"),
        };
        let mut empty = part.clone();
        empty[key] = "".into();
        let text = part[key].as_str().unwrap_or_default();
        self.push("response.content_part.added", with(&place, "part", empty));
        for word in words(text) {
            self.push(&format!("{event}.delta"), with(&place, "delta", word.into()));
        }
        self.push(&format!("{event}.done"), with(&place, key, text.into()));
        self.push("response.content_part.done", with(&place, "part", part.clone()));
    }

    fn reasoning_parts(&mut self, index: usize, item: &Value) {
        let place = json!({"item_id": item["id"], "output_index": index, "summary_index": 0});
        let part = &item["summary"][0];
        let empty = json!({"type": "summary_text", "text": ""});
        self.push("response.reasoning_summary_part.added", with(&place, "part", empty));
        for word in words(part["text"].as_str().unwrap_or_default()) {
            self.push("response.reasoning_summary_text.delta", with(&place, "delta", word.into()));
        }
        self.push(
            "response.reasoning_summary_text.done",
            with(&place, "text", part["text"].clone()),
        );
        self.push("response.reasoning_summary_part.done", with(&place, "part", part.clone()));
    }

    fn arguments(&mut self, index: usize, item: &Value, event: &str, key: &str) {
        let place = json!({"item_id": item["id"], "output_index": index});
        for piece in halves(item[key].as_str().unwrap_or_default()) {
            self.push(&format!("{event}.delta"), with(&place, "delta", piece.into()));
        }
        self.push(&format!("{event}.done"), with(&place, key, item[key].clone()));
    }
}

fn with(place: &Value, key: &str, value: Value) -> Value {
    let mut fields = place.clone();
    fields[key] = value;
    fields
}

fn output(answer: &Answer<'_>) -> Vec<Value> {
    answer
        .reply
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| item(answer, index, block))
        .collect()
}

fn item(answer: &Answer<'_>, index: usize, block: &Block) -> Value {
    match block {
        Block::Text(text) => message(answer, index, text),
        Block::Json(value) => message(answer, index, &value.to_string()),
        Block::Thinking(text) => json!({
            "type": "reasoning",
            "id": answer.call_id("rs", index),
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": "c2NyaXB0",
        }),
        Block::Tool(ToolCall { name, input: Value::String(input) }) => json!({
            "type": "custom_tool_call",
            "id": answer.call_id("ctc", index),
            "status": "completed",
            "call_id": answer.call_id("call", index),
            "name": name,
            "input": input,
        }),
        Block::Tool(ToolCall { name, input }) => json!({
            "type": "function_call",
            "id": answer.call_id("fc", index),
            "status": "completed",
            "call_id": answer.call_id("call", index),
            "name": name,
            "arguments": input.to_string(),
        }),
    }
}

fn message(answer: &Answer<'_>, index: usize, text: &str) -> Value {
    let part = match answer.reply.stop {
        Stop::Refusal => json!({"type": "refusal", "refusal": text}),
        Stop::Natural | Stop::MaxTokens | Stop::Other(_) => {
            json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
        }
    };
    json!({
        "type": "message",
        "id": answer.call_id("msg", index),
        "status": "completed",
        "role": "assistant",
        "content": [part],
    })
}

fn response(answer: &Answer<'_>, status: &str, output: &[Value]) -> Value {
    json!({
        "id": format!("resp_{:06}", answer.number),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "model": answer.view.model,
        "output": output,
        "usage": null,
    })
}

fn finished(answer: &Answer<'_>, output: &[Value]) -> Value {
    let reason = match &answer.reply.stop {
        Stop::Natural | Stop::Refusal => None,
        Stop::MaxTokens => Some("max_output_tokens"),
        Stop::Other(reason) => Some(reason.as_str()),
    };
    let status = if reason.is_some() { "incomplete" } else { "completed" };
    let mut response = response(answer, status, output);
    if let Some(reason) = reason {
        response["incomplete_details"] = json!({"reason": reason});
    }
    let usage = answer.reply.usage;
    let input = usage.input.saturating_add(usage.cache_read);
    response["usage"] = json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": input.saturating_add(usage.output),
    });
    response
}
