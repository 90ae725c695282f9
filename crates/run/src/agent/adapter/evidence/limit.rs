//! Limits that arrive as an ordinary answer: "You've hit your limit · resets 3pm".
//!
//! Some agents print a used-up plan as if the model had said it, with a successful result. Such a run has measured
//! nothing. But a model may also *talk* about rate limits, so an answer counts as a limit only if it is short, begins
//! with the announcement, and the announcement is a sentence of its own. (The caller also sees to it that no tool was
//! used.)

use skillgauge_format::transcript::Reason;

/// An announcement is not longer than this.
const MAX_CHARACTERS: usize = 320;
/// Nor does it have more lines.
const MAX_LINES: usize = 4;

/// What may stand before the announcement.
const LEADS: [&str; 11] = [
    "api", "error", "warning", "http", "status", "429", "claude", "ai", "codex", "sorry", "request",
];

/// How "you have used it up" begins.
const OPENERS: [&[&str]; 10] = [
    &["you've", "hit", "your"],
    &["you", "have", "hit", "your"],
    &["you", "hit", "your"],
    &["you've", "reached", "your"],
    &["you", "have", "reached", "your"],
    &["you", "exceeded", "your"],
    &["you've", "exceeded", "your"],
    &["you", "have", "exceeded", "your"],
    &["you're", "out", "of"],
    &["you've", "used", "up", "your"],
];

/// What kind of limit it is; up to four of these words stand before "limit".
const KINDS: [&str; 27] = [
    "5-hour",
    "five-hour",
    "hourly",
    "daily",
    "weekly",
    "monthly",
    "session",
    "usage",
    "current",
    "plan",
    "plan's",
    "organization's",
    "org's",
    "workspace",
    "api",
    "rate",
    "token",
    "request",
    "spend",
    "spending",
    "extra",
    "opus",
    "sonnet",
    "haiku",
    "pro",
    "max",
    "free",
];

const NOUNS: [&str; 5] = ["limit", "limits", "quota", "usage", "credits"];

/// What happened to it, when the sentence does not begin with "you".
const VERBS: [&str; 4] = ["reached", "exceeded", "hit", "exhausted"];

/// Words that may follow the announcement without punctuation.
const CONTINUATIONS: [&str; 10] =
    ["for", "until", "resets", "reset", "please", "try", "at", "upgrade", "retry", "again"];

/// Announcements that follow no pattern.
const FIXED: [(&[&str], Reason); 6] = [
    (&["too", "many", "requests"], Reason::RateLimit),
    (&["rate", "limited"], Reason::RateLimit),
    (&["you", "are", "being", "rate", "limited"], Reason::RateLimit),
    (&["you", "have", "been", "rate", "limited"], Reason::RateLimit),
    (&["resource", "exhausted"], Reason::RateLimit),
    (&["credit", "balance", "is", "too", "low"], Reason::Billing),
];

/// The limit that an answer announces, if that is what it is.
pub(in super::super) fn in_answer(answer: &str) -> Option<Reason> {
    let answer = answer.trim();
    if answer.chars().nth(MAX_CHARACTERS).is_some() || answer.lines().count() > MAX_LINES {
        return None;
    }
    let words = words(answer);
    let mut rest = words.as_slice();
    loop {
        if let Some((reason, used)) = announcement(rest)
            && stands_alone(rest, used)
        {
            return Some(reason);
        }
        match rest {
            [first, tail @ ..] if LEADS.contains(&first.text.as_str()) => rest = tail,
            _ => return None,
        }
    }
}

/// A word, and whether punctuation follows it.
struct Word {
    text: String,
    ends_clause: bool,
}

fn words(answer: &str) -> Vec<Word> {
    let lower = answer.to_lowercase().replace('\u{2019}', "'");
    let spaced = lower.replace(['|', '·', '∙', '•', '—', '–'], " | ");
    let mut words: Vec<Word> = Vec::new();
    for piece in spaced.split_whitespace() {
        // A separator, or a bracket that opens, ends the clause before it.
        if !piece.starts_with(|character: char| character.is_alphanumeric())
            && let Some(last) = words.last_mut()
        {
            last.ends_clause = true;
        }
        let text = piece.trim_matches(|character: char| !character.is_alphanumeric());
        if !text.is_empty() {
            let ends_clause = !piece.ends_with(|character: char| character.is_alphanumeric());
            words.push(Word { text: text.to_owned(), ends_clause });
        }
    }
    words
}

/// The announcement that the words begin with, and how many of them it takes.
fn announcement(words: &[Word]) -> Option<(Reason, usize)> {
    FIXED
        .iter()
        .find(|(fixed, _)| starts_with(words, fixed))
        .map(|(fixed, reason)| (*reason, fixed.len()))
        .or_else(|| used_up(words))
        .or_else(|| limit_reached(words))
        .or_else(|| bare_rate_limit(words))
}

/// "You've hit your weekly limit".
fn used_up(words: &[Word]) -> Option<(Reason, usize)> {
    let opener = OPENERS.iter().find(|opener| starts_with(words, opener))?.len();
    let (reason, noun) = kinds_and_noun(&words[opener..])?;
    Some((reason, opener + noun))
}

/// "5-hour limit reached".
fn limit_reached(words: &[Word]) -> Option<(Reason, usize)> {
    let (reason, noun) = kinds_and_noun(words)?;
    let verb = words.get(noun)?;
    VERBS.contains(&verb.text.as_str()).then_some((reason, noun + 1))
}

/// "Rate limit", and nothing else at all.
fn bare_rate_limit(words: &[Word]) -> Option<(Reason, usize)> {
    (words.len() == 2 && starts_with(words, &["rate", "limit"])).then_some((Reason::RateLimit, 2))
}

fn kinds_and_noun(words: &[Word]) -> Option<(Reason, usize)> {
    // "usage" is a kind in "usage limit" and the noun in "out of extra usage": the longest reading wins.
    (0..=4).rev().find_map(|kinds| {
        let (before, noun) = (words.get(..kinds)?, words.get(kinds)?);
        let fits = NOUNS.contains(&noun.text.as_str())
            && before.iter().all(|word| KINDS.contains(&word.text.as_str()) && !word.ends_clause);
        fits.then(|| (reason_of(before), kinds + 1))
    })
}

fn reason_of(kinds: &[Word]) -> Reason {
    let has = |names: &[&str]| kinds.iter().any(|word| names.contains(&word.text.as_str()));
    if has(&["spend", "spending"]) {
        Reason::SpendLimit
    } else if has(&["rate", "request", "token"]) {
        Reason::RateLimit
    } else {
        Reason::UsageLimit
    }
}

fn starts_with(words: &[Word], pattern: &[&str]) -> bool {
    words.len() >= pattern.len()
        && words.iter().zip(pattern).all(|(word, expected)| word.text == *expected)
        && words[..pattern.len() - 1].iter().all(|word| !word.ends_clause)
}

/// Whether the announcement is a sentence of its own, not the beginning of one about limits.
fn stands_alone(words: &[Word], used: usize) -> bool {
    let ends = words.get(used - 1).is_some_and(|word| word.ends_clause);
    ends || words.get(used).is_none_or(|next| CONTINUATIONS.contains(&next.text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{Reason, in_answer};

    #[test]
    fn announcements_are_limits() {
        for (text, reason) in [
            ("You've hit your limit · resets 3pm", Reason::UsageLimit),
            ("You’ve hit your limit · resets 3pm (UTC)", Reason::UsageLimit),
            ("You've hit your session limit ∙ resets 11am", Reason::UsageLimit),
            ("You've hit your weekly limit. Resets Monday.", Reason::UsageLimit),
            ("You have reached your usage limit, please try again later", Reason::UsageLimit),
            ("usage limit reached", Reason::UsageLimit),
            ("Claude AI usage limit reached|1760018400", Reason::UsageLimit),
            ("Claude usage limit reached. Your limit will reset at 3pm.", Reason::UsageLimit),
            ("5-hour limit reached ∙ resets 3pm", Reason::UsageLimit),
            ("Weekly limit reached", Reason::UsageLimit),
            ("Opus weekly limit reached ∙ resets Oct 6", Reason::UsageLimit),
            ("You're out of extra usage · resets 4pm", Reason::UsageLimit),
            ("Quota exceeded.", Reason::UsageLimit),
            ("quota exceeded", Reason::UsageLimit),
            (
                "You exceeded your current quota, please check your plan and billing details.",
                Reason::UsageLimit,
            ),
            (
                "You've hit your usage limit. Upgrade to Pro (https://example.com/pro), visit https://example.com/usage \
                 to purchase more credits or try again at Aug 18th, 2026 3:28 PM.",
                Reason::UsageLimit,
            ),
            ("You've hit your monthly spend limit.", Reason::SpendLimit),
            ("Spend limit reached · raise it in settings", Reason::SpendLimit),
            ("Spending limit reached", Reason::SpendLimit),
            ("rate limit", Reason::RateLimit),
            ("Rate limit.", Reason::RateLimit),
            ("Rate limit exceeded", Reason::RateLimit),
            ("API Error: Rate limit reached", Reason::RateLimit),
            ("Rate limit exceeded for this model. Try again in 20s.", Reason::RateLimit),
            ("Error: rate limit exceeded, please try again", Reason::RateLimit),
            ("429 Too Many Requests", Reason::RateLimit),
            ("Too many requests, please slow down.", Reason::RateLimit),
            ("Sorry, you are being rate limited.", Reason::RateLimit),
            ("Credit balance is too low", Reason::Billing),
        ] {
            assert_eq!(in_answer(text), Some(reason), "{text}");
        }
    }

    #[test]
    fn an_answer_that_talks_about_limits_is_none() {
        for text in [
            "",
            "Done.",
            "Rate limits protect an API from overload.",
            "A rate limit of 100 requests per minute applies.",
            "Rate limit: 100 requests per minute.",
            "The rate limit is 5.",
            "Rate limit exceeded errors mean that you should back off.",
            "Quota exceeded handling was added to client.rs.",
            "Too many requests are sent in parallel; batch them.",
            "You've hit your limit of three files.",
            "I added a 5-hour limit.",
            "Usage limits are listed in the table below.",
            "Usage limit reached events are now logged.",
            "Coupon usage limit reached",
            "The coupon says \"usage limit reached\".",
            "Hello! You've hit your limit is what the program prints.",
            "I wrote report.md. Rate limit exceeded was in the log.",
        ] {
            assert_eq!(in_answer(text), None, "{text}");
        }
    }

    #[test]
    fn a_long_answer_is_never_a_limit() {
        let long = format!(
            "Rate limit exceeded. {}",
            "That is what the server says when it is asked too often. ".repeat(6)
        );
        assert_eq!(in_answer(&long), None);
        let lines = "Rate limit exceeded.\n\n- wait\n- retry\n- ask less";
        assert_eq!(in_answer(lines), None);
    }

    #[test]
    fn nothing_breaks_the_reading_of_words() {
        for text in [
            "·",
            "|||",
            "· · ·",
            "(((",
            "\u{2019}",
            "İ limit reached",
            "a|·b",
            "you've hit your",
            "5-hour",
        ] {
            let _ = in_answer(text);
        }
    }
}
