//! Runs of an `evals` suite.

use serde_json::{Value, json};
use skillgauge_run::grade::Judge;
use skillgauge_run::model::connect;
use skillgauge_testkit::server::{Fault, Rule, Script, Server};
use tokio_util::sync::CancellationToken;

use crate::grade::stage::{
    EVALS, Workshop, access, checked, evals_answer, judge, serve, statement,
};

fn good() -> Value {
    evals_answer(&statement("pass", &["Total: 42 euros"]), &statement("fail", &[]), 4)
}

#[tokio::test]
async fn a_stored_run_is_graded_from_its_folder_alone() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let server = serve(vec![good()]);
    let graded = shop.grade(&run, Some(&judge(&server, 1))).await;
    assert_eq!((graded.calls, graded.judge_errors.len()), (1, 0));
    // A server of one's own has no known price.
    assert_eq!(graded.cost_usd, None);
    let mut grading = checked(&graded);
    // The answer of the scripted service decides it; its digest is that of the template.
    grading["grader"]["template"]["digest"] = json!("[digest]");
    grading["grader"]["spent"]["seconds"] = json!("[seconds]");
    for key in ["grader_start", "grader_end", "grader_duration_seconds"] {
        assert!(!grading["timing"][key].is_null(), "{key}");
        grading["timing"][key] = json!("[time]");
    }
    insta::assert_json_snapshot!(grading);
}

#[tokio::test]
async fn the_judge_is_told_neither_the_configuration_nor_any_path() {
    let shop = Workshop::new(EVALS);
    for configuration in ["with_skill", "without_skill", "old_skill"] {
        let run = shop.run(&format!("eval-1/{configuration}/run-1"));
        let server = serve(vec![good()]);
        shop.grade(&run, Some(&judge(&server, 1))).await;
        let requests = server.requests();
        let sent = requests[0].json().to_string();
        assert!(sent.contains("Total: 42 euros") && sent.contains("RUN/outputs/report.md"));
        let workspace = shop.path().display().to_string();
        for hint in ["with_skill", "without_skill", "old_skill", "iteration-1", "run-1", &workspace]
        {
            assert!(!sent.contains(hint), "{hint}: {sent}");
        }
    }
}

#[tokio::test]
async fn the_same_run_makes_the_same_request_whatever_its_configuration() {
    let shop = Workshop::new(EVALS);
    let mut sent = Vec::new();
    for configuration in ["with_skill", "without_skill"] {
        let run = shop.run(&format!("eval-1/{configuration}/run-1"));
        let server = serve(vec![good()]);
        shop.grade(&run, Some(&judge(&server, 1))).await;
        sent.push(server.requests()[0].json().clone());
    }
    assert_eq!(sent[0], sent[1]);
}

#[tokio::test]
async fn behind_a_closed_gate_nobody_is_asked() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    Workshop::check(&run, false);
    let server = serve(vec![good()]);
    let graded = shop.grade(&run, Some(&judge(&server, 1))).await;
    assert!(server.requests().is_empty());
    assert_eq!((graded.calls, graded.cost_usd), (0, Some(0.0)));
    let grading = checked(&graded);
    assert_eq!(grading["summary"], json!({"passed": 0, "failed": 3, "total": 3, "pass_rate": 0.0}));
    assert_eq!(grading["expectations"][2]["not_judged"], "gate");
}

#[tokio::test]
async fn a_bad_answer_is_a_judge_error_and_neither_a_pass_nor_a_fail() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let bad = json!({"expectations": {"E1": statement("perhaps", &[])}});
    // Asked once, and once more about all that can't be read.
    let server = serve(vec![bad.clone(), bad]);
    let graded = shop.grade(&run, Some(&judge(&server, 1))).await;
    assert_eq!((graded.calls, graded.judge_errors.len()), (2, 3));
    let grading = checked(&graded);
    assert_eq!(grading["summary"]["total"], 1);
    assert_eq!(grading["judge_errors"].as_array().unwrap().len(), 3);
    // The vote was answered, if with nothing that can be read: what is open is told by expectation.
    assert_eq!(
        (&grading["grader"]["votes"], grading["grader"].get("failed_votes")),
        (&json!(1), None)
    );
}

#[tokio::test]
async fn a_service_that_is_down_is_a_judge_error_and_is_not_asked_for_every_vote() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let server = Server::start(Script::new().rule(Rule::fault(Fault::status(401)))).unwrap();
    let graded = shop.grade(&run, Some(&judge(&server, 5))).await;
    assert_eq!(server.requests().len(), 1);
    assert_eq!(checked(&graded)["summary"]["total"], 1);
    assert!(graded.judge_errors[0].starts_with("The report names the total: "), "{graded:?}");
    assert_eq!(graded.cost_usd, Some(0.0));
}

#[tokio::test]
async fn three_votes_decide_by_majority_and_what_they_differ_in_is_recorded() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let pass = statement("pass", &["Total: 42 euros"]);
    let invented = statement("pass", &["| month | total |"]);
    let fail = statement("fail", &[]);
    let server = serve(vec![
        evals_answer(&pass, &invented, 5),
        evals_answer(&fail, &fail, 2),
        evals_answer(&pass, &fail, 4),
    ]);
    let graded = shop.grade(&run, Some(&judge(&server, 3))).await;
    assert_eq!(graded.calls, 3);
    let grading = checked(&graded);
    let verdicts = &grading["expectations"];
    assert_eq!(
        (&verdicts[1]["passed"], &verdicts[1]["votes"]),
        (&json!(true), &json!({"pass": 2, "fail": 1}))
    );
    // The first vote passed the second expectation with a quote that is nowhere.
    assert_eq!(
        (&verdicts[2]["passed"], &verdicts[2]["votes"]),
        (&json!(false), &json!({"pass": 0, "fail": 3}))
    );
    assert_eq!(verdicts[2]["voided"], true);
    assert_eq!(grading["rubric_scores"]["clarity"]["votes"], json!([5, 2, 4]));
    assert_eq!(grading["rubric_scores"]["clarity"]["score"], 4);
    assert_eq!(
        (&grading["grader"]["votes"], &grading["grader"]["disagreements"]),
        (&json!(3), &json!(2))
    );
}

#[tokio::test]
async fn a_judge_that_did_the_work_itself_is_warned_about() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let text = fs_err::read_to_string(run.transcript_file()).unwrap();
    let server = serve(vec![good(), good()]);
    let graded = shop.grade(&run, Some(&judge(&server, 1))).await;
    assert_eq!(graded.cautions, []);
    fs_err::write(
        run.transcript_file(),
        text.replace("claude-opus-4-5", "claude-sonnet-4-5-20250929"),
    )
    .unwrap();
    let graded = shop.grade(&run, Some(&judge(&server, 1))).await;
    assert!(
        graded.cautions[0].to_string().starts_with("the judge is the model that does the work"),
        "{graded:?}"
    );
    assert_eq!(checked(&graded)["grader"]["warnings"], json!([graded.cautions[0].to_string()]));
}

#[tokio::test]
async fn without_a_judge_the_checks_still_count() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let graded = shop.grade(&run, None).await;
    assert_eq!(checked(&graded)["summary"]["passed"], 1);
    assert_eq!(graded.judge_errors[0], "The report names the total: no judge was given");
}

#[tokio::test]
async fn a_huge_transcript_is_digested_and_the_grading_says_what_is_missing() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let text = fs_err::read_to_string(run.transcript_file()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let end = lines.pop().unwrap();
    lines.extend((3..3000).map(|index| {
        json!({"index": index, "type": "text", "text": format!("step {index} {}", "é".repeat(200))}).to_string()
    }));
    lines.push(end);
    fs_err::write(run.transcript_file(), lines.join("\n")).unwrap();
    // The judge cannot have seen this, and it is there all the same.
    let quote = format!("step 1500 {}", "é".repeat(200));
    let server =
        serve(vec![evals_answer(&statement("pass", &[&quote]), &statement("fail", &[]), 3)]);
    let graded = shop.grade(&run, Some(&judge(&server, 1))).await;
    let grading = checked(&graded);
    assert_eq!(grading["expectations"][1]["passed"], true);
    let left_out = &grading["grader"]["left_out"]["transcript"];
    assert_eq!(left_out["of_events"], 3000);
    assert!(left_out["events"].as_u64().unwrap() > 2500, "{left_out}");
    let sent = server.requests()[0].json().to_string();
    assert!(sent.len() < 100_000 && !sent.contains(&quote), "{}", sent.len());
}

#[tokio::test]
async fn a_cancelled_grading_is_none() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let stored = skillgauge_run::grade::StoredRun::read(run).unwrap();
    let server = serve(vec![good()]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let input = stored.input(&shop.suite, shop.suite.cases().next().unwrap());
    let graded = skillgauge_run::grade::grade_run(&input, Some(&judge(&server, 1)), &cancel).await;
    assert!(graded.file.is_none() && server.requests().is_empty());
}

#[tokio::test]
async fn a_program_can_be_the_judge() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let answer = good();
    let script = format!("cat > prompt.txt\ncat <<'END'\n{answer}\nEND\n");
    fs_err::write(shop.path().join("judge.sh"), script).unwrap();
    let access = access("http://127.0.0.1:9", shop.path());
    let model = connect(&"command:sh ./judge.sh".parse().unwrap(), &access).unwrap();
    let graded = shop.grade(&run, Some(&Judge::new(model).unwrap())).await;
    let grading = checked(&graded);
    assert_eq!((&grading["summary"]["passed"], graded.cost_usd), (&json!(2), None));
    let prompt = fs_err::read_to_string(shop.path().join("prompt.txt")).unwrap();
    assert!(
        prompt.contains("===== BEGIN OUTPUTS ") && prompt.contains("- E2: The report has a table")
    );
}
