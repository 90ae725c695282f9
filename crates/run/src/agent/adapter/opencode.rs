//! opencode, `run --format json`.
//!
//! What to know about this stream:
//! - There is no last event. A run is complete if its last step ended with the reason `stop` and the exit code is 0.
//! - A tool is reported once, when it is done. A command that failed is `completed` with an exit code in its metadata;
//!   a tool that the model may not use appears as the tool `invalid`, without what it was given, so that a refused
//!   skill has no name.
//! - Every step is one request, with its tokens and cost. The cost comes from configured prices: without them it is 0,
//!   which means unknown. The request that makes up a title is not in the stream.
//! - Retries are silent.

use serde_json::Value;
use skillgauge_format::transcript::{
    ErrorLevel, FileChangeKind, Reason, StepTokens, ToolStatus, Usage, UsageBasis,
};

use super::context::Exit;
use super::evidence::reason;
use super::stream::{Ending, Identity, Joining, Recorder, Stream, Trouble, key};

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Opencode {
    usage: Usage,
    steps: u64,
    cost: f64,
    last: Last,
    /// The first event of the step that has begun.
    first_event: usize,
}

/// The last thing that says how far the run is.
#[derive(Debug, Default)]
enum Last {
    /// Nothing, or a step that has begun.
    #[default]
    Open,
    /// A step ended for this reason.
    Step(String),
    Error(Ending),
}

impl Stream for Opencode {
    fn event(&mut self, event: &Value, log: &mut Recorder) {
        log.at_instant(event["timestamp"].as_i64().and_then(skillgauge_core::time::rfc3339));
        log.identify(Identity { session_id: event["sessionID"].as_str(), ..Identity::default() });
        let part = &event["part"];
        match event["type"].as_str() {
            Some("step_start") => {
                self.last = Last::Open;
                self.first_event = log.event_count();
            }
            Some("text") => log.text(part["text"].as_str().unwrap_or_default(), Joining::Separate),
            Some("reasoning") => log.thinking(part["text"].as_str().unwrap_or_default()),
            Some("tool_use") => tool_use(part, log),
            Some("step_finish") => self.step(part, log),
            Some("error") => self.error(&event["error"], log),
            _ => log.unknown(event, None),
        }
    }

    fn ending(&mut self, exit: &Exit, log: &mut Recorder) -> Option<Ending> {
        let (ending, basis) = match std::mem::take(&mut self.last) {
            Last::Error(ending) => (Some(ending), UsageBasis::Partial),
            Last::Step(reason) if !exit.is_failure() => {
                (step_ending(&reason), UsageBasis::Reported)
            }
            Last::Step(_) | Last::Open => (None, UsageBasis::Partial),
        };
        if self.steps > 0 {
            log.usage = Some(Usage { requests: Some(self.steps), basis, ..self.usage });
            log.cost_usd = (self.cost > 0.0).then_some(self.cost);
        }
        ending
    }
}

impl Opencode {
    fn step(&mut self, part: &Value, log: &mut Recorder) {
        self.steps += 1;
        let usage = tokens(&part["tokens"]);
        self.usage.add_tokens(&usage);
        if part["tokens"].is_object() {
            let input = usage.total_tokens().saturating_sub(usage.output_tokens);
            let tokens = StepTokens { input, output: Some(usage.output_tokens) };
            log.step_tokens(self.first_event, tokens);
        }
        self.cost += part["cost"].as_f64().unwrap_or(0.0);
        self.last = Last::Step(key(part["reason"].as_str().unwrap_or_default()));
    }

    fn error(&mut self, error: &Value, log: &mut Recorder) {
        let data = &error["data"];
        let message = data["message"]
            .as_str()
            .or_else(|| error["name"].as_str())
            .unwrap_or("the agent reported an error");
        let status = data["statusCode"].as_u64().and_then(|status| status.try_into().ok());
        let (found, status) = reason::classify(status, error["name"].as_str(), message);
        log.error(ErrorLevel::Error, found, status, message);
        self.last = Last::Error(Ending::because(found, status, Some(message)));
    }
}

/// What the reason of the last step says; any other reason is no ending.
fn step_ending(reason: &str) -> Option<Ending> {
    match reason {
        "stop" => Some(Ending::completed()),
        "length" => Some(Ending::because(Reason::MaxOutputTokens, None, None)),
        "content-filter" => Some(Ending::because(Reason::Refusal, None, None)),
        _ => None,
    }
}

fn tool_use(part: &Value, log: &mut Recorder) {
    let id = part["callID"].as_str().unwrap_or_default();
    let (state, metadata) = (&part["state"], &part["state"]["metadata"]);
    let input = &state["input"];
    let given = part["tool"].as_str().unwrap_or_default();
    let refused = given == "invalid";
    // The tool that the model wanted is in the input of the tool that tells it off.
    let tool = if refused { input["tool"].as_str().unwrap_or(given) } else { given };
    let output = state["output"].as_str().or_else(|| state["error"].as_str()).unwrap_or_default();
    let failed = refused
        || state["status"].as_str() != Some("completed")
        || metadata["exit"].as_i64().is_some_and(|code| code != 0);
    let status = if failed { ToolStatus::Error } else { ToolStatus::Ok };
    log.tool_call(id, tool, input);
    let skill = input["name"].as_str().filter(|_| tool == "skill" && !refused);
    match skill {
        Some(name) => log.skill_asked(name, id),
        None => log.touches(id, input),
    }
    let sub_agent = metadata["sessionId"].as_str().filter(|_| tool == "task");
    if let Some(sub_agent) = sub_agent {
        log.sub_agent_start(
            sub_agent,
            Some(id),
            input["subagent_type"].as_str(),
            input["description"].as_str(),
        );
    }
    if was_denied(output) {
        log.denial(id, tool, Some(output));
    }
    log.tool_result(id, status, output);
    if let Some(sub_agent) = sub_agent {
        log.sub_agent_end(sub_agent, state["status"].as_str());
    }
    match skill {
        None if refused && tool == "skill" => log.unnamed_skill_denied(id, output),
        Some(name) if failed => log.skill_trouble(name, id, trouble(output), output),
        Some(name) => log.skill_loaded(name, id, None),
        None if !failed => file_change(tool, input, metadata, log),
        None => {}
    }
}

fn was_denied(output: &str) -> bool {
    ["unavailable tool", "rejected permission", "permission to use this", "denied by"]
        .iter()
        .any(|text| output.contains(text))
}

fn trouble(output: &str) -> Trouble {
    if was_denied(output) {
        Trouble::Denied
    } else if output.contains("not found") {
        Trouble::NoSuchSkill
    } else {
        Trouble::Failed
    }
}

fn file_change(tool: &str, input: &Value, metadata: &Value, log: &mut Recorder) {
    let change = match (tool, metadata["exists"].as_bool()) {
        ("write", Some(false)) => FileChangeKind::Add,
        ("write", Some(true)) | ("edit", _) => FileChangeKind::Update,
        ("write", None) => FileChangeKind::Write,
        _ => return,
    };
    if let Some(path) = metadata["filepath"].as_str().or_else(|| input["filePath"].as_str()) {
        log.file_change(path, change);
    }
}

/// The tokens of one step. Whether the output includes the reasoning shows in the total.
fn tokens(tokens: &Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let mut usage = Usage {
        input_tokens: count(&tokens["input"]),
        output_tokens: count(&tokens["output"]),
        cache_read_tokens: count(&tokens["cache"]["read"]),
        cache_write_tokens: count(&tokens["cache"]["write"]),
        reasoning_tokens: count(&tokens["reasoning"]),
        requests: None,
        basis: UsageBasis::Reported,
    };
    if tokens["total"].as_u64() == Some(usage.total_tokens().saturating_add(usage.reasoning_tokens))
    {
        usage.output_tokens = usage.output_tokens.saturating_add(usage.reasoning_tokens);
    }
    usage
}
