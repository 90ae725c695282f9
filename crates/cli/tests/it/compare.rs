//! `skillgauge compare` and `skillgauge analyze`, with scripts as models.

use serde_json::{Value, json};

use crate::command::Project;

const ITERATION: &str = include_str!("../../../format/testdata/skillgauge/iteration.json");
const RUN: &str = include_str!("../../../format/testdata/skillgauge/run.json");

/// A skill with two versions, and a run of each on these cases.
fn project(cases: &[&str]) -> Project {
    let project = Project::new();
    project.good_skill("one");
    project.run(&["snapshot", "one"]);
    project.file("one/notes.md", "Old words.\n\nMore.\n");
    project.run(&["snapshot", "one"]);
    for version in 0..2 {
        let folder = format!("one-workspace/iteration-{}", version + 1);
        let mut record: Value = serde_json::from_str(ITERATION).unwrap();
        record["version"] = version.into();
        record["case_ids"] = json!(cases);
        let case = |id: &&str| {
            let criterion =
                json!({"criterion": "c", "description": "It has a title", "required": true});
            json!({"id": id, "prompt": "Do it.", "expectations": [criterion]})
        };
        let suite = json!({"version": "1.0", "cases": cases.iter().map(case).collect::<Vec<_>>()});
        project
            .file(&format!("{folder}/iteration.json"), record.to_string())
            .file(&format!("{folder}/suite.json"), suite.to_string());
        for case in cases {
            let id = format!("eval-{case}/with_skill/run-1");
            let mut run: Value = serde_json::from_str(RUN).unwrap();
            run["id"] = id.as_str().into();
            run["case_id"] = (*case).into();
            let quality = ["bad", "good"][version];
            project
                .file(&format!("{folder}/{id}/outputs/out.md"), format!("A {quality} result.\n"))
                .file(&format!("{folder}/{id}/run.json"), run.to_string());
        }
    }
    project
}

/// A comparator that likes good results, whatever their label is.
pub(crate) const COMPARATOR: &str = r#"#!/bin/sh
before=$(sed '/A good result/q')
label=$(printf '%s\n' "$before" | grep '^# Result ' | tail -1 | cut -d' ' -f3)
cat > /dev/null
p='{"A": 5, "B": 5}'
echo "{\"reasoning\": \"It is good.\", \"scores\": {\"description_quality\": $p, \"convention_compliance\": $p, \"type_specific_quality\": $p, \"token_efficiency\": $p, \"content_value\": $p}, \"winner\": \"$label\"}"
"#;

const ANALYST: &str = r#"#!/bin/sh
cat > /dev/null
echo '{"strengths": ["It has notes."], "weaknesses": ["None."], "suggestions": [
  {"reasoning": "Shorter.", "area": "notes", "file": "notes.md", "before": "Old words.", "after": "New words."},
  {"reasoning": "Clearer.", "area": "body", "file": "SKILL.md", "before": "Text.", "after": "Clear text."}]}'
"#;

const CASES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[test]
fn the_better_version_wins_and_its_analysis_can_be_applied() {
    let project = project(&CASES);
    project.file("comparator.sh", COMPARATOR).file("analyst.sh", ANALYST);
    let compare = ["compare", "one", "--judge", "command:sh ./comparator.sh"];
    let shown = project.run(&compare);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(shown.contains("v1 against v0: better (6 won, 0 lost, 0 ties, p = 0.031"), "{shown}");
    assert!(shown.contains(": 12 calls"), "{shown}");
    let reversed =
        project.run(&["compare", "one", "v1", "v0", "--judge", "command:sh ./comparator.sh"]);
    assert!(reversed.starts_with("exit code: 1\n") && reversed.contains("worse"), "{reversed}");
    for file in ["comparison", "comparison_key"] {
        let path = format!("one-workspace/comparison/v0-v1/a/{file}.json");
        assert_eq!(project.exit_code(&["schema", "--check", &path]), Some(0), "{path}");
    }
    let mut told = project.run(&["analyze", "one", "--improver", "command:sh ./analyst.sh"]);
    told.push_str(&project.run(&["analyze", "one", "--apply", "1", "7"]));
    insta::assert_snapshot!(told);
    assert_eq!(project.read("one/notes.md"), b"New words.\n\nMore.\n");
    assert_eq!(
        project.exit_code(&["schema", "--check", "one-workspace/comparison/v0-v1/analysis.json"]),
        Some(0)
    );
    // What was changed since is stored before anything is applied.
    project.file("one/own.md", "Own work.\n");
    let shown = project.run(&["analyze", "one", "v0", "v1", "--apply", "2"]);
    assert!(
        shown.starts_with("exit code: 0\n") && shown.contains("stored the skill as v2"),
        "{shown}"
    );
    assert_eq!(project.read("one-workspace/v2/skill/own.md"), b"Own work.\n");
}

/// What is suggested is about the version that was analysed, whatever the skill has become.
#[test]
fn suggestions_are_held_to_the_analysed_version_and_once_more_to_the_skill() {
    let project = project(&CASES);
    let asked = project.path().join("asked").display().to_string();
    let analyst = ANALYST.replace("cat > /dev/null", &format!("cat >> \"{asked}\""));
    project.file("comparator.sh", COMPARATOR).file("analyst.sh", &analyst);
    project.run(&["compare", "one", "--judge", "command:sh ./comparator.sh"]);
    // The skill is neither of the two any more: its notes are other words, and a new file has the old ones of SKILL.md.
    let own = String::from_utf8(project.read("one/SKILL.md")).unwrap();
    project
        .file("one/notes.md", "Other words.\n")
        .file("one/SKILL.md", own.replace("Text.", "Own."));
    project.run(&["snapshot", "one"]);
    let improver = ["--improver", "command:sh ./analyst.sh"];
    let shown = project.run(&[&["analyze", "one", "v0", "v1"][..], &improver].concat());
    // v0 lost, so it is the one to change: it has no notes.
    assert!(shown.contains("the suggestions are about v0"), "{shown}");
    assert!(shown.contains("1. body: Clearer."), "{shown}");
    assert!(
        shown.contains("a suggestion about notes was dropped: `before` is in no file"),
        "{shown}"
    );
    let asked = String::from_utf8(project.read("asked")).unwrap();
    assert!(asked.contains("# The files of v0, which is to be changed"), "{asked}");
    assert!(asked.contains("Text.") && !asked.contains("Other words."), "{asked}");
    // The skill does not have the passage any more: refused with the reason, and nothing is changed or stored.
    let shown = project.run(&["analyze", "one", "v0", "v1", "--apply"]);
    assert!(shown.starts_with("exit code: 1\n"), "{shown}");
    assert!(
        shown.contains("suggestion 1 is not applied: `before` is not in the skill any more"),
        "{shown}"
    );
    assert!(
        shown.contains("the suggestions are about v0, and the skill was changed since"),
        "{shown}"
    );
    assert_eq!(project.read("one/notes.md"), b"Other words.\n");
    assert!(!project.path().join("one-workspace/v3").exists());
    // After a restore it can be applied.
    project.run(&["restore", "one", "v0"]);
    let shown = project.run(&["analyze", "one", "v0", "v1", "--apply"]);
    assert!(shown.starts_with("exit code: 0\n") && shown.contains("+Clear text."), "{shown}");
    // The version that the skill is comes before the one that lost.
    project.run(&["restore", "one", "v1"]);
    let shown = project.run(&[&["analyze", "one", "v0", "v1", "--again"][..], &improver].concat());
    assert!(
        shown.contains("the suggestions are about v1") && shown.contains("1. notes"),
        "{shown}"
    );
    let file = "one-workspace/comparison/v0-v1/analysis.json";
    assert_eq!(project.exit_code(&["schema", "--check", file]), Some(0));
}

/// The labels of two results in the order in which they are shown, in `$first` and `$second`.
const LABELS: &str = r#"#!/bin/sh
asked=$(cat)
labels=$(printf '%s\n' "$asked" | grep '^# Result ' | cut -d' ' -f3)
first=$(echo "$labels" | head -1)
second=$(echo "$labels" | tail -1)
PICK
p='{"A": 5, "B": 5}'
echo "{\"reasoning\": \"So it seems.\", \"scores\": {\"description_quality\": $p, \"convention_compliance\": $p, \"type_specific_quality\": $p, \"token_efficiency\": $p, \"content_value\": $p}, \"winner\": \"$label\"}"
"#;

fn report(project: &Project, args: &[&str]) -> Value {
    let output = project.output(&[args, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// However different the results are: who follows the order has seen nothing.
#[test]
fn a_comparator_that_follows_the_position_decides_nothing_and_that_is_said() {
    let cases = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let project = project(&cases);
    let first = project.path().join("asked").display().to_string();
    let log = format!("echo call >> \"{first}\"; label=$first");
    project.file("first.sh", LABELS.replace("PICK", &log));
    let args = ["compare", "one", "--judge", "command:sh ./first.sh"];
    let shown = project.run(&args);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    let bias =
        "the comparator preferred the first result in 10 of 10 cases: it decides nothing here";
    assert!(shown.contains(bias), "{shown}");
    assert!(shown.contains("v1 against v0: undecided (0 won, 0 lost, 10 ties, p = 1"), "{shown}");
    assert!(shown.contains("a: a tie, the answer changed with the order"), "{shown}");
    assert!(!shown.contains("is better"), "{shown}");
    // Both orders are asked, and nothing else.
    assert_eq!(String::from_utf8(project.read("asked")).unwrap().lines().count(), 20);
    let found = report(&project, &args);
    assert_eq!((&found["overall"]["verdict"], &found["note"]), (&json!("undecided"), &json!(bias)));
    assert_eq!(found["overall"]["position_bias"]["first"], 10);
    assert_eq!(
        (&found["cases"][0]["winner"], &found["cases"][0]["tie"]),
        (&Value::Null, &json!(true))
    );
    let path = "one-workspace/comparison/v0-v1/a/comparison";
    let comparison: Value = serde_json::from_slice(&project.read(&format!("{path}.json"))).unwrap();
    assert_eq!(comparison["tie"], true);
    for file in [format!("{path}.json"), format!("{path}_key.json")] {
        assert_eq!(project.exit_code(&["schema", "--check", &file]), Some(0), "{file}");
    }
    // The page and the analyst hear it too.
    let page = project.output(&["report", "one-workspace", "--out", "page.html"]);
    assert_eq!(page.status.code(), Some(0), "{}", project.shown(&page));
    let page = String::from_utf8(project.read("page.html")).unwrap();
    assert!(page.contains(bias) && page.contains("A tie between "), "{page}");
    let told = project.path().join("told").display().to_string();
    project.file("analyst.sh", ANALYST.replace("cat > /dev/null", &format!("cat >> \"{told}\"")));
    let shown = project.run(&["analyze", "one", "--improver", "command:sh ./analyst.sh"]);
    assert!(shown.contains(&format!("warning: {bias}")), "{shown}");
    assert!(shown.contains("neither v1 nor v0 won") && !shown.contains("won against"), "{shown}");
    let told = String::from_utf8(project.read("told")).unwrap();
    assert!(told.contains("Neither v1 nor v0 won.") && !told.contains("So it seems."), "{told}");
}

/// A coin agrees with itself in half of the cases, by chance.
#[test]
fn a_comparator_that_throws_a_coin_decides_nothing() {
    let cases: Vec<String> = (10..34).map(|case| format!("case-{case}")).collect();
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    let project = project(&cases);
    for (version, case) in (1..3).flat_map(|version| cases.iter().map(move |case| (version, case)))
    {
        let run = format!("one-workspace/iteration-{version}/eval-{case}/with_skill/run-1");
        let word = ["plain", "fancy"][version - 1];
        project.file(&format!("{run}/outputs/out.md"), format!("The {word} result of {case}.\n"));
    }
    // The coin is a sum over the request, which is another one for each case and order.
    let coin = "sum=$(printf '%s' \"$asked\" | cksum | cut -d' ' -f1)\n\
                label=$first; [ $((sum % 10007 % 2)) = 1 ] && label=$second";
    project.file("coin.sh", LABELS.replace("PICK", coin));
    let args = ["compare", "one", "--judge", "command:sh ./coin.sh"];
    let shown = project.run(&args);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    assert!(shown.contains("it decides nothing here"), "{shown}");
    let overall = &report(&project, &args)["overall"];
    assert_eq!(overall["verdict"], "undecided");
    let ties = overall["ties"].as_u64().unwrap();
    assert!((9..24).contains(&ties), "{overall}");
}

/// Up to a third of ties is what real comparators have; the other cases decide.
#[test]
fn some_ties_leave_the_verdict_to_the_other_cases() {
    let project = project(&["a", "b", "c", "d", "e", "f", "g", "h", "tie"]);
    for version in 1..3 {
        let run =
            format!("one-workspace/iteration-{version}/eval-tie/with_skill/run-1/outputs/out.md");
        project.file(&run, "The same.\n");
    }
    project.file("comparator.sh", COMPARATOR);
    let args = ["compare", "one", "--judge", "command:sh ./comparator.sh"];
    let shown = project.run(&args);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(shown.contains("v1 against v0: better (8 won, 0 lost, 1 tie, p = 0.0078"), "{shown}");
    assert!(shown.contains("tie: a tie, the answer changed with the order"), "{shown}");
    // A file of an earlier version, in which a third question decided, is read: the orders disagreed in it too.
    let path = "one-workspace/comparison/v0-v1/tie/comparison";
    let mut key: Value =
        serde_json::from_slice(&project.read(&format!("{path}_key.json"))).unwrap();
    let third = key["orders"][0].clone();
    key["orders"].as_array_mut().unwrap().push(third);
    let mut old: Value = serde_json::from_slice(&project.read(&format!("{path}.json"))).unwrap();
    old.as_object_mut().unwrap().remove("tie");
    project
        .file(&format!("{path}_key.json"), key.to_string())
        .file(&format!("{path}.json"), old.to_string());
    let shown = project.run(&args);
    assert!(shown.contains("(8 won, 0 lost, 1 tie"), "{shown}");
    assert!(
        shown.contains("tie: a tie, the answer changed with the order, compared before"),
        "{shown}"
    );
}

#[test]
fn few_cases_show_nothing_and_failures_are_not_counted() {
    let project = project(&["a"]);
    project.file("comparator.sh", COMPARATOR).file("broken.sh", "exit 1\n");
    let shown = project.run(&["compare", "one", "--judge", "command:sh ./broken.sh"]);
    assert!(shown.starts_with("exit code: 3\n") && shown.contains("a was not compared"), "{shown}");
    let shown = project.run(&[
        "compare",
        "one",
        "--judge",
        "command:sh ./comparator.sh",
        "--format",
        "json",
    ]);
    let start = shown.find('{').unwrap();
    let end = shown.find("----- stderr").unwrap();
    let result: Value = serde_json::from_str(&shown[start..end]).unwrap();
    assert_eq!(result["overall"]["verdict"], "undecided", "{result}");
    assert_eq!(result["cases"][0]["winner"], "v1");
}

#[test]
fn without_runs_or_comparisons_there_is_advice() {
    let project = Project::new();
    project.good_skill("one");
    let mut told = project.run(&["compare", "one"]);
    project.run(&["init", "one"]);
    told.push_str(&project.run(&["compare", "one"]));
    project.file("one/notes.md", "x");
    project.run(&["snapshot", "one"]);
    told.push_str(&project.run(&["compare", "one"]));
    told.push_str(&project.run(&["compare", "one", "v0", "v9"]));
    told.push_str(&project.run(&["analyze", "one"]));
    insta::assert_snapshot!(told);
}

pub(crate) const CASES_JUDGE: &str = r#"#!/bin/sh
cat > /dev/null
c='{"details": "It does.", "passed": true}'
echo "{\"criteria\": {\"C1\": {\"reasoning\": \"It is there.\", \"quotes\": [\"Hello, reader\"], \"score\": 4}}, \"conventions\": {\"description_field\": $c, \"progressive_disclosure\": $c, \"type_alignment\": $c}, \"claims\": [], \"user_notes_summary\": \"\", \"eval_feedback\": \"\"}"
"#;

/// From the first version over real runs to a comparison: each run belongs to the version that was run.
#[test]
fn runs_belong_to_the_version_that_was_run_and_fill_in_its_score() {
    let project = crate::run::greeter();
    let suite = json!({"version": "1.0", "cases": [{"id": "hello", "prompt": "Greet the reader", "expectations": [
        {"criterion": "greeting", "description": "The file says hello to the reader", "required": true}]}]});
    project
        .file("greeter/evals/evals.json", suite.to_string())
        .file("cases_judge.sh", CASES_JUDGE)
        .file("comparator.sh", COMPARATOR.replace("A good result", "Hello, reader"));
    let run = || {
        let judge = "command:sh ./cases_judge.sh";
        project.run(&[
            "run",
            "greeter",
            "--agent",
            "command:./agent.sh",
            "--judge",
            judge,
            "--baseline",
            "none",
            "--runs",
            "1",
        ])
    };
    let read = |path: &str| -> Value { serde_json::from_slice(&project.read(path)).unwrap() };
    let version = |number: u64| {
        read(&format!("greeter-workspace/iteration-{number}/iteration.json"))["version"].clone()
    };
    project.run(&["snapshot", "greeter"]);
    let shown = run();
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert_eq!(version(1), 0);
    assert_eq!(read("greeter-workspace/history.json")["versions"][0]["average_score"], 4.0);

    project.file("greeter/notes.md", "Be kind.\n");
    let shown = run();
    assert!(shown.contains("the skill is no stored version"), "{shown}");
    assert_eq!(version(2), Value::Null);
    project.run(&["snapshot", "greeter"]);
    run();
    assert_eq!(version(3), 1);

    let shown = project.run(&["compare", "greeter", "--judge", "command:sh ./comparator.sh"]);
    // Both versions do the same, so a comparator that must choose follows the order.
    assert!(
        shown.starts_with("exit code: 3\n") && shown.contains("v1 against v0: undecided"),
        "{shown}"
    );
    let history = project.stdout(&["history", "greeter"]);
    assert!(history.contains("4.0") && history.contains("1/1"), "{history}");
}
