//! Runs of a `cases` suite.

use serde_json::json;
use skillgauge_core::workspace::Workspace;
use skillgauge_format::part::Configuration;
use skillgauge_run::grade::{read_cases_grading, store};

use crate::grade::stage::{CASES, Workshop, cases_answer, checked, judge, serve};

#[tokio::test]
async fn criteria_are_scored_and_the_grading_goes_where_the_seed_wants_it() {
    let shop = Workshop::new(CASES);
    let run = shop.run("eval-case-01/with_skill/run-1");
    let server = serve(vec![cases_answer(4)]);
    let graded = shop.grade(&run, Some(&judge(&server, 1))).await;
    let mut grading = checked(&graded);
    grading["grader"]["template"]["digest"] = json!("[digest]");
    grading["grader"]["spent"]["seconds"] = json!("[seconds]");
    insta::assert_json_snapshot!(grading);
    let sent = server.requests()[0].json().to_string();
    assert!(sent.contains("===== BEGIN SKILL ") && sent.contains("Reports on CSV files"));

    let workspace = Workspace::at(shop.path().join("csv-report-workspace"));
    let file = graded.file.unwrap();
    store(&file, &run, &Configuration::WithoutSkill, &workspace).unwrap();
    let seed = workspace.root().join("grading/case-01_v2_run1.json");
    assert!(run.grading_file().is_file() && !seed.exists());
    store(&file, &run, &Configuration::WithSkill, &workspace).unwrap();
    let read = |path: &std::path::Path| read_cases_grading(&fs_err::read(path).unwrap()).unwrap();
    assert_eq!(read(&seed), read(&run.grading_file()), "two shapes of the same");
}

#[tokio::test]
async fn without_an_answer_there_is_nothing_to_write() {
    let shop = Workshop::new(CASES);
    let run = shop.run("eval-case-01/with_skill/run-1");
    let bad = json!({"criteria": {}});
    let server = serve(vec![bad.clone(), bad]);
    let graded = shop.grade(&run, Some(&judge(&server, 1))).await;
    assert!(graded.file.is_none());
    assert!(
        graded.judge_errors[0].starts_with("case-01: the judge gave no answer that can be used: "),
        "{graded:?}"
    );
}

#[tokio::test]
async fn the_median_of_the_votes_is_the_score() {
    let shop = Workshop::new(CASES);
    let run = shop.run("eval-case-01/with_skill/run-1");
    let server = serve(vec![cases_answer(5), cases_answer(2), cases_answer(3)]);
    let grading = checked(&shop.grade(&run, Some(&judge(&server, 3))).await);
    let first = &grading["results"][0];
    assert_eq!((&first["score"], &first["votes"]), (&json!(3), &json!([5, 2, 3])));
    assert_eq!((&grading["overall"], &grading["required_score"]), (&json!("pass"), &json!(3.0)));
    assert_eq!(grading["grader"]["disagreements"], 1);
}
