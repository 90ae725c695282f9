//! Names of models, as people write them: `anthropic:claude-sonnet-4-5`, `command:./judge.sh`, `auto`.
//!
//! [`ModelName`] is a name that was understood; which providers there are and what they need is the table in
//! [`super::PROVIDERS`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProviderKind {
    Anthropic,
    /// OpenAI's chat completions, or any server that speaks them.
    OpenAi,
    /// Claude Code, with the login that the user has.
    Claude,
    /// Codex, with the login that the user has.
    Codex,
    Command,
}

impl ProviderKind {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 5] =
        [Self::Anthropic, Self::OpenAi, Self::Claude, Self::Codex, Self::Command];

    /// Whether its models can be offered tools.
    pub const fn takes_tools(self) -> bool {
        matches!(self, Self::Anthropic | Self::OpenAi)
    }

    /// What stands before the colon.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Command => "command",
        }
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.prefix())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelName {
    Auto,
    /// A model of a provider.
    Of {
        provider: ProviderKind,
        /// The provider's own name for it; for `command` the command line.
        name: String,
    },
}

/// The name that lets Claude Code and Codex choose their own model.
pub const DEFAULT: &str = "default";

/// A text that names no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelNameError {
    /// There is no provider in front.
    #[error(
        "`{text}` does not say who answers; write `PROVIDER:{text}` with one of {}, or `auto`",
        prefixes()
    )]
    NoProvider { text: String },
    /// The provider is none that we know.
    #[error("no provider `{prefix}`; the providers are {}", prefixes())]
    UnknownProvider {
        /// What stands before the colon.
        prefix: String,
    },
    #[error("`{provider}:` needs a name after the colon")]
    NoName { provider: ProviderKind },
}

fn prefixes() -> String {
    ProviderKind::ALL.map(ProviderKind::prefix).join(", ")
}

impl ModelName {
    /// A model of a provider.
    pub fn of(provider: ProviderKind, name: impl Into<String>) -> Self {
        Self::Of { provider, name: name.into() }
    }
}

impl FromStr for ModelName {
    type Err = ModelNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let Some((prefix, name)) = text.split_once(':') else {
            return Err(ModelNameError::NoProvider { text: text.to_owned() });
        };
        let provider = ProviderKind::ALL.into_iter().find(|kind| kind.prefix() == prefix);
        let provider = provider
            .ok_or_else(|| ModelNameError::UnknownProvider { prefix: prefix.to_owned() })?;
        match name.trim() {
            "" => Err(ModelNameError::NoName { provider }),
            name => Ok(Self::of(provider, name)),
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Of { provider, name } => f.pad(&format!("{provider}:{name}")),
        }
    }
}

impl Serialize for ModelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ModelName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_read_as_people_write_them() {
        for (text, provider, name) in [
            ("anthropic:claude-sonnet-4-5", ProviderKind::Anthropic, "claude-sonnet-4-5"),
            ("openai:qwen3:8b", ProviderKind::OpenAi, "qwen3:8b"),
            ("claude:default", ProviderKind::Claude, DEFAULT),
            (" command: ./judge.sh --fast ", ProviderKind::Command, "./judge.sh --fast"),
        ] {
            assert_eq!(text.parse(), Ok(ModelName::of(provider, name)), "{text}");
        }
        assert_eq!("auto".parse(), Ok(ModelName::Auto));
    }

    #[test]
    fn a_text_that_names_no_model_says_what_to_write() {
        let message = |text: &str| text.parse::<ModelName>().unwrap_err().to_string();
        assert_eq!(
            message("gpt-5"),
            "`gpt-5` does not say who answers; write `PROVIDER:gpt-5` with one of anthropic, openai, claude, codex, \
             command, or `auto`"
        );
        assert_eq!(
            message("gemini:pro"),
            "no provider `gemini`; the providers are anthropic, openai, claude, codex, command"
        );
        assert_eq!(message("openai: "), "`openai:` needs a name after the colon");
    }

    proptest! {
        #[test]
        fn a_name_survives_its_text(provider in 0..5usize, name in "[!-~]([ -~]{0,20}[!-~])?") {
            let name = ModelName::of(ProviderKind::ALL[provider], name);
            prop_assert_eq!(name.to_string().parse(), Ok(name.clone()));
            let json = serde_json::to_string(&name).unwrap();
            prop_assert_eq!(serde_json::from_str::<ModelName>(&json).unwrap(), name);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<ModelName>();
        }
    }
}
