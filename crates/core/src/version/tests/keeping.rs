//! What `init`, `snapshot` and `restore` do to a skill that nothing is wrong with.

use skillgauge_format::{Kind, Suite};

use super::*;

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
