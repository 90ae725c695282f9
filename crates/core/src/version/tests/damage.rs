//! What is refused, and that nothing is lost by it: damaged histories and folders, and what killed processes leave.

use super::*;

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

/// Our own files and folders are never links; one that is leads elsewhere, and is neither read nor written through.
#[cfg(unix)]
#[test]
fn links_in_the_place_of_our_own_files_are_refused() {
    use std::os::unix::fs::symlink;
    refused(
        |place| {
            let history = place.workspace().join("history.json");
            let elsewhere = place.folder.path().join("history-elsewhere.json");
            fs_err::rename(&history, &elsewhere).unwrap();
            symlink(&elsewhere, &history).unwrap();
        },
        |error| matches!(error, VersionError::Link { .. }),
    );
    for part in ["v1", "v1/skill"] {
        let place = Place::new();
        place.snapshot().unwrap();
        place.write("more.md", "more");
        place.snapshot().unwrap();
        let (inside, outside) = (place.workspace().join(part), place.folder.path().join("outside"));
        fs_err::rename(&inside, &outside).unwrap();
        symlink(&outside, &inside).unwrap();
        let before = files(&outside);
        place.write("more.md", "even more");
        for error in [place.snapshot().map(drop), restore(&place, 1).map(drop)] {
            assert!(matches!(error, Err(VersionError::Link { .. })), "{part}: {error:?}");
        }
        assert_eq!(files(&outside), before, "{part}");
    }
    let place = Place::new();
    place.snapshot().unwrap();
    let outside = place.folder.path().join("outside");
    fs_err::create_dir_all(&outside).unwrap();
    let _ = fs_err::remove_dir_all(place.workspace().join("grading"));
    symlink(&outside, place.workspace().join("grading")).unwrap();
    assert!(matches!(place.store().overview(PROGRAM), Err(VersionError::Link { .. })));
}
