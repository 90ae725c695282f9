//! Services that fail: what is paid, what is said, how it ends, and that the same command resumes.

use skillgauge_testkit::server::{Fault, Protocol, Reply, Rule, Script, Server};

use crate::command::Project;
use crate::run::{ITERATION, calls, greeter, run, script, set_agent, stderr};

/// One case after the other, so that what is counted is certain.
const ONE_BY_ONE: [&str; 4] = ["--jobs", "1", "--retries", "0"];

/// What an agent says when its service fails so.
fn failing(status: u16, reason: &str, message: &str) -> String {
    format!(
        r#"echo '{{"type":"error","status":{status},"message":"{message}","reason":"{reason}"}}'; exit 1"#
    )
}

fn outage(status: u16, reason: &str, message: &str) -> (Project, std::process::Output) {
    let project = greeter();
    set_agent(&project, &failing(status, reason, message));
    let output = run(&project, &ONE_BY_ONE);
    (project, output)
}

#[test]
fn a_permanent_500_costs_eight_calls_of_24_and_says_what_to_do() {
    let (project, output) = outage(500, "server_error", "planted");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(calls(&project), 8, "five in a row, and one after each of three pauses: {said}");
    for words in [
        "pausing for 10 ms: the agent's service failed 5 times in a row (server_error: planted); then one try decides",
        "pausing for 20 ms: the agent's service failed 6 times in a row",
        "nothing more is started: the agent's service failed 8 times in a row, the last 3 after pauses of 10 ms, 20 ms, 30 ms",
        "see the status page of the service",
        "run the same command again to resume",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    set_agent(&project, "");
    let output = run(&project, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(calls(&project), 8 + 24);
}

#[test]
fn a_refused_connection_costs_eight_calls_and_names_the_base_url() {
    let (project, output) = outage(0, "connection", "connection refused");
    let said = stderr(&output);
    assert_eq!((output.status.code(), calls(&project)), (Some(3), 8), "{said}");
    assert!(said.contains("check the network, the proxy and the base URL"), "{said}");
}

#[test]
fn a_limit_without_an_end_advises_fewer_jobs() {
    let (project, output) = outage(429, "rate_limit", "slow down");
    let said = stderr(&output);
    assert_eq!((output.status.code(), calls(&project)), (Some(3), 8), "{said}");
    assert!(said.contains("lower --jobs or wait until the limit resets"), "{said}");
}

#[test]
fn with_four_jobs_and_retries_an_outage_still_costs_few_calls() {
    let project = greeter();
    set_agent(&project, &failing(500, "server_error", "planted"));
    let output = run(&project, &["--jobs", "4", "--retries", "1"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    // Up to four may be under way when the fifth fails.
    assert!((8..=12).contains(&calls(&project)), "{} of 48: {said}", calls(&project));
}

#[test]
fn an_outage_in_the_middle_costs_a_pause_and_the_rest_is_measured() {
    let project = greeter();
    let count = project.path().join("count").display().to_string();
    let fail = failing(529, "overloaded", "overloaded");
    // Good for three, out for six, good again.
    let planted = format!(
        "n=$(cat {count} 2>/dev/null || echo 0); n=$((n + 1)); echo $n > {count}\n\
         if [ $n -gt 3 ] && [ $n -le 9 ]; then {fail}; fi"
    );
    set_agent(&project, &planted);
    let output = run(&project, &ONE_BY_ONE);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "six runs met the outage: {said}");
    assert!(said.contains("the agent's service works again"), "{said}");
    assert!(!said.contains("nothing more is started"), "{said}");
    assert!(said.contains("6 of 24 runs have no result"), "{said}");
    assert_eq!(calls(&project), 24);
    let output = run(&project, &ONE_BY_ONE);
    assert_eq!((output.status.code(), calls(&project)), (Some(0), 30), "{}", stderr(&output));
}

#[test]
fn errors_in_one_arm_only_stop_nothing() {
    let project = greeter();
    let fail = failing(500, "server_error", "planted");
    set_agent(
        &project,
        &format!("if [ -e \"$SKILLGAUGE_SKILLS/greeter/SKILL.md\" ]; then {fail}; fi"),
    );
    let output = run(&project, &ONE_BY_ONE);
    let said = stderr(&output);
    assert_eq!((output.status.code(), calls(&project)), (Some(3), 24), "{said}");
    assert!(!said.contains("pausing") && said.contains("12 of 24 runs have no result"), "{said}");
}

#[test]
fn a_judge_that_goes_away_after_half_is_given_up_and_asked_again_by_the_same_command() {
    let project = greeter();
    let judgement = |quotes: &str, verdict: &str| {
        serde_json::json!({"expectations": {"E1": {"reasoning": "r", "quotes": [quotes], "verdict": verdict}},
            "claims": [], "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": []},
            "eval_feedback": {"suggestions": [], "overall": ""}})
    };
    let good = || {
        Rule::reply(Reply::json(judgement("Hello, reader", "pass"))).protocol(Protocol::OpenaiChat)
    };
    let server = Server::start(
        Script::new()
            .rule(good().times(6))
            .rule(Rule::fault(Fault::status(500)).times(8))
            .rule(good()),
    )
    .unwrap();
    let judged = |more: &[&str]| {
        let args = ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "openai:m"];
        let args = [&args[..], &["--jobs", "1", "--baseline", "none"], more].concat();
        let mut command = project.command(&args);
        command.env("OPENAI_BASE_URL", server.url_v1()).env("NO_PROXY", "127.0.0.1");
        command.output().unwrap()
    };
    let output = judged(&[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(server.requests().len(), 6 + 8, "{said}");
    assert!(
        said.contains("pausing for 10 ms: the service of `openai:` models failed 5 times"),
        "{said}"
    );
    assert!(said.contains("nothing more is started: the service of `openai:` models"), "{said}");
    let asked = said.lines().find(|line| line.contains("judge call")).unwrap();
    assert!(asked.contains("14 judge calls"), "what was asked, and no more: {asked}");
    // It is back, and the same command asks it for the rest; nothing is run again.
    let before = calls(&project);
    let output = judged(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(calls(&project), before.max(12));
    assert_eq!(server.requests().len(), 6 + 8 + 6, "{}", stderr(&output));
}

#[test]
fn probes_stop_as_runs_do_and_the_same_command_resumes() {
    let project = Project::new();
    project.good_skill("greeter");
    let queries: Vec<_> = (0..8)
        .map(|number| serde_json::json!({"query": format!("greet {number}"), "should_trigger": number % 2 == 0}))
        .collect();
    project.file("greeter/evals/triggers.json", serde_json::json!(queries).to_string());
    let log = project.path().join("calls.log").display().to_string();
    let down = project.path().join("down").display().to_string();
    let fail = failing(503, "server_error", "planted");
    script(
        &project,
        "agent.sh",
        &format!(
            "#!/bin/sh\nprompt=$(cat)\necho call >> {log}\n\
             case \"$prompt\" in *'\"greeter\"'*) ;; *) if [ -e {down} ]; then {fail}; fi;; esac\n\
             case \"$prompt\" in *'\"greeter\"'*|*0|*2|*4|*6) echo '{{\"type\":\"skill\",\"name\":\"greeter\",\"state\":\"loaded\"}}';; esac\n\
             echo '{{\"type\":\"result\",\"text\":\"done\"}}'\n"
        ),
    );
    project.file("down", "");
    let args = [
        "trigger",
        "greeter",
        "--agent",
        "command:./agent.sh",
        "--jobs",
        "1",
        "--retries",
        "0",
        "--format",
        "json",
    ];
    let output = project.output(&args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(calls(&project), 1 + 8, "the control and eight of 24: {said}");
    assert!(
        said.contains("pausing for 10 ms: the agent's service failed 5 times in a row"),
        "{said}"
    );
    assert!(said.contains("the last 3 after pauses") && said.contains("to resume"), "{said}");
    fs_err::remove_file(project.path().join("down")).unwrap();
    let output = project.output(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["summary"]["passed"], 8);
}

#[test]
fn grade_gives_a_judge_up_that_is_away() {
    let project = greeter();
    let args = ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "none"];
    let output = project.output(&args);
    assert_ne!(output.status.code(), Some(2), "{}", stderr(&output));
    let server =
        Server::start(Script::new().rule(Rule::fault(Fault::status(429).retry_after("0"))))
            .unwrap();
    let mut command = project.command(&["grade", ITERATION, "--judge", "openai:m", "--jobs", "2"]);
    command.env("OPENAI_BASE_URL", server.url_v1()).env("NO_PROXY", "127.0.0.1");
    let output = command.output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!((8..=9).contains(&server.requests().len()), "{}: {said}", server.requests().len());
    assert!(said.contains("the service of `openai:` models failed"), "{said}");
}

#[test]
fn a_service_that_asks_for_an_hour_is_not_waited_for() {
    let project = greeter();
    let server =
        Server::start(Script::new().rule(Rule::fault(Fault::status(429).retry_after("3600"))))
            .unwrap();
    let args =
        ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "openai:m", "--jobs", "1"];
    let mut command = project.command(&args);
    command.env("OPENAI_BASE_URL", server.url_v1()).env("NO_PROXY", "127.0.0.1");
    let output = command.output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(server.requests().len(), 5, "no pause of ours would be long enough: {said}");
    assert!(!said.contains("pausing"), "{said}");
    assert!(said.contains("lower --jobs or wait until the limit resets"), "{said}");
}
