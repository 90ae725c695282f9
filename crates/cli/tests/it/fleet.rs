//! A fleet through the binary: a real server, workers as processes, and the same benchmark as on one machine.

use skillgauge_testkit::nats::NatsServer;
use skillgauge_testkit::process::{Ending, Group, Signal};

use crate::fleet_kit::{FleetKit, LIMIT, WHO};
use crate::run::{ITERATION, RUN, calls, json, numbers, stderr};

#[test]
fn a_fleet_measures_what_one_machine_measures() {
    let alone = crate::run::greeter();
    let output = alone.output(&RUN);
    assert_eq!(output.status.code(), Some(0), "{}", alone.shown(&output));
    let kit = FleetKit::new();
    let _workers = [
        kit.worker("w1", &[], &[]),
        kit.worker("w2", &["--slots", "2", "--judge-rate", "6000"], &[]),
    ];
    let url = kit.url();
    let output = kit.project.output(&[&RUN[..], &["--fleet", &url]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    let benchmark = format!("{ITERATION}/benchmark.json");
    let (mut one, mut other) = (numbers(&alone, &benchmark), numbers(&kit.project, &benchmark));
    for numbers in [&mut one, &mut other] {
        numbers["metadata"]["skill_path"] = serde_json::Value::Null;
    }
    assert_eq!(one, other);
    assert_eq!(calls(&kit.project), 24, "no run is executed twice when nothing fails");
    let plan = kit.plan_status();
    assert_eq!((&plan["state"], &plan["done"]), (&"finished".into(), &24.into()), "{plan:#}");
    assert_eq!((&plan["queued"], &plan["graded"]), (&0.into(), &24.into()), "{plan:#}");
    assert!(plan["seconds_left"].is_null() && plan["ended"].is_u64(), "{plan:#}");
    let run = json(&kit.project, &format!("{ITERATION}/eval-3/with_skill/run-2/run.json"));
    assert_eq!(run["execution"]["fleet"]["delivered"], 1);
    assert!(json(&kit.project, &format!("{ITERATION}/iteration.json"))["finished"].is_string());
}

#[test]
fn a_fleet_in_one_process_measures_the_same_without_a_server() {
    let (alone, project) = (crate::run::greeter(), crate::run::greeter());
    assert_eq!(alone.output(&RUN).status.code(), Some(0));
    let output = project.output(&[&RUN[..], &["--fleet", "local"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let benchmark = format!("{ITERATION}/benchmark.json");
    let (mut one, mut other) = (numbers(&alone, &benchmark), numbers(&project, &benchmark));
    for numbers in [&mut one, &mut other] {
        numbers["metadata"]["skill_path"] = serde_json::Value::Null;
    }
    assert_eq!(one, other);
    assert_eq!(calls(&project), 24);
}

#[test]
fn an_agent_that_crashes_has_given_its_result_here_and_on_a_fleet() {
    for fleet in [&[][..], &["--fleet", "local"][..]] {
        let project = crate::run::greeter();
        crate::run::set_agent(&project, "echo half; exit 7");
        let output = project.output(&[&RUN[..], &["--case", "1", "--runs", "1"], fleet].concat());
        assert_eq!(output.status.code(), Some(1), "{}", project.shown(&output));
        assert_eq!(calls(&project), 2, "nothing is tried again: {}", project.shown(&output));
        let benchmark = json(&project, &format!("{ITERATION}/benchmark.json"));
        assert_eq!(benchmark["unmeasured"], serde_json::Value::Null);
        assert_eq!(benchmark["runs"][0]["outcome"], "failed");
        assert_eq!(benchmark["runs"][0]["result"]["run_passed"], false);
        let record = json(&project, &format!("{ITERATION}/eval-1/with_skill/run-1/run.json"));
        assert_eq!(record["reason"], "crashed");
    }
}

#[test]
fn collecting_for_a_skill_that_is_not_there_says_so() {
    let project = crate::command::Project::new();
    let output = project.output(&["fleet", "collect", "nats://127.0.0.1:1", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: there is no nothing\n"), "{}", stderr(&output));
}

#[test]
fn submitting_twice_and_collecting_in_two_goes_changes_nothing() {
    let kit = FleetKit::new();
    let plan = kit.submit(&[]);
    assert_eq!(kit.submit(&[]), plan);
    assert_eq!(kit.plan_status()["queued"], 24);
    let url = kit.url();
    let mut first = kit.project.command(&["fleet", "collect", &url, "greeter"]);
    let first = Group::spawn(&mut first).unwrap();
    let _worker = kit.worker("w1", &[], &[]);
    kit.until("the first run home", || {
        kit.project.path().join(ITERATION).join("journal.jsonl").is_file()
            && String::from_utf8_lossy(&kit.project.read(&format!("{ITERATION}/journal.jsonl")))
                .contains("run_ended")
    });
    first.signal(Signal::INT);
    let first = first.finish(LIMIT).unwrap();
    assert_eq!(first.status.code(), Some(130), "{}", first.stderr);
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    assert_eq!(calls(&kit.project), 24);
    assert_eq!(kit.collect(&[]).status.code(), Some(0), "once more finds everything here");
}

#[test]
fn a_stopped_worker_gives_back_what_it_has() {
    let kit = FleetKit::new();
    crate::run::set_agent(&kit.project, "sleep 30");
    kit.submit(&["--case", "1", "--runs", "1"]);
    let worker = kit.worker("w1", &["--drain", "10ms"], &[]);
    kit.until("two runs started", || calls(&kit.project) == 2);
    worker.signal(Signal::TERM);
    let ended = worker.finish(LIMIT).unwrap();
    assert_eq!((ended.ending, ended.status.code()), (Ending::Exited, Some(0)), "{}", ended.stderr);
    assert!(ended.stderr.contains("given back"), "{}", ended.stderr);
    crate::run::set_agent(&kit.project, "");
    let _other = kit.worker("w2", &[], &[]);
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    assert!(stderr(&output).contains("given out more than once"), "{}", stderr(&output));
}

#[test]
fn cancel_empties_the_queue_and_stops_what_runs() {
    let kit = FleetKit::new();
    crate::run::set_agent(&kit.project, "sleep 60");
    let plan = kit.submit(&[]);
    let worker = kit.worker("w1", &["--slots", "2", "--idle", "2s"], &[]);
    kit.until("two runs started", || calls(&kit.project) == 2);
    let status = kit.plan_status();
    assert_eq!((&status["running"], &status["queued"]), (&2.into(), &22.into()), "{status:#}");
    assert!(status["seconds_left"].is_null(), "nothing is done yet: {status:#}");
    kit.until("the worker has told it", || {
        kit.status()["workers"][0]["running"][&plan].as_u64() == Some(2)
    });
    let output = kit.fleet(&["cancel", &kit.url(), &plan]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    let ended = worker.finish(LIMIT).unwrap();
    assert_eq!((ended.ending, ended.status.code()), (Ending::Exited, Some(0)), "{}", ended.stderr);
    let status = kit.plan_status();
    assert_eq!((&status["state"], &status["queued"]), (&"cancelled".into(), &0.into()));
    assert_eq!(status["done"], 0, "{status:#}");
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", kit.project.shown(&output));
    assert!(stderr(&output).contains("the plan was cancelled"), "{}", stderr(&output));
    let unknown = kit.fleet(&["cancel", &kit.url(), &"0".repeat(20)]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn an_agent_gets_nothing_of_the_fleet() {
    let kit = FleetKit::new();
    let seen = kit.project.path().join("seen.txt");
    crate::run::set_agent(&kit.project, &format!("env >> {}", seen.display()));
    kit.submit(&["--case", "1", "--runs", "1"]);
    let variables = [
        ("SKILLGAUGE_FLEET_TOKEN", "fleet-token-in-env"),
        ("NATS_URL", "nats-in-env"),
        ("NATS_CREDS", "nats-creds-in-env"),
    ];
    let _worker = kit.worker("w1", &[], &variables);
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    let seen = fs_err::read_to_string(seen).unwrap();
    assert!(seen.contains("SKILLGAUGE_SKILLS="), "the agent told its environment: {seen}");
    for secret in ["in-env", "NATS", "FLEET", &kit.server.port().to_string()] {
        assert!(!seen.contains(secret), "{secret} reached the agent: {seen}");
    }
}

/// The model's service says no: no run has a result, and that is no result of the skill.
const BUSY: &str =
    r#"echo '{"type":"error","status":429,"message":"busy","reason":"rate_limit"}'; exit 1"#;

#[test]
fn what_died_before_a_submit_is_tried_again_by_it() {
    let kit = FleetKit::new();
    crate::run::set_agent(&kit.project, BUSY);
    let once = ["--case", "1", "--runs", "1", "--retries", "0", "--deliveries", "1"];
    kit.submit(&once);
    let worker = kit.worker("w1", &[], &[]);
    kit.until("both runs are dead", || worker.stderr().unwrap().matches("given back").count() == 2);
    // It is said before the server hears of it; a worker that ends in peace has told it.
    worker.signal(Signal::TERM);
    worker.finish(LIMIT).unwrap();
    crate::run::set_agent(&kit.project, "");
    kit.submit(&once);
    let _worker = kit.worker("w2", &[], &[]);
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
}

#[test]
fn a_run_that_nobody_can_do_is_lost_with_its_reason_and_can_be_tried_again() {
    let kit = FleetKit::new();
    let url = kit.url();
    let who =
        [&WHO[..], &["--case", "1", "--runs", "1", "--retries", "0", "--deliveries", "2"]].concat();
    let output = kit.fleet(&[&["submit", &url][..], &who].concat());
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    crate::run::set_agent(&kit.project, BUSY);
    let worker = kit.worker("w1", &["--idle", "20s"], &[]);
    let output = kit.collect(&["--reconcile-every", "1s"]);
    assert_eq!(output.status.code(), Some(3), "{}", kit.project.shown(&output));
    assert!(stderr(&output).contains("of 2 runs have no result"), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("`skillgauge fleet submit` tries them"),
        "{}",
        stderr(&output)
    );
    drop(worker);
    crate::run::set_agent(&kit.project, "");
    let output = kit.fleet(&[&["submit", &url][..], &who].concat());
    assert!(stderr(&output).contains("2 runs to do"), "{}", stderr(&output));
    let _worker = kit.worker("w2", &[], &[]);
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
}

#[test]
fn a_worker_without_the_agent_leaves_its_plan_to_others_and_takes_no_job_of_it() {
    let kit = FleetKit::new();
    let url = kit.url();
    kit.submit(&["--case", "1", "--deliveries", "1"]);
    // A command line is looked for in the folder that the worker was started in.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command =
        kit.project.command(&["fleet", "worker", &url, "--name", "w1", "--grade-slots", "0"]);
    let without = Group::spawn(command.current_dir(elsewhere.path())).unwrap();
    let left = "are left to other workers";
    kit.until("the worker leaves the plan", || without.stderr().unwrap().contains(left));
    let _with = kit.worker("w2", &[], &[]);
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    assert_eq!(calls(&kit.project), 4, "nothing was lost or done twice");
    without.signal(Signal::TERM);
    let ended = without.finish(LIMIT).unwrap();
    assert_eq!((ended.ending, ended.status.code()), (Ending::Exited, Some(0)), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches(left).count(), 1, "said once: {}", ended.stderr);
    assert!(!ended.stderr.contains("given back"), "{}", ended.stderr);
}

#[test]
fn a_fleet_of_one_process_ends_when_its_agent_cannot_be_started() {
    let project = crate::run::greeter();
    let local = [&RUN[..], &["--fleet", "local"]].concat();
    crate::run::script(&project, "agent.sh", "#!/no/such/interpreter\n");
    let ended = Group::spawn(&mut project.command(&local)).unwrap().finish(LIMIT).unwrap();
    assert_eq!((ended.ending, ended.status.code()), (Ending::Exited, Some(3)), "{}", ended.stderr);
    assert!(ended.stderr.contains("of 24 runs have no result"), "{}", ended.stderr);
    fs_err::remove_file(project.path().join("agent.sh")).unwrap();
    let output = project.output(&local);
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
}

#[test]
fn two_workers_with_one_name_are_told() {
    let kit = FleetKit::new();
    let workers = [kit.worker("w1", &[], &[]), kit.worker("w1", &[], &[])];
    kit.until("one of them says so", || {
        let said = workers.iter().map(|worker| worker.stderr().unwrap()).collect::<String>();
        said.contains("another worker reports under the name w1; give each worker a --name")
    });
    let alone = kit.worker("w2", &["--idle", "12s"], &[]).finish(LIMIT).unwrap();
    assert!(!alone.stderr.contains("another worker"), "{}", alone.stderr);
}

#[test]
fn submit_refuses_what_it_cannot_keep_and_does_not_offer_it() {
    let kit = FleetKit::new();
    let url = kit.url();
    let help = kit.project.stdout(&["fleet", "submit", "--help"]);
    assert!(help.contains("--runs") && help.contains("--fleet-jobs"), "{help}");
    let refused: [&[&str]; 8] = [
        &["--max-calls", "3"],
        &["--max-cost", "1"],
        &["--jobs", "2"],
        &["--shard", "1/2"],
        &["--record", "tape"],
        &["--replay", "tape"],
        &["--fleet", "nats://127.0.0.1:1"],
        &["--format", "json"],
    ];
    for flags in refused {
        let output = kit.fleet(&[&["submit", &url], &WHO[..], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{}", kit.project.shown(&output));
        assert!(stderr(&output).contains(&format!("cannot keep {}", flags[0])), "{flags:?}");
        assert!(!help.contains(&format!("{} <", flags[0])), "{flags:?} is offered: {help}");
    }
    let output = kit.fleet(&[&["submit", &url], &WHO[..], &["--primary", "preference"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", kit.project.shown(&output));
    let said = stderr(&output);
    assert!(said.contains("`fleet submit` can't decide by preference"), "{said}");
    assert!(said.contains("`skillgauge run --fleet URL` waits for the runs"), "{said}");
    assert!(!kit.project.path().join("greeter-workspace").exists(), "nothing was begun");
    // What stands in the project's settings is nobody's fault, but somebody should know.
    kit.project.file("skillgauge.toml", "max-calls = 3\n");
    let output = kit.fleet(&[&["submit", &url], &WHO[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    assert!(stderr(&output).contains("the project's budget is not kept"), "{}", stderr(&output));
}

#[test]
fn a_finished_plan_stays_finished_and_a_second_submit_sends_nothing() {
    let kit = FleetKit::new();
    let small = ["--case", "1", "--runs", "1"];
    let plan = kit.submit(&small);
    let again = kit.fleet(&[&["submit", &kit.url()], &WHO[..], &small].concat());
    assert!(stderr(&again).contains("0 bundles sent"), "{}", stderr(&again));
    let _worker = kit.worker("w1", &[], &[]);
    assert_eq!(kit.collect(&[]).status.code(), Some(0));
    let cancelled = kit.fleet(&["cancel", &kit.url(), &plan]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", kit.project.shown(&cancelled));
    assert!(stderr(&cancelled).contains("is finished"), "{}", stderr(&cancelled));
    assert_eq!(kit.plan_status()["state"], "finished");
}

#[test]
fn collecting_without_the_iteration_says_where_it_is_and_what_submitting_again_costs() {
    let kit = FleetKit::new();
    let url = kit.url();
    let submit = ["submit", &url, "--workspace", "place", "--runs", "1"];
    let output = kit.fleet(&[&submit[..], &WHO[..]].concat());
    let said = format!("fleet collect {url} greeter --workspace place`");
    assert!(stderr(&output).contains(&said), "{}", stderr(&output));
    let elsewhere = kit.collect(&[]);
    assert_eq!(elsewhere.status.code(), Some(2));
    assert!(stderr(&elsewhere).contains("there is no iteration in"), "{}", stderr(&elsewhere));
    assert!(stderr(&elsewhere).contains("paid for again"), "{}", stderr(&elsewhere));
    let absent = kit.collect(&["--workspace", "place", "--iteration", "7"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(stderr(&absent).contains("there is no iteration-7 in"), "{}", stderr(&absent));
}

#[test]
fn status_shows_workers_plans_and_progress() {
    let kit = FleetKit::new();
    let plan = kit.submit(&["--case", "1", "--class", "special"]);
    let output = kit.fleet(&["status", &kit.url()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("no worker") && text.contains(&plan), "{text}");
    let row: Vec<&str> = text
        .lines()
        .find(|line| line.starts_with(&plan))
        .unwrap()
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    assert_eq!(row[3..], ["running", "0/4", "0", "4", "0", "0", "0", "0", "-", "-"], "{text}");
    let unknown = kit.fleet(&["status", &kit.url(), "--plan", "00000000000000000000"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", kit.project.shown(&unknown));
    assert!(stderr(&unknown).contains("the server knows no plan 0"), "{}", stderr(&unknown));
    let _other = kit.worker("w1", &["--class", "other"], &[]);
    let _right = kit.worker("w2", &["--class", "special", "--class", "other"], &[]);
    let output = kit.collect(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    kit.until("both workers reported", || kit.status()["workers"].as_array().unwrap().len() == 2);
    let status = kit.status();
    kit.until("the right one reported its work", || kit.status()["workers"][1]["done"] == 8);
    assert_eq!(status["workers"][0]["done"], 0, "{status:#}");
    assert_eq!(status["plans"][0]["graded"], 4, "{status:#}");
}

#[test]
fn the_viewer_shows_what_status_shows() {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::process::Stdio;

    let kit = FleetKit::new();
    let plan = kit.submit(&["--case", "1"]);
    let url = kit.url();
    let serve = ["serve", "greeter-workspace", "--no-open", "--port", "0", "--fleet", &url];
    let mut command = kit.project.command(&serve);
    let mut viewer = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(viewer.stderr.take().unwrap()).lines();
    let said = lines.next().unwrap().unwrap();
    let host = said.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let page = || {
        let mut stream = std::net::TcpStream::connect(&host).unwrap();
        let get = "GET /i/iteration-1/fleet HTTP/1.1";
        write!(stream, "{get}\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let first = page();
    assert!(first.contains(&plan) && first.contains("0 of 4"), "{first}");
    let _worker = kit.worker("w1", &[], &[]);
    kit.until("the page follows the plan", || page().contains("4 of 4"));
    viewer.kill().unwrap();
    viewer.wait().unwrap();
}

#[test]
fn a_server_that_cannot_be_used_is_said_with_what_to_do() {
    let project = crate::run::greeter();
    let bad = project.output(&["fleet", "init", "http://u:hunter22@host"]);
    let text = stderr(&bad);
    assert_eq!(bad.status.code(), Some(2));
    assert!(text.contains("http:// is not known") && !text.contains("hunter22"), "{text}");
    let kit = FleetKit::new();
    let (empty, forgetful) = (NatsServer::start().unwrap(), NatsServer::start_forgetful().unwrap());
    let hints = [(&empty, "skillgauge fleet init"), (&forgetful, "nats-server -js")];
    for (server, hint) in hints {
        let url = server.url();
        let on_fleet = [&RUN[..], &["--fleet", &url]].concat();
        let submit = [&["fleet", "submit", &url], &WHO[..]].concat();
        for args in [&on_fleet[..], &submit, &["fleet", "status", &url]] {
            let output = kit.project.output(args);
            assert_eq!(output.status.code(), Some(2), "{}", kit.project.shown(&output));
            assert!(stderr(&output).contains(hint), "{}", stderr(&output));
        }
    }
    assert!(!kit.project.path().join("greeter-workspace").exists(), "nothing was begun");
    let url = forgetful.url();
    assert_eq!(kit.fleet(&["worker", &url]).status.code(), Some(2));
    assert_eq!(
        kit.fleet(&["worker", &url, "--slots", "0", "--grade-slots", "0"]).status.code(),
        Some(2)
    );
    let waiting = kit.project.output(&["fleet", "worker", &empty.url(), "--idle", "2s"]);
    assert_eq!(waiting.status.code(), Some(0), "{}", kit.project.shown(&waiting));
    assert_eq!(stderr(&waiting).matches("the server has no KV_SG_PLAN; ").count(), 1);
    // A login in the address is in no file of the workspace.
    let url = kit.url().replace("nats://", "nats://u:hunter22@");
    let output = kit.fleet(&[&["submit", &url], &WHO[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", kit.project.shown(&output));
    assert!(!stderr(&output).contains("hunter22"), "{}", stderr(&output));
    let lock = kit.project.read("greeter-workspace/.lock");
    assert!(!String::from_utf8_lossy(&lock).contains("hunter22"));
}
