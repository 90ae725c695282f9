//! The model protocols that the server speaks, and which request path belongs to which.
//!
//! First stop of a request: [`Endpoint::of`] turns method and path into what is being asked for. Paths are matched by
//! their end, so that any base URL prefix works.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Anthropic Messages, `POST /v1/messages`.
    Anthropic,
    /// OpenAI chat completions, `POST /v1/chat/completions`.
    OpenaiChat,
    /// OpenAI Responses, `POST /v1/responses`.
    OpenaiResponses,
    /// Gemini, `POST /v1beta/models/NAME:generateContent` and `:streamGenerateContent`.
    Gemini,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A model's answer: the only endpoint that consults the script.
    Answer(Protocol),
    CountTokens(Protocol),
    Models(Protocol),
    /// A probe whether the server is there.
    Alive,
    /// A WebSocket handshake, which the server refuses so that clients fall back to plain HTTP.
    WebSocket,
    /// Nothing that this server knows.
    Unknown,
}

/// The parts of a request that decide the endpoint.
pub(super) struct Target<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) headers: &'a [(String, String)],
}

impl Endpoint {
    /// Reads the endpoint off a request's method, path and headers.
    pub(super) fn of(target: &Target<'_>) -> Self {
        match target.method {
            "HEAD" => Self::Alive,
            "GET" => Self::of_get(target),
            "POST" => Self::of_post(target.path),
            _ => Self::Unknown,
        }
    }

    fn of_get(target: &Target<'_>) -> Self {
        if target.header("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket")) {
            return Self::WebSocket;
        }
        if target.path.contains("/v1beta/models") {
            return Self::Models(Protocol::Gemini);
        }
        if !target.path.contains("/models") {
            return Self::Unknown;
        }
        // Anthropic and OpenAI share the path; only Anthropic's clients send a version header.
        match target.header("anthropic-version") {
            Some(_) => Self::Models(Protocol::Anthropic),
            None => Self::Models(Protocol::OpenaiChat),
        }
    }

    fn of_post(path: &str) -> Self {
        const ENDS: &[(&str, Endpoint)] = &[
            ("/messages/count_tokens", Endpoint::CountTokens(Protocol::Anthropic)),
            (":countTokens", Endpoint::CountTokens(Protocol::Gemini)),
            ("/messages", Endpoint::Answer(Protocol::Anthropic)),
            ("/chat/completions", Endpoint::Answer(Protocol::OpenaiChat)),
            ("/responses", Endpoint::Answer(Protocol::OpenaiResponses)),
            (":generateContent", Endpoint::Answer(Protocol::Gemini)),
            (":streamGenerateContent", Endpoint::Answer(Protocol::Gemini)),
        ];
        ENDS.iter()
            .find(|(end, _)| path.ends_with(end))
            .map_or(Self::Unknown, |(_, endpoint)| *endpoint)
    }
}

impl Target<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(method: &str, path: &str, headers: &[(&str, &str)]) -> Endpoint {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Endpoint::of(&Target { method, path, headers: &headers })
    }

    #[test]
    fn each_path_finds_its_protocol() {
        let cases = [
            ("/v1/messages", Endpoint::Answer(Protocol::Anthropic)),
            ("/v1/messages/count_tokens", Endpoint::CountTokens(Protocol::Anthropic)),
            ("/v1/chat/completions", Endpoint::Answer(Protocol::OpenaiChat)),
            ("/gateway/v1/chat/completions", Endpoint::Answer(Protocol::OpenaiChat)),
            ("/v1/responses", Endpoint::Answer(Protocol::OpenaiResponses)),
            ("/v1beta/models/m:generateContent", Endpoint::Answer(Protocol::Gemini)),
            ("/v1beta/models/m:streamGenerateContent", Endpoint::Answer(Protocol::Gemini)),
            ("/v1beta/models/m:countTokens", Endpoint::CountTokens(Protocol::Gemini)),
            ("/v1/embeddings", Endpoint::Unknown),
        ];
        for (path, expected) in cases {
            assert_eq!(endpoint("POST", path, &[]), expected, "{path}");
        }
    }

    #[test]
    fn the_list_of_models_follows_the_client() {
        assert_eq!(endpoint("GET", "/v1/models", &[]), Endpoint::Models(Protocol::OpenaiChat));
        assert_eq!(
            endpoint("GET", "/v1/models", &[("Anthropic-Version", "2023-06-01")]),
            Endpoint::Models(Protocol::Anthropic)
        );
        assert_eq!(endpoint("GET", "/v1beta/models", &[]), Endpoint::Models(Protocol::Gemini));
        assert_eq!(endpoint("GET", "/elsewhere", &[]), Endpoint::Unknown);
    }

    #[test]
    fn a_websocket_handshake_is_seen_before_the_path() {
        let upgrade = [("Upgrade", "WebSocket")];
        assert_eq!(endpoint("GET", "/v1/responses", &upgrade), Endpoint::WebSocket);
    }
}
