//! The providers: one table that says who there is, what each needs, and how to make it.
//!
//! Everything that goes through all providers (making a model, `auto`, `doctor`, the documentation) goes through
//! [`PROVIDERS`]. What is there to work with comes in as [`Access`]: the caller has looked at the environment and for
//! programs, this crate does not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::ask::Asker;
use super::ask::wire::{LimitName, Wire};
use super::error::ModelError;
use super::http::anthropic::{self, Anthropic};
use super::http::openai::{self, OpenAi};
use super::http::{Http, HttpSettings, ProxySettings, Timeouts, address};
use super::name::{ModelName, ProviderKind};
use super::price::{Price, Vendor, price_of};
use super::program::Runner;
use super::program::claude::{self, Claude};
use super::program::codex::{self, Codex};
use super::program::command::CommandModel;
use super::secret::{Environment, Secret};
use super::{Model, auto};
use crate::agent::is_program;
use crate::pool::{RetryRules, Services};
use crate::process::Guard;

/// What a model may use, as the caller found it.
#[derive(Clone, Debug)]
pub struct Access {
    /// The variables of the environment: keys, addresses, proxies.
    pub environment: Environment,
    /// The programs that were found, by name: `claude`, `codex`.
    pub programs: BTreeMap<String, PathBuf>,
    /// What guards programs while they run.
    pub guard: Guard,
    /// Where private folders are made.
    pub scratch: PathBuf,
    /// The folder that skillgauge works in; `command:` models start there.
    pub folder: PathBuf,
    /// Names of further variables that a `command:` model gets: its own keys.
    pub command_variables: Vec<String>,
    /// When to try again, and how long to wait before.
    pub retry: RetryRules,
    /// Where the jitter of these delays comes from.
    pub seed: u64,
    /// Limits on the parts of an HTTP exchange.
    pub timeouts: Timeouts,
    /// The services that the command asks, with their breakers.
    pub services: Services,
    /// What the user says that models cost, by `anthropic:NAME` or by the bare name.
    pub prices: BTreeMap<String, Price>,
}

impl Access {
    /// Nothing found yet, and the usual settings.
    pub fn new(guard: Guard, scratch: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        Self {
            environment: Environment::default(),
            programs: BTreeMap::new(),
            guard,
            scratch: scratch.into(),
            folder: folder.into(),
            command_variables: Vec::new(),
            retry: usual_retries(),
            seed: 42,
            timeouts: Timeouts::default(),
            services: Services::default(),
            prices: BTreeMap::new(),
        }
    }

    /// What the user says that a model costs.
    pub(crate) fn own_price(&self, provider: ProviderKind, model: &str) -> Option<Price> {
        let full = ModelName::of(provider, model).to_string();
        self.prices.get(&full).or_else(|| self.prices.get(model)).copied()
    }

    /// What a model costs where it will be asked: the user's word, or the list price at the vendor's own address.
    pub fn price_of(&self, model: &ModelName) -> Option<Price> {
        let ModelName::Of { provider, name } = model else { return None };
        let gateway = match provider {
            ProviderKind::Anthropic => "ANTHROPIC_BASE_URL",
            ProviderKind::OpenAi => "OPENAI_BASE_URL",
            // A program has its own ways.
            ProviderKind::Claude | ProviderKind::Codex | ProviderKind::Command => {
                return self.own_price(*provider, name);
            }
        };
        let listed = || price_of(*provider, name).filter(|_| !self.environment.has(gateway));
        self.own_price(*provider, name).or_else(listed)
    }

    fn program(&self, name: &str) -> Result<&Path, ModelError> {
        let found = self.programs.get(name).map(PathBuf::as_path);
        found.ok_or_else(|| ModelError::NoProgram { program: name.to_owned() })
    }

    fn runner(&self, passed_on: &[&str]) -> Runner {
        Runner::new(&self.guard, &self.scratch, &self.environment, passed_on)
    }
}

/// As for probes, but sooner: a question is not a whole run.
fn usual_retries() -> RetryRules {
    let mut rules = RetryRules::for_probes().retries(3);
    rules.first_delay = Duration::from_millis(500);
    rules
}

pub struct Provider {
    pub kind: ProviderKind,
    /// What it is, for people.
    pub about: &'static str,
    /// A name that it understands.
    pub example: &'static str,
    pub needs: &'static [Need],
    connect: fn(&str, &Access) -> Result<Connection, ModelError>,
}

/// A wire, and the name of the limit to begin with.
pub(super) type Connection = (Box<dyn Wire>, LimitName);

/// Something that a provider needs or can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    OneOf(&'static [&'static str]),
    /// One of these variables, unless that one is set: a server of one's own often wants no key.
    OneOfUnless(&'static [&'static str], &'static str),
    /// This variable changes the address.
    Address(&'static str),
    Program(&'static str),
    /// One of these variables holds a login; without any, the program's own login is used.
    Login(&'static [&'static str]),
}

/// The table, in the order of [`ProviderKind::ALL`].
pub static PROVIDERS: [Provider; 5] = [
    Provider {
        kind: ProviderKind::Anthropic,
        about: "Anthropic's Messages API, or a gateway that speaks it",
        example: "anthropic:claude-sonnet-4-5",
        needs: &[
            Need::OneOf(&["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]),
            Need::Address("ANTHROPIC_BASE_URL"),
        ],
        connect: connect_anthropic,
    },
    Provider {
        kind: ProviderKind::OpenAi,
        about: "OpenAI's chat completions, or any server that speaks them: Ollama, vLLM, llama.cpp, gateways",
        example: "openai:gpt-5",
        needs: &[
            Need::OneOfUnless(&["OPENAI_API_KEY"], "OPENAI_BASE_URL"),
            Need::Address("OPENAI_BASE_URL"),
        ],
        connect: connect_openai,
    },
    Provider {
        kind: ProviderKind::Claude,
        about: "Claude Code with your login, without tools; `claude:default` takes its own model",
        example: "claude:sonnet",
        needs: &[
            Need::Program("claude"),
            Need::Login(&["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]),
        ],
        connect: connect_claude,
    },
    Provider {
        kind: ProviderKind::Codex,
        about: "Codex with your login, read-only; `codex:default` takes its own model",
        example: "codex:gpt-5.5",
        needs: &[Need::Program("codex"), Need::Login(&["CODEX_API_KEY", "OPENAI_API_KEY"])],
        connect: connect_codex,
    },
    Provider {
        kind: ProviderKind::Command,
        about: "any program: the prompt on stdin, the answer on stdout",
        example: "command:./judge.sh",
        needs: &[],
        connect: connect_command,
    },
];

/// The row of a provider.
pub fn provider(kind: ProviderKind) -> &'static Provider {
    // The table has a row for every kind, in the same order; a test holds that.
    &PROVIDERS[kind as usize]
}

/// Makes a model that asks for real.
pub fn connect(name: &ModelName, access: &Access) -> Result<Arc<dyn Model>, ModelError> {
    let chosen;
    let resolved = match name {
        ModelName::Auto => {
            chosen = auto::choose(access)?.model;
            &chosen
        }
        ModelName::Of { .. } => name,
    };
    let ModelName::Of { provider: kind, name: own_name } = resolved else {
        return Err(ModelError::NothingFound { hints: Vec::new() });
    };
    let connection = (provider(*kind).connect)(own_name, access)?;
    let breaker = access.services.breaker(service(*kind, resolved));
    Ok(Arc::new(Asker::new(resolved.clone(), connection, (access.retry, access.seed), breaker)))
}

/// What a model's service is called when it fails: all models of a provider have one, and every program is its own.
fn service(kind: ProviderKind, name: &ModelName) -> String {
    match kind {
        ProviderKind::Command => format!("the model `{name}`"),
        ProviderKind::Anthropic
        | ProviderKind::OpenAi
        | ProviderKind::Claude
        | ProviderKind::Codex => format!("the service of `{}:` models", kind.prefix()),
    }
}

fn http(
    access: &Access,
    url: reqwest::Url,
    secret_headers: Vec<(&'static str, &'static str, Secret)>,
    headers: Vec<(&'static str, &'static str)>,
) -> Result<Http, ModelError> {
    let proxy = ProxySettings::from_environment(&access.environment);
    Http::new(HttpSettings {
        url,
        secret_headers,
        headers,
        timeouts: access.timeouts,
        proxy: &proxy,
    })
}

const JSON: (&str, &str) = ("content-type", "application/json");

fn connect_anthropic(name: &str, access: &Access) -> Result<Connection, ModelError> {
    let environment = &access.environment;
    let key = match (environment.get("ANTHROPIC_API_KEY"), environment.get("ANTHROPIC_AUTH_TOKEN"))
    {
        (Some(key), _) => ("x-api-key", "", key.clone()),
        (None, Some(token)) => ("authorization", "Bearer ", token.clone()),
        (None, None) => {
            return Err(ModelError::no_key(ProviderKind::Anthropic, "ANTHROPIC_API_KEY"));
        }
    };
    let base = environment.get("ANTHROPIC_BASE_URL").map_or(anthropic::BASE_URL, Secret::expose);
    // Some write the address as OpenAI's clients want it.
    let base = base.trim().trim_end_matches('/').trim_end_matches("/v1");
    let url = address("ANTHROPIC_BASE_URL", base, anthropic::PATH)?;
    let vendor = Vendor::at(&url, anthropic::BASE_URL);
    let http = http(access, url, vec![key], vec![JSON, ("anthropic-version", anthropic::VERSION)])?;
    let price = access.own_price(ProviderKind::Anthropic, name);
    Ok((Box::new(Anthropic { model: name.to_owned(), http, vendor, price }), LimitName::MaxTokens))
}

fn connect_openai(name: &str, access: &Access) -> Result<Connection, ModelError> {
    let environment = &access.environment;
    let base = environment.get("OPENAI_BASE_URL");
    let key = environment.get("OPENAI_API_KEY");
    if key.is_none() && base.is_none() {
        return Err(ModelError::no_key(ProviderKind::OpenAi, "OPENAI_API_KEY"));
    }
    let key = key.map(|key| ("authorization", "Bearer ", key.clone()));
    let base = base.map_or(openai::BASE_URL, Secret::expose);
    let mut url = address("OPENAI_BASE_URL", base, openai::PATH)?;
    if url.path() == openai::PATH {
        // An address without any path: every server that we know has its protocol below /v1.
        url.set_path(&format!("/v1{}", openai::PATH));
    }
    let vendor = Vendor::at(&url, openai::BASE_URL);
    let limit_name = match vendor {
        Vendor::Own => LimitName::MaxCompletionTokens,
        Vendor::Other => LimitName::MaxTokens,
    };
    let http = http(access, url, key.into_iter().collect(), vec![JSON])?;
    let price = access.own_price(ProviderKind::OpenAi, name);
    Ok((Box::new(OpenAi { model: name.to_owned(), http, vendor, price }), limit_name))
}

fn connect_claude(name: &str, access: &Access) -> Result<Connection, ModelError> {
    let program = access.program("claude")?.to_owned();
    let runner = access.runner(&claude::VARIABLES);
    Ok((Box::new(Claude { program, model: name.to_owned(), runner }), LimitName::MaxTokens))
}

fn connect_codex(name: &str, access: &Access) -> Result<Connection, ModelError> {
    let program = access.program("codex")?.to_owned();
    let mut access = access.clone();
    // Codex takes a key only from the variable of its own name; with the usual one it sends none.
    if !access.environment.has("CODEX_API_KEY")
        && let Some(key) = access.environment.get("OPENAI_API_KEY").cloned()
    {
        access.environment = access.environment.with("CODEX_API_KEY", key);
    }
    let runner = access.runner(&codex::VARIABLES);
    let base_url = access.environment.get("OPENAI_BASE_URL").cloned();
    Ok((
        Box::new(Codex { program, model: name.to_owned(), runner, base_url }),
        LimitName::MaxTokens,
    ))
}

fn connect_command(line: &str, access: &Access) -> Result<Connection, ModelError> {
    let passed_on: Vec<&str> = access.command_variables.iter().map(String::as_str).collect();
    let model = CommandModel::parse(line, &access.folder, access.runner(&passed_on))?;
    find_command(&model.program, access)?;
    Ok((Box::new(model), LimitName::MaxTokens))
}

/// A program that is missing is told now, and not by the first question, for which a whole batch of agents may have been
/// paid.
fn find_command(program: &Path, access: &Access) -> Result<(), ModelError> {
    let name = program.display().to_string();
    if program.parent().is_some_and(|folder| !folder.as_os_str().is_empty()) {
        return match program.is_file() {
            true if is_program(program) => Ok(()),
            true => Err(ModelError::Setting {
                setting: format!("`{name}`"),
                detail: "the file may not be executed; `chmod +x` makes it a program".to_owned(),
            }),
            false => Err(ModelError::NoProgram { program: name }),
        };
    }
    // Without a PATH the system decides where to look.
    let Some(folders) = access.environment.get("PATH") else { return Ok(()) };
    let mut folders = std::env::split_paths(folders.expose());
    let is_found = folders.any(|folder| is_program(&access.folder.join(folder).join(program)));
    if is_found { Ok(()) } else { Err(ModelError::NoProgram { program: name }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(variables: &[(&str, &str)]) -> Access {
        let environment = variables.iter().copied().collect();
        Access { environment, ..Access::new(Guard::new("/guard"), "/tmp", "/project") }
    }

    fn error(name: &str, access: &Access) -> ModelError {
        connect(&name.parse().unwrap(), access).unwrap_err()
    }

    #[test]
    fn the_table_has_a_row_for_every_provider_in_order() {
        for (number, row) in PROVIDERS.iter().enumerate() {
            assert_eq!(row.kind as usize, number);
            assert_eq!(provider(row.kind).kind, row.kind);
            let example: ModelName = row.example.parse().unwrap();
            assert!(matches!(example, ModelName::Of { provider, .. } if provider == row.kind));
        }
        assert_eq!(PROVIDERS.len(), ProviderKind::ALL.len());
    }

    #[test]
    fn what_is_missing_is_named() {
        let empty = access(&[]);
        assert_eq!(
            error("anthropic:m", &empty),
            ModelError::no_key(ProviderKind::Anthropic, "ANTHROPIC_API_KEY")
        );
        assert_eq!(
            error("openai:m", &empty),
            ModelError::no_key(ProviderKind::OpenAi, "OPENAI_API_KEY")
        );
        assert_eq!(error("claude:m", &empty), ModelError::NoProgram { program: "claude".into() });
        assert_eq!(error("codex:m", &empty), ModelError::NoProgram { program: "codex".into() });
        let bad = access(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "nonsense")]);
        assert!(
            matches!(error("anthropic:m", &bad), ModelError::Setting { setting, .. } if setting == "ANTHROPIC_BASE_URL")
        );
    }

    #[test]
    fn a_server_of_ones_own_needs_no_key() {
        let local = access(&[("OPENAI_BASE_URL", "http://127.0.0.1:11434")]);
        let model = connect(&"openai:qwen3:8b".parse().unwrap(), &local).unwrap();
        assert_eq!(model.name().to_string(), "openai:qwen3:8b");
    }

    #[test]
    fn nothing_that_is_made_shows_a_key() {
        let key = "sk-ant-0123456789";
        let mut access =
            access(&[("ANTHROPIC_API_KEY", key), ("OPENAI_API_KEY", key), ("MY_KEY", key)]);
        access.command_variables = vec!["MY_KEY".into()];
        access.programs = [("claude", "/c"), ("codex", "/x")]
            .map(|(name, path)| (name.into(), path.into()))
            .into();
        for row in &PROVIDERS {
            let example =
                if row.kind == ProviderKind::Command { "command:sh" } else { row.example };
            let model = connect(&example.parse().unwrap(), &access).unwrap();
            let shown = format!("{model:?} {access:?}");
            assert!(!shown.contains("0123456789"), "{shown}");
        }
    }
}
