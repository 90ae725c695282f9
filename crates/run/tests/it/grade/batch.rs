//! Many stored runs.

use std::sync::Arc;

use skillgauge_run::budget::Budget;
use skillgauge_run::check::Scripts;
use skillgauge_run::grade::{
    Evaluator, FindError, GradeTask, Graded, Instead, NotGraded, find_runs,
};
use skillgauge_run::model::Environment;
use skillgauge_run::pool::Bounded;
use skillgauge_run::process::Guard;
use skillgauge_testkit::server::{Reply, Script, Server};
use tokio_util::sync::CancellationToken;

use crate::grade::stage::{EVALS, Workshop, evals_answer, judge, statement};

fn always() -> Server {
    let answer =
        evals_answer(&statement("pass", &["42 euros"]), &statement("pass", &["# Sales"]), 5);
    Server::start(Script::always(Reply::json(answer))).unwrap()
}

fn evaluator(server: &Server, budget: Budget) -> Arc<Evaluator> {
    let scripts =
        Scripts::new(Guard::new("/no/guard"), Environment::default(), CancellationToken::new());
    Arc::new(Evaluator { judge: Some(judge(server, 1)), scripts, budget: Arc::new(budget) })
}

async fn grade_all(
    evaluator: &Arc<Evaluator>,
    tasks: &[GradeTask],
    jobs: usize,
) -> Vec<Result<Graded, NotGraded>> {
    let mut under_way = Bounded::new(jobs);
    for task in tasks {
        let (evaluator, task) = (Arc::clone(evaluator), task.clone());
        let work = async move { evaluator.evaluate(&task, &CancellationToken::new()).await };
        under_way.begin((), work);
    }
    under_way.all().await.into_iter().map(|((), end)| end.unwrap()).collect()
}

#[tokio::test]
async fn all_runs_of_an_iteration_are_graded_and_then_left_alone() {
    let shop = Workshop::new(EVALS);
    for id in ["eval-1/with_skill/run-1", "eval-1/with_skill/run-2", "eval-1/without_skill/run-1"] {
        shop.run(id);
    }
    let tasks = find_runs(&[shop.iteration()], &Instead::default()).unwrap();
    let ids: Vec<String> = tasks.iter().map(|task| task.id.to_string()).collect();
    assert_eq!(
        ids,
        ["eval-1/with_skill/run-1", "eval-1/with_skill/run-2", "eval-1/without_skill/run-1"]
    );
    let server = always();
    let evaluator = evaluator(&server, Budget::default());
    assert!(tasks.iter().all(|task| !evaluator.is_done(task)));
    let ends = grade_all(&evaluator, &tasks, 2).await;
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    assert_eq!((server.requests().len(), evaluator.budget.spent().model_calls), (3, 3));
    assert!(tasks.iter().all(|task| evaluator.is_done(task)));
}

#[tokio::test]
async fn a_limit_on_calls_leaves_the_rest_ungraded() {
    let shop = Workshop::new(EVALS);
    for number in 1..=3 {
        shop.run(&format!("eval-1/with_skill/run-{number}"));
    }
    let tasks = find_runs(&[shop.iteration()], &Instead::default()).unwrap();
    let server = always();
    let evaluator = evaluator(&server, Budget::new(Some(2), None));
    let ends = grade_all(&evaluator, &tasks, 1).await;
    let stopped = ends.iter().filter(|end| matches!(end, Err(NotGraded::Budget(_)))).count();
    assert_eq!((stopped, server.requests().len()), (1, 2));
}

#[test]
fn a_run_an_iteration_and_a_workspace_lead_to_the_same_run_once() {
    let shop = Workshop::new(EVALS);
    let run = shop.run("eval-1/with_skill/run-1");
    let workspace = shop.iteration().parent().unwrap().to_owned();
    let paths = [run.root().to_owned(), shop.iteration(), workspace];
    assert_eq!(find_runs(&paths, &Instead::default()).unwrap().len(), 1);
}

#[test]
fn what_is_missing_is_said() {
    let shop = Workshop::new(EVALS);
    let error =
        |paths: &[std::path::PathBuf], instead: &Instead| find_runs(paths, instead).unwrap_err();
    let none = Instead::default();
    assert!(matches!(error(&[shop.iteration()], &none), FindError::NoRuns { .. }));
    assert!(matches!(error(&[shop.path().join("nowhere")], &none), FindError::Io { .. }));
    shop.run("eval-7/with_skill/run-1");
    assert!(
        matches!(error(&[shop.iteration()], &none), FindError::NoCase { case, .. } if case == "7")
    );
    fs_err::remove_file(shop.iteration().join("suite.json")).unwrap();
    assert!(matches!(error(&[shop.iteration()], &none), FindError::NoSuite { .. }));
    let stray = shop.path().join("run-1");
    fs_err::create_dir_all(stray.join("outputs")).unwrap();
    assert!(matches!(error(&[stray], &none), FindError::NoRuns { .. }));
}
