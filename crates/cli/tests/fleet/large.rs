//! Archives that are too large for the server, in a folder that all machines share.

use std::os::unix::process::ExitStatusExt as _;

use skillgauge_cluster::Queue;

use crate::gate::{Ended, all_is_right, files_below};
use crate::kit::{Kit, LEASE, LIMIT, Work, assert_complete, until};

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
    // Somebody else's, as old as can be.
    let foreign = folder.join("photos/2019/summer/beach.jpg");
    fs_err::create_dir_all(foreign.parent().unwrap()).unwrap();
    let made = fs_err::File::create(&foreign).unwrap();
    made.file().set_modified(std::time::UNIX_EPOCH).unwrap();
    let ours = folder.join("skillgauge-fleet");
    let orphan = files_below(&ours, &ours);
    assert_eq!(orphan.len(), 1, "an archive that no result points at: {orphan:?}");
    let _worker = kit.worker("w1", &alone);
    let raw = kit.raw();
    until("all runs are done", || raw.results(Queue::Runs, &id).len() == 12);
    assert_eq!(raw.messages("OBJ_SG_ARCHIVES"), 0, "none of them went through the server");
    // One rots: it is found out, and the run is run again.
    let results = raw.results(Queue::Runs, &id);
    let rotten = results[0].archive.as_ref().unwrap().name.replace('/', ".");
    fs_err::write(ours.join(rotten), vec![0; 200_000]).unwrap();
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
    assert!(foreign.is_file(), "what others have there stays");
}

#[test]
fn a_worker_whose_shared_folder_cannot_be_used_does_not_begin() {
    let (mut kit, _server) = Kit::start(Work { bytes: 200_000, ..Work::default() });
    kit.submit(&["--runs", "1"]);
    kit.project.file("a-file", "");
    let mount = kit.project.path().join("not-mounted");
    for folder in [kit.project.path().join("a-file"), mount.clone()] {
        kit.archive_dir = Some(folder);
        let ended = kit.worker("w1", &["--archive-limit", "100K"]).finish(LIMIT).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains("cannot be used"), "{}", ended.stderr);
        assert!(ended.stderr.contains("check that it is mounted here"), "{}", ended.stderr);
    }
    assert!(!mount.exists(), "a mount point is not made");
    assert_eq!(kit.executions(), 0, "nothing was paid for");
}

#[test]
fn a_shared_folder_that_goes_away_is_waited_for_and_no_paid_run_is_thrown_away() {
    let (mut kit, _server) = Kit::start(Work { bytes: 200_000, ..Work::default() });
    let (folder, away) = (kit.project.path().join("shared"), kit.project.path().join("away"));
    fs_err::create_dir(&folder).unwrap();
    let id = kit.submit(&["--runs", "1", "--deliveries", "2"]);
    kit.archive_dir = Some(folder.clone());
    kit.hold();
    let worker = kit.worker("w1", &["--slots", "2", "--archive-limit", "100K"]);
    until("two runs are under way", || kit.executions() == 2);
    // As it is when something is not mounted any more: an empty folder on this machine's own disk.
    fs_err::rename(&folder, &away).unwrap();
    fs_err::create_dir(&folder).unwrap();
    kit.go_on();
    until("the worker says so", || {
        let said = worker.stderr().unwrap();
        said.contains("cannot be used") && said.contains("this worker waits")
    });
    // Longer than all leases of a job: what is held is held by heartbeats.
    std::thread::sleep(3 * LEASE);
    assert!(files_below(&folder, &folder).is_empty(), "nothing went to the disk below");
    assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 0);
    assert_eq!(kit.executions(), 2, "nothing more is taken, and nothing is run again");
    assert!(kit.raw_without_folder().results(Queue::Runs, &id).is_empty());
    fs_err::remove_dir(&folder).unwrap();
    fs_err::rename(&away, &folder).unwrap();
    assert_complete(&kit.collect());
    assert_eq!(kit.executions(), 6, "each run was paid for once");
    all_is_right(&kit, &Ended::Complete);
}
