//! Gemini: reads requests, writes `generateContent` answers and their streams.
//!
//! Model name and transfer are in the path here, not in the body; a stream is a list of partial answers.

use serde_json::{Value, json};

use super::answer::{Answer, event};
use super::reply::{Block, Stop, words};
use super::request::{Reading, Transfer, items};

/// Fills a view from a request.
pub(super) fn read(path: &str, body: &Value, reading: &mut Reading) {
    if let Some((model, method)) = path.rsplit('/').next().and_then(|end| end.split_once(':')) {
        model.clone_into(&mut reading.view.model);
        reading.view.transfer = match method {
            "streamGenerateContent" => Transfer::Stream,
            _ => Transfer::Whole,
        };
    }
    let system = body.get("systemInstruction").or_else(|| body.get("system_instruction"));
    for part in system.map_or(&[][..], |system| items(&system["parts"])) {
        reading.context(part["text"].as_str().unwrap_or_default());
    }
    for content in items(&body["contents"]) {
        match content["role"].as_str() {
            Some("model") => reading.assistant(),
            _ => read_user(&content["parts"], reading),
        }
    }
    for tool in items(&body["tools"]) {
        for declaration in items(&tool["functionDeclarations"]) {
            reading.tool(declaration["name"].as_str().unwrap_or_default());
        }
    }
}

fn read_user(parts: &Value, reading: &mut Reading) {
    for part in items(parts) {
        if let Some(text) = part["text"].as_str() {
            reading.user(text);
        }
        if let Some(response) = part.get("functionResponse") {
            reading.tool_result(response["response"].to_string());
        }
    }
}

/// The answer as one document.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let parts = answer.reply.blocks.iter().flat_map(|block| match block {
        Block::Text(text) => vec![json!({"text": text})],
        Block::Json(_) | Block::Thinking(_) | Block::Tool(_) => pieces(block),
    });
    last(answer, &parts.collect::<Vec<_>>())
}

/// The answer as partial documents, one part each; the last one has the reason to stop and the usage.
pub(super) fn stream(answer: &Answer<'_>) -> Vec<String> {
    let parts: Vec<Value> = answer.reply.blocks.iter().flat_map(pieces).collect();
    let (tail, body) = match parts.split_last() {
        Some((tail, body)) => (std::slice::from_ref(tail), body),
        None => (&[][..], &[][..]),
    };
    let partial = body.iter().map(|part| {
        json!({
            "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}],
            "modelVersion": answer.view.model,
            "responseId": id(answer),
        })
    });
    partial.chain([last(answer, tail)]).map(|document| event(None, &document)).collect()
}

fn pieces(block: &Block) -> Vec<Value> {
    match block {
        Block::Text(text) => words(text).into_iter().map(|word| json!({"text": word})).collect(),
        Block::Thinking(text) => vec![json!({"text": text, "thought": true})],
        Block::Tool(call) => vec![json!({"functionCall": {"name": call.name, "args": call.input}})],
        Block::Json(value) => vec![json!({"text": value.to_string()})],
    }
}

fn id(answer: &Answer<'_>) -> String {
    format!("gem_{:06}", answer.number)
}

fn last(answer: &Answer<'_>, parts: &[Value]) -> Value {
    let usage = answer.reply.usage;
    let input = usage.input.saturating_add(usage.cache_read);
    let visible = usage.output.saturating_sub(usage.reasoning);
    json!({
        "candidates": [{
            "content": {"parts": parts, "role": "model"},
            "finishReason": finish_reason(&answer.reply.stop),
            "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": input,
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": visible,
            "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": input.saturating_add(usage.output),
        },
        "modelVersion": answer.view.model,
        "responseId": id(answer),
    })
}

fn finish_reason(stop: &Stop) -> &str {
    match stop {
        Stop::Natural => "STOP",
        Stop::MaxTokens => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
        Stop::Other(reason) => reason,
    }
}
