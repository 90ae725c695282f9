use skillgauge_format::part::{Configuration, Timestamp};
use skillgauge_format::record::{RecordVersion, RunRecord};
use skillgauge_format::transcript::{Outcome, Reason, UsageBasis};

use super::*;
use crate::plan::RunId;

fn id() -> RunId {
    RunId { case: "one".to_owned(), configuration: Configuration::WithSkill, number: 2 }
}

fn record() -> RunRecord {
    RunRecord {
        format: "run".to_owned(),
        format_version: RecordVersion::current(),
        id: id().to_string(),
        case_id: "one".to_owned(),
        configuration: Configuration::WithSkill,
        run_number: 2,
        outcome: Outcome::Completed,
        reason: Reason::Completed,
        message: None,
        agent: "claude".to_owned(),
        agent_version: None,
        skillgauge_version: None,
        model: None,
        started: Timestamp::new("2026-01-01T00:00:00Z"),
        ended: Timestamp::new("2026-01-01T00:00:02Z"),
        seconds: 2.0.into(),
        skill_loaded: true,
        usage_basis: UsageBasis::Reported,
        total_tokens: None,
        cost_usd: None,
        attempts: Vec::new(),
        notes: Vec::new(),
        replayed_from: None,
        execution: None,
        extra: skillgauge_format::Extra::new(),
    }
}

fn holder(command: &str) -> Holder {
    let since = "2026-01-01T00:00:00Z".to_owned();
    Holder { command: command.to_owned(), process: 7, machine: None, since }
}

#[test]
fn a_run_appears_with_all_of_its_files_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let iteration = Workspace::at(folder.path()).iteration(3);
    let run = iteration.begin_run(&id()).unwrap();
    fs_err::create_dir_all(run.dir().outputs()).unwrap();
    fs_err::write(run.dir().outputs().join("a.txt"), "a").unwrap();
    assert!(iteration.runs().is_empty() && !iteration.run_dir(&id()).root().exists());
    let done = run.finish(&record()).unwrap();
    assert!(done.outputs().join("a.txt").is_file());
    assert_eq!(done.record().unwrap(), record());
    let runs: Vec<RunId> = iteration.runs().into_iter().map(|(id, _)| id).collect();
    assert_eq!(runs, [id()]);
}

#[test]
fn a_run_on_its_way_has_no_folders_around_it_and_appears_at_once_too() {
    let folder = tempfile::tempdir().unwrap();
    let iteration = Iteration::passing(folder.path());
    let run = iteration.begin_run(&id()).unwrap();
    fs_err::create_dir_all(run.dir().outputs()).unwrap();
    run.write(&run.dir().transcript_file(), b"t").unwrap();
    assert!(!iteration.run_dir(&id()).root().exists());
    let done = run.finish(&record()).unwrap();
    assert_eq!(done, iteration.run_dir(&id()));
    assert_eq!(done.root(), folder.path().join("run"));
    done.write_json(&done.timing_file(), &1).unwrap();
    assert_eq!(done.record().unwrap(), record());
    assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1, "and nothing beside it");
}

#[test]
fn what_a_killed_run_left_is_no_run_and_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let iteration = Workspace::at(folder.path()).iteration(1);
    let killed = iteration.begin_run(&id()).unwrap();
    fs_err::write(killed.dir().root().join("junk"), "").unwrap();
    let again = iteration.begin_run(&id()).unwrap();
    assert!(!again.dir().root().join("junk").exists());
    iteration.clear_partial().unwrap();
    iteration.clear_partial().unwrap();
    assert!(!again.dir().root().exists());
}

#[test]
fn a_second_writer_is_told_who_the_first_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::at(folder.path().join("w"));
    let lock = workspace.lock(&holder("skillgauge run a")).unwrap();
    let error = workspace.lock(&holder("skillgauge run b")).unwrap_err().to_string();
    assert!(error.contains("`skillgauge run a` (process 7, since 2026"), "{error}");
    drop(lock);
    workspace.lock(&holder("skillgauge run b")).unwrap();
}

#[test]
fn a_torn_line_of_a_journal_stays_apart_from_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    fs_err::write(&path, "{\"event\":\"a\"}\n{\"eve").unwrap();
    Journal::open(&path).unwrap().append(&serde_json::json!({ "event": "b" })).unwrap();
    let text = fs_err::read_to_string(&path).unwrap();
    assert_eq!(text, "{\"event\":\"a\"}\n{\"eve\n{\"event\":\"b\"}\n");
}

#[test]
fn a_record_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunDir::at(folder.path());
    let newer = RunRecord {
        format_version: RecordVersion { major: 2, ..RecordVersion::current() },
        ..record()
    };
    write_json(&run.record_file(), &newer).unwrap();
    assert!(matches!(run.record(), Err(WorkspaceError::Newer { major: 2, .. })));
}

#[test]
fn iterations_are_counted_by_number_and_not_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["iteration-2", "iteration-10", "iteration-x", "other"] {
        fs_err::create_dir(folder.path().join(name)).unwrap();
    }
    let workspace = Workspace::at(folder.path());
    assert_eq!(workspace.iterations().unwrap(), [2, 10]);
    assert_eq!(workspace.newest().unwrap().unwrap().number(), Some(10));
    assert!(Workspace::at(folder.path().join("none")).iterations().unwrap().is_empty());
}

mod merging {
    use skillgauge_format::record::IterationRecord;

    use super::*;

    fn iteration_record(key: &str, agent: &str) -> IterationRecord {
        let text = include_bytes!("../../../format/testdata/skillgauge/iteration.json");
        let mut record = skillgauge_format::read::<IterationRecord>(text).unwrap().value;
        record.key = key.to_owned();
        record.agent = agent.to_owned();
        record.case_ids = vec!["one".to_owned()];
        record.runs_per_configuration = 1;
        record
    }

    fn shard(root: &Path, key: &str, agent: &str, configuration: &str) -> Iteration {
        let iteration = Iteration::at(root);
        iteration.write_record(&iteration_record(key, agent)).unwrap();
        fs_err::write(iteration.suite_file(), "{}").unwrap();
        let id: RunId = format!("eval-one/{configuration}/run-1").parse().unwrap();
        let run = iteration.begin_run(&id).unwrap();
        fs_err::create_dir_all(run.dir().outputs().join("deep")).unwrap();
        fs_err::write(run.dir().outputs().join("deep/a.txt"), configuration).unwrap();
        run.finish(&RunRecord { id: id.to_string(), ..record() }).unwrap();
        iteration
    }

    #[test]
    fn shards_become_one_iteration_and_what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let with = shard(&folder.path().join("1"), "k", "claude", "with_skill");
        let target = Iteration::at(folder.path().join("all"));
        let merged = merge(std::slice::from_ref(&with), &target).unwrap();
        assert_eq!((merged.planned, merged.copied), (2, 1));
        assert_eq!(merged.missing[0].to_string(), "eval-one/without_skill/run-1");
        let without = shard(&folder.path().join("2"), "k", "claude", "without_skill");
        let merged = merge(&[with, without], &target).unwrap();
        assert_eq!((merged.copied, merged.missing.len()), (1, 0));
        let ids: Vec<String> = target.runs().iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(ids, ["eval-one/with_skill/run-1", "eval-one/without_skill/run-1"]);
        let file = target.runs()[0].1.outputs().join("deep/a.txt");
        assert_eq!(fs_err::read_to_string(file).unwrap(), "with_skill");
    }

    #[test]
    fn shards_that_measure_different_things_are_refused_with_the_difference() {
        let folder = tempfile::tempdir().unwrap();
        let one = shard(&folder.path().join("1"), "k", "claude", "with_skill");
        let two = shard(&folder.path().join("2"), "l", "codex", "without_skill");
        let error = merge(&[one, two], &Iteration::at(folder.path().join("all"))).unwrap_err();
        assert!(error.to_string().contains("the agent was claude and is codex now"), "{error}");
        let none = Iteration::at(folder.path().join("none"));
        let error = merge(&[none], &Iteration::at(folder.path().join("all"))).unwrap_err();
        assert!(matches!(error, MergeError::NoIteration { .. }));
        assert!(!folder.path().join("all").exists());
    }
}
