//! Codex as a model, with the login that the user has.
//!
//! Headless, read-only, without the user's settings (but with the login), rules, skills, plugins and project documents. The
//! features that are tools are switched off one by one, because there is no flag for all; what cannot be switched off
//! (0.166.0: a question to the user, and a patch, which the sandbox refuses) does no harm. `-c features.x=false` is used
//! instead of `--disable x` since it does not fail for a feature that another version does not know.

use std::path::PathBuf;

use skillgauge_format::transcript::Usage;

use crate::model::ask::wire::{Call, Calling, Wire};
use crate::model::name::DEFAULT;
use crate::model::program::cli::Cli;
use crate::model::program::{Invocation, Runner};
use crate::model::response::AnswerFormat;
use crate::model::secret::Secret;

/// Variables with which the user can log in or choose an address.
pub(in crate::model) const VARIABLES: [&str; 4] =
    ["OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME"];

/// Features that are tools, or would fetch something.
const OFF: [&str; 10] = [
    "plugins",
    "apps",
    "shell_snapshot",
    "shell_tool",
    "unified_exec",
    "goals",
    "multi_agent",
    "image_generation",
    "view_image",
    "hooks",
];

#[derive(Debug)]
pub(in crate::model) struct Codex {
    pub(in crate::model) program: PathBuf,
    pub(in crate::model) model: String,
    pub(in crate::model) runner: Runner,
    /// The address of the service, when it is not the usual one.
    pub(in crate::model) base_url: Option<Secret>,
}

impl Wire for Codex {
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::PlainText]
    }

    fn call<'c>(&'c self, call: &'c Call<'c>) -> Calling<'c> {
        Box::pin(async move {
            let workshop = self.runner.workshop()?;
            let system =
                workshop.write("system.txt", call.system().unwrap_or("Answer the user."))?;
            let mut settings: Vec<String> =
                OFF.map(|feature| format!("features.{feature}=false")).to_vec();
            settings.extend([
                "analytics.enabled=false".to_owned(),
                "skills.bundled.enabled=false".to_owned(),
                "skills.include_instructions=false".to_owned(),
                "project_doc_max_bytes=0".to_owned(),
                "web_search=\"disabled\"".to_owned(),
                format!("model_instructions_file={}", toml_text(&system.display().to_string())),
            ]);
            settings.extend(provider(self.base_url.as_ref()));
            let flags =
                ["exec", "--json", "--skip-git-repo-check", "--ephemeral", "--ignore-rules"];
            let mut arguments: Vec<String> = flags.map(str::to_owned).to_vec();
            arguments.extend(["--ignore-user-config", "-s", "read-only"].map(str::to_owned));
            arguments.extend(["-C".to_owned(), workshop.path("work").display().to_string()]);
            if self.model != DEFAULT {
                arguments.extend(["-m".to_owned(), self.model.clone()]);
            }
            arguments.extend(settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]));
            arguments.push("-".to_owned());
            let invocation = Invocation {
                program: &self.program,
                folder: None,
                arguments,
                variables: Vec::new(),
                stdin: call.user_text(),
                limit: call.request.timeout,
            };
            let finished = self.runner.run(&workshop, invocation).await?;
            Cli { adapter: "codex", program: "codex", model: &self.model }.reply(finished, call)
        })
    }

    fn cost(&self, _: &Usage, _: Option<&str>) -> Option<f64> {
        // A login may be a subscription, so list prices say nothing.
        None
    }
}

/// OpenAI's own service or the user's, with few retries of its own: we retry ourselves. As in agents/codex.toml, which says
/// why the built-in provider is not used.
fn provider(base_url: Option<&Secret>) -> [String; 2] {
    let address = base_url.map(|url| format!("base_url={},", toml_text(url.expose())));
    [
        "model_provider=\"limited\"".to_owned(),
        format!(
            "model_providers.limited={{name=\"OpenAI\",{}wire_api=\"responses\",requires_openai_auth=true,\
             request_max_retries=0,stream_max_retries=0}}",
            address.unwrap_or_default()
        ),
    ]
}

/// A text as TOML writes it; a JSON string is one.
fn toml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
