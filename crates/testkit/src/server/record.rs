//! What the server remembers: every request, and what became of it.
//!
//! Tests ask for the records; the binary also writes each one as a line of JSON. Keys never get in: headers that carry
//! them, and the `key` parameter of a query, are blanked before anything is kept. Memory is bounded: after
//! [`MAX_KEPT_BYTES`] of bodies, later records come without theirs.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value;

use super::protocol::Protocol;
use super::request::RequestView;

/// How many bytes of bodies are kept in all.
pub const MAX_KEPT_BYTES: usize = 256 * 1024 * 1024;

/// What stands where a key was.
pub const REDACTED: &str = "<redacted>";

/// One request that the server got.
#[derive(Debug, Clone, Serialize)]
pub struct Recorded {
    /// Position among all requests, from 1.
    pub number: u32,
    /// Time since the server started.
    #[serde(rename = "since_start_ms", serialize_with = "as_millis")]
    pub since_start: Duration,
    /// Milliseconds since the Unix epoch.
    pub unix_ms: u64,
    pub method: String,
    pub path: String,
    /// The query, with a key in it blanked.
    pub query: String,
    /// Headers in the order they came, names in lower case, keys blanked.
    pub headers: Vec<(String, String)>,
    pub body: RecordedBody,
    /// The protocol, when the path belongs to one.
    pub protocol: Option<Protocol>,
    pub answered_by: AnsweredBy,
    /// The status of the answer; absent when the connection was dropped.
    pub status: Option<u16>,
}

/// A body as it was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedBody {
    Empty,
    Json(Value),
    /// Something else, with what is not UTF-8 replaced.
    Text(String),
    /// It was larger than the server accepts.
    TooLarge,
    /// The memory for bodies was used up.
    NotKept,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A rule of the script.
    Rule {
        /// Its position, from 0.
        index: usize,
        /// Its name, if it has one.
        name: Option<String>,
    },
    /// The server itself: token counts, lists of models, refused features.
    Server,
    /// Nobody: no rule matched, or the path is unknown. A test that sees this has a hole in its script.
    Unmatched,
}

impl Recorded {
    /// The request without its protocol; empty for requests that do not ask for an answer.
    pub fn view(&self) -> RequestView {
        match (self.protocol, &self.body) {
            (Some(protocol), RecordedBody::Json(body)) => {
                RequestView::read(protocol, &self.path, body)
            }
            _ => RequestView::default(),
        }
    }

    /// The JSON body; null when there is none.
    pub fn json(&self) -> &Value {
        match &self.body {
            RecordedBody::Json(value) => value,
            RecordedBody::Empty
            | RecordedBody::Text(_)
            | RecordedBody::TooLarge
            | RecordedBody::NotKept => &Value::Null,
        }
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// A request on its way into the records.
pub(super) struct Incoming {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: RecordedBody,
    pub(super) body_bytes: usize,
}

pub(super) struct Verdict {
    pub(super) protocol: Option<Protocol>,
    pub(super) answered_by: AnsweredBy,
    pub(super) status: Option<u16>,
}

/// The records of a running server.
pub(super) struct Recorder {
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Vec<Recorded>,
    kept_bytes: usize,
    log: Option<Box<dyn Write + Send>>,
}

impl Recorder {
    pub(super) fn new(log: Option<Box<dyn Write + Send>>) -> Self {
        Self { started: Instant::now(), state: Mutex::new(State { log, ..State::default() }) }
    }

    pub(super) fn keep(&self, number: u32, incoming: Incoming, verdict: Verdict) {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut record = Recorded {
            number,
            since_start: self.started.elapsed(),
            unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX),
            method: incoming.method,
            path: incoming.path,
            query: redact_query(&incoming.query),
            headers: incoming.headers.into_iter().map(redact_header).collect(),
            body: incoming.body,
            protocol: verdict.protocol,
            answered_by: verdict.answered_by,
            status: verdict.status,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = &mut state.log {
            let line = serde_json::to_string(&record).unwrap_or_default();
            // A log that cannot be written must not take the server down with it: the records are still there.
            let _ = writeln!(log, "{line}").and_then(|()| log.flush());
        }
        state.kept_bytes = state.kept_bytes.saturating_add(incoming.body_bytes);
        if state.kept_bytes > MAX_KEPT_BYTES {
            record.body = RecordedBody::NotKept;
        }
        state.kept.push(record);
    }

    pub(super) fn all(&self) -> Vec<Recorded> {
        let mut all = self.state.lock().unwrap_or_else(PoisonError::into_inner).kept.clone();
        all.sort_by_key(|record| record.number);
        all
    }
}

fn redact_header((name, value): (String, String)) -> (String, String) {
    const SECRET: &[&str] = &[
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "cookie",
    ];
    if SECRET.contains(&name.as_str()) { (name, REDACTED.to_owned()) } else { (name, value) }
}

fn redact_query(query: &str) -> String {
    let blank = |pair: &str| match pair.split_once('=') {
        Some(("key", _)) => format!("key={REDACTED}"),
        _ => pair.to_owned(),
    };
    query.split('&').map(blank).collect::<Vec<_>>().join("&")
}

fn as_millis<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn incoming(body_bytes: usize) -> Incoming {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Incoming {
            method: "POST".into(),
            path: "/v1/messages".into(),
            query: "beta=true&key=AIzaSecret".into(),
            headers: vec![
                header("x-api-key", "sk-secret"),
                header("authorization", "Bearer secret"),
                header("x-app", "cli"),
            ],
            body: RecordedBody::Json(json!({"model": "m"})),
            body_bytes,
        }
    }

    fn verdict() -> Verdict {
        Verdict {
            protocol: Some(Protocol::Anthropic),
            answered_by: AnsweredBy::Server,
            status: Some(200),
        }
    }

    #[test]
    fn keys_never_reach_the_records() {
        let recorder = Recorder::new(None);
        recorder.keep(1, incoming(10), verdict());
        let text = serde_json::to_string(&recorder.all()).unwrap();
        assert!(!text.to_lowercase().contains("secret"), "{text}");
        assert_eq!(recorder.all()[0].header("X-App"), Some("cli"));
        assert_eq!(recorder.all()[0].query, "beta=true&key=<redacted>");
    }

    #[test]
    fn bodies_beyond_the_limit_are_not_kept() {
        let recorder = Recorder::new(None);
        recorder.keep(1, incoming(MAX_KEPT_BYTES), verdict());
        recorder.keep(2, incoming(1), verdict());
        let bodies: Vec<bool> =
            recorder.all().iter().map(|record| record.body == RecordedBody::NotKept).collect();
        assert_eq!(bodies, [false, true]);
    }

    #[test]
    fn a_record_can_be_read_without_its_protocol() {
        let recorder = Recorder::new(None);
        recorder.keep(1, incoming(10), verdict());
        assert_eq!(recorder.all()[0].view().model, "m");
    }
}
