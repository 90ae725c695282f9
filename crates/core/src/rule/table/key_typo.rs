//! `KEY_TYPO`.

use crate::rule::{Context, rule};
use crate::yaml::Mapping;

rule! {
    /// A key of the front matter is nearly right
    ///
    /// ## What it does
    /// Reports each key that is not known but differs from a known one only in case, in `_` for `-`, or in a letter
    /// or two; and a few keys of other formats, such as `tools` for `allowed-tools`.
    ///
    /// ## Why is this bad?
    /// Agents ignore keys that they do not know. A skill with `user-invokable: false` can still be called, and
    /// nothing says so.
    ///
    /// ## Example
    /// ```yaml
    /// user-invokable: false
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// user-invocable: false
    /// ```
    ///
    /// ## References
    /// - `UNKNOWN_KEYS` lists all keys that are not known
    KEY_TYPO, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

/// Keys of other formats, and what they are called here.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("tools", "allowed-tools"),
    ("allow-tools", "allowed-tools"),
    ("disabled-tools", "disallowed-tools"),
    ("denied-tools", "disallowed-tools"),
    ("arguments-hint", "argument-hint"),
    ("disable-invocation", "disable-model-invocation"),
    ("invocable", "user-invocable"),
];

/// Words that are near to a key and mean something else.
const OTHER_WORDS: [&str; 2] = ["content", "contexts"];

fn check(context: &mut Context<'_>) {
    let Some(mapping) = context.document().and_then(|document| document.mapping()) else { return };
    let policy = context.policy();
    let known = |key: &str| policy.profiles.iter().any(|profile| profile.keys.contains(&key));
    for entry in &mapping.entries {
        let Some(key) = entry.key.as_str().filter(|key| !known(key)) else { continue };
        let keys = policy.profiles.iter().flat_map(|profile| profile.keys).copied();
        if let Some(meant) = meant(key, keys) {
            let message = format!("key `{key}` is not known; did you mean `{meant}`?");
            context.report_at(entry.key.span, message).hint(hint(mapping, meant));
        }
    }
}

fn hint(mapping: &Mapping, meant: &str) -> String {
    if mapping.get(meant).is_some() {
        format!("`{meant}` is there as well; remove one of them")
    } else {
        format!("rename it to `{meant}`; agents ignore it as it is")
    }
}

/// The key that was probably meant.
fn meant<'a>(key: &str, mut keys: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let plain = normalised(key);
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == plain).map(|(_, name)| *name);
    if let Some(other) = other.filter(|other| keys.clone().any(|key| key == *other)) {
        return Some(other);
    }
    if OTHER_WORDS.contains(&plain.as_str()) {
        return None;
    }
    keys.find(|known| {
        let known = normalised(known);
        known == plain || is_near(&known, &plain)
    })
}

/// Lower case, with hyphens, however it was written: `allowedTools`, `Allowed_Tools`, `allowed tools`.
fn normalised(key: &str) -> String {
    let mut plain = String::with_capacity(key.len() + 2);
    let mut after_lower = false;
    for c in key.trim().chars() {
        if c.is_uppercase() && after_lower {
            plain.push('-');
        }
        after_lower = c.is_lowercase();
        match c {
            '_' | ' ' => plain.push('-'),
            _ => plain.extend(c.to_lowercase()),
        }
    }
    plain
}

/// One slip in a word of seven letters, two in a long one, none in the first letter. Short words have too many neighbours: `mode`, `model`.
fn is_near(known: &str, key: &str) -> bool {
    let allowed = match known.len() {
        0..=6 => return false,
        7..=9 => 1,
        _ => 2,
    };
    known.as_bytes().first() == key.as_bytes().first()
        && known.len().abs_diff(key.len()) <= allowed
        && strsim::osa_distance(known, key) <= allowed
}

#[cfg(test)]
mod tests {
    use super::meant;

    const KEYS: [&str; 7] =
        ["name", "description", "allowed-tools", "user-invocable", "model", "context", "when_to_use"];

    #[test]
    fn near_misses_are_recognised() {
        for (key, expected) in [
            ("Name", "name"),
            ("DESCRIPTION", "description"),
            ("desciption", "description"),
            ("allowed_tools", "allowed-tools"),
            ("allowedTools", "allowed-tools"),
            ("tools", "allowed-tools"),
            ("user-invokable", "user-invocable"),
            ("user-invokeable", "user-invocable"),
            ("when-to-use", "when_to_use"),
            ("contxt", "context"),
        ] {
            assert_eq!(meant(key, KEYS.into_iter()), Some(expected), "{key}");
        }
    }

    #[test]
    fn other_words_are_left_alone() {
        for key in ["mode", "game", "content", "version", "author", "tags", "prescription", "", "日本"] {
            assert_eq!(meant(key, KEYS.into_iter()), None, "{key}");
        }
    }

    #[test]
    fn a_name_of_another_format_counts_only_where_the_key_is_known() {
        assert_eq!(meant("tools", ["name"].into_iter()), None);
    }
}
