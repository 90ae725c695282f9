//! How each protocol words an error: as the body of a failed request, and as an event in the middle of a stream.
//!
//! Shapes and type names are those of the real services, because clients decide by them whether to try again.

use serde_json::{Value, json};

use super::answer::event;
use super::protocol::Protocol;

/// An error to be worded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ErrorText {
    pub(super) code: u16,
    /// The protocol's name for the kind of error; the usual one for the status when absent.
    pub(super) kind: Option<String>,
    /// What it says; the usual text for the status when absent.
    pub(super) message: Option<String>,
    /// The request's id, which some bodies repeat.
    pub(super) request_id: String,
}

impl ErrorText {
    fn message(&self) -> &str {
        self.message.as_deref().unwrap_or(match self.code {
            400 => "The request is invalid.",
            401 => "The API key is invalid.",
            403 => "This key may not do that.",
            404 => "No such model.",
            408 => "The request timed out.",
            413 => "The request is too large.",
            429 => "Too many requests; wait before you try again.",
            529 => "Overloaded",
            _ => "Internal server error",
        })
    }

    fn kind_or<'a>(&'a self, usual: &'a str) -> &'a str {
        self.kind.as_deref().unwrap_or(usual)
    }

    /// The body of a failed request.
    pub(super) fn body(&self, protocol: Protocol) -> Value {
        match protocol {
            Protocol::Anthropic => json!({
                "type": "error",
                "error": {"type": self.kind_or(anthropic_kind(self.code)), "message": self.message()},
                "request_id": self.request_id,
            }),
            Protocol::OpenaiChat | Protocol::OpenaiResponses => json!({"error": self.openai()}),
            Protocol::Gemini => json!({
                "error": {
                    "code": self.code,
                    "message": self.message(),
                    "status": self.kind_or(gemini_kind(self.code)),
                },
            }),
        }
    }

    /// The same error as an event of a stream that had begun well.
    pub(super) fn event(&self, protocol: Protocol) -> String {
        match protocol {
            Protocol::Anthropic => event(
                Some("error"),
                &json!({
                    "type": "error",
                    "error": {"type": self.kind_or(anthropic_kind(self.code)), "message": self.message()},
                }),
            ),
            Protocol::OpenaiChat => event(None, &json!({"error": self.openai()})),
            Protocol::OpenaiResponses => event(
                Some("response.failed"),
                &json!({
                    "type": "response.failed",
                    "response": {
                        "id": self.request_id,
                        "object": "response",
                        "status": "failed",
                        "error": {"code": self.kind_or("server_error"), "message": self.message()},
                        "output": [],
                    },
                }),
            ),
            Protocol::Gemini => event(None, &self.body(protocol)),
        }
    }

    fn openai(&self) -> Value {
        let (kind, code) = match self.code {
            401 => ("invalid_request_error", json!("invalid_api_key")),
            404 => ("invalid_request_error", json!("model_not_found")),
            400..=499 if self.code != 429 => ("invalid_request_error", Value::Null),
            429 => ("requests", json!("rate_limit_exceeded")),
            _ => ("server_error", Value::Null),
        };
        json!({"message": self.message(), "type": self.kind_or(kind), "param": null, "code": code})
    }
}

fn anthropic_kind(code: u16) -> &'static str {
    match code {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 => "timeout_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}

fn gemini_kind(code: u16) -> &'static str {
    match code {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        408 => "DEADLINE_EXCEEDED",
        429 => "RESOURCE_EXHAUSTED",
        503 | 529 => "UNAVAILABLE",
        _ => "INTERNAL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: u16) -> ErrorText {
        ErrorText { code, request_id: "req_1".into(), ..ErrorText::default() }
    }

    #[test]
    fn each_status_has_the_type_that_the_real_service_gives_it() {
        let anthropic = |code| error(code).body(Protocol::Anthropic)["error"]["type"].clone();
        assert_eq!(anthropic(429), "rate_limit_error");
        assert_eq!(anthropic(529), "overloaded_error");
        let openai = |code| error(code).body(Protocol::OpenaiChat)["error"]["code"].clone();
        assert_eq!(openai(401), "invalid_api_key");
        assert_eq!(openai(429), "rate_limit_exceeded");
        let gemini = |code| error(code).body(Protocol::Gemini)["error"]["status"].clone();
        assert_eq!(gemini(429), "RESOURCE_EXHAUSTED");
    }

    #[test]
    fn a_scripted_kind_and_message_replace_the_usual_ones() {
        let text = ErrorText {
            kind: Some("insufficient_quota".into()),
            message: Some("You exceeded your current quota".into()),
            ..error(429)
        };
        let body = text.body(Protocol::OpenaiChat);
        assert_eq!(body["error"]["type"], "insufficient_quota");
        assert_eq!(body["error"]["message"], "You exceeded your current quota");
    }
}
