//! The server's life: what it records, what it says to strangers, how it ends; and the same as a program.

use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillgauge_testkit::process::{Group, is_alive};
use skillgauge_testkit::server::{
    AnsweredBy, Fault, MAX_REQUEST_BYTES, Protocol, RecordedBody, Reply, Rule, Script, Server,
};

use crate::client::{get, post, post_with, send};

fn message(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]})
}

#[test]
fn every_request_is_recorded_with_the_rule_that_answered() {
    let script = Script::new()
        .rule(Rule::reply(Reply::text("a")).prompt("alpha").named("first"))
        .rule(Rule::reply(Reply::text("b")).prompt("beta"));
    let server = Server::start(script).unwrap();
    let secret = [("x-api-key", "sk-very-secret"), ("x-app", "test")];
    post_with(&server, "/v1/messages?beta=true", &secret, &message("beta"));
    post(&server, "/v1/messages", &message("alpha"));
    let requests = server.requests();
    assert_eq!(requests[0].answered_by, AnsweredBy::Rule { index: 1, name: None });
    assert_eq!(requests[1].answered_by, AnsweredBy::Rule { index: 0, name: Some("first".into()) });
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/messages"));
    assert_eq!((requests[0].query.as_str(), requests[0].status), ("beta=true", Some(200)));
    assert_eq!(requests[0].header("x-api-key"), Some("<redacted>"));
    assert_eq!(requests[0].header("x-app"), Some("test"));
    assert_eq!(requests[0].json(), &message("beta"));
    assert_eq!(requests[0].view().prompt, "beta");
    assert_eq!(requests[0].protocol, Some(Protocol::Anthropic));
    assert!(requests[1].since_start >= requests[0].since_start);
}

#[test]
fn a_request_that_no_rule_matches_is_told_so_and_recorded() {
    let server =
        Server::start(Script::new().rule(Rule::reply(Reply::text("x")).prompt("only this")))
            .unwrap();
    let answer = post(&server, "/v1/messages", &message("something else"));
    assert_eq!(answer.status(), 500);
    let text = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        text.contains("no rule of the script matches") && text.contains("something else"),
        "{text}"
    );
    assert_eq!(get(&server, "/nowhere", &[]).status(), 404);
    let unmatched: Vec<String> =
        server.unmatched().into_iter().map(|request| request.path).collect();
    assert_eq!(unmatched, ["/v1/messages", "/nowhere"]);
}

#[test]
fn what_is_not_json_is_refused_and_kept_as_text() {
    let server = Server::start(Script::always(Reply::text("x"))).unwrap();
    let answer = send(server.address(), "POST", "/v1/messages", &[], b"not json");
    assert_eq!(answer.status(), 400);
    assert_eq!(server.requests()[0].body, RecordedBody::Text("not json".into()));
}

#[test]
fn a_body_beyond_the_limit_is_refused() {
    let server = Server::start(Script::always(Reply::text("x"))).unwrap();
    let answer =
        send(server.address(), "POST", "/v1/messages", &[], &vec![b'x'; MAX_REQUEST_BYTES + 1]);
    assert_eq!(answer.status(), 413);
    assert_eq!(server.requests()[0].body, RecordedBody::TooLarge);
}

#[test]
fn many_clients_at_once_are_all_answered() {
    let server = Server::start(Script::always(Reply::text("{{prompt}}"))).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..32)
            .map(|number| {
                let server = &server;
                scope.spawn(move || {
                    let answer =
                        post(server, "/v1/messages", &message(&format!("client {number}")));
                    assert_eq!(answer.json()["content"][0]["text"], format!("client {number}"));
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    assert_eq!(server.requests().len(), 32);
}

#[test]
fn a_dropped_server_is_gone_even_while_a_stream_is_silent() {
    let silent = Fault::Silence { after_chunks: 1, ms: 600_000 };
    let server = Server::start(Script::new().rule(Rule::fault(silent))).unwrap();
    let address = server.address();
    let body = json!({"model": "m", "stream": true, "messages": []}).to_string();
    let client =
        std::thread::spawn(move || send(address, "POST", "/v1/messages", &[], body.as_bytes()));
    assert_eq!(server.wait_for_requests(1, Duration::from_secs(10)).len(), 1);
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(TcpStream::connect(address).is_err(), "nobody may listen any more");
    assert!(!client.join().unwrap().is_complete());
}

#[test]
fn a_server_can_live_and_die_inside_an_async_test() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(async {
        let server = Server::start(Script::always(Reply::text("x"))).unwrap();
        post(&server, "/v1/messages", &message("hi"))
    });
    assert_eq!(answer.status(), 200);
}

#[test]
fn a_bad_script_does_not_start() {
    assert!(Server::start(Script::new().rule(Rule::fault(Fault::status(7)))).is_err());
}

/// The program with a script in a fresh folder; gives the folder, the group and the port.
fn start_program(script: &str, lifetime: &str) -> (tempfile::TempDir, Group, u16) {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("script.json"), script).unwrap();
    let group = Group::spawn(
        Command::new(env!("CARGO_BIN_EXE_testkit-server"))
            .args([
                "--script",
                "script.json",
                "--port-file",
                "port",
                "--log",
                "log.jsonl",
                "--lifetime",
                lifetime,
            ])
            .current_dir(folder.path()),
    )
    .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let port = loop {
        match fs_err::read_to_string(folder.path().join("port")) {
            Ok(text) => break text.parse().unwrap(),
            Err(_) => assert!(Instant::now() < deadline, "the server did not get ready"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    (folder, group, port)
}

#[test]
fn the_program_serves_a_script_file_and_logs_each_request() {
    let script = r#"{"rules": [
        {"name": "limit", "times": 1, "faults": [{"status": {"code": 429, "retry_after": "1"}}]},
        {"reply": {"blocks": [{"text": "hello"}], "usage": {"input": 5, "output": 6}}}
    ]}"#;
    let (folder, _group, port) = start_program(script, "60");
    let address = ([127, 0, 0, 1], port).into();
    let ask = || {
        send(
            address,
            "POST",
            "/v1/messages",
            &[("authorization", "Bearer t0ken")],
            message("hi").to_string().as_bytes(),
        )
    };
    assert_eq!(ask().status(), 429);
    assert_eq!(ask().json()["usage"]["output_tokens"], 6);
    let log = fs_err::read_to_string(folder.path().join("log.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["answered_by"]["rule"]["name"], "limit");
    assert_eq!(lines[0]["body"]["json"], message("hi"));
    assert!(!log.contains("t0ken"));
}

#[test]
fn the_program_ends_after_its_lifetime() {
    let (_folder, group, _port) = start_program(r#"{"rules": []}"#, "1");
    let id = group.id();
    let finished = group.finish(Duration::from_secs(20)).unwrap();
    assert!(finished.status.success() && finished.wall >= Duration::from_millis(900));
    assert!(!is_alive(id));
}

#[test]
fn the_program_explains_a_script_that_it_cannot_read() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("bad.json"), r#"{"rules": [{"whn": {}}]}"#).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_testkit-server"))
        .args(["--script", "bad.json", "--port-file", "port"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("bad.json") && text.contains("whn"), "{text}");
}
