//! Pages that stand alone.

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::page::page;
use skillgauge_core::tune::split::Split;
use skillgauge_format::Number;
use skillgauge_format::trigger::{
    LoopIteration, LoopSummary, ProofResult, QueryResult, RouteReport, TriggerReport, TuneProof,
};
use skillgauge_web::{route_page, tune_page};

use crate::workspace::HOSTILE;

fn iteration(round: u64, description: &str, passed: u64) -> LoopIteration {
    LoopIteration {
        round,
        description: description.to_owned(),
        train_passed: passed,
        train_total: 1,
        test_passed: passed,
        test_total: 1,
        test_pass_rate: Number::Float(if passed == 1 { 1.0 } else { 0.0 }),
        errors: Some(0),
        adopted: Some(true),
        ..LoopIteration::default()
    }
}

fn report(pass: bool) -> TriggerReport {
    let result = |query: &str| QueryResult {
        query: query.to_owned(),
        should_trigger: true,
        triggers: if pass { 3 } else { 0 },
        runs: 3,
        pass,
        ..QueryResult::default()
    };
    TriggerReport {
        results: vec![result("make a report"), result(HOSTILE)],
        ..TriggerReport::default()
    }
}

#[test]
fn the_page_of_a_loop_shows_rounds_changes_and_queries_and_runs_nothing() {
    let better = format!("Makes good reports {HOSTILE}");
    let summary = LoopSummary {
        skill_name: "table-report".to_owned(),
        original_description: "Makes reports".to_owned(),
        iterations: vec![iteration(1, "Makes reports", 0), iteration(2, &better, 1)],
        final_description: better.clone(),
        proof: Some(TuneProof {
            round: 2,
            candidate: better.clone(),
            proven: true,
            queries: 1,
            runs: 5,
            original_rate: Some(Number::Float(0.0)),
            candidate_rate: Some(Number::Float(1.0)),
            difference: Some(Number::Float(1.0)),
            p: Some(Number::Float(0.004)),
            results: vec![ProofResult {
                query: HOSTILE.to_owned(),
                should_trigger: true,
                original_runs: 5,
                candidate_right: 5,
                candidate_runs: 5,
                ..ProofResult::default()
            }],
            ..TuneProof::default()
        }),
        best_iteration_note: Some("chosen by its held-out rate among 2 rounds".to_owned()),
        warnings: Some(vec!["overfitting: look again".to_owned()]),
        stop_reason: Some("all 1 rounds are used".to_owned()),
        ..LoopSummary::default()
    };
    let queries = ["make a report", HOSTILE].map(|text| LabelledQuery::new(text, true));
    let split = Split { train: vec![0], test: vec![1] };
    let html =
        tune_page(&page(&summary, &[report(false), report(true)], &queries, &split)).unwrap();
    for words in [
        "better: on 1 held-out query 0 % -&gt; 100 % of runs right (+100 points, p = 0.0040)",
        "Proof: 5 fresh runs of each query with each description",
        "5 of 5",
        "Best: chosen by its held-out rate among 2 rounds",
        "overfitting: look again",
        "✗ 0 of 3",
        "✓ 3 of 3",
        "held out",
        "1 of 1 (21 to 100 %)",
        "make a report",
    ] {
        assert!(html.contains(words), "the page does not say: {words}");
    }
    assert!(!html.contains(HOSTILE));
    assert_eq!(html.matches("<script").count(), 1);
    assert!(html.contains("default-src &#x27;none&#x27;"));
}

#[test]
fn the_page_of_a_route_report_shows_matrix_skills_collisions_and_queries() {
    let text = include_str!("../../../format/testdata/skillgauge/route-report.json");
    let mut report: RouteReport = skillgauge_format::read(text.as_bytes()).unwrap().value;
    report.results[0].query = HOSTILE.to_owned();
    let html = route_page(&report).unwrap();
    for words in [
        "1 of 3 queries went where they should; 1 undecided (partial)",
        "csv-report and pdf-forms: 3 runs",
        "50 % (19 to 81 %)",
        "✗ wrong",
        "! undecided",
        "none",
    ] {
        assert!(html.contains(words), "the page does not say: {words}");
    }
    assert!(!html.contains(HOSTILE));
    assert!(!html.contains("nothing was measured"), "it was");
}
