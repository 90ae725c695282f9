//! A folder that others use, too, and that comes and goes.

use super::*;
use crate::id::{AttemptId, RunToken};
use crate::job::Queue;

const OLD: Duration = Duration::from_hours(30 * 24);

fn archive(name: &str, uri: &str) -> ArchiveRef {
    let (size, sha256) = (1, String::new());
    ArchiveRef { name: name.to_owned(), size, sha256, uri: Some(uri.to_owned()), bytes: None }
}

fn plan(digit: &str) -> PlanId {
    digit.repeat(20).parse().unwrap()
}

fn name(plan: &PlanId) -> ArchiveName {
    let token: RunToken = "b".repeat(20).parse().unwrap();
    ArchiveName::new(Queue::Runs, plan, &token, AttemptId::new())
}

/// A file that nobody has touched for a month.
fn old_file(path: &Path) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs_err::File::create(path).unwrap();
    file.file().set_modified(SystemTime::now() - OLD).unwrap();
}

#[tokio::test]
async fn no_name_in_a_record_leads_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    fs_err::write(&outside, "x").unwrap();
    fs_err::create_dir(folder.path().join("shared")).unwrap();
    let shared = SharedFolder::open(folder.path().join("shared"), 0).unwrap();
    let good = name(&plan("a")).text;
    let bad = [
        "../outside",
        "a/../../outside",
        "/etc/passwd",
        "a/b/run/..",
        "a//run/c",
        "",
        "a/b/run/c",
        &good.replace("/run/", "/other/"),
        &good.replace("/run/", "/../"),
        &format!("{good}.part"),
        &format!("{good}/more"),
    ];
    for name in bad {
        let forged = archive(name, &format!("{SCHEME}{}", file_name(name)));
        assert!(shared.remove(&forged).await.is_err(), "{name}");
    }
    // What the uri and the name do not agree on is none, either.
    let other = name(&plan("c")).text;
    let (here, other) = (file_name(&good), file_name(&other));
    assert!(shared.remove(&archive(&good, &format!("{SCHEME}{other}"))).await.is_err());
    assert!(shared.remove(&archive(&good, &format!("s3:{here}"))).await.is_err());
    assert!(shared.remove(&archive(&good, &format!("{SCHEME}{here}"))).await.is_ok());
    assert!(outside.is_file());
}

#[tokio::test]
async fn the_janitor_removes_old_archives_and_nothing_of_anybody_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let shared = SharedFolder::open(root, 0).unwrap();
    let (id, other) = (plan("a"), plan("c"));
    let (orphan, over) = (name(&id).text, name(&other).text);
    let part = format!("{}.part", name(&id).text);
    let ours = root.join(OURS);
    let of_ours = [&orphan, &over, &part].map(|name| ours.join(file_name(name)));
    for file in &of_ours {
        old_file(file);
    }
    let run = format!("{id}.{}", "b".repeat(20));
    let foreign = [
        // Beside ours: four deep, and with names like ours.
        root.join("photos/2019/summer/beach.jpg"),
        root.join(&orphan),
        root.join("a/b/run/c"),
        // In ours.
        ours.join("notes"),
        ours.join("photos/2019/summer/beach"),
        ours.join(&orphan),
        ours.join(format!("{id}.readme")),
        ours.join(format!("{run}.readme")),
        ours.join(format!("{run}.run.Read Me.txt")),
        ours.join(format!("{run}.run.{}.jpg", AttemptId::new())),
        ours.join(format!("{run}.other.{}", AttemptId::new())),
        // A folder that is called as an archive is.
        ours.join(format!("{run}.run.{}/file", AttemptId::new())),
    ];
    for file in &foreign {
        old_file(file);
    }
    let empty = root.join("empty/of/somebody");
    fs_err::create_dir_all(&empty).unwrap();
    // A link is nobody's, whatever it is called.
    let link = ours.join(file_name(&name(&id).text));
    std::os::unix::fs::symlink(&foreign[0], &link).unwrap();
    let count = shared.tidy(&id, BTreeSet::new(), Duration::ZERO).await.unwrap();
    assert_eq!((count.archives, count.uploads), (2, 1));
    for file in &of_ours {
        assert!(!file.exists(), "{}", file.display());
    }
    for file in &foreign {
        assert!(file.is_file(), "{}", file.display());
    }
    assert!(empty.is_dir());
    assert!(link.is_symlink());
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_said_and_never_made() {
    let folder = tempfile::tempdir().unwrap();
    let (file, root) = (folder.path().join("file"), folder.path().join("mount"));
    fs_err::write(&file, "x").unwrap();
    for bad in [&file, &root] {
        let error = SharedFolder::open(bad, 0).unwrap_err();
        assert!(matches!(error, FleetError::Folder { .. }), "{error}");
    }
    assert!(!root.exists());
    fs_err::create_dir(&root).unwrap();
    let shared = SharedFolder::open(&root, 0).unwrap();
    shared.check_writing().unwrap();
    // Not mounted any more: the folder below the mount is empty, and stays so.
    fs_err::remove_dir_all(&root).unwrap();
    fs_err::create_dir(&root).unwrap();
    let error = shared.put(&name(&plan("a")), &file, (1, String::new())).await.unwrap_err();
    assert!(matches!(error, FleetError::Folder { .. }), "{error}");
    assert!(shared.check_writing().is_err());
    assert_eq!(fs_err::read_dir(&root).unwrap().count(), 0);
}

/// A janitor that tidies all the time does not get in the way of one who writes.
#[tokio::test]
async fn what_is_being_written_is_no_orphan() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs_err::write(&file, "x").unwrap();
    let shared = SharedFolder::open(folder.path(), 0).unwrap();
    let id = plan("a");
    let (janitor, of) = (shared.clone(), id.clone());
    let tidying = tokio::spawn(async move {
        loop {
            janitor.tidy(&of, BTreeSet::new(), Duration::from_mins(1)).await.unwrap();
        }
    });
    for _ in 0..100 {
        let (size, sha256) = crate::local::measure(&file).unwrap();
        let stored = shared.put(&name(&id), &file, (size, sha256)).await.unwrap();
        shared.get(&stored, &folder.path().join("back")).await.unwrap();
        shared.remove(&stored).await.unwrap();
    }
    tidying.abort();
    assert!(entries(&shared.ours).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_seen_a_little_later_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let shared = SharedFolder::open(folder.path(), 0).unwrap();
    let (name, target) = (name(&plan("a")), folder.path().join("target"));
    let file = folder.path().join("file");
    fs_err::write(&file, "content").unwrap();
    let (size, sha256) = crate::local::measure(&file).unwrap();
    let uri = format!("{SCHEME}{}", file_name(&name.text));
    let archive = ArchiveRef { name: name.text.clone(), size, sha256, uri: Some(uri), bytes: None };
    let late = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        shared.put(&name, &file, (archive.size, archive.sha256.clone())).await.unwrap();
    };
    let (got, ()) = tokio::join!(shared.get(&archive, &target), late);
    got.unwrap();
    assert_eq!(fs_err::read_to_string(&target).unwrap(), "content");
}
