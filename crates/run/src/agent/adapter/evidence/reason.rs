//! Why something failed, from an HTTP status, the agent's own word for it, and its message.
//!
//! This is for texts that are known to be errors; [`super::limit`] is for ordinary answers.

use skillgauge_format::transcript::Reason;

/// What a status, a word and a message say together. The message comes first, because it is the only thing that
/// tells a missing login from a refused key, or a used-up plan from too many requests.
pub(in super::super) fn classify(
    status: Option<u16>,
    word: Option<&str>,
    message: &str,
) -> (Reason, Option<u16>) {
    let status = status.or_else(|| status_in(message));
    let word = word.and_then(from_word);
    // Claude Code calls a 529 a server error, and a rejected request of any kind invalid: the status knows better.
    let exact = word.filter(|reason| !matches!(reason, Reason::ServerError | Reason::BadRequest));
    let reason = specific(message)
        .or(exact)
        .or_else(|| status.and_then(from_status))
        .or(word)
        .or_else(|| in_words(message))
        .unwrap_or(Reason::Other);
    (reason, status)
}

/// What an HTTP status says.
pub(in super::super) fn from_status(status: u16) -> Option<Reason> {
    match status {
        401 | 403 => Some(Reason::Authentication),
        402 => Some(Reason::Billing),
        404 => Some(Reason::ModelNotFound),
        408 => Some(Reason::Connection),
        429 => Some(Reason::RateLimit),
        400..=499 => Some(Reason::BadRequest),
        503 | 529 => Some(Reason::Overloaded),
        500..=599 => Some(Reason::ServerError),
        _ => None,
    }
}

/// The agents' own words for what went wrong.
const WORDS: [(&str, Reason); 22] = [
    ("authentication_failed", Reason::Authentication),
    ("authentication_error", Reason::Authentication),
    ("permission_error", Reason::Authentication),
    ("ProviderAuthError", Reason::Authentication),
    ("billing_error", Reason::Billing),
    ("rate_limit", Reason::RateLimit),
    ("rate_limit_error", Reason::RateLimit),
    ("overloaded", Reason::Overloaded),
    ("overloaded_error", Reason::Overloaded),
    ("server_error", Reason::ServerError),
    ("api_error", Reason::ServerError),
    ("model_not_found", Reason::ModelNotFound),
    ("not_found_error", Reason::ModelNotFound),
    ("invalid_request", Reason::BadRequest),
    ("invalid_request_error", Reason::BadRequest),
    ("max_output_tokens", Reason::MaxOutputTokens),
    ("MessageOutputLengthError", Reason::MaxOutputTokens),
    ("prompt_too_long", Reason::ContextWindow),
    ("max_turns", Reason::MaxTurns),
    ("FatalTurnLimitedError", Reason::MaxTurns),
    ("budget_exhausted", Reason::Budget),
    ("MessageAbortedError", Reason::Interrupted),
];

/// What an agent's own word says.
pub(in super::super) fn from_word(word: &str) -> Option<Reason> {
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, reason)| *reason)
}

/// Phrases that decide whatever the status is. Lower case; the first that occurs wins.
const SPECIFIC: [(&str, Reason); 31] = [
    ("not logged in", Reason::NotLoggedIn),
    ("please run /login", Reason::NotLoggedIn),
    ("missing environment variable", Reason::NotLoggedIn),
    ("you must specify the gemini_api_key", Reason::NotLoggedIn),
    ("credit balance is too low", Reason::Billing),
    ("spend limit", Reason::SpendLimit),
    ("spending limit", Reason::SpendLimit),
    ("usage limit", Reason::UsageLimit),
    ("hit your limit", Reason::UsageLimit),
    ("reached your limit", Reason::UsageLimit),
    ("hour limit reached", Reason::UsageLimit),
    ("weekly limit", Reason::UsageLimit),
    ("session limit", Reason::UsageLimit),
    ("out of extra usage", Reason::UsageLimit),
    ("usage_limit_reached", Reason::UsageLimit),
    ("quota exceeded", Reason::UsageLimit),
    ("exceeded your current quota", Reason::UsageLimit),
    ("insufficient_quota", Reason::UsageLimit),
    ("prompt is too long", Reason::ContextWindow),
    ("context window", Reason::ContextWindow),
    ("context_length_exceeded", Reason::ContextWindow),
    ("maximum context length", Reason::ContextWindow),
    ("output token maximum", Reason::MaxOutputTokens),
    ("issue with the selected model", Reason::ModelNotFound),
    ("model_not_found", Reason::ModelNotFound),
    ("stream disconnected", Reason::Connection),
    ("request timed out", Reason::Connection),
    ("in json at position", Reason::BadResponse),
    ("malformed response", Reason::BadResponse),
    ("is not valid json", Reason::BadResponse),
    ("high demand", Reason::Overloaded),
];

/// Phrases that decide when nothing else did.
const GENERAL: [(&str, Reason); 20] = [
    ("rate limit", Reason::RateLimit),
    ("rate_limit", Reason::RateLimit),
    ("too many requests", Reason::RateLimit),
    ("resource_exhausted", Reason::RateLimit),
    ("resource exhausted", Reason::RateLimit),
    ("overloaded", Reason::Overloaded),
    ("unauthenticated", Reason::Authentication),
    ("unauthorized", Reason::Authentication),
    ("invalid api key", Reason::Authentication),
    ("invalid x-api-key", Reason::Authentication),
    ("authentication_error", Reason::Authentication),
    ("failed to authenticate", Reason::Authentication),
    ("not_found_error", Reason::ModelNotFound),
    ("invalid_argument", Reason::BadRequest),
    ("invalid_request_error", Reason::BadRequest),
    ("econnrefused", Reason::Connection),
    ("econnreset", Reason::Connection),
    ("enotfound", Reason::Connection),
    ("fetch failed", Reason::Connection),
    ("network error", Reason::Connection),
];

/// What a message alone says.
pub(in super::super) fn in_words(message: &str) -> Option<Reason> {
    specific(message).or_else(|| find(&GENERAL, message))
}

fn specific(message: &str) -> Option<Reason> {
    find(&SPECIFIC, message)
}

fn find(table: &[(&str, Reason)], message: &str) -> Option<Reason> {
    let message = message.to_lowercase().replace('\u{2019}', "'");
    table.iter().find(|(phrase, _)| message.contains(phrase)).map(|(_, reason)| *reason)
}

/// Words after which a number is an HTTP status.
const STATUS_WORDS: [&str; 5] = ["status", "code", "error", "rejected", "http"];

/// The HTTP error status that a message names (`status 401`, `last status: 429`, `"code":400`, `rejected (429)`).
pub(in super::super) fn status_in(message: &str) -> Option<u16> {
    let is_digit = |character: char| character.is_ascii_digit();
    let mut from = 0;
    while let Some(start) = message[from..].find(is_digit).map(|at| at + from) {
        let end = message[start..]
            .find(|character| !is_digit(character))
            .map_or(message.len(), |at| at + start);
        from = end;
        let number =
            message[start..end].parse::<u16>().ok().filter(|number| (400..=599).contains(number));
        let before =
            message[..start].trim_end_matches(|character: char| " :\"'(=".contains(character));
        let word = before
            .rsplit(|character: char| !character.is_ascii_alphabetic())
            .next()
            .unwrap_or_default();
        if let Some(number) = number
            && STATUS_WORDS.contains(&word.to_ascii_lowercase().as_str())
        {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Reason, classify, status_in};

    #[test]
    fn a_status_is_found_in_every_agents_prose() {
        assert_eq!(
            status_in(
                "unexpected status 401 Unauthorized: fake 401, url: http://127.0.0.1:37477/v1"
            ),
            Some(401)
        );
        assert_eq!(
            status_in("exceeded retry limit, last status: 429 Too Many Requests"),
            Some(429)
        );
        assert_eq!(
            status_in("[API Error: {\"error\":{\"code\":400,\"message\":\"x\"}}]"),
            Some(400)
        );
        assert_eq!(status_in("API Error: Request rejected (429) · slow down"), Some(429));
        assert_eq!(status_in("API Error: 529 overloaded"), Some(529));
    }

    #[test]
    fn a_number_that_is_no_status_is_none() {
        for text in [
            "wrote 429 lines",
            "status: 200",
            "port 40417",
            "error 42",
            "",
            "status 4290",
            "code 99999999999",
        ] {
            assert_eq!(status_in(text), None, "{text}");
        }
    }

    #[test]
    fn the_message_tells_what_the_status_cannot() {
        let reason = |status, word, message| classify(status, word, message).0;
        assert_eq!(
            reason(None, Some("authentication_failed"), "Not logged in · Please run /login"),
            Reason::NotLoggedIn
        );
        assert_eq!(
            reason(Some(401), Some("authentication_failed"), "Failed to authenticate."),
            Reason::Authentication
        );
        assert_eq!(
            reason(Some(400), Some("billing_error"), "Credit balance is too low"),
            Reason::Billing
        );
        assert_eq!(
            reason(Some(400), Some("invalid_request"), "Prompt is too long · …"),
            Reason::ContextWindow
        );
        assert_eq!(
            reason(Some(429), Some("rate_limit"), "You’ve hit your usage limit."),
            Reason::UsageLimit
        );
        assert_eq!(reason(Some(429), None, "slow down"), Reason::RateLimit);
        assert_eq!(reason(Some(529), Some("overloaded"), "x"), Reason::Overloaded);
        assert_eq!(reason(Some(529), Some("server_error"), "x"), Reason::Overloaded);
        assert_eq!(reason(None, Some("server_error"), "x"), Reason::ServerError);
        assert_eq!(
            reason(None, None, "We’re currently experiencing high demand"),
            Reason::Overloaded
        );
        assert_eq!(
            reason(None, None, "Quota exceeded. Check your plan and billing details."),
            Reason::UsageLimit
        );
        assert_eq!(reason(None, None, "something new"), Reason::Other);
    }
}
