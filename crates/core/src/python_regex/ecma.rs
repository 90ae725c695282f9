//! Patterns of JSON Schemas: which of ECMA-262's patterns mean the same in Python's syntax.

use super::error::PatternError;

/// Refuses what the two languages write or read differently.
pub(super) fn check(pattern: &str) -> Result<(), PatternError> {
    let chars: Vec<char> = pattern.chars().collect();
    let refuse = |at: usize, length: usize| {
        let what: String = chars.iter().skip(at).take(length).collect();
        let hint = "write a pattern that ECMA-262 and Python read alike";
        Err(PatternError::Unsupported { what: format!("`{what}`"), at, hint })
    };
    let mut at = 0;
    let mut in_class = false;
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        match (c, next) {
            ('\\', Some(next)) => {
                let is_shared = !next.is_ascii_alphabetic() || "dDwWsSbBtnvfrxu".contains(next);
                if !is_shared || (next == 'u' && chars.get(at + 2) == Some(&'{')) {
                    return refuse(at, 2);
                }
                at += 1;
            }
            // In ECMA-262 `[]` is empty; in Python the bracket is the first member. Possessive quantifiers are Python's.
            ('[', Some(']')) | ('*' | '+' | '?' | '}', Some('+')) if !in_class => {
                return refuse(at, 2);
            }
            ('[', Some('^')) if !in_class && chars.get(at + 2) == Some(&']') => {
                return refuse(at, 3);
            }
            ('[', _) => in_class = true,
            (']', _) => in_class = false,
            ('(', Some('?')) if !in_class => {
                let is_shared = match chars.get(at + 2) {
                    Some(':' | '=' | '!') => true,
                    Some('<') => matches!(chars.get(at + 3), Some('=' | '!')),
                    _ => false,
                };
                if !is_shared {
                    return refuse(at, 4);
                }
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}
