//! Whole runs of a suite through the binary, with agents and judges that are shell scripts.

use std::process::Output;
use std::time::Duration;

use serde_json::Value;
use skillgauge_format::Kind;

use crate::command::Project;

/// Writes a good result with the skill and a bad one without, and logs each call outside of its work folder.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
echo call >> "LOG"
DELAY
echo '{"type":"start","model":"scripted"}'
if [ -e "$SKILLGAUGE_SKILLS/greeter/SKILL.md" ]; then
  echo '{"type":"skill","name":"greeter","state":"loaded"}'
  printf 'Hello, reader\n' > greeting.txt
else
  printf 'whatever\n' > greeting.txt
fi
echo '{"type":"usage","input_tokens":100,"output_tokens":20,"cost_usd":0.01}'
echo '{"type":"result","text":"done"}'
"#;

/// Passes whatever shows a greeting.
pub(crate) const JUDGE: &str = r#"#!/bin/sh
if grep -q "Hello, reader"; then
  echo '{"expectations":{"E1":{"reasoning":"greets","quotes":["Hello, reader"],"verdict":"pass"}},"claims":[],"user_notes":{"uncertainties":[],"needs_review":[],"workarounds":[]},"eval_feedback":{"suggestions":[],"overall":""}}'
else
  echo '{"expectations":{"E1":{"reasoning":"does not greet","quotes":[],"verdict":"fail"}},"claims":[],"user_notes":{"uncertainties":[],"needs_review":[],"workarounds":[]},"eval_feedback":{"suggestions":[],"overall":""}}'
fi
"#;

/// A skill with a suite of six cases.
pub(crate) fn greeter() -> Project {
    let project = Project::new();
    project.good_skill("greeter");
    project.file("greeter/evals/evals.json", suite(6));
    script(&project, "judge.sh", JUDGE);
    set_agent(&project, "");
    project
}

fn suite(cases: usize) -> String {
    let evals: Vec<Value> = (1..=cases)
        .map(|id| {
            serde_json::json!({
                "id": id,
                "prompt": format!("Greet reader number {id}"),
                "structural_expectations": [
                    {"id": "S1", "type": "file_exists", "description": "there is a greeting", "pattern": "greeting.txt", "critical": true},
                    {"id": "S2", "type": "file_contains", "description": "it says hello", "pattern": "greeting.txt", "match_regex": "(?i)^hello\\b", "critical": false},
                ],
                "expectations": ["The reader is greeted"],
            })
        })
        .collect();
    let config = serde_json::json!({"runs_per_eval": 2, "baseline_comparison": true});
    serde_json::json!({"skill_name": "greeter", "eval_config": config, "evals": evals}).to_string()
}

pub(crate) fn script(project: &Project, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    project.file(name, text);
    let path = project.path().join(name);
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The agent, with something to do before it answers.
pub(crate) fn set_agent(project: &Project, before: &str) {
    let log = project.path().join("calls.log").display().to_string();
    script(project, "agent.sh", &AGENT.replace("LOG", &log).replace("DELAY", before));
}

pub(crate) fn calls(project: &Project) -> usize {
    fs_err::read_to_string(project.path().join("calls.log")).unwrap_or_default().lines().count()
}

pub(crate) const RUN: [&str; 6] =
    ["run", "greeter", "--agent", "command:./agent.sh", "--judge", "command:./judge.sh"];

pub(crate) fn run(project: &Project, more: &[&str]) -> Output {
    project.output(&[&RUN, more].concat())
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn json(project: &Project, path: &str) -> Value {
    serde_json::from_slice(&project.read(path)).unwrap()
}

pub(crate) const ITERATION: &str = "greeter-workspace/iteration-1";

/// What a benchmark says, without times.
pub(crate) fn numbers(project: &Project, path: &str) -> Value {
    let mut benchmark = json(project, path);
    benchmark["metadata"]["timestamp"] = Value::Null;
    benchmark["notes"] = Value::Null;
    for run in benchmark["runs"].as_array_mut().unwrap() {
        run["result"]["time_seconds"] = Value::Null;
    }
    let summary = benchmark["run_summary"].as_object_mut().unwrap();
    for (_, part) in summary.iter_mut() {
        part["time_seconds"] = Value::Null;
    }
    let statistics = &mut benchmark["statistics"];
    for (_, part) in statistics["configurations"].as_object_mut().unwrap() {
        part["time_seconds"] = Value::Null;
    }
    for difference in statistics["differences"].as_array_mut().unwrap() {
        difference["secondary"]["time_seconds"] = Value::Null;
    }
    if let Some(judge) = statistics.get_mut("judge") {
        judge["seconds_per_verdict"] = Value::Null;
    }
    benchmark
}

#[test]
fn a_skill_that_helps_is_better_and_every_file_fits_its_schema() {
    let project = greeter();
    let output = run(&project, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("Better on these 6 cases: pass rate +67 points"), "{text}");
    assert_eq!(calls(&project), 24);
    let run = format!("{ITERATION}/eval-3/with_skill/run-2");
    let files = [
        (format!("{ITERATION}/iteration.json"), Kind::Iteration),
        (format!("{ITERATION}/suite.json"), Kind::EvalsSuite),
        (format!("{ITERATION}/benchmark.json"), Kind::Benchmark),
        (format!("{ITERATION}/eval_feedback_aggregate.json"), Kind::EvalFeedbackAggregate),
        (format!("{ITERATION}/eval-3/eval_metadata.json"), Kind::EvalMetadata),
        (format!("{run}/run.json"), Kind::Run),
        (format!("{run}/timing.json"), Kind::Timing),
        (format!("{run}/metrics.json"), Kind::Metrics),
        (format!("{run}/structural.json"), Kind::Structural),
        (format!("{run}/grading.json"), Kind::EvalsGrading),
    ];
    for (path, kind) in files {
        let problems = kind.check(&project.read(&path));
        assert!(problems.iter().next().is_none(), "{path}: {problems:?}");
    }
    let grading = json(&project, &format!("{run}/grading.json"));
    assert_eq!(grading["summary"]["pass_rate"], 1.0, "{grading:#}");
    let baseline = json(&project, &format!("{ITERATION}/eval-3/without_skill/run-2/grading.json"));
    assert_eq!(baseline["summary"]["passed"], 1, "{baseline:#}");
    assert_eq!(json(&project, &format!("{run}/run.json"))["skill_loaded"], true);
}

#[test]
fn the_plan_is_shown_and_a_dry_run_leaves_nothing() {
    let project = greeter();
    let output = run(&project, &["--dry-run", "--runs", "5", "--case", "[12]"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert!(text.contains("2 cases x with_skill and without_skill x 5 runs = 20 runs"), "{text}");
    assert!(text.contains("40 calls: 20 of the agent, 20 of the judge"), "{text}");
    assert!(!project.path().join("greeter-workspace").exists());
    assert_eq!(calls(&project), 0);
}

#[test]
fn a_budget_stops_it_and_the_same_command_goes_on() {
    let project = greeter();
    let output = run(&project, &["--max-calls", "7", "--jobs", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    assert!(stderr(&output).contains("--max-calls 7 is used up"), "{}", stderr(&output));
    let before = calls(&project);
    assert!((3..=7).contains(&before), "{before}");
    assert!(json(&project, &format!("{ITERATION}/iteration.json"))["partial"].is_string());
    let output = run(&project, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert!(stderr(&output).contains("going on with"), "{}", stderr(&output));
    assert_eq!(calls(&project), 24, "no run is paid for twice");
    assert!(json(&project, &format!("{ITERATION}/iteration.json"))["finished"].is_string());
    let output = run(&project, &["--case", "1"]);
    assert!(stderr(&output).contains("iteration-2"), "a finished one is not gone on with");
}

#[test]
fn resume_is_refused_with_what_is_different() {
    let project = greeter();
    let none = run(&project, &["--resume"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("there is no unfinished iteration"), "{}", stderr(&none));
    run(&project, &["--max-calls", "3"]);
    let other = run(&project, &["--resume", "--runs", "4"]);
    assert_eq!(other.status.code(), Some(2));
    let text = stderr(&other);
    assert!(text.contains("the number of runs was 2 and is 4 now"), "{text}");
    project.good_skill("greeter").file("greeter/more.md", "changed");
    let changed = run(&project, &["--case", "1"]);
    let text = stderr(&changed);
    assert!(
        text.contains("iteration-1 stays unfinished") && text.contains("other files"),
        "{text}"
    );
}

#[test]
fn a_second_process_is_told_who_holds_the_workspace() {
    let project = greeter();
    set_agent(&project, "sleep 5");
    let mut first = project.command(&RUN);
    first.stderr(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    let mut first = first.spawn().unwrap();
    while calls(&project) == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = run(&project, &[]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("is in use by `") && text.contains("run greeter"), "{text}");
    assert!(text.contains(&format!("process {}", first.id())), "{text}");
}

#[test]
fn a_recording_is_replayed_without_agent_and_judge() {
    let project = greeter();
    let recorded = run(&project, &["--record", "tape", "--seed", "7"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", project.shown(&recorded));
    let before = numbers(&project, &format!("{ITERATION}/benchmark.json"));
    fs_err::remove_file(project.path().join("agent.sh")).unwrap();
    fs_err::remove_file(project.path().join("judge.sh")).unwrap();
    fs_err::remove_dir_all(project.path().join("greeter-workspace")).unwrap();
    let replayed = run(&project, &["--replay", "tape", "--seed", "7"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", project.shown(&replayed));
    assert_eq!(numbers(&project, &format!("{ITERATION}/benchmark.json")), before);
    let missing = project.output(
        &[&RUN[..4], &["--judge", "none", "--replay", "tape", "--model", "other"]].concat(),
    );
    assert_eq!(missing.status.code(), Some(3), "{}", project.shown(&missing));
    assert!(stderr(&missing).contains("Greet reader number 1"), "{}", stderr(&missing));
}

/// Passes and fails by the number of the call, so that the runs of a case are not alike.
fn set_uneven_agent(project: &Project) {
    let log = project.path().join("calls.log").display().to_string();
    let agent = "#!/bin/sh\ncat > /dev/null\necho call >> LOG\nn=$(wc -l < LOG)\n\
                 if [ $((n * n % 7 % 2)) = 1 ]; then echo 'Hello, reader' > greeting.txt; else echo no > greeting.txt; fi\n\
                 echo '{\"type\":\"result\",\"text\":\"done\"}'\n";
    script(project, "agent.sh", &agent.replace("LOG", &log));
}

/// What each run came to.
fn standings(project: &Project, iteration: &str) -> Vec<(String, Value)> {
    let benchmark = json(project, &format!("{iteration}/benchmark.json"));
    let key =
        |run: &Value| format!("{} {} {}", run["eval_id"], run["configuration"], run["run_number"]);
    let runs = benchmark["runs"].as_array().unwrap().iter();
    let mut found: Vec<_> =
        runs.map(|run| (key(run), run["result"]["pass_rate"].clone())).collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Recorded in three goes, replayed in parts, and asked for more runs than there are: each run is its own and none is two.
#[test]
fn a_recording_keeps_every_run_apart() {
    let project = greeter();
    set_uneven_agent(&project);
    let args = [&RUN[..4], &["--judge", "none", "-j", "1"]].concat();
    let with = |more: &[&str]| project.output(&[&args[..], more].concat());
    for _ in 0..3 {
        with(&["--record", "tape", "--max-calls", "8"]);
    }
    assert_eq!(calls(&project), 24);
    let tapes = fs_err::read_dir(project.path().join("tape")).unwrap().count();
    assert_eq!(tapes, 24, "one recording for each run, whatever was interrupted");
    let measured = standings(&project, ITERATION);
    fs_err::remove_file(project.path().join("agent.sh")).unwrap();
    for (part, place) in [("1/2", "one"), ("2/2", "two")] {
        with(&["--replay", "tape", "--shard", part, "--workspace", place]);
    }
    project.output(&["merge", "one/iteration-1", "two/iteration-1", "-o", "all/iteration-1"]);
    assert_eq!(standings(&project, "all/iteration-1"), measured);
    // Runs that were not recorded are missing, not copies.
    let more = with(&["--replay", "tape", "--runs", "4", "--workspace", "more"]);
    assert_eq!(more.status.code(), Some(3), "{}", project.shown(&more));
    assert_eq!(standings(&project, "more/iteration-1"), measured);
}

#[test]
fn a_baseline_is_taken_over_unless_something_differs() {
    let project = greeter();
    run(&project, &[]);
    project.file("greeter/more.md", "the skill has changed");
    let before = calls(&project);
    let output = run(&project, &["--baseline-from", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert_eq!(calls(&project) - before, 12, "only the runs with the skill are paid for");
    let refused = run(&project, &["--baseline-from", "1", "--timeout", "9m", "--runs", "1"]);
    assert_eq!(refused.status.code(), Some(2));
    let text = stderr(&refused);
    assert!(text.contains("the number of runs was 2 and is 1 now"), "{text}");
    assert!(text.contains("the timeout was 600.0 and is 540.0 now"), "{text}");
}

#[test]
fn shards_together_are_the_same_as_one_run() {
    let project = greeter();
    run(&project, &["--workspace", "whole"]);
    for part in ["1/3", "2/3", "3/3"] {
        let workspace = format!("part-{}", &part[..1]);
        let output = run(&project, &["--shard", part, "--workspace", &workspace]);
        assert!(output.status.code().is_some_and(|code| code != 2), "{}", project.shown(&output));
    }
    let some = project.output(&["merge", "part-1", "part-3", "--out", "all"]);
    assert_eq!(some.status.code(), Some(3));
    assert!(stderr(&some).contains("runs are missing:\n  eval-"), "{}", stderr(&some));
    let all = project.output(&["merge", "part-1", "part-2", "part-3", "--out", "all"]);
    assert_eq!(all.status.code(), Some(0), "{}", project.shown(&all));
    assert_eq!(
        numbers(&project, "all/benchmark.json")["run_summary"],
        numbers(&project, "whole/iteration-1/benchmark.json")["run_summary"]
    );
    run(&project, &["--workspace", "other", "--runs", "1", "--case", "1"]);
    let refused = project.output(&["merge", "part-1", "other", "--out", "mixed"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("do not belong together"), "{}", stderr(&refused));
}

#[test]
fn an_agent_that_may_not_work_stops_everything_at_once() {
    let project = greeter();
    set_agent(
        &project,
        "echo '{\"type\":\"error\",\"status\":401,\"message\":\"bad key\",\"reason\":\"authentication\"}'; exit 1",
    );
    let output = run(&project, &["--jobs", "2"]);
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    let text = stderr(&output);
    assert!(text.contains("nothing more is started: authentication: bad key"), "{text}");
    assert!(text.contains("no run has a result"), "{text}");
    assert!(calls(&project) <= 3, "{}", calls(&project));
    set_agent(&project, "");
    let output = run(&project, &[]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "the same command tries them again: {}",
        project.shown(&output)
    );
}

#[test]
fn without_a_judge_nothing_is_run_unless_nobody_is_wanted() {
    let project = greeter();
    let output = project.output(&RUN[..4]);
    assert_eq!(output.status.code(), Some(3), "{}", project.shown(&output));
    assert!(stderr(&output).contains("--judge none runs only the structural checks"));
    assert_eq!(calls(&project), 0);
    let output = project.output(&[&RUN[..4], &["--judge", "none", "--runs", "1"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
}

#[test]
fn bad_input_is_refused_before_anything_is_run() {
    let project = greeter();
    let refused = |args: &[&str], what: &str| {
        let output = project.output(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", project.shown(&output));
        assert!(stderr(&output).contains(what), "{args:?}: {}", stderr(&output));
        assert_eq!(calls(&project), 0);
    };
    refused(&["run", "nowhere"], "SKILL_DIR_MISSING");
    refused(&[&RUN[..], &["--evals", "none.json"]].concat(), "the suite cannot be read");
    refused(&[&RUN[..], &["--case", "nothing-*"]].concat(), "matches no case; there are 1, 2");
    refused(&[&RUN[..], &["--baseline", "old"]].concat(), "no earlier version");
    refused(&[&RUN[..2], &["--agent", "cloude"]].concat(), "did you mean `claude`?");
    let eval = |field: &str| {
        format!(r#"{{"skill_name": "greeter", "evals": [{{"id": 1, "prompt": "x", {field}}}]}}"#)
    };
    let evals = [&RUN[..], &["--evals", "bad.json"]].concat();
    project.file("bad.json", eval(r#""files": ["../../etc/passwd"], "expectations": ["x"]"#));
    refused(&evals, "leads out of the folder");
    project.file("bad.json", eval(r#""files": ["gone.txt"], "expectations": ["x"]"#));
    refused(&evals, "gone.txt");
    project.file(
        "bad.json",
        eval(
            r#""structural_expectations": [{"id": "S1", "type": "file_contains", "description": "d", "pattern": "a",
            "match_regex": "(", "critical": true}]"#,
        ),
    );
    refused(&evals, "S1");
    project.file("bad.json", "{\"evals\": [");
    refused(&evals, "bad.json:1:12");
}

#[test]
fn everything_that_is_wrong_with_a_suite_is_said_at_once_with_its_place() {
    let project = greeter();
    let suite = r#"{
  "skill_name": "another",
  "evals": [
    {"id": 1, "prompt": "x", "files": ["../out.txt", "gone.txt"], "structural_expectations": [
      {"id": "S1", "type": "file_contains", "description": "d", "pattern": "[", "match_regex": "("},
      {"id": "S2", "type": "file_count", "description": "d", "pattern": "a", "count": -1}
    ]},
    {"id": 1, "prompt": "y", "expectations": ["z"]},
    {"id": 3, "prompt": "y", "should_trigger": true}
  ]
}
"#;
    project.file("bad.json", suite);
    let output = run(&project, &["--evals", "bad.json"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    for expected in [
        "warning: bad.json:2:17: $.skill_name: the suite is for \"another\", the skill is \"greeter\"",
        "bad.json:4:40: $.evals[0].files[0]: \"../out.txt\" leads out of the folder",
        "bad.json:4:54: $.evals[0].files[1]: the input file \"gone.txt\" does not exist (looked in ",
        "bad.json:5:76: $.evals[0].structural_expectations[0].pattern: eval 1, check S1: `pattern`: ",
        "bad.json:5:96: $.evals[0].structural_expectations[0].match_regex: eval 1, check S1: ",
        "bad.json:6:87: $.evals[0].structural_expectations[1].count: expected a non-negative integer",
        "bad.json:8:12: $.evals[1].id: the eval id \"1\" is already taken",
        "bad.json:9:5: $.evals[2]: this item has `should_trigger`",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    let one = suite.replace("\"id\": 1, \"prompt\": \"y\"", "\"id\": 2, \"prompt\": \"y\"");
    let one =
        one.replace("\"../out.txt\", ", "").replace("\"[\"", "\"a\"").replace("\"(\"", "\"a\"");
    let one = one.replace("-1}", "1}").replace(", \"should_trigger\": true", "");
    project.file("one.json", one);
    let output = run(&project, &["--evals", "one.json", "--case", "2", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "inputs of other cases: {}", stderr(&output));
}

#[test]
fn results_for_ci_systems_name_what_failed() {
    let project = greeter();
    set_agent(&project, "SKILLGAUGE_SKILLS=/nowhere");
    let junit = run(&project, &["--out-format", "junit", "--runs", "1", "--baseline", "none"]);
    assert_eq!(junit.status.code(), Some(1), "{}", project.shown(&junit));
    let text = String::from_utf8(junit.stdout).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("6"), Some("6")));
    assert!(text.contains("it says hello"), "{text}");
    let github = run(&project, &["--out-format", "github", "--runs", "1", "--baseline", "none"]);
    let text = String::from_utf8(github.stdout).unwrap();
    assert!(text.starts_with("::error title=1::0 of 1 runs with the skill passed%0A"), "{text}");
    let markdown =
        run(&project, &["--out-format", "markdown", "--runs", "1", "--baseline", "none"]);
    assert!(String::from_utf8(markdown.stdout).unwrap().starts_with("# "));
}

#[test]
fn a_suite_of_cases_is_graded_in_its_own_shape() {
    let project = greeter();
    project.file("cases.json", r#"{"version": "1.0", "skill": "greeter", "cases": [{"id": "hello", "prompt": "Greet",
        "files": [], "expectations": [{"criterion": "greets", "description": "The file greeting.txt begins with Hello", "required": true}]}]}"#);
    script(
        &project,
        "judge.sh",
        r#"#!/bin/sh
cat > /dev/null
echo '{"criteria":{"C1":{"reasoning":"greets","quotes":["Hello, reader"],"score":4}},"conventions":{"description_field":{"details":"d","passed":true},"progressive_disclosure":{"details":"d","passed":true},"type_alignment":{"details":"d","passed":true}},"claims":[],"user_notes_summary":"","eval_feedback":""}'
"#,
    );
    let output = run(&project, &["--evals", "cases.json", "--runs", "1", "--baseline", "none"]);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    for (path, kind) in [
        (format!("{ITERATION}/eval-hello/with_skill/run-1/grading.json"), Kind::EvalsGrading),
        ("greeter-workspace/grading/hello_v0_run1.json".to_owned(), Kind::CasesGrading),
    ] {
        let problems = kind.check(&project.read(&path));
        assert!(problems.iter().next().is_none(), "{path}: {problems:?}");
        assert_eq!(json(&project, &path)["overall"], "pass");
    }
}

#[test]
fn whatever_an_agent_leaves_behind_the_rest_goes_on() {
    let project = greeter();
    let one = ["--runs", "1", "--case", "1", "--baseline", "none"];
    let odd = r#"
printf x > "$(printf 'two\nlines.txt')"
ln -s / root
ln -s /etc/passwd passwd
truncate -s 2G huge.bin"#;
    set_agent(&project, odd);
    let output = run(&project, &one);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let outputs = project.path().join(ITERATION).join("eval-1/with_skill/run-1/outputs");
    assert!(outputs.join("two\nlines.txt").is_file() && outputs.join("greeting.txt").is_file());
    assert!(!outputs.join("root").exists() && !outputs.join("passwd").exists());
    assert!(!outputs.join("huge.bin").exists());
    let record = json(&project, &format!("{ITERATION}/eval-1/with_skill/run-1/run.json"));
    assert!(record["notes"].to_string().contains("huge.bin"), "{record:#}");
    set_agent(&project, "mkdir many; seq 1 100000 | sed 's,^,many/,' | xargs touch");
    let output = run(&project, &one);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    let record = json(&project, "greeter-workspace/iteration-2/eval-1/with_skill/run-1/run.json");
    assert_eq!(record["outcome"], "completed", "{record:#}");
}
