//! The `result` event: how a run of Claude Code ended, and its totals.

use serde_json::Value;
use skillgauge_format::transcript::{ErrorLevel, Reason, Usage, UsageBasis};

use super::super::evidence::reason;
use super::super::stream::{Ending, Recorder};
use super::message::tokens;
use super::status_of;

/// How it ended. `said` is what the program said last in place of the model.
pub(super) fn ending(event: &Value, said: Option<Ending>, log: &mut Recorder) -> Ending {
    let text = event["result"].as_str();
    let failed =
        event["is_error"] == Value::Bool(true) || event["subtype"].as_str() != Some("success");
    if !failed {
        log.final_text = text.map(ToOwned::to_owned);
        // A limit that the program itself announced is one even if the model had worked before.
        return said
            .filter(|ending| ending.reason != Reason::Other)
            .unwrap_or_else(Ending::completed);
    }
    let message = message(event).unwrap_or_else(|| "the agent reported an error".to_owned());
    let status = status_of(event);
    let (found, status) = match (stop_reason(event), said) {
        (Some(found), _) => (found, status),
        (None, Some(said)) => (said.reason, status.or(said.status)),
        (None, None) => reason::classify(status, event["api_error_type"].as_str(), &message),
    };
    log.error(ErrorLevel::Error, found, status, &message);
    Ending::because(found, status, Some(&message))
}

/// What the result's own fields say, `subtype` being the least reliable.
fn stop_reason(event: &Value) -> Option<Reason> {
    match event["terminal_reason"].as_str() {
        Some("max_turns") => return Some(Reason::MaxTurns),
        Some("budget_exhausted") => return Some(Reason::Budget),
        Some("prompt_too_long") => return Some(Reason::ContextWindow),
        _ => {}
    }
    match event["subtype"].as_str() {
        Some("error_max_turns") => Some(Reason::MaxTurns),
        Some("error_max_budget_usd") => Some(Reason::Budget),
        _ if event["stop_reason"].as_str() == Some("refusal") => Some(Reason::Refusal),
        _ => None,
    }
}

fn message(event: &Value) -> Option<String> {
    if let Some(text) = event["result"].as_str() {
        return Some(text.to_owned());
    }
    let errors: Vec<&str> = event["errors"].as_array()?.iter().filter_map(Value::as_str).collect();
    (!errors.is_empty()).then(|| errors.join("; "))
}

/// Tokens, sub-agents included: `usage` leaves them out, `modelUsage` does not.
pub(super) fn usage(event: &Value, requests: Option<u64>) -> Option<Usage> {
    let mut sum = Usage { requests, basis: UsageBasis::Reported, ..Usage::default() };
    let models = event["modelUsage"].as_object().filter(|models| !models.is_empty());
    if let Some(models) = models {
        for model in models.values() {
            let count = |name: &str| model[name].as_u64().unwrap_or(0);
            sum.add_tokens(&Usage {
                input_tokens: count("inputTokens"),
                output_tokens: count("outputTokens"),
                cache_read_tokens: count("cacheReadInputTokens"),
                cache_write_tokens: count("cacheCreationInputTokens"),
                reasoning_tokens: count("thinkingTokens"),
                ..Usage::default()
            });
        }
        return Some(sum);
    }
    event["usage"].is_object().then(|| {
        sum.add_tokens(&tokens(&event["usage"]));
        sum
    })
}

/// The cost, unless the price of a model was made up.
pub(super) fn cost(event: &Value) -> Option<f64> {
    let mut models = event["modelUsage"].as_object().into_iter().flatten();
    let made_up = models.any(|(_, model)| model["costBasis"].as_str() == Some("unknown"));
    event["total_cost_usd"].as_f64().filter(|_| !made_up)
}
