//! A server on 127.0.0.1 that speaks the model protocols and answers from a [`Script`].
//!
//! [`Server::start`] runs it on a thread of its own, so that synchronous tests can use it; dropping it ends it. The
//! flow of a request: [`protocol`] names the endpoint, [`request`] reads the body, [`matching`] picks the rule, a
//! protocol module writes the answer, [`fault`] spoils it, [`http`] sends it, [`record`] remembers it.

mod answer;
mod anthropic;
mod error_shape;
mod fault;
mod gemini;
mod http;
mod matching;
mod openai_chat;
mod openai_responses;
mod protocol;
mod record;
mod reply;
mod request;
mod script;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use self::fault::{Fault, StatusFault};
pub use self::http::MAX_REQUEST_BYTES;
pub use self::protocol::Protocol;
pub use self::record::{AnsweredBy, MAX_KEPT_BYTES, REDACTED, Recorded, RecordedBody};
pub use self::reply::{Block, Reply, Stop, ToolCall, Usage};
pub use self::request::{RequestView, Transfer};
pub use self::script::{HeaderText, Rule, Script, ScriptError, StructuredOutput, ToolResult, When};

use self::http::Shared;
use self::record::Recorder;

/// A running server; it ends when this is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The script asks for what no server can do.
    #[error("the script cannot be used")]
    Script(#[from] ScriptError),
    /// No port, no thread, or no event loop was to be had.
    #[error("could not listen on 127.0.0.1")]
    Listen(#[from] std::io::Error),
}

/// How long answers that are under way at the end may take to finish.
const GRACE: Duration = Duration::from_millis(250);

impl Server {
    /// Starts a server on a free port.
    pub fn start(script: Script) -> Result<Self, StartError> {
        Self::launch(script, None)
    }

    /// Starts a server that also writes each record as a line of JSON.
    pub fn start_with_log(script: Script, log: Box<dyn Write + Send>) -> Result<Self, StartError> {
        Self::launch(script, Some(log))
    }

    fn launch(script: Script, log: Option<Box<dyn Write + Send>>) -> Result<Self, StartError> {
        script.check()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = Arc::new(Shared::new(script, Recorder::new(log)));
        let (stop, stopped) = watch::channel(false);
        let served = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("testkit-server".to_owned()).spawn(move || {
                runtime.block_on(accept(listener, served, stopped));
            })?;
        Ok(Self { address, shared, stop, thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL without a path: what Anthropic's and Gemini's clients want.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL with `/v1`: what OpenAI's clients want.
    pub fn url_v1(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far, in the order they came.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.recorder.all()
    }

    /// The requests that no rule matched; a test that expects a complete script asserts that there are none.
    pub fn unmatched(&self) -> Vec<Recorded> {
        let mut requests = self.requests();
        requests.retain(|request| request.answered_by == AnsweredBy::Unmatched);
        requests
    }

    /// The names of the rules that answered, in order; what no rule answered shows as what it was.
    pub fn rules(&self) -> Vec<String> {
        let names = self.requests().into_iter().map(|request| match request.answered_by {
            AnsweredBy::Rule { name, index } => name.unwrap_or_else(|| index.to_string()),
            other => format!("{other:?} {}", request.path),
        });
        names.collect()
    }

    /// Waits until there are at least so many requests, or the time is up; gives what there is then.
    pub fn wait_for_requests(&self, count: usize, limit: Duration) -> Vec<Recorded> {
        let deadline = Instant::now() + limit;
        loop {
            let requests = self.requests();
            if requests.len() >= count || Instant::now() >= deadline {
                return requests;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nobody listens any more when the thread is gone already, which is what we want anyway.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported on stderr by then; a drop must not add another.
            let _ = thread.join();
        }
    }
}

/// Waits until the server is to stop; a server that is gone counts as that.
async fn told(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}

/// Takes connections until it is told to stop, then lets the open ones finish for [`GRACE`].
async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut connections = JoinSet::new();
    let for_connections = stopped.clone();
    loop {
        tokio::select! {
            () = told(&mut stopped) => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Small chunks must leave at once: tests measure the pauses between them.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(serve(stream, Arc::clone(&shared), for_connections.clone()));
                }
                // Out of file handles, most likely: wait for some to come back instead of spinning.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, async { while connections.join_next().await.is_some() {} })
        .await;
}

async fn serve(
    stream: tokio::net::TcpStream,
    shared: Arc<Shared>,
    mut stopped: watch::Receiver<bool>,
) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { shared.serve(request).await }
    });
    // No date header: answers are compared byte by byte.
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let mut stopping = false;
    loop {
        tokio::select! {
            // An error here is a client that left or a connection that the script cut; both are part of the plan.
            _ = connection.as_mut() => return,
            () = told(&mut stopped), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
