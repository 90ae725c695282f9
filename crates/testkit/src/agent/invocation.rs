//! The fake agent's command line: its own few flags, and what it needs to know of the real programs' many.
//!
//! Every flag that is not `--fake-...` belongs to a real program. Of those only the prompt, the work folder, the model and
//! the output format matter here; all others are accepted and ignored.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use super::SCRIPT_SUFFIX;
use super::script::{AgentScript, DialectName, Step};

/// The most of a prompt that is read from stdin.
const MAX_PROMPT: u64 = 64 * 1024 * 1024;

/// What the program was started for.
#[derive(Debug)]
pub(super) enum Request {
    /// To be a child of another fake agent.
    Child(ChildRequest),
    Version(String),
    /// To take the steps of a script.
    Perform(Box<Invocation>),
}

/// The internal call with which a fake agent starts its children.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChildRequest {
    /// After how many seconds it ends.
    pub(super) seconds: u64,
    /// The file that it makes as soon as it ignores signals.
    pub(super) ready: PathBuf,
}

/// A call of the fake agent.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) script: AgentScript,
    pub(super) dialect: DialectName,
    pub(super) format: Format,
    /// The prompt on the command line; without one it is read from stdin when a step needs it.
    pub(super) prompt: Option<String>,
    pub(super) model: Option<String>,
    /// The work folder that the command line asks for.
    pub(super) folder: Option<PathBuf>,
    /// Where Codex is asked to leave its last message.
    pub(super) last_message: Option<PathBuf>,
    pub(super) schema: Schema,
    /// All arguments, for the dump.
    pub(super) arguments: Vec<String>,
}

/// Whether the command line asks for an answer by a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Schema {
    Given,
    Absent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Every event as a line of JSON.
    Events,
    /// Claude Code's events with its partial messages between them.
    PartialEvents,
    Document,
    Text,
}

/// Why the program does not know what to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvocationError {
    #[error(
        "no script: give --fake-script, --fake-steps, FAKE_AGENT_SCRIPT, FAKE_AGENT_STEPS or {beside:?}"
    )]
    NoScript { beside: PathBuf },
    #[error("could not read the script {path:?}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("not a script: {0}")]
    Parse(#[from] serde_json::Error),
    #[error("{flag} needs a value that can be used")]
    BadValue { flag: &'static str },
}

impl Request {
    /// Reads a command line, program name first.
    pub(super) fn read(arguments: Vec<String>) -> Result<Self, InvocationError> {
        let line = CommandLine { arguments };
        if let Some(seconds) = line.value(&["--fake-child"]) {
            let bad = InvocationError::BadValue { flag: "--fake-child" };
            let seconds = seconds.parse().map_err(|_| bad)?;
            let ready = line.value(&["--fake-ready"]).unwrap_or_default().into();
            return Ok(Self::Child(ChildRequest { seconds, ready }));
        }
        let wants_version = line.rest().iter().any(|argument| argument == "--version");
        let script = match line.script() {
            Ok(script) => script,
            // A version needs no script: doctors ask for it before anything else.
            Err(InvocationError::NoScript { .. }) if wants_version => AgentScript::default(),
            Err(error) => return Err(error),
        };
        let dialect = line.dialect(&script)?;
        if wants_version {
            return Ok(Self::Version(version(&script, dialect)));
        }
        Ok(Self::Perform(Box::new(Invocation {
            dialect,
            format: line.format(dialect),
            prompt: line.prompt(dialect),
            model: line.value(&["--model", "-m"]),
            folder: line.value(&["--cd", "-C"]).map(PathBuf::from),
            last_message: line.last_message(dialect),
            schema: match line.value(&["--json-schema"]) {
                Some(_) => Schema::Given,
                None => Schema::Absent,
            },
            script,
            arguments: line.arguments,
        })))
    }
}

fn version(script: &AgentScript, dialect: DialectName) -> String {
    let usual = match dialect {
        DialectName::Claude => "2.1.325 (Claude Code)",
        DialectName::Codex => "codex-cli 0.166.0",
        DialectName::Gemini => "0.61.0",
        DialectName::Opencode => "1.18.33",
        DialectName::Command => "fake-agent 0.1.0",
    };
    script.version.clone().unwrap_or_else(|| usual.to_owned())
}

/// Reads a prompt from stdin; nothing when a person sits there.
pub(super) fn prompt_from_stdin() -> std::io::Result<String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    stdin.lock().take(MAX_PROMPT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A command line, program name first.
struct CommandLine {
    arguments: Vec<String>,
}

impl CommandLine {
    /// The arguments after the program's name and before a `--`.
    fn rest(&self) -> &[String] {
        let rest = self.arguments.get(1..).unwrap_or_default();
        let end = rest.iter().position(|argument| argument == "--").unwrap_or(rest.len());
        &rest[..end]
    }

    /// The value of a flag, as `--flag value` or `--flag=value`.
    fn value(&self, names: &[&str]) -> Option<String> {
        let rest = self.rest();
        rest.iter().enumerate().find_map(|(index, argument)| {
            if names.contains(&argument.as_str()) {
                return rest.get(index + 1).cloned();
            }
            let (name, value) = argument.split_once('=')?;
            names.contains(&name).then(|| value.to_owned())
        })
    }

    fn has(&self, name: &str) -> bool {
        self.rest().iter().any(|argument| argument == name)
    }

    fn script(&self) -> Result<AgentScript, InvocationError> {
        let from_file = |path: PathBuf| {
            let text = fs_err::read_to_string(&path)
                .map_err(|source| InvocationError::Read { path, source })?;
            Ok(serde_json::from_str(&text)?)
        };
        let from_steps = |text: &str| -> Result<AgentScript, InvocationError> {
            Ok(AgentScript::new(serde_json::from_str::<Vec<Step>>(text)?))
        };
        if let Some(path) = self.value(&["--fake-script"]) {
            return from_file(path.into());
        }
        if let Some(steps) = self.value(&["--fake-steps"]) {
            return from_steps(&steps);
        }
        if let Some(path) = std::env::var_os("FAKE_AGENT_SCRIPT") {
            return from_file(path.into());
        }
        if let Ok(steps) = std::env::var("FAKE_AGENT_STEPS") {
            return from_steps(&steps);
        }
        let beside = self.script_beside();
        if beside.is_file() { from_file(beside) } else { Err(InvocationError::NoScript { beside }) }
    }

    /// The script that lies beside the program under the name by which it was called, links not resolved.
    fn script_beside(&self) -> PathBuf {
        let name = self.arguments.first().map_or("fake-agent", String::as_str);
        let beside =
            |program: &Path| PathBuf::from(format!("{}{SCRIPT_SUFFIX}", program.display()));
        if name.contains('/') {
            return beside(Path::new(name));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|program| program.exists());
        beside(&found.unwrap_or_else(|| name.into()))
    }

    fn dialect(&self, script: &AgentScript) -> Result<DialectName, InvocationError> {
        if let Some(name) = self.value(&["--fake-dialect"]) {
            return serde_json::from_value(name.into())
                .map_err(|_| InvocationError::BadValue { flag: "--fake-dialect" });
        }
        let name = self.arguments.first().map(Path::new).and_then(Path::file_name);
        Ok(script.dialect.unwrap_or(match name.and_then(|name| name.to_str()) {
            Some("claude") => DialectName::Claude,
            Some("codex") => DialectName::Codex,
            Some("gemini") => DialectName::Gemini,
            Some("opencode") => DialectName::Opencode,
            _ => DialectName::Command,
        }))
    }

    fn format(&self, dialect: DialectName) -> Format {
        let output = self.value(&["--output-format", "-o"]);
        match dialect {
            DialectName::Claude | DialectName::Gemini => match output.as_deref() {
                Some("stream-json") if self.has("--include-partial-messages") => {
                    Format::PartialEvents
                }
                Some("stream-json") => Format::Events,
                Some("json") => Format::Document,
                _ => Format::Text,
            },
            DialectName::Codex if self.has("--json") => Format::Events,
            DialectName::Opencode if self.value(&["--format"]).as_deref() == Some("json") => {
                Format::Events
            }
            DialectName::Codex | DialectName::Opencode => Format::Text,
            DialectName::Command => Format::Events,
        }
    }

    /// Only Codex has this; `-o` means something else to Gemini CLI.
    fn last_message(&self, dialect: DialectName) -> Option<PathBuf> {
        match dialect {
            DialectName::Codex => self.value(&["--output-last-message", "-o"]).map(PathBuf::from),
            DialectName::Claude
            | DialectName::Gemini
            | DialectName::Opencode
            | DialectName::Command => None,
        }
    }

    /// The prompt where the real programs take it: after `--`, after Gemini's `-p`, or as the last argument.
    fn prompt(&self, dialect: DialectName) -> Option<String> {
        let after_dashes =
            self.arguments.iter().skip(1).skip_while(|argument| *argument != "--").skip(1);
        let after_dashes: Vec<&str> = after_dashes.map(String::as_str).collect();
        if !after_dashes.is_empty() {
            return Some(after_dashes.join(" "));
        }
        match dialect {
            DialectName::Command => None,
            DialectName::Gemini => self.value(&["-p", "--prompt"]),
            DialectName::Claude | DialectName::Codex | DialectName::Opencode => {
                let last = self.rest().last()?;
                let is_command = self.rest().len() == 1 && matches!(last.as_str(), "exec" | "run");
                (!last.starts_with('-') && !is_command).then(|| last.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &[&str]) -> CommandLine {
        CommandLine { arguments: text.iter().map(|&word| word.to_owned()).collect() }
    }

    #[test]
    fn the_recommended_claude_command_gives_its_prompt_and_format() {
        let line = line(&[
            "/bin/claude",
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
            "--model",
            "claude-sonnet-4-5",
            "--settings",
            "{}",
            "--max-turns",
            "30",
            "--",
            "Make a report",
        ]);
        assert_eq!(line.prompt(DialectName::Claude).as_deref(), Some("Make a report"));
        assert_eq!(line.format(DialectName::Claude), Format::PartialEvents);
        assert_eq!(line.value(&["--model", "-m"]).as_deref(), Some("claude-sonnet-4-5"));
        assert_eq!(line.dialect(&AgentScript::default()).unwrap(), DialectName::Claude);
    }

    #[test]
    fn the_recommended_codex_command_gives_its_prompt_and_folder() {
        let line = line(&[
            "codex",
            "exec",
            "--json",
            "--skip-git-repo-check",
            "-C",
            "/w",
            "-m",
            "gpt-5.5",
            "-c",
            "a.b=false",
            "Make a report",
        ]);
        assert_eq!(line.prompt(DialectName::Codex).as_deref(), Some("Make a report"));
        assert_eq!(line.format(DialectName::Codex), Format::Events);
        assert_eq!(line.value(&["--cd", "-C"]).as_deref(), Some("/w"));
    }

    #[test]
    fn gemini_and_opencode_have_their_own_places_for_prompt_and_format() {
        let gemini =
            line(&["gemini", "--output-format", "stream-json", "--yolo", "-p", "Make a report"]);
        assert_eq!(gemini.prompt(DialectName::Gemini).as_deref(), Some("Make a report"));
        assert_eq!(gemini.format(DialectName::Gemini), Format::Events);
        let opencode = line(&["opencode", "run", "--format", "json", "-m", "p/m", "Make a report"]);
        assert_eq!(opencode.prompt(DialectName::Opencode).as_deref(), Some("Make a report"));
        assert_eq!(opencode.format(DialectName::Opencode), Format::Events);
    }

    #[test]
    fn without_a_prompt_on_the_line_it_comes_from_stdin() {
        assert_eq!(line(&["fake-agent"]).prompt(DialectName::Command), None);
        assert_eq!(
            line(&["claude", "-p", "--output-format=json", "-"]).prompt(DialectName::Claude),
            None
        );
        assert_eq!(line(&["codex", "exec"]).prompt(DialectName::Codex), None);
    }

    #[test]
    fn a_prompt_that_looks_like_a_flag_is_still_a_prompt() {
        let line = line(&["claude", "-p", "--", "--fake-steps"]);
        assert_eq!(line.prompt(DialectName::Claude).as_deref(), Some("--fake-steps"));
        assert_eq!(line.value(&["--fake-steps"]), None);
    }

    #[test]
    fn a_child_knows_what_it_is_for() {
        let words = ["fake-agent", "--fake-child", "7", "--fake-ready", "/r"].map(str::to_owned);
        let Request::Child(child) = Request::read(words.into()).unwrap() else {
            panic!("no child")
        };
        assert_eq!(child, ChildRequest { seconds: 7, ready: "/r".into() });
    }
}
