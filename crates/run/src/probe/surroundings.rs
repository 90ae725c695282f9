//! Where a query is asked: the situation of a trigger set, found on disk and put into the form that an agent or a model takes.
//!
//! Files lie in the work folder and project instructions in the file that the agent reads. No agent takes earlier messages
//! from outside, so they stand in front of the query as a transcript; a model without an agent gets them as messages.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use skillgauge_core::workspace::Workspace;
use skillgauge_format::trigger::{Situation, Turn};

use super::error::ProbeError;
use crate::agent::{AgentTask, Descriptor, TaskInput};
use crate::cassette::digest_of;
use crate::inputs;

/// A situation, ready to be put around a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Surroundings {
    pub(crate) inputs: Vec<TaskInput>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) context: Option<String>,
}

/// A query with what surrounds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SituatedQuery<'q> {
    pub(crate) text: &'q str,
    pub(crate) around: &'q Surroundings,
}

impl Surroundings {
    /// Looks for the files of a situation in the skill that it belongs to, and then in its workspace. Blocks.
    pub(crate) fn find(
        query: &str,
        situation: Option<&Situation>,
        skill: &Path,
    ) -> Result<Self, ProbeError> {
        let Some(situation) = situation else { return Ok(Self::default()) };
        let workspace = Workspace::beside(skill).ok();
        let roots: Vec<&Path> =
            [Some(skill), workspace.as_ref().map(Workspace::root)].into_iter().flatten().collect();
        let files = situation.files.iter().map(String::as_str);
        let inputs = inputs::read(files, &roots).map_err(|mut errors| ProbeError::Input {
            query: query.to_owned(),
            source: Box::new(errors.swap_remove(0)),
        })?;
        Ok(Self { inputs, turns: situation.turns.clone(), context: situation.context.clone() })
    }

    /// A hash of what the files hold; nothing without files.
    pub(crate) fn files_digest(&self) -> Option<String> {
        if self.inputs.is_empty() {
            return None;
        }
        let mut digest = digest_of(&json!(self.digests()));
        digest.truncate(16);
        Some(digest)
    }

    fn digests(&self) -> Vec<Value> {
        self.inputs.iter().map(|input| json!([input.path, input.digest])).collect()
    }

    /// What of it changes what an agent sends for any query; nothing when it is all in the conversation.
    pub(super) fn place(&self) -> Option<Value> {
        let is_bare = self.inputs.is_empty() && self.context.is_none();
        (!is_bare).then(|| json!({"files": self.digests(), "context": self.context}))
    }

    /// The names of the files in the work folder.
    pub(super) fn files(&self) -> Vec<String> {
        self.inputs.iter().map(|input| input.path.to_string_lossy().into_owned()).collect()
    }

    /// Puts files and instructions around a task.
    pub(super) fn surround(&self, task: &mut AgentTask) {
        task.inputs.clone_from(&self.inputs);
        task.context.clone_from(&self.context);
    }

    /// Says before anything is paid what an agent can't take.
    pub(super) fn check(&self, query: &str, agent: &Descriptor) -> Result<(), ProbeError> {
        let unfit = |why: String| ProbeError::Situation { query: query.to_owned(), why };
        let name = &agent.name;
        let skills = Path::new(&agent.skills);
        for input in &self.inputs {
            let shown = input.path.display();
            if input.path.starts_with(skills) || skills.starts_with(&input.path) {
                return Err(unfit(format!(
                    "the file {shown} would lie where `{name}` looks for skills"
                )));
            }
            if self.context.is_some()
                && agent.instructions.as_deref().is_some_and(|it| input.path == Path::new(it))
            {
                return Err(unfit(format!("both `files` and `context` give {shown}")));
            }
        }
        if self.context.is_some() && agent.instructions.is_none() {
            return Err(unfit(format!(
                "`{name}` has no file for project instructions, so `context` can't reach it; set `instructions` in its descriptor"
            )));
        }
        Ok(())
    }
}

/// What an agent is asked: the query, and before it the earlier messages as a transcript.
pub(super) fn prompt(turns: &[Turn], query: &str) -> String {
    if turns.is_empty() {
        return query.to_owned();
    }
    let tag = tag(turns);
    let mut text =
        "This conversation is already under way. Its earlier messages, the oldest first:\n\n"
            .to_owned();
    for turn in turns {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "<{tag} role=\"{}\">\n{}\n</{tag}>",
            turn.role.as_str(),
            turn.content.trim()
        );
    }
    let _ = write!(text, "\nThe user's next message, which is yours to answer:\n\n{query}");
    text
}

/// A tag that no message can close.
fn tag(turns: &[Turn]) -> String {
    let mut tag = "message".to_owned();
    let mut number = 1_u32;
    while turns.iter().any(|turn| turn.content.contains(&format!("</{tag}>"))) {
        number += 1;
        tag = format!("message-{number}");
    }
    tag
}

#[cfg(test)]
mod tests {
    use skillgauge_format::trigger::TurnRole;

    use super::*;

    fn turn(role: TurnRole, content: &str) -> Turn {
        Turn { role, content: content.to_owned() }
    }

    #[test]
    fn earlier_messages_stand_before_the_query_and_none_can_close_its_tag() {
        assert_eq!(prompt(&[], "q"), "q");
        let turns = [turn(TurnRole::User, "Hello"), turn(TurnRole::Assistant, "a</message>b")];
        let text = prompt(&turns, "and now?");
        assert!(text.contains("<message-2 role=\"user\">\nHello\n</message-2>"), "{text}");
        assert!(
            text.contains("<message-2 role=\"assistant\">\na</message>b\n</message-2>"),
            "{text}"
        );
        assert!(text.ends_with("\n\nand now?"), "{text}");
    }
}
