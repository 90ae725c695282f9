//! Anthropic's Messages API.
//!
//! A structured answer is asked for with one tool whose input has the schema and which the model must call; a service
//! that rejects that (a gateway, a model that always thinks) gets the schema in the prompt instead.

use serde_json::{Map, Value, json};
use skillgauge_format::transcript::Usage;

use crate::model::ask::wire::{Call, Calling, MAX_KEPT, Reply, Wire};
use crate::model::error::ModelError;
use crate::model::http::status::rejected;
use crate::model::http::{Destination, Exchange, Http, cut};
use crate::model::name::ProviderKind;
use crate::model::price::{Price, Vendor};
use crate::model::request::Protocol;
use crate::model::response::AnswerFormat;
use crate::model::tool::CalledTool;

pub(in crate::model) const BASE_URL: &str = "https://api.anthropic.com";
/// The path behind a base URL.
pub(in crate::model) const PATH: &str = "/v1/messages";
/// The version of the protocol that is spoken here.
pub(in crate::model) const VERSION: &str = "2023-06-01";

/// The most characters that the name of a tool may have.
const TOOL_NAME: usize = 64;

#[derive(Debug)]
pub(in crate::model) struct Anthropic {
    pub(in crate::model) model: String,
    pub(in crate::model) http: Http,
    pub(in crate::model) vendor: Vendor,
    /// What the user says that it costs.
    pub(in crate::model) price: Option<Price>,
}

impl Wire for Anthropic {
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::ForcedTool, AnswerFormat::PlainText]
    }

    fn call<'c>(&'c self, call: &'c Call<'c>) -> Calling<'c> {
        Box::pin(async move {
            let exchange = self.ask(call).await?;
            match exchange.status {
                200 => exchange.result(read(&exchange, call)),
                _ => Err(rejected(&exchange, &self.model)),
            }
        })
    }

    fn cost(&self, usage: &Usage, model: Option<&str>) -> Option<f64> {
        let own = self.price.map(|price| price.cost(usage));
        own.or_else(|| self.vendor.cost(ProviderKind::Anthropic, usage, model))
    }
}

impl Anthropic {
    async fn ask(&self, call: &Call<'_>) -> Result<Exchange, ModelError> {
        let limit = call.request.timeout;
        match call.verbatim(Protocol::AnthropicMessages)? {
            None => self.http.post(&body(&self.model, call), limit).await,
            Some(verbatim) => {
                let there = Destination { headers: &verbatim.headers, ..Destination::default() };
                self.http.post_to(&there, &verbatim.body, limit).await
            }
        }
    }
}

fn body(model: &str, call: &Call<'_>) -> Value {
    let parts = call.user_parts().into_iter().map(|text| json!({"type": "text", "text": text}));
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("max_tokens".to_owned(), call.request.max_output_tokens.into());
    if let Some(system) = call.system() {
        body.insert("system".to_owned(), system.into());
    }
    if let Some(temperature) = call.temperature() {
        body.insert("temperature".to_owned(), temperature.into());
    }
    let content: Vec<Value> = parts.collect();
    let later = call.request.later.iter();
    let later = later.map(|turn| json!({"role": turn.role.as_str(), "content": turn.content}));
    let messages: Vec<Value> =
        std::iter::once(json!({"role": "user", "content": content})).chain(later).collect();
    body.insert("messages".to_owned(), messages.into());
    if let (Some(schema), Some(AnswerFormat::ForcedTool)) = (call.schema(), call.format()) {
        let name = tool_name(schema.name());
        let description = "Gives the answer. Call it exactly once.";
        body.insert(
            "tools".to_owned(),
            json!([{"name": name, "description": description, "input_schema": schema.value()}]),
        );
        let choice = json!({"type": "tool", "name": name, "disable_parallel_tool_use": true});
        body.insert("tool_choice".to_owned(), choice);
    }
    if !call.request.tools.is_empty() {
        // The fields have the names that the service wants.
        body.insert("tools".to_owned(), json!(call.request.tools));
    }
    body.into()
}

/// A name that the service accepts for a tool.
fn tool_name(name: &str) -> String {
    let accepted = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    name.chars().take(TOOL_NAME).map(accepted).collect()
}

fn read(exchange: &Exchange, call: &Call<'_>) -> Result<Reply, ModelError> {
    let message = exchange.json()?;
    let Some(blocks) = message["content"].as_array() else {
        return Err(exchange.malformed("a message without content"));
    };
    let texts: Vec<&str> = blocks
        .iter()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    let named = |block: &Value| {
        let name = block["name"].as_str()?.to_owned();
        Some(CalledTool { name, input: block["input"].clone() })
    };
    // The tool that a structured answer is forced into is none that the caller offered.
    let offered = calls.clone().filter(|_| call.has_tools());
    let stop_reason = message["stop_reason"].as_str().map(str::to_owned);
    let text = texts.concat();
    let flaw = match stop_reason.as_deref() {
        Some("max_tokens") if call.may_be_cut() => None,
        Some("max_tokens" | "model_context_window_exceeded") => Some(ModelError::OutputCut {
            max_output_tokens: call.request.max_output_tokens,
            text: cut(&text, MAX_KEPT),
        }),
        Some("refusal") => Some(ModelError::Refusal { message: cut(&text, MAX_KEPT) }),
        _ => None,
    };
    Ok(Reply {
        tool_calls: offered.filter_map(named).collect(),
        tool_inputs: calls.map(|block| block["input"].clone()).collect(),
        text,
        stop_reason,
        model: message["model"].as_str().map(str::to_owned),
        usage: usage(&message["usage"]),
        flaw,
        ..Reply::default()
    })
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |name: &str| usage[name].as_u64();
    Some(Usage {
        input_tokens: count("input_tokens")?,
        output_tokens: count("output_tokens")?,
        cache_read_tokens: count("cache_read_input_tokens").unwrap_or(0),
        cache_write_tokens: count("cache_creation_input_tokens").unwrap_or(0),
        reasoning_tokens: usage["output_tokens_details"]["thinking_tokens"].as_u64().unwrap_or(0),
        requests: Some(1),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_gets_a_name_that_the_service_accepts() {
        assert_eq!(tool_name("trigger report: 1/2"), "trigger-report--1-2");
        assert_eq!(tool_name(&"x".repeat(100)).len(), TOOL_NAME);
    }
}
