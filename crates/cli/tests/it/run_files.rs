//! What a run and its grading leave in their files beside the verdicts.

use serde_json::{Value, json};

use crate::command::Project;
use crate::run::{ITERATION, calls, greeter, json as read, run, set_agent, stderr};

fn write(project: &Project, path: &str, value: &Value) {
    project.file(path, format!("{value:#}\n"));
}

#[test]
fn grading_leaves_its_times_beside_those_of_the_agent() {
    let project = greeter();
    run(&project, &["--runs", "1", "--case", "1"]);
    let folder = format!("{ITERATION}/eval-1/with_skill/run-1");
    let (timing_file, grading_file) =
        (format!("{folder}/timing.json"), format!("{folder}/grading.json"));
    let timing = read(&project, &timing_file);
    let text = |timing: &Value, key: &str| timing[key].as_str().unwrap().to_owned();
    assert!(text(&timing, "grader_start") >= text(&timing, "executor_end"), "{timing:#}");
    assert!(text(&timing, "grader_end") >= text(&timing, "grader_start"), "{timing:#}");
    assert!(timing["grader_duration_seconds"].as_f64().unwrap() >= 0.0, "{timing:#}");
    let record = read(&project, &format!("{folder}/run.json"));
    assert_eq!(
        timing["total_duration_seconds"], record["seconds"],
        "the judge's time is not the skill's"
    );
    let grading = read(&project, &grading_file);
    for key in ["grader_start", "grader_end", "grader_duration_seconds"] {
        assert_eq!(grading["timing"][key], timing[key], "{key}");
    }
    let again = ["grade", &folder, "--force", "--judge", "command:./judge.sh"];
    assert_eq!(project.exit_code(&again), Some(0));
    let later = read(&project, &timing_file);
    assert!(text(&later, "grader_start") >= text(&timing, "grader_end"), "{later:#}");
    for key in ["total_tokens", "executor_start", "executor_end", "executor_duration_seconds"] {
        assert_eq!(later[key], timing[key], "{key}");
    }
}

#[test]
fn an_input_that_the_agent_deletes_is_outside_of_the_scope() {
    let project = greeter();
    project.file("greeter/evals/files/keep.txt", "keep me\n");
    let suite = |allow: &[&str]| {
        json!({"skill_name": "greeter", "evals": [{
            "id": 1, "prompt": "Greet", "files": ["evals/files/keep.txt"],
            "structural_expectations": [
                {"id": "S1", "type": "diff_scope", "description": "only the greeting", "allow": allow, "critical": true},
            ],
        }]})
    };
    set_agent(&project, "rm keep.txt");
    for (iteration, allow, passed) in [(1, &["greeting.txt"][..], false), (2, &["*.txt"], true)] {
        write(&project, "greeter/evals/evals.json", &suite(allow));
        run(&project, &["--runs", "1", "--baseline", "none"]);
        let folder = format!("greeter-workspace/iteration-{iteration}/eval-1/with_skill/run-1");
        let check = &read(&project, &format!("{folder}/structural.json"))["expectations"][0];
        assert_eq!(check["passed"], passed, "{check:#}");
        if !passed {
            assert_eq!(
                check["evidence"],
                "Made, changed or deleted without being allowed: keep.txt (deleted)"
            );
        }
    }
}

/// Here and through a fleet, whose archives carry no links.
#[test]
fn checks_know_of_files_that_were_not_kept_and_of_links() {
    let project = greeter();
    project.file("greeter/evals/files/keep.txt", "keep me\n");
    let checks = [
        json!({"type": "file_absent", "pattern": "big.log"}),
        json!({"type": "file_not_contains", "pattern": "*.log", "match": "x"}),
        json!({"type": "file_contains", "pattern": "inner.txt", "match": "keep me"}),
        json!({"type": "file_exists", "pattern": "elsewhere.txt"}),
    ];
    let numbered = checks.iter().enumerate().map(|(number, check)| {
        let mut check = check.clone();
        check["id"] = format!("S{number}").into();
        check["description"] = "d".into();
        check
    });
    let suite = json!({"skill_name": "greeter", "evals": [{
        "id": 1, "prompt": "Greet", "files": ["evals/files/keep.txt"],
        "structural_expectations": numbered.collect::<Vec<_>>(),
    }]});
    write(&project, "greeter/evals/evals.json", &suite);
    set_agent(
        &project,
        "truncate -s 33M big.log; ln -s keep.txt inner.txt; ln -s /etc/passwd elsewhere.txt",
    );
    for (iteration, fleet) in [(1, &[][..]), (2, &["--fleet", "local"])] {
        run(&project, &[&["--runs", "1", "--baseline", "none", "--fresh"], fleet].concat());
        let folder = format!("greeter-workspace/iteration-{iteration}/eval-1/with_skill/run-1");
        let structural = read(&project, &format!("{folder}/structural.json"));
        let found: Vec<_> = structural["expectations"].as_array().unwrap().iter().collect();
        let verdicts: Vec<_> = found.iter().map(|check| &check["passed"]).collect();
        assert_eq!(verdicts, [false, false, true, false], "{structural:#}");
        let evidence = |number: usize| found[number]["evidence"].as_str().unwrap();
        assert_eq!(evidence(0), "Found: big.log (too large to be kept)");
        assert!(evidence(1).starts_with("Not decided: "), "{}", evidence(1));
        assert!(evidence(3).contains("is a link that leads out of outputs/"), "{}", evidence(3));
        assert!(!project.path().join(&folder).join("outputs/elsewhere.txt").exists());
    }
}

#[test]
fn an_iteration_that_was_killed_before_it_began_takes_no_number() {
    let project = greeter();
    project.file("greeter-workspace/.draft-iteration/suite.json", "{");
    run(&project, &["--runs", "1", "--case", "1", "--baseline", "none"]);
    assert!(project.path().join(ITERATION).join("iteration.json").is_file());
    assert!(!project.path().join("greeter-workspace/.draft-iteration").exists());
}

/// With a number, and without one: then it is the version before the one that the skill is.
#[test]
fn an_old_version_is_the_baseline_that_was_named() {
    let project = greeter();
    for text in ["one", "two"] {
        project.output(&["snapshot", "greeter", "-m", text]);
        let skill = String::from_utf8(project.read("greeter/SKILL.md")).unwrap();
        project.file("greeter/SKILL.md", format!("{skill}\nStep {text}.\n"));
    }
    project.output(&["snapshot", "greeter", "-m", "three"]);
    for (named, version) in [("old=0", 0), ("old", 1)] {
        let output = run(&project, &["--runs", "1", "--case", "1", "--fresh", "--baseline", named]);
        assert_ne!(output.status.code(), Some(2), "{}", project.shown(&output));
        let iteration = format!("greeter-workspace/iteration-{}", version + 1);
        let record = read(&project, &format!("{iteration}/iteration.json"));
        assert_eq!(record["baseline"]["version"], version, "{record:#}");
        assert!(
            project.path().join(format!("{iteration}/eval-1/old_skill/run-1/run.json")).exists()
        );
    }
    let refused = run(&project, &["--baseline", "old=9"]);
    assert_eq!(refused.status.code(), Some(2), "{}", project.shown(&refused));
}

/// A time limit is part of the task: the run is a result, and it fails.
#[test]
fn a_run_that_takes_too_long_is_stopped_and_counts() {
    let project = greeter();
    set_agent(&project, "sleep 60");
    let more = ["--timeout", "1s", "--runs", "1", "--case", "1", "--baseline", "none"];
    let output = run(&project, &more);
    assert_ne!(output.status.code(), Some(2), "{}", project.shown(&output));
    let record = read(&project, "greeter-workspace/iteration-1/eval-1/with_skill/run-1/run.json");
    assert_eq!(record["outcome"], "timed_out", "{record:#}");
}

/// Root may write anywhere, so the folder is mounted read-only.
#[test]
fn a_workspace_that_cannot_be_written_is_said_before_anything_is_run() {
    let project = greeter();
    let program = env!("CARGO_BIN_EXE_skillgauge");
    let args =
        "run greeter --agent command:./agent.sh --judge command:./judge.sh --workspace disk/w";
    let script =
        format!("mkdir disk && mount -t tmpfs -o ro tmpfs disk || exit 99; {program} {args}");
    let mut unshare = std::process::Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", &script]).current_dir(project.path());
    let Ok(output) = unshare.output() else {
        eprintln!("SKIPPED a_workspace_that_cannot_be_written: unshare cannot be started");
        return;
    };
    if output.status.code() == Some(99) || stderr(&output).contains("unshare") {
        eprintln!("SKIPPED a_workspace_that_cannot_be_written: nobody may mount here");
        return;
    }
    assert_eq!(output.status.code(), Some(2), "{}", project.shown(&output));
    assert!(stderr(&output).contains("ead-only file system"), "{}", stderr(&output));
    assert_eq!(calls(&project), 0);
}
