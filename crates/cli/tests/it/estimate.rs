//! `skillgauge trigger --via estimate`.

use skillgauge_format::read;
use skillgauge_format::trigger::TriggerEstimate;

use crate::command::Project;

const SKILL: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../core/testdata/estimate/held-out/pdf-forms");

#[test]
fn it_says_which_words_caught_a_query_and_that_it_is_an_estimate() {
    let project = Project::new();
    let text = project.run(&["trigger", SKILL, "--via", "estimate"]);
    assert!(text.starts_with("exit code: 1\n"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_json_is_of_a_kind_of_its_own() {
    let project = Project::new();
    let neighbours = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/testdata/estimate/held-out");
    let output = project.output(&[
        "trigger",
        SKILL,
        "--via",
        "estimate",
        "--format",
        "json",
        "--neighbours",
        neighbours,
        "--out",
        "e.json",
    ]);
    let shown = project.read("e.json");
    assert_eq!(output.stdout, shown);
    let estimate = read::<TriggerEstimate>(&shown).unwrap().value;
    assert_eq!(estimate.neighbours.len(), 4, "the skill itself is not its neighbour");
    assert_eq!(project.exit_code(&["schema", "trigger-estimate", "--check", "e.json"]), Some(0));
}

#[test]
fn it_is_not_mixed_with_measurements() {
    let project = Project::new();
    for flags in
        [&["--calibrate"][..], &["--early-stop"], &["--crowd", "3"], &["--format", "junit"]]
    {
        let output = project.output(&[&["trigger", SKILL, "--via", "estimate"], flags].concat());
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains("an estimate is no measurement"), "{shown}");
    }
}
