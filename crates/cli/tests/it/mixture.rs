//! Runs of one iteration that were made with different versions: said wherever the results are shown.

use crate::command::Project;
use crate::run::{ITERATION, greeter, run, set_agent};

/// From now on the agent says that it has this version.
fn set_version(project: &Project, version: &str) {
    set_agent(project, &format!("echo '{{\"type\":\"start\",\"agent_version\":\"{version}\"}}'"));
}

fn stdout(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const WARNING: &str = "the runs were made with different versions of the agent: 1.0 (";

#[test]
fn an_iteration_that_another_version_went_on_with_says_so_everywhere() {
    let project = greeter();
    set_version(&project, "1.0");
    let first = run(&project, &["--max-calls", "7", "--jobs", "1"]);
    assert_eq!(first.status.code(), Some(3), "{}", project.shown(&first));
    assert!(!stdout(&first).contains("different versions"), "{}", project.shown(&first));
    set_version(&project, "1.1");
    let resumed = run(&project, &["--resume"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", project.shown(&resumed));
    assert!(stdout(&resumed).contains(WARNING), "{}", project.shown(&resumed));
    let bench = project.output(&["bench", ITERATION]);
    assert!(stdout(&bench).contains(WARNING), "{}", project.shown(&bench));
    let notes = project.read(&format!("{ITERATION}/benchmark.md"));
    assert!(String::from_utf8(notes).unwrap().contains(WARNING));
    let report = project.output(&["report", "greeter-workspace", "--out", "page.html"]);
    assert_eq!(report.status.code(), Some(0), "{}", project.shown(&report));
    let page = String::from_utf8(project.read("page.html")).unwrap();
    assert_eq!(page.matches(WARNING).count(), 1, "it is said once");
}

#[test]
fn shards_of_different_versions_are_put_together_with_a_warning() {
    let project = greeter();
    for (part, version) in [("1/2", "1.0"), ("2/2", "1.1")] {
        set_version(&project, version);
        let workspace = format!("part-{}", &part[..1]);
        run(&project, &["--shard", part, "--workspace", &workspace]);
    }
    let merged = project.output(&["merge", "part-1", "part-2", "--out", "all"]);
    assert_eq!(merged.status.code(), Some(0), "{}", project.shown(&merged));
    assert!(stdout(&merged).contains(WARNING), "{}", project.shown(&merged));
}
