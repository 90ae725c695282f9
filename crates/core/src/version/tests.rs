//! The store as a whole: what it does, what it refuses, and that history and folders agree whatever is done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skillgauge_format::part::Timestamp;
use skillgauge_format::{Kind, Suite};

use super::*;

const PROGRAM: &str = "0.1.0";

struct NoCommits;

impl Commits for NoCommits {
    fn commit_of(&self, _: &Path) -> Option<String> {
        None
    }
}

fn holder() -> Holder {
    Holder {
        command: "test".into(),
        process: 1,
        machine: None,
        since: "2026-02-22T20:00:00Z".into(),
    }
}

/// Does something as a command would: with the lock, and with a time.
fn with<T>(
    store: &VersionStore,
    action: impl FnOnce(&VersionStore, &Stamp<'_>) -> Result<T, VersionError>,
) -> Result<T, VersionError> {
    let lock = store.lock(&holder())?;
    let time = Timestamp::new("2026-02-22T20:00:00Z");
    action(store, &Stamp { time, program: PROGRAM, commits: &NoCommits, lock: &lock })
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write("SKILL.md", "---\nname: one\ndescription: Use when testing.\n---\n\nBody.\n");
        place
    }

    fn skill(&self) -> PathBuf {
        self.folder.path().join("one")
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("one-workspace")
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.skill().join(path), text);
    }

    fn store(&self) -> VersionStore {
        VersionStore::of(&self.skill()).unwrap()
    }

    fn snapshot(&self) -> Result<Snapshot, VersionError> {
        with(&self.store(), |store, stamp| store.snapshot(None, stamp))
    }

    fn edit_history(&self, edit: impl FnOnce(&mut serde_json::Value)) {
        let path = self.workspace().join("history.json");
        let mut history = serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
        edit(&mut history);
        fs_err::write(path, history.to_string()).unwrap();
    }

    fn grade(&self, version: u64, run: u64, score: u8) {
        let convention = serde_json::json!({"passed": true, "details": "d"});
        let grading = serde_json::json!({
            "case_id": "case-01", "version": version, "run": run,
            "overall_score": f64::from(score), "required_score": f64::from(score),
            "results": [{"criterion": "c", "score": score, "passed": score >= 3, "reasoning": "r"}],
            "overall": if score >= 3 { "pass" } else { "fail" },
            "convention_compliance": {
                "frontmatter": convention, "description_field": convention, "token_efficiency": convention,
                "progressive_disclosure": convention, "type_alignment": convention,
            },
            "claims": [], "user_notes_summary": "", "eval_feedback": "", "execution_metrics": {},
        });
        let name = format!("grading/case-01_v{version}_run{run}.json");
        write(&self.workspace().join(name), &grading.to_string());
    }
}

fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn restore(place: &Place, version: u64) -> Result<Restored, VersionError> {
    with(&place.store(), |store, stamp| store.restore(VersionNumber(version), stamp))
}

fn record_scores(place: &Place) -> Result<(), VersionError> {
    with(&place.store(), |store, stamp| store.record_scores(PROGRAM, stamp.lock))
}

/// Every file below a folder with its bytes; the file of the lock is no data.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if entry.file_name() != ".lock" {
                found.insert(
                    path.strip_prefix(root).unwrap().to_owned(),
                    fs_err::read(path).unwrap(),
                );
            }
        }
    }
    found
}

#[test]
fn init_makes_what_is_missing_and_a_second_one_changes_nothing() {
    let place = Place::new();
    let first = with(&place.store(), VersionStore::init).unwrap();
    assert!(matches!(first.suite, StarterSuite::Written(_)), "{first:?}");
    assert_eq!(first.first.unwrap().version(), VersionNumber(0));
    let suite = fs_err::read(place.skill().join("evals/evals.json")).unwrap();
    assert!(Suite::read(&suite).is_err(), "a starter cannot be taken for a test");
    let before = files(place.folder.path());
    let names: Vec<_> = before.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "one/SKILL.md",
            "one/evals/evals.json",
            "one-workspace/history.json",
            "one-workspace/v0/skill/SKILL.md",
            "one-workspace/v0/skill/evals/evals.json",
        ]
    );
    assert!(place.workspace().join("grading").is_dir());
    let history = Kind::History.check(&before[Path::new("one-workspace/history.json")]);
    assert_eq!(history.iter().count(), 0, "{history}");
    let second = with(&place.store(), VersionStore::init).unwrap();
    assert!(matches!(second, Initialised { suite: StarterSuite::Kept(_), first: None }));
    assert_eq!(files(place.folder.path()), before);
}

#[test]
fn a_suite_that_is_there_is_never_touched() {
    let place = Place::new();
    place.write("evals/evals.json", "not even JSON");
    with(&place.store(), VersionStore::init).unwrap();
    assert_eq!(fs_err::read(place.skill().join("evals/evals.json")).unwrap(), b"not even JSON");
}

#[test]
fn an_unchanged_skill_makes_no_version() {
    let place = Place::new();
    assert!(matches!(place.snapshot(), Ok(Snapshot::New { version: VersionNumber(0), .. })));
    assert_eq!(place.snapshot().unwrap(), Snapshot::Unchanged { version: VersionNumber(0) });
    place.write("more.md", "more");
    assert!(matches!(place.snapshot(), Ok(Snapshot::New { version: VersionNumber(1), .. })));
    fs_err::remove_file(place.skill().join("more.md")).unwrap();
    assert_eq!(place.snapshot().unwrap(), Snapshot::Again { version: VersionNumber(0) });
    assert_eq!(place.store().history(PROGRAM).unwrap().current_version, 0);
}

#[test]
fn other_evals_do_not_make_it_another_skill() {
    let place = Place::new();
    assert_eq!(place.store().present_version(PROGRAM).unwrap(), None);
    place.snapshot().unwrap();
    place.write("evals/evals.json", "{}");
    assert_eq!(place.store().present_version(PROGRAM).unwrap(), Some(VersionNumber(0)));
    place.write("more.md", "more");
    assert_eq!(place.store().present_version(PROGRAM).unwrap(), None);
    assert_eq!(place.snapshot().unwrap().version(), VersionNumber(1));
}

#[test]
fn restoring_keeps_the_present_state_and_what_is_in_no_version() {
    let place = Place::new();
    place.write(".gitignore", "*.log\n");
    place.write("docs/old.md", "old");
    place.snapshot().unwrap();
    place.write("SKILL.md", "---\nname: one\ndescription: Changed.\n---\n");
    fs_err::remove_file(place.skill().join("docs/old.md")).unwrap();
    place.write("new/deep/file.md", "new");
    place.write("new/keep.log", "ignored");
    let restored = restore(&place, 0).unwrap();
    assert_eq!(restored.before.version(), VersionNumber(1));
    assert_eq!(restored.changed, 3);
    let present = files(&place.skill());
    assert_eq!(present[Path::new("docs/old.md")], b"old");
    assert_eq!(present[Path::new("new/keep.log")], b"ignored");
    assert!(!place.skill().join("new/deep").exists());
    assert_eq!(place.store().history(PROGRAM).unwrap().current_version, 0);
    restore(&place, 1).unwrap();
    assert_eq!(fs_err::read(place.skill().join("new/deep/file.md")).unwrap(), b"new");
}

#[test]
fn a_file_that_no_version_holds_is_not_overwritten() {
    let place = Place::new();
    place.write("data.log", "stored");
    place.snapshot().unwrap();
    place.write(".gitignore", "*.log\n");
    place.write("data.log", "precious");
    let error = restore(&place, 0).unwrap_err();
    assert!(matches!(error, VersionError::InTheWay { .. }), "{error}");
    assert_eq!(fs_err::read(place.skill().join("data.log")).unwrap(), b"precious");
}

#[cfg(unix)]
#[test]
fn links_out_are_neither_read_nor_written_through() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let outside = place.folder.path().join("outside");
    write(&outside.join("secret"), "secret");
    place.write("sub/file.md", "x");
    place.snapshot().unwrap();
    fs_err::remove_dir_all(place.skill().join("sub")).unwrap();
    symlink(&outside, place.skill().join("sub")).unwrap();
    let error = restore(&place, 0).unwrap_err();
    assert!(matches!(error, VersionError::InTheWay { .. }), "{error}");
    let Snapshot::New { left_out, .. } = place.snapshot().unwrap() else { unreachable!() };
    assert_eq!(left_out, [PathBuf::from("sub")]);
    assert!(!place.workspace().join("v1/skill/sub").exists());
    assert_eq!(files(&outside).len(), 1);

    let other = Place::new();
    symlink(&outside, other.skill().join("evals")).unwrap();
    assert!(matches!(with(&other.store(), VersionStore::init), Err(VersionError::Link { .. })));
    fs_err::remove_file(other.skill().join("evals")).unwrap();
    let _ = fs_err::remove_dir_all(other.workspace());
    symlink(&outside, other.workspace()).unwrap();
    assert!(matches!(other.snapshot(), Err(VersionError::Link { .. })));
    assert_eq!(files(&outside).len(), 1);
}

/// Two versions, damaged; every operation must refuse with the same kind of error and change nothing.
fn refused(damage: impl FnOnce(&Place), is_expected: fn(&VersionError) -> bool) {
    let place = Place::new();
    place.snapshot().unwrap();
    place.write("more.md", "more");
    place.snapshot().unwrap();
    place.write("more.md", "even more");
    place.snapshot().unwrap();
    damage(&place);
    place.write("later.md", "later");
    let before = files(place.folder.path());
    let errors = [
        place.snapshot().map(drop),
        with(&place.store(), VersionStore::init).map(drop),
        restore(&place, 0).map(drop),
        place.store().overview(PROGRAM).map(drop),
        place.store().diff(VersionNumber(0), VersionNumber(2), PROGRAM).map(drop),
        record_scores(&place),
    ];
    for error in errors {
        let error = error.unwrap_err();
        assert!(is_expected(&error), "{error:?}");
        assert!(!error.to_string().is_empty() && !error.hint().is_empty());
    }
    assert_eq!(files(place.folder.path()), before);
}

#[test]
fn a_history_with_a_hole_is_refused() {
    refused(
        |place| {
            place.edit_history(|history| {
                history["versions"].as_array_mut().unwrap().remove(1);
            });
        },
        |error| matches!(error, VersionError::Hole { expected: VersionNumber(1), .. }),
    );
}

#[test]
fn a_history_that_is_no_history_is_refused() {
    refused(
        |place| write(&place.workspace().join("history.json"), "{\"versions\": ["),
        |error| matches!(error, VersionError::BadHistory { .. }),
    );
    refused(
        |place| place.edit_history(|history| history["current_version"] = 9.into()),
        |error| matches!(error, VersionError::BadHistory { .. }),
    );
}

#[test]
fn a_missing_version_folder_is_refused() {
    refused(
        |place| fs_err::remove_dir_all(place.workspace().join("v1/skill")).unwrap(),
        |error| matches!(error, VersionError::MissingFolder { version: VersionNumber(1), .. }),
    );
}

#[test]
fn a_version_of_a_newer_program_is_refused() {
    refused(
        |place| place.edit_history(|h| h["versions"][2]["skillgauge_version"] = "0.2.0".into()),
        |error| matches!(error, VersionError::Newer { version: VersionNumber(2), .. }),
    );
}

#[test]
fn the_workspace_of_another_skill_is_refused() {
    refused(
        |place| place.edit_history(|history| history["skill"] = "two".into()),
        |error| matches!(error, VersionError::OtherSkill { .. }),
    );
}

#[test]
fn a_path_that_leads_elsewhere_is_refused() {
    refused(
        |place| place.edit_history(|h| h["versions"][0]["path"] = "../one".into()),
        |error| matches!(error, VersionError::BadPath { .. }),
    );
}

#[test]
fn a_changed_version_is_not_restored() {
    let place = Place::new();
    place.snapshot().unwrap();
    write(&place.workspace().join("v0/skill/SKILL.md"), "changed");
    let error = restore(&place, 0).unwrap_err();
    assert!(matches!(error, VersionError::ChangedFolder { .. }), "{error}");
}

#[test]
fn versions_without_their_history_are_left_alone() {
    let place = Place::new();
    place.snapshot().unwrap();
    fs_err::remove_file(place.workspace().join("history.json")).unwrap();
    place.write("SKILL.md", "---\nname: one\ndescription: Changed.\n---\n");
    let before = files(place.folder.path());
    assert!(matches!(place.snapshot(), Err(VersionError::LostHistory { .. })));
    assert_eq!(files(place.folder.path()), before);
}

#[test]
fn what_a_killed_process_left_is_taken_up_or_set_aside() {
    let place = Place::new();
    place.snapshot().unwrap();
    // Killed between the two renames, with the same content and with another one.
    place.write("more.md", "more");
    write(&place.workspace().join("v1/skill/SKILL.md"), "something else");
    write(&place.workspace().join(".staging/skill/half"), "");
    let Snapshot::New { set_aside: Some(aside), .. } = place.snapshot().unwrap() else {
        unreachable!()
    };
    assert!(aside.join("skill/SKILL.md").is_file());
    assert!(!place.workspace().join(".staging").exists());
    place.write("more.md", "most");
    for (path, bytes) in files(&place.skill()) {
        write(&place.workspace().join("v2/skill").join(path), str::from_utf8(&bytes).unwrap());
    }
    assert!(matches!(place.snapshot(), Ok(Snapshot::New { set_aside: None, .. })));
    assert!(
        place.store().diff(VersionNumber(1), VersionNumber(2), PROGRAM).unwrap().contains("+most")
    );
}

#[test]
fn scores_come_from_the_gradings() {
    let place = Place::new();
    with(&place.store(), VersionStore::init).unwrap();
    place.write("more.md", "more");
    place.snapshot().unwrap();
    place.grade(0, 1, 2);
    place.grade(0, 2, 4);
    place.grade(1, 1, 5);
    place.grade(7, 1, 5);
    write(&place.workspace().join("grading/odd.json"), "{}");
    record_scores(&place).unwrap();
    let scores: Vec<_> = place.store().history(PROGRAM).unwrap().versions;
    assert_eq!(scores[0].average_score, Some(3.0.into()));
    assert_eq!(scores[1].average_score, Some(5.0.into()));
    let overview = place.store().overview(PROGRAM).unwrap();
    assert_eq!((overview.best_version, overview.current_version), (Some(1), 1));
    assert_eq!((overview.versions[0].passed, overview.versions[0].gradings), (1, 2));
    assert_eq!(overview.versions[0].pass_rate_interval, Some([0.0945, 0.9055]));
    assert_eq!(overview.warnings.len(), 2, "{:?}", overview.warnings);
}

#[test]
fn an_empty_folder_gives_way_to_a_file_of_its_name() {
    let place = Place::new();
    place.write("sub", "a file");
    with(&place.store(), VersionStore::init).unwrap();
    fs_err::remove_file(place.skill().join("sub")).unwrap();
    fs_err::create_dir_all(place.skill().join("sub/deep")).unwrap();
    restore(&place, 0).unwrap();
    assert_eq!(fs_err::read_to_string(place.skill().join("sub")).unwrap(), "a file");
}

#[derive(Clone, Debug)]
enum Action {
    Init,
    Snapshot,
    Edit(usize, u8),
    Remove(usize),
    Restore(u64),
    Grade(u64, u64, u8),
    RecordScores,
}

const EDITED: [&str; 4] = ["SKILL.md", "a.md", "sub/b.md", "sub"];

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        1 => Just(Action::Init),
        3 => Just(Action::Snapshot),
        4 => (0..EDITED.len(), 0..3_u8).prop_map(|(file, text)| Action::Edit(file, text)),
        2 => (1..EDITED.len()).prop_map(Action::Remove),
        3 => (0..6_u64).prop_map(Action::Restore),
        2 => (0..6_u64, 1..4_u64, 1..=5_u8).prop_map(|(v, run, score)| Action::Grade(v, run, score)),
        1 => Just(Action::RecordScores),
    ]
}

/// What should be there.
#[derive(Default)]
struct Model {
    versions: Vec<BTreeMap<PathBuf, Vec<u8>>>,
    current: usize,
}

impl Model {
    fn store(&mut self, present: &BTreeMap<PathBuf, Vec<u8>>) {
        if self.versions.get(self.current) == Some(present) {
            return;
        }
        let known = self.versions.iter().rposition(|version| version == present);
        self.current = known.unwrap_or(self.versions.len());
        if known.is_none() {
            self.versions.push(present.clone());
        }
    }
}

fn perform(place: &Place, model: &mut Model, action: &Action) {
    let store = place.store();
    match *action {
        Action::Init => {
            with(&store, VersionStore::init).unwrap();
            if model.versions.is_empty() {
                model.store(&files(&place.skill()));
            }
        }
        Action::Snapshot => {
            with(&store, |store, stamp| store.snapshot(None, stamp)).unwrap();
            model.store(&files(&place.skill()));
        }
        Action::Edit(file, text) => {
            // A folder gives way to a file of its name and the other way round.
            let path = place.skill().join(EDITED[file]);
            let _ = fs_err::remove_dir_all(&path);
            let parent = path.parent().unwrap();
            if parent.is_file() {
                fs_err::remove_file(parent).unwrap();
            }
            place.write(EDITED[file], &format!("text {text}"));
        }
        Action::Remove(file) => {
            let _ = fs_err::remove_file(place.skill().join(EDITED[file]));
        }
        Action::Restore(version) => {
            let present = files(&place.skill());
            let result = restore(place, version);
            let index = usize::try_from(version).unwrap();
            if let Some(wanted) = model.versions.get(index).cloned() {
                model.store(&present);
                model.current = index;
                result.unwrap();
                assert_eq!(files(&place.skill()), wanted);
            } else {
                result.unwrap_err();
                assert_eq!(files(&place.skill()), present);
            }
        }
        Action::Grade(version, run, points) => place.grade(version, run, points),
        Action::RecordScores => {
            let result = record_scores(place);
            assert_eq!(result.is_ok(), !model.versions.is_empty());
        }
    }
}

fn check(place: &Place, model: &Model) {
    let store = place.store();
    let names = fs_err::read_dir(place.workspace()).into_iter().flatten().flatten();
    let mut folders: Vec<_> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
    folders.retain(|name| !["grading", "history.json", ".lock"].contains(&name.as_str()));
    folders.sort_by_key(|name| name.parse::<VersionNumber>().unwrap());
    let expected: Vec<_> = (0..model.versions.len()).map(|number| format!("v{number}")).collect();
    assert_eq!(folders, expected);
    if model.versions.is_empty() {
        return;
    }
    let history = store.history(PROGRAM).unwrap();
    assert_eq!(history.current_version, model.current as u64);
    assert_eq!(history.versions.len(), model.versions.len());
    for (version, wanted) in history.versions.iter().zip(&model.versions) {
        let number = VersionNumber(version.version);
        assert_eq!(files(&store.folder(number)), *wanted, "{number}");
        store.verified(&history, number).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn history_and_folders_always_agree(actions in prop::collection::vec(action(), 1..25)) {
        let (place, mut model) = (Place::new(), Model::default());
        for action in &actions {
            perform(&place, &mut model, action);
            check(&place, &model);
        }
    }
}
