//! Outages met by every other command that pays for calls: what is asked, what is said, how it ends, and that the same
//! command resumes.

use std::process::Output;

use serde_json::{Value, json};
use skillgauge_testkit::server::{Fault, Protocol, Reply, Rule, Script, Server};

use crate::command::Project;
use crate::run::{ITERATION, stderr};

/// One thing after the other, so that what is counted is certain.
const ONE_BY_ONE: [&str; 4] = ["--jobs", "1", "--retries", "0"];
/// Five in a row, and one after each of three pauses.
const UNTIL_DOWN: usize = 8;

/// A service that fails so for ever, or so many times.
fn failing(status: u16, times: Option<u32>, then: &[Value]) -> Server {
    let mut fault = Rule::fault(Fault::status(status).retry_after("0"));
    if let Some(times) = times {
        fault = fault.times(times);
    }
    let mut script = Script::new().rule(fault);
    for (index, answer) in then.iter().enumerate() {
        let mut rule = Rule::reply(Reply::json(answer.clone())).protocol(Protocol::OpenaiChat);
        if index + 1 < then.len() {
            rule = rule.times(1);
        }
        script = script.rule(rule);
    }
    Server::start(script).unwrap()
}

fn asking(project: &Project, server: &Server, args: &[&str]) -> Output {
    let mut command = project.command(args);
    command.env("OPENAI_BASE_URL", server.url_v1()).env("NO_PROXY", "127.0.0.1");
    command.env("OPENAI_API_KEY", "k");
    command.output().unwrap()
}

/// Puts lines at the start of an agent that is a script: while there is a file `down` its service fails.
fn may_fail(project: &Project, agent: &str, reason: &str, except: &str) {
    let text = String::from_utf8(project.read(agent)).unwrap();
    let down = project.path().join("down").display().to_string();
    let log = project.path().join("met").display().to_string();
    let fail = format!(
        "prompt=$(cat)\nif [ -e {down} ]; then case \"$prompt\" in {except}) ;; *) echo met >> {log}\n\
         echo '{{\"type\":\"error\",\"status\":500,\"message\":\"planted\",\"reason\":\"{reason}\"}}'; exit 1;; esac; fi\n"
    );
    let text = text.replace("cat > /dev/null\n", "").replace("prompt=$(cat)\n", "");
    project.file(agent, text.replacen("#!/bin/sh\n", &format!("#!/bin/sh\n{fail}"), 1));
    project.file("down", "");
}

/// Calls of the agent that met the outage.
fn met(project: &Project) -> usize {
    fs_err::read_to_string(project.path().join("met")).unwrap_or_default().lines().count()
}

fn back(project: &Project) {
    fs_err::remove_file(project.path().join("down")).unwrap();
}

/// It paused, gave up, and said what to do.
fn gave_up(output: &Output, service: &str) {
    let said = stderr(output) + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for words in [
        &format!("pausing for 10 ms: {service} failed 5 times in a row"),
        &format!(
            "{service} failed 8 times in a row, the last 3 after pauses of 10 ms, 20 ms, 30 ms"
        ),
        "then run the same command again to resume",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

const AGENT: &str = "the agent's service";
const MODEL: &str = "the service of `openai:` models";

#[test]
fn tune_gives_up_an_agent_that_is_away_and_resumes() {
    let project = crate::tune::project();
    crate::fake::improver(&project, &["Makes reports of w1 w2 w3 w4 w5 things. Use for tables."]);
    may_fail(&project, "agent.sh", "server_error", "*'\"table-report\"'*");
    let tune = [&crate::tune::TUNE[..], &ONE_BY_ONE].concat();
    let output = project.output(&tune);
    gave_up(&output, AGENT);
    assert_eq!(met(&project), UNTIL_DOWN, "{}", project.shown(&output));
    back(&project);
    let output = project.output(&tune);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let summary: Value = serde_json::from_slice(&project.read("out/loop_summary.json")).unwrap();
    let calls = fs_err::read_to_string(project.path().join("calls")).unwrap().lines().count();
    let improved = fs_err::read_dir(project.path().join("asked")).unwrap().count();
    assert_eq!(summary["calls"], json!(calls + met(&project) + improved), "{summary:#}");
}

#[test]
fn tune_stops_at_an_improver_that_is_away_and_resumes() {
    for (status, requests) in [(500, 4), (401, 1)] {
        let project = crate::tune::project();
        let mut tune = [&crate::tune::TUNE[..], &ONE_BY_ONE].concat();
        tune[5] = "openai:m";
        let server = failing(status, None, &[]);
        let output = asking(&project, &server, &tune);
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(3), "{shown}");
        assert_eq!(server.requests().len(), requests, "{shown}");
        assert!(shown.contains(&format!("({status})")), "{shown}");
        assert!(shown.contains("run the same command again to resume"), "{shown}");
        let calls =
            || fs_err::read_to_string(project.path().join("calls")).unwrap().lines().count();
        let asked = calls();
        let summary = |project: &Project| -> Value {
            serde_json::from_slice(&project.read("out/loop_summary.json")).unwrap()
        };
        assert_eq!(summary(&project)["calls"], json!(asked + requests), "{shown}");
        let better = "Makes reports of w1 w2 w3 w4 w5 things. Use for tables.";
        let server = failing(500, Some(1), &[json!({"reasoning": "r", "description": better})]);
        let output = asking(&project, &server, &tune);
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(0), "{shown}");
        assert!(shown.contains("10 of 10 probes are known"), "nothing is paid twice: {shown}");
        assert_eq!(server.requests().len(), 2, "{shown}");
    }
}

/// Two versions with a run of each of six cases.
fn compared() -> Project {
    let project = crate::compare_run::two_versions();
    let output = project.output(&crate::compare_run::COMPARE);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    project
}

fn preference() -> Value {
    let points = json!({"A": 5, "B": 5});
    let names = [
        "description_quality",
        "convention_compliance",
        "type_specific_quality",
        "token_efficiency",
        "content_value",
    ];
    let scores: serde_json::Map<String, Value> =
        names.into_iter().map(|name| (name.to_owned(), points.clone())).collect();
    json!({"reasoning": "r", "scores": scores, "winner": "A"})
}

#[test]
fn compare_gives_up_a_comparator_that_is_away_and_resumes() {
    let project = compared();
    let compare = ["compare", "greeter", "--judge", "openai:m", "--jobs", "1"];
    for status in [500, 429] {
        let server = failing(status, None, &[]);
        let output = asking(&project, &server, &compare);
        gave_up(&output, MODEL);
        assert_eq!(server.requests().len(), UNTIL_DOWN, "{}", stderr(&output));
        assert!(stderr(&output).contains("8 calls"), "{}", stderr(&output));
    }
    let server = failing(401, None, &[]);
    let output = asking(&project, &server, &compare);
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    assert_eq!(server.requests().len(), 1, "{}", project.shown(&output));
    assert!(stderr(&output).contains("the key was refused (401)"), "{}", stderr(&output));
    // It is back after a pause; what is still missing is asked next time, and nothing after that.
    let server = failing(500, Some(6), &[preference()]);
    let output = asking(&project, &server, &compare);
    assert!(stderr(&output).contains(&format!("{MODEL} works again")), "{}", stderr(&output));
    asking(&project, &server, &compare);
    let requests = server.requests().len();
    let output = asking(&project, &server, &compare);
    assert_eq!(server.requests().len(), requests, "{}", project.shown(&output));
}

#[test]
fn compare_gives_up_an_agent_that_is_away_and_resumes() {
    let project = crate::compare_run::two_versions();
    may_fail(&project, "agent.sh", "server_error", "-");
    let compare = [&crate::compare_run::COMPARE[..], &ONE_BY_ONE].concat();
    let output = project.output(&compare);
    gave_up(&output, AGENT);
    assert_eq!(met(&project), UNTIL_DOWN);
    back(&project);
    let output = project.output(&compare);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(crate::improve::lines(&project, "agent.log"), 12);
}

#[test]
fn improve_gives_up_an_agent_that_is_away_and_resumes() {
    let project = crate::improve::greeter("Say hello to the reader.");
    may_fail(&project, "agent.sh", "server_error", "-");
    let improve = [&crate::improve::IMPROVE[..8], &["--runs", "2"], &ONE_BY_ONE].concat();
    let output = project.output(&improve);
    gave_up(&output, AGENT);
    assert_eq!(met(&project), UNTIL_DOWN);
    assert!(stderr(&output).contains("8 agent calls, 0 model calls"), "{}", stderr(&output));
    back(&project);
    let output = project.output(&improve);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(crate::improve::lines(&project, "agent.log"), 24);
}

#[test]
fn improve_stops_at_an_improver_that_is_away_and_resumes() {
    let project = crate::improve::greeter("Say hello to the reader.");
    let mut improve = [&crate::improve::IMPROVE[..], &ONE_BY_ONE].concat();
    improve[7] = "openai:m";
    for (status, requests) in [(500, 4), (401, 1)] {
        let server = failing(status, None, &[]);
        let output = asking(&project, &server, &improve);
        let said = stderr(&output);
        assert_eq!((output.status.code(), server.requests().len()), (Some(3), requests), "{said}");
        assert!(said.contains(&format!("({status})")), "{said}");
        assert!(said.contains("run the same command again to resume"), "{said}");
        // The baseline is measured once, the judge of its six runs included.
        assert_eq!(crate::improve::lines(&project, "agent.log"), 6, "{said}");
        let models = if status == 500 { requests + 6 } else { requests };
        assert!(said.contains(&format!(" agent calls, {models} model call")), "{said}");
    }
}

#[test]
fn route_gives_up_an_agent_that_is_away_and_resumes() {
    let project = crate::route::project();
    may_fail(&project, "agent.sh", "server_error", "*'\"csv-report\"'*|*'\"pdf-forms\"'*");
    let mut route = [&crate::route::ROUTE[..], &ONE_BY_ONE].concat();
    route[5] = "3";
    let output = project.output(&route);
    gave_up(&output, AGENT);
    assert_eq!(met(&project), UNTIL_DOWN);
    back(&project);
    let output = project.output(&route);
    assert_eq!(output.status.code(), Some(1), "{}", project.shown(&output));
    assert!(project.shown(&output).contains("3 of 4 queries went where they should"));
    let calls = fs_err::read_to_string(project.path().join("calls")).unwrap().lines().count();
    assert_eq!(calls, 2 + 12, "two controls and each probe once");
}

#[test]
fn grade_gives_up_a_judge_that_is_away_and_resumes() {
    let project = crate::run::greeter();
    project.output(&["run", "greeter", "--agent", "command:./agent.sh", "--judge", "none"]);
    let grade = ["grade", ITERATION, "--judge", "openai:m", "--jobs", "1"];
    for (status, requests) in [(500, UNTIL_DOWN), (429, UNTIL_DOWN), (401, 1)] {
        let server = failing(status, None, &[]);
        let output = asking(&project, &server, &grade);
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(3), "{shown}");
        assert_eq!(server.requests().len(), requests, "{shown}");
        let calls = if requests == 1 { "1 judge call," } else { "8 judge calls," };
        assert!(shown.contains(calls), "{shown}");
        let advice = match status {
            500 => "see the status page of the service",
            429 => "lower --jobs or wait until the limit resets",
            _ => "the key was refused (401)",
        };
        assert!(shown.contains(advice), "{shown}");
    }
    let verdict = json!({"expectations": {"E1": {"reasoning": "r", "quotes": [], "verdict": "fail"}},
        "claims": [], "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": []},
        "eval_feedback": {"suggestions": [], "overall": ""}});
    let server = failing(500, Some(6), &[verdict]);
    let output = asking(&project, &server, &grade);
    let said = stderr(&output);
    assert!(said.contains(&format!("{MODEL} works again")), "{said}");
    asking(&project, &server, &grade);
    let requests = server.requests().len();
    assert_eq!(requests, 24 + 6, "each run is judged once: {said}");
}

#[test]
fn a_fleet_in_one_process_gives_up_an_agent_that_is_away_and_resumes() {
    let project = crate::run::greeter();
    may_fail(&project, "agent.sh", "server_error", "-");
    let run = [&crate::run::RUN[..], &["--fleet", "local"], &ONE_BY_ONE].concat();
    let output = project.output(&run);
    gave_up(&output, AGENT);
    assert_eq!(met(&project), UNTIL_DOWN);
    back(&project);
    let output = project.output(&run);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(crate::run::calls(&project), 24);
}

/// Unlike a command that somebody waits for, a worker waits for its service.
#[test]
fn a_worker_pauses_until_the_service_is_back() {
    let kit = crate::fleet_kit::FleetKit::new();
    may_fail(&kit.project, "agent.sh", "server_error", "-");
    kit.submit(&["--retries", "0"]);
    let _worker = kit.worker("w1", &["--slots", "1"], &[]);
    kit.until("more failures than a command would allow", || met(&kit.project) > 2 * UNTIL_DOWN);
    assert_eq!(kit.plan_status()["lost"].as_u64().unwrap_or(0), 0, "{:#}", kit.status());
    back(&kit.project);
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    assert_eq!(crate::run::calls(&kit.project), 24);
}
