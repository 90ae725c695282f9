//! `skillgauge validate --fix`.

use crate::command::Project;

const COLON: &str = "---\r\nname: s\r\ndescription: Reviews code. Use when: reviewing it.\r\n---\r\n\r\nText.  \r\n";

#[test]
fn a_dry_run_shows_a_diff_and_changes_nothing() {
    let project = Project::new();
    project.file("s/SKILL.md", COLON.replace('\r', ""));
    insta::assert_snapshot!(project.run(&["validate", "s", "--fix", "--dry-run"]));
    assert_eq!(project.read("s/SKILL.md"), COLON.replace('\r', "").as_bytes());
}

#[test]
fn quoting_repairs_the_yaml_and_leaves_every_other_byte_alone() {
    let project = Project::new();
    project.file("s/SKILL.md", COLON);
    let shown = project.run(&["validate", "s", "--fix"]);
    assert!(shown.contains("no findings") && shown.contains("fixed 1 finding"), "{shown}");
    let expected = COLON.replace(
        "Reviews code. Use when: reviewing it.",
        "\"Reviews code. Use when: reviewing it.\"",
    );
    let single = expected.replace('"', "'");
    let found = String::from_utf8(project.read("s/SKILL.md")).unwrap();
    assert!(found == expected || found == single, "{found:?}");
    assert!(project.run(&["validate", "s", "--fix"]).contains("fixed 0 findings"));
}

#[test]
fn a_byte_order_mark_and_a_lower_case_name_are_put_right() {
    let project = Project::new();
    let text = "---\nname: s\ndescription: Reviews all code. Use when reviewing.\n---\n\nText.\n";
    project.file("s/skill.md", format!("\u{feff}{text}"));
    let shown = project.run(&["validate", "s", "--fix"]);
    assert!(shown.contains("no findings") && shown.contains("fixed 2 findings"), "{shown}");
    assert_eq!(project.read("s/SKILL.md"), text.as_bytes());
}

#[test]
fn what_a_person_has_to_decide_is_left_alone() {
    let project = Project::new();
    let text =
        "---\nname: My Skill\ndescription: Reviews all code. Use when reviewing.\n---\n\nText.\n";
    project.file("s/SKILL.md", text);
    let shown = project.run(&["validate", "s", "--fix"]);
    assert!(shown.starts_with("exit code: 1") && shown.contains("fixed 0 findings"), "{shown}");
    assert_eq!(project.read("s/SKILL.md"), text.as_bytes());
}

#[test]
fn a_linked_file_is_not_written_through() {
    let project = Project::new();
    project.file("elsewhere.md", COLON).file("s/notes.md", "x");
    std::os::unix::fs::symlink("../elsewhere.md", project.path().join("s/SKILL.md")).unwrap();
    assert_eq!(project.exit_code(&["validate", "s", "--fix"]), Some(1));
    assert_eq!(project.read("elsewhere.md"), COLON.as_bytes());
}
