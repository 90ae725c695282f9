//! `auto`: picks what is there, and says why.
//!
//! A pure function of what the caller found. A key that is set was set on purpose, so the services come before the
//! programs; among the programs Claude Code comes first. The reasons are data: `doctor` shows them.

use serde::Serialize;

use super::error::ModelError;
use super::name::{DEFAULT, ModelName, ProviderKind};
use super::provider::{Access, Need, provider};

/// The models that `auto` considers, the most wanted first.
const CANDIDATES: [(ProviderKind, &str); 4] = [
    (ProviderKind::Anthropic, "claude-sonnet-4-5"),
    (ProviderKind::OpenAi, "gpt-5"),
    (ProviderKind::Claude, DEFAULT),
    (ProviderKind::Codex, DEFAULT),
];

/// What `auto` chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    pub model: ModelName,
    /// Every model that was considered, the most wanted first.
    pub considered: Vec<ModelCandidate>,
}

/// A model that `auto` considered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelCandidate {
    pub model: ModelName,
    /// What speaks for or against it.
    pub finding: Finding,
}

/// What speaks for or against a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum Finding {
    /// A variable with a key.
    Key {
        variable: String,
    },
    Program {
        program: String,
        /// The variable that holds a login for it; without one, the program has its own, or none.
        #[serde(skip_serializing_if = "Option::is_none")]
        login: Option<String>,
    },
    Missing {
        hint: String,
    },
    /// A server of one's own, whose models nobody can know.
    OwnServer {
        /// The variable with its address.
        variable: String,
    },
}

impl Finding {
    /// Whether the model can be used.
    pub fn is_usable(&self) -> bool {
        match self {
            Self::Key { .. } | Self::Program { .. } => true,
            Self::Missing { .. } | Self::OwnServer { .. } => false,
        }
    }
}

pub fn choose(access: &Access) -> Result<Choice, ModelError> {
    let considered: Vec<ModelCandidate> = CANDIDATES
        .into_iter()
        .map(|(kind, name)| ModelCandidate {
            model: ModelName::of(kind, name),
            finding: look_for(kind, access),
        })
        .collect();
    match considered.iter().find(|candidate| candidate.finding.is_usable()) {
        Some(first) => Ok(Choice { model: first.model.clone(), considered }),
        None => Err(ModelError::NothingFound {
            hints: considered.iter().map(ModelCandidate::hint).collect(),
        }),
    }
}

impl ModelCandidate {
    fn hint(&self) -> String {
        match &self.finding {
            Finding::Missing { hint } => hint.clone(),
            Finding::OwnServer { variable } => {
                format!("name a model of the server in {variable}, as in `openai:NAME`")
            }
            Finding::Key { variable } => format!("use {variable}"),
            Finding::Program { program, .. } => format!("use {program}"),
        }
    }
}

/// What there is of what a provider needs.
pub fn look_for(kind: ProviderKind, access: &Access) -> Finding {
    let environment = &access.environment;
    let first_set = |names: &[&str]| {
        names.iter().find(|name| environment.has(name)).map(|name| (*name).to_owned())
    };
    let key = |names: &[&str]| match first_set(names) {
        Some(variable) => Finding::Key { variable },
        None => {
            Finding::Missing { hint: format!("set {}", names.first().copied().unwrap_or_default()) }
        }
    };
    let needs = provider(kind).needs;
    let login = needs.iter().find_map(|need| match need {
        Need::Login(names) => first_set(names),
        _ => None,
    });
    for need in needs {
        match *need {
            Need::OneOf(names) => return key(names),
            Need::OneOfUnless(names, address) => {
                if environment.has(address) {
                    return Finding::OwnServer { variable: address.to_owned() };
                }
                return key(names);
            }
            Need::Program(program) => {
                let program = program.to_owned();
                if access.programs.contains_key(&program) {
                    return Finding::Program { program, login };
                }
                return Finding::Missing { hint: format!("install {program} and log in") };
            }
            Need::Address(_) | Need::Login(_) => {}
        }
    }
    Finding::Missing { hint: format!("name a program, as in `{}`", provider(kind).example) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Guard;

    fn access(variables: &[(&str, &str)], programs: &[&str]) -> Access {
        Access {
            environment: variables.iter().copied().collect(),
            programs: programs
                .iter()
                .map(|name| ((*name).to_owned(), format!("/bin/{name}").into()))
                .collect(),
            ..Access::new(Guard::new("/guard"), "/tmp", "/project")
        }
    }

    #[test]
    fn a_key_comes_before_a_program_and_claude_before_codex() {
        let (anthropic, openai) = (("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k"));
        for (variables, programs, expected) in [
            (&[anthropic, openai][..], &["claude"][..], "anthropic:claude-sonnet-4-5"),
            (&[("ANTHROPIC_AUTH_TOKEN", "t")], &[], "anthropic:claude-sonnet-4-5"),
            (&[openai], &["claude", "codex"], "openai:gpt-5"),
            (&[("ANTHROPIC_API_KEY", "  ")], &["claude", "codex"], "claude:default"),
            (&[], &["codex"], "codex:default"),
        ] {
            let choice = choose(&access(variables, programs)).unwrap();
            assert_eq!(choice.model.to_string(), expected);
            assert_eq!(choice.considered.len(), CANDIDATES.len());
        }
    }

    #[test]
    fn the_reasons_name_variables_and_programs_and_no_values() {
        let access = access(&[("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat-1")], &["claude"]);
        let choice = choose(&access).unwrap();
        let json = serde_json::to_value(&choice).unwrap();
        assert_eq!(json["model"], "claude:default");
        assert_eq!(json["considered"][0]["finding"]["hint"], "set ANTHROPIC_API_KEY");
        assert_eq!(json["considered"][2]["finding"]["login"], "CLAUDE_CODE_OAUTH_TOKEN");
        assert!(!json.to_string().contains("oat"));
    }

    #[test]
    fn the_model_of_a_server_of_ones_own_cannot_be_guessed() {
        let own =
            access(&[("OPENAI_BASE_URL", "http://127.0.0.1:1"), ("OPENAI_API_KEY", "k")], &[]);
        let error = choose(&own).unwrap_err().to_string();
        assert!(
            error.contains("name a model of the server in OPENAI_BASE_URL, as in `openai:NAME`"),
            "{error}"
        );
    }

    #[test]
    fn finding_nothing_says_what_would_help() {
        assert_eq!(
            choose(&access(&[], &[])).unwrap_err().to_string(),
            "no model found; set ANTHROPIC_API_KEY; or set OPENAI_API_KEY; or install claude and log in; or install \
             codex and log in"
        );
    }
}
