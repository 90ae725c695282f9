//! What the tests share: a server, access to it, requests with a schema.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_format::AnswerSchema;
use skillgauge_run::model::{
    Access, Failure, Model, Purpose, Request, Response, Timeouts, connect,
};
use skillgauge_run::pool::{BreakerRules, RetryRules, Services};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script, Server};

use crate::guard;

/// A key that must never be found anywhere.
pub(crate) const KEY: &str = "sk-test-4f9c1e7ab2d85063";

/// The two services that are asked over HTTP.
pub(crate) const SERVICES: [&str; 2] = ["anthropic:claude-sonnet-4-5", "openai:gpt-4o"];

/// Access to a server at this address, with quick retries.
pub(crate) fn access_at(url: &str) -> Access {
    let openai = format!("{url}/v1");
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", url),
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", openai.as_str()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ];
    let scratch = std::env::temp_dir();
    let mut retry = RetryRules::for_probes().retries(2);
    retry.first_delay = Duration::from_millis(10);
    Access {
        environment: variables.into_iter().collect(),
        retry,
        timeouts: Timeouts { connect: Duration::from_secs(5), first_byte: None },
        services: Services::new(BreakerRules::never(), |_| {}),
        ..Access::new(guard(), &scratch, &scratch)
    }
}

pub(crate) fn access(server: &Server) -> Access {
    access_at(&server.url())
}

/// Access to programs only, working in a folder.
pub(crate) fn access_in(folder: &Path) -> Access {
    Access { folder: folder.to_owned(), ..access_at("http://127.0.0.1:9") }
}

pub(crate) fn serve(script: Script) -> Server {
    Server::start(script).unwrap()
}

/// A server that says the same to everybody.
pub(crate) fn serve_reply(reply: Reply) -> Server {
    serve(Script::always(reply))
}

/// A server that goes wrong some times and then answers.
pub(crate) fn serve_fault_then(fault: Fault, times: u32, reply: Reply) -> Server {
    serve(Script::new().rule(Rule::fault(fault).times(times)).rule(Rule::reply(reply)))
}

pub(crate) fn model(name: &str, access: &Access) -> Arc<dyn Model> {
    connect(&name.parse().unwrap(), access).unwrap()
}

/// Asks a model of that name.
pub(crate) async fn ask(
    name: &str,
    access: &Access,
    request: &Request,
) -> Result<Response, Failure> {
    model(name, access).answer(request).await
}

/// A question with a text as its answer.
pub(crate) fn question() -> Request {
    Request::text(Purpose::new("grade"), "Grade this work.\nIt is good.")
        .system("You are a judge.")
        .timeout(Duration::from_secs(20))
}

/// A question with a verdict as its answer.
pub(crate) fn verdict_question() -> Request {
    question().json(verdict_schema())
}

/// A score from 1 to 5 and a reason.
pub(crate) fn verdict_schema() -> AnswerSchema {
    let schema = json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
        },
        "required": ["reason", "score"],
    });
    AnswerSchema::new("verdict", schema).unwrap()
}

pub(crate) fn verdict() -> Value {
    json!({"reason": "It is good.", "score": 4})
}

/// A verdict that does not.
pub(crate) fn bad_verdict() -> Value {
    json!({"reason": "It is good.", "score": "very high"})
}

/// The bodies of all requests that asked for an answer.
pub(crate) fn bodies(server: &Server) -> Vec<Value> {
    server.requests().iter().map(|request| request.json().clone()).collect()
}
