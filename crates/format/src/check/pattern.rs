//! The few patterns that our schemas have, matched by hand.
//!
//! A regular expression engine would be the largest dependency of this crate, for three patterns. Each must accept
//! exactly what its expression accepts under the rules of JSON Schema (ECMA-262); the differential test holds that.

/// A pattern of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Something besides white space.
    NotBlank,
    /// Lower-case words and digits, joined by single hyphens.
    Kebab,
    /// `8/10`.
    Ratio,
}

/// The expression of [`Pattern::NotBlank`], for the types that use it.
pub(crate) const NOT_BLANK: &str = r"\S";
/// The expression of [`Pattern::Kebab`], for the types that use it.
pub(crate) const KEBAB: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
/// The expression of [`Pattern::Ratio`], for the types that use it.
pub(crate) const RATIO: &str = "^[0-9]+/[0-9]+$";

impl Pattern {
    pub(crate) fn from_schema(expression: &str) -> Option<Self> {
        Some(match expression {
            NOT_BLANK => Self::NotBlank,
            KEBAB => Self::Kebab,
            RATIO => Self::Ratio,
            _ => return None,
        })
    }

    pub(crate) fn matches(self, text: &str) -> bool {
        match self {
            Self::NotBlank => !text.chars().all(is_space),
            Self::Kebab => text.split('-').all(|word| {
                !word.is_empty()
                    && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            }),
            Self::Ratio => text.split_once('/').is_some_and(|(passed, total)| {
                let is_count =
                    |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                is_count(passed) && is_count(total)
            }),
        }
    }

    /// What a text must be to match.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::NotBlank => "a non-empty string",
            Self::Kebab => "an id in kebab-case such as \"case-01\"",
            Self::Ratio => "a ratio such as \"8/10\"",
        }
    }

    /// A text that matches and is near to one that does not.
    pub(crate) fn repair(self, text: &str) -> Option<String> {
        match self {
            Self::Kebab => {
                let lower = text.to_lowercase();
                let words = lower
                    .split(|c: char| !c.is_ascii_alphanumeric())
                    .filter(|word| !word.is_empty());
                let repaired = words.collect::<Vec<_>>().join("-");
                self.matches(&repaired).then_some(repaired)
            }
            Self::NotBlank | Self::Ratio => None,
        }
    }
}

/// White space as ECMA-262 defines it for `\s`, which is not quite what Rust calls so.
fn is_space(character: char) -> bool {
    matches!(character, '\u{FEFF}') || (character.is_whitespace() && character != '\u{85}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_accept_what_their_expressions_accept() {
        for (pattern, yes, no) in [
            (
                Pattern::NotBlank,
                &["a", " a ", "\u{85}"][..],
                &["", " \t\n", "\u{a0}\u{feff}\u{2028}"][..],
            ),
            (
                Pattern::Kebab,
                &["a", "case-01", "1-2-3"],
                &["", "-a", "a-", "a--b", "A", "a_b", "ä", "a\n"],
            ),
            (
                Pattern::Ratio,
                &["8/10", "0/0"],
                &["", "8", "8/", "/10", "8/10/3", "-1/2", "8 / 10", "8/10\n"],
            ),
        ] {
            for text in yes {
                assert!(pattern.matches(text), "{pattern:?} {text:?}");
            }
            for text in no {
                assert!(!pattern.matches(text), "{pattern:?} {text:?}");
            }
        }
    }

    #[test]
    fn an_id_is_repaired_when_something_is_left_of_it() {
        assert_eq!(Pattern::Kebab.repair("Case 01"), Some("case-01".into()));
        assert_eq!(Pattern::Kebab.repair("__"), None);
        assert_eq!(Pattern::Ratio.repair("8 of 10"), None);
    }
}
