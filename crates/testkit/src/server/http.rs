//! The HTTP side: takes a request in, asks the script, performs the delivery.
//!
//! Hyper is used without a framework on top because a server that must drop, cut and stall connections needs its
//! hands on them. One request is: read (bounded) -> [`decide`](Shared::decide) -> record -> perform.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming as HyperBody};
use hyper::{Request, Response};
use serde_json::Value;

use super::answer::{Answer, model_list, token_count};
use super::error_shape::ErrorText;
use super::fault::{Asked, Delivery, End, Head, Step, deliver, document, id_headers};
use super::matching::{Candidate, Rules};
use super::openai_chat::format_refusal;
use super::protocol::{Endpoint, Protocol, Target};
use super::record::{AnsweredBy, Incoming, RecordedBody, Recorder, Verdict};
use super::request::RequestView;
use super::script::{Script, StructuredOutput};

/// The largest request body that the server reads.
pub const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;

/// A connection that the script wants closed; hyper closes it when the service or a body returns an error.
#[derive(Debug, thiserror::Error)]
#[error("the script closes this connection")]
pub(super) struct Dropped;

type ResponseBody = BoxBody<Bytes, Dropped>;

/// What all connections of a server share.
pub(super) struct Shared {
    pub(super) recorder: Recorder,
    rules: Mutex<Rules>,
    structured_output: StructuredOutput,
    models: Vec<String>,
    number: AtomicU32,
}

impl Shared {
    pub(super) fn new(script: Script, recorder: Recorder) -> Self {
        Self {
            recorder,
            rules: Mutex::new(Rules::new(script.rules)),
            structured_output: script.structured_output,
            models: script.models,
            number: AtomicU32::new(0),
        }
    }

    pub(super) async fn serve(
        &self,
        request: Request<HyperBody>,
    ) -> Result<Response<ResponseBody>, Dropped> {
        let number = self.number.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let incoming = read(request).await;
        let (verdict, delivery) = self.decide(number, &incoming);
        self.recorder.keep(number, incoming, verdict);
        perform(delivery).await
    }

    fn decide(&self, number: u32, incoming: &Incoming) -> (Verdict, Delivery) {
        let Incoming { method, path, headers, .. } = incoming;
        let endpoint = Endpoint::of(&Target { method, path, headers });
        let by_server = |protocol, delivery: Delivery| {
            (verdict(protocol, AnsweredBy::Server, &delivery), delivery)
        };
        let json = |value: Value| document(200, value.to_string(), id_headers(&request_id(number)));
        match endpoint {
            Endpoint::Answer(protocol) => self.decide_answer(number, protocol, incoming),
            Endpoint::CountTokens(protocol) => {
                by_server(Some(protocol), json(token_count(protocol, incoming.body_bytes)))
            }
            Endpoint::Models(protocol) => {
                by_server(Some(protocol), json(model_list(protocol, &self.models)))
            }
            Endpoint::Alive => by_server(None, document(200, String::new(), Vec::new())),
            Endpoint::WebSocket => {
                by_server(None, plain_error(426, "this server speaks plain HTTP only"))
            }
            Endpoint::Unknown => {
                let delivery = plain_error(404, &format!("testkit: unknown path {method} {path}"));
                (verdict(None, AnsweredBy::Unmatched, &delivery), delivery)
            }
        }
    }

    fn decide_answer(
        &self,
        number: u32,
        protocol: Protocol,
        incoming: &Incoming,
    ) -> (Verdict, Delivery) {
        let body = match &incoming.body {
            RecordedBody::Json(body) => body,
            RecordedBody::TooLarge => {
                return refuse(number, protocol, 413, "testkit: the body is too large");
            }
            RecordedBody::Empty | RecordedBody::Text(_) | RecordedBody::NotKept => {
                return refuse(number, protocol, 400, "testkit: the body is not JSON");
            }
        };
        if protocol == Protocol::OpenaiChat
            && let Some(message) = format_refusal(body, self.structured_output)
        {
            return refuse(number, protocol, 400, &message);
        }
        let view = RequestView::read(protocol, &incoming.path, body);
        let candidate = Candidate { protocol, view: &view, headers: &incoming.headers };
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((index, rule)) = rules.pick(&candidate) else {
            drop(rules);
            let (mut verdict, delivery) = refuse(number, protocol, 500, &unmatched_text(&view));
            verdict.answered_by = AnsweredBy::Unmatched;
            return (verdict, delivery);
        };
        let reply = rule.reply.clone().unwrap_or_default().settled(&view, number);
        let rendered = Answer { reply: &reply, view: &view, number }.render(protocol);
        let delivery =
            deliver(rendered, &rule.faults, &Asked { protocol, request_id: request_id(number) });
        let by = AnsweredBy::Rule { index, name: rule.name.clone() };
        (verdict(Some(protocol), by, &delivery), delivery)
    }
}

/// An error that the server itself gives.
fn refuse(number: u32, protocol: Protocol, code: u16, message: &str) -> (Verdict, Delivery) {
    let request_id = request_id(number);
    let headers = id_headers(&request_id);
    let text = ErrorText { code, kind: None, message: Some(message.to_owned()), request_id };
    let delivery = document(code, text.body(protocol).to_string(), headers);
    (verdict(Some(protocol), AnsweredBy::Server, &delivery), delivery)
}

fn verdict(protocol: Option<Protocol>, answered_by: AnsweredBy, delivery: &Delivery) -> Verdict {
    Verdict { protocol, answered_by, status: delivery.head.as_ref().map(|head| head.status) }
}

fn request_id(number: u32) -> String {
    format!("req_{number:06}")
}

fn plain_error(status: u16, message: &str) -> Delivery {
    let body = serde_json::json!({"error": {"type": "not_found_error", "message": message}});
    document(status, body.to_string(), Vec::new())
}

fn unmatched_text(view: &RequestView) -> String {
    let start: String = view.prompt.chars().take(80).collect();
    let results = view.tool_results.len();
    format!(
        "testkit: no rule of the script matches this request (prompt {start:?}, {results} tool results)"
    )
}

async fn read(request: Request<HyperBody>) -> Incoming {
    let (parts, body) = request.into_parts();
    let headers = parts.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let (body, body_bytes) = match Limited::new(body, MAX_REQUEST_BYTES).collect().await {
        Ok(collected) => classify(&collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => (RecordedBody::TooLarge, 0),
        Err(_) => (RecordedBody::Empty, 0),
    };
    Incoming {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: headers.collect(),
        body,
        body_bytes,
    }
}

fn classify(bytes: &Bytes) -> (RecordedBody, usize) {
    let body = if bytes.is_empty() {
        RecordedBody::Empty
    } else if let Ok(value) = serde_json::from_slice(bytes) {
        RecordedBody::Json(value)
    } else {
        RecordedBody::Text(String::from_utf8_lossy(bytes).into_owned())
    };
    (body, bytes.len())
}

async fn perform(delivery: Delivery) -> Result<Response<ResponseBody>, Dropped> {
    tokio::time::sleep(delivery.delay).await;
    let Some(Head { status, headers }) = delivery.head else { return Err(Dropped) };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    let body = match (<[Step; 1]>::try_from(delivery.steps), delivery.end) {
        (Ok([Step::Send(bytes)]), End::Complete) => Full::new(bytes).map_err(never).boxed(),
        (steps, end) => {
            let steps = steps.map_or_else(|steps| steps, Vec::from);
            let (sender, body) = Channel::new(1);
            tokio::spawn(send(sender, steps, end));
            body.boxed()
        }
    };
    // The script's check has seen every status and header, so this only fails if a protocol module writes a bad one.
    response.body(body).map_err(|_| Dropped)
}

fn never(error: Infallible) -> Dropped {
    match error {}
}

/// How long a cut waits, so that what was sent before it reaches the client: hyper throws its buffer away on an error.
const FLUSH: Duration = Duration::from_millis(20);

async fn send(mut sender: Sender<Bytes, Dropped>, steps: Vec<Step>, end: End) {
    for step in steps {
        let sent = match step {
            Step::Wait(time) => {
                tokio::time::sleep(time).await;
                Ok(())
            }
            Step::Send(bytes) => sender.send_data(bytes).await,
            Step::Repeat(bytes, times) => repeat(&mut sender, &bytes, times).await,
        };
        if sent.is_err() {
            return; // The client has gone; there is nobody left to send to.
        }
    }
    if end == End::Cut {
        tokio::time::sleep(FLUSH).await;
        sender.abort(Dropped);
    }
}

async fn repeat(
    sender: &mut Sender<Bytes, Dropped>,
    bytes: &Bytes,
    times: u64,
) -> Result<(), http_body_util::channel::SendError> {
    for _ in 0..times {
        sender.send_data(bytes.clone()).await?;
    }
    Ok(())
}
