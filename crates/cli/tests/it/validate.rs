//! `skillgauge validate`: paths, discovery, exit codes, text output.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::command::Project;

const BAD: &str =
    "---\nname: My Skill\ndescription: Does <b>x</b>\n---\n\n# Body\n\nSee [it](../../x.md).\n";

#[test]
fn a_good_skill_has_no_findings() {
    let project = Project::new();
    project.good_skill("skills/pdf-forms");
    insta::assert_snapshot!(project.run(&["validate", "skills/pdf-forms"]), @"
    exit code: 0
    ----- stdout
    the skill is valid: no findings
    ----- stderr
    ");
}

#[test]
fn findings_show_the_line_they_are_about() {
    let project = Project::new();
    project.file("skills/pdf-forms/SKILL.md", BAD);
    insta::assert_snapshot!(project.run(&["validate", "skills/pdf-forms"]));
}

#[test]
fn every_skill_below_a_folder_is_found_in_a_stable_order() {
    let project = Project::new();
    project
        .good_skill("a/one")
        .good_skill(".claude/skills/two")
        .file("b/deep/er/three/SKILL.md", BAD);
    let jobs = |n| project.run(&["validate", "--jobs", n]);
    insta::assert_snapshot!(jobs("1"));
    assert_eq!(jobs("1"), jobs("8"));
}

#[test]
fn warnings_alone_are_fine_and_strict_makes_errors_of_some() {
    let project = Project::new();
    project.file(
        "s/SKILL.md",
        "---\nname: s\ndescription: Does x to files. Use when y.\nfoo: 1\n---\n\nText.\n",
    );
    assert_eq!(project.exit_code(&["validate", "s"]), Some(0));
    assert_eq!(project.exit_code(&["validate", "s", "--strict"]), Some(1));
    assert_eq!(
        project.exit_code(&["validate", "s", "--strict", "--ignore", "unknown-keys"]),
        Some(0)
    );
}

#[test]
fn a_path_that_is_no_skill_is_a_finding() {
    let project = Project::new();
    project.file("empty/notes.txt", "x").file("file.txt", "x");
    // A path that is not there is a typing error and no skill.
    for (path, code, exit) in [
        ("nowhere", "SKILL_DIR_MISSING", 2),
        ("file.txt", "SKILL_PATH_NOT_DIR", 1),
        ("empty", "SKILL_MD_MISSING", 1),
    ] {
        let shown = project.run(&["validate", path]);
        let is_shown = shown.starts_with(&format!("exit code: {exit}\n"));
        assert!(is_shown && shown.contains(code), "{shown}");
    }
}

#[test]
fn the_folder_may_be_given_in_any_way() {
    let project = Project::new();
    project.good_skill("skills/pdf-forms");
    symlink("skills/pdf-forms", project.path().join("link")).unwrap();
    for path in [
        "skills/pdf-forms",
        "skills/pdf-forms/",
        "./skills/../skills/pdf-forms",
        "link",
        "link/",
        "skills/pdf-forms/SKILL.md",
    ] {
        assert_eq!(project.exit_code(&["validate", "--strict", path]), Some(0), "{path}");
        assert!(project.stdout(&["validate", path]).contains("no findings"), "{path}");
    }
    let inside = project
        .command(&["validate", "."])
        .current_dir(project.path().join("link"))
        .output()
        .unwrap();
    assert!(project.shown(&inside).contains("no findings"));
}

#[test]
fn names_in_other_scripts_are_compared_as_text() {
    let project = Project::new();
    // The folder is written with a combining accent, the name with one character.
    project.file(
        "cafe\u{301}/SKILL.md",
        "---\nname: caf\u{e9}\ndescription: Brews the coffee. Use when x.\n---\n\nText.\n",
    );
    let shown = project.run(&["validate", ".", "--allow-unicode-names"]);
    assert!(shown.contains("no findings"), "{shown}");
    assert!(project.run(&["validate", "."]).contains("NAME_FORMAT"));
}

#[test]
fn ignored_folders_are_passed_over_unless_told_otherwise() {
    let project = Project::new();
    project.good_skill("kept").file("gone/SKILL.md", BAD).file("node_modules/x/SKILL.md", BAD);
    project.file(".gitignore", "/gone\n");
    assert!(project.stdout(&["validate"]).contains("1 skill, all valid"));
    assert!(project.stdout(&["validate", "--no-ignore"]).contains("3 skills, 2 not valid"));
    // What is named is checked, ignored or not.
    assert_eq!(project.exit_code(&["validate", "gone"]), Some(1));
}

#[test]
fn ignore_files_above_the_given_folder_count_inside_a_repository() {
    let project = Project::new();
    project
        .good_skill("skills/kept")
        .file("skills/gone/SKILL.md", BAD)
        .file(".gitignore", "gone/\n");
    project.file(".git/HEAD", "ref: refs/heads/main\n");
    assert!(project.stdout(&["validate", "skills"]).contains("1 skill, all valid"));
}

#[test]
fn links_are_followed_once_and_loops_end() {
    let project = Project::new();
    let outside = Project::new();
    outside.good_skill("elsewhere");
    project.good_skill("skills/one");
    symlink("../skills", project.path().join("skills/loop")).unwrap();
    symlink("skills/one", project.path().join("again")).unwrap();
    symlink(outside.path(), project.path().join("outside")).unwrap();
    symlink("nowhere", project.path().join("dangling")).unwrap();
    assert!(
        project.stdout(&["validate"]).contains("2 skills, all valid"),
        "{}",
        project.run(&["validate"])
    );
}

#[test]
fn copies_in_a_workspace_are_not_skills() {
    let project = Project::new();
    project
        .good_skill("one")
        .file("one-workspace/history.json", "{}")
        .file("one-workspace/v0/skill/SKILL.md", BAD);
    assert!(project.stdout(&["validate"]).contains("1 skill, all valid"));
}

#[test]
fn a_page_called_skill_md_in_lower_case_is_not_taken_for_a_skill() {
    let project = Project::new();
    project.good_skill("one").file("docs/skill.md", "# What a skill is\n");
    project.file(
        "two/skill.md",
        "---\nname: two\ndescription: Does it all. Use when x.\n---\n\nText.\n",
    );
    let shown = project.run(&["validate"]);
    assert!(
        shown.contains("2 skills, 1 not valid") && shown.contains("SKILL_MD_MISSING"),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_read_is_a_finding_and_the_rest_goes_on() {
    let project = Project::new();
    project
        .good_skill("a")
        .good_skill("z")
        .file("dir/SKILL.md/x", "")
        .file("big/SKILL.md", vec![b'a'; 9 << 20]);
    symlink("nowhere", project.path().join("a/notes.md")).unwrap();
    let shown = project.run(&["validate"]);
    assert!(shown.contains("4 skills, 2 not valid"), "{shown}");
    assert_eq!(shown.matches("error[UNREADABLE]").count(), 2, "{shown}");
}

/// Root reads everything, so there is nothing to see when the tests run as root.
#[test]
fn a_file_without_permission_is_a_finding() {
    let project = Project::new();
    project.good_skill("a").good_skill("locked");
    let path = project.path().join("locked/SKILL.md");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let expected =
        if fs_err::read(&path).is_ok() { "2 skills, all valid" } else { "error[UNREADABLE]" };
    assert!(project.run(&["validate"]).contains(expected));
}

#[test]
fn many_findings_are_a_line_each_and_a_table() {
    let project = Project::new();
    for n in 0..60 {
        project.file(&format!("skills/s{n:02}/SKILL.md"), BAD);
    }
    let shown = project.stdout(&["validate"]);
    let full = shown.lines().filter(|line| line.trim_start().starts_with("--> ")).count();
    let brief = shown
        .lines()
        .filter(|line| line.contains(": error[") && line.starts_with("./skills"))
        .count();
    assert!((50..60).contains(&full), "{full} findings in full");
    assert!(brief > 50, "{brief} findings in a line");
    assert!(shown.contains("60 skills, 60 not valid"));
    assert!(shown.contains("60  error    NAME_FORMAT"), "{shown}");
}

#[test]
fn a_thousand_findings_of_one_rule_in_one_skill_are_cut() {
    let project = Project::new();
    let links = "[x](../../gone.md)\n\n".repeat(1000);
    project.file(
        "s/SKILL.md",
        format!("---\nname: s\ndescription: Does it all. Use when x.\n---\n\n{links}"),
    );
    let shown = project.stdout(&["validate", "s"]);
    assert_eq!(shown.matches("DEEP_LINK_TARGET").count(), 101);
    assert!(shown.contains("only the first 100 are listed"));
}

#[test]
fn colour_is_used_only_when_asked_for_or_on_a_terminal() {
    let project = Project::new();
    project.file("s/SKILL.md", BAD);
    assert!(!project.stdout(&["validate", "s"]).contains('\u{1b}'));
    assert!(project.stdout(&["validate", "s", "--color", "always"]).contains('\u{1b}'));
}

#[test]
fn a_skill_cannot_write_to_the_terminal() {
    let project = Project::new();
    project.file(
        "s/SKILL.md",
        "---\nname: \"a\\e[31mb\"\ndescription: x \u{9b}31m\nfo\u{7}o: 1\n---\n\u{1b}]0;x\u{7}\n",
    );
    for format in ["text", "json", "jsonl", "sarif", "github", "junit"] {
        let out = project.stdout(&["validate", "s", "--format", format]);
        assert!(!out.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{format}: {out:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_crash() {
    let project = Project::new();
    for n in 0..300 {
        project.file(&format!("skills/s{n}/SKILL.md"), BAD);
    }
    let mut child = project
        .command(&["validate", "--format", "jsonl"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some(), "ended by a signal");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn bad_usage_is_exit_code_two() {
    let project = Project::new();
    for args in [
        &["validate", "--format", "yaml"][..],
        &["validate", "--profile", "nobody"],
        &["validate", "--ignore", "NO_SUCH_CODE"],
        &["validate", "--dry-run"],
        &["validate", "--fix", "--dry-run", "--format", "json"],
        &["validate", "--jobs", "0"],
    ] {
        assert_eq!(project.exit_code(args), Some(2), "{args:?}");
    }
}

/// A folder with so many skills, each with a description of about 230 characters.
fn crowded(project: &Project, folder: &str, count: usize) {
    let about = "Counts the words of a text. Use when somebody asks how long a text is. ".repeat(3);
    for number in 1..=count {
        let name = format!("count-{number:02}");
        let text = format!(
            "---\nname: {name}\ndescription: {}\n---\n\n# Count\n\nCount the words.\n",
            about.trim()
        );
        project.file(&format!("{folder}/{name}/SKILL.md"), text);
    }
}

#[test]
fn a_list_of_skills_that_is_over_its_budget_is_told_once_for_the_folder() {
    let project = Project::new();
    crowded(&project, "many", 40);
    crowded(&project, "few", 20);
    let shown = |jobs| project.run(&["validate", "few", "many", "--jobs", jobs]);
    insta::assert_snapshot!(shown("1"));
    assert_eq!(shown("1"), shown("8"));
    let json = project.output(&["validate", "many", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let reports = json["skills"].as_array().unwrap();
    let warned = reports.iter().filter(|report| report["summary"]["warning_count"] != 0);
    let warned: Vec<&str> = warned.filter_map(|report| report["skill_path"].as_str()).collect();
    assert_eq!(warned, [project.path().join("many").canonicalize().unwrap().to_str().unwrap()]);
    assert_eq!(json["summary"]["skills"], 40, "the folder is no skill");
    let ignored = project.run(&["validate", "many", "--ignore", "listing-budget"]);
    assert!(ignored.contains("no findings"), "{ignored}");
}

#[test]
fn one_skill_is_looked_at_together_with_its_neighbours_where_skills_are_installed() {
    let project = Project::new();
    crowded(&project, ".claude/skills", 40);
    crowded(&project, "drafts", 40);
    let installed = project.run(&["validate", ".claude/skills/count-07"]);
    assert!(installed.contains("warning[LISTING_BUDGET]"), "{installed}");
    assert!(installed.contains("count-38, count-39, count-40"), "{installed}");
    let draft = project.run(&["validate", "drafts/count-07"]);
    assert!(draft.contains("no findings"), "{draft}");
}
