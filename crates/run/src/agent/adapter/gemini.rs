//! Gemini CLI, `--output-format stream-json`.
//!
//! What to know about this stream:
//! - A skill is loaded by the tool `activate_skill`; a tool that is not allowed is "not found".
//! - An assistant's text comes in pieces (`delta`).
//! - A shell command that failed is a `success` whose output ends in its exit code.
//! - Retries are seen on standard error only. The exit code of an API error is its status modulo 256 when the service
//!   answered in its own format, else 1.
//! - SIGTERM gives exit code 0 and no `result`; an answer that was cut at the output limit is a plain `success`.

use std::collections::HashMap;

use serde_json::Value;
use skillgauge_format::transcript::{
    ErrorLevel, FileChangeKind, Reason, Retry, ToolStatus, Usage, UsageBasis,
};

use super::context::Exit;
use super::evidence::reason;
use super::stream::{Ending, Identity, Joining, Recorder, Stream, Trouble, key};

/// The tool that loads skills.
const SKILL_TOOL: &str = "activate_skill";
/// The tool that runs commands.
const SHELL_TOOL: &str = "run_shell_command";
/// How a failed shell command ends its output.
const EXIT_CODE: &str = "Command exited with code: ";
/// How standard error announces a retry.
const ATTEMPT: (&str, &str) = ("Attempt ", " failed with status ");
/// Exit codes of the program itself.
const NO_LOGIN: i32 = 41;
const TURN_LIMIT: i32 = 53;
/// Open calls that are remembered.
const MAX_OPEN: usize = 5000;

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    /// Calls that wait for their result: a skill to load, or a file to write.
    open: HashMap<String, Open>,
    ending: Option<Ending>,
}

#[derive(Debug)]
enum Open {
    Skill(String),
    File(String),
}

impl Stream for Gemini {
    fn event(&mut self, event: &Value, log: &mut Recorder) {
        log.at(event["timestamp"].as_str());
        match event["type"].as_str() {
            Some("init") => log.identify(Identity {
                model: event["model"].as_str(),
                agent_version: None,
                session_id: event["session_id"].as_str(),
            }),
            Some("message") => message(event, log),
            Some("tool_use") => self.tool_use(event, log),
            Some("tool_result") => self.tool_result(event, log),
            Some("error") => {
                let message = event["message"].as_str().unwrap_or_default();
                let (found, status) = reason::classify(None, None, message);
                let warning = event["severity"].as_str() == Some("warning");
                log.error(
                    if warning { ErrorLevel::Warning } else { ErrorLevel::Error },
                    found,
                    status,
                    message,
                );
            }
            Some("result") => self.result(event, log),
            _ => log.unknown(event, None),
        }
    }

    fn ending(&mut self, exit: &Exit, log: &mut Recorder) -> Option<Ending> {
        if let Some(mut ending) = self.ending.take() {
            // The message may have lost the status; the exit code has not.
            if ending.reason == Reason::Other {
                ending.status = exit
                    .exit_code()
                    .and_then(status_of_exit)
                    .or_else(|| reason::status_in(&exit.stderr));
                ending.reason =
                    ending.status.and_then(reason::from_status).unwrap_or(Reason::Other);
            }
            if ending.reason != Reason::Completed {
                let message = ending.message.as_deref().unwrap_or_default();
                log.error(ErrorLevel::Error, ending.reason, ending.status, message);
            }
            return Some(ending);
        }
        retries(&exit.stderr, log);
        match exit.exit_code() {
            Some(NO_LOGIN) => {
                Some(Ending::because(Reason::NotLoggedIn, None, Some(exit.stderr.trim())))
            }
            Some(TURN_LIMIT) => {
                Some(Ending::because(Reason::MaxTurns, None, Some(exit.stderr.trim())))
            }
            _ => None,
        }
    }
}

impl Gemini {
    fn tool_use(&mut self, event: &Value, log: &mut Recorder) {
        let (id, tool) = (
            event["tool_id"].as_str().unwrap_or_default(),
            event["tool_name"].as_str().unwrap_or_default(),
        );
        let input = &event["parameters"];
        log.tool_call(id, tool, input);
        let waits = match (tool, input["name"].as_str(), input["file_path"].as_str()) {
            (SKILL_TOOL, Some(name), _) => {
                log.skill_asked(name, id);
                Some(Open::Skill(key(name)))
            }
            ("write_file" | "replace", _, Some(path)) => Some(Open::File(key(path))),
            _ => {
                log.touches(id, input);
                None
            }
        };
        if let Some(waits) = waits
            && self.open.len() < MAX_OPEN
        {
            self.open.insert(key(id), waits);
        }
    }

    fn tool_result(&mut self, event: &Value, log: &mut Recorder) {
        let id = event["tool_id"].as_str().unwrap_or_default();
        let error = &event["error"];
        let output =
            event["output"].as_str().or_else(|| error["message"].as_str()).unwrap_or_default();
        let is_shell = log.tool_name(id) == Some(SHELL_TOOL);
        let failed =
            event["status"].as_str() != Some("success") || (is_shell && shell_failed(output));
        log.tool_result(id, if failed { ToolStatus::Error } else { ToolStatus::Ok }, output);
        match self.open.remove(&key(id)) {
            Some(Open::Skill(name)) if failed => {
                log.skill_trouble(&name, id, trouble(error["type"].as_str(), output), output);
            }
            Some(Open::Skill(name)) => log.skill_loaded(&name, id, None),
            Some(Open::File(path)) if !failed => log.file_change(&path, FileChangeKind::Write),
            Some(Open::File(_)) | None => {}
        }
    }

    fn result(&mut self, event: &Value, log: &mut Recorder) {
        let totals = &event["stats"];
        log.usage = totals.is_object().then(|| usage(totals));
        log.duration_ms = totals["duration_ms"].as_u64();
        self.ending = Some(if event["status"].as_str() == Some("success") {
            Ending::completed()
        } else {
            let error = &event["error"];
            let message = error["message"].as_str().unwrap_or("the agent reported an error");
            let (found, status) = reason::classify(None, error["type"].as_str(), message);
            Ending::because(found, status, Some(message))
        });
    }
}

fn message(event: &Value, log: &mut Recorder) {
    // The user's message is the prompt.
    if event["role"].as_str() == Some("assistant") {
        let joining =
            if event["delta"] == Value::Bool(true) { Joining::Piece } else { Joining::Separate };
        log.text(event["content"].as_str().unwrap_or_default(), joining);
    }
}

fn shell_failed(output: &str) -> bool {
    let last = output.trim_end().rsplit('\n').next().unwrap_or_default();
    last.strip_prefix(EXIT_CODE).is_some_and(|code| code.trim() != "0")
}

fn trouble(kind: Option<&str>, output: &str) -> Trouble {
    match kind {
        // A tool that the approval mode forbids is not registered.
        Some("tool_not_registered" | "policy_violation" | "execution_denied") => Trouble::Denied,
        Some("invalid_tool_params") => Trouble::NoSuchSkill,
        _ if output.contains("denied") || output.contains("not allowed") => Trouble::Denied,
        _ if output.contains("not found") => Trouble::NoSuchSkill,
        _ => Trouble::Failed,
    }
}

/// The tokens, with the cache taken out of the input. Reasoning is only in the total.
fn usage(stats: &Value) -> Usage {
    let count = |name: &str| stats[name].as_u64().unwrap_or(0);
    let (all_input, cached, output) =
        (count("input_tokens"), count("cached"), count("output_tokens"));
    let reasoning = count("total_tokens").saturating_sub(all_input).saturating_sub(output);
    Usage {
        input_tokens: stats["input"].as_u64().unwrap_or_else(|| all_input.saturating_sub(cached)),
        output_tokens: output.saturating_add(reasoning),
        cache_read_tokens: cached,
        cache_write_tokens: 0,
        reasoning_tokens: reasoning,
        requests: None,
        basis: UsageBasis::Reported,
    }
}

/// The HTTP status behind an exit code, which is the status modulo 256.
fn status_of_exit(code: i32) -> Option<u16> {
    let status = u16::try_from(code).ok()?.checked_add(256)?;
    (400..=511).contains(&status).then_some(status)
}

/// `Attempt 4 failed with status 429. Retrying with backoff...`, on standard error.
fn retries(stderr: &str, log: &mut Recorder) {
    for line in stderr.lines() {
        let attempt =
            line.trim_start().strip_prefix(ATTEMPT.0).and_then(|rest| rest.split_once(ATTEMPT.1));
        let Some((attempt, rest)) = attempt else { continue };
        let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        if let (Ok(attempt), Ok(status)) = (attempt.parse(), rest[..digits].parse::<u16>()) {
            log.retry(Retry {
                attempt,
                max_attempts: None,
                status: Some(status),
                reason: reason::from_status(status).unwrap_or(Reason::Other),
                delay_ms: None,
                message: None,
            });
        }
    }
}
