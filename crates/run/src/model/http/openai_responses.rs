//! OpenAI's Responses API, as far as a captured request of Codex needs it: a body that is there goes out, calls come back.
//!
//! Nothing else is asked this way: chat completions are what every compatible server has.

use serde_json::Value;
use skillgauge_format::transcript::Usage;

use crate::model::ask::wire::{Call, Fault, MAX_KEPT, Reply};
use crate::model::error::ModelError;
use crate::model::http::openai::{PATH, arguments};
use crate::model::http::status::rejected;
use crate::model::http::{Destination, Exchange, Http, cut};
use crate::model::request::Verbatim;
use crate::model::tool::CalledTool;

/// The path behind a base URL.
const RESPONSES: &str = "/responses";

/// Sends a body as it is.
pub(super) async fn ask(
    http: &Http,
    model: &str,
    verbatim: &Verbatim,
    call: &Call<'_>,
) -> Result<Reply, Fault> {
    let there = Destination { instead: Some((PATH, RESPONSES)), headers: &verbatim.headers };
    let exchange = http.post_to(&there, &verbatim.body, call.request.timeout).await?;
    if exchange.status != 200 {
        return Err(missing_path(rejected(&exchange, model)));
    }
    exchange.result(exchange.json().and_then(|response| read(&exchange, &response)))
}

/// A server that has chat completions only says that it does not find something, as with a model that it does not know.
fn missing_path(mut fault: Fault) -> Fault {
    if let ModelError::UnknownModel { message, .. } = &mut fault.error {
        message.push_str(
            " (a captured request of Codex needs a server with /responses; `--api-request built-in` does without)",
        );
    }
    fault
}

fn read(exchange: &Exchange, response: &Value) -> Result<Reply, ModelError> {
    let Some(items) = response["output"].as_array() else {
        return Err(exchange.malformed("a response without output"));
    };
    let messages = items.iter().filter(|item| item["type"] == "message");
    let parts = || {
        let contents = messages.clone().filter_map(|item| item["content"].as_array());
        contents.flatten()
    };
    let text: String = parts().filter_map(|part| part["text"].as_str()).collect();
    let refusal = parts().find_map(|part| part["refusal"].as_str());
    let stop_reason = response["incomplete_details"]["reason"]
        .as_str()
        .or_else(|| response["status"].as_str())
        .map(str::to_owned);
    let flaw = match (refusal, stop_reason.as_deref()) {
        (Some(refusal), _) => Some(ModelError::Refusal { message: cut(refusal, MAX_KEPT) }),
        (None, Some("content_filter")) => {
            Some(ModelError::Refusal { message: cut(&text, MAX_KEPT) })
        }
        (None, Some("failed")) => {
            let message = response["error"]["message"].as_str().unwrap_or("no reason was given");
            let message = cut(message, MAX_KEPT);
            Some(ModelError::Server { status: 200, message, retry_after_ms: None })
        }
        _ => None,
    };
    Ok(Reply {
        tool_calls: items.iter().filter_map(called).collect(),
        text,
        stop_reason,
        model: response["model"].as_str().map(str::to_owned),
        usage: usage(&response["usage"]),
        flaw,
        ..Reply::default()
    })
}

/// The call that an item is, if it is one.
fn called(item: &Value) -> Option<CalledTool> {
    let named = |input: Value| Some(CalledTool { name: item["name"].as_str()?.to_owned(), input });
    match item["type"].as_str()? {
        "function_call" => named(arguments(&item["arguments"])),
        "custom_tool_call" => named(item["input"].clone()),
        "local_shell_call" => {
            Some(CalledTool { name: "local_shell".to_owned(), input: item["action"].clone() })
        }
        _ => None,
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let cached = usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0);
    Some(Usage {
        // What the cache served is counted as input; our counts do not overlap.
        input_tokens: usage["input_tokens"].as_u64()?.saturating_sub(cached),
        output_tokens: usage["output_tokens"].as_u64().unwrap_or(0),
        cache_read_tokens: cached,
        cache_write_tokens: 0,
        reasoning_tokens: usage["output_tokens_details"]["reasoning_tokens"].as_u64().unwrap_or(0),
        requests: Some(1),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_value(response: &Value) -> Result<Reply, ModelError> {
        let exchange = Exchange {
            status: 200,
            request_id: None,
            retry_after: None,
            body: response.to_string(),
        };
        read(&exchange, response)
    }

    #[test]
    fn calls_of_every_kind_and_texts_are_read() {
        let reply = read_value(&json!({
            "status": "completed", "model": "m",
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\": \"ls\"}"},
                {"type": "function_call", "name": "broken", "arguments": "{"},
                {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"},
                {"type": "local_shell_call", "action": {"command": ["ls"]}},
            ],
            "usage": {"input_tokens": 130, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 30}},
        }))
        .unwrap();
        assert_eq!(reply.text, "I look.");
        let calls: Vec<(&str, Value)> =
            reply.tool_calls.iter().map(|call| (call.name.as_str(), call.input.clone())).collect();
        assert_eq!(
            calls,
            [
                ("exec_command", json!({"cmd": "ls"})),
                ("broken", json!("{")),
                ("apply_patch", json!("*** Begin")),
                ("local_shell", json!({"command": ["ls"]})),
            ]
        );
        let usage = reply.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.cache_read_tokens), (100, 30));
        assert!(reply.flaw.is_none());
    }

    #[test]
    fn a_refusal_and_a_failure_are_no_answers() {
        let refused = json!({"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]});
        assert!(matches!(read_value(&refused).unwrap().flaw, Some(ModelError::Refusal { .. })));
        let failed = json!({"status": "failed", "output": [], "error": {"message": "broken"}});
        assert!(matches!(read_value(&failed).unwrap().flaw, Some(ModelError::Server { .. })));
        assert!(matches!(read_value(&json!({})), Err(ModelError::Malformed { .. })));
    }
}
