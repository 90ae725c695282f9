//! Numbers that were wrong once: every surface must say the same of the same runs.

use serde_json::{Value, json};
use skillgauge_testkit::server::{Protocol, Reply, Rule, Script, Server};

use crate::command::Project;
use crate::run::{ITERATION, greeter, json, run, script};

/// Both arms pass two of three checks; only the baseline fails the critical one.
#[test]
fn without_a_judge_a_closed_gate_makes_no_difference_out_of_nothing() {
    let project = Project::new();
    project.good_skill("s");
    let check = |id: &str, file: &str, critical: bool| json!({"id": id, "type": "file_exists", "pattern": file, "description": file, "critical": critical});
    let suite = json!({"skill_name": "s", "evals": [{
        "id": 1, "prompt": "write b.txt",
        "expectations": ["Lists 3 names", "Mentions the year 2024", "Ends with a line by Bob"],
        "structural_expectations": [check("S1", "a.txt", true), check("S2", "b.txt", false), check("S3", "c.txt", false)],
    }]});
    project.file("s/evals/evals.json", suite.to_string());
    script(
        &project,
        "agent.sh",
        "#!/bin/sh\ncat > /dev/null\ntouch b.txt c.txt\n\
         if [ -e \"$SKILLGAUGE_SKILLS/s/SKILL.md\" ]; then touch a.txt; rm c.txt; fi\n\
         echo '{\"type\":\"result\",\"text\":\"done\"}'\n",
    );
    let args = ["run", "s", "--agent", "command:./agent.sh", "--judge", "none", "--runs", "1"];
    let output = project.output(&args);
    let shown = project.shown(&output);
    for arm in ["with_skill", "without_skill"] {
        let path = format!("s-workspace/iteration-1/eval-1/{arm}/run-1/grading.json");
        let summary = &json(&project, &path)["summary"];
        let expected = json!({"passed": 2, "failed": 1, "total": 3, "pass_rate": 0.6667});
        assert_eq!(*summary, expected, "{arm}: {shown}");
    }
    let benchmark = json(&project, "s-workspace/iteration-1/benchmark.json");
    assert_eq!(benchmark["verdict"]["on_suite"]["difference"], 0.0, "{shown}");
    assert_eq!(benchmark["run_summary"]["delta"]["pass_rate"], "+0.00");
    assert!(!shown.contains("stopped by the gate"), "nobody was there to be stopped: {shown}");
}

#[test]
fn when_the_judge_decided_nothing_no_surface_has_a_rate() {
    let project = greeter();
    script(&project, "judge.sh", "#!/bin/sh\ncat > /dev/null\necho nonsense\n");
    assert_eq!(project.exit_code(&["snapshot", "greeter"]), Some(0));
    let ran = run(&project, &["--runs", "1", "--baseline", "none"]);
    let bench = project.output(&["bench", ITERATION]);
    for output in [&ran, &bench] {
        let shown = project.shown(output);
        assert_eq!(output.status.code(), Some(3), "{shown}");
        assert!(shown.contains("no rate: no run was measured"), "{shown}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains(" %"), "{shown}");
    }
    let history: Value =
        serde_json::from_str(&project.stdout(&["history", "greeter", "--format", "json"])).unwrap();
    assert_eq!(history["best_version"], Value::Null, "{history:#}");
    assert_eq!(history["versions"][0]["pass_rate"], Value::Null, "{history:#}");
    let benchmark = json(&project, &format!("{ITERATION}/benchmark.json"));
    assert_eq!(benchmark["runs"], json!([]));
    assert_eq!(benchmark["unmeasured"][0]["outcome"], "judge_error");
}

/// An iteration of another tool: seven cases, both arms with the given summary over the same three verdicts.
fn by_hand(project: &Project, verdicts: [bool; 3], with: &Value, without: &Value) {
    for case in 1..=7 {
        for (arm, summary) in [("with_skill", with), ("without_skill", without)] {
            let expectations: Vec<Value> = verdicts
                .iter()
                .enumerate()
                .map(|(index, passed)| json!({"text": format!("e{index}"), "passed": passed}))
                .collect();
            let grading = json!({"expectations": expectations, "summary": summary});
            let path = format!("hand/eval-{case}/{arm}/run-1/grading.json");
            project.file(&path, grading.to_string());
        }
    }
}

#[test]
fn a_rate_that_one_arm_rounds_is_no_difference() {
    let project = Project::new();
    let summary = |rate| json!({"passed": 2, "failed": 1, "total": 3, "pass_rate": rate});
    by_hand(&project, [true, true, false], &summary(0.67), &summary(0.6667));
    project.output(&["bench", "hand"]);
    let found = &json(&project, "hand/benchmark.json")["statistics"]["differences"][0];
    let difference = &found["verdict"]["on_suite"]["difference"];
    assert_eq!((difference, &found["wins"]), (&json!(0.0), &json!(0)), "{found:#}");
}

#[test]
fn a_summary_that_contradicts_its_expectations_does_not_count() {
    let project = Project::new();
    let claimed = json!({"passed": 3, "failed": 0, "total": 3, "pass_rate": 1.0});
    let right = json!({"passed": 1, "failed": 2, "total": 3, "pass_rate": 0.3333});
    by_hand(&project, [true, false, false], &claimed, &right);
    let bench = project.output(&["bench", "hand"]);
    let shown = project.shown(&bench);
    assert!(shown.contains("the summary says that 3 of 3 passed"), "{shown}");
    let benchmark = json(&project, "hand/benchmark.json");
    assert_eq!(benchmark["verdict"]["on_suite"]["difference"], 0.0, "{shown}");
    assert!(
        benchmark["runs"]
            .as_array()
            .unwrap()
            .iter()
            .all(|run| run["result"]["run_passed"] == false)
    );
}

/// Its outputs are right, but it never came to an end.
#[test]
fn grade_passes_no_run_that_the_benchmark_fails() {
    let project = Project::new();
    project.good_skill("s");
    let check = json!({"id": "S1", "type": "file_exists", "pattern": "a.txt", "description": "a"});
    let case = json!({"id": 1, "prompt": "p", "structural_expectations": [check]});
    project.file("s/evals/evals.json", json!({"skill_name": "s", "evals": [case]}).to_string());
    script(&project, "agent.sh", "#!/bin/sh\ncat > /dev/null\ntouch a.txt\nsleep 60\n");
    let args = ["run", "s", "--agent", "command:./agent.sh", "--judge", "none", "--runs", "1"];
    let ran = project.output(&[&args[..], &["--baseline", "none", "--timeout", "1s"]].concat());
    assert_eq!(ran.status.code(), Some(1), "{}", project.shown(&ran));
    // The folder may be named as people name them, and lie where no plan has it.
    let renamed = project.path().join("eval-1-some-name");
    fs_err::rename(project.path().join("s-workspace/iteration-1/eval-1"), &renamed).unwrap();
    fs_err::create_dir_all(project.path().join("other")).unwrap();
    fs_err::rename(&renamed, project.path().join("other/eval-1-some-name")).unwrap();
    let suite = ["--evals", "s/evals/evals.json"];
    let graded =
        project.output(&[&["grade", "other", "--judge", "none", "--force"], &suite[..]].concat());
    let shown = project.shown(&graded);
    assert_eq!(graded.status.code(), Some(1), "{shown}");
    assert!(shown.contains("0 passed, 1 failed"), "{shown}");
    assert_eq!(project.exit_code(&[&["check", "other"], &suite[..]].concat()), Some(0));
}

/// One run with the skill ends before its agent says what it used in all.
#[test]
fn tokens_of_a_run_that_was_stopped_are_a_lower_bound_on_every_surface() {
    let project = greeter();
    let agent = String::from_utf8(project.read("agent.sh")).unwrap();
    let stop = "case \"$prompt\" in *\"number 3\"*) [ -e \"$SKILLGAUGE_SKILLS/greeter/SKILL.md\" ] && exit 1;; esac";
    let agent = agent.replace("cat > /dev/null", "prompt=$(cat)");
    script(
        &project,
        "agent.sh",
        &agent
            .replace("echo '{\"type\":\"result\"", &format!("{stop}\necho '{{\"type\":\"result\"")),
    );
    let output = run(&project, &["--runs", "1"]);
    let shown = project.shown(&output);
    let benchmark = json(&project, &format!("{ITERATION}/benchmark.json"));
    let arms = &benchmark["statistics"]["configurations"];
    assert_eq!(arms["with_skill"]["partial_tokens"], 1, "{shown}\n{arms:#}");
    assert_eq!(arms["without_skill"].get("partial_tokens"), None, "{arms:#}");
    let partial: Vec<&Value> = (benchmark["runs"].as_array().unwrap().iter())
        .filter(|run| run["result"]["usage_basis"] == "partial")
        .map(|run| &run["eval_id"])
        .collect();
    assert_eq!(partial, [&json!(3)]);
    let row = |arm: &str| shown.lines().find(|line| line.starts_with(arm)).unwrap();
    assert!(row("with_skill").ends_with("at least 120"), "{shown}");
    assert!(!row("without_skill").contains("at least"), "{shown}");
    let note = "1 of 12 runs ended before the agent reported its tokens";
    assert!(shown.contains(note), "{shown}");
    let markdown = String::from_utf8(project.read(&format!("{ITERATION}/benchmark.md"))).unwrap();
    assert!(markdown.contains("| Tokens | at least 120 ± 0 | 120 ± 0 |"), "{markdown}");
    assert!(markdown.contains(note), "{markdown}");
    let page = project.stdout(&["report", "greeter-workspace", "-o", "-"]);
    assert_eq!(page.matches("at least 120").count(), 2, "the table of totals and the run");
}

#[test]
fn what_a_verdict_takes_is_the_same_on_every_surface() {
    let project = greeter();
    project
        .file("skillgauge.toml", "[prices]\n\"openai:m\" = { input = 1000.0, output = 1000.0 }\n");
    let verdict = json!({"expectations": {"E1": {"reasoning": "r", "quotes": [], "verdict": "fail"}},
        "claims": [], "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": []},
        "eval_feedback": {"suggestions": [], "overall": ""}});
    let rule = Rule::reply(Reply::json(verdict)).protocol(Protocol::OpenaiChat);
    let server = Server::start(Script::new().rule(rule)).unwrap();
    let with = |args: &[&str]| {
        let mut command = project.command(args);
        command.env("OPENAI_BASE_URL", server.url_v1()).env("NO_PROXY", "127.0.0.1");
        project.shown(&command.output().unwrap())
    };
    let ran = with(&["run", "greeter", "--agent", "command:./agent.sh", "--judge", "openai:m"]);
    let judge = &json(&project, &format!("{ITERATION}/benchmark.json"))["statistics"]["judge"];
    let [tokens, cost] =
        ["tokens_per_verdict", "cost_usd_per_verdict"].map(|key| judge[key].as_f64().unwrap());
    assert!(judge["seconds_per_verdict"].is_number() && tokens > 0.0 && cost > 0.0, "{judge}");
    let said = format!(", {tokens:.0} tokens, ${cost:.4} each");
    let markdown = String::from_utf8(project.read(&format!("{ITERATION}/benchmark.md"))).unwrap();
    let page = project.stdout(&["report", "greeter-workspace", "-o", "-"]);
    let bench = project.run(&["bench", ITERATION]);
    let graded = with(&["grade", ITERATION, "--judge", "openai:m", "--force"]);
    for (surface, text) in [
        ("run", ran),
        ("benchmark.md", markdown),
        ("page", page),
        ("bench", bench),
        ("grade", graded),
    ] {
        assert!(text.contains("judge: 24 verdicts in 24 calls; "), "{surface}: {text}");
        assert!(text.contains(&said), "{surface}: {said}: {text}");
    }
}
