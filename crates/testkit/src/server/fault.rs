//! What goes wrong: turns a good answer into the delivery that the client will see.
//!
//! [`deliver`] is pure: it takes a rendered body and a rule's faults and gives a [`Delivery`], a list of sends and
//! waits with an end. [`super::http`] performs it. A chunk is one server-sent event; a whole body counts as four chunks,
//! so that the same faults work on it.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

use super::answer::Body;
use super::error_shape::ErrorText;
use super::protocol::Protocol;

/// One thing that goes wrong. Several faults of a rule work together; the first that replaces the answer wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// An HTTP error with the protocol's own body.
    Status(StatusFault),
    /// Nothing at all for a while, then the answer.
    DelayHeaders {
        /// How long, in milliseconds.
        ms: u64,
    },
    /// A pause before each chunk.
    DelayChunks {
        /// How long each, in milliseconds.
        ms: u64,
    },
    /// The stream stops for a while after some chunks and then goes on.
    Silence {
        after_chunks: usize,
        /// How long, in milliseconds.
        ms: u64,
    },
    /// The socket is closed in the middle of the answer.
    Cut { after_chunks: usize },
    /// Some chunks are fine, then comes one that is not JSON, and the answer ends there.
    Malformed {
        /// Good chunks before the bad one.
        after_chunks: usize,
    },
    /// Some chunks are fine, then the stream reports an error and ends. A whole answer becomes a 500 instead.
    ErrorEvent {
        /// Good chunks before the error.
        after_chunks: usize,
        /// The protocol's name for the error, for example `overloaded_error`.
        kind: Option<String>,
        message: Option<String>,
    },
    /// A 200 without a body.
    EmptyBody,
    /// The right answer behind so many bytes of padding that is legal in the format.
    HugeBody { bytes: u64 },
    /// The connection is closed without any answer.
    Drop,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusFault {
    pub code: u16,
    /// The value of a Retry-After header: seconds or a date.
    #[serde(default)]
    pub retry_after: Option<String>,
    /// The protocol's name for the error; the usual one for the code when absent.
    #[serde(default)]
    pub kind: Option<String>,
    /// What it says; a usual text for the code when absent.
    #[serde(default)]
    pub message: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

impl Fault {
    /// An HTTP error, to be refined with the other functions.
    pub fn status(code: u16) -> Self {
        let headers = BTreeMap::new();
        Self::Status(StatusFault { code, retry_after: None, kind: None, message: None, headers })
    }

    /// Adds a Retry-After header to an HTTP error; other faults stay as they are.
    #[must_use]
    pub fn retry_after(self, value: impl Into<String>) -> Self {
        self.refine(|fault| fault.retry_after = Some(value.into()))
    }

    /// Sets the text of an HTTP error; other faults stay as they are.
    #[must_use]
    pub fn message(self, text: impl Into<String>) -> Self {
        self.refine(|fault| fault.message = Some(text.into()))
    }

    /// Sets the kind of an HTTP error; other faults stay as they are.
    #[must_use]
    pub fn kind(self, kind: impl Into<String>) -> Self {
        self.refine(|fault| fault.kind = Some(kind.into()))
    }

    /// Adds a header to an HTTP error; other faults stay as they are.
    #[must_use]
    pub fn with_header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.refine(|fault| {
            fault.headers.insert(name.into(), value.into());
        })
    }

    /// What of this fault cannot be put into an HTTP answer, if anything.
    pub(super) fn not_http(&self) -> Option<String> {
        let Self::Status(fault) = self else { return None };
        if !(200..=999).contains(&fault.code) {
            return Some(fault.code.to_string());
        }
        let name = fault.headers.keys().find(|name| HeaderName::try_from(name.as_str()).is_err());
        let mut values = fault.headers.values().chain(&fault.retry_after);
        name.or_else(|| values.find(|value| HeaderValue::try_from(value.as_str()).is_err()))
            .cloned()
    }

    fn refine(mut self, change: impl FnOnce(&mut StatusFault)) -> Self {
        if let Self::Status(fault) = &mut self {
            change(fault);
        }
        self
    }
}

/// What the client gets, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    /// How long nothing happens.
    pub(super) delay: Duration,
    /// Status and headers; without them the connection is closed at once.
    pub(super) head: Option<Head>,
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

/// Status and headers of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
}

/// One act of sending a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Send these bytes as one chunk.
    Send(Bytes),
    /// Send these bytes so many times.
    Repeat(Bytes, u64),
    Wait(Duration),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As the protocol wants it.
    Complete,
    /// By a closed socket, with the body unfinished.
    Cut,
}

/// Who asked, for the shape of errors.
pub(super) struct Asked {
    pub(super) protocol: Protocol,
    pub(super) request_id: String,
}

pub(super) fn deliver(body: Body, faults: &[Fault], asked: &Asked) -> Delivery {
    let delay = faults.iter().map(|fault| match fault {
        Fault::DelayHeaders { ms } => Duration::from_millis(*ms),
        _ => Duration::ZERO,
    });
    let delay = delay.sum();
    match faults.iter().find_map(|fault| replacement(fault, &body, asked)) {
        Some(delivery) => Delivery { delay, ..delivery },
        None => Delivery { delay, ..shaped(body, faults, asked) },
    }
}

/// An answer of one document.
pub(super) fn document(status: u16, body: String, extra: Vec<(String, String)>) -> Delivery {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    headers.extend(extra);
    headers.push(("content-length".to_owned(), body.len().to_string()));
    Delivery {
        delay: Duration::ZERO,
        head: Some(Head { status, headers }),
        steps: vec![Step::Send(body.into())],
        end: End::Complete,
    }
}

/// The headers under which clients look for a request's id.
pub(super) fn id_headers(request_id: &str) -> Vec<(String, String)> {
    ["request-id", "x-request-id"].map(|name| (name.to_owned(), request_id.to_owned())).into()
}

fn replacement(fault: &Fault, body: &Body, asked: &Asked) -> Option<Delivery> {
    let error = |code, kind: &Option<String>, message: &Option<String>, extra| {
        let text = ErrorText {
            code,
            kind: kind.clone(),
            message: message.clone(),
            request_id: asked.request_id.clone(),
        };
        let mut headers = id_headers(&asked.request_id);
        headers.extend::<Vec<(String, String)>>(extra);
        document(code, text.body(asked.protocol).to_string(), headers)
    };
    match (fault, body) {
        (Fault::Status(fault), _) => {
            let mut extra: Vec<(String, String)> = fault.headers.clone().into_iter().collect();
            extra.extend(fault.retry_after.clone().map(|value| ("retry-after".to_owned(), value)));
            Some(error(fault.code, &fault.kind, &fault.message, extra))
        }
        (Fault::ErrorEvent { kind, message, .. }, Body::Whole(_)) => {
            Some(error(500, kind, message, Vec::new()))
        }
        (Fault::EmptyBody, _) => Some(document(200, String::new(), id_headers(&asked.request_id))),
        (Fault::Drop, _) => {
            Some(Delivery { delay: Duration::ZERO, head: None, steps: Vec::new(), end: End::Cut })
        }
        _ => None,
    }
}

fn shaped(body: Body, faults: &[Fault], asked: &Asked) -> Delivery {
    let huge = faults.iter().any(|fault| matches!(fault, Fault::HugeBody { .. }));
    let mut headers = id_headers(&asked.request_id);
    let (padding, chunks) = match body {
        Body::Whole(text) => {
            headers.insert(0, ("content-type".to_owned(), "application/json".to_owned()));
            let malformed = faults.iter().any(|fault| matches!(fault, Fault::Malformed { .. }));
            if !huge && !malformed {
                headers.push(("content-length".to_owned(), text.len().to_string()));
            }
            (" ".repeat(PADDING), quarters(&text))
        }
        Body::Events(events) => {
            headers.insert(0, ("content-type".to_owned(), "text/event-stream".to_owned()));
            headers.push(("cache-control".to_owned(), "no-cache".to_owned()));
            (format!(":{}\n", " ".repeat(PADDING - 2)), events)
        }
    };
    let mut delivery = Delivery {
        delay: Duration::ZERO,
        head: Some(Head { status: 200, headers }),
        steps: chunks.into_iter().map(|chunk| Step::Send(chunk.into())).collect(),
        end: End::Complete,
    };
    for fault in faults {
        spoil(&mut delivery, fault, asked, &padding);
    }
    delivery
}

/// Bytes of padding in one send.
const PADDING: usize = 64 * 1024;

fn spoil(delivery: &mut Delivery, fault: &Fault, asked: &Asked, padding: &str) {
    match fault {
        Fault::DelayChunks { ms } => {
            let pause = Duration::from_millis(*ms);
            let steps = std::mem::take(&mut delivery.steps);
            delivery.steps = steps
                .into_iter()
                .flat_map(|step| match step {
                    Step::Send(_) => vec![Step::Wait(pause), step],
                    Step::Repeat(..) | Step::Wait(_) => vec![step],
                })
                .collect();
        }
        Fault::Silence { after_chunks, ms } => {
            let place = place_after(&delivery.steps, *after_chunks);
            delivery.steps.insert(place, Step::Wait(Duration::from_millis(*ms)));
        }
        Fault::Cut { after_chunks } => {
            delivery.steps.truncate(place_after(&delivery.steps, *after_chunks));
            delivery.end = End::Cut;
        }
        Fault::Malformed { after_chunks } => {
            delivery.steps.truncate(place_after(&delivery.steps, *after_chunks));
            delivery.steps.push(Step::Send("data: {\"type\": BROKEN\n\n".into()));
        }
        Fault::ErrorEvent { after_chunks, kind, message } => {
            let text = ErrorText {
                code: 500,
                kind: kind.clone(),
                message: message.clone(),
                request_id: asked.request_id.clone(),
            };
            delivery.steps.truncate(place_after(&delivery.steps, *after_chunks));
            delivery.steps.push(Step::Send(text.event(asked.protocol).into()));
        }
        Fault::HugeBody { bytes } => {
            let times = bytes.div_ceil(PADDING as u64);
            delivery.steps.insert(0, Step::Repeat(padding.to_owned().into(), times));
        }
        // These replace the answer or come before it, so they were dealt with already.
        Fault::Status(_) | Fault::DelayHeaders { .. } | Fault::EmptyBody | Fault::Drop => {}
    }
}

/// The position right after so many chunks, whatever waits are between them.
fn place_after(steps: &[Step], chunks: usize) -> usize {
    let sends = steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Send(_)));
    match chunks {
        0 => 0,
        _ => sends.map(|(place, _)| place + 1).nth(chunks - 1).unwrap_or(steps.len()),
    }
}

/// A text in four pieces of about the same length, empty ones left out.
fn quarters(text: &str) -> Vec<String> {
    let [first, second] = super::reply::halves(text);
    [first, second]
        .into_iter()
        .flat_map(super::reply::halves)
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
