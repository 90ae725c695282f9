//! The bundled example: the whole way with no key and no network.

use std::path::Path;

use crate::command::Project;

#[test]
fn the_demo_shows_the_whole_way_and_says_what_is_scripted() {
    let project = Project::new();
    let output = project.output(&["demo"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    for said in [
        "scripted: no model, no key, no network",
        "$ skillgauge validate skillgauge-demo/release-notes",
        "Better on these 6 cases: overall efficiency +57 points",
        "estimate",
        "skillgauge doctor",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let page = String::from_utf8(project.read("skillgauge-demo/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>"), "{}", &page[..80.min(page.len())]);
    every_file_is_known(&project, &project.path().join("skillgauge-demo"));
    let again = project.output(&["demo"]);
    assert_eq!(again.status.code(), Some(0), "{}", project.shown(&again));
}

/// Every JSON file below a folder is known by its shape and fits its schema.
fn every_file_is_known(project: &Project, folder: &Path) {
    for entry in fs_err::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            every_file_is_known(project, &path);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            let shown = project.run(&["schema", "--check", path.to_str().unwrap()]);
            assert!(shown.starts_with("exit code: 0"), "{}: {shown}", path.display());
        }
    }
}
