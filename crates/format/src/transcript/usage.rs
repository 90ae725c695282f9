//! Tokens, counted the same way for every agent.
//!
//! Agents disagree on what "input" means (Codex and Gemini include the cache, Claude Code and opencode do not) and
//! on whether reasoning is part of the output (Gemini: no). Here the four token counts never overlap, so that they
//! can be priced and compared between agents.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;

/// The tokens of a run, sub-agents included. Input, cache read, cache write and output do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the cache.
    pub input_tokens: u64,
    /// Generated tokens, reasoning included.
    pub output_tokens: u64,
    /// Input tokens that came from the cache.
    pub cache_read_tokens: u64,
    /// Input tokens that were written to the cache.
    pub cache_write_tokens: u64,
    /// The part of `output_tokens` that was reasoning.
    pub reasoning_tokens: u64,
    /// Model requests that the stream shows; absent where it shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Whether this is the agent's own total or what was seen before the stream broke off.
    pub basis: UsageBasis,
}

impl Usage {
    /// All tokens that went in or came out.
    pub fn total_tokens(&self) -> u64 {
        [self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Adds the tokens of another request; the basis and the number of requests stay.
    pub fn add_tokens(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}

impl UsageBasis {
    /// Whether the count is the whole and not a lower bound.
    pub fn is_reported(&self) -> bool {
        *self == Self::Reported
    }
}

/// What the token counts rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageBasis {
    /// The agent reported it at the end.
    #[default]
    Reported,
    /// The run ended early: the sum of what was reported until then, so the truth is this or more.
    Partial,
}
