//! OpenAI's chat completions, and every server that speaks them: Ollama, vLLM, llama.cpp, gateways.
//!
//! Compatible servers differ most in `response_format`, so a structured answer is asked for on a ladder: `json_schema`,
//! then `json_object` with the schema in the prompt, then plain text with the schema in the prompt. They also differ in
//! the name of the limit on the output, and some models take no temperature. A rejection changes the manner, and the
//! manner that worked is remembered by [`crate::model::ask`].

use serde_json::{Map, Value, json};
use skillgauge_format::AnswerSchema;
use skillgauge_format::transcript::Usage;

use crate::model::ask::wire::{Call, Calling, LimitName, MAX_KEPT, Reply, Wire};
use crate::model::error::ModelError;
use crate::model::http::status::{as_failed, rejected};
use crate::model::http::{Exchange, Http, cut, openai_responses};
use crate::model::name::ProviderKind;
use crate::model::price::{Price, Vendor};
use crate::model::request::Protocol;
use crate::model::response::AnswerFormat;
use crate::model::tool::{CalledTool, OfferedTool};

/// Where OpenAI listens.
pub(in crate::model) const BASE_URL: &str = "https://api.openai.com/v1";
/// The path behind a base URL.
pub(in crate::model) const PATH: &str = "/chat/completions";

/// The most characters that the name of a schema may have.
const SCHEMA_NAME: usize = 64;

/// A model behind the chat protocol.
#[derive(Debug)]
pub(in crate::model) struct OpenAi {
    pub(in crate::model) model: String,
    pub(in crate::model) http: Http,
    pub(in crate::model) vendor: Vendor,
    /// What the user says that it costs.
    pub(in crate::model) price: Option<Price>,
}

impl Wire for OpenAi {
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::JsonSchema, AnswerFormat::JsonObject, AnswerFormat::PlainText]
    }

    fn call<'c>(&'c self, call: &'c Call<'c>) -> Calling<'c> {
        Box::pin(async move {
            if let Some(verbatim) = call.verbatim(Protocol::OpenaiResponses)? {
                return openai_responses::ask(&self.http, &self.model, verbatim, call).await;
            }
            let exchange = self.http.post(&body(&self.model, call), call.request.timeout).await?;
            if exchange.status != 200 {
                return Err(rejected(&exchange, &self.model));
            }
            let completion = match exchange.json() {
                Ok(completion) => completion,
                Err(error) => return exchange.result(Err(error)),
            };
            // Some gateways report an error inside of a good answer.
            if completion["error"].is_object() && !completion["choices"].is_array() {
                return Err(rejected(&as_failed(exchange), &self.model));
            }
            exchange.result(read(&exchange, &completion, call))
        })
    }

    fn cost(&self, usage: &Usage, model: Option<&str>) -> Option<f64> {
        let own = self.price.map(|price| price.cost(usage));
        own.or_else(|| self.vendor.cost(ProviderKind::OpenAi, usage, model))
    }
}

fn body(model: &str, call: &Call<'_>) -> Value {
    let mut messages = Vec::new();
    if let Some(system) = call.system() {
        messages.push(json!({"role": "system", "content": system}));
    }
    // One plain text: not every server takes content in parts.
    messages.push(json!({"role": "user", "content": call.user_text()}));
    for turn in &call.request.later {
        messages.push(json!({"role": turn.role.as_str(), "content": turn.content}));
    }
    let limit = match call.manner.limit_name {
        LimitName::MaxTokens => "max_tokens",
        LimitName::MaxCompletionTokens => "max_completion_tokens",
    };
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), messages.into());
    body.insert(limit.to_owned(), call.request.max_output_tokens.into());
    if let Some(temperature) = call.temperature() {
        body.insert("temperature".to_owned(), temperature.into());
    }
    let format = match (call.schema(), call.format()) {
        (Some(schema), Some(AnswerFormat::JsonSchema)) => Some(json_schema(schema)),
        (Some(_), Some(AnswerFormat::JsonObject)) => Some(json!({"type": "json_object"})),
        _ => None,
    };
    if let Some(format) = format {
        body.insert("response_format".to_owned(), format);
    }
    if !call.request.tools.is_empty() {
        let tools = call.request.tools.iter().map(|tool| {
            let OfferedTool { name, description, input_schema } = tool;
            json!({"type": "function", "function": {
                "name": name, "description": description, "parameters": input_schema,
            }})
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    body.into()
}

fn json_schema(schema: &AnswerSchema) -> Value {
    let closed = closed(schema.value());
    let accepted = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = schema.name().chars().take(SCHEMA_NAME).map(accepted).collect();
    // Strict mode wants every property required; a schema with optional ones is still a help without it.
    let strict = all_required(&closed);
    json!({"type": "json_schema", "json_schema": {"name": name, "schema": closed, "strict": strict}})
}

/// The same schema with every object closed, as the strict mode wants it. Maps stay open.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            // Which draft it is says nothing to a service, and some reject what they do not know.
            let keywords = keywords.iter().filter(|(key, _)| *key != "$schema");
            let inner = keywords.map(|(key, value)| (key.clone(), closed(value)));
            let mut keywords: Map<String, Value> = inner.collect();
            let is_schema_of_object = keywords.get("properties").is_some_and(Value::is_object)
                && keywords.get("type").is_none_or(|of| of == "object" || of.is_array());
            if is_schema_of_object && !keywords.contains_key("additionalProperties") {
                keywords.insert("additionalProperties".to_owned(), false.into());
            }
            keywords.into()
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

/// Whether every object requires all of its properties, and none is a map.
fn all_required(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            let is_required = |name: &String| {
                keywords
                    .get("required")
                    .and_then(Value::as_array)
                    .is_some_and(|names| names.iter().any(|n| n == name))
            };
            let properties = keywords.get("properties").and_then(Value::as_object);
            let is_map = keywords
                .get("additionalProperties")
                .is_some_and(|value| *value != Value::Bool(false));
            !is_map
                && properties.is_none_or(|properties| properties.keys().all(is_required))
                && keywords.values().all(all_required)
        }
        Value::Array(items) => items.iter().all(all_required),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn read(exchange: &Exchange, completion: &Value, call: &Call<'_>) -> Result<Reply, ModelError> {
    let choice = &completion["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(exchange.malformed("a completion without a message"));
    }
    let text = content(&message["content"]);
    let stop_reason = choice["finish_reason"].as_str().map(str::to_owned);
    let flaw = match (message["refusal"].as_str(), stop_reason.as_deref()) {
        (Some(refusal), _) if !refusal.is_empty() => {
            Some(ModelError::Refusal { message: cut(refusal, MAX_KEPT) })
        }
        (_, Some("content_filter")) => Some(ModelError::Refusal { message: cut(&text, MAX_KEPT) }),
        (_, Some("length")) if call.may_be_cut() => None,
        (_, Some("length")) => Some(ModelError::OutputCut {
            max_output_tokens: call.request.max_output_tokens,
            text: cut(&text, MAX_KEPT),
        }),
        _ => None,
    };
    Ok(Reply {
        tool_calls: tool_calls(&message["tool_calls"]),
        text,
        stop_reason,
        model: completion["model"].as_str().map(str::to_owned),
        usage: usage(&completion["usage"]),
        flaw,
        ..Reply::default()
    })
}

/// The calls of a message. Arguments are JSON in a text, which a small model may get wrong.
fn tool_calls(calls: &Value) -> Vec<CalledTool> {
    let calls = calls.as_array().into_iter().flatten().map(|call| &call["function"]);
    let read = |function: &Value| {
        let input = arguments(&function["arguments"]);
        Some(CalledTool { name: function["name"].as_str()?.to_owned(), input })
    };
    calls.filter_map(read).collect()
}

/// The arguments of a call, as a text when they are not JSON.
pub(super) fn arguments(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        other => other.clone(),
    }
}

/// The text of a message, which some servers send in parts.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0);
    Some(Usage {
        // OpenAI counts what the cache served as input; our counts do not overlap.
        input_tokens: usage["prompt_tokens"].as_u64()?.saturating_sub(cached),
        output_tokens: usage["completion_tokens"].as_u64().unwrap_or(0),
        cache_read_tokens: cached,
        cache_write_tokens: 0,
        reasoning_tokens: usage["completion_tokens_details"]["reasoning_tokens"]
            .as_u64()
            .unwrap_or(0),
        requests: Some(1),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(schema: Value) -> Value {
        json_schema(&AnswerSchema::new("my verdict", schema).unwrap())["json_schema"].clone()
    }

    #[test]
    fn a_schema_that_requires_everything_is_strict() {
        let sent = sent(json!({
            "type": "object",
            "properties": {"items": {"type": "array", "items": {
                "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            }}},
            "required": ["items"],
        }));
        assert_eq!((&sent["name"], &sent["strict"]), (&json!("my-verdict"), &json!(true)));
        assert_eq!(sent["schema"]["additionalProperties"], false);
        assert_eq!(sent["schema"]["properties"]["items"]["items"]["additionalProperties"], false);
    }

    #[test]
    fn a_schema_with_optional_fields_or_maps_is_not_strict() {
        let optional = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let map = json!({
            "type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "integer"}}},
            "required": ["a"],
        });
        for schema in [optional, map] {
            assert_eq!(sent(schema)["strict"], false);
        }
    }

    #[test]
    fn counts_do_not_overlap() {
        let usage = usage(&json!({
            "prompt_tokens": 1300, "completion_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 300}, "completion_tokens_details": {"reasoning_tokens": 7},
        }))
        .unwrap();
        assert_eq!((usage.input_tokens, usage.cache_read_tokens), (1000, 300));
        assert_eq!((usage.output_tokens, usage.reasoning_tokens), (50, 7));
    }

    #[test]
    fn content_may_come_in_parts() {
        assert_eq!(content(&json!([{"type": "text", "text": "a"}, {"text": "b"}])), "ab");
        assert_eq!(content(&Value::Null), "");
    }
}
