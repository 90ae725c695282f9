//! What an adapter must know beside the stream: the skills that were installed, the limits on what it keeps, and
//! how the process ended.

use serde::{Deserialize, Serialize};
use skillgauge_format::transcript::{ExitStatus, Stop};

/// How many lines of a skill's body prove that the body was read.
const BODY_LINES: usize = 3;

/// What an adapter knows beside the stream.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The agent's name; the adapter's name if there is none.
    pub agent: Option<String>,
    /// The agent's version, for streams that do not say it.
    pub agent_version: Option<String>,
    /// The model that was asked for, for streams that do not say it.
    pub model: Option<String>,
    /// The skills under test and their neighbours. May be empty, as when a file from elsewhere is read: then every
    /// skill counts.
    pub skills: Vec<InstalledSkill>,
    pub caps: Caps,
}

/// A skill that was installed for the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledSkill {
    /// The name that the agent lists it under.
    pub name: String,
    /// Its folder, as the agent sees it.
    pub folder: String,
    /// The first lines of its body, blank ones left out.
    pub body: Vec<String>,
}

impl InstalledSkill {
    /// A skill with the body `body` (SKILL.md without its frontmatter).
    pub fn new(name: impl Into<String>, folder: impl Into<String>, body: &str) -> Self {
        let body = body
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .take(BODY_LINES)
            .map(ToOwned::to_owned)
            .collect();
        Self { name: name.into(), folder: folder.into().trim_end_matches('/').to_owned(), body }
    }
}

/// How much of a stream is kept. What is over is counted and left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Bytes of one line; a longer line is not parsed.
    pub line: usize,
    /// Bytes of one text in one event.
    pub text: usize,
    /// Bytes of text in all events together.
    pub total: usize,
    pub events: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { line: 16 << 20, text: 256 << 10, total: 8 << 20, events: 50_000 }
    }
}

/// How the agent's process ended, as the process layer saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code or signal, and why we stopped it; absent when only a stored stream is read.
    pub status: Option<ExitStatus>,
    /// The end of what it wrote to standard error.
    pub stderr: String,
}

impl Exit {
    /// Only the stream is known.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// The process ended with an exit code.
    pub fn code(code: i32) -> Self {
        Self {
            status: Some(ExitStatus { code: Some(code), ..ExitStatus::default() }),
            stderr: String::new(),
        }
    }

    /// The process was ended by a signal that was not ours.
    pub fn signal(signal: i32) -> Self {
        Self {
            status: Some(ExitStatus { signal: Some(signal), ..ExitStatus::default() }),
            stderr: String::new(),
        }
    }

    pub fn stopped(stop: Stop) -> Self {
        Self {
            status: Some(ExitStatus { stop: Some(stop), ..ExitStatus::default() }),
            stderr: String::new(),
        }
    }

    /// The same with what was written to standard error.
    #[must_use]
    pub fn with_stderr(mut self, stderr: impl Into<String>) -> Self {
        self.stderr = stderr.into();
        self
    }

    /// Why we stopped it, if we did.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.status.and_then(|status| status.stop)
    }

    /// Its exit code, if it has one.
    pub(super) fn exit_code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code)
    }

    /// Whether it is known to have ended by itself with code 0.
    pub(super) fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.code == Some(0) && status.stop.is_none())
    }

    /// Whether it is known to have ended in another way.
    pub(super) fn is_failure(&self) -> bool {
        self.status.is_some() && !self.is_success()
    }
}

#[cfg(test)]
mod tests {
    use super::InstalledSkill;

    #[test]
    fn the_first_lines_of_a_body_are_its_first_lines_with_text() {
        let skill = InstalledSkill::new("x", "/w/skills/x/", "\n# Title\n\n  one\n\ntwo\nthree\n");
        assert_eq!(skill.body, ["# Title", "one", "two"]);
        assert_eq!(skill.folder, "/w/skills/x");
    }
}
