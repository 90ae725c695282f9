//! Probes without an agent that send what the real agents send: captured from the programs themselves.

use serde_json::{Value, json};
use skillgauge_format::trigger::{TriggerReport, Via, ViaDetail};
use skillgauge_run::budget::Budget;
use skillgauge_run::cassette::Mode;
use skillgauge_run::probe::{Measured, Measurement, ProbeError, Probing, RequestSource};
use skillgauge_testkit::real::RealAgent;
use skillgauge_testkit::server::{Recorded, Reply, Rule, Script, Transfer};

use super::api::probing;
use super::{CONTROL, counts, settings};
use crate::agent::real_stage::RealStage;

const CLAUDE: &str = "claude-sonnet-4-5";
const CODEX: &str = "gpt-5.5";

/// What the agent is given as a key while its request is captured ends so.
const NO_KEY: &str = "no-real-key";

const QUERIES: [(&str, bool); 3] =
    [("a \"report\" of sales.csv, please", true), ("look around", false), ("two plus two", false)];

fn script(load: &Reply, look: Reply) -> Script {
    Script::new()
        .rule(Rule::reply(load.clone()).prompt(CONTROL).named("control"))
        .rule(Rule::reply(load.clone()).prompt("report").named("report"))
        .rule(Rule::reply(look).prompt("look").named("look"))
        .rule(Rule::reply(Reply::text("Four.")).named("plain"))
}

fn claude() -> Option<RealStage> {
    let agent = RealAgent::Claude;
    RealStage::new(agent, script(&agent.load("csv-report"), agent.shell("ls")))
}

fn codex() -> Option<RealStage> {
    let agent = RealAgent::Codex;
    let load = agent.shell("sed -n 1,200p /skillgauge/work/.agents/skills/csv-report/SKILL.md");
    let look = agent.shell("cat .agents/skills/csv-report/scripts/count.sh");
    RealStage::new(agent, script(&load, look))
}

fn measurement(real: &RealStage, model: &str, source: RequestSource) -> Measurement {
    let mut measurement = real.stage.measurement("claude", None);
    measurement.probing = probing(model, source);
    measurement
}

/// Everything that the provider was asked, in the order of asking.
fn asked(real: &RealStage) -> Vec<Recorded> {
    assert!(real.server.unmatched().is_empty());
    real.server.requests()
}

fn with_query<'r>(requests: &'r [Recorded], query: &str) -> &'r Recorded {
    requests.iter().find(|request| request.view().prompt == query).unwrap()
}

/// Whether a text stands in a value, wherever.
fn mentions(value: &Value, text: &str) -> bool {
    value.to_string().contains(text)
}

fn check_rates(measured: &Measured, agent: &str, version: &str) {
    for (query, triggers) in [("report", 1), ("look", 0), ("two", 0)] {
        let (found, errors, runs, result) = counts(measured, query);
        assert_eq!((found, errors, runs), (triggers, 0, 1), "{agent} {query}: {result:#?}");
    }
    let said = measured.report.measurement.as_ref().unwrap();
    assert_eq!((said.via, said.via_detail), (Via::Api, Some(ViaDetail::Captured)));
    assert_eq!(
        (said.agent.as_deref(), said.agent_version.as_deref()),
        (Some(agent), Some(version))
    );
    assert_eq!(said.calls, 4);
}

#[test]
fn a_probe_sends_what_claude_sends_with_another_query_and_the_users_key() {
    let Some(real) = claude() else { return };
    let model = format!("anthropic:{CLAUDE}");
    let measured =
        real.stage.measure(&measurement(&real, &model, RequestSource::Auto), &QUERIES).unwrap();
    check_rates(&measured, "claude", "2.1.325");
    let sent = asked(&real);
    assert_eq!(sent.len(), 4, "the control and the queries, and nothing else");
    // What the agent itself asks, for comparison.
    real.stage.probe("claude", Some(CLAUDE), "two plus two");
    let own = asked(&real).into_iter().nth(4).unwrap();
    let blocks = |request: &Recorded| -> Vec<Value> {
        request.json()["messages"][0]["content"].as_array().unwrap().clone()
    };
    for (query, _) in QUERIES {
        let request = with_query(&sent, query);
        assert_eq!(request.view().transfer, Transfer::Whole);
        assert_eq!(request.view().tools, own.view().tools);
        assert!(request.view().tools.len() > 8, "{:?}", request.view().tools);
        assert_eq!(request.header("anthropic-beta"), own.header("anthropic-beta"));
        assert!(!mentions(request.json(), NO_KEY));
        let list = blocks(request).into_iter().find(|block| mentions(block, "- csv-report: "));
        assert!(blocks(&own).contains(&list.unwrap()), "the list of skills is the agent's own");
        let (mine, own) = (request.json(), own.json());
        for field in ["tools", "max_tokens", "thinking", "context_management"] {
            assert_eq!(mine[field], own[field], "{field}");
        }
        // The first block of its own says who pays.
        let own_system = json!(own["system"].as_array().unwrap()[1..]).to_string();
        let mine_system = mine["system"].to_string();
        for (mine, own) in mine_system.split("\\n").zip(own_system.split("\\n")) {
            assert!(mine == own || own.contains("/projects/"), "{mine}\n{own}");
        }
        for field in ["metadata", "stream"] {
            assert!(mine.get(field).is_none() && own.get(field).is_some(), "{field}");
        }
        let scratch = real.stage.path("scratch").display().to_string();
        assert!(!mentions(mine, &scratch) && !mentions(mine, &scratch.replace(['/', '.'], "-")));
        assert!(
            mentions(mine, "/skillgauge/work") && mentions(mine, "/projects/-skillgauge-work/")
        );
    }
    real.check_clean();
}

#[test]
fn another_description_is_in_the_list_that_claude_sends() {
    let Some(real) = claude() else { return };
    let mut measurement = measurement(&real, &format!("anthropic:{CLAUDE}"), RequestSource::Auto);
    measurement.skill = measurement.skill.with_description("Entirely new words.");
    measurement.neighbours = vec![real.stage.neighbour()];
    real.stage.measure(&measurement, &QUERIES).unwrap();
    for request in asked(&real) {
        let context = request.view().context;
        assert!(context.contains("- csv-report: Entirely new words."), "{context}");
        assert!(context.contains("- slides: Makes slides."), "{context}");
    }
    real.check_clean();
}

#[test]
fn a_probe_sends_what_codex_sends_and_reading_the_body_is_the_trigger() {
    let Some(real) = codex() else { return };
    let model = format!("openai:{CODEX}");
    let measured =
        real.stage.measure(&measurement(&real, &model, RequestSource::Captured), &QUERIES).unwrap();
    check_rates(&measured, "codex", "0.166.0");
    let sent = asked(&real);
    assert_eq!(sent.len(), 4);
    real.stage.probe("codex", Some(CODEX), "two plus two");
    let own = asked(&real).into_iter().nth(4).unwrap();
    let removed = ["client_metadata", "prompt_cache_key", "stream"];
    let fields = |body: &Value| -> Vec<String> {
        let names = body.as_object().unwrap().keys();
        names.filter(|name| !removed.contains(&name.as_str())).cloned().collect()
    };
    for (query, _) in QUERIES {
        let request = with_query(&sent, query);
        assert_eq!(request.path, own.path);
        assert_eq!(request.view().tools, own.view().tools);
        assert!(request.view().context.contains("- csv-report: Turns a CSV file"));
        let mine = request.json();
        assert_eq!(fields(mine), fields(own.json()));
        assert!(removed.iter().all(|name| mine.get(name).is_none()));
        assert_eq!(mine["tools"], own.json()["tools"]);
        assert!(!mentions(mine, NO_KEY));
        assert!(!mentions(mine, &real.stage.path("scratch").display().to_string()));
    }
    real.check_clean();
}

#[test]
fn a_recording_replays_without_the_agent_and_without_a_server() {
    let Some(real) = claude() else { return };
    let mut measurement = measurement(&real, &format!("anthropic:{CLAUDE}"), RequestSource::Auto);
    measurement.journal = None;
    let tape = real.stage.path("tape");
    let record = real.stage.prober(Mode::Record(tape.clone()), settings(), Budget::default());
    let recorded = real.stage.measure_with(&measurement, &QUERIES, &record).unwrap();
    let asked_live = asked(&real).len();
    fs_err::remove_file(real.stage.path("bin/claude")).unwrap();
    let replay = real.stage.prober(Mode::Replay(tape), settings(), Budget::default());
    let told = real.stage.measure_with(&measurement, &QUERIES, &replay).unwrap();
    check_rates(&told, "claude", "2.1.325");
    let rates = |report: &TriggerReport| -> Vec<u64> {
        report.results.iter().map(|result| result.triggers).collect()
    };
    assert_eq!(rates(&told.report), rates(&recorded.report));
    assert_eq!(asked(&real).len(), asked_live);
    assert!(real.stage.files_with("tape", NO_KEY).is_empty());
    real.check_clean();
}

/// An agent that is like Claude Code, but is not there.
const GHOST: &str = "[agents.ghost]\nextends = \"claude\"\nprogram = \"no-such-claude-here\"\n";

fn with_agent(measurement: &mut Measurement, name: &str) {
    if let Probing::Api { agent, .. } = &mut measurement.probing {
        name.clone_into(agent);
    }
}

#[test]
fn without_the_agent_the_request_is_built_in_and_the_report_says_so() {
    let Some(real) = claude() else { return };
    let real = RealStage { stage: real.stage.with_project(GHOST), ..real };
    let model = format!("anthropic:{CLAUDE}");
    let mut auto = measurement(&real, &model, RequestSource::Auto);
    with_agent(&mut auto, "ghost");
    let measured = real.stage.measure(&auto, &QUERIES).unwrap();
    let said = measured.report.measurement.as_ref().unwrap();
    assert_eq!((said.via_detail, said.agent.as_deref()), (Some(ViaDetail::BuiltIn), None));
    let warnings = measured.report.warnings.clone().unwrap_or_default().join("\n");
    assert!(warnings.contains("no program `no-such-claude-here`"), "{warnings}");
    assert_eq!(asked(&real)[0].view().tools, ["Skill", "Bash", "Read", "Write", "Edit"]);

    let mut captured = measurement(&real, &model, RequestSource::Captured);
    with_agent(&mut captured, "ghost");
    let error = real.stage.measure(&captured, &QUERIES).unwrap_err();
    assert!(matches!(error, ProbeError::NoCapture { .. }), "{error}");
    assert_eq!(asked(&real).len(), 4, "nothing was spent on it");
    real.check_clean();
}

#[test]
fn an_agent_that_speaks_another_protocol_or_goes_elsewhere_is_not_run() {
    let Some(real) = claude() else { return };
    let elsewhere = "[agents.away]\nextends = \"claude\"\nenvironment = { ANTHROPIC_BASE_URL = \"http://127.0.0.1:9\" }\n";
    let real = RealStage { stage: real.stage.with_project(elsewhere), ..real };
    for (model, agent, reason) in [
        ("openai:gpt-5", "claude", "`claude` does not speak the protocol of `openai:gpt-5`"),
        ("anthropic:m", "away", "`away` does not take its address from ANTHROPIC_BASE_URL"),
    ] {
        let mut measurement = measurement(&real, model, RequestSource::Captured);
        with_agent(&mut measurement, agent);
        let error = real.stage.measure(&measurement, &QUERIES).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
    assert!(asked(&real).is_empty());
    real.check_clean();
}
