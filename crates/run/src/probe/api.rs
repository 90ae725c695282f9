//! A probe without an agent: one model request with the list of skills that Claude Code would send, and its tools.
//!
//! For a fraction of the price it shows what the model would do first. It is not the agent: the system prompt is short, the
//! other tools are stubs, and a skill that the agent would load after looking around counts as not triggered. So the report
//! says how it was measured, and `--calibrate` tells how well both agree.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillgauge_core::trigger::Observation;
use skillgauge_core::trigger::listing::{CONTEXT_TOKENS, ListedSkill, Listing, budget};
use skillgauge_format::transcript::{Reason, names_skill};

use crate::model::{
    CalledTool, Failure, ModelError, ModelName, OfferedTool, ProviderKind, Purpose, Request,
    Response,
};

/// The most that the model may write: enough for a first sentence and a call.
pub const MAX_OUTPUT_TOKENS: u32 = 1024;

/// The tool that loads a skill.
const SKILL_TOOL: &str = "Skill";

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiAsk {
    /// The model.
    pub model: ModelName,
    /// The query.
    pub prompt: String,
    /// The names of the skills that can be loaded.
    pub skills: Vec<String>,
    /// The lines of the list of skills, as far as there is room.
    pub listing: Vec<String>,
    /// How long the request may take, in milliseconds.
    pub timeout_ms: u64,
}

impl ApiAsk {
    /// A question to a model that is offered these skills.
    pub fn new(
        model: ModelName,
        prompt: impl Into<String>,
        skills: &[ListedSkill],
        timeout: Duration,
    ) -> Self {
        Self {
            model,
            prompt: prompt.into(),
            skills: skills.iter().map(|skill| skill.name.clone()).collect(),
            listing: Listing::of(skills, budget(CONTEXT_TOKENS)).lines,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The request.
    pub(super) fn request(&self) -> Request {
        let list = format!(
            "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n{}\n</system-reminder>",
            self.listing.join("\n")
        );
        let role = "You are a coding agent in a terminal. You carry out what the user asks for with the tools that you have, \
                    in the user's working folder.";
        let purpose = Purpose::new("probe");
        // Claude Code sends the list as a block of its own before the query; a chat has one text only for the user.
        let request = match &self.model {
            ModelName::Of { provider: ProviderKind::OpenAi, .. } => {
                Request::text(purpose, &self.prompt).system(format!("{role}\n\n{list}"))
            }
            _ => Request::text(purpose, list).and(&self.prompt).system(role),
        };
        let mut request = request.tools(tools()).timeout(Duration::from_millis(self.timeout_ms));
        request.max_output_tokens = MAX_OUTPUT_TOKENS;
        request
    }

    /// What a response shows.
    pub(super) fn observe(&self, response: &Response) -> Observation {
        let asked: Vec<&str> = response.tool_calls.iter().filter_map(asked_skill).collect();
        let is_there = |name: &str| self.skills.iter().any(|skill| names_skill(name, skill));
        let (loaded, unknown): (Vec<&str>, Vec<&str>) =
            asked.into_iter().partition(|name| is_there(name));
        let mut seen = Observation::completed(loaded.into_iter().map(str::to_owned));
        seen.denied = unknown.into_iter().map(str::to_owned).collect();
        seen
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

    use super::*;
    use crate::model::{Manner, Origin};

    fn ask() -> ApiAsk {
        let skills =
            [ListedSkill::new("csv-report", "Reports."), ListedSkill::new("other", "Others.")];
        ApiAsk::new(
            "anthropic:m".parse().unwrap(),
            "Make a report",
            &skills,
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
