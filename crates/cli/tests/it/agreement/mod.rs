//! One reading of results: every number and standing of an iteration is the same on every surface.
//!
//! Each workspace is made by the binary, or laid out by hand as other tools leave it. Then every number is taken out of
//! every surface and held against benchmark.json, and what must be true by design is held against that.

mod facts;
mod page;
mod surfaces;
mod workspaces;

use facts::Facts;
use workspaces::Made;

/// What each surface must show, by the kind of fact.
const COUNTS: [&str; 3] = ["arm passed", "arm failed", "arm left out"];
const RATES: [&str; 3] = ["arm rate", "arm low", "arm high"];
const DIFFERENCE: [&str; 5] = [
    "difference outcome",
    "difference verdict",
    "difference value",
    "difference low",
    "difference high",
];

/// Holds every surface of a workspace against benchmark.json, and that against what is expected.
fn agree(made: &Made) {
    let Made { project, iteration, .. } = made;
    let bench = |format: &str| project.stdout(&["bench", iteration, "--format", format]);
    let text = bench("text");
    let benchmark: serde_json::Value =
        serde_json::from_slice(&project.read(&format!("{iteration}/benchmark.json"))).unwrap();
    let reference = surfaces::reference(&benchmark);
    let mut wrong = expected(made, &reference);
    let mut hold = |surface: &str, facts: &Facts, shown: &[&str]| {
        let differences = facts.differences(&reference, shown);
        wrong.extend(differences.into_iter().map(|found| format!("{surface}: {found}")));
    };

    // Where nothing was measured, there is a sentence in the place of the table.
    let is_measured = benchmark["runs"].as_array().is_some_and(|runs| !runs.is_empty());
    let numbers =
        if is_measured { [&COUNTS[..], &RATES, &DIFFERENCE].concat() } else { Vec::new() };
    hold("bench", &surfaces::table(&text), &numbers);
    assert_eq!(text.starts_with("no rate"), !is_measured, "{text}");
    if let Some(said) = &made.said {
        hold("run", &surfaces::table(said), &numbers);
        assert_eq!(said.starts_with("no rate"), !is_measured, "{said}");
    }
    let json = serde_json::from_str(&bench("json")).unwrap();
    hold("bench as JSON", &surfaces::reference(&json), &["run", "test"]);
    let of_cases = ["case rate", "case passed", "case measured", "case flaky"];
    let in_markdown = [&RATES[..], &DIFFERENCE, &of_cases].concat();
    let stored = String::from_utf8(project.read(&format!("{iteration}/benchmark.md"))).unwrap();
    for (surface, text) in [("benchmark.md", stored), ("bench as Markdown", bench("markdown"))] {
        hold(surface, &surfaces::markdown(&text, &benchmark), &in_markdown);
    }
    let conclusions = [&DIFFERENCE[..], &["test"]].concat();
    hold("JUnit", &surfaces::junit(&bench("junit")), &conclusions);
    hold("annotations", &surfaces::github(&bench("github"), &reference), &conclusions);
    if made.has_versions {
        let overview = project.stdout(&["history", "greeter", "--format", "json"]);
        let overview = serde_json::from_str(&overview).unwrap();
        let table = project.stdout(&["history", "greeter"]);
        hold("history", &surfaces::history(&overview, &table), &["version"]);
        // Its rate is another one than the benchmark's where a case lost an arm, so both say what they are over.
        assert_eq!(table.contains("over all measured runs"), is_measured, "{table}");
    }

    let on_overview = [&COUNTS[..], &RATES, &DIFFERENCE].concat();
    let in_matrix = ["run", "case rate", "case flaky"];
    let report = project.output(&["report", made.workspace(), "-o", "-"]);
    let report = String::from_utf8(report.stdout).unwrap();
    hold("report", &page::facts(&report), &[&on_overview[..], &in_matrix].concat());
    if let Some(cases) = benchmark["statistics"]["differences"][0]["cases"].as_u64() {
        let ending = if cases == 1 { "" } else { "s" };
        let over = format!("What the runs come to, over {cases} comparable case{ending}");
        assert!(report.contains(&over), "{over}");
    }
    let [overview, cases, pages] = page::served(project, made.workspace(), made.key());
    hold("overview page", &page::facts(&overview), &on_overview);
    hold("cases page", &page::facts(&cases), &in_matrix);
    hold("case pages", &page::facts(&pages), &["run"]);
    assert!(wrong.is_empty(), "{} disagreements:\n{}\n\n{text}", wrong.len(), wrong.join("\n"));
}

/// What is known of a workspace by the way in which it was made.
fn expected(made: &Made, reference: &Facts) -> Vec<String> {
    let mut wrong = Vec::new();
    for (key, wanted) in &made.expected {
        let found = reference.get(key).map_or("nothing".to_owned(), ToString::to_string);
        if found != *wanted {
            wrong.push(format!("benchmark.json: {key}: {found} instead of {wanted}"));
        }
    }
    wrong
}

#[test]
fn a_suite_of_evals_with_and_without_the_skill() {
    agree(&workspaces::evals());
}

#[test]
fn a_suite_of_cases() {
    agree(&workspaces::cases());
}

#[test]
fn a_suite_of_cases_without_a_baseline() {
    agree(&workspaces::no_baseline());
}

#[test]
fn an_older_version_as_the_baseline() {
    agree(&workspaces::old_version());
}

#[test]
fn a_crash_is_a_failed_run() {
    agree(&workspaces::crash());
}

#[test]
fn a_timeout_is_a_failed_run_whatever_its_checks_say() {
    agree(&workspaces::timeout());
}

#[test]
fn runs_that_the_service_lost_are_not_measured() {
    agree(&workspaces::lost_runs());
}

#[test]
fn a_case_that_lost_one_arm_is_not_compared() {
    agree(&workspaces::lost_arm());
}

#[test]
fn a_judge_that_never_answers_leaves_nothing_measured() {
    agree(&workspaces::no_judge_answers());
}

#[test]
fn a_judge_that_answers_for_some_runs_measures_those() {
    agree(&workspaces::some_judge_answers());
}

#[test]
fn a_run_with_one_open_expectation_is_not_measured() {
    agree(&workspaces::one_open_expectation());
}

#[test]
fn a_closed_gate_fails_what_was_not_judged() {
    agree(&workspaces::closed_gate());
}

#[test]
fn a_closed_gate_changes_nothing_where_nobody_judges() {
    agree(&workspaces::closed_gate_without_judge());
}

#[test]
fn a_suite_with_a_rubric_and_nothing_else() {
    agree(&workspaces::rubric_only());
}

#[test]
fn an_iteration_that_a_budget_stopped() {
    agree(&workspaces::budget());
}

#[test]
fn the_layout_of_the_skill_creator() {
    agree(&workspaces::skill_creator());
}

#[test]
fn the_layout_with_named_folders() {
    agree(&workspaces::named_folders());
}

#[test]
fn the_layout_without_numbers_of_runs() {
    agree(&workspaces::flat());
}

#[test]
fn parts_that_were_put_together() {
    agree(&workspaces::merged());
}

#[test]
fn a_fleet_in_one_process() {
    agree(&workspaces::fleet());
}
