//! `UNKNOWN_KEYS`.

use crate::rule::{Context, rule};
use crate::yaml::Entry;

rule! {
    /// The front matter has keys that nobody reads
    ///
    /// ## What it does
    /// Reports, in one finding, all keys that the profile does not know. The default profile knows the keys of
    /// the agentskills.io specification and of Claude Code. Under `--strict` it is an error.
    ///
    /// ## Why is this bad?
    /// Agents ignore unknown keys in silence, so a misspelt key has no effect. Uploads to claude.ai and the
    /// Skills API are refused for any key outside the specification.
    ///
    /// ## Example
    /// ```yaml
    /// name: pdf-forms
    /// description: Fills PDF forms. Use when the user has one.
    /// version: 1.2.0
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: pdf-forms
    /// description: Fills PDF forms. Use when the user has one.
    /// metadata:
    ///   version: "1.2.0"
    /// ```
    ///
    /// ## References
    /// - Validation contract, `UNKNOWN_KEYS`
    /// - `KEY_TYPO` reports keys that are nearly right
    UNKNOWN_KEYS, level: WarningOrStrictError, origin: Contract, since: "0.1.0", fixable: No, check: check
}

/// Keys that no agent reads but that many skills have; the message says where they belong.
const DE_FACTO_KEYS: [&str; 10] = [
    "version", "author", "tags", "category", "homepage", "source", "triggers", "requires", "keywords",
    "dependencies",
];

fn check(context: &mut Context<'_>) {
    let Some(mapping) = context.document().and_then(|document| document.mapping()) else { return };
    let policy = context.policy();
    let is_known = |entry: &Entry| {
        let mut profiles = policy.reporting(&RULE);
        entry.key.as_str().is_some_and(|key| profiles.all(|profile| profile.keys.contains(&key)))
    };
    let unknown: Vec<&Entry> = mapping.entries.iter().filter(|entry| !is_known(entry)).collect();
    let Some(first) = unknown.first() else { return };
    let name = |entry: &&Entry| entry.key.scalar_text().unwrap_or("(not a text)").to_owned();
    let names: Vec<String> = unknown.iter().map(name).collect();
    let (keys, them) = if names.len() == 1 { ("key", "it") } else { ("keys", "them") };
    let message = format!("unrecognized front matter {keys}: `{}`", names.join("`, `"));
    let reported = context.report_at(first.key.span, message);
    if names.iter().all(|name| DE_FACTO_KEYS.contains(&name.as_str())) {
        reported.hint(format!("no agent reads {them} here; move {them} below `metadata`"));
    } else {
        let readers: Vec<&str> = policy.reporting(&RULE).map(|profile| profile.reader).collect();
        let readers = readers.join(" and ");
        reported.hint(format!("not a key of {readers}; remove {them} or move {them} below `metadata`"));
    }
}
