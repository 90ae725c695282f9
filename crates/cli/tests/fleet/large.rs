//! Archives that are too large for the server, in a folder that all machines share.

use std::os::unix::process::ExitStatusExt as _;

use skillgauge_cluster::Queue;

use crate::gate::{Ended, all_is_right, files_below};
use crate::kit::{Kit, LIMIT, Work, assert_complete, until};

#[test]
fn large_archives_take_the_way_through_the_shared_folder_and_nothing_of_them_is_left_over() {
    let (mut kit, _server) = Kit::start(Work { bytes: 200_000, ..Work::default() });
    let folder = kit.project.path().join("shared");
    fs_err::create_dir_all(&folder).unwrap();
    let id = kit.submit(&["--runs", "2"]);
    kit.archive_dir = Some(folder.clone());
    let alone = ["--slots", "1", "--grade-slots", "0", "--archive-limit", "100K"];
    let variables = [("SKILLGAUGE_FLEET_FAIL_POINT", "after-upload")];
    let died = kit.worker_with("dying", &alone, &variables).finish(LIMIT).unwrap();
    assert_eq!(died.status.signal(), Some(6), "it aborts: {}", died.stderr);
    let orphan = files_below(&folder, &folder);
    assert_eq!(orphan.len(), 1, "an archive that no result points at: {orphan:?}");
    let _worker = kit.worker("w1", &alone);
    let raw = kit.raw();
    until("all runs are done", || raw.results(Queue::Runs, &id).len() == 12);
    assert_eq!(raw.messages("OBJ_SG_ARCHIVES"), 0, "none of them went through the server");
    // One rots: it is found out, and the run is run again.
    let results = raw.results(Queue::Runs, &id);
    let rotten = &results[0].archive.as_ref().unwrap().name;
    fs_err::write(folder.join(rotten), vec![0; 200_000]).unwrap();
    kit.archive_dir = None;
    let without = kit.collect();
    assert_eq!(without.status.code(), Some(2), "{}", without.stderr);
    assert!(
        without.stderr.contains("is in a shared folder, and none is given"),
        "{}",
        without.stderr
    );
    assert!(without.stderr.contains("--archive-dir"), "{}", without.stderr);
    kit.archive_dir = Some(kit.project.path().join("not-mounted"));
    let wrong = kit.collect();
    assert_eq!(wrong.status.code(), Some(2), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("check that it is mounted here"), "{}", wrong.stderr);
    assert_eq!(raw.results(Queue::Runs, &id).len(), 12, "nothing is run again for that");
    kit.archive_dir = Some(folder);
    let _grader = kit.worker("grader", &["--slots", "0"]);
    let collected = kit.collect();
    assert_complete(&collected);
    assert!(collected.stderr.contains("is run again"), "{}", collected.stderr);
    assert_eq!(kit.executions(), 14, "12, one whose worker died, one that rotted");
    all_is_right(&kit, &Ended::Complete);
}
