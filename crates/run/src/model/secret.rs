//! Keys and tokens, in a type that does not let them out.
//!
//! The caller takes them from the environment and hands them in as an [`Environment`]; this crate never reads the
//! environment itself. The one invariant: no `Debug`, `Display` or `Serialize` of anything that holds a [`Secret`] shows
//! its text. Only the code that sends it ([`Secret::expose`]) and the code that searches for it ([`Secret::scrub`])
//! ever see it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// What stands where a secret was.
pub const REDACTED: &str = "<secret>";

/// Shorter texts are not searched for: they occur by chance, and no real key is so short.
const SHORTEST: usize = 8;

/// A text that must not be shown, stored or logged.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for those who send it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The same text with every occurrence of the secret replaced; secrets of less than 8 bytes are not looked for.
    pub fn scrub(&self, text: &str) -> String {
        if self.0.len() < SHORTEST { text.to_owned() } else { text.replace(&self.0, REDACTED) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(REDACTED)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(REDACTED)
    }
}

/// Removes each of several secrets from a text.
pub(crate) fn scrub_all(secrets: &[Secret], text: &str) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| secret.scrub(&text))
}

/// Variables of the user that every program gets: where programs are, which language, how to reach the network. No keys.
pub const BASE_VARIABLES: [&str; 16] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// Variables of the environment, as the caller found them. Every value counts as secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, Secret>);

/// How the names of variables end whose values are keys or tokens, whoever they belong to.
const SECRET_NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"];

/// A value that is shorter, or has a space in it, is a setting and no key. What is scrubbed without need would make the
/// keys of a cassette depend on the machine.
const SHORTEST_VALUE: usize = 12;

impl Environment {
    /// The value of a variable; one that is blank counts as absent.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.0.get(name).filter(|value| !value.0.trim().is_empty())
    }

    /// The same with one variable more.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: Secret) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Whether a variable has a value.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The values of all variables that hold keys or tokens by their names: what a cassette must never contain.
    pub fn secrets(&self) -> Vec<Secret> {
        let is_secret = |name: &str, value: &str| {
            let name = name.to_ascii_uppercase();
            SECRET_NAMES.iter().any(|end| name.ends_with(end))
                && value.len() >= SHORTEST_VALUE
                && !value.contains(char::is_whitespace)
        };
        let secrets = self.0.iter().filter(|(name, value)| is_secret(name, value.0.trim()));
        secrets.map(|(_, value)| Secret::new(value.0.trim())).collect()
    }

    /// The variables with these names, those that have a value.
    pub(crate) fn pick(&self, names: &[&str]) -> Vec<(String, Secret)> {
        let found =
            names.iter().filter_map(|name| Some(((*name).to_owned(), self.get(name)?.clone())));
        found.collect()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let variables = variables.into_iter();
        Self(variables.map(|(name, value)| (name.into(), Secret::new(value))).collect())
    }
}

/// Names only.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-live-0123456789";

    #[test]
    fn a_secret_cannot_be_seen() {
        let secret = Secret::new(KEY);
        let environment: Environment = [("ANTHROPIC_API_KEY", KEY)].into_iter().collect();
        let shown = [
            format!("{secret} {secret:?} {secret:>40}"),
            serde_json::to_string(&secret).unwrap(),
            format!("{environment:?} {environment:#?}"),
        ];
        for text in shown {
            assert!(!text.contains("live"), "{text}");
        }
    }

    #[test]
    fn a_secret_is_found_in_other_texts_unless_it_is_too_short_to_be_one() {
        let secret = Secret::new(KEY);
        assert_eq!(secret.scrub(&format!("key {KEY}, {KEY}.")), "key <secret>, <secret>.");
        assert_eq!(Secret::new("abc").scrub("abc abcd"), "abc abcd");
        assert_eq!(Secret::new("").scrub("abc"), "abc");
    }

    #[test]
    fn blank_variables_count_as_absent() {
        let environment: Environment = [("A", " "), ("B", "x")].into_iter().collect();
        assert!(!environment.has("A") && environment.has("B") && !environment.has("C"));
        assert_eq!(environment.pick(&["A", "B", "C"]).len(), 1);
    }

    #[test]
    fn keys_and_tokens_are_known_by_their_names() {
        let secrets = |name: &str, value: &str| {
            let environment: Environment = [(name, value)].into_iter().collect();
            environment.secrets().len()
        };
        for name in ["OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "my_password", "TOKEN"] {
            assert_eq!(secrets(name, "0123456789ab"), 1, "{name}");
        }
        for (name, value) in [
            ("HOME", "/home/somebody"),
            ("KEYBOARD_LAYOUT", "us-international"),
            ("TOKENIZERS_PARALLELISM", "0123456789ab"),
            ("MY_KEY", "production"),
            ("MY_TOKEN", "not yet known to us"),
        ] {
            assert_eq!(secrets(name, value), 0, "{name}");
        }
    }
}
