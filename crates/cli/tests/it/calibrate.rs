//! `skillgauge calibrate`, `--judge-gate` and `grade --self-test`: judges whose mistakes are planted.

use serde_json::{Value, json};

use crate::command::Project;
use crate::run::{ITERATION, greeter, json, run, script, stderr};

const LABELS: &str = "labels.json";

/// A judge that passes every third of what it should fail, and fails nothing that it should pass.
const CARELESS: &str = r#"#!/bin/sh
input=$(cat)
n=$(wc -l < "$0.log" 2>/dev/null || echo 0); echo x >> "$0.log"
if printf '%s' "$input" | grep -q 'Hello, reader'; then q='Hello, reader'; v=pass
elif [ $((n % 3)) -eq 0 ]; then q='greeting.txt'; v=pass
else q=''; v=fail; fi
printf '{"expectations":{"E1":{"reasoning":"r","quotes":["%s"],"verdict":"%s"}},"claims":[],"user_notes":{"uncertainties":[],"needs_review":[],"workarounds":[]},"eval_feedback":{"suggestions":[],"overall":""}}' "$q" "$v"
"#;

fn output(project: &Project, args: &[&str]) -> (Option<i32>, String, String) {
    let output = project.output(args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text, stderr(&output))
}

/// Decides every label by what is true of the run: it is greeted, or not.
fn decide(project: &Project, truth: impl Fn(&str, &str) -> bool) {
    let mut labels = json(project, LABELS);
    for label in labels["labels"].as_array_mut().unwrap() {
        assert_eq!(label["passed"], Value::Null, "a sample is blind");
        let run = label["run"].as_str().unwrap().to_owned();
        let text = project.read(label["material"].as_str().unwrap());
        label["passed"] = json!(truth(&run, &String::from_utf8(text).unwrap()));
    }
    project.file(LABELS, labels.to_string());
}

/// Six cases, two runs each, with and without the skill, and a sample of all verdicts.
fn sampled(judge: &str) -> Project {
    let project = greeter();
    script(&project, "judge.sh", judge);
    let done = run(&project, &["--runs", "2", "--jobs", "1"]);
    assert_eq!(done.status.code(), Some(0), "{}", project.shown(&done));
    let (code, _, told) =
        output(&project, &["calibrate", "greeter", "--sample", "100", "--out", LABELS]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("set `passed` of"), "{told}");
    project
}

#[test]
fn a_careless_judge_is_measured_and_its_rates_are_corrected() {
    let project = sampled(CARELESS);
    let before = json(&project, &format!("{ITERATION}/benchmark.json"));
    assert_eq!(before["statistics"].get("corrected"), None);
    let judged = &before["statistics"]["judge"];
    assert_eq!((&judged["verdicts"], &judged["calls"]), (&json!(24), &json!(24)), "{judged}");
    assert!(judged["seconds_per_verdict"].is_number(), "{judged}");
    decide(&project, |_, text| text.contains("Hello, reader"));
    let (code, text, told) = output(&project, &["calibrate", "greeter", "--labels", LABELS]);
    assert_eq!(code, Some(0), "{text}{told}");
    assert!(text.contains("command:./judge.sh can tell"), "{text}");
    assert!(text.contains("sensitivity   100 %"), "{text}");
    let kept = json(&project, "greeter-workspace/calibration.json");
    let one = &kept["calibrations"][0];
    assert_eq!(one["false_fail"], 0);
    assert!(one["false_pass"].as_u64().unwrap() > 0, "{one}");
    let (_, text, _) = output(&project, &["bench", "greeter"]);
    assert!(text.contains("without the mistakes of the judge command:./judge.sh"), "{text}");
    let after = json(&project, &format!("{ITERATION}/benchmark.json"));
    assert_eq!(after["verdict"], before["verdict"], "the verdict is that of what was counted");
    let corrected = &after["statistics"]["corrected"];
    let without = &corrected["pass_rate"]["without_skill"];
    assert!(
        without["corrected"]["mean"].as_f64() < without["raw"]["mean"].as_f64(),
        "it passed too much: {corrected}"
    );
    let page = project.path().join("report.html");
    assert_eq!(output(&project, &["report", "greeter", "--out", "report.html"]).0, Some(0));
    let page = fs_err::read_to_string(page).unwrap();
    assert!(page.contains("without the mistakes of the judge"), "the page says the same");
    // The same labels again change nothing but the time.
    assert_eq!(output(&project, &["calibrate", "greeter", "--labels", LABELS]).0, Some(0));
    let again = json(&project, "greeter-workspace/calibration.json");
    assert_eq!(again["calibrations"].as_array().unwrap().len(), 1);
    assert_eq!(again["calibrations"][0]["kappa"], one["kappa"]);
}

#[test]
fn a_judge_that_says_anything_is_found_out() {
    let project = sampled(CARELESS);
    // People who see no connection with what the judge says.
    decide(&project, |run, _| run.as_bytes()[0] % 2 == 0);
    let (code, text, _) = output(&project, &["calibrate", "greeter", "--labels", LABELS]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("could be guessing"), "{text}");
    let (code, _, told) = output(&project, &["bench", "greeter", "--judge-gate", "calibrated"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("could be guessing"), "{told}");
}

#[test]
fn only_a_measured_judge_passes_the_gate_and_nothing_is_paid_before() {
    let project = sampled(CARELESS);
    let calls = || crate::run::calls(&project);
    let asked = calls();
    let gated = ["--runs", "2", "--jobs", "1", "--fresh", "--judge-gate", "calibrated"];
    let refused = run(&project, &gated);
    assert_eq!(refused.status.code(), Some(2), "{}", project.shown(&refused));
    assert!(stderr(&refused).contains("has not been measured on this suite"));
    assert!(stderr(&refused).contains("calibrate --sample"));
    assert_eq!(calls(), asked, "before the first call");
    decide(&project, |_, text| text.contains("Hello, reader"));
    assert_eq!(output(&project, &["calibrate", "greeter", "--labels", LABELS]).0, Some(0));
    let bench = ["bench", "greeter", "--judge-gate", "calibrated"];
    assert_eq!(output(&project, &bench).0, Some(0));
    let done = run(&project, &gated);
    assert_eq!(done.status.code(), Some(0), "{}", project.shown(&done));
    // Another prompt is another judge, and so is another number of votes.
    let mut votes = gated.to_vec();
    votes.extend(["--judge-votes", "3"]);
    assert!(stderr(&run(&project, &votes)).contains("another number of votes"));
    let suite = String::from_utf8(project.read("greeter/evals/evals.json")).unwrap();
    project.file("greeter/evals/evals.json", suite.replace("is greeted", "is greeted well"));
    let refused = run(&project, &gated);
    assert_eq!(refused.status.code(), Some(2), "{}", project.shown(&refused));
    assert!(stderr(&refused).contains("its calibration is of another suite"));
    project.file("skillgauge.toml", "judge-gate = \"calibrated\"\n");
    let refused = run(&project, &["--runs", "2", "--fresh"]);
    assert_eq!(refused.status.code(), Some(2), "the project's settings say it, too");
}

#[test]
fn labels_that_are_of_no_use_are_told_and_nothing_is_lost() {
    let project = sampled(CARELESS);
    let with = |labels: Value| {
        project.file(LABELS, labels.to_string());
        output(&project, &["calibrate", "greeter", "--labels", LABELS])
    };
    let label = |passed: Value| json!({"run": "eval-1/with_skill/run-1", "expectation": "The reader is greeted", "passed": passed});
    let (code, _, told) = with(json!({"labels": [label(json!(true)), label(json!(false))]}));
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("contradict each other"), "{told}");
    let (code, _, told) = with(json!({"labels": [label(Value::Null)]}));
    assert_eq!((code, told.contains("there are no labels")), (Some(2), true), "{told}");
    let (code, _, told) = with(json!({"labels": [{"run": "eval-1/with_skill/run-1"}]}));
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("labels.json") && told.contains("expectation"), "{told}");
    let (code, text, told) = with(json!({"labels": [label(json!(true)),
        {"run": "eval-99/with_skill/run-1", "expectation": "x", "passed": true}]}));
    assert_eq!(code, Some(3), "{text}{told}");
    assert!(text.contains("Not enough labels"), "{text}");
    assert!(told.contains("there is no such run"), "{told}");
    assert_eq!(output(&project, &["calibrate", "greeter", "--labels", "none.json"]).0, Some(2));
    // A broken file is never written over.
    project.file("greeter-workspace/calibration.json", "{");
    let (code, _, told) = with(json!({"labels": [label(json!(true))]}));
    assert_ne!(code, Some(0), "{told}");
    assert_eq!(project.read("greeter-workspace/calibration.json"), b"{");
}

#[test]
fn a_sample_tells_what_to_look_at_and_not_the_arm() {
    let project = sampled(CARELESS);
    let text = String::from_utf8(project.read(LABELS)).unwrap();
    let labels = json(&project, LABELS)["labels"].as_array().unwrap().clone();
    assert_eq!(labels.len(), 24);
    let mut ids: Vec<&str> = Vec::new();
    for label in &labels {
        ids.push(label["run"].as_str().unwrap());
        assert!(label["prompt"].as_str().unwrap().starts_with("Greet"), "{label}");
        let file = label["material"].as_str().unwrap();
        let material = String::from_utf8(project.read(file)).unwrap();
        assert!(material.contains("# What the agent produced"), "{material}");
        for told in ["with_skill", "without_skill", "greeter"] {
            assert!(!material.contains(told) && !file.contains(told), "{told}: {material}");
        }
    }
    assert!(!text.contains("_skill") && !text.contains("run-"), "{text}");
    assert!(ids.is_sorted(), "the order tells nothing");
    let refused = output(&project, &["calibrate", "greeter", "--sample", "3"]);
    assert_eq!(refused.0, Some(2), "{}", refused.2);
    assert!(refused.2.contains("--out labels.json"), "{}", refused.2);
}

#[test]
fn labels_add_up_and_contradicting_ones_are_refused() {
    let project = sampled(CARELESS);
    decide(&project, |_, text| text.contains("Hello, reader"));
    let all = json(&project, LABELS)["labels"].as_array().unwrap().clone();
    let with = |labels: &[Value]| {
        project.file(LABELS, json!({"labels": labels}).to_string());
        output(&project, &["calibrate", "greeter", "--labels", LABELS])
    };
    let kept = || json(&project, "greeter-workspace/calibration.json")["calibrations"][0].clone();
    assert_eq!(with(&all[..14]).0, Some(3));
    let (code, text, told) = with(&all[10..]);
    assert_eq!(code, Some(0), "{text}{told}");
    assert_eq!(kept()["labels"], 24, "10 + 14, of which 4 were there");
    let whole = kept();
    // Fewer labels take none away.
    assert_eq!(with(&all[..1]).0, Some(0));
    assert_eq!((&kept()["labels"], &kept()["kappa"]), (&json!(24), &whole["kappa"]));
    let mut other = all[0].clone();
    other["passed"] = json!(!other["passed"].as_bool().unwrap());
    let (code, _, told) = with(&[other]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("calibration.json"), "{told}");
    assert_eq!(kept()["labels"], 24);
}

#[test]
fn what_people_decided_on_the_review_page_counts() {
    let project = sampled(CARELESS);
    let reviews: Vec<Value> = (1..=6)
        .flat_map(|case| ["with_skill", "without_skill"].map(|arm| (case, arm)))
        .flat_map(|(case, arm)| [1, 2].map(|number| format!("eval-{case}-{arm}-run-{number}")))
        .map(|run| {
            let passed = !run.contains("without");
            json!({"run_id": run, "feedback": "", "verdicts": [{"text": "The reader is greeted", "passed": passed}]})
        })
        .collect();
    project.file(&format!("{ITERATION}/feedback.json"), json!({"reviews": reviews}).to_string());
    let (code, text, told) = output(&project, &["calibrate", "greeter", "--format", "json"]);
    assert_eq!(code, Some(0), "{text}{told}");
    let found: Value = serde_json::from_str(&text).unwrap();
    assert!(found["calibrations"][0]["labels"].as_u64().unwrap() >= 12, "{text}");
}

/// A suite of three cases, two with a right answer in a file, one with its description only.
fn referenced(judge: &str) -> Project {
    let project = greeter();
    let case = |id: usize, reference: Value| {
        let mut case = json!({"id": id, "prompt": format!("Greet reader {id}"), "expectations": ["The reader is greeted", "The name is said"],
            "structural_expectations": [{"id": "S1", "type": "file_exists", "description": "a greeting", "pattern": "greeting.txt", "critical": true}]});
        case.as_object_mut().unwrap().extend(reference.as_object().unwrap().clone());
        case
    };
    let suite = json!({"skill_name": "greeter", "evals": [
        case(1, json!({})),
        case(2, json!({})),
        case(3, json!({"expected_output": "Hello, reader 3, says the file"})),
        case(4, json!({})),
    ]});
    project.file("greeter/evals/evals.json", suite.to_string());
    project.file("greeter/evals/reference/1/greeting.txt", "Hello, reader 1");
    project.file("greeter/evals/reference/2/2.txt", "Hello, reader 2");
    script(&project, "judge.sh", judge);
    project
}

/// Passes where there is a file.
const HONEST: &str = r#"#!/bin/sh
input=$(cat); q=
for file in greeting.txt 2.txt answer.md; do
  if printf '%s' "$input" | grep -q "$file"; then q=$file; fi
done
if [ -n "$q" ]; then v=pass; else v=fail; fi
printf '{"expectations":{"E1":{"reasoning":"r","quotes":["%s"],"verdict":"%s"},"E2":{"reasoning":"r","quotes":["%s"],"verdict":"%s"}},"claims":[],"user_notes":{"uncertainties":[],"needs_review":[],"workarounds":[]},"eval_feedback":{"suggestions":[],"overall":""}}' "$q" $v "$q" $v
"#;

const LAZY: &str = r#"#!/bin/sh
cat > /dev/null
printf '{"expectations":{"E1":{"reasoning":"r","quotes":["outputs"],"verdict":"pass"},"E2":{"reasoning":"r","quotes":[],"verdict":"fail"}},"claims":[],"user_notes":{"uncertainties":[],"needs_review":[],"workarounds":[]},"eval_feedback":{"suggestions":[],"overall":""}}'
"#;

#[test]
fn a_self_test_shows_whether_a_judge_can_tell() {
    let project = referenced(HONEST);
    let args = ["grade", "greeter", "--self-test", "--judge", "command:./judge.sh"];
    let (code, text, told) = output(&project, &args);
    assert_eq!(code, Some(0), "{text}{told}");
    assert!(told.contains("asking command:./judge.sh about 3 cases: 9 calls"), "{told}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("can tell right answers from empty ones: it passed 6 of 6 expectations on reference answers and 0 of 6 on empty ones"), "{text}");
    assert!(
        flat.contains("of answers to other cases it passed 6 of 6"),
        "it only looks for a file: {text}"
    );
    assert!(flat.contains("case 1, answer of 2: passed"), "{text}");
    assert!(flat.contains("The reference of 3 is `expected_output`"), "{text}");
    assert!(flat.contains("Left out, without a reference or anything to judge: 4"), "{text}");
    assert!(!project.path().join("greeter-workspace").exists(), "it leaves nothing behind");
}

#[test]
fn a_judge_that_does_not_look_fails_its_self_test() {
    let project = referenced(LAZY);
    let args =
        ["grade", "greeter", "--self-test", "--judge", "command:./judge.sh", "--format", "json"];
    let (code, text, told) = output(&project, &args);
    assert_eq!(code, Some(1), "{text}{told}");
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["can_tell"], false);
    script(&project, "judge.sh", "#!/bin/sh\ncat > /dev/null\nexit 1\n");
    let (code, text, _) = output(&project, &args[..5]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("did not answer often enough"), "{text}");
}

/// Its passes of empty answers are void, because there is nothing to quote; that is not its merit.
#[test]
fn a_judge_that_always_passes_fails_its_self_test() {
    let project = referenced(&HONEST.replace("v=fail", "v=pass"));
    let args = ["grade", "greeter", "--self-test", "--judge", "command:./judge.sh"];
    let (code, text, told) = output(&project, &args);
    assert_eq!(code, Some(1), "{text}{told}");
    assert!(text.contains("can't tell right answers from empty ones"), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("6 of 6 expectations on reference answers and 6 of 6 on empty ones"),
        "{text}"
    );
}

/// An empty answer has no TODO: a judge that says so is right.
#[test]
fn a_self_test_does_not_blame_a_judge_for_what_an_empty_answer_fulfils() {
    let honest = HONEST.replace(
        r#""E2":{"reasoning":"r","quotes":["%s"],"verdict":"%s"}"#,
        r#""E2":{"reasoning":"r","absent":["TODO"],"verdict":"pass"}"#,
    );
    let project = referenced(&honest);
    let suite = String::from_utf8(project.read("greeter/evals/evals.json")).unwrap();
    project.file("greeter/evals/evals.json", suite.replace("The name is said", "No TODO is left"));
    let args = ["grade", "greeter", "--self-test", "--judge", "command:./judge.sh"];
    let (code, text, told) = output(&project, &args);
    assert_eq!(code, Some(0), "{text}{told}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("6 of 6 expectations on reference answers and 0 of 3 on empty"),
        "{text}"
    );
    assert!(flat.contains("3 verdicts on empty answers are left out"), "{text}");
}

#[test]
fn a_self_test_without_right_answers_is_refused_before_anybody_is_asked() {
    let project = greeter();
    let args = ["grade", "greeter", "--self-test", "--judge", "command:./judge.sh"];
    let (code, _, told) = output(&project, &args);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("no case has a reference answer"), "{told}");
    let project = referenced(HONEST);
    let mut named = args.to_vec();
    named.extend(["--reference", "nowhere"]);
    let (code, _, told) = output(&project, &named);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("the reference answers in nowhere"), "{told}");
}
