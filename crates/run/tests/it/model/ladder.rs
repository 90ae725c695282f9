//! Servers that do not take every manner of asking.

use serde_json::json;
use skillgauge_run::model::{AnswerFormat, Cause, ModelError, TemperatureUse};
use skillgauge_testkit::server::{Fault, Reply, Rule, Script, StructuredOutput};

use crate::model::stage::{
    SERVICES, access, ask, bodies, model, question, serve, verdict, verdict_question,
};

#[tokio::test]
async fn a_server_that_rejects_a_format_is_asked_more_plainly_and_remembered() {
    for (support, format, tries) in [
        (StructuredOutput::Schema, AnswerFormat::JsonSchema, 1),
        (StructuredOutput::ObjectOnly, AnswerFormat::JsonObject, 2),
        (StructuredOutput::Refused, AnswerFormat::PlainText, 3),
    ] {
        let server = serve(Script::always(Reply::json(verdict())).structured_output(support));
        let model = model(SERVICES[1], &access(&server));
        let response = model.answer(&verdict_question()).await.unwrap();
        assert_eq!(response.value, Some(verdict()), "{support:?}");
        assert_eq!(response.manner.format, Some(format), "{support:?}");
        let causes: Vec<Cause> = response.attempts.iter().map(|attempt| attempt.cause).collect();
        let mut expected = vec![Cause::First];
        expected.resize(tries, Cause::OtherManner);
        assert_eq!(causes, expected);
        assert!(response.attempts.iter().all(|attempt| attempt.delay_ms == 0));

        // The second question goes straight to what worked.
        let again = model.answer(&verdict_question()).await.unwrap();
        assert_eq!((again.attempts.len(), again.manner.format), (1, Some(format)), "{support:?}");
        assert_eq!(bodies(&server).len(), tries + 1);
    }
}

#[tokio::test]
async fn a_plainer_format_has_the_schema_in_the_prompt() {
    let server =
        serve(Script::always(Reply::json(verdict())).structured_output(StructuredOutput::Refused));
    ask(SERVICES[1], &access(&server), &verdict_question()).await.unwrap();
    let sent = bodies(&server);
    let kinds: Vec<_> = sent.iter().map(|body| body["response_format"]["type"].clone()).collect();
    assert_eq!(kinds, [json!("json_schema"), json!("json_object"), json!(null)]);
    let prompts: Vec<&str> =
        sent.iter().map(|body| body["messages"][1]["content"].as_str().unwrap()).collect();
    assert!(!prompts[0].contains("JSON Schema"));
    assert!(
        prompts[1..]
            .iter()
            .all(|prompt| prompt.contains("JSON Schema") && prompt.contains("\"maximum\":5"))
    );
}

#[tokio::test]
async fn a_request_that_is_bad_in_every_manner_is_reported_with_its_first_complaint() {
    let script = Script::new()
        .rule(Rule::fault(Fault::status(400).message("the first complaint")).times(1))
        .rule(Rule::fault(Fault::status(400).message("another complaint")));
    let server = serve(script);
    let failure = ask(SERVICES[1], &access(&server), &verdict_question()).await.unwrap_err();
    let expected = ModelError::BadRequest { status: 400, message: "the first complaint".into() };
    assert_eq!(failure.error, expected);
    assert_eq!((failure.attempts.len(), bodies(&server).len()), (3, 3));
}

#[tokio::test]
async fn a_rejected_request_that_has_another_cause_is_not_asked_in_another_manner() {
    let cause = Fault::status(400).message("This model's maximum context length is 8192 tokens.");
    let server = serve(Script::new().rule(Rule::fault(cause)));
    let failure = ask(SERVICES[1], &access(&server), &verdict_question()).await.unwrap_err();
    assert!(matches!(failure.error, ModelError::BadRequest { .. }));
    assert_eq!(bodies(&server).len(), 1);
}

#[tokio::test]
async fn anthropic_without_forced_tools_gets_the_schema_in_the_prompt() {
    let reject =
        Fault::status(400).message("Thinking may not be enabled when tool_choice forces tool use.");
    let script = Script::new()
        .rule(Rule::fault(reject).offers("verdict"))
        .rule(Rule::reply(Reply::text(format!("```json\n{}\n```", verdict()))));
    let server = serve(script);
    let model = model(SERVICES[0], &access(&server));
    for attempts in [2, 1] {
        let response = model.answer(&verdict_question()).await.unwrap();
        assert_eq!((response.value, response.attempts.len()), (Some(verdict()), attempts));
        assert_eq!(response.manner.format, Some(AnswerFormat::PlainText));
    }
}

#[tokio::test]
async fn the_other_name_of_the_limit_and_a_missing_temperature_are_learnt() {
    let limit = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let temperature = "Unsupported value: 'temperature' does not support 0 with this model.";
    let script = Script::new()
        .rule(Rule::fault(Fault::status(400).message(limit)).times(1))
        .rule(Rule::fault(Fault::status(400).message(temperature)).times(1))
        .rule(Rule::reply(Reply::text("Four.")));
    let server = serve(script);
    let model = model(SERVICES[1], &access(&server));
    let mut request = question();
    request.temperature = Some(0.0);
    let response = model.answer(&request).await.unwrap();
    assert_eq!(response.manner.temperature, TemperatureUse::LeftOut);
    model.answer(&request).await.unwrap();
    let shape: Vec<_> = bodies(&server)
        .iter()
        .map(|body| {
            ["max_tokens", "max_completion_tokens", "temperature"]
                .map(|key| body.get(key).is_some())
        })
        .collect();
    let learnt = [false, true, false];
    assert_eq!(shape, [[true, false, true], [false, true, true], learnt, learnt]);
}

#[tokio::test]
async fn a_question_that_takes_long_does_not_make_others_forget_what_they_learnt() {
    let slow = Rule::reply(Reply::text("Four.")).and_fault(Fault::DelayHeaders { ms: 500 });
    let script = Script::new()
        .structured_output(StructuredOutput::Refused)
        .rule(slow.prompt("slowly"))
        .rule(Rule::reply(Reply::json(verdict())));
    let server = serve(script);
    let model = model(SERVICES[1], &access(&server));
    let mut text = question();
    text.user = vec!["Answer slowly.".to_owned()];
    let verdict_request = verdict_question();
    let (text, learnt) = tokio::join!(model.answer(&text), model.answer(&verdict_request));
    assert_eq!((text.unwrap().attempts.len(), learnt.unwrap().attempts.len()), (1, 3));
    assert_eq!(model.answer(&verdict_request).await.unwrap().attempts.len(), 1);
}
