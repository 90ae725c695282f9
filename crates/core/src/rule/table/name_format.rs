//! `NAME_FORMAT`.

use unicode_normalization::UnicodeNormalization as _;

use super::name_too_long::too_long;
use crate::profile::Names;
use crate::rule::{Context, rule};

rule! {
    /// `name` is not kebab-case
    ///
    /// ## What it does
    /// Reports a name that is not made of `a-z` and `0-9` in groups joined by single hyphens. With
    /// `--allow-unicode-names`, and in the `spec` profile, lower-case letters and digits of any script count.
    ///
    /// ## Why is this bad?
    /// The name is an identifier: agents use it in commands, paths and permissions. Hosted surfaces refuse other
    /// characters.
    ///
    /// ## Example
    /// ```yaml
    /// name: PDF Forms
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: pdf-forms
    /// ```
    ///
    /// ## References
    /// - Validation contract, `NAME_FORMAT`: `[a-z0-9]+(-[a-z0-9]+)*`
    NAME_FORMAT, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, name)) = context.string("name") else { return };
    // An empty name and one that is too long have a finding of their own.
    if name.is_empty() || too_long(name).is_some() || is_kebab_case(name, context.names()) {
        return;
    }
    let suggestion = to_kebab_case(name);
    let reported = context.report_at(node.span, format!("name is not kebab-case: `{name}`"));
    if suggestion.is_empty() {
        reported.hint("use lower-case letters a-z, digits and single hyphens");
    } else {
        reported.hint(format!("for example `{suggestion}`"));
    }
}

fn is_kebab_case(name: &str, names: Names) -> bool {
    let is_letter = |c: char| match names {
        Names::Ascii => c.is_ascii_lowercase() || c.is_ascii_digit(),
        Names::Unicode => c.is_alphanumeric() && c.to_lowercase().eq([c]),
    };
    match names {
        Names::Ascii => name.split('-').all(|part| !part.is_empty() && part.chars().all(is_letter)),
        Names::Unicode => {
            let name: String = name.nfkc().collect();
            name.split('-').all(|part| !part.is_empty() && part.chars().all(is_letter))
        }
    }
}

/// The nearest kebab-case name, or nothing when no letter is left.
fn to_kebab_case(name: &str) -> String {
    let lower = name.to_lowercase();
    let parts = lower.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit()));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kebab_case_is_groups_joined_by_single_hyphens() {
        for name in ["a", "pdf-forms", "2048", "a-1-b"] {
            assert!(is_kebab_case(name, Names::Ascii), "{name}");
        }
        for name in ["-a", "a-", "a--b", "A", "a_b", "a b", "a.b", "a/b", "技能", "straße"] {
            assert!(!is_kebab_case(name, Names::Ascii), "{name}");
        }
    }

    #[test]
    fn other_scripts_count_when_allowed() {
        for name in ["技能", "навык-1", "straße", "cafe\u{301}"] {
            assert!(is_kebab_case(name, Names::Unicode), "{name}");
        }
        for name in ["Навык", "a--b", "a b"] {
            assert!(!is_kebab_case(name, Names::Unicode), "{name}");
        }
    }

    #[test]
    fn a_suggestion_keeps_the_words() {
        assert_eq!(to_kebab_case("PDF Forms / fill_in"), "pdf-forms-fill-in");
        assert_eq!(to_kebab_case("技能"), "");
    }
}
