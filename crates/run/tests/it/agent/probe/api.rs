//! Probes without an agent and with a request of our own: one request to a scripted server for each.

use std::time::Duration;

use serde_json::json;
use skillgauge_format::trigger::Via;
use skillgauge_run::budget::Budget;
use skillgauge_run::cassette::Mode;
use skillgauge_run::probe::{Crowd, Measurement, ProbeError, Probing, RequestSource};
use skillgauge_testkit::server::{Fault, Protocol, Reply, Rule, Script, Server, ToolResult};

use super::{CONTROL, counts, settings};
use crate::agent::stage::{KEY, Stage};

fn script() -> Script {
    let skill = |name: &str| Reply::tool("Skill", json!({"skill": name}));
    Script::new()
        .rule(
            Rule::reply(skill("csv-report"))
                .prompt(CONTROL)
                .context("- csv-report: ")
                .named("control"),
        )
        .rule(
            Rule::fault(Fault::status(429).retry_after("0"))
                .prompt("limited")
                .times(1)
                .named("limit"),
        )
        .rule(
            Rule::reply(skill("csv-report"))
                .prompt("report")
                .tool_result(ToolResult::Absent)
                .named("report"),
        )
        .rule(Rule::reply(skill("changelog-writer")).prompt("notes").named("other"))
        .rule(
            Rule::reply(Reply::tool("Bash", json!({"command": "ls"}))).prompt("look").named("look"),
        )
        .rule(Rule::reply(Reply::text("Four.")).named("plain"))
}

pub(super) fn probing(model: &str, source: RequestSource) -> Probing {
    Probing::Api {
        model: model.parse().unwrap(),
        agent: "auto".to_owned(),
        source,
        timeout: Duration::from_secs(20),
    }
}

fn staged(model: &str, script: Script) -> (Stage, Server, Measurement) {
    let server = Server::start(script).unwrap();
    let stage = Stage::new()
        .with("ANTHROPIC_BASE_URL", &server.url())
        .with("ANTHROPIC_API_KEY", KEY)
        .with("OPENAI_BASE_URL", &server.url_v1())
        .with("OPENAI_API_KEY", KEY);
    let mut measurement = stage.measurement("claude", None);
    measurement.probing = probing(model, RequestSource::BuiltIn);
    (stage, server, measurement)
}

const QUERIES: [(&str, bool); 5] = [
    ("a report", true),
    ("a limited report", true),
    ("notes", false),
    ("look around", false),
    ("two plus two", false),
];

#[test]
fn both_protocols_are_asked_with_the_list_of_skills_and_the_tools_of_the_agent() {
    for (model, protocol) in [
        ("anthropic:claude-sonnet-4-5", Protocol::Anthropic),
        ("openai:gpt-5", Protocol::OpenaiChat),
    ] {
        let (stage, server, mut measurement) = staged(model, script());
        let crowd = Crowd::gather(&[], 3, "csv-report", &stage.path("crowd")).unwrap();
        measurement.neighbours.clone_from(&crowd.skills);
        let measured = stage.measure(&measurement, &QUERIES).unwrap();
        for (query, triggers) in
            [("a report", 1), ("limited", 1), ("notes", 0), ("look", 0), ("two", 0)]
        {
            let (found, errors, runs, result) = counts(&measured, query);
            assert_eq!((found, errors, runs), (triggers, 0, 1), "{model} {query}: {result:#?}");
        }
        assert_eq!(
            counts(&measured, "notes").3.other_skills.as_ref().unwrap()["changelog-writer"],
            1
        );
        let said = measured.report.measurement.as_ref().unwrap();
        assert_eq!((said.via, said.model.as_deref()), (Via::Api, Some(model)));
        // Five queries, the control, and the one that was limited again.
        assert_eq!((said.calls, server.requests().len()), (7, 7));
        let first = &server.requests()[0].view();
        assert_eq!(server.requests()[0].protocol, Some(protocol));
        for tool in ["Skill", "Bash", "Read", "Write", "Edit"] {
            assert!(
                first.tools.iter().any(|offered| offered == tool),
                "{model}: {:?}",
                first.tools
            );
        }
        assert!(server.unmatched().is_empty());
    }
}

#[test]
fn a_model_that_never_loads_the_skill_fails_the_control() {
    let (stage, _server, measurement) =
        staged("anthropic:m", Script::always(Reply::text("I will not.")));
    let error = stage.measure(&measurement, &QUERIES).unwrap_err();
    assert!(matches!(error, ProbeError::Control { .. }), "{error}");
}

#[test]
fn a_model_that_cannot_be_offered_tools_is_refused() {
    let (stage, server, measurement) = staged("claude:sonnet", script());
    let error = stage.measure(&measurement, &QUERIES).unwrap_err();
    assert!(error.to_string().contains("name a model as anthropic:NAME"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_recording_needs_no_server_and_has_no_key() {
    let (stage, server, mut measurement) = staged("openai:gpt-5", script());
    measurement.journal = None;
    let tape = stage.path("tape");
    let record = stage.prober(Mode::Record(tape.clone()), settings(), Budget::default());
    let recorded = stage.measure_with(&measurement, &QUERIES, &record).unwrap();
    drop(server);
    assert!(stage.files_with("tape", KEY).is_empty());
    let replay = stage.prober(Mode::Replay(tape), settings(), Budget::default());
    let told = stage.measure_with(&measurement, &QUERIES, &replay).unwrap();
    let rates = |report: &skillgauge_format::trigger::TriggerReport| -> Vec<u64> {
        report.results.iter().map(|result| result.triggers).collect()
    };
    assert_eq!(rates(&told.report), rates(&recorded.report));
}
