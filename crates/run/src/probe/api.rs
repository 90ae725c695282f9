//! A probe without an agent: one model request, as the agent would send it.
//!
//! For a fraction of the price it shows what the model would do first. It is not the agent: a skill that the agent would load
//! after looking around counts as not triggered. Where the agent's own request could not be captured, the request has the
//! list of skills in Claude Code's form, and a short system text and tools in our words. So the report says how it was
//! measured, and `--calibrate` tells how well both agree.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillgauge_core::trigger::{Observation, Steps};
use skillgauge_format::transcript::{Reason, names_skill};
use skillgauge_format::trigger::{Turn, TurnRole};

use super::capture::{CapturedRequest, Offer};
use super::surroundings::Surroundings;
use crate::agent::adapter::skills_asked_for;
use crate::model::{
    CalledTool, Failure, ModelError, ModelName, OfferedTool, Protocol, ProviderKind, Purpose,
    Request, Response,
};

/// The most that the model may write: enough for a first sentence and a call.
pub const MAX_OUTPUT_TOKENS: u32 = 1024;

/// The tool that loads a skill.
const SKILL_TOOL: &str = "Skill";

/// The tool of Codex that writes files.
const PATCH_TOOL: &str = "apply_patch";

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiAsk {
    pub model: ModelName,
    pub prompt: String,
    /// The names of the skills that can be loaded.
    pub skills: Vec<String>,
    /// What the model is offered.
    pub offer: Offer,
    /// Earlier messages of the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// The names of the files in the work folder, where the offer doesn't know them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Project instructions, where the offer doesn't know them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// How long the request may take, in milliseconds.
    pub timeout_ms: u64,
}

impl ApiAsk {
    /// A question to a model that is offered these skills.
    pub fn new(
        model: ModelName,
        prompt: impl Into<String>,
        skills: Vec<String>,
        offer: Offer,
        timeout: Duration,
    ) -> Self {
        Self {
            model,
            prompt: prompt.into(),
            skills,
            offer,
            turns: Vec::new(),
            files: Vec::new(),
            context: None,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The same question with what surrounds it. A captured request has the files and the instructions in it.
    pub(super) fn surrounded(mut self, around: &Surroundings) -> Self {
        self.turns.clone_from(&around.turns);
        if matches!(self.offer, Offer::BuiltIn(_)) {
            self.files = around.files();
            self.context.clone_from(&around.context);
        }
        self
    }

    /// The first message of the user, and those that come after it: the query is the last one.
    fn conversation(&self) -> (&str, Vec<Turn>) {
        let query = || Turn { role: TurnRole::User, content: self.prompt.clone() };
        match self.turns.split_first() {
            None => (&self.prompt, Vec::new()),
            Some((first, rest)) => {
                (&first.content, rest.iter().cloned().chain([query()]).collect())
            }
        }
    }

    /// The agent whose request it is, and its version.
    pub(super) fn agent(&self) -> Option<(&str, Option<&str>)> {
        match &self.offer {
            Offer::Captured(captured) => Some((&captured.agent, captured.version.as_deref())),
            Offer::BuiltIn(_) => None,
        }
    }

    pub(super) fn request(&self) -> Request {
        let timeout = Duration::from_millis(self.timeout_ms);
        match &self.offer {
            Offer::Captured(captured) => {
                let name = match &self.model {
                    ModelName::Of { name, .. } => name.as_str(),
                    ModelName::Auto => "auto",
                };
                let (first, later) = self.conversation();
                let body = captured.for_conversation(first, &later, name);
                Request::text(Purpose::new("probe"), first)
                    .then(later)
                    .verbatim(body)
                    .timeout(timeout)
            }
            Offer::BuiltIn(lines) => self.built_in(lines).timeout(timeout),
        }
    }

    fn built_in(&self, lines: &[String]) -> Request {
        let list = format!(
            "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n{}\n</system-reminder>",
            lines.join("\n")
        );
        let role = "You are a coding agent in a terminal. You carry out what the user asks for with the tools that you have, \
                    in the user's working folder.";
        let purpose = Purpose::new("probe");
        let mut list = list;
        let files = self.files.join(", ");
        for (what, text) in [
            ("The project's instructions", self.context.as_deref().unwrap_or_default()),
            ("Files in the working folder", files.as_str()),
        ] {
            if !text.is_empty() {
                let _ = write!(list, "\n<system-reminder>\n{what}:\n\n{text}\n</system-reminder>");
            }
        }
        let (first, later) = self.conversation();
        // Claude Code sends the list as a block of its own before the query; a chat has one text only for the user.
        let request = match &self.model {
            ModelName::Of { provider: ProviderKind::OpenAi, .. } => {
                Request::text(purpose, first).system(format!("{role}\n\n{list}"))
            }
            _ => Request::text(purpose, list).and(first).system(role),
        };
        let mut request = request.then(later).tools(tools());
        request.max_output_tokens = MAX_OUTPUT_TOKENS;
        request
    }

    pub(super) fn observe(&self, response: &Response) -> Observation {
        let asked: Vec<String> = match &self.offer {
            Offer::Captured(captured) if captured.protocol == Protocol::OpenaiResponses => {
                response.tool_calls.iter().flat_map(|call| self.read_by(call, captured)).collect()
            }
            Offer::Captured(_) | Offer::BuiltIn(_) => {
                response.tool_calls.iter().filter_map(asked_skill).map(str::to_owned).collect()
            }
        };
        let is_there = |name: &String| self.skills.iter().any(|skill| names_skill(name, skill));
        let (loaded, unknown): (Vec<String>, Vec<String>) = asked.into_iter().partition(is_there);
        let mut seen = Observation::completed(loaded);
        seen.denied = unknown;
        let calls = response.tool_calls.iter().map(|call| (call.name.as_str(), &call.input));
        seen.steps = Steps::of_calls(calls, &response.text);
        seen
    }

    /// The skills whose SKILL.md a call of Codex would read; it has no tool for skills.
    fn read_by(&self, call: &CalledTool, captured: &CapturedRequest) -> Vec<String> {
        let skills: Vec<_> = self.skills.iter().map(|name| captured.installed(name)).collect();
        let mut commands = Vec::new();
        texts(&call.input, &mut commands);
        // A patch names files that it writes.
        let is_command = call.name != PATCH_TOOL;
        let asked = |command: &&str| skills_asked_for(command, &skills);
        commands.iter().filter(|_| is_command).flat_map(asked).collect()
    }

    /// What a failure shows: nothing about any skill.
    pub(super) fn observe_failure(failure: &Failure) -> Observation {
        Observation::failed(reason(&failure.error), failure.error.to_string())
    }
}

/// The skill that a call asks for.
fn asked_skill(call: &CalledTool) -> Option<&str> {
    (call.name == SKILL_TOOL).then(|| call.input["skill"].as_str()).flatten()
}

fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| texts(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Why there is no answer, in the words of a transcript.
fn reason(error: &ModelError) -> Reason {
    if let Some(problem) = error.problem()
        && let crate::pool::Cause::Reason(reason) = problem.cause
    {
        return reason;
    }
    match error {
        ModelError::NoKey { .. } | ModelError::NotLoggedIn { .. } => Reason::NotLoggedIn,
        ModelError::BadKey { .. } => Reason::Authentication,
        ModelError::NoCredit { .. } => Reason::Billing,
        ModelError::UnknownModel { .. } => Reason::ModelNotFound,
        ModelError::BadRequest { .. } => Reason::BadRequest,
        ModelError::Refusal { .. } => Reason::Refusal,
        ModelError::OutputCut { .. } => Reason::MaxOutputTokens,
        _ => Reason::Other,
    }
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> OfferedTool {
    OfferedTool {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        }),
    }
}

/// The tools that a coding agent has, under the names that Claude Code gives them.
fn tools() -> Vec<OfferedTool> {
    let text = |description: &str| json!({"type": "string", "description": description});
    vec![
        tool(
            SKILL_TOOL,
            "Loads a skill: instructions for a certain kind of task. When one of the available skills covers what the user \
             asks for, call this tool first, before anything else. Use only names from the list of available skills.",
            &json!({
                "skill": text("The name of a skill from the list of available skills"),
                "args": text("Optional arguments for the skill"),
            }),
            &["skill"],
        ),
        tool(
            "Bash",
            "Runs a shell command in the working folder and returns its output.",
            &json!({"command": text("The command")}),
            &["command"],
        ),
        tool(
            "Read",
            "Reads a file and returns its content.",
            &json!({"file_path": text("The path of the file")}),
            &["file_path"],
        ),
        tool(
            "Write",
            "Writes a file; one that is there is replaced.",
            &json!({"file_path": text("The path of the file"), "content": text("The new content")}),
            &["file_path", "content"],
        ),
        tool(
            "Edit",
            "Replaces a text in a file by another.",
            &json!({
                "file_path": text("The path of the file"), "old_string": text("The text to replace"),
                "new_string": text("The text to put there"),
            }),
            &["file_path", "old_string", "new_string"],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use skillgauge_core::trigger::Answer;
    use skillgauge_core::trigger::listing::ListedSkill;

    use super::*;
    use crate::model::{Manner, Origin};

    fn ask() -> ApiAsk {
        let skills =
            [ListedSkill::new("csv-report", "Reports."), ListedSkill::new("other", "Others.")];
        ApiAsk::new(
            "anthropic:m".parse().unwrap(),
            "Make a report",
            skills.iter().map(|skill| skill.name.clone()).collect(),
            Offer::built_in(&skills),
            Duration::from_secs(1),
        )
    }

    fn response(calls: &[(&str, Value)]) -> Response {
        let calls = calls
            .iter()
            .map(|(name, input)| CalledTool { name: (*name).to_owned(), input: input.clone() });
        Response {
            text: String::new(),
            value: None,
            tool_calls: calls.collect(),
            usage: None,
            cost_usd: None,
            stop_reason: None,
            request_id: None,
            model: None,
            manner: Manner::default(),
            attempts: Vec::new(),
            origin: Origin::Live,
        }
    }

    #[test]
    fn the_request_has_the_list_of_skills_and_then_the_bare_query() {
        let request = ask().request();
        assert_eq!(request.user.len(), 2);
        assert!(
            request.user[0]
                .contains("\n\n- csv-report: Reports.\n- other: Others.\n</system-reminder>")
        );
        assert_eq!(request.user[1], "Make a report");
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["Skill", "Bash", "Read", "Write", "Edit"]);
    }

    #[test]
    fn only_a_call_for_a_skill_that_is_there_loads_it() {
        let answer = |calls: &[(&str, Value)]| ask().observe(&response(calls)).answer("csv-report");
        let skill = |name: &str| ("Skill", json!({"skill": name}));
        assert!(matches!(answer(&[skill("csv-report")]), Answer::Triggered(_)));
        assert!(matches!(
            answer(&[("Bash", json!({"command": "ls"})), skill("csv-report")]),
            Answer::Triggered(_)
        ));
        assert_eq!(answer(&[skill("other")]), Answer::NotTriggered);
        assert_eq!(answer(&[skill("made-up")]), Answer::NotTriggered);
        assert_eq!(answer(&[("Skill", json!("csv-report"))]), Answer::NotTriggered);
        assert_eq!(
            answer(&[("Read", json!({"file_path": "csv-report/SKILL.md"}))]),
            Answer::NotTriggered
        );
        assert_eq!(answer(&[]), Answer::NotTriggered);
    }

    #[test]
    fn a_failure_measures_nothing() {
        let limit = ModelError::RateLimited { message: "slow".into(), retry_after_ms: None };
        let seen = ApiAsk::observe_failure(&limit.into());
        assert_eq!(seen.reason, Reason::RateLimit);
        assert!(!seen.is_measured("csv-report"));
    }
}
