//! One request seen without its protocol: what was asked, what surrounds it, what tools said.
//!
//! The protocol modules fill a [`RequestView`] through [`Reading`]; matching, replies and tests only look at the view.
//! Reading never fails: a body that makes no sense gives an empty view, and the record keeps the body as it came.

use serde_json::Value;

use super::protocol::Protocol;
use super::{anthropic, gemini, openai_chat, openai_responses};

/// Whether the client wants the answer in pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transfer {
    #[default]
    Whole,
    Stream,
}

/// What a request for an answer says, whatever its protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestView {
    /// The model that is asked.
    pub model: String,
    /// How the answer is to be sent.
    pub transfer: Transfer,
    /// The task: the last plain text of the user before the model first spoke.
    pub prompt: String,
    /// Everything that the user said since the model last spoke, without tool results.
    pub last_user: String,
    /// System prompt, developer messages and reminders; skill listings are in here.
    pub context: String,
    /// The results of tools, oldest first.
    pub tool_results: Vec<String>,
    /// The names of the tools on offer.
    pub tools: Vec<String>,
    /// The tool that the model must call, if the request says so.
    pub forced_tool: Option<String>,
    /// The agent's work folder, where the request names it.
    pub cwd: Option<String>,
    /// Whether a chat stream is to end with its usage; real servers leave it out unless they are asked.
    pub include_usage: bool,
}

impl RequestView {
    /// Reads a request body. The path matters for Gemini, which puts model and transfer there.
    pub(super) fn read(protocol: Protocol, path: &str, body: &Value) -> Self {
        let mut reading = Reading::default();
        match protocol {
            Protocol::Anthropic => anthropic::read(body, &mut reading),
            Protocol::OpenaiChat => openai_chat::read(body, &mut reading),
            Protocol::OpenaiResponses => openai_responses::read(body, &mut reading),
            Protocol::Gemini => gemini::read(path, body, &mut reading),
        }
        reading.finish()
    }

    /// The tool that takes a structured answer: the forced one, or the one that Claude Code offers for `--json-schema`.
    pub(super) fn structured_tool(&self) -> Option<&str> {
        let offered = self.tools.iter().find(|tool| *tool == "StructuredOutput");
        self.forced_tool.as_ref().or(offered).map(String::as_str)
    }
}

/// A view while it is being filled, in the order of the conversation.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) view: RequestView,
    context: Vec<String>,
    user: Vec<String>,
    phase: Phase,
}

/// Whether the model has spoken yet.
#[derive(Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Asked,
    Answered,
}

/// How texts begin that agents put into user messages on their own account.
const WRAPPERS: &[&str] = &[
    "<system-reminder>",
    "<environment_context>",
    "<user_instructions>",
    "<skills_instructions>",
    "<session_context>",
    "# AGENTS.md instructions",
];

impl Reading {
    /// Takes the fields `model` and `stream`, which all protocols but Gemini have in common.
    pub(super) fn model_and_transfer(&mut self, body: &Value) {
        body["model"].as_str().unwrap_or_default().clone_into(&mut self.view.model);
        self.view.transfer = match body["stream"].as_bool() {
            Some(true) => Transfer::Stream,
            Some(false) | None => Transfer::Whole,
        };
    }

    /// Adds a text of the system or of the agent itself.
    pub(super) fn context(&mut self, text: &str) {
        self.context.push(text.to_owned());
    }

    /// Adds a text in the user's name, which may really be the agent's.
    pub(super) fn user(&mut self, text: &str) {
        if WRAPPERS.iter().any(|wrapper| text.trim_start().starts_with(wrapper)) {
            self.context(text);
            return;
        }
        if self.phase == Phase::Asked {
            text.clone_into(&mut self.view.prompt);
        }
        self.user.push(text.to_owned());
    }

    /// Notes that the model spoke here.
    pub(super) fn assistant(&mut self) {
        self.phase = Phase::Answered;
        self.user.clear();
    }

    /// Adds the result of a tool.
    pub(super) fn tool_result(&mut self, text: String) {
        self.view.tool_results.push(text);
    }

    /// Adds a tool on offer.
    pub(super) fn tool(&mut self, name: &str) {
        self.view.tools.push(name.to_owned());
    }

    fn finish(mut self) -> RequestView {
        self.view.context = self.context.join("\n");
        self.view.last_user = self.user.join("\n");
        self.view.cwd = find_cwd(&self.view.context);
        self.view
    }
}

/// Finds the work folder in the words that Claude Code and Codex use for it.
fn find_cwd(context: &str) -> Option<String> {
    const MARKS: &[(&str, char)] = &[("Primary working directory: ", '\n'), ("<cwd>", '<')];
    MARKS.iter().find_map(|(start, end)| {
        let (_, rest) = context.split_once(start)?;
        Some(rest.split(*end).next().unwrap_or(rest).trim().to_owned())
    })
}

/// The text of a content field that may be a string or a list of parts with a `text`.
pub(super) fn flat_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// The items of a list; none when the value is not a list.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claude_request_shows_prompt_listing_and_work_folder() {
        let view = RequestView::read(
            Protocol::Anthropic,
            "/v1/messages",
            &json!({
                "model": "m", "stream": true,
                "system": [{"type": "text", "text": "be good"}],
                "tools": [{"name": "Skill"}, {"name": "Write"}],
                "messages": [
                    {"role": "user", "content": [
                        {"type": "text", "text": "<system-reminder>\n - Primary working directory: /w/x\n - more"},
                        {"type": "text", "text": "<system-reminder>\n- csv-report: makes reports"},
                        {"type": "text", "text": "Make a report"},
                    ]},
                    {"role": "assistant", "content": [{"type": "tool_use", "name": "Skill"}]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "content": "Launching skill: csv-report"},
                        {"type": "text", "text": "Base directory for this skill"},
                    ]},
                ],
            }),
        );
        assert_eq!(view.prompt, "Make a report");
        assert_eq!(view.last_user, "Base directory for this skill");
        assert_eq!(view.tool_results, ["Launching skill: csv-report"]);
        assert_eq!(view.tools, ["Skill", "Write"]);
        assert_eq!(view.cwd.as_deref(), Some("/w/x"));
        assert_eq!(view.transfer, Transfer::Stream);
        assert!(view.context.contains("be good") && view.context.contains("- csv-report:"));
    }

    #[test]
    fn a_codex_request_shows_prompt_listing_and_work_folder() {
        let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
        let view = RequestView::read(
            Protocol::OpenaiResponses,
            "/v1/responses",
            &json!({
                "model": "m", "instructions": "base",
                "input": [
                    message("developer", "<skills_instructions>\n- csv-report: makes reports"),
                    message("user", "<environment_context>\n  <cwd>/w/y</cwd>"),
                    message("user", "Make a report"),
                    {"type": "function_call", "name": "exec_command", "arguments": "{}"},
                    {"type": "function_call_output", "output": "listing"},
                    {"type": "custom_tool_call", "name": "apply_patch", "input": ""},
                    {"type": "custom_tool_call_output", "output": [{"type": "input_text", "text": "patched"}]},
                ],
                "tools": [{"type": "function", "name": "exec_command"}, {"type": "web_search"}],
            }),
        );
        assert_eq!(view.prompt, "Make a report");
        assert_eq!(view.last_user, "");
        assert_eq!(view.tool_results, ["listing", "patched"]);
        assert_eq!(view.tools, ["exec_command", "web_search"]);
        assert_eq!(view.cwd.as_deref(), Some("/w/y"));
        assert!(view.context.contains("base") && view.context.contains("- csv-report:"));
    }

    #[test]
    fn a_chat_request_shows_its_last_message_and_forced_tool() {
        let view = RequestView::read(
            Protocol::OpenaiChat,
            "/v1/chat/completions",
            &json!({
                "messages": [
                    {"role": "system", "content": "judge"},
                    {"role": "user", "content": "first"},
                    {"role": "assistant", "content": "wrong"},
                    {"role": "tool", "content": "42"},
                    {"role": "user", "content": [{"type": "text", "text": "repair it"}]},
                ],
                "tools": [{"type": "function", "function": {"name": "grade"}}],
                "tool_choice": {"type": "function", "function": {"name": "grade"}},
            }),
        );
        assert_eq!((view.prompt.as_str(), view.last_user.as_str()), ("first", "repair it"));
        assert_eq!(view.tool_results, ["42"]);
        assert_eq!(view.forced_tool.as_deref(), Some("grade"));
        assert_eq!(view.transfer, Transfer::Whole);
    }

    #[test]
    fn a_gemini_request_takes_model_and_transfer_from_its_path() {
        let view = RequestView::read(
            Protocol::Gemini,
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
            &json!({
                "systemInstruction": {"parts": [{"text": "<available_skills>"}]},
                "contents": [
                    {"role": "user", "parts": [{"text": "Make a report"}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "activate_skill"}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "activate_skill", "response": {"output": "done"}}}]},
                ],
                "tools": [{"functionDeclarations": [{"name": "activate_skill"}]}],
            }),
        );
        assert_eq!((view.model.as_str(), view.transfer), ("gemini-2.5-pro", Transfer::Stream));
        assert_eq!(view.prompt, "Make a report");
        assert_eq!(view.tool_results, [r#"{"output":"done"}"#]);
        assert_eq!(view.tools, ["activate_skill"]);
    }

    #[test]
    fn a_body_that_makes_no_sense_gives_an_empty_view() {
        for body in [
            json!(null),
            json!([1]),
            json!({"messages": 7, "input": {}, "contents": "x", "tools": 1}),
        ] {
            for protocol in [
                Protocol::Anthropic,
                Protocol::OpenaiChat,
                Protocol::OpenaiResponses,
                Protocol::Gemini,
            ] {
                let view = RequestView::read(protocol, "/p", &body);
                assert_eq!(view, RequestView::default(), "{protocol:?} {body}");
            }
        }
    }
}
