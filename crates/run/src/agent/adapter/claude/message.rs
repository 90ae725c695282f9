//! Requests to the model and their tokens, from messages.
//!
//! `message.usage` of an `assistant` event is the value at the *start* of the message: its input is right, its output
//! is not. The final value comes in a `message_delta`, which is there only with partial messages, or in a message that
//! was not streamed. So the sum is used only when the run broke off before its `result`, and is a lower bound; the tokens
//! of one message are told with its first event, the output only when it is known.

use std::collections::HashMap;

use serde_json::Value;
use skillgauge_format::transcript::{StepTokens, Usage, UsageBasis};

use super::super::stream::{Recorder, key};

/// More requests than this are not told apart.
const MAX_MESSAGES: usize = 20_000;

/// The tokens of every message that was seen.
#[derive(Debug, Default)]
pub(super) struct MessageLedger {
    messages: HashMap<String, Message>,
    /// The message that is being streamed, by the sub-agent's tool call.
    streaming: HashMap<String, String>,
}

#[derive(Debug)]
struct Message {
    usage: Usage,
    /// Whether `usage` has the final output.
    is_final: bool,
    /// Its first event in the transcript.
    first_event: Option<usize>,
}

impl Message {
    fn take(&mut self, output_tokens: u64) {
        self.usage.output_tokens = self.usage.output_tokens.max(output_tokens);
        self.is_final = true;
    }

    fn tell(&self, log: &mut Recorder) {
        let Some(first) = self.first_event else { return };
        let Usage { input_tokens, cache_read_tokens, cache_write_tokens, .. } = self.usage;
        let parts = [input_tokens, cache_read_tokens, cache_write_tokens];
        let input = parts.into_iter().fold(0, u64::saturating_add);
        let output = self.is_final.then_some(self.usage.output_tokens);
        log.step_tokens(first, StepTokens { input, output });
    }
}

impl MessageLedger {
    /// An `assistant` event, whose own events are kept from `first_event` on; several carry the same message.
    pub(super) fn tell(&mut self, message: &Value, first_event: usize, log: &mut Recorder) {
        let is_kept = log.event_count() > first_event;
        let known = message["id"].as_str().and_then(|id| self.messages.get_mut(&key(id)));
        // A stream that states no usage states no tokens: not zero.
        let Some(known) = known.filter(|_| is_kept && message["usage"].is_object()) else { return };
        known.first_event.get_or_insert(first_event);
        known.tell(log);
    }

    /// An `assistant` event; several carry the same message.
    pub(super) fn see(&mut self, message: &Value) {
        let Some(id) = message["id"].as_str().map(key) else { return };
        let mut usage = tokens(&message["usage"]);
        let output_tokens = std::mem::take(&mut usage.output_tokens);
        if self.messages.len() < MAX_MESSAGES || self.messages.contains_key(&id) {
            let begun = Message { usage, is_final: false, first_event: None };
            let known = self.messages.entry(id).or_insert(begun);
            if !message["stop_reason"].is_null() {
                known.take(output_tokens);
            }
        }
    }

    /// A message begins to be streamed.
    pub(super) fn start(&mut self, parent: &str, message: &Value) {
        self.see(message);
        if let Some(id) = message["id"].as_str()
            && self.streaming.len() < MAX_MESSAGES
        {
            self.streaming.insert(key(parent), key(id));
        }
    }

    /// A streamed message ends: this is its final usage.
    pub(super) fn end(
        &mut self,
        parent: &str,
        id: Option<&str>,
        usage: &Value,
        log: &mut Recorder,
    ) {
        let id = id.map(key).or_else(|| self.streaming.get(&key(parent)).cloned());
        if let Some(known) = id.and_then(|id| self.messages.get_mut(&id)) {
            known.take(tokens(usage).output_tokens);
            known.tell(log);
        }
    }

    /// How many requests were seen; `None` if there was no message at all.
    pub(super) fn requests(&self) -> Option<u64> {
        (!self.messages.is_empty()).then_some(self.messages.len() as u64)
    }

    /// What was used until the stream broke off.
    pub(super) fn partial_usage(&self) -> Option<Usage> {
        let requests = self.requests()?;
        let mut sum =
            Usage { requests: Some(requests), basis: UsageBasis::Partial, ..Usage::default() };
        #[expect(clippy::iter_over_hash_type, reason = "a sum does not depend on the order")]
        for message in self.messages.values() {
            sum.add_tokens(&message.usage);
        }
        Some(sum)
    }
}

/// The tokens of a `usage` object.
pub(super) fn tokens(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    Usage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cache_read_tokens: count("cache_read_input_tokens"),
        cache_write_tokens: count("cache_creation_input_tokens"),
        reasoning_tokens: usage["output_tokens_details"]["thinking_tokens"].as_u64().unwrap_or(0),
        requests: None,
        basis: UsageBasis::Reported,
    }
}
