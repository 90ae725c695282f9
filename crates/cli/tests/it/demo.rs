//! The bundled example: the whole way with no key and no network.

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
        "with_skill against without_skill: better",
        "estimate",
        "skillgauge doctor",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let page = String::from_utf8(project.read("skillgauge-demo/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>"), "{}", &page[..80.min(page.len())]);
    let again = project.output(&["demo"]);
    assert_eq!(again.status.code(), Some(0), "{}", project.shown(&again));
}
