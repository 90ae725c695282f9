//! A fleet whose machines are not alike: a worker without the judge, and a collector that did not submit.

use skillgauge_testkit::process::{Ending, Group, Signal};

use crate::command::Project;
use crate::fleet_kit::{FleetKit, LIMIT, WHO};
use crate::run::{ITERATION, RUN, calls, json, numbers, stderr};

/// With one delivery, a worker that took the job and gave it back would have used it up.
#[test]
fn a_worker_without_the_judge_leaves_gradings_to_others_and_whoever_collects_hears_why_nothing_moves()
 {
    let kit = FleetKit::new();
    let url = kit.url();
    let plan = kit.submit(&["--case", "1", "--deliveries", "1"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command =
        kit.project.command(&["fleet", "worker", &url, "--name", "w1", "--slots", "0"]);
    let without = Group::spawn(command.current_dir(elsewhere.path())).unwrap();
    let left = format!("gradings of plan {plan} are left to other workers: ");
    kit.until("the worker leaves the gradings", || without.stderr().unwrap().contains(&left));
    let collecting = Group::spawn(&mut kit.project.command(&["fleet", "collect", &url, "greeter"]));
    let collecting = collecting.unwrap();
    let told = |what: &str| collecting.stderr().unwrap().contains(what);
    kit.until("it is said that nobody runs", || {
        told("no worker is there for the runs of this plan")
    });
    let _runs = kit.worker("w2", &["--grade-slots", "0"], &[]);
    kit.until("it is said why nobody grades", || {
        told("no worker can do the gradings of this plan; it waits for one (w1: the model `command:./judge.sh`")
    });
    let status = kit.fleet(&["status", &url]);
    assert!(String::from_utf8_lossy(&status.stdout).contains(&format!("w1: {left}")));
    let _with = kit.worker("w3", &[], &[]);
    let ended = collecting.finish(LIMIT).unwrap();
    assert_eq!((ended.ending, ended.status.code()), (Ending::Exited, Some(0)), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("no worker can do the gradings").count(),
        1,
        "{}",
        ended.stderr
    );
    without.signal(Signal::TERM);
    let ended = without.finish(LIMIT).unwrap();
    assert_eq!(ended.stderr.matches(&left).count(), 1, "said once: {}", ended.stderr);
    assert!(!ended.stderr.contains("not graded"), "it took no job: {}", ended.stderr);
}

#[test]
fn a_plan_is_collected_on_a_machine_that_did_not_submit_it() {
    let kit = FleetKit::new();
    let url = kit.url();
    let plan = kit.submit(&[]);
    let elsewhere = Project::new();
    let collect = |more: &[&str]| {
        elsewhere
            .output(&[&["fleet", "collect", &url, "greeter", "--workspace", "here"], more].concat())
    };
    let unknown = collect(&["--plan", "00000000000000000000"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", elsewhere.shown(&unknown));
    assert!(stderr(&unknown).contains("the server knows no plan 0"), "{}", stderr(&unknown));
    let none = collect(&[]);
    assert_eq!(none.status.code(), Some(2), "{}", elsewhere.shown(&none));
    assert!(
        stderr(&none).contains("give --plan ID to make its iteration here"),
        "{}",
        stderr(&none)
    );
    assert!(!elsewhere.path().join("here").exists(), "nothing was written");
    elsewhere.good_skill("other");
    let wrong = ["fleet", "collect", &url, "other", "--plan", &plan];
    let wrong = elsewhere.output(&wrong);
    assert_eq!(wrong.status.code(), Some(2), "{}", elsewhere.shown(&wrong));
    assert!(stderr(&wrong).contains("measures greeter, and this is other"), "{}", stderr(&wrong));
    assert!(!elsewhere.path().join("other-workspace").exists(), "nothing was written");
    let _worker = kit.worker("w1", &["--slots", "2"], &[]);
    let output = collect(&["--plan", &plan]);
    assert_eq!(output.status.code(), Some(0), "{}", elsewhere.shown(&output));
    assert_eq!(calls(&kit.project), 24);
    // Again, and where it was submitted: everything is there, and nothing is run twice.
    let again = collect(&["--plan", &plan]);
    assert_eq!(again.status.code(), Some(0), "{}", elsewhere.shown(&again));
    assert!(!elsewhere.path().join("here/iteration-2").exists(), "the same iteration");
    let home = kit.collect(&[]);
    assert_eq!(home.status.code(), Some(0), "{}", kit.project.shown(&home));
    assert_eq!(calls(&kit.project), 24);
    let benchmark = numbers(&kit.project, &format!("{ITERATION}/benchmark.json"));
    assert_eq!(numbers(&elsewhere, "here/iteration-1/benchmark.json"), benchmark);
    for file in ["suite.json", "eval-1/eval_metadata.json"] {
        let (one, other) = (format!("{ITERATION}/{file}"), format!("here/iteration-1/{file}"));
        assert_eq!(json(&kit.project, &one), json(&elsewhere, &other), "{file}");
    }
}

#[test]
fn a_plan_with_runs_that_only_its_submitter_has_is_not_collected_elsewhere() {
    let kit = FleetKit::new();
    let url = kit.url();
    let first = kit.project.output(&[&RUN[..], &["--case", "1", "--runs", "1"]].concat());
    assert_eq!(first.status.code(), Some(0), "{}", kit.project.shown(&first));
    let small = ["--case", "1", "--runs", "1", "--baseline-from", "1"];
    let plan = kit.submit(&small);
    let elsewhere = Project::new();
    let args = ["fleet", "collect", &url, "greeter", "--workspace", "here", "--plan", &plan];
    let output = elsewhere.output(&args);
    assert_eq!(output.status.code(), Some(2), "{}", elsewhere.shown(&output));
    let said = stderr(&output);
    assert!(said.contains("was submitted from has 1 of its results"), "{said}");
    assert!(said.contains("collect there"), "{said}");
    let again = kit.fleet(&[&["submit", &url], &WHO[..], &small].concat());
    assert_eq!(again.status.code(), Some(0), "{}", kit.project.shown(&again));
    let _worker = kit.worker("w1", &[], &[]);
    let home = kit.collect(&["--plan", &plan]);
    assert_eq!(home.status.code(), Some(0), "{}", kit.project.shown(&home));
    assert_eq!(calls(&kit.project), 3, "the baseline is not run again");
}
