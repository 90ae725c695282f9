//! What each protocol looks like on the wire: whole responses, byte by byte.

use insta::assert_snapshot;
use serde_json::{Value, json};
use skillgauge_testkit::server::{
    Block, Reply, Script, Server, Stop, StructuredOutput, ToolCall, Usage,
};

use crate::client::{Answer, get, post, post_with};

fn serve(reply: Reply) -> Server {
    Server::start(Script::always(reply)).unwrap()
}

/// Thinking, text and two tools: all that a model can say at once.
fn rich() -> Reply {
    let patch = "*** Begin Patch\n*** Add File: a.md\n+# a\n*** End Patch";
    Reply::empty()
        .and(Block::Thinking("Hm, a report.".into()))
        .and(Block::Text("I use the skill.".into()))
        .and(Block::Tool(ToolCall { name: "Skill".into(), input: json!({"skill": "csv-report"}) }))
        .and(Block::Tool(ToolCall { name: "apply_patch".into(), input: patch.into() }))
        .usage(Usage { input: 11, output: 22, cache_read: 33, cache_write: 44, reasoning: 5 })
}

fn anthropic(reply: Reply, fields: &Value) -> Answer {
    let mut body =
        json!({"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    post(&serve(reply), "/v1/messages?beta=true", &body)
}

fn chat(reply: Reply, fields: &Value) -> Answer {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    post(&serve(reply), "/v1/chat/completions", &body)
}

fn responses(reply: Reply, fields: &Value) -> Answer {
    let mut body = json!({"model": "m", "input": "hi"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    post(&serve(reply), "/v1/responses", &body)
}

fn gemini(reply: Reply, method: &str) -> Answer {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    post(&serve(reply), &format!("/v1beta/models/m:{method}"), &body)
}

#[test]
fn anthropic_messages_stream() {
    assert_snapshot!(anthropic(Reply::text("Two words"), &json!({"stream": true})).visible());
}

#[test]
fn anthropic_messages_whole() {
    assert_snapshot!(anthropic(Reply::text("Two words"), &json!({})).visible());
}

#[test]
fn anthropic_messages_with_thinking_and_tools() {
    assert_snapshot!(anthropic(rich(), &json!({"stream": true})).body());
}

#[test]
fn openai_chat_stream() {
    assert_snapshot!(chat(Reply::text("Two words"), &json!({"stream": true})).visible());
}

#[test]
fn openai_chat_whole() {
    assert_snapshot!(chat(Reply::text("Two words"), &json!({})).visible());
}

#[test]
fn openai_chat_with_tools() {
    let fields = json!({"stream": true, "stream_options": {"include_usage": true}});
    assert_snapshot!(chat(rich(), &fields).body());
}

#[test]
fn openai_responses_stream() {
    assert_snapshot!(responses(Reply::text("Two words"), &json!({"stream": true})).visible());
}

#[test]
fn openai_responses_whole() {
    assert_snapshot!(responses(Reply::text("Two words"), &json!({})).visible());
}

#[test]
fn openai_responses_with_reasoning_and_tools() {
    assert_snapshot!(responses(rich(), &json!({"stream": true})).body());
}

#[test]
fn gemini_stream() {
    assert_snapshot!(gemini(Reply::text("Two words"), "streamGenerateContent?alt=sse").visible());
}

#[test]
fn gemini_whole() {
    assert_snapshot!(gemini(Reply::text("Two words"), "generateContent").visible());
}

#[test]
fn gemini_with_thoughts_and_tools() {
    assert_snapshot!(gemini(rich(), "streamGenerateContent?alt=sse").body());
}

#[test]
fn reasons_to_stop_are_in_each_protocols_own_words() {
    let cut = || Reply::text("x").stop(Stop::MaxTokens);
    assert_eq!(anthropic(cut(), &json!({})).json()["stop_reason"], "max_tokens");
    assert_eq!(chat(cut(), &json!({})).json()["choices"][0]["finish_reason"], "length");
    assert_eq!(
        responses(cut(), &json!({})).json()["incomplete_details"]["reason"],
        "max_output_tokens"
    );
    assert_eq!(
        gemini(cut(), "generateContent").json()["candidates"][0]["finishReason"],
        "MAX_TOKENS"
    );

    let refused = || Reply::text("no").stop(Stop::Refusal);
    assert_eq!(anthropic(refused(), &json!({})).json()["stop_reason"], "refusal");
    assert_eq!(chat(refused(), &json!({})).json()["choices"][0]["message"]["refusal"], "no");
    assert_eq!(
        responses(refused(), &json!({})).json()["output"][0]["content"][0]["type"],
        "refusal"
    );
    assert_eq!(
        gemini(refused(), "generateContent").json()["candidates"][0]["finishReason"],
        "SAFETY"
    );

    let incomplete = responses(cut(), &json!({"stream": true})).events();
    let last: Value = serde_json::from_str(incomplete.last().unwrap()).unwrap();
    assert_eq!(last["type"], "response.incomplete");
}

#[test]
fn structured_answers_arrive_as_text_or_as_the_forced_tool() {
    let verdict = || Reply::json(json!({"pass": true}));
    let schema = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "v", "schema": {}}}});
    let content = chat(verdict(), &schema).json()["choices"][0]["message"]["content"].clone();
    assert_eq!(content, r#"{"pass":true}"#);

    let forced = json!({"tools": [{"name": "grade", "input_schema": {}}], "tool_choice": {"type": "tool", "name": "grade"}});
    let message = anthropic(verdict(), &forced).json();
    assert_eq!(message["content"][0]["name"], "grade");
    assert_eq!(message["content"][0]["input"], json!({"pass": true}));
    assert_eq!(message["stop_reason"], "tool_use");

    let text = responses(verdict(), &json!({"text": {"format": {"type": "json_schema"}}})).json();
    assert_eq!(text["output"][0]["content"][0]["text"], r#"{"pass":true}"#);
}

#[test]
fn a_server_without_response_format_says_so_as_the_real_ones_do() {
    let script = Script::always(Reply::text("ok")).structured_output(StructuredOutput::ObjectOnly);
    let server = Server::start(script).unwrap();
    let ask = |kind: &str| {
        let body = json!({"model": "m", "messages": [], "response_format": {"type": kind}});
        post(&server, "/v1/chat/completions", &body)
    };
    let refused = ask("json_schema");
    assert_eq!(refused.status(), 400);
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("response_format"));
    assert_eq!(ask("json_object").status(), 200);
}

#[test]
fn token_counts_and_lists_of_models_need_no_script() {
    let mut script = Script::new();
    script.models = vec!["model-a".into(), "model-b".into()];
    let server = Server::start(script).unwrap();
    let count = post(&server, "/v1/messages/count_tokens", &json!({"messages": []}));
    assert!(count.json()["input_tokens"].as_u64().unwrap() > 0);
    let count = post(&server, "/v1beta/models/m:countTokens", &json!({"contents": []}));
    assert!(count.json()["totalTokens"].as_u64().unwrap() > 0);

    let openai = get(&server, "/v1/models", &[]).json();
    assert_eq!((&openai["object"], &openai["data"][1]["id"]), (&json!("list"), &json!("model-b")));
    let anthropic = get(&server, "/v1/models", &[("anthropic-version", "2023-06-01")]).json();
    assert_eq!(
        (&anthropic["has_more"], &anthropic["data"][0]["type"]),
        (&json!(false), &json!("model"))
    );
    let gemini = get(&server, "/v1beta/models", &[]).json();
    assert_eq!(gemini["models"][0]["name"], "models/model-a");
    assert!(server.unmatched().is_empty());
}

#[test]
fn ids_differ_between_requests_and_not_between_servers() {
    let ids = || -> Vec<Value> {
        let server = serve(Reply::text("x"));
        let body = json!({"model": "m", "messages": []});
        (0..2)
            .map(|_| post_with(&server, "/v1/messages", &[], &body).json()["id"].clone())
            .collect()
    };
    let first = ids();
    assert_ne!(first[0], first[1]);
    assert_eq!(first, ids());
}
