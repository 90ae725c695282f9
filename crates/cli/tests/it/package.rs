//! `skillgauge package`.

use crate::command::Project;

fn project() -> Project {
    let project = Project::new();
    project
        .good_skill("one")
        .file("one/scripts/run.py", "print()\n")
        .file("one/evals/evals.json", "{\"cases\": []}")
        .file("one/.env", "TOKEN=1\n");
    project
}

#[test]
fn a_package_holds_the_skill_and_says_what_it_leaves_out() {
    let project = project();
    let told = [
        project.run(&["package", "one", "--list"]),
        project.run(&["package", "one"]),
        project.run(&["package", "nowhere"]),
    ];
    insta::assert_snapshot!(told.concat());
    assert!(project.read("one.skill").starts_with(b"PK"));
}

#[test]
fn the_same_content_gives_the_same_bytes_elsewhere() {
    let (first, second) = (project(), project());
    second.file("one/.env", "TOKEN=2\n").file("one/evals/more.json", "[]");
    first.run(&["package", "one"]);
    second.run(&["package", "one", "-o", "other.skill"]);
    assert_eq!(first.read("one.skill"), second.read("other.skill"));
    second.file("one/scripts/run.py", "print(1)\n");
    second.run(&["package", "one", "-o", "other.skill"]);
    assert_ne!(first.read("one.skill"), second.read("other.skill"));
}

#[test]
fn an_invalid_skill_is_not_packed() {
    let project = Project::new();
    project.file("bad/SKILL.md", "---\nname: Bad Name\n---\n");
    let shown = project.run(&["package", "bad"]);
    assert!(shown.starts_with("exit code: 1\n") && shown.contains("not valid"), "{shown}");
    assert!(!project.path().join("bad.skill").exists());
}
