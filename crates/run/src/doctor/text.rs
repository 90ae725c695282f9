//! A report as text, for people. Works without colours; every line says one thing.

use std::fmt::Write as _;

use skillgauge_core::text::printable;

use super::report::{AgentReport, ModelReport, Report, Standing};
use crate::agent::descriptor::PromptVia;
use crate::model::auto::Finding;

/// How wide the column of names is.
const NAME: usize = 12;
/// How wide the column of what a line says is.
const WHAT: usize = 10;

impl Standing {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NoLogin => "no login",
            Self::TooOld => "too old",
            Self::NotFound => "not found",
            Self::Broken => "broken",
        }
    }
}

impl Report {
    pub fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.heading("Agents");
        for agent in &self.agents {
            lines.agent(agent);
        }
        lines.line(
            "command",
            "",
            "any program: write `command:PROGRAM`, or describe it in skillgauge.toml",
        );
        lines.line("auto", "agent", &self.auto_agent());
        lines.heading("\nModels");
        for model in &self.models {
            lines.model(model);
        }
        lines.line("auto", "model", &self.auto_model());
        // Only when it is a problem: how much is free says nothing to most.
        if let Some(problem) = &self.scratch.problem {
            lines.heading("\nRoom");
            lines.line("temporary", "missing", problem);
        }
        lines.text
    }

    fn auto_agent(&self) -> String {
        let considered = &self.auto_agent.considered;
        let passed_over: Vec<&str> = considered
            .iter()
            .filter(|considered| considered.against.is_some())
            .map(|considered| considered.agent.as_str())
            .collect();
        match &self.auto_agent.chosen {
            Some(chosen) if passed_over.is_empty() => {
                format!("{chosen}, the first that is there and logged in")
            }
            Some(chosen) => {
                format!(
                    "{chosen}, the first that is there and logged in; not {}",
                    passed_over.join(", ")
                )
            }
            None => "none can be used".to_owned(),
        }
    }

    fn auto_model(&self) -> String {
        match (&self.auto_model.chosen, &self.auto_model.missing) {
            (Some(chosen), _) => chosen.to_string(),
            (None, Some(missing)) => missing.clone(),
            (None, None) => "none can be used".to_owned(),
        }
    }
}

#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn heading(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{text}");
    }

    fn line(&mut self, name: &str, what: &str, text: &str) {
        let line = format!("  {name:NAME$}{what:WHAT$}  {}", printable(text));
        let _ = writeln!(self.text, "{}", line.trim_end());
    }

    fn agent(&mut self, agent: &AgentReport) {
        let version = agent.version.as_ref().map(ToString::to_string).unwrap_or_default();
        let program = agent.program.as_ref().map(|program| program.display().to_string());
        let found = [version, program.clone().unwrap_or_default()];
        let found: Vec<String> = found.into_iter().filter(|text| !text.is_empty()).collect();
        self.line(agent.name.as_str(), agent.standing.as_str(), &found.join("  "));
        if let Some(launcher) = &agent.launcher {
            self.line("", "launcher", &launcher.display().to_string());
        }
        if let Some(untested) = &agent.untested {
            self.line("", "untested", untested);
        }
        for login in &agent.login.used {
            self.line("", "login", &format!("{} ({})", login.place, login.about));
        }
        for ignored in &agent.login.ignored {
            self.line("", "", &format!("{ignored} is set, too, and does not count"));
        }
        for unusable in &agent.login.unusable {
            self.line("", "", unusable);
        }
        for address in &agent.addresses {
            self.line("", "address", &address.text());
        }
        if let Some(missing) = &agent.missing {
            self.line("", "missing", missing);
        }
        if agent.standing != Standing::NotFound {
            let stdin = match agent.prompt {
                PromptVia::Argument => "",
                PromptVia::Stdin => " < {prompt}",
            };
            let program = program.unwrap_or_else(|| agent.name.to_string());
            let arguments: Vec<String> =
                agent.arguments.iter().map(|argument| quoted(argument)).collect();
            self.line("", "called as", &format!("{program} {}{stdin}", arguments.join(" ")));
            self.line("", "skills in", &format!("{{work}}/{}", agent.skills));
            if let Some(note) = &agent.note {
                self.line("", "note", note);
            }
        }
    }

    fn model(&mut self, model: &ModelReport) {
        let (standing, text) = match &model.finding {
            Finding::Key { variable } => ("ready", format!("key in {variable}")),
            Finding::Program { program, login: Some(login) } => {
                ("ready", format!("program {program}, login in {login}"))
            }
            Finding::Program { program, login: None } => {
                ("found", format!("program {program}, with its own login if it has one"))
            }
            Finding::OwnServer { variable } => {
                ("ready", format!("a server of your own in {variable}"))
            }
            Finding::Missing { hint } => ("missing", hint.clone()),
        };
        self.line(&model.provider, standing, &text);
        if let Some(address) = &model.address {
            self.line("", "address", &address.text());
        }
        self.line("", "such as", &model.example);
    }
}

/// An argument as one would type it; brackets of optional ones stay.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,{}[] ".contains(c);
    let is_optional = argument.starts_with('[') && argument.ends_with(']');
    if is_optional || (argument.chars().all(is_plain) && !argument.contains(' ')) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}
