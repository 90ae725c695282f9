//! Outputs by comparison, with everything that a work folder may hold.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use skillgauge_run::outputs::{
    Change, CollectLimits, Kind, Note, OutputPath, Outputs, OutputsError, Scope, Snapshot, Stored,
    collect,
};
use tempfile::TempDir;

/// A work folder and a place for its outputs.
struct Desk {
    folder: TempDir,
    limits: CollectLimits,
}

impl Desk {
    /// A work folder with these files.
    fn with(files: &[(&str, &str)]) -> Self {
        let desk = Self::on(tempfile::tempdir().unwrap());
        for (name, text) in files {
            desk.write(name, text);
        }
        desk
    }

    /// An empty work folder in a given place.
    fn on(folder: TempDir) -> Self {
        let desk = Self { folder, limits: CollectLimits::default() };
        fs_err::create_dir(desk.work()).unwrap();
        desk
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn outputs(&self) -> PathBuf {
        self.folder.path().join("run/outputs")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.work().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn shell(&self, script: &str) {
        let mut command = std::process::Command::new("sh");
        assert!(command.args(["-c", script]).current_dir(self.work()).status().unwrap().success());
    }

    fn chmod(&self, name: &str, mode: u32) {
        let mode = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(self.work().join(name), mode).unwrap();
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::take(&self.work(), Scope::new())
    }

    fn collect(&self, before: &Snapshot) -> Outputs {
        collect(before, &self.work(), &self.outputs(), &self.limits).unwrap()
    }

    /// What is in `outputs/`, by relative path.
    fn stored(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.outputs()];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.outputs()).unwrap().to_owned();
                    found.insert(name, fs_err::read_to_string(path).unwrap());
                }
            }
        }
        found
    }
}

fn changes(outputs: &Outputs) -> Vec<(String, Change, Stored)> {
    outputs.files.iter().map(|file| (file.path.text(), file.change, file.stored)).collect()
}

fn change(name: &str, change: Change, stored: Stored) -> (String, Change, Stored) {
    (name.to_owned(), change, stored)
}

/// Root may read everything; a test of what cannot be read must not.
fn without_root_powers<T>(act: impl FnOnce() -> T) -> T {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    // Capabilities belong to a thread, and each test has its own.
    let all = capabilities(None).unwrap();
    let mut few = all;
    few.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(None, few).unwrap();
    let result = act();
    set_capabilities(None, all).unwrap();
    result
}

#[test]
fn created_changed_and_deleted_files_are_told_apart() {
    let desk = Desk::with(&[("keep.csv", "1"), ("edit.csv", "old"), ("a/drop.csv", "3")]);
    let before = desk.snapshot();
    desk.shell("echo new > edit.csv; rm a/drop.csv; mkdir -p x/y; echo out > x/y/report.md");
    let outputs = desk.collect(&before);
    assert_eq!(
        changes(&outputs),
        [
            change("a/drop.csv", Change::Deleted, Stored::Nothing),
            change("edit.csv", Change::Changed, Stored::Copied),
            change("x/y/report.md", Change::Created, Stored::Copied),
        ]
    );
    assert_eq!((outputs.copied_bytes, outputs.notes.as_slice()), (8, &[][..]));
    let expected = [("edit.csv", "new\n"), ("x/y/report.md", "out\n")];
    assert_eq!(desk.stored(), expected.map(|(k, v)| (k.into(), v.into())).into());
    assert_eq!(outputs.copied().count(), 2);
    assert_eq!(outputs.with(Change::Deleted).count(), 1);
    let json = serde_json::to_string(&outputs).unwrap();
    assert_eq!(serde_json::from_str::<Outputs>(&json).unwrap(), outputs);
}

#[test]
fn a_file_that_was_only_touched_is_not_an_output() {
    let desk = Desk::with(&[("a", "same"), ("b", "same"), ("c", "same")]);
    let before = desk.snapshot();
    desk.shell("touch a; cp b d; mv d b; chmod 600 c");
    assert_eq!(desk.collect(&before).files, []);
}

#[test]
fn a_change_that_hides_behind_an_old_time_is_seen() {
    let desk = Desk::with(&[("a", "old!")]);
    desk.shell("touch -d '2001-01-01' a");
    let before = desk.snapshot();
    desk.shell("printf new! > a; touch -d '2001-01-01' a");
    assert_eq!(changes(&desk.collect(&before)), [change("a", Change::Changed, Stored::Copied)]);
}

#[test]
fn a_change_in_the_same_moment_as_the_snapshot_is_seen() {
    for round in 0..100 {
        let desk = Desk::with(&[("a", "old!")]);
        let before = desk.snapshot();
        desk.write("a", "new!");
        assert_eq!(desk.collect(&before).files.len(), 1, "round {round}");
    }
}

#[test]
fn a_large_file_is_told_by_its_times() {
    let big = "x".repeat(3 << 20);
    let desk = Desk::with(&[("same", &big), ("touched", &big), ("changed", &big)]);
    let before = desk.snapshot();
    desk.shell("touch touched; printf y | dd of=changed conv=notrunc status=none");
    let outputs = desk.collect(&before);
    let changed = |name| change(name, Change::Changed, Stored::Copied);
    assert_eq!(changes(&outputs), [changed("changed"), changed("touched")]);
    assert!(outputs.notes.iter().all(|note| matches!(note, Note::NotCompared { .. })));
}

#[test]
fn the_skill_and_git_are_left_out() {
    let desk = Desk::with(&[(".claude/skills/mine/SKILL.md", "x")]);
    let scope = Scope::new().without(".claude/skills/mine");
    let before = Snapshot::take(&desk.work(), scope);
    assert!(before.is_empty());
    desk.shell("mkdir .git; echo x > .git/HEAD; echo y > .claude/skills/mine/new; echo z > z");
    assert_eq!(changes(&desk.collect(&before)), [change("z", Change::Created, Stored::Copied)]);
}

#[test]
fn links_inside_are_kept_as_copies_and_others_only_recorded() {
    use Stored::{Copied, LeadsNowhere, LeadsOut, LeadsToFolder};
    let desk = Desk::with(&[("file", "x"), ("becomes-link", "x")]);
    fs_err::write(desk.folder.path().join("secret"), "s3cret").unwrap();
    let before = desk.snapshot();
    desk.shell(
        "ln -s ../secret out; ln -s / root; ln -s file in; ln -s . loop; ln -s gone dangling; \
         rm becomes-link; ln -s /etc/passwd becomes-link; ln -s out far; ln -s \"$PWD/in\" chain",
    );
    let outputs = desk.collect(&before);
    let copies = ["chain", "in"].map(|name| (PathBuf::from(name), "x".to_owned()));
    assert_eq!(desk.stored(), BTreeMap::from(copies), "a file that was not changed is not there");
    let is_link = |file: &PathBuf| desk.outputs().join(file).is_symlink();
    assert!(!desk.stored().keys().any(is_link), "archives carry no links");
    assert_eq!(
        changes(&outputs),
        [
            change("becomes-link", Change::Changed, LeadsOut),
            change("chain", Change::Created, Copied),
            change("dangling", Change::Created, LeadsNowhere),
            change("far", Change::Created, LeadsOut),
            change("in", Change::Created, Copied),
            change("loop", Change::Created, LeadsToFolder),
            change("out", Change::Created, LeadsOut),
            change("root", Change::Created, LeadsOut),
        ]
    );
    assert!(outputs.files.iter().all(|file| matches!(file.kind, Kind::Symlink { .. })));
    let notes: Vec<String> = outputs.notes.iter().map(ToString::to_string).collect();
    assert!(notes.contains(&"root: a symbolic link to /, not followed".to_owned()), "{notes:?}");
    assert_eq!(notes.len(), 6, "copies need no note: {notes:?}");
}

#[test]
fn a_link_to_a_large_file_is_too_large_itself() {
    let mut desk = Desk::with(&[]);
    let before = desk.snapshot();
    desk.shell("echo a long line > file; ln -s file link");
    desk.limits.file_bytes = 3;
    let outputs = desk.collect(&before);
    let stored: Vec<_> = outputs.files.iter().map(|file| (file.stored, file.bytes)).collect();
    assert_eq!(stored, [(Stored::TooLarge, 12); 2]);
}

#[test]
fn what_is_not_listed_is_named_as_long_as_there_is_room() {
    let mut desk = Desk::with(&[("z", "")]);
    let before = desk.snapshot();
    desk.shell("rm z; touch a b c d ee; ln -s /etc f; ln -s a g");
    desk.limits.files = 2;
    desk.limits.name_bytes = 6;
    let outputs = desk.collect(&before);
    assert_eq!(outputs.notes.last(), Some(&Note::TooManyFiles { left_out: 6, limit: 2 }));
    let unlisted = &outputs.unlisted;
    let names = |paths: &[OutputPath]| paths.iter().map(OutputPath::text).collect::<Vec<_>>();
    assert_eq!(names(&unlisted.files), ["c", "d", "ee", "g"]);
    assert_eq!((names(&unlisted.others), unlisted.unnamed), (vec!["f".to_owned()], 1));
    let json = serde_json::to_string(&outputs).unwrap();
    assert_eq!(serde_json::from_str::<Outputs>(&json).unwrap(), outputs);
    let old = r#"{"files": [], "copied_bytes": 0, "notes": []}"#;
    assert_eq!(serde_json::from_str::<Outputs>(old).unwrap(), Outputs::default());
}

#[test]
fn a_link_to_elsewhere_is_changed_and_the_same_link_is_not() {
    let desk = Desk::with(&[]);
    desk.shell("ln -s a kept; ln -s a turned");
    let before = desk.snapshot();
    desk.shell("rm kept turned; ln -s a kept; ln -s b turned");
    assert_eq!(
        changes(&desk.collect(&before)),
        [change("turned", Change::Changed, Stored::LeadsNowhere)]
    );
}

#[test]
fn pipes_and_sockets_are_recorded_and_never_opened() {
    let desk = Desk::with(&[]);
    let before = desk.snapshot();
    desk.shell("mkfifo pipe");
    let _socket = UnixListener::bind(desk.work().join("socket")).unwrap();
    let outputs = desk.collect(&before);
    assert_eq!(
        outputs.files.iter().map(|file| &file.kind).collect::<Vec<_>>(),
        [&Kind::Special; 2]
    );
    assert_eq!(outputs.notes.len(), 2);
}

#[test]
fn a_huge_file_leaves_a_note() {
    let desk = Desk::with(&[]);
    let before = desk.snapshot();
    desk.shell("truncate -s 2G hole; echo small > small");
    let outputs = desk.collect(&before);
    assert_eq!(
        changes(&outputs),
        [
            change("hole", Change::Created, Stored::TooLarge),
            change("small", Change::Created, Stored::Copied)
        ]
    );
    assert_eq!(outputs.files[0].bytes, 2 << 30);
    assert!(outputs.notes[0].to_string().starts_with("hole: 2147483648 bytes"));
}

#[test]
fn what_does_not_fit_leaves_one_note_and_smaller_files_still_fit() {
    use Stored::{Copied, NoRoom};
    let mut desk = Desk::with(&[]);
    desk.limits.total_bytes = 10;
    let before = desk.snapshot();
    desk.shell("for f in a b c; do printf 123456 > $f; done; printf 1234 > d; printf 1 > e");
    let outputs = desk.collect(&before);
    let stored: Vec<_> = outputs.files.iter().map(|file| file.stored).collect();
    assert_eq!(stored, [Copied, NoRoom, NoRoom, Copied, NoRoom]);
    assert_eq!(outputs.notes, [Note::TotalReached { files: 3, bytes: 13, limit: 10 }]);
}

#[test]
fn a_hundred_thousand_files_are_a_note_and_not_an_end() {
    // In memory where there is such a place: what is tested is not the disk.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let mut desk = Desk::on(tempfile::tempdir_in(place).unwrap());
    desk.limits.files = 1000;
    let before = desk.snapshot();
    for folder in 0..100 {
        let path = desk.work().join(format!("{folder:02}"));
        fs_err::create_dir(&path).unwrap();
        for file in 0..1000 {
            fs_err::write(path.join(format!("{file:03}")), "").unwrap();
        }
    }
    let outputs = desk.collect(&before);
    assert_eq!(outputs.files.len(), 1000);
    assert!(outputs.files.iter().all(|file| file.path.as_path().starts_with("00")));
    assert_eq!(outputs.notes, [Note::TooManyFiles { left_out: 99_000, limit: 1000 }]);
    assert_eq!((outputs.unlisted.files.len(), outputs.unlisted.unnamed), (99_000, 0));

    let after = desk.snapshot();
    assert_eq!(after.len(), 100_000);
    desk.shell("rm -r 0*");
    let outputs = desk.collect(&after);
    assert_eq!(outputs.files.len(), 1000, "deletions are limited, too");
    assert_eq!(outputs.notes, [Note::TooManyFiles { left_out: 9000, limit: 1000 }]);
}

#[test]
fn a_folder_with_too_many_entries_is_not_taken_for_one_with_deletions() {
    let mut desk = Desk::with(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let before = desk.snapshot();
    desk.limits.entries = 2;
    let outputs = desk.collect(&before);
    assert_eq!((outputs.files, outputs.notes), (vec![], vec![Note::TooManyEntries { limit: 2 }]));
}

#[test]
fn what_cannot_be_read_leaves_notes() {
    let desk = Desk::with(&[("open/a", "1"), ("shut/b", "2"), ("gone", "3")]);
    let before = desk.snapshot();
    desk.shell("echo x > secret; echo y > fine; rm gone; mkdir sealed; echo z > sealed/z");
    desk.chmod("secret", 0o000);
    desk.chmod("shut", 0o000);
    desk.chmod("sealed", 0o311);
    let outputs = without_root_powers(|| desk.collect(&before));
    desk.chmod("shut", 0o755);
    assert_eq!(
        changes(&outputs),
        [
            change("fine", Change::Created, Stored::Copied),
            change("gone", Change::Deleted, Stored::Nothing),
            change("secret", Change::Created, Stored::Unreadable),
        ],
        "what was in the shut folder is unknown, not deleted"
    );
    let notes: Vec<String> = outputs.notes.iter().map(ToString::to_string).collect();
    let denied = "Permission denied (os error 13)";
    assert_eq!(
        notes,
        [
            format!("sealed/: cannot be listed: {denied}"),
            format!("secret: cannot be read: {denied}"),
            format!("shut/: cannot be listed: {denied}"),
        ]
    );
}

#[test]
fn a_file_that_became_unreadable_is_reported() {
    let desk = Desk::with(&[("a", "same")]);
    let before = desk.snapshot();
    desk.chmod("a", 0o000);
    let outputs = without_root_powers(|| desk.collect(&before));
    assert_eq!(changes(&outputs), [change("a", Change::Changed, Stored::Unreadable)]);
}

#[test]
fn read_only_folders_are_read() {
    let desk = Desk::with(&[]);
    let before = desk.snapshot();
    desk.shell("mkdir -p ro/deep; echo x > ro/deep/x; chmod 500 ro/deep ro");
    let outputs = without_root_powers(|| desk.collect(&before));
    desk.shell("chmod 700 ro ro/deep");
    assert_eq!(changes(&outputs), [change("ro/deep/x", Change::Created, Stored::Copied)]);
    assert_eq!(desk.stored().len(), 1);
}

#[test]
fn paths_that_are_too_long_for_the_system_leave_a_note() {
    let desk = Desk::with(&[]);
    let before = desk.snapshot();
    // Each half has a path that the system takes, both together have not.
    let part = "d".repeat(200);
    let half = format!("$(printf '{part}/%.0s' $(seq 15))");
    desk.shell(&format!("mkdir -p {half} low/{half}; : > low/{half}/x; mv low {half}"));
    let outputs = desk.collect(&before);
    assert_eq!(outputs.files, []);
    assert!(matches!(outputs.notes[..], [Note::Unreadable { .. } | Note::FolderUnreadable { .. }]));
    assert!(outputs.notes[0].to_string().contains("File name too long"));
}

#[test]
fn a_name_that_does_not_fit_below_outputs_leaves_a_note() {
    let desk = Desk::with(&[]);
    let before = desk.snapshot();
    let part = "d".repeat(200);
    desk.shell(&format!("p=$(printf '{part}/%.0s' $(seq 18)); mkdir -p $p; cd $p; : > x"));
    let far = desk.folder.path().join("o".repeat(250)).join("o".repeat(250)).join("o".repeat(250));
    let outputs = collect(&before, &desk.work(), &far, &desk.limits).unwrap();
    assert_eq!(outputs.files[0].stored, Stored::NotStorable);
    assert!(matches!(outputs.notes[..], [Note::NotStorable { .. }]), "{:?}", outputs.notes);
}

#[test]
fn a_work_folder_that_is_gone_has_lost_everything() {
    let desk = Desk::with(&[("a", "1"), ("b/c", "2")]);
    let before = desk.snapshot();
    fs_err::remove_dir_all(desk.work()).unwrap();
    let outputs = desk.collect(&before);
    assert_eq!(outputs.with(Change::Deleted).count(), 2);
    assert!(matches!(outputs.notes[..], [Note::NoWorkFolder { .. }]));
}

#[test]
fn a_work_folder_that_is_a_link_now_is_not_followed() {
    let desk = Desk::with(&[("a", "1")]);
    let before = desk.snapshot();
    fs_err::remove_dir_all(desk.work()).unwrap();
    fs_err::create_dir(desk.folder.path().join("elsewhere")).unwrap();
    fs_err::write(desk.folder.path().join("elsewhere/secret"), "x").unwrap();
    fs_err::os::unix::fs::symlink("elsewhere", desk.work()).unwrap();
    let outputs = desk.collect(&before);
    assert_eq!(desk.stored().len(), 0, "{outputs:?}");
}

#[test]
fn outputs_that_cannot_be_kept_are_an_error() {
    let desk = Desk::with(&[]);
    let before = desk.snapshot();
    desk.write("a", "1");
    fs_err::create_dir_all(desk.outputs()).unwrap();
    let read_only = std::fs::Permissions::from_mode(0o555);
    fs_err::set_permissions(desk.outputs(), read_only).unwrap();
    let result =
        without_root_powers(|| collect(&before, &desk.work(), &desk.outputs(), &desk.limits));
    assert!(matches!(result, Err(OutputsError::Write { .. })), "{result:?}");
    let below_a_file = desk.work().join("a/outputs");
    let result = collect(&before, &desk.work(), &below_a_file, &desk.limits);
    assert!(matches!(result, Err(OutputsError::Folder { .. })), "{result:?}");
}

#[test]
fn names_of_every_kind_keep_their_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::with(&[]);
    let before = desk.snapshot();
    let names: [&[u8]; 5] = [b"two\nlines", b"\xff\xfe", b"-rf", b"back\\slash", &[b'n'; 255]];
    for name in names {
        fs_err::write(desk.work().join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let outputs = desk.collect(&before);
    assert_eq!(outputs.copied().count(), names.len());
    for file in &outputs.files {
        assert!(Path::new(&desk.outputs()).join(file.path.as_path()).is_file(), "{file:?}");
    }
    assert_eq!(outputs.notes.len(), 1, "{:?}", outputs.notes);
    assert_eq!(outputs.notes[0].to_string(), "\\xff\\xfe: the name is not UTF-8");
}
