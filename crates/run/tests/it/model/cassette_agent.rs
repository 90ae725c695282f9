//! The same cassette for agents: a task and everything that the run left behind.

use serde::{Deserialize, Serialize};
use skillgauge_run::cassette::{
    Cassette, CassetteError, EntryKind, Mode, Places, Playback, Question, Repeated,
};
use skillgauge_run::model::Secret;

/// What an agent is asked.
#[derive(Debug, Clone, Serialize)]
struct Task {
    agent: String,
    prompt: String,
    skill_sha256: String,
    work_folder: String,
}

/// What an agent's run leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Left {
    lines: Vec<String>,
    exit: i32,
    files: Vec<(String, Vec<u8>)>,
}

fn task(folder: &str) -> Task {
    Task {
        agent: "claude".into(),
        prompt: "Make a report of sales.csv".into(),
        skill_sha256: "00".into(),
        work_folder: folder.into(),
    }
}

fn left(folder: &str) -> Left {
    Left {
        lines: vec![
            format!(r#"{{"type":"system","cwd":"{folder}"}}"#),
            format!("key sk-secret-123 in {folder}/x"),
        ],
        exit: 0,
        files: vec![("report.md".into(), vec![0, 159, 146, 150])],
    }
}

fn question<'q>(task: &'q Task, places: &'q Places) -> Question<'q, Task> {
    Question { kind: EntryKind::Agent, purpose: "run", title: &task.prompt, request: task, places }
}

async fn recorded(folder: &std::path::Path) {
    let cassette =
        Cassette::open(Mode::Record(folder.to_owned()), vec![Secret::new("sk-secret-123")])
            .unwrap();
    let (task, places) = (task("/tmp/a/work"), Places::new([("/tmp/a/work", "work")]));
    let heard = cassette
        .through(&question(&task, &places), || async { left("/tmp/a/work") })
        .await
        .unwrap();
    assert_eq!(heard, Playback::Live(left("/tmp/a/work")));
}

#[tokio::test]
async fn a_run_is_replayed_in_another_folder_and_nobody_is_started() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    let cassette = Cassette::open(Mode::Replay(folder.path().to_owned()), Vec::new()).unwrap();
    let (task, places) = (task("/home/ci/b"), Places::new([("/home/ci/b", "work")]));
    let heard = cassette
        .through(&question(&task, &places), || async { panic!("nobody may be asked") as Left })
        .await
        .unwrap();
    let Playback::Replayed { response, entry, repeated } = heard else { panic!() };
    assert_eq!(response.lines[0], r#"{"type":"system","cwd":"/home/ci/b"}"#);
    assert_eq!(response.lines[1], "key <secret> in /home/ci/b/x");
    assert_eq!((response.exit, response.files), (0, left("").files));
    assert!(entry.starts_with("agent-run-") && repeated == Repeated::No);
}

#[tokio::test]
async fn a_task_that_changed_is_missing_and_its_difference_is_named() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    let cassette = Cassette::open(Mode::Replay(folder.path().to_owned()), Vec::new()).unwrap();
    let (mut task, places) = (task("/x"), Places::new([("/x", "work")]));
    task.skill_sha256 = "ff".into();
    let error =
        cassette.replay::<Left>(&cassette.ask(&question(&task, &places)).unwrap()).unwrap_err();
    let CassetteError::Missing(missing) = error else { panic!("{error:?}") };
    assert_eq!(
        (missing.kind, missing.title.as_str()),
        (EntryKind::Agent, "Make a report of sales.csv")
    );
    let [difference] = missing.nearest.unwrap().differences.try_into().unwrap();
    assert_eq!(difference.place, "$.skill_sha256, line 1");
    assert_eq!(
        (difference.recorded.as_deref(), difference.asked.as_deref()),
        (Some("00"), Some("ff"))
    );
}

#[tokio::test]
async fn a_question_that_was_dropped_leaves_a_gap_that_nobody_notices() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = Cassette::open(Mode::Record(folder.path().to_owned()), Vec::new()).unwrap();
    let (task, places) = (task("/w"), Places::default());
    let dropped = cassette.ask(&question(&task, &places)).unwrap();
    assert_eq!(dropped.ask(), 1);
    for number in [2, 3] {
        let asked = cassette.ask(&question(&task, &places)).unwrap();
        assert_eq!((asked.ask(), asked.key()), (number, dropped.key()));
        cassette.record(&asked, &number).unwrap();
    }
    let cassette = Cassette::open(Mode::Replay(folder.path().to_owned()), Vec::new()).unwrap();
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(
            cassette
                .replay::<u32>(&cassette.ask(&question(&task, &places)).unwrap())
                .unwrap()
                .into_response(),
        );
    }
    assert_eq!(told, [2, 3, 3]);
}
