//! Claude Code as a model, with the login that the user has.
//!
//! Headless, one turn, no tools, no settings, no MCP servers, no skills, no session on disk; the prompt comes on stdin and
//! the system text from a file, so that neither is limited by the length of a command line. Measured with 2.1.325: the
//! request then holds no tool, and besides the prompt only a few lines about the machine.

use std::path::PathBuf;

use skillgauge_format::transcript::Usage;

use crate::model::ask::wire::{Call, Calling, Wire};
use crate::model::name::DEFAULT;
use crate::model::program::cli::Cli;
use crate::model::program::{Invocation, Runner};
use crate::model::response::AnswerFormat;

/// Variables with which the user can log in or choose an address.
pub(in crate::model) const VARIABLES: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
];

/// What keeps the program quiet, and leaves retries to us.
const QUIET: [(&str, &str); 6] = [
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("CLAUDE_CODE_DISABLE_BUNDLED_SKILLS", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "0"),
];

#[derive(Debug)]
pub(in crate::model) struct Claude {
    pub(in crate::model) program: PathBuf,
    pub(in crate::model) model: String,
    pub(in crate::model) runner: Runner,
}

impl Wire for Claude {
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::PlainText]
    }

    fn call<'c>(&'c self, call: &'c Call<'c>) -> Calling<'c> {
        Box::pin(async move {
            let workshop = self.runner.workshop()?;
            // An empty system text would bring the program's own, which makes an agent of the model.
            let system =
                workshop.write("system.txt", call.system().unwrap_or("Answer the user."))?;
            let flags = [
                "--output-format",
                "stream-json",
                "--verbose",
                "--setting-sources",
                "",
                "--strict-mcp-config",
                "--no-session-persistence",
                "--disable-slash-commands",
                "--max-turns",
                "1",
                "--tools",
                "",
                "--system-prompt-file",
            ];
            let mut arguments: Vec<String> = flags.map(str::to_owned).to_vec();
            arguments.push(system.display().to_string());
            if self.model != DEFAULT {
                arguments.extend(["--model".to_owned(), self.model.clone()]);
            }
            arguments.push("-p".to_owned());
            let invocation = Invocation {
                program: &self.program,
                folder: None,
                arguments,
                variables: QUIET.map(|(name, value)| (name, value.to_owned())).to_vec(),
                stdin: call.user_text(),
                limit: call.request.timeout,
            };
            let finished = self.runner.run(&workshop, invocation).await?;
            Cli { adapter: "claude", program: "claude", model: &self.model }.reply(finished, call)
        })
    }

    fn cost(&self, _: &Usage, _: Option<&str>) -> Option<f64> {
        // The program says it itself, or does not know.
        None
    }
}
