//! A server on loopback that an agent takes for its model: it keeps the first real question and ends every turn.
//!
//! It knows one [`Dialect`], reads bounded bodies, keeps no header but those that a body needs, and ends when it is
//! dropped, with all of its connections.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use super::dialect::Dialect;
use super::request::PLACEHOLDER;

/// The most that is read of a question.
const MAX_BODY: usize = 16 << 20;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) body: Value,
    /// The headers that the body needs.
    pub(super) headers: Vec<(String, String)>,
}

/// Takes an agent's questions.
#[derive(Debug)]
pub(super) struct Listener {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    dialect: &'static Dialect,
    question: Mutex<Option<Question>>,
}

impl Listener {
    /// Listens on a free port.
    pub(super) async fn start(dialect: &'static Dialect) -> io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = socket.local_addr()?;
        let state = Arc::new(State { dialect, question: Mutex::default() });
        let task = tokio::spawn(accept(socket, Arc::clone(&state)));
        Ok(Self { address, state, task })
    }

    /// What the agent is told as its base URL.
    pub(super) fn base_url(&self) -> String {
        format!("http://{}{}", self.address, self.state.dialect.base_path)
    }

    /// The first real question, if there was one.
    pub(super) fn question(&self) -> Option<Question> {
        self.state.question.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Takes connections until the task is aborted; the set takes its connections along.
async fn accept(socket: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = socket.accept().await else { continue };
        while connections.try_join_next().is_some() {}
        let state = Arc::clone(&state);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let state = Arc::clone(&state);
                async move { Ok::<_, Infallible>(state.serve(request).await) }
            });
            // A connection that breaks is the agent's affair: it asks again, or it ends.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl State {
    async fn serve(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        if head.method == Method::HEAD {
            return plain(StatusCode::OK);
        }
        if head.method != Method::POST || !head.uri.path().ends_with(self.dialect.path) {
            return plain(StatusCode::NOT_FOUND);
        }
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            return plain(StatusCode::PAYLOAD_TOO_LARGE);
        };
        let Ok(body) = serde_json::from_slice::<Value>(&body.to_bytes()) else {
            return plain(StatusCode::BAD_REQUEST);
        };
        let (kind, text) = self.dialect.reply(&body);
        if is_real(&body) {
            let header = |name: &&str| {
                let value = head.headers.get(*name)?.to_str().ok()?;
                Some(((*name).to_owned(), value.to_owned()))
            };
            let headers = self.dialect.headers.iter().filter_map(header).collect();
            let mut question = self.question.lock().unwrap_or_else(PoisonError::into_inner);
            question.get_or_insert(Question { body, headers });
        }
        let mut response = Response::new(Full::new(Bytes::from(text)));
        let headers = response.headers_mut();
        headers.insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
        response
    }
}

/// Agents also ask for titles and quotas: the real question offers tools and has what the user says.
fn is_real(body: &Value) -> bool {
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    has_tools && body.to_string().contains(PLACEHOLDER)
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::dialect::DIALECTS;
    use super::*;

    #[tokio::test]
    async fn the_first_question_with_tools_and_placeholder_is_kept_and_every_turn_ends() {
        // Somebody else in this process may have done it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        for dialect in &DIALECTS {
            let listener = Listener::start(dialect).await.unwrap();
            let url = format!("http://{}/v1{}", listener.address, dialect.path);
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let post = |body: Value| {
                let request =
                    client.post(&url).header("anthropic-beta", "b").header("x-api-key", "k");
                let sent = request.body(body.to_string()).send();
                async move { sent.await.unwrap().text().await.unwrap() }
            };
            post(json!({"model": "m", "messages": ["title for", PLACEHOLDER]})).await;
            post(json!({"model": "m", "tools": [1], "messages": ["quota"]})).await;
            let real =
                json!({"model": "m", "tools": [1], "stream": true, "messages": [PLACEHOLDER]});
            let said = post(real.clone()).await;
            assert!(said.starts_with("event: ") && said.contains("Done."), "{said}");
            let again = json!({"tools": [2], "messages": [PLACEHOLDER]});
            let whole: Value = serde_json::from_str(&post(again).await).unwrap();
            assert!(whole["id"].is_string());
            let question = listener.question().unwrap();
            assert_eq!(question.body, real);
            let headers: Vec<&str> =
                question.headers.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(headers, dialect.headers);
            let other = client.post(format!("http://{}/other", listener.address)).send().await;
            assert_eq!(other.unwrap().status(), 404);
        }
    }
}
