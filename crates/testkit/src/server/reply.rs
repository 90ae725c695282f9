//! What the scripted model says, independent of the protocol that carries it.
//!
//! A rule holds a [`Reply`]; the protocol modules turn it into bytes. Texts may hold the placeholders `{{cwd}}` (the
//! work folder that the agent named in its request), `{{prompt}}` and `{{request}}` (the request's number), because a
//! script is written before anybody knows them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::RequestView;

/// One answer of the scripted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    /// The parts of the answer, in order.
    pub blocks: Vec<Block>,
    /// The token counts that the answer reports.
    pub usage: Usage,
    pub stop: Stop,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    Text(String),
    /// Thinking that comes before the answer; chat completions has no place for it and leaves it out.
    Thinking(String),
    Tool(ToolCall),
    /// A structured answer: the arguments of the tool that the request has for it, otherwise JSON text.
    Json(Value),
}

/// A tool call of the scripted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    pub name: String,
    /// Its arguments. In the Responses protocol a string makes a custom tool call, anything else a function call.
    pub input: Value,
}

/// Token counts; the defaults are easy to recognise in a client's own accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Input tokens that no cache served.
    pub input: u64,
    pub output: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache; only Anthropic reports them.
    pub cache_write: u64,
    /// Output tokens spent on reasoning.
    pub reasoning: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Because it was done, or because it wants tools: the blocks decide.
    #[default]
    Natural,
    /// Because it ran into the output limit.
    MaxTokens,
    Refusal,
    /// For a reason in the protocol's own words.
    Other(String),
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 1000, output: 50, cache_read: 300, cache_write: 20, reasoning: 7 }
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self::text("An answer from the script.")
    }
}

impl Reply {
    /// An answer without parts; add them with [`Reply::and`].
    pub fn empty() -> Self {
        Self { blocks: Vec::new(), usage: Usage::default(), stop: Stop::Natural }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::empty().and(Block::Text(text.into()))
    }

    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::empty().and(Block::Tool(ToolCall { name: name.into(), input }))
    }

    pub fn json(value: Value) -> Self {
        Self::empty().and(Block::Json(value))
    }

    #[must_use]
    pub fn and(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the reason to stop.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Whether the answer calls a tool.
    pub(super) fn calls_tools(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Tool(_)))
    }

    /// The reply to one request: placeholders filled in, structured answers given the form that the request asks for.
    pub(super) fn settled(&self, view: &RequestView, number: u32) -> Self {
        let number = number.to_string();
        let fill = |text: &str| {
            text.replace("{{cwd}}", view.cwd.as_deref().unwrap_or("."))
                .replace("{{prompt}}", &view.prompt)
                .replace("{{request}}", &number)
        };
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Text(text) => Block::Text(fill(text)),
            Block::Thinking(text) => Block::Thinking(fill(text)),
            Block::Tool(call) => Block::Tool(ToolCall {
                name: call.name.clone(),
                input: map_strings(&call.input, &fill),
            }),
            Block::Json(value) => {
                let value = map_strings(value, &fill);
                match view.structured_tool() {
                    Some(name) => Block::Tool(ToolCall { name: name.to_owned(), input: value }),
                    None => Block::Text(value.to_string()),
                }
            }
        });
        Self { blocks: blocks.collect(), usage: self.usage, stop: self.stop.clone() }
    }
}

/// The same value with every string in it rewritten; keys stay.
fn map_strings(value: &Value, rewrite: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(rewrite(text)),
        Value::Array(items) => items.iter().map(|item| map_strings(item, rewrite)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, item)| (key.clone(), map_strings(item, rewrite)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Cuts a text into the pieces that a stream sends one by one: words with the white space after them.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word_end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let end = rest[word_end..]
            .find(|letter: char| !letter.is_whitespace())
            .map_or(rest.len(), |gap| word_end + gap);
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// Cuts a text in two near the middle, never inside a character: arguments of tools arrive in pieces.
pub(super) fn halves(text: &str) -> [&str; 2] {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    let (first, second) = text.split_at(middle);
    [first, second]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn placeholders_are_filled_at_any_depth() {
        let view = RequestView {
            cwd: Some("/w".into()),
            prompt: "do it".into(),
            ..RequestView::default()
        };
        let reply = Reply::tool("Write", json!({"a": ["{{cwd}}/x", 1], "b": {"c": "{{prompt}}"}}))
            .settled(&view, 4);
        let expected = json!({"a": ["/w/x", 1], "b": {"c": "do it"}});
        assert_eq!(reply.blocks, [Block::Tool(ToolCall { name: "Write".into(), input: expected })]);
    }

    #[test]
    fn a_structured_answer_goes_where_the_request_wants_it() {
        let reply = Reply::json(json!({"score": 4}));
        let plain = reply.settled(&RequestView::default(), 1);
        assert_eq!(plain.blocks, [Block::Text(r#"{"score":4}"#.into())]);

        let forced = RequestView { forced_tool: Some("grade".into()), ..RequestView::default() };
        let call = ToolCall { name: "grade".into(), input: json!({"score": 4}) };
        assert_eq!(reply.settled(&forced, 1).blocks, [Block::Tool(call)]);

        let offered =
            RequestView { tools: vec!["StructuredOutput".into()], ..RequestView::default() };
        let call = ToolCall { name: "StructuredOutput".into(), input: json!({"score": 4}) };
        assert_eq!(reply.settled(&offered, 1).blocks, [Block::Tool(call)]);
    }

    proptest! {
        #[test]
        fn pieces_of_a_text_make_the_text_again(text in "\\PC{0,40}|[ \\n\\té漢a]{0,40}") {
            prop_assert_eq!(words(&text).concat(), text.clone());
            prop_assert_eq!(halves(&text).concat(), text);
        }
    }
}
