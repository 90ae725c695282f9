//! Skills in Claude Code: from the `Skill` call to the body.
//!
//! Invariant: a skill counts as loaded only when the program said that it launched it, or gave its body to the model
//! or to the sub-agent that it forked. A call alone proves nothing: it may be refused, or name no skill.

use std::collections::HashMap;

use serde_json::Value;

use super::super::stream::{Recorder, Trouble, key};

/// The tool that loads skills.
pub(super) const TOOL: &str = "Skill";
/// How the message with a skill's body begins.
const BODY: &str = "Base directory for this skill:";
/// Calls that are told apart.
const MAX_CALLS: usize = 5000;

/// The skill that a tool call asks for.
pub(super) fn name_in<'a>(tool: &str, input: &'a Value) -> Option<&'a str> {
    let name = input["skill"].as_str().or_else(|| input["command"].as_str())?;
    (tool == TOOL).then_some(name.trim().trim_start_matches('/'))
}

/// Whether a text of the program is a skill's body.
pub(super) fn is_body(text: &str) -> bool {
    text.starts_with(BODY)
}

/// The calls of the skill tool, by id.
#[derive(Debug, Default)]
pub(super) struct SkillCalls {
    calls: HashMap<String, SkillCall>,
    /// The last call that was answered in a way that proves nothing; the body may follow.
    unproven: Option<String>,
}

#[derive(Debug)]
struct SkillCall {
    name: String,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Loaded,
    Troubled,
    Denied,
}

impl SkillCalls {
    /// The model asks for a skill. With partial messages that is seen twice.
    pub(super) fn ask(&mut self, id: &str, name: &str, log: &mut Recorder) {
        if self.calls.len() < MAX_CALLS && !self.calls.contains_key(id) {
            self.calls
                .insert(id.to_owned(), SkillCall { name: name.to_owned(), state: State::Open });
            log.skill_asked(name, id);
        }
    }

    /// The program gave the body to a sub-agent.
    pub(super) fn forked(&mut self, id: &str, sub_agent: &str, log: &mut Recorder) {
        if let Some(call) = self.calls.get_mut(&key(id)).filter(|call| call.state == State::Open) {
            call.state = State::Loaded;
            log.skill_loaded(&call.name, id, Some(sub_agent));
        }
    }

    pub(super) fn answer(
        &mut self,
        id: &str,
        is_error: bool,
        output: &str,
        details: &Value,
        log: &mut Recorder,
    ) {
        let Some(call) = self.calls.get_mut(&key(id)).filter(|call| call.state == State::Open)
        else {
            return;
        };
        let success = details["success"].as_bool();
        let launched =
            output.starts_with("Launching skill") || output.contains("(forked execution)");
        if is_error || success == Some(false) {
            let trouble = trouble(output, log.is_denied(id));
            call.state = if trouble == Trouble::Denied { State::Denied } else { State::Troubled };
            log.skill_trouble(&call.name, id, trouble, output);
        } else if success == Some(true) || launched {
            call.state = State::Loaded;
            let fork = details["agentId"]
                .as_str()
                .filter(|_| details["status"].as_str() == Some("forked"));
            log.skill_loaded(&call.name, id, fork);
        } else {
            self.unproven = Some(key(id));
        }
    }

    /// The program gave a body to the model.
    pub(super) fn body(&mut self, log: &mut Recorder) {
        let Some(id) = self.unproven.take() else { return };
        if let Some(call) = self.calls.get_mut(&id).filter(|call| call.state == State::Open) {
            call.state = State::Loaded;
            log.skill_loaded(&call.name, &id, None);
        }
    }

    /// The result says at the end that the call was refused.
    pub(super) fn refused(&mut self, id: &str, log: &mut Recorder) {
        if let Some(call) = self
            .calls
            .get_mut(id)
            .filter(|call| matches!(call.state, State::Open | State::Troubled))
        {
            call.state = State::Denied;
            log.skill_trouble(&call.name, id, Trouble::Denied, "refused, says the result");
        }
    }
}

fn trouble(output: &str, denied: bool) -> Trouble {
    if denied {
        Trouble::Denied
    } else if output.contains("Unknown skill") {
        Trouble::NoSuchSkill
    } else {
        Trouble::Failed
    }
}
