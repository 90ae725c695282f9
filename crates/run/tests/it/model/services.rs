//! What is sent to each service, and what is kept of its answer.

use serde_json::json;
use skillgauge_run::model::{AnswerFormat, Cause, Origin, TemperatureUse};
use skillgauge_testkit::server::{Block, Reply, Usage};

use crate::model::stage::{
    SERVICES, access, ask, bodies, question, serve_reply, verdict, verdict_question,
};

#[tokio::test]
async fn a_text_is_answered_with_everything_that_the_service_said() {
    for name in SERVICES {
        let usage =
            Usage { input: 1000, output: 50, cache_read: 300, cache_write: 20, reasoning: 7 };
        let server = serve_reply(
            Reply::empty()
                .and(Block::Thinking("Hm.".into()))
                .and(Block::Text("Four.".into()))
                .usage(usage),
        );
        let response = ask(name, &access(&server), &question()).await.unwrap();
        assert_eq!((response.text.as_str(), response.value), ("Four.", None), "{name}");
        let usage = response.usage.unwrap();
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
            (1000, 50, 300),
            "{name}"
        );
        let written = if name.starts_with("anthropic") { 20 } else { 0 };
        assert_eq!((usage.cache_write_tokens, usage.requests), (written, Some(1)), "{name}");
        assert_eq!(response.request_id.as_deref(), Some("req_000001"), "{name}");
        assert_eq!(response.model.as_deref(), name.split_once(':').map(|(_, model)| model));
        let stop = if name.starts_with("anthropic") { "end_turn" } else { "stop" };
        assert_eq!(response.stop_reason.as_deref(), Some(stop));
        assert_eq!((response.manner.format, response.origin), (None, Origin::Live));
        // The server is not the vendor, so the list price says nothing.
        assert_eq!(response.cost_usd, None);
        let [attempt] = response.attempts.as_slice() else { panic!("{:?}", response.attempts) };
        assert_eq!((attempt.cause, attempt.delay_ms, attempt.status), (Cause::First, 0, Some(200)));
        assert_eq!(attempt.request_id, response.request_id);
        assert_eq!(attempt.error, None);
    }
}

#[tokio::test]
async fn anthropic_gets_the_messages_that_its_protocol_wants() {
    let server = serve_reply(Reply::json(verdict()));
    let mut request = verdict_question().and("Be strict.").and(" \n");
    (request.max_output_tokens, request.temperature) = (77, Some(0.0));
    ask(SERVICES[0], &access(&server), &request).await.unwrap();
    let [sent] = server.requests().try_into().unwrap();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(sent.header("x-api-key"), Some("<redacted>"));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(
        *sent.json(),
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 77,
            "system": "You are a judge.",
            "temperature": 0.0,
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "Grade this work.\nIt is good."},
                {"type": "text", "text": "Be strict."},
            ]}],
            "tools": [{
                "name": "verdict",
                "description": "Gives the answer. Call it exactly once.",
                "input_schema": request.schema().unwrap().value(),
            }],
            "tool_choice": {"type": "tool", "name": "verdict", "disable_parallel_tool_use": true},
        })
    );
}

#[tokio::test]
async fn openai_gets_the_messages_that_its_protocol_wants() {
    let server = serve_reply(Reply::json(verdict()));
    let request = verdict_question().and("Be strict.");
    ask(SERVICES[1], &access(&server), &request).await.unwrap();
    let [sent] = server.requests().try_into().unwrap();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(sent.header("authorization"), Some("<redacted>"));
    let mut schema = request.schema().unwrap().value().clone();
    schema["additionalProperties"] = false.into();
    assert_eq!(
        *sent.json(),
        json!({
            "model": "gpt-4o",
            "messages": [
                {"role": "system", "content": "You are a judge."},
                {"role": "user", "content": "Grade this work.\nIt is good.\n\nBe strict."},
            ],
            "max_tokens": 8192,
            "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema, "strict": true}},
        })
    );
}

#[tokio::test]
async fn a_structured_answer_comes_as_a_checked_value() {
    for (name, format) in
        SERVICES.into_iter().zip([AnswerFormat::ForcedTool, AnswerFormat::JsonSchema])
    {
        let server = serve_reply(Reply::json(verdict()));
        let response = ask(name, &access(&server), &verdict_question()).await.unwrap();
        assert_eq!(response.value, Some(verdict()), "{name}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&response.text).unwrap(), verdict());
        assert_eq!(response.manner.format, Some(format), "{name}");
        assert_eq!(response.manner.temperature, TemperatureUse::AsAsked);
    }
}

#[tokio::test]
async fn many_ask_at_once_and_each_gets_its_own_answer() {
    let server = serve_reply(Reply::text("You said: {{prompt}}"));
    let model = crate::model::stage::model(SERVICES[1], &access(&server));
    let asked = (0..40).map(|number| {
        let model = model.clone();
        tokio::spawn(async move {
            let mut request = question();
            request.user = vec![format!("number {number}")];
            (number, model.answer(&request).await.unwrap().text)
        })
    });
    for task in asked.collect::<Vec<_>>() {
        let (number, text) = task.await.unwrap();
        assert_eq!(text, format!("You said: number {number}"));
    }
    assert_eq!(bodies(&server).len(), 40);
}
