//! Each fault as a plain client sees it.

use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_testkit::server::{Fault, Protocol, Reply, Rule, Script, Server};

use crate::client::{Answer, post};

fn body(protocol: Protocol) -> (&'static str, Value) {
    let message = json!([{"role": "user", "content": "hi"}]);
    match protocol {
        Protocol::Anthropic => {
            ("/v1/messages", json!({"model": "m", "stream": true, "messages": message}))
        }
        Protocol::OpenaiChat => {
            ("/v1/chat/completions", json!({"model": "m", "stream": true, "messages": message}))
        }
        Protocol::OpenaiResponses => {
            ("/v1/responses", json!({"model": "m", "stream": true, "input": "hi"}))
        }
        Protocol::Gemini => (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
        ),
    }
}

const ALL: [Protocol; 4] =
    [Protocol::Anthropic, Protocol::OpenaiChat, Protocol::OpenaiResponses, Protocol::Gemini];

fn ask_in(protocol: Protocol, rule: Rule) -> Answer {
    let server = Server::start(Script::new().rule(rule)).unwrap();
    let (path, body) = body(protocol);
    post(&server, path, &body)
}

fn ask(rule: Rule) -> Answer {
    ask_in(Protocol::Anthropic, rule)
}

fn ask_whole(rule: Rule) -> Answer {
    let server = Server::start(Script::new().rule(rule)).unwrap();
    post(
        &server,
        "/v1/messages",
        &json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
    )
}

fn several_words() -> Rule {
    Rule::reply(Reply::text("one two three four five"))
}

#[test]
fn every_status_has_a_body_of_its_protocol() {
    for code in [400, 401, 404, 408, 429, 500, 529] {
        for protocol in ALL {
            let answer = ask_in(protocol, Rule::fault(Fault::status(code)));
            assert_eq!(answer.status(), code);
            let error = &answer.json()["error"];
            assert!(
                error["message"].as_str().is_some_and(|text| !text.is_empty()),
                "{protocol:?} {code}"
            );
            let kind = match protocol {
                Protocol::Gemini => &error["status"],
                _ => &error["type"],
            };
            assert!(kind.is_string(), "{protocol:?} {code}: {error}");
        }
    }
}

#[test]
fn the_first_two_requests_are_limited_and_the_third_is_answered() {
    let limit = Fault::status(429).retry_after("3").message("Slow down");
    let script = Script::new().rule(Rule::fault(limit).times(2)).rule(several_words());
    let server = Server::start(script).unwrap();
    let (path, body) = body(Protocol::Anthropic);
    let answers: Vec<Answer> = (0..3).map(|_| post(&server, path, &body)).collect();
    let statuses: Vec<u16> = answers.iter().map(Answer::status).collect();
    assert_eq!(statuses, [429, 429, 200]);
    assert_eq!(answers[0].header("retry-after").as_deref(), Some("3"));
    assert_eq!(answers[0].json()["error"]["message"], "Slow down");
}

#[test]
fn a_delay_before_the_headers_is_felt() {
    let answer = ask(several_words().and_fault(Fault::DelayHeaders { ms: 300 }));
    assert!(answer.first_byte.unwrap() >= Duration::from_millis(300));
    assert!(answer.is_complete());
}

#[test]
fn a_delay_between_chunks_is_felt_at_each_of_them() {
    let answer = ask(several_words().and_fault(Fault::DelayChunks { ms: 40 }));
    let chunks = u32::try_from(answer.events().len()).unwrap();
    assert!(chunks >= 10, "{chunks}");
    assert!(answer.total >= Duration::from_millis(40) * chunks, "{:?}", answer.total);
}

#[test]
fn a_silence_comes_in_the_middle_and_then_the_stream_goes_on() {
    for protocol in ALL {
        let rule = several_words().and_fault(Fault::Silence { after_chunks: 2, ms: 800 });
        let answer = ask_in(protocol, rule);
        // Half of it, because a busy machine may let the client see the beginning late.
        let half = Duration::from_millis(400);
        assert!(answer.longest_pause >= half, "{protocol:?} {:?}", answer.longest_pause);
        assert!(answer.total >= answer.first_byte.unwrap() + half, "{protocol:?}");
        assert!(answer.is_complete(), "{protocol:?}");
    }
}

#[test]
fn a_cut_stream_shows_its_first_chunks_and_no_end() {
    for protocol in ALL {
        let answer = ask_in(protocol, several_words().and_fault(Fault::Cut { after_chunks: 2 }));
        assert_eq!((answer.status(), answer.events().len()), (200, 2), "{protocol:?}");
        assert!(!answer.is_complete(), "{protocol:?}");
    }
}

#[test]
fn a_cut_document_is_shorter_than_it_promised() {
    let answer = ask_whole(several_words().and_fault(Fault::Cut { after_chunks: 2 }));
    assert_eq!(answer.status(), 200);
    assert!(!answer.is_complete() && !answer.body().is_empty());
}

#[test]
fn a_malformed_stream_has_an_event_that_is_not_json() {
    for protocol in ALL {
        let answer =
            ask_in(protocol, several_words().and_fault(Fault::Malformed { after_chunks: 1 }));
        let events = answer.events();
        assert_eq!(events.len(), 2, "{protocol:?}");
        assert!(serde_json::from_str::<Value>(&events[0]).is_ok());
        assert!(serde_json::from_str::<Value>(&events[1]).is_err());
        assert!(answer.is_complete());
    }
    let whole = ask_whole(several_words().and_fault(Fault::Malformed { after_chunks: 1 }));
    assert!(serde_json::from_str::<Value>(&whole.body()).is_err() && whole.is_complete());
}

#[test]
fn an_error_event_ends_a_stream_that_began_well() {
    let fault = || Fault::ErrorEvent {
        after_chunks: 1,
        kind: Some("overloaded_error".into()),
        message: Some("Overloaded".into()),
    };
    for protocol in ALL {
        let answer = ask_in(protocol, several_words().and_fault(fault()));
        let last: Value = serde_json::from_str(answer.events().last().unwrap()).unwrap();
        assert_eq!(answer.events().len(), 2, "{protocol:?}");
        assert!(last.to_string().contains("Overloaded"), "{last}");
    }
    let body = ask(several_words().and_fault(fault())).body();
    assert!(body.contains("event: error\ndata: {\"type\":\"error\""), "{body}");
    assert_eq!(ask_whole(several_words().and_fault(fault())).status(), 500);
}

#[test]
fn an_empty_body_is_a_good_status_with_nothing_behind_it() {
    let answer = ask(Rule::fault(Fault::EmptyBody));
    assert_eq!((answer.status(), answer.body().as_str()), (200, ""));
}

#[test]
fn a_huge_body_is_huge_and_still_legal() {
    let fault = Fault::HugeBody { bytes: 20_000_000 };
    let whole = ask_whole(several_words().and_fault(fault.clone()));
    assert!(whole.raw.len() >= 20_000_000);
    assert_eq!(whole.json()["content"][0]["text"], "one two three four five");
    let stream = ask(several_words().and_fault(fault));
    assert!(stream.raw.len() >= 20_000_000);
    assert!(stream.body().trim_start_matches([':', ' ', '\n']).starts_with("event: message_start"));
}

#[test]
fn a_dropped_connection_gives_no_byte_at_all() {
    assert!(ask(Rule::fault(Fault::Drop)).raw.is_empty());
}
