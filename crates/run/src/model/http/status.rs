//! What the status of an answer and the words in its body mean.
//!
//! All services use the same numbers with small differences; this is the one table. It also decides whether a rejected
//! request was rejected for the manner in which it was asked ([`Adaptation`]), which is worth another try in another
//! manner.

use serde_json::Value;

use crate::model::ask::wire::{Adaptation, Fault};
use crate::model::error::{ModelError, millis};
use crate::model::http::{Exchange, cut, excerpt};

/// How much of what a service says is kept, in bytes.
const MAX_MESSAGE: usize = 2000;

/// What a service says about an error.
#[derive(Debug, Default)]
struct Complaint {
    message: String,
    /// The service's name for the kind of error.
    kind: String,
    /// The service's code for the error.
    code: String,
    /// The parameter that is to blame.
    parameter: Option<String>,
}

impl Complaint {
    /// Reads `{"error": {...}}` in the forms of Anthropic, OpenAI and those who imitate them.
    fn read(body: &str) -> Self {
        let parsed: Value = serde_json::from_str(body).unwrap_or_default();
        let error = &parsed["error"];
        let word = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let message = [&error["message"], error, &parsed["message"], &parsed["detail"]];
        let message = message.into_iter().map(word).find(|text| !text.trim().is_empty());
        Self {
            message: message.map_or_else(|| excerpt(body), |text| cut(&text, MAX_MESSAGE)),
            kind: word(&error["type"]),
            code: word(&error["code"]),
            parameter: error["param"].as_str().map(str::to_owned),
        }
    }

    /// Whether money is what is missing, which no waiting helps.
    fn is_about_credit(&self) -> bool {
        let text = self.message.to_lowercase();
        [&self.kind, &self.code]
            .iter()
            .any(|word| *word == "insufficient_quota" || *word == "billing_error")
            || text.contains("credit balance is too low")
    }

    /// What to change when a request was rejected, if anything.
    fn adaptation(&self, status: u16) -> Option<Adaptation> {
        if !matches!(status, 400 | 415 | 422 | 501) {
            return None;
        }
        let text = self.message.to_lowercase();
        let blames = |name: &str| match &self.parameter {
            Some(parameter) => parameter.starts_with(name),
            None => text.contains(name),
        };
        if blames("max_tokens") || blames("max_completion_tokens") {
            return text.contains("max_completion_tokens").then_some(Adaptation::OtherLimitName);
        }
        if blames("temperature") {
            return Some(Adaptation::NoTemperature);
        }
        // Servers that cannot do a format say so in many words, or in none. Whoever names another parameter or a
        // cause of its own means something else; everybody else is asked again, more plainly.
        let names_another =
            self.parameter.as_ref().is_some_and(|parameter| !is_about_format(parameter));
        let has_own_cause = ["context", "token", "credit", "policy", "safety", "billing"];
        let has_own_cause =
            has_own_cause.iter().any(|cause| text.contains(cause) || self.code.contains(cause));
        let means_format = is_about_format(&text) || !(names_another || has_own_cause);
        means_format.then_some(Adaptation::PlainerFormat)
    }
}

fn is_about_format(text: &str) -> bool {
    [
        "response_format",
        "response format",
        "json_schema",
        "json_object",
        "schema",
        "grammar",
        "tool",
    ]
    .iter()
    .any(|word| text.contains(word))
}

/// The error behind an answer that is none.
fn error_of(exchange: &Exchange, complaint: &Complaint, model: &str) -> ModelError {
    let status = exchange.status;
    let message = complaint.message.clone();
    let retry_after_ms = exchange.retry_after.map(millis);
    match status {
        402 => ModelError::NoCredit { message },
        400..=499 if complaint.is_about_credit() => ModelError::NoCredit { message },
        401 | 403 => ModelError::BadKey { status, message },
        404 => ModelError::UnknownModel { model: model.to_owned(), message },
        429 => ModelError::RateLimited { message, retry_after_ms },
        503 | 529 => ModelError::Overloaded { message, retry_after_ms },
        // Among the others of 4xx, a time-out or a conflict of the service's own pass.
        408 | 409 | 425 | 500..=599 => ModelError::Server { status, message, retry_after_ms },
        400..=499 => ModelError::BadRequest { status, message },
        300..=399 => ModelError::BadRequest {
            status,
            message: "the service redirects to another address; set the base URL to that one"
                .to_owned(),
        },
        _ => exchange.malformed(format!("status {status}")),
    }
}

/// The fault behind an answer that is none.
pub(in crate::model) fn rejected(exchange: &Exchange, model: &str) -> Fault {
    let complaint = Complaint::read(&exchange.body);
    Fault {
        error: error_of(exchange, &complaint, model),
        status: Some(exchange.status),
        request_id: exchange.request_id.clone(),
        adaptation: complaint.adaptation(exchange.status),
    }
}

/// The failed exchange that a service reports inside of a good one, by the code of its error.
pub(in crate::model) fn as_failed(exchange: Exchange) -> Exchange {
    let code = Complaint::read(&exchange.body).code.parse().ok();
    let status = code.filter(|status| (400..600).contains(status)).unwrap_or(500);
    Exchange { status, ..exchange }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn exchange(status: u16, body: &str) -> Exchange {
        let retry_after = Some(Duration::from_secs(2));
        Exchange { status, request_id: None, retry_after, body: body.to_owned() }
    }

    fn error(status: u16, body: &str) -> ModelError {
        error_of(&exchange(status, body), &Complaint::read(body), "m")
    }

    #[test]
    fn every_status_has_its_error() {
        let body = r#"{"error": {"type": "t", "message": "why"}}"#;
        let message = || "why".to_owned();
        let retry_after_ms = Some(2000);
        for (status, expected) in [
            (400, ModelError::BadRequest { status: 400, message: message() }),
            (401, ModelError::BadKey { status: 401, message: message() }),
            (402, ModelError::NoCredit { message: message() }),
            (403, ModelError::BadKey { status: 403, message: message() }),
            (404, ModelError::UnknownModel { model: "m".into(), message: message() }),
            (408, ModelError::Server { status: 408, message: message(), retry_after_ms }),
            (413, ModelError::BadRequest { status: 413, message: message() }),
            (429, ModelError::RateLimited { message: message(), retry_after_ms }),
            (500, ModelError::Server { status: 500, message: message(), retry_after_ms }),
            (503, ModelError::Overloaded { message: message(), retry_after_ms }),
            (529, ModelError::Overloaded { message: message(), retry_after_ms }),
        ] {
            assert_eq!(error(status, body), expected);
        }
        assert!(matches!(error(302, ""), ModelError::BadRequest { status: 302, .. }));
        assert!(matches!(error(204, ""), ModelError::Malformed { .. }));
    }

    #[test]
    fn a_quota_that_is_used_up_is_no_rate_limit() {
        let openai = r#"{"error": {"type": "insufficient_quota", "message": "You exceeded your current quota"}}"#;
        let anthropic = r#"{"error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}"#;
        for (status, body) in [(429, openai), (400, anthropic)] {
            let error = error(status, body);
            assert!(matches!(error, ModelError::NoCredit { .. }) && !error.may_pass(), "{error:?}");
        }
    }

    #[test]
    fn messages_are_found_where_services_put_them() {
        for (body, message) in [
            (r#"{"error": {"message": "a"}}"#, "a"),
            (r#"{"error": "b"}"#, "b"),
            (r#"{"message": "c", "object": "error"}"#, "c"),
            (r#"{"detail": "d"}"#, "d"),
            ("<h1>Bad\n gateway</h1>", "<h1>Bad gateway</h1>"),
            ("", ""),
        ] {
            assert_eq!(Complaint::read(body).message, message, "{body}");
        }
    }

    #[test]
    fn a_rejected_manner_is_told_from_a_rejected_request() {
        let adaptation = |status, message: &str, param: Option<&str>| {
            let body = serde_json::json!({"error": {"message": message, "param": param}});
            Complaint::read(&body.to_string()).adaptation(status)
        };
        let plainer = Some(Adaptation::PlainerFormat);
        for (message, param) in [
            (
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                None,
            ),
            ("Invalid schema for response_format", Some("response_format")),
            ("This response_format type is unavailable now", None),
            ("failed to parse grammar", None),
            ("Bad Request", None),
            ("", None),
        ] {
            assert_eq!(adaptation(400, message, param), plainer, "{message}");
        }
        for (message, param) in [
            ("This model's maximum context length is 8192 tokens", None),
            ("Invalid value for 'messages'", Some("messages")),
            ("blocked by content policy", None),
        ] {
            assert_eq!(adaptation(400, message, param), None, "{message}");
        }
        assert_eq!(adaptation(429, "response_format", None), None);
        let limit = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        assert_eq!(adaptation(400, limit, Some("max_tokens")), Some(Adaptation::OtherLimitName));
        assert_eq!(adaptation(400, "max_tokens is too large: 100000", Some("max_tokens")), None);
        let temperature = "Unsupported value: 'temperature' does not support 0 with this model.";
        assert_eq!(
            adaptation(400, temperature, Some("temperature")),
            Some(Adaptation::NoTemperature)
        );
    }
}
