//! Tests of [`super::deliver`]: what each fault does to an answer, before any socket is involved.

use super::*;

fn asked() -> Asked {
    Asked { protocol: Protocol::Anthropic, request_id: "req_1".into() }
}

fn events() -> Body {
    Body::Events(vec!["data: 1\n\n".into(), "data: 2\n\n".into(), "data: 3\n\n".into()])
}

fn sent(delivery: &Delivery) -> Vec<String> {
    let sends = delivery.steps.iter().filter_map(|step| match step {
        Step::Send(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
        Step::Repeat(..) | Step::Wait(_) => None,
    });
    sends.collect()
}

fn header<'a>(delivery: &'a Delivery, name: &str) -> Option<&'a str> {
    let head = delivery.head.as_ref()?;
    head.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[test]
fn without_faults_everything_is_sent() {
    let delivery = deliver(events(), &[], &asked());
    assert_eq!(sent(&delivery), ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"]);
    assert_eq!((delivery.end, delivery.delay), (End::Complete, Duration::ZERO));
}

#[test]
fn a_status_replaces_the_answer_and_keeps_the_delay() {
    let faults = [
        Fault::DelayHeaders { ms: 5 },
        Fault::status(429).retry_after("7").with_header("x-limit", "0"),
    ];
    let delivery = deliver(events(), &faults, &asked());
    assert_eq!(delivery.delay, Duration::from_millis(5));
    assert_eq!(delivery.head.as_ref().unwrap().status, 429);
    assert_eq!(header(&delivery, "retry-after"), Some("7"));
    assert_eq!(header(&delivery, "x-limit"), Some("0"));
    assert!(sent(&delivery)[0].contains("rate_limit_error"));
}

#[test]
fn a_cut_keeps_the_chunks_before_it() {
    let delivery = deliver(events(), &[Fault::Cut { after_chunks: 2 }], &asked());
    assert_eq!(sent(&delivery), ["data: 1\n\n", "data: 2\n\n"]);
    assert_eq!(delivery.end, End::Cut);
}

#[test]
fn a_cut_whole_answer_promises_more_than_it_sends() {
    let text = r#"{"some":"document"}"#;
    let delivery = deliver(Body::Whole(text.into()), &[Fault::Cut { after_chunks: 1 }], &asked());
    assert_eq!(header(&delivery, "content-length"), Some("19"));
    assert!(sent(&delivery).concat().len() < text.len());
}

#[test]
fn silence_and_pauses_count_chunks_and_not_waits() {
    let faults = [Fault::DelayChunks { ms: 1 }, Fault::Silence { after_chunks: 1, ms: 900 }];
    let delivery = deliver(events(), &faults, &asked());
    let wait = |ms| Step::Wait(Duration::from_millis(ms));
    assert_eq!(delivery.steps[0], wait(1));
    assert_eq!(delivery.steps[1], Step::Send("data: 1\n\n".into()));
    assert_eq!(delivery.steps[2], wait(900));
    assert_eq!(sent(&delivery).len(), 3);
}

#[test]
fn a_malformed_stream_ends_with_what_is_not_json() {
    let delivery = deliver(events(), &[Fault::Malformed { after_chunks: 1 }], &asked());
    let chunks = sent(&delivery);
    assert_eq!(chunks.len(), 2);
    let data = chunks[1].strip_prefix("data: ").unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(data).is_err());
}

#[test]
fn an_error_event_takes_the_shape_of_the_protocol() {
    let fault = Fault::ErrorEvent {
        after_chunks: 1,
        kind: Some("overloaded_error".into()),
        message: Some("Overloaded".into()),
    };
    let delivery = deliver(events(), std::slice::from_ref(&fault), &asked());
    assert!(sent(&delivery)[1].starts_with("event: error\ndata: {\"type\":\"error\""));
    let whole = deliver(Body::Whole("{}".into()), &[fault], &asked());
    assert_eq!(whole.head.unwrap().status, 500);
}

#[test]
fn a_huge_body_is_padded_lazily_and_still_ends_with_the_answer() {
    let delivery = deliver(events(), &[Fault::HugeBody { bytes: 10_000_000 }], &asked());
    let Step::Repeat(padding, times) = &delivery.steps[0] else { panic!("{:?}", delivery.steps) };
    assert!(padding.len() as u64 * times >= 10_000_000);
    assert!(
        padding.starts_with(b":") && padding.ends_with(b"\n"),
        "padding must be an SSE comment"
    );
    assert_eq!(sent(&delivery).len(), 3);
}

#[test]
fn a_dropped_connection_has_no_head() {
    assert_eq!(deliver(events(), &[Fault::Drop], &asked()).head, None);
}

#[test]
fn faults_beyond_the_end_do_no_harm() {
    let cut = deliver(events(), &[Fault::Cut { after_chunks: 99 }], &asked());
    assert_eq!(sent(&cut).len(), 3);
    let empty =
        deliver(Body::Events(Vec::new()), &[Fault::Silence { after_chunks: 1, ms: 1 }], &asked());
    assert_eq!(empty.steps.len(), 1);
}
