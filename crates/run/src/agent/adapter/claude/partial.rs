//! Tool calls that are still being written (`--include-partial-messages`).
//!
//! The name of a skill is known as soon as the input's JSON is complete, before the message is. That is the earliest
//! sign of a trigger; it means *asked*, not loaded.

use std::collections::HashMap;

use serde_json::Value;

use super::super::stream::key;
use super::skill;

/// Calls that can be open at once.
const MAX_OPEN: usize = 100;
/// Bytes of input that are collected; a skill's name and arguments are shorter.
const MAX_INPUT: usize = 64 << 10;

/// The open calls of the skill tool, by sub-agent and block number.
#[derive(Debug, Default)]
pub(super) struct PartialCalls {
    open: HashMap<(String, u64), PartialCall>,
}

#[derive(Debug)]
struct PartialCall {
    id: String,
    tool: String,
    input: String,
}

impl PartialCalls {
    pub(super) fn start(&mut self, parent: &str, event: &Value) {
        let block = &event["content_block"];
        let tool = block["name"].as_str().unwrap_or_default();
        if block["type"].as_str() == Some("tool_use")
            && tool == skill::TOOL
            && self.open.len() < MAX_OPEN
        {
            let id = key(block["id"].as_str().unwrap_or_default());
            let call = PartialCall { id, tool: tool.to_owned(), input: String::new() };
            self.open.insert(place(parent, event), call);
        }
    }

    /// A content block grows: the call's id and the skill, once both are known.
    pub(super) fn delta(&mut self, parent: &str, event: &Value) -> Option<(String, String)> {
        let call = self.open.get_mut(&place(parent, event))?;
        let piece = event["delta"]["partial_json"].as_str()?;
        if call.input.len() + piece.len() > MAX_INPUT {
            return None;
        }
        call.input.push_str(piece);
        let input: Value = serde_json::from_str(&call.input).ok()?;
        let skill = skill::name_in(&call.tool, &input)?;
        Some((call.id.clone(), skill.to_owned()))
    }

    pub(super) fn stop(&mut self, parent: &str, event: &Value) {
        self.open.remove(&place(parent, event));
    }
}

fn place(parent: &str, event: &Value) -> (String, u64) {
    (key(parent), event["index"].as_u64().unwrap_or(0))
}
