//! docs/agents.md: the agents, their logins, and how to describe another one; from the tables in `crates/run`.

use std::fmt::Write as _;

use skillgauge_run::agent::adapter::{COMMAND_EVENTS, COMMON_FIELDS, EventField};
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
its own git repository, the input files, and the skill where the agent looks for skills (or no skill at all). git doesn't \
list the folder of skills there, so that `git status` is the same in every arm. The skill's \
`evals` folder, graders and other runs are out of reach. The agent's own bundled skills and the user's skills are off unless \
asked for. Of the environment an agent gets only the variables below, those that its descriptor names, and one login.

Nothing of a run stays behind: the agent and everything that it started is ended with the run, also when skillgauge itself is \
killed. Keys are read from the environment only and never written to a file.
";

const COMMAND: &str = "\
## Any program as an agent

`command:PROGRAM` runs any program: the prompt on standard input, the work folder as the current folder, the answer on \
standard output. Exit code 0 means that it is done. The skills are below the folder in `SKILLGAUGE_SKILLS`; `SKILLGAUGE_MODEL`, \
`SKILLGAUGE_MAX_TURNS` and `SKILLGAUGE_MAX_COST` are set when there is such a limit or model.

A program that wants to say more prints JSON objects, one a line:

```sh
echo '{\"type\":\"skill\",\"name\":\"my-skill\",\"state\":\"loaded\"}'
echo '{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}}'
echo '{\"type\":\"result\",\"text\":\"Done.\"}'
```

A `result` ends the run whatever the exit code is. Without one, exit code 0 ends it well, unless an `error` came. An object without \
`type` is part of the answer. An unknown `type` or field, or a `skill` without `state`, is a warning, once.

As a judge or another model, `command:PROGRAM` starts in the current folder with a small environment. It reads the question on standard \
input, with the JSON Schema of the answer, and the same as data in the file that `SKILLGAUGE_REQUEST` names. It writes its answer on standard output: \
plain text, or `{\"format\": \"model-answer\", \"text\": ...}` with `model`, `cost_usd` and `usage` where it knows them. Exit code 0 means that it answered, 75 that it \
is to be tried again later; any other is final. Standard error becomes the message.
";

const SERVICES: &str = "\
## When a service fails

A rate limit, an error of the service or a lost connection is never a result. skillgauge retries it (`--retries`, with backoff and with the delay that \
the service asks for, up to 5 minutes). After 5 such errors of one kind in a row everything pauses: nothing is started, and after the pause one \
try decides. Pauses last 15, 30 and 60 seconds; if the last try fails too, the command stops with exit code 3 and says what to do. The \
same holds for judges and other models. Run the same command again to resume. A run or probe that failed in 3 calls is left alone until \
you pass `--retry-failed`; failures of a call that stopped because of an outage, a login or a limit don't count. Reports count all calls that were made, those of \
earlier commands included, while `--max-calls` and `--max-cost` limit one command. A refused key \
stops at the first call. A fleet worker doesn't stop: it pauses until the service is back, \
and jobs that an outage kept from a result don't use up their deliveries. `run --fleet local` stops as `run` does.

Agents retry on their own, too, before they report an error:

| Agent | Requests for one attempt at a permanent 500 |
|---|---|
| `claude` | 4 (`CLAUDE_CODE_MAX_RETRIES=3`; 11 by default) |
| `codex` | 4 (a provider with `request_max_retries=1` and `stream_max_retries=1`; 30 by default). Without a connection Codex waits forever; skillgauge stops it after the third message about it |
| `gemini` | 4, by `general.maxAttempts` (with 2 it made 2; without a limit it was still retrying after 2 minutes) |
| `opencode` | 9 in about 90 seconds. 1.18.33 has no setting that limits it (`experimental.chatMaxRetries` changes nothing) |
";

const LOCAL: &str = "\
## Local judges

`openai:NAME` reaches any server that speaks OpenAI's chat completions (llama.cpp, Ollama, vLLM, LM Studio): set `OPENAI_BASE_URL` to its \
address, such as `http://127.0.0.1:8080/v1`, and `OPENAI_API_KEY` to anything. Ask one thing at a time with `--jobs 1`. Measure the \
judge before you believe it: `skillgauge grade SKILL --self-test`, then `skillgauge calibrate` (judge.md). Expect little of a \
small model. One that repeats itself writes until its limit on tokens; `--judge-context` bounds the answer, too.
";

const OPENCODE: &str = "\
## opencode with a gateway, Ollama or LM Studio

Name the model with its provider, as in `--agent opencode --model openai/gpt-5.5`. With `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL` the built-in \
providers ask your gateway instead; write them as for Codex (`http://HOST:PORT/v1`) and Claude Code (`http://HOST:PORT`).

For a provider of your own, write it into a file and name the file in `OPENCODE_CONFIG`. skillgauge doesn't read your usual `opencode.json`, so that \
nothing else of it reaches a run:

```json
{\"provider\": {\"ollama\": {\"npm\": \"@ai-sdk/openai-compatible\", \"name\": \"Ollama\",
  \"options\": {\"baseURL\": \"http://127.0.0.1:11434/v1\"}, \"models\": {\"qwen3:8b\": {}}}}}
```

```sh
OPENCODE_CONFIG=$PWD/providers.json skillgauge trigger my-skill --agent opencode --model ollama/qwen3:8b
```
";

const BEFORE: &str = "\
## Before the first call

Every command that pays for calls first checks what can be known for free: the agent and its login, the judge's name, program and key, whether \
something answers at a base URL that you set, and whether the temporary folder has 16 MiB of room. It stops with exit code 2 (a login, a name or an address that can't \
work) or 3 (nothing answers, no room) and the remedy. `skillgauge doctor` shows the same.
";

pub(crate) fn generate() -> Generated {
    let mut page = format!("{NOTICE}\n\n{INTRODUCTION}\n");
    let _ = writeln!(page, "Every agent gets: `{}`.\n", BASE_VARIABLES.join("`, `"));
    page.push_str("## Built-in agents and their logins\n\nThe first login that is set counts. \
         A version that was not tested is measured with a warning; one that was seen not to work, or to be measured wrongly, is \
         refused (how that was found: [design/007-probes.md](design/007-probes.md)). \
         Where an agent needs a newer Node than yours, plain `npm install` quietly takes an older version of the agent: \
         name the version, as in `npm install -g @anthropic-ai/claude-code@2.1.325`.\n\n");
    page.push_str(
        "| Agent | Install | Tested versions | Login | Skills in |\n|---|---|---|---|---|\n",
    );
    if let Ok(registry) = Registry::load(&[]) {
        for agent in registry.agents() {
            row(&mut page, agent);
        }
    }
    let _ = writeln!(page, "\n{BEFORE}\n{SERVICES}\n{OPENCODE}\n{COMMAND}");
    events(&mut page);
    descriptors(&mut page);
    models(&mut page);
    Generated { path: "docs/agents.md".into(), content: page }
}

/// The versions that were tested, with what they need and which ones are refused.
fn tested(agent: &Descriptor) -> String {
    let version = &agent.version;
    let mut parts = Vec::new();
    if let Some([oldest, newest]) = &version.tested {
        let is_one = oldest == newest;
        parts.push(if is_one { oldest.to_string() } else { format!("{oldest} to {newest}") });
    }
    parts.extend(version.node.as_ref().map(|node| format!("needs Node {node}")));
    parts.extend(version.minimum.as_ref().map(|oldest| format!("refused before {oldest}")));
    parts.join("; ")
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
    let (tested, logins) = (tested(agent), logins.join(", "));
    let _ = writeln!(page, "| `{name}` | {install} | {tested} | {logins} | `{skills}` |");
}

fn events(page: &mut String) {
    page.push_str("| `type` | What it says | Fields |\n|---|---|---|\n");
    let told = |fields: &[EventField]| {
        let each = fields.iter().map(|field| format!("`{}`: {}", field.name, field.takes));
        each.collect::<Vec<String>>().join("; ")
    };
    for event in &COMMAND_EVENTS {
        let _ = writeln!(page, "| `{}` | {} | {} |", event.name, event.about, told(event.fields));
    }
    let _ = writeln!(page, "| any | | {} |\n", told(&COMMON_FIELDS[1..]));
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
    let _ = write!(page, "\n{LOCAL}\n{}", include_str!("../../../live/results.md"));
}
