//! How the real agents word what they do: one module per event dialect.
//!
//! A dialect turns an [`Act`] into events. Shapes were taken from recorded streams of the real programs; ids are made
//! from counters and times are fixed, so that a fake run gives the same stream each time.

mod claude;
mod codex;
mod command;
mod gemini;
mod opencode;

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::invocation::{Format, Invocation};
use super::script::{DialectName, Failure, Finish, ScriptedTool};

/// The time that all events claim to happen at.
const TIMESTAMP: &str = "2026-01-01T00:00:00.000Z";

/// The same time in milliseconds since the Unix epoch.
const TIMESTAMP_MS: u64 = 1_767_225_600_000;

/// The session that all events claim to belong to.
const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// Something that the fake agent did, to be worded as events.
pub(super) enum Act<'a> {
    Start,
    Say(&'a str),
    Think(&'a str),
    /// It claims to have called a tool.
    Tool(&'a ScriptedTool),
    /// It did some work with a tool.
    Work(Work<'a>),
    /// It asked for a skill.
    Skill(SkillLoad<'a>),
}

/// Work that was really done.
pub(super) enum Work<'a> {
    Write {
        path: &'a Path,
        text: &'a str,
    },
    /// A text in a file was replaced.
    Edit {
        path: &'a Path,
        find: &'a str,
        replace: &'a str,
    },
    Read {
        path: &'a Path,
        text: &'a str,
    },
    Shell {
        command: &'a str,
        output: &'a str,
        code: i32,
    },
}

/// A skill that was asked for.
pub(super) struct SkillLoad<'a> {
    pub(super) name: &'a str,
    /// What was found; nothing when the skill is not installed.
    pub(super) found: Option<&'a FoundSkill>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundSkill {
    pub(super) folder: PathBuf,
    pub(super) text: String,
}

impl FoundSkill {
    /// SKILL.md without its front matter.
    fn body(&self) -> &str {
        let after_opening = self.text.strip_prefix("---\n");
        after_opening
            .and_then(|rest| rest.split_once("\n---\n"))
            .map_or(&*self.text, |(_, body)| body)
    }
}

/// The events of a bad end, and the exit code that the real program has then.
pub(super) struct Failed {
    pub(super) events: Vec<Value>,
    pub(super) code: u8,
}

pub(super) trait Dialect {
    fn act(&mut self, act: &Act<'_>) -> Vec<Value>;
    fn finish(&mut self, finish: &Finish) -> Vec<Value>;
    fn fail(&mut self, failure: &Failure) -> Failed;
}

/// What a dialect knows about the run.
pub(super) struct Scene {
    pub(super) folder: PathBuf,
    pub(super) prompt: String,
    pub(super) model: String,
    pub(super) skills: Vec<String>,
}

/// The dialect of a call.
pub(super) fn speak(invocation: &Invocation, scene: Scene) -> Box<dyn Dialect> {
    match invocation.dialect {
        DialectName::Claude => {
            let partial = match invocation.format {
                Format::PartialEvents => claude::Partial::Shown,
                Format::Events | Format::Document | Format::Text => claude::Partial::Hidden,
            };
            Box::new(claude::Claude::new(scene, partial))
        }
        DialectName::Codex => Box::new(codex::Codex::default()),
        DialectName::Gemini => Box::new(gemini::Gemini::new(scene)),
        DialectName::Opencode => Box::new(opencode::Opencode::default()),
        DialectName::Command => Box::new(command::Command::default()),
    }
}

/// Where an agent looks for skills, below the work folder.
pub(super) fn skill_roots(dialect: DialectName) -> &'static [&'static str] {
    match dialect {
        DialectName::Claude => &[".claude/skills"],
        DialectName::Codex => &[".agents/skills", ".codex/skills"],
        DialectName::Gemini => &[".gemini/skills", ".agents/skills"],
        DialectName::Opencode => {
            &[".opencode/skills", ".opencode/skill", ".claude/skills", ".agents/skills"]
        }
        DialectName::Command => &[".agents/skills", "skills"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_of_a_skill_comes_without_its_front_matter() {
        let body =
            |text: &str| FoundSkill { folder: "/s".into(), text: text.into() }.body().to_owned();
        assert_eq!(body("---\nname: x\n---\n\n# X\n"), "\n# X\n");
        assert_eq!(body("# no front matter\n"), "# no front matter\n");
        assert_eq!(body("---\nname: never closed\n"), "---\nname: never closed\n");
    }
}
