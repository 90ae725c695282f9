//! `SECRET_LIKE`.

use crate::rule::{Context, rule};
use crate::skill::trace::PRIVATE_KEY;
use crate::text::Span;

rule! {
    /// SKILL.md contains something that looks like a secret
    ///
    /// ## What it does
    /// Reports access keys of AWS, tokens of GitHub and Slack, API keys of Anthropic and OpenAI, and private keys, by
    /// their exact form. Keys that documentation uses as examples, and those made of few different characters, do not
    /// count. The finding shows only how the secret starts.
    ///
    /// ## Why is this bad?
    /// Everybody who installs the skill has the secret, and every model that loads it sees it. Once published, it must
    /// be revoked.
    ///
    /// ## Example
    /// ```markdown
    /// export ANTHROPIC_API_KEY=sk-ant-(the key itself)
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// The script reads the key from `ANTHROPIC_API_KEY`; ask the user to set it.
    /// ```
    SECRET_LIKE, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

/// A kind of secret.
struct Kind {
    name: &'static str,
    /// How it starts.
    prefix: &'static str,
    /// Whether a byte can be part of it.
    is_part: fn(u8) -> bool,
    /// How long the part after the prefix must be.
    length: std::ops::RangeInclusive<usize>,
}

const fn kind(
    name: &'static str,
    prefix: &'static str,
    is_part: fn(u8) -> bool,
    length: std::ops::RangeInclusive<usize>,
) -> Kind {
    Kind { name, prefix, is_part, length }
}

const AWS: &str = "an AWS access key";
const GITHUB: &str = "a GitHub token";
const SLACK: &str = "a Slack token";

/// The longest token that is looked at.
const LONG: usize = 400;

static KINDS: [Kind; 14] = [
    kind(AWS, "AKIA", is_upper, 16..=16),
    kind(AWS, "ASIA", is_upper, 16..=16),
    kind(GITHUB, "ghp_", is_alphanumeric, 36..=36),
    kind(GITHUB, "gho_", is_alphanumeric, 36..=36),
    kind(GITHUB, "ghu_", is_alphanumeric, 36..=36),
    kind(GITHUB, "ghs_", is_alphanumeric, 36..=36),
    kind(GITHUB, "ghr_", is_alphanumeric, 36..=76),
    kind(GITHUB, "github_pat_", is_token, 82..=82),
    kind(SLACK, "xoxb-", is_token, 30..=LONG),
    kind(SLACK, "xoxp-", is_token, 30..=LONG),
    kind(SLACK, "xoxa-", is_token, 30..=LONG),
    kind(SLACK, "xoxs-", is_token, 30..=LONG),
    kind("an Anthropic API key", "sk-ant-", is_token, 60..=LONG),
    kind("an OpenAI API key", "sk-proj-", is_token, 40..=LONG),
];

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let text = document.text.as_str();
    for trace in document.traces() {
        let kind = KINDS.iter().find(|kind| kind.prefix == trace.needle);
        let secret = match kind {
            Some(kind) => token(text, trace.offset, kind).map(|span| (span, kind.name, kind.prefix)),
            None if trace.needle == PRIVATE_KEY => {
                private_key(text, trace.offset).map(|span| (span, "a private key", "-----BEGIN"))
            }
            None => None,
        };
        if let Some((span, name, start)) = secret {
            context
                .report_at(span, format!("this looks like {name}: `{start}…`"))
                .hint("revoke it, remove it, and let the skill read it from the environment");
        }
    }
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The token that starts at byte `at`, if it has the exact form and is no example.
fn token(text: &str, at: usize, kind: &Kind) -> Option<Span> {
    if text.as_bytes()[..at].last().copied().is_some_and(is_token) {
        return None;
    }
    let rest = &text.as_bytes()[at + kind.prefix.len()..];
    let length = rest.iter().take(LONG + 1).take_while(|byte| (kind.is_part)(**byte)).count();
    let goes_on = rest.get(length).copied().is_some_and(is_token);
    let end = at + kind.prefix.len() + length;
    let is_secret = !goes_on && kind.length.contains(&length) && is_random(&text[end - length..end]);
    is_secret.then(|| Span::new(at, end))
}

/// Whether a token has as many different characters as chance gives it, and none of the words of examples.
fn is_random(token: &str) -> bool {
    let lower = token.to_ascii_lowercase();
    let mut seen = [false; 128];
    lower.bytes().for_each(|byte| seen[usize::from(byte & 0x7f)] = true);
    let different = seen.iter().filter(|seen| **seen).count();
    let is_example = ["example", "xxxx", "your", "placeholder", "redacted", "abcdef", "123456", "0000"]
        .iter()
        .any(|word| lower.contains(word));
    different >= 9 && !is_example
}

/// The first line of a private key whose `-BEGIN ` is at byte `at`, if a line of the key itself follows.
fn private_key(text: &str, at: usize) -> Option<Span> {
    let start = at.checked_sub(4).filter(|_| text[..at].ends_with("----"))?;
    let mut lines = text[start..].lines();
    let first = lines.next()?;
    if !first.trim_end().ends_with("PRIVATE KEY-----") || first.len() > 80 {
        return None;
    }
    let second = lines.next()?.trim();
    let is_base64 = second.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
    (second.len() >= 40 && is_base64 && is_random(second)).then(|| Span::new(start, start + first.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&'static str> {
        let key = text.find(PRIVATE_KEY).and_then(|at| private_key(text, at));
        let of_kind = |kind: &Kind| token(text, text.find(kind.prefix)?, kind).map(|_| kind.name);
        KINDS.iter().find_map(of_kind).or(key.map(|_| "a private key"))
    }

    /// Put together here, so that no scanner takes this file for a leak.
    fn made(prefix: &str, length: usize) -> String {
        let letters = "Q7mZ2kX9vB4nR6tY1wP8sD3fG5hJ".chars().cycle();
        format!("{prefix}{}", letters.take(length).collect::<String>())
    }

    #[test]
    fn tokens_of_the_exact_form_are_found() {
        assert_eq!(found(&made("AKIA", 16).to_uppercase()), Some(AWS));
        assert_eq!(found(&format!("x={} y", made("ghp_", 36))), Some(GITHUB));
        assert_eq!(found(&made("xoxb-123456789012-", 30).replace("123456", "918273")), Some(SLACK));
        assert_eq!(found(&made("sk-ant-api03-", 90)), Some("an Anthropic API key"));
        assert_eq!(found(&made("sk-proj-", 60)), Some("an OpenAI API key"));
        let key = format!("-----BEGIN RSA {}-----\n{}\n", "PRIVATE KEY", made("MII", 60));
        assert_eq!(found(&key), Some("a private key"));
    }

    #[test]
    fn examples_and_other_words_are_not() {
        for text in [
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            "AKIAXXXXXXXXXXXXXXXX".to_owned(),
            made("AKIA", 15),
            made("AKIA", 20),
            format!("x{}", made("ghp_", 36)),
            format!("ghp_{}", "x".repeat(36)),
            "sk-ant-...".to_owned(),
            "sk-ant-your-key-here".to_owned(),
            "xoxb-your-token".to_owned(),
            format!("-----BEGIN {}-----\n...\n", "PRIVATE KEY"),
        ] {
            assert_eq!(found(&text), None, "{text}");
        }
    }
}
