//! docs/agents.md: the agents, their logins, and how to describe another one; from the tables in `crates/run`.

use std::fmt::Write as _;

use skillgauge_run::agent::descriptor::{KEYS, LOGIN_KEYS, LoginSource, SLOTS};
use skillgauge_run::agent::{BASE_VARIABLES, Descriptor, Registry};
use skillgauge_run::model::PROVIDERS;

use crate::{Generated, NOTICE};

const INTRODUCTION: &str = "\
# Agents and models

An **agent** carries out a prompt in a folder with tools. A **model** answers a prompt with text or JSON. `skillgauge doctor` \
shows which of them can be used here, how they will be called, and what is missing.

## What a run can see

Each run has a folder of its own, removed afterwards: a private home, settings and temporary folder, and a work folder with \
its own git repository, the input files, and the skill where the agent looks for skills (or no skill at all). The skill's \
`evals` folder, graders and other runs are out of reach. The agent's own bundled skills and the user's skills are off unless \
asked for. Of the environment an agent gets only the variables below, those that its descriptor names, and one login.

Nothing of a run stays behind: the agent and everything that it started is ended with the run, also when skillgauge itself is \
killed. Keys are read from the environment only and never written to a file.
";

const COMMAND: &str = "\
## Any program as an agent

`command:PROGRAM` runs any program: the prompt on standard input, the work folder as the current folder, the answer on \
standard output. A program that wants to say more prints JSON objects, one a line: `text`, `tool_use`, `tool_result`, `skill`, \
`usage`, `error`, `result`; `crates/run/src/agent/adapter/command.rs` lists their fields.
";

pub(crate) fn generate() -> Generated {
    let mut page = format!("{NOTICE}\n\n{INTRODUCTION}\n");
    let _ = writeln!(page, "Every agent gets: `{}`.\n", BASE_VARIABLES.join("`, `"));
    page.push_str("## Built-in agents and their logins\n\nThe first login that is set counts.\n\n");
    page.push_str("| Agent | Install | Login | Skills in |\n|---|---|---|---|\n");
    if let Ok(registry) = Registry::load(&[]) {
        for agent in registry.agents() {
            row(&mut page, agent);
        }
    }
    let _ = writeln!(page, "\n{COMMAND}");
    descriptors(&mut page);
    models(&mut page);
    Generated { path: "docs/agents.md".into(), content: page }
}

fn row(page: &mut String, agent: &Descriptor) {
    let login = |source: &LoginSource| match source {
        LoginSource::Variable { name, .. } => format!("`{name}`"),
        LoginSource::File { .. } => "the agent's own login file".to_owned(),
    };
    let logins =
        agent.login.iter().map(|found| format!("{} ({})", login(&found.source), found.about));
    let logins: Vec<String> = logins.collect();
    let install =
        agent.install.as_deref().map(|install| format!("`{install}`")).unwrap_or_default();
    let (name, skills) = (&agent.name, &agent.skills);
    let _ = writeln!(page, "| `{name}` | {install} | {} | `{skills}` |", logins.join(", "));
}

fn descriptors(page: &mut String) {
    page.push_str(
        "## Describe another agent\n\nIn `skillgauge.toml` as `[agents.NAME]`, or in a file of its own as \
         `agents/NAME.toml`. The built-in ones in `crates/run/agents/` are examples.\n\n",
    );
    page.push_str("```toml\n[agents.my-claude]\nextends = \"claude\"\nextra-arguments = [\"--effort\", \"high\"]\n```\n\n");
    page.push_str("| Key | Takes | What it is for |\n|---|---|---|\n");
    for key in &KEYS {
        let _ = writeln!(page, "| `{}` | {} | {} |", key.name, key.takes, key.about);
    }
    page.push_str("\nKeys of a `[[login]]`:\n\n| Key | Takes | What it is for |\n|---|---|---|\n");
    for key in &LOGIN_KEYS {
        let _ = writeln!(page, "| `{}` | {} | {} |", key.name, key.takes, key.about);
    }
    page.push_str("\nPlaceholders:\n\n| Placeholder | What it is |\n|---|---|\n");
    for (name, _, _, about) in &SLOTS {
        let _ = writeln!(page, "| `{{{name}}}` | {about} |");
    }
    page.push('\n');
}

fn models(page: &mut String) {
    page.push_str("## Models\n\n| Name | What it is |\n|---|---|\n");
    for provider in &PROVIDERS {
        let _ = writeln!(page, "| `{}` | {} |", provider.example, provider.about);
    }
    page.push_str("| `auto` | what is there; `skillgauge doctor` says which and why |\n");
}
