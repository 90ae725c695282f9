//! OpenAI chat completions: reads requests, writes completions and their chunk streams.
//!
//! Also where `response_format` is refused, for servers that do not know it.

use serde_json::{Value, json};

use super::answer::{Answer, CREATED, event};
use super::reply::{Block, Stop, halves, words};
use super::request::{Reading, flat_text, items};
use super::script::StructuredOutput;

/// Fills a view from a request body.
pub(super) fn read(body: &Value, reading: &mut Reading) {
    reading.model_and_transfer(body);
    reading.view.include_usage = body["stream_options"]["include_usage"] == true;
    for message in items(&body["messages"]) {
        let text = flat_text(&message["content"]);
        match message["role"].as_str() {
            Some("system" | "developer") => reading.context(&text),
            Some("assistant") => reading.assistant(),
            Some("tool" | "function") => reading.tool_result(text),
            _ => reading.user(&text),
        }
    }
    for tool in items(&body["tools"]) {
        reading.tool(tool["function"]["name"].as_str().unwrap_or_default());
    }
    reading.view.forced_tool = body["tool_choice"]["function"]["name"].as_str().map(str::to_owned);
}

/// The message of the 400 with which a server of limited abilities refuses a `response_format`.
pub(super) fn format_refusal(body: &Value, support: StructuredOutput) -> Option<String> {
    let format = body.get("response_format").filter(|format| !format.is_null())?;
    let kind = format["type"].as_str().unwrap_or_default();
    let refused = match support {
        StructuredOutput::Schema => false,
        StructuredOutput::ObjectOnly => kind == "json_schema",
        StructuredOutput::Refused => kind != "text",
    };
    refused.then(|| {
        format!("Invalid parameter: 'response_format' of type '{kind}' is not supported with this model.")
    })
}

/// The answer as one completion.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let mut calls = calls(answer);
    for call in calls.iter_mut().filter_map(Value::as_object_mut) {
        call.shift_remove("index"); // Only chunks number their calls.
    }
    let text = text(answer);
    let mut message = json!({"role": "assistant", "content": text, "refusal": null});
    if text.is_empty() && !calls.is_empty() {
        message["content"] = Value::Null;
    }
    if answer.reply.stop == Stop::Refusal {
        message["refusal"] = message["content"].take();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": id(answer),
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.view.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(answer)}],
        "usage": usage(answer),
    })
}

/// The answer as chunks; the usage is in the last one before `[DONE]` if the request asks for it.
pub(super) fn stream(answer: &Answer<'_>) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        event(
            None,
            &envelope(
                answer,
                &json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]),
            ),
        )
    };
    let field = if answer.reply.stop == Stop::Refusal { "refusal" } else { "content" };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    events.extend(
        words(&text(answer)).into_iter().map(|word| chunk(json!({field: word}), Value::Null)),
    );
    for call in calls(answer) {
        events.extend(
            call_deltas(&call)
                .into_iter()
                .map(|delta| chunk(json!({"tool_calls": [delta]}), Value::Null)),
        );
    }
    events.push(chunk(json!({}), finish_reason(answer).into()));
    if answer.view.include_usage {
        let mut last = envelope(answer, &json!([]));
        last["usage"] = usage(answer);
        events.push(event(None, &last));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn envelope(answer: &Answer<'_>, choices: &Value) -> Value {
    json!({
        "id": id(answer),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": answer.view.model,
        "choices": choices,
    })
}

fn call_deltas(call: &Value) -> Vec<Value> {
    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
    let mut opening = call.clone();
    opening["function"]["arguments"] = "".into();
    let pieces = halves(arguments)
        .map(|piece| json!({"index": call["index"], "function": {"arguments": piece}}));
    std::iter::once(opening).chain(pieces).collect()
}

fn id(answer: &Answer<'_>) -> String {
    format!("chatcmpl-{:06}", answer.number)
}

fn text(answer: &Answer<'_>) -> String {
    let texts = answer.reply.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.clone()),
        Block::Json(value) => Some(value.to_string()),
        Block::Thinking(_) | Block::Tool(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn calls(answer: &Answer<'_>) -> Vec<Value> {
    let calls = answer.reply.blocks.iter().filter_map(|block| match block {
        Block::Tool(call) => Some(call),
        Block::Text(_) | Block::Thinking(_) | Block::Json(_) => None,
    });
    let calls = calls.enumerate().map(|(index, call)| {
        json!({
            "index": index,
            "id": answer.call_id("call", index),
            "type": "function",
            "function": {"name": call.name, "arguments": call.input.to_string()},
        })
    });
    calls.collect()
}

fn finish_reason(answer: &Answer<'_>) -> String {
    match &answer.reply.stop {
        Stop::Natural if answer.reply.calls_tools() => "tool_calls".to_owned(),
        Stop::Natural | Stop::Refusal => "stop".to_owned(),
        Stop::MaxTokens => "length".to_owned(),
        Stop::Other(reason) => reason.clone(),
    }
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = answer.reply.usage;
    let input = usage.input.saturating_add(usage.cache_read);
    json!({
        "prompt_tokens": input,
        "completion_tokens": usage.output,
        "total_tokens": input.saturating_add(usage.output),
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_format_is_refused_as_far_as_the_script_says() {
        let request = |kind: &str| json!({"response_format": {"type": kind}});
        let refused = |kind: &str, support| format_refusal(&request(kind), support).is_some();
        assert!(!refused("json_schema", StructuredOutput::Schema));
        assert!(refused("json_schema", StructuredOutput::ObjectOnly));
        assert!(!refused("json_object", StructuredOutput::ObjectOnly));
        assert!(refused("json_object", StructuredOutput::Refused));
        assert!(!refused("text", StructuredOutput::Refused));
        assert_eq!(format_refusal(&json!({}), StructuredOutput::Refused), None);
    }
}
