//! `skillgauge lint-evals`, and `explain` for its codes.

use serde_json::Value;

use crate::command::Project;

const BAD_SUITE: &str = r#"{
  "skill_name": "other",
  "evals": [
    {
      "id": 1,
      "prompt": "Write a haiku about the sea and save it as haiku.txt",
      "files": ["evals/files/none.txt"],
      "expectations": [
        "Save it as haiku.txt",
        "The output is correct",
        "Has a good title"
      ]
    },
    {
      "id": 2,
      "prompt": "Clean up notes.md",
      "structural_expectations": [
        {"id": "S1", "type": "file_not_contains", "pattern": "notes.md", "match": "TODO", "description": "No TODO is left"},
        {"id": "S2", "type": "custom_script", "script": "grep -q x notes.md || true", "description": "It greps"},
        {"id": "S3", "type": "file_contains", "pattern": "notes.md", "match_regex": "(", "description": "A bracket"}
      ]
    }
  ]
}
"#;

const BAD_TRIGGERS: &str = r#"[
  {"query": "Could you please take all of these scanned letters and put them into one file", "should_trigger": true},
  {"query": "Use my-skill to put the three quarterly reports into one document, oldest first", "should_trigger": true},
  {"query": "I have eleven invoices here and want a single document with page numbers on it", "should_trigger": true},
  {"query": "Take the appendix out of this long contract and store it as a file of its own", "should_trigger": true},
  {"query": "These pages are upside down and in the wrong order, can you put that right", "should_trigger": true},
  {"query": "What is the time", "should_trigger": false},
  {"query": "what is the time?", "should_trigger": true},
  {"query": "Cook some pasta", "should_trigger": false},
  {"query": "Paint the fence", "should_trigger": false},
  {"query": "Plan a party", "should_trigger": false},
  {"query": "Say hello", "should_trigger": false}
]
"#;

fn good_suite() -> String {
    let tasks = [
        "letter to the mayor",
        "list of rivers",
        "poem on snow",
        "menu for Friday",
        "plan of a week",
        "map legend",
    ];
    let eval = |(id, task): (usize, &&str)| {
        serde_json::json!({
            "id": id + 1,
            "prompt": format!("Please write a {task}"),
            "structural_expectations": [
                {"id": "S1", "type": "file_exists", "pattern": "*.md", "description": "A file is there"},
                {"id": "S2", "type": "custom_script", "script": "test -s result.md", "description": "It is not empty"},
            ],
        })
    };
    let evals: Vec<Value> = tasks.iter().enumerate().map(eval).collect();
    serde_json::json!({"skill_name": "my-skill", "evals": evals}).to_string()
}

fn project(evals: Option<&str>, triggers: Option<&str>) -> Project {
    let project = Project::new();
    project.good_skill("my-skill");
    if let Some(evals) = evals {
        project.file("my-skill/evals/evals.json", evals);
    }
    if let Some(triggers) = triggers {
        project.file("my-skill/evals/triggers.json", triggers);
    }
    project
}

#[test]
fn all_problems_of_a_suite_and_a_trigger_set_are_shown_at_once() {
    let project = project(Some(BAD_SUITE), Some(BAD_TRIGGERS));
    insta::assert_snapshot!(project.run(&["lint-evals", "my-skill"]));
}

#[test]
fn machines_get_the_same_as_json_and_as_annotations() {
    let project = project(Some(BAD_SUITE), None);
    insta::assert_snapshot!(
        "lint_json",
        project.run(&["lint-evals", "my-skill", "--format", "json"])
    );
    insta::assert_snapshot!(
        "lint_github",
        project.run(&["lint-evals", "my-skill", "--format", "github"])
    );
}

#[test]
fn a_sound_suite_has_no_findings() {
    let project = project(Some(&good_suite()), None);
    insta::assert_snapshot!(project.run(&["lint-evals", "my-skill", "--strict"]), @"
    exit code: 0
    ----- stdout
    6 cases: no findings
    ----- stderr
    ");
}

#[test]
fn warnings_fail_only_under_strict() {
    let two =
        r#"{"evals": [{"id": 1, "prompt": "Write a poem", "expectations": ["Has 3 lines"]}]}"#;
    let project = project(Some(two), None);
    assert_eq!(project.exit_code(&["lint-evals", "my-skill"]), Some(0));
    assert_eq!(project.exit_code(&["lint-evals", "my-skill", "--strict"]), Some(1));
}

#[test]
fn nothing_to_read_is_bad_input() {
    let project = project(None, None);
    insta::assert_snapshot!(project.run(&["lint-evals", "my-skill"]), @"
    exit code: 2
    ----- stdout
    ----- stderr
    error: my-skill has neither evals/evals.json nor evals/triggers.json

    hint: `skillgauge init SKILL` makes a suite to begin with, --evals names another file
    ");
    assert_eq!(project.exit_code(&["lint-evals", "nowhere"]), Some(2));
    assert_eq!(project.exit_code(&["lint-evals", "my-skill", "--evals", "nowhere.json"]), Some(2));
    project.file("set.json", BAD_TRIGGERS);
    assert_eq!(project.exit_code(&["lint-evals", "my-skill", "--triggers", "set.json"]), Some(1));
    assert_eq!(
        project.exit_code(&[
            "lint-evals",
            "my-skill",
            "--triggers",
            "set.json",
            "--reference",
            "nowhere"
        ]),
        Some(1)
    );
    project.file("evals.json", good_suite());
    assert_eq!(
        project.exit_code(&[
            "lint-evals",
            "my-skill",
            "--evals",
            "evals.json",
            "--reference",
            "nowhere"
        ]),
        Some(2)
    );
}

#[test]
fn reference_answers_are_tried_with_their_scripts() {
    let project = project(Some(&good_suite()), None);
    for id in 1..=5 {
        project.file(&format!("reference/{id}/result.md"), "text");
    }
    project.file("reference/5/result.md", "").file("reference/old/result.md", "");
    insta::assert_snapshot!(project.run(&["lint-evals", "my-skill", "--reference", "reference"]));
}

#[test]
fn codes_of_the_lint_are_explained() {
    let project = Project::new();
    insta::assert_snapshot!(project.run(&["explain", "passes-empty"]));
    assert!(project.stdout(&["explain", "duplicate-key"]).starts_with("# duplicate-key:"));
    assert!(project.stdout(&["explain", "DUPLICATE_KEY"]).starts_with("# DUPLICATE_KEY:"));
    let both = project.stdout(&["explain", "duplicate_key"]);
    assert!(both.contains("# DUPLICATE_KEY:") && both.contains("# duplicate-key:"), "{both}");
    assert!(project.run(&["explain", "few-case"]).contains("did you mean `few-cases`?"));
}
