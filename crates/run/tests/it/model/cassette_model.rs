//! Models on a cassette: recorded with a server, replayed without one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_run::cassette::{Cassette, Mode, Places, Repeated};
use skillgauge_run::model::{Access, Model, ModelError, Origin, Purpose, Response, open};
use skillgauge_run::process::Guard;
use skillgauge_testkit::server::{Fault, Reply, Rule, Script};

use crate::model::stage::{
    SERVICES, access, bad_verdict, question, serve, serve_reply, verdict, verdict_question,
};

fn record(folder: &Path, name: &str, access: &Access) -> Arc<dyn Model> {
    let cassette =
        Cassette::open(Mode::Record(folder.to_owned()), access.environment.secrets()).unwrap();
    open(&name.parse().unwrap(), access, &Arc::new(cassette)).unwrap()
}

/// A machine with nothing: no key, no program, no guard.
fn replay(folder: &Path, name: &str) -> Arc<dyn Model> {
    let cassette = Cassette::open(Mode::Replay(folder.to_owned()), Vec::new()).unwrap();
    let nothing = Access::new(Guard::new("/no/guard"), "/no/scratch", "/no/folder");
    open(&name.parse().unwrap(), &nothing, &Arc::new(cassette)).unwrap()
}

/// The names of the files in a folder, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let names = fs_err::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn live(response: Response) -> Response {
    Response { origin: Origin::Live, ..response }
}

#[tokio::test]
async fn what_was_recorded_with_a_server_is_replayed_without_one() {
    for name in SERVICES {
        let folder = tempfile::tempdir().unwrap();
        let script = Script::new()
            .rule(Rule::fault(Fault::status(500)).times(1))
            .rule(Rule::reply(Reply::json(bad_verdict())).times(1))
            .rule(Rule::reply(Reply::json(verdict())));
        let server = serve(script);
        let recorded = record(folder.path(), name, &access(&server))
            .answer(&verdict_question())
            .await
            .unwrap();
        assert_eq!(recorded.attempts.len(), 3);
        drop(server);

        let replayed = replay(folder.path(), name).answer(&verdict_question()).await.unwrap();
        let [entry] = names(folder.path()).try_into().unwrap();
        assert_eq!(
            replayed.origin,
            Origin::Replayed { entry: entry.clone(), repeated: Repeated::No }
        );
        assert_eq!(live(replayed), recorded, "{name}");
        assert!(entry.starts_with("model-grade-") && entry.ends_with("-001.json"), "{entry}");
    }
}

#[tokio::test]
async fn an_entry_can_be_read_by_people() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_reply(Reply::text("Four."));
    record(folder.path(), SERVICES[0], &access(&server)).answer(&question()).await.unwrap();
    let [name] = names(folder.path()).try_into().unwrap();
    let text = fs_err::read_to_string(folder.path().join(name)).unwrap();
    assert!(
        text.starts_with(
            "{\n  \"format\": \"cassette-entry\",\n  \"version\": {\n    \"major\": 1,"
        ),
        "{text}"
    );
    assert!(text.ends_with("}\n"));
    let entry: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&entry["kind"], &entry["purpose"], &entry["ask"]),
        (&json!("model"), &json!("grade"), &json!(1))
    );
    assert_eq!(entry["title"], "Grade this work.");
    assert_eq!(
        entry["request"],
        json!({
            "model": SERVICES[0], "purpose": "grade", "system": "You are a judge.",
            "user": ["Grade this work.\nIt is good."], "max_output_tokens": 8192,
        })
    );
    assert_eq!(entry["response"]["answer"]["text"], "Four.");
    assert!(!text.contains("127.0.0.1"), "{text}");
}

#[tokio::test]
async fn errors_are_recorded_too() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(Script::new().rule(Rule::fault(Fault::status(401).message("no"))));
    let recorded =
        record(folder.path(), SERVICES[0], &access(&server)).answer(&question()).await.unwrap_err();
    assert!(matches!(recorded.error, ModelError::BadKey { .. }));
    drop(server);
    let replayed = replay(folder.path(), SERVICES[0]).answer(&question()).await.unwrap_err();
    assert_eq!(replayed, recorded);
}

#[tokio::test]
async fn a_question_that_is_asked_again_gets_the_next_answer_and_then_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_reply(Reply::text("answer {{request}}"));
    let model = record(folder.path(), SERVICES[1], &access(&server));
    for number in 1..=3 {
        assert_eq!(model.answer(&question()).await.unwrap().text, format!("answer {number}"));
    }
    assert_eq!(names(folder.path()).len(), 3);
    let model = replay(folder.path(), SERVICES[1]);
    for (text, expected) in [
        ("answer 1", Repeated::No),
        ("answer 2", Repeated::No),
        ("answer 3", Repeated::No),
        ("answer 3", Repeated::Yes),
    ] {
        let response = model.answer(&question()).await.unwrap();
        assert_eq!(response.text, text);
        assert!(
            matches!(response.origin, Origin::Replayed { repeated, .. } if repeated == expected)
        );
    }
}

#[tokio::test]
async fn a_changed_prompt_is_missing_and_the_message_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_reply(Reply::text("Four."));
    let model = record(folder.path(), SERVICES[0], &access(&server));
    model.answer(&question()).await.unwrap();
    let mut unlike = question();
    (unlike.purpose, unlike.user) =
        (Purpose::new("improve"), vec!["Something else entirely.".into()]);
    model.answer(&unlike).await.unwrap();

    let mut changed = question();
    changed.user = vec!["Grade this work.\nIt is bad.".to_owned()];
    changed.temperature = Some(0.5);
    let failure = replay(folder.path(), SERVICES[0]).answer(&changed).await.unwrap_err();
    let ModelError::ReplayMissing(missing) = &failure.error else { panic!("{failure:?}") };
    assert_eq!(
        (missing.purpose.as_str(), missing.title.as_str(), missing.recorded),
        ("grade", "Grade this work.", 2)
    );
    assert_eq!(missing.key.len(), 64);
    let nearest = missing.nearest.as_ref().unwrap();
    assert!(nearest.file.starts_with("model-grade-"), "{nearest:?}");
    let places: Vec<&str> =
        nearest.differences.iter().map(|difference| difference.place.as_str()).collect();
    assert_eq!(places, ["$.temperature", "$.user[0], line 2"]);
    let message = failure.to_string();
    for line in [
        "  purpose: grade",
        "  begins with: Grade this work.",
        "    $.user[0], line 2",
        "      recorded: It is good.",
        "      asked:    It is bad.",
        "      recorded: (nothing)",
    ] {
        assert!(message.lines().any(|found| found == line), "{line:?} is not in\n{message}");
    }
    assert!(!failure.error.may_pass() && !failure.error.is_bad_answer());
}

#[tokio::test]
async fn another_model_is_another_question_and_another_timeout_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_reply(Reply::text("Four."));
    record(folder.path(), SERVICES[0], &access(&server)).answer(&question()).await.unwrap();
    let slower = question().timeout(Duration::from_mins(9));
    assert!(replay(folder.path(), SERVICES[0]).answer(&slower).await.is_ok());
    let failure = replay(folder.path(), SERVICES[1]).answer(&question()).await.unwrap_err();
    let ModelError::ReplayMissing(missing) = &failure.error else { panic!("{failure:?}") };
    assert_eq!(missing.nearest.as_ref().unwrap().differences[0].place, "$.model, line 1");
}

#[tokio::test]
async fn auto_replays_where_there_is_no_model_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_reply(Reply::text("Four."));
    let recorded =
        record(folder.path(), "auto", &access(&server)).answer(&question()).await.unwrap();
    assert_eq!(recorded.model.as_deref(), Some("claude-sonnet-4-5"));
    let replayed = replay(folder.path(), "auto").answer(&question()).await.unwrap();
    assert_eq!(live(replayed), recorded);
}

#[tokio::test]
async fn the_path_of_a_temporary_folder_makes_no_difference_and_comes_back_as_that_of_this_run() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_reply(Reply::text("{{prompt}}"));
    let in_folder = |path: &str| {
        let mut request = question();
        request.user = vec![format!("Look at {path}/report.md")];
        request.places = Places::new([(path, "work")]);
        request
    };
    let then = in_folder("/tmp/run-1/work");
    record(folder.path(), SERVICES[0], &access(&server)).answer(&then).await.unwrap();
    let text = fs_err::read_to_string(folder.path().join(&names(folder.path())[0])).unwrap();
    assert!(!text.contains("/tmp/run-1"), "{text}");
    let now = in_folder("/home/ci/run-2/work");
    let replayed = replay(folder.path(), SERVICES[0]).answer(&now).await.unwrap();
    assert_eq!(replayed.text, "Look at /home/ci/run-2/work/report.md");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_record_at_once_and_every_answer_is_there_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_reply(Reply::text("You said: {{prompt}}"));
    let model = record(folder.path(), SERVICES[1], &access(&server));
    let requests = |number: usize| {
        let mut request = question();
        // Each of ten questions is asked five times.
        request.user = vec![format!("number {}", number % 10)];
        request
    };
    let tasks: Vec<_> = (0..50)
        .map(|number| {
            let model = Arc::clone(&model);
            tokio::spawn(async move { model.answer(&requests(number)).await.unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    drop(server);
    let names = names(folder.path());
    assert_eq!(names.len(), 50);
    assert_eq!(names.iter().filter(|name| name.ends_with("-005.json")).count(), 10);
    let model = replay(folder.path(), SERVICES[1]);
    for number in 0..50 {
        let response = model.answer(&requests(number)).await.unwrap();
        assert_eq!(response.text, format!("You said: number {}", number % 10));
        assert!(matches!(response.origin, Origin::Replayed { repeated: Repeated::No, .. }));
    }
}

#[tokio::test]
async fn recording_again_replaces_what_is_asked_again_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_reply(Reply::text("old {{request}}"));
    let model = record(folder.path(), SERVICES[0], &access(&server));
    let mut other = question();
    other.user = vec!["Another one.".into()];
    for request in [&question(), &question(), &other] {
        model.answer(request).await.unwrap();
    }
    assert_eq!(names(folder.path()).len(), 3);
    let server = serve_reply(Reply::text("new"));
    record(folder.path(), SERVICES[0], &access(&server)).answer(&question()).await.unwrap();
    assert_eq!(names(folder.path()).len(), 2);
    let model = replay(folder.path(), SERVICES[0]);
    assert_eq!(model.answer(&question()).await.unwrap().text, "new");
    assert_eq!(model.answer(&other).await.unwrap().text, "old 3");
}

#[tokio::test]
async fn a_cassette_that_is_off_keeps_nothing() {
    let server = serve_reply(Reply::text("Four."));
    let model =
        open(&SERVICES[0].parse().unwrap(), &access(&server), &Arc::new(Cassette::off())).unwrap();
    assert_eq!(model.answer(&question()).await.unwrap().origin, Origin::Live);
}
