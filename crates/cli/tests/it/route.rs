//! `skillgauge route` with an agent that loads skills by words of their descriptions.

use serde_json::json;
use skillgauge_format::read;
use skillgauge_format::trigger::{RouteBasis, RouteReport};

use crate::command::Project;
use crate::fake::loading_agent;

fn skill(project: &Project, name: &str, words: &str, queries: &[(&str, bool)]) {
    let items: Vec<_> = (queries.iter())
        .map(|(query, label)| json!({"query": query, "should_trigger": label}))
        .collect();
    project
        .file(
            &format!("skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Works with {words} things. Use when asked.\n---\n\n# Body\n"),
        )
        .file(&format!("skills/{name}/evals/triggers.json"), json!(items).to_string());
}

/// Two skills; both descriptions have the word w2, and the first one takes what the second wants.
pub(crate) fn project() -> Project {
    let project = Project::new();
    skill(
        &project,
        "csv-report",
        "w1 w2",
        &[("sum w1 please", true), ("fill w2 form", false), ("bake a cake", false)],
    );
    skill(
        &project,
        "pdf-forms",
        "w2 w3",
        &[("fill w2 form", true), ("sign w3 page", true), ("sum w1 please", false)],
    );
    loading_agent(&project, "agent");
    project
}

pub(crate) const ROUTE: [&str; 8] =
    ["route", "skills", "--agent", "agent", "--runs", "2", "--out", "route.json"];

#[test]
fn it_shows_which_skill_took_each_query_and_who_collides() {
    let project = project();
    let output = project.output(&[&ROUTE[..], &["--page", "route.html"]].concat());
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
    let report = read::<RouteReport>(&project.read("route.json")).unwrap();
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    let report = report.value;
    assert_eq!(report.basis, RouteBasis::Measured);
    assert_eq!(report.matrix.labels, ["csv-report", "pdf-forms", "none"]);
    assert_eq!(report.matrix.rows, [[2, 0, 0], [2, 2, 0], [0, 0, 2]]);
    assert_eq!(report.collisions[0].queries, ["fill w2 form"]);
    let page = String::from_utf8(project.read("route.html")).unwrap();
    assert!(page.contains("csv-report and pdf-forms: 2 runs") && page.contains("fill w2 form"));
    let again = project.output(&ROUTE);
    let shown = project.shown(&again);
    assert!(shown.contains("8 of 8 probes are known"), "the same call costs nothing: {shown}");
}

#[test]
fn the_estimate_needs_no_agent_and_says_what_it_is() {
    let project = Project::new();
    let testdata = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/testdata/estimate/held-out");
    let output = project
        .output(&["route", testdata, "--via", "estimate", "--out", "r.json", "--page", "r.html"]);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("ESTIMATE from words alone; nothing was measured"), "{shown}");
    assert_eq!(
        read::<RouteReport>(&project.read("r.json")).unwrap().value.basis,
        RouteBasis::Estimate
    );
    let page = String::from_utf8(project.read("r.html")).unwrap();
    assert!(page.contains("From words alone; nothing was measured"));
}

#[test]
fn skills_that_agree_give_exit_code_0() {
    let project = Project::new();
    skill(&project, "one", "w1", &[("do w1 now", true), ("do w2 now", false)]);
    skill(&project, "two", "w2", &[("do w2 now", true), ("sing", false)]);
    loading_agent(&project, "agent");
    let output = project.output(&ROUTE);
    assert_eq!(output.status.code(), Some(0), "{}", project.shown(&output));
}

#[test]
fn bad_input_is_told_before_anything_is_spent() {
    let project = project();
    project.good_skill("alone/one");
    for (args, message) in [
        (vec!["route", "nowhere"], "routing needs two skills"),
        (vec!["route", "alone"], "1 skills were found, 0 of them with one"),
        (vec!["route", "skills", "skills"], "two skills are called `csv-report`"),
    ] {
        let output = project.output(&args);
        let shown = project.shown(&output);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains(message), "{message}: {shown}");
    }
}

#[test]
fn a_skill_that_cannot_be_loaded_breaks_the_measurement() {
    let project = project();
    project.file(
        "agent.sh",
        "#!/bin/sh\ncat > /dev/null\necho '{\"type\":\"result\",\"text\":\"x\"}'\n",
    );
    let output = project.output(&ROUTE);
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert!(shown.contains("the positive control failed"), "{shown}");
    let report = read::<RouteReport>(&project.read("route.json")).unwrap().value;
    let controls: Vec<_> =
        report.controls.iter().map(|it| (it.skill.as_str(), it.passed)).collect();
    assert_eq!(controls, [("csv-report", false)]);
    assert!(report.results.is_empty() && report.partial == Some(true), "{shown}");
}

/// An agent that loads what the prompt names: `alpha` by name, both for `together`, and the other one for `stray`.
fn planted(project: &Project) {
    loading_agent(project, "agent");
    let load = |name: &str| {
        format!("echo '{{\"type\":\"skill\",\"name\":\"{name}\",\"state\":\"loaded\"}}'")
    };
    let [alpha, beta] = ["alpha", "beta"].map(load);
    let script = format!(
        "#!/bin/sh\nprompt=$(cat)\ncase \"$prompt\" in\n*limit*) exit 1;;\nesac\n\
         case \"$prompt\" in\n*alpha*|*together*) {alpha};;\nesac\n\
         case \"$prompt\" in\n*beta*|*together*|*stray*) {beta};;\nesac\n\
         echo '{{\"type\":\"result\",\"text\":\"done\"}}'\n"
    );
    project.file("agent.sh", script);
}

#[test]
fn two_skills_at_once_are_a_collision_and_a_stray_query_is_a_false_fire() {
    let project = Project::new();
    skill(&project, "alpha", "w1", &[("all together", true), ("a stray wish", false)]);
    skill(&project, "beta", "w2", &[("only beta", true), ("a quiet one", false)]);
    planted(&project);
    let output = project.output(&[&ROUTE[..], &["--page", "route.html"]].concat());
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    let report = read::<RouteReport>(&project.read("route.json")).unwrap().value;
    let of = |query: &str| report.results.iter().find(|it| it.query == query).unwrap();
    let together = of("all together");
    let taken: Vec<_> = together.taken_by.iter().map(|it| (it.skill.as_str(), it.runs)).collect();
    assert_eq!((taken, together.together), (vec![("alpha", 2), ("beta", 2)], 2));
    assert_eq!(together.pass, Some(false));
    assert_eq!((report.collisions[0].runs, report.collisions[0].together), (2, 2));
    // Nobody wants it, and beta, which says nothing about it, takes it.
    assert_eq!(of("a stray wish").pass, Some(false));
    assert_eq!(of("a quiet one").pass, Some(true));
    let fires: Vec<u64> = report.skills.iter().map(|it| it.false_fires).collect();
    assert_eq!(fires, [0, 4], "two beside alpha and two that nobody wants: {shown}");
    assert!(
        shown.contains("alpha and beta collide in 2 runs, 2 of them with both loaded"),
        "{shown}"
    );
    assert!(shown.contains("wanted by none; taken by beta 2/2"), "{shown}");
    let page = String::from_utf8(project.read("route.html")).unwrap();
    assert!(page.contains("alpha and beta: 2 runs, 2 with both loaded"));
}

#[test]
fn a_query_without_a_result_is_undecided_and_gives_3() {
    let project = Project::new();
    skill(&project, "alpha", "w1", &[("an alpha thing", true), ("over the limit", false)]);
    skill(&project, "beta", "w2", &[("only beta", true), ("a quiet one", false)]);
    planted(&project);
    let output = project.output(&[&ROUTE[..], &["--retries", "0"]].concat());
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    let report = read::<RouteReport>(&project.read("route.json")).unwrap().value;
    assert_eq!((report.summary.passed, report.summary.undecided), (3, 1), "{shown}");
    assert!(shown.contains("3 of 4 queries went where they should, 1 undecided"), "{shown}");
}

#[test]
fn a_limit_on_calls_keeps_what_was_measured() {
    let project = project();
    let output = project.output(&[&ROUTE[..], &["--max-calls", "5", "--jobs", "1"]].concat());
    let shown = project.shown(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    let report = read::<RouteReport>(&project.read("route.json")).unwrap().value;
    assert_eq!(report.partial, Some(true), "{shown}");
    assert!(shown.contains("5 of 8 probes were not made"), "{shown}");
}
