//! JSON that does not fit: repaired once, then an error.

use serde_json::json;
use skillgauge_run::model::{Cause, ModelError};
use skillgauge_testkit::server::{Block, Reply, Rule, Script};

use crate::model::stage::{
    SERVICES, access, ask, bad_verdict, bodies, serve, serve_reply, verdict, verdict_question,
};

const PROBLEM: &str = "$.score: expected an integer from 1 to 5, found the string \"very high\"";

#[tokio::test]
async fn a_wrong_answer_is_asked_for_again_with_its_problems() {
    for name in SERVICES {
        let script = Script::new()
            .rule(Rule::reply(Reply::json(bad_verdict())).times(1))
            .rule(Rule::reply(Reply::json(verdict())).last_user(PROBLEM));
        let server = serve(script);
        let response = ask(name, &access(&server), &verdict_question()).await.unwrap();
        assert_eq!(response.value, Some(verdict()), "{name}");
        let [first, second] = response.attempts.as_slice() else {
            panic!("{:?}", response.attempts)
        };
        assert_eq!((first.cause, second.cause), (Cause::First, Cause::Repair));
        let Some(ModelError::Answer { problems, text }) = &first.error else { panic!("{first:?}") };
        assert_eq!(problems, &[PROBLEM]);
        assert!(text.contains("very high"));
        assert_eq!(second.error, None);
        // Both answers were paid for.
        assert_eq!(
            (response.usage.unwrap().output_tokens, response.usage.unwrap().requests),
            (100, Some(2))
        );
        assert!(
            bodies(&server)[1].to_string().contains("very high"),
            "the model sees its own answer"
        );
    }
}

#[tokio::test]
async fn an_answer_that_is_wrong_twice_is_an_error_and_never_a_third_question() {
    for name in SERVICES {
        let server = serve_reply(Reply::json(bad_verdict()));
        let failure = ask(name, &access(&server), &verdict_question()).await.unwrap_err();
        let ModelError::Answer { problems, text } = &failure.error else { panic!("{failure:?}") };
        assert_eq!(problems, &[PROBLEM], "{name}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(text).unwrap(), bad_verdict());
        assert!(failure.error.is_bad_answer() && !failure.error.may_pass());
        assert_eq!((bodies(&server).len(), failure.attempts.len()), (2, 2));
        assert_eq!(failure.usage.unwrap().output_tokens, 100);
    }
}

#[tokio::test]
async fn an_answer_in_its_wrapping_is_understood() {
    for text in [
        format!("```json\n{}\n```", verdict()),
        format!("Here is my verdict: {} I hope it helps.", verdict()),
        format!("<think>Is it {{\"score\": 1}}?</think>{}", verdict()),
    ] {
        for name in SERVICES {
            let server = serve_reply(Reply::text(text.clone()));
            let response = ask(name, &access(&server), &verdict_question()).await.unwrap();
            assert_eq!(response.value, Some(verdict()), "{name} {text}");
            assert_eq!(response.attempts.len(), 1);
        }
    }
}

#[tokio::test]
async fn two_answers_in_one_are_not_guessed_between() {
    let twice = format!("{} or rather {}", verdict(), json!({"reason": "x", "score": 1}));
    let server = serve_reply(Reply::text(twice));
    let failure = ask(SERVICES[1], &access(&server), &verdict_question()).await.unwrap_err();
    let ModelError::Answer { problems, .. } = &failure.error else { panic!("{failure:?}") };
    assert!(problems[0].contains("several JSON objects"), "{problems:?}");

    let call = || Block::Json(verdict());
    let server = serve_reply(Reply::empty().and(call()).and(call()));
    let failure = ask(SERVICES[0], &access(&server), &verdict_question()).await.unwrap_err();
    let ModelError::Answer { problems, .. } = &failure.error else { panic!("{failure:?}") };
    assert_eq!(problems, &["the tool was called more than once"]);
}

#[tokio::test]
async fn an_answer_without_json_is_repaired_too() {
    let script = Script::new().rule(Rule::reply(Reply::text("I would say four.")).times(1)).rule(
        Rule::reply(Reply::json(verdict())).last_user("there is no JSON object in the answer"),
    );
    let server = serve(script);
    let response = ask(SERVICES[1], &access(&server), &verdict_question()).await.unwrap();
    assert_eq!((response.value, response.attempts.len()), (Some(verdict()), 2));
}

#[tokio::test]
async fn unknown_fields_in_an_answer_are_kept_and_harmless() {
    let answer = json!({"reason": "x", "score": 2, "confidence": 0.5});
    let server = serve_reply(Reply::json(answer.clone()));
    let response = ask(SERVICES[0], &access(&server), &verdict_question()).await.unwrap();
    assert_eq!((response.value, response.attempts.len()), (Some(answer), 1));
}
