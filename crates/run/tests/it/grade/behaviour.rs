//! Behaviour from a transcript.

use serde_json::{Value, json};
use skillgauge_format::part::Statement;
use skillgauge_format::{Kind, write};
use skillgauge_run::grade::{StoredRun, grade_behaviour};
use tokio_util::sync::CancellationToken;

use crate::grade::stage::{EVALS, Workshop, judge, serve, statement};

fn answer() -> Value {
    let note = |score: u8| json!({"notes": "Well done.", "score": score});
    json!({
        "assertions": {"A1": statement("pass", &["I wrote report.md."]), "A2": statement("pass", &["I asked first"])},
        "dimensions": {"task_completion": note(5), "output_structure": note(5), "error_handling": note(3), "efficiency": note(4)},
        "weak_assertions": ["A1"], "missing_coverage": [], "summary": "It did what was asked.",
    })
}

#[tokio::test]
async fn assertions_about_any_transcript_are_judged() {
    let shop = Workshop::new(EVALS);
    let stored = StoredRun::read(shop.run("eval-1/with_skill/run-1")).unwrap();
    let transcript = stored.transcript.unwrap();
    let assertions = [Statement::from("It wrote a report"), Statement::from("It asked before")];
    let server = serve(vec![answer()]);
    let judge = judge(&server, 1);
    let (graded, _) =
        grade_behaviour(&transcript, &assertions, &judge, &CancellationToken::new()).await;
    let grading = graded.unwrap();
    let text = write::to_text(&grading).unwrap();
    let problems = Kind::BehaviourGrading.check(text.as_bytes());
    assert!(problems.list().is_empty(), "{problems}\n{text}");
    let grading: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&grading["assertions"][0]["passed"], &grading["assertions"][1]["passed"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(grading["assertions"][1]["evidence_found"], false);
    assert_eq!(
        (&grading["overall_score"], &grading["weak_assertions"]),
        (&json!(4.2), &json!(["It wrote a report"]))
    );
    assert_eq!(grading["grader"]["template"]["name"], "grade_behaviour");
}

#[tokio::test]
async fn a_bad_answer_is_no_grading() {
    let shop = Workshop::new(EVALS);
    let stored = StoredRun::read(shop.run("eval-1/with_skill/run-1")).unwrap();
    let bad = json!({"summary": "fine"});
    let server = serve(vec![bad.clone(), bad]);
    let (graded, _) = grade_behaviour(
        &stored.transcript.unwrap(),
        &[Statement::from("x")],
        &judge(&server, 1),
        &CancellationToken::new(),
    )
    .await;
    assert!(graded.unwrap_err().contains("no answer that can be used"));
}
