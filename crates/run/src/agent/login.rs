//! Which logins of the user an agent can use: by name, never by what they are.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::descriptor::{
    Descriptor, Login, LoginHint, LoginRule, LoginSource, Slot, Template, Values,
};
use crate::model::{Environment, Secret};

/// A file of a login that is larger than this holds something else.
const MAX_FILE: u64 = 1 << 20;
/// Texts in it that are at least this long are taken for secrets.
const SHORTEST_TOKEN: usize = 20;

/// A login that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoginEntry {
    pub(crate) login: Login,
    /// The file that holds it; absent for a variable.
    pub(crate) file: Option<PathBuf>,
    /// Where it is, in a form that says nothing about this machine.
    pub(crate) source: String,
}

impl LoginEntry {
    /// Where it is on this machine.
    pub(crate) fn place(&self) -> String {
        self.file.as_ref().map_or_else(|| self.source.clone(), |file| file.display().to_string())
    }

    /// What is in its file and must not be written down.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let Some(file) = &self.file else { return Vec::new() };
        let is_small = fs_err::metadata(file).is_ok_and(|data| data.len() <= MAX_FILE);
        let text = if is_small { fs_err::read(file).unwrap_or_default() } else { Vec::new() };
        let value = serde_json::from_slice(&text).unwrap_or(Value::Null);
        let mut secrets = Vec::new();
        collect(&value, &mut secrets);
        secrets
    }
}

fn collect(value: &Value, secrets: &mut Vec<Secret>) {
    match value {
        Value::String(text) if text.len() >= SHORTEST_TOKEN => secrets.push(Secret::new(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, secrets)),
        Value::Object(fields) => fields.values().for_each(|item| collect(item, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The logins that an agent gets, the one that counts first.
pub(crate) fn find(descriptor: &Descriptor, environment: &Environment) -> Vec<LoginEntry> {
    let mut found = all(descriptor, environment);
    match descriptor.login_rule {
        LoginRule::First => found.truncate(1),
        LoginRule::All => {}
    }
    found
}

/// All logins that are there, also those that do not count.
pub(crate) fn all(descriptor: &Descriptor, environment: &Environment) -> Vec<LoginEntry> {
    let found = descriptor.login.iter().filter_map(|login| match &login.source {
        LoginSource::Variable { name, .. } => environment.has(name).then(|| LoginEntry {
            login: login.clone(),
            file: None,
            source: name.clone(),
        }),
        LoginSource::File { paths, .. } => {
            let (source, file) = first_file(paths, environment)?;
            Some(LoginEntry { login: login.clone(), file: Some(file), source })
        }
    });
    found.collect()
}

/// The logins that are there and cannot be used.
pub(crate) fn hints<'d>(
    descriptor: &'d Descriptor,
    environment: &Environment,
) -> Vec<(&'d LoginHint, PathBuf)> {
    let hints = descriptor.login_hints.iter();
    hints.filter_map(|hint| Some((hint, first_file(&hint.paths, environment)?.1))).collect()
}

fn first_file(paths: &[Template], environment: &Environment) -> Option<(String, PathBuf)> {
    paths.iter().find_map(|path| {
        let values = path.slots().fold(Values::default(), |values, slot| match slot {
            Slot::Variable(name) => {
                values.with_some(slot.clone(), environment.get(name).map(Secret::expose))
            }
            _ => values,
        });
        let file = PathBuf::from(path.fill(&values)?);
        is_there(&file).then(|| (path.to_string(), file))
    })
}

fn is_there(file: &Path) -> bool {
    file.is_absolute() && file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::registry::Registry;

    fn places(agent: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let registry = Registry::load(&[]).unwrap();
        let descriptor = registry.get(agent, Path::new("/")).unwrap();
        let environment = variables.iter().copied().collect();
        find(&descriptor, &environment).iter().map(LoginEntry::place).collect()
    }

    #[test]
    fn a_key_outranks_a_token_and_blank_ones_do_not_count() {
        let (key, token) = (("ANTHROPIC_API_KEY", "k"), ("CLAUDE_CODE_OAUTH_TOKEN", "t"));
        assert_eq!(places("claude", &[token, key]), ["ANTHROPIC_API_KEY"]);
        assert_eq!(places("claude", &[token]), ["CLAUDE_CODE_OAUTH_TOKEN"]);
        assert_eq!(
            places("claude", &[token, ("ANTHROPIC_API_KEY", " ")]),
            ["CLAUDE_CODE_OAUTH_TOKEN"]
        );
        assert_eq!(
            places("claude", &[key, ("ANTHROPIC_AUTH_TOKEN", "a")]),
            ["ANTHROPIC_AUTH_TOKEN"]
        );
        assert!(places("claude", &[]).is_empty());
    }

    #[test]
    fn where_the_model_decides_all_logins_are_given() {
        let both = [("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")];
        assert_eq!(places("opencode", &both), ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
    }

    #[test]
    fn a_file_is_a_login_where_it_really_is() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".codex/auth.json");
        let variables = [("HOME", home.path().to_str().unwrap()), ("CODEX_HOME", "/nowhere")];
        assert!(places("codex", &variables).is_empty());
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(&file, r#"{"mode":"short","tokens":{"access":"0123456789012345678901"}}"#)
            .unwrap();
        assert_eq!(places("codex", &variables), [file.to_str().unwrap()]);
        let registry = Registry::load(&[]).unwrap();
        let descriptor = registry.get("codex", Path::new("/")).unwrap();
        let found = find(&descriptor, &variables.into_iter().collect());
        assert_eq!(found[0].source, "{env.HOME}/.codex/auth.json");
        assert_eq!(found[0].secrets(), [Secret::new("0123456789012345678901")]);
    }
}
