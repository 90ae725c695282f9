use std::fs::{File, FileTimes};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Hold, PrivateFolder, home, user};

fn mode(path: &Path) -> u32 {
    fs_err::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// What a process leaves that was killed so long ago; with the lock, open but not held.
fn leftover(home: &Path, name: &str, age: Duration) -> (PathBuf, File) {
    let folder = home.join(name);
    fs_err::create_dir_all(folder.join("run-x/work")).unwrap();
    fs_err::write(folder.join("run-x/work/file"), "x").unwrap();
    fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(0o300)).unwrap();
    let lock = File::create(home.join(format!("{name}.lock"))).unwrap();
    lock.set_times(FileTimes::new().set_modified(SystemTime::now() - age)).unwrap();
    (folder, lock)
}

fn old_leftover(home: &Path, name: &str) -> (PathBuf, File) {
    leftover(home, name, Duration::from_hours(1))
}

/// A home that is there before the first folder of this process is made.
fn with_home() -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let home = home(&fs_err::canonicalize(temporary.path()).unwrap()).unwrap();
    (temporary, home)
}

#[test]
fn folders_are_private_hidden_from_each_other_and_gone_in_the_end() {
    let temporary = tempfile::tempdir().unwrap();
    let below = temporary.path().join("not/there");
    let one = PrivateFolder::new(&below, "run-").unwrap();
    let two = PrivateFolder::new(&below, "model-").unwrap();
    let process = one.path().parent().unwrap();
    assert_eq!(two.path().parent(), Some(process));
    assert_eq!(Hold::take(&below).unwrap().path(), process);
    assert_eq!([one.path(), process, process.parent().unwrap()].map(mode), [0o700, 0o300, 0o700]);
    fs_err::write(two.path().join("file"), "x").unwrap();
    two.remove().unwrap();
    assert!(!two.path().exists() && one.path().exists());
    two.remove().unwrap();
    drop((one, two));
    assert_eq!(fs_err::read_dir(&below).unwrap().count(), 0);
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let (temporary, home) = with_home();
    let (folder, lock) = old_leftover(&home, "dead");
    drop(lock);
    let ours = PrivateFolder::new(temporary.path(), "run-").unwrap();
    assert!(!folder.exists() && !home.join("dead.lock").exists());
    drop(ours);
    assert!(!home.exists());
}

#[test]
fn what_somebody_holds_and_what_is_new_stays() {
    let (temporary, home) = with_home();
    let (held, lock) = old_leftover(&home, "held");
    lock.lock().unwrap();
    let (young, _) = leftover(&home, "young", Duration::from_secs(5));
    let (early, _) = leftover(&home, "early", Duration::ZERO);
    fs_err::create_dir(home.join("unlocked")).unwrap();
    drop(PrivateFolder::new(temporary.path(), "run-").unwrap());
    assert!(held.exists() && young.exists() && early.exists() && home.join("unlocked").exists());
    drop(lock);
    drop(PrivateFolder::new(temporary.path(), "run-").unwrap());
    assert!(!held.exists() && young.exists());
}

#[test]
fn links_are_not_followed() {
    let (temporary, home) = with_home();
    let other = tempfile::tempdir().unwrap();
    fs_err::write(other.path().join("kept"), "x").unwrap();
    let (folder, _) = old_leftover(&home, "linked");
    super::remove_tree(&folder).unwrap();
    symlink(other.path(), &folder).unwrap();
    let (target, lock) = old_leftover(&home, "other");
    fs_err::rename(home.join("other.lock"), other.path().join("lock")).unwrap();
    symlink(other.path().join("lock"), home.join("other.lock")).unwrap();
    drop(lock);
    drop(PrivateFolder::new(temporary.path(), "run-").unwrap());
    assert!(other.path().join("kept").exists() && other.path().join("lock").exists());
    assert!(target.exists(), "a link is no lock");
    assert!(!fs_err::exists(&folder).unwrap());
}

#[test]
fn much_that_was_left_is_removed_little_by_little() {
    let (temporary, home) = with_home();
    for number in 0..40 {
        old_leftover(&home, &format!("dead{number}"));
    }
    let left = || fs_err::read_dir(&home).map_or(0, Iterator::count);
    drop(PrivateFolder::new(temporary.path(), "run-").unwrap());
    assert_eq!(left(), 2 * (40 - 32));
    drop(PrivateFolder::new(temporary.path(), "run-").unwrap());
    assert_eq!(left(), 0);
}

#[test]
fn a_folder_of_somebody_else_is_not_used() {
    let (temporary, home) = with_home();
    let other = tempfile::tempdir().unwrap();
    fs_err::remove_dir(&home).unwrap();
    symlink(other.path(), &home).unwrap();
    let refused = || PrivateFolder::new(temporary.path(), "run-").unwrap_err().to_string();
    assert!(refused().contains("no folder of yours"), "{}", refused());
    fs_err::remove_file(&home).unwrap();
    fs_err::create_dir(&home).unwrap();
    // Only root can give a folder away.
    if user() == 0 {
        chown(&home, Some(1), None).unwrap();
        assert!(refused().contains("let TMPDIR name a folder of your own"), "{}", refused());
        chown(&home, Some(0), None).unwrap();
    }
    fs_err::set_permissions(&home, std::fs::Permissions::from_mode(0o777)).unwrap();
    let folder = PrivateFolder::new(temporary.path(), "run-").unwrap();
    assert_eq!(mode(&home), 0o700);
    drop(folder);
    assert_eq!(fs_err::read_dir(other.path()).unwrap().count(), 0);
}

#[test]
fn folders_made_and_removed_by_many_threads_at_once_do_not_disturb_each_other() {
    let temporary = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let folder = PrivateFolder::new(temporary.path(), "run-").unwrap();
                    fs_err::write(folder.path().join("file"), "x").unwrap();
                }
            });
        }
    });
    assert_eq!(fs_err::read_dir(temporary.path()).unwrap().count(), 0);
}
