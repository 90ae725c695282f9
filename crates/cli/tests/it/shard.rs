//! Parts of a plan on machines that know nothing of each other, and what `merge` makes of them.

use crate::command::Project;
use crate::run::{greeter, json, run, stderr};

/// A small plan: six runs.
const SMALL: [&str; 4] = ["--runs", "1", "--baseline", "none"];

fn part(project: &Project, shard: &str, workspace: &str) -> std::process::Output {
    run(project, &[&SMALL[..], &["--shard", shard, "--workspace", workspace]].concat())
}

#[test]
fn a_part_without_runs_has_done_its_work() {
    let project = greeter();
    let output = part(&project, "7/16", "part-7");
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    assert!(stderr(&output).contains("part 7/16 of the plan has no runs"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("no run has a result"), "{}", stderr(&output));
    for number in 1..=6 {
        let (shard, workspace) = (format!("{number}/16"), format!("part-{number}"));
        let output = part(&project, &shard, &workspace);
        assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
    }
    let parts: Vec<String> = (1..=7).map(|number| format!("part-{number}")).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let merged = project.output(&[&["merge"], &parts[..], &["--out", "whole"]].concat());
    assert_eq!(merged.status.code(), Some(0), "{}", project.shown(&merged));
}

#[test]
fn a_complete_part_says_that_it_is_one_and_not_that_nothing_is_missing() {
    let project = greeter();
    part(&project, "1/2", "part-1");
    let record = json(&project, "part-1/iteration-1/iteration.json");
    assert_eq!(record["partial"], "only part 1/2 of the plan is here");
    let notes = json(&project, "part-1/iteration-1/benchmark.json")["notes"].to_string();
    assert!(notes.contains("only part 1/2") && !notes.contains("0 runs"), "{notes}");
}

#[test]
fn a_part_that_is_not_there_is_named_and_the_others_are_put_together() {
    let project = greeter();
    part(&project, "1/2", "part-1");
    project.file("part-2/.keep", "");
    let merged = project.output(&["merge", "part-1", "part-2", "part-3", "--out", "whole"]);
    assert_eq!(merged.status.code(), Some(3), "{}", project.shown(&merged));
    for part in ["part-2", "part-3"] {
        let said = format!("there is no iteration in {part}");
        assert!(stderr(&merged).contains(&said), "{}", stderr(&merged));
    }
    assert!(stderr(&merged).contains("3 of 6 runs are there"), "{}", stderr(&merged));
    assert!(project.path().join("whole/benchmark.json").is_file());
    let nothing = project.output(&["merge", "part-2", "part-3", "--out", "other"]);
    assert_eq!(nothing.status.code(), Some(2), "{}", project.shown(&nothing));
}

#[test]
fn a_merge_does_not_mix_its_files_with_others() {
    let project = greeter();
    part(&project, "1/2", "part-1");
    part(&project, "2/2", "part-2");
    project.file("full/notes.txt", "mine");
    for folder in ["part-1", "full"] {
        let refused = project.output(&["merge", "part-1", "part-2", "--out", folder]);
        assert_eq!(refused.status.code(), Some(2), "{}", project.shown(&refused));
        assert!(stderr(&refused).contains("is no iteration"), "{}", stderr(&refused));
        assert!(!project.path().join(folder).join("iteration.json").exists(), "{folder}");
    }
    for _ in 0..2 {
        let merged = project.output(&["merge", "part-1", "part-2", "--out", "whole"]);
        assert_eq!(merged.status.code(), Some(0), "{}", project.shown(&merged));
    }
}
