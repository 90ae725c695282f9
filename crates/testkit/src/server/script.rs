//! The script: an ordered list of rules that says what the server answers to which request.
//!
//! Tests build it with the functions here, the binary reads the same thing as JSON. The first rule that matches and is
//! not used up answers; the order of the rules is the only priority there is.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::protocol::Protocol;
use super::reply::Reply;

/// What the server does, from its first request to its last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// The rules, tried from the first to the last for each request.
    pub rules: Vec<Rule>,
    /// How far the chat protocol goes along with `response_format`.
    pub structured_output: StructuredOutput,
    /// The names that the list of models shows; a single stand-in when empty.
    pub models: Vec<String>,
}

/// How far the chat protocol goes along with `response_format`: compatible servers differ here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutput {
    /// `json_schema` and `json_object` are accepted.
    #[default]
    Schema,
    /// `json_schema` is refused with a 400, `json_object` is accepted.
    ObjectOnly,
    /// Any `response_format` is refused with a 400.
    Refused,
}

/// One rule: for which requests, how often, and what they get.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// A name for the record, so that a test can say which rule it expects.
    pub name: Option<String>,
    /// What a request must look like; an empty condition matches everything.
    pub when: When,
    /// How many requests the rule answers before it is passed over; without limit when absent.
    pub times: Option<u32>,
    /// What the model says; a short stand-in text when absent, so that a fault alone is a rule.
    pub reply: Option<Reply>,
    /// What goes wrong while it says so.
    pub faults: Vec<Fault>,
}

/// Conditions on a request; all that are set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// The request speaks this protocol.
    pub protocol: Option<Protocol>,
    /// The request names exactly this model.
    pub model: Option<String>,
    /// The task, that is the last plain text before the model first spoke, contains this.
    pub prompt_contains: Option<String>,
    /// What the user said since the model last spoke contains this; tool results do not count.
    pub last_user_contains: Option<String>,
    /// The system prompt, developer messages, or reminders that the agent adds contain this; skill listings are there.
    pub context_contains: Option<String>,
    /// The same text, but it must be absent.
    pub context_lacks: Option<String>,
    /// What the conversation has to show in tool results.
    pub tool_result: Option<ToolResult>,
    /// The request offers a tool of this name.
    pub offers_tool: Option<String>,
    /// A header is there and contains a text.
    pub header: Option<HeaderText>,
    /// The request is the n-th that asked for an answer, counted from 1 over the server's life.
    pub nth: Option<u32>,
}

/// A condition on the tool results of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolResult {
    Absent,
    /// There is at least one.
    Present,
    /// There are exactly so many: which turn of an agent's loop this is, without any state in the server.
    Count(usize),
    /// The last one contains a text.
    Contains(String),
}

/// A condition on one header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderText {
    /// The header's name, in any case.
    pub name: String,
    /// What its value must contain; an empty text asks for presence only.
    #[serde(default)]
    pub contains: String,
}

/// Why a script could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file could not be read.
    #[error("could not read the script")]
    Read(#[source] std::io::Error),
    /// The text is not a script.
    #[error("not a script")]
    Parse(#[source] serde_json::Error),
    /// A rule has neither a reply nor a fault, so it says nothing.
    #[error("rule {index} has neither a reply nor a fault")]
    EmptyRule {
        /// Position of the rule, from 0.
        index: usize,
    },
    /// A rule answers with a status or a header that HTTP does not allow.
    #[error("rule {index} has a status or header that HTTP does not allow: {what}")]
    BadHead {
        /// Position of the rule, from 0.
        index: usize,
        what: String,
    },
}

impl Script {
    /// A script without rules: every request for an answer is unmatched.
    pub fn new() -> Self {
        Self::default()
    }

    /// A script that gives every request the same reply.
    pub fn always(reply: Reply) -> Self {
        Self::new().rule(Rule::reply(reply))
    }

    /// Adds a rule after the ones that are there.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets how far the chat protocol goes along with `response_format`.
    #[must_use]
    pub fn structured_output(mut self, support: StructuredOutput) -> Self {
        self.structured_output = support;
        self
    }

    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        let script: Self = serde_json::from_str(text).map_err(ScriptError::Parse)?;
        script.check()?;
        Ok(script)
    }

    /// Finds what no server could do.
    pub(super) fn check(&self) -> Result<(), ScriptError> {
        for (index, rule) in self.rules.iter().enumerate() {
            if rule.reply.is_none() && rule.faults.is_empty() {
                return Err(ScriptError::EmptyRule { index });
            }
            if let Some(what) = rule.faults.iter().find_map(Fault::not_http) {
                return Err(ScriptError::BadHead { index, what });
            }
        }
        Ok(())
    }

    /// Reads the JSON form from a file.
    pub fn from_file(path: &Path) -> Result<Self, ScriptError> {
        Self::from_json(&fs_err::read_to_string(path).map_err(ScriptError::Read)?)
    }
}

impl Rule {
    /// A rule that answers with a reply.
    pub fn reply(reply: Reply) -> Self {
        Self { reply: Some(reply), ..Self::default() }
    }

    /// A rule that answers with a fault.
    pub fn fault(fault: Fault) -> Self {
        Self { faults: vec![fault], ..Self::default() }
    }

    /// Adds a fault to what the rule already does.
    #[must_use]
    pub fn and_fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Gives the rule a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Lets the rule answer so many requests and no more.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Replaces the rule's conditions.
    #[must_use]
    pub fn when(mut self, when: When) -> Self {
        self.when = when;
        self
    }

    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.when.protocol = Some(protocol);
        self
    }

    /// Asks for a text in the task.
    #[must_use]
    pub fn prompt(mut self, text: impl Into<String>) -> Self {
        self.when.prompt_contains = Some(text.into());
        self
    }

    /// Asks for a text in what the user said last.
    #[must_use]
    pub fn last_user(mut self, text: impl Into<String>) -> Self {
        self.when.last_user_contains = Some(text.into());
        self
    }

    /// Asks for a text in the system prompt or a listing.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.when.context_contains = Some(text.into());
        self
    }

    /// Asks that a text is in neither the system prompt nor a listing.
    #[must_use]
    pub fn context_without(mut self, text: impl Into<String>) -> Self {
        self.when.context_lacks = Some(text.into());
        self
    }

    /// Asks for a state of the tool results.
    #[must_use]
    pub fn tool_result(mut self, state: ToolResult) -> Self {
        self.when.tool_result = Some(state);
        self
    }

    /// Asks that a tool is offered.
    #[must_use]
    pub fn offers(mut self, tool: impl Into<String>) -> Self {
        self.when.offers_tool = Some(tool.into());
        self
    }

    /// Asks for a text in a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, contains: impl Into<String>) -> Self {
        self.when.header = Some(HeaderText { name: name.into(), contains: contains.into() });
        self
    }

    /// Asks for the n-th request, from 1.
    #[must_use]
    pub fn nth(mut self, nth: u32) -> Self {
        self.when.nth = Some(nth);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_builder_makes_survives_its_json_form() {
        let script = Script::new()
            .structured_output(StructuredOutput::ObjectOnly)
            .rule(Rule::fault(Fault::status(429).retry_after("1")).times(2).named("limit"))
            .rule(
                Rule::reply(Reply::tool("Skill", serde_json::json!({"skill": "csv-report"})))
                    .protocol(Protocol::Anthropic)
                    .prompt("report")
                    .context("csv-report")
                    .tool_result(ToolResult::Count(0))
                    .header("x-app", "cli")
                    .nth(3),
            );
        let text = serde_json::to_string(&script).unwrap();
        assert_eq!(Script::from_json(&text).unwrap(), script);
    }

    #[test]
    fn a_rule_that_says_nothing_is_refused_by_its_position() {
        let error =
            Script::from_json(r#"{"rules":[{"faults":["drop"]},{"times":1}]}"#).unwrap_err();
        assert!(matches!(error, ScriptError::EmptyRule { index: 1 }), "{error:?}");
    }

    #[test]
    fn a_status_or_header_that_http_does_not_allow_is_refused() {
        for fault in [
            Fault::status(99),
            Fault::status(429).retry_after("1\n2"),
            Fault::status(500).with_header("no spaces", "x"),
        ] {
            let error = Script::new().rule(Rule::fault(fault.clone())).check().unwrap_err();
            assert!(matches!(error, ScriptError::BadHead { index: 0, .. }), "{fault:?}");
        }
    }

    #[test]
    fn a_misspelt_condition_is_refused() {
        let error = Script::from_json(r#"{"rules":[{"when":{"promt":"x"},"faults":["drop"]}]}"#)
            .unwrap_err();
        let ScriptError::Parse(source) = error else { panic!("{error:?}") };
        assert!(source.to_string().contains("promt"), "{source}");
    }
}
