//! Removes a folder whatever an agent has done to it: read-only folders, links, files that appear meanwhile.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::files::{FileKind, Walk};

/// How often to try; something that survived may still be writing.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// Removes a tree. Links are removed, not followed. A tree that is not there is fine.
pub fn remove_tree(root: &Path) -> io::Result<()> {
    let mut attempt = 1;
    loop {
        match fs_err::remove_dir_all(root) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if attempt == ATTEMPTS => return Err(error),
            Err(error) => {
                attempt += 1;
                if error.kind() == io::ErrorKind::PermissionDenied {
                    open_folders(root);
                } else {
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }
}

/// Lets us into every folder of a tree. What fails shows when the tree is removed.
fn open_folders(root: &Path) {
    let open = |folder: &Path| {
        let _ = fs_err::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    };
    if !fs_err::symlink_metadata(root).is_ok_and(|data| data.is_dir()) {
        return;
    }
    open(root);
    // A folder is listed after it was handed out, and so after it was opened.
    for entry in Walk::new(root).flatten().filter(|entry| entry.kind == FileKind::Folder) {
        open(&root.join(entry.path));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use super::{open_folders, remove_tree};

    fn set_mode(path: &Path, mode: u32) {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_read_only_tree_is_removed_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, other) = (folder.path().join("tree"), folder.path().join("other"));
        fs_err::create_dir_all(tree.join("a/b")).unwrap();
        fs_err::create_dir_all(&other).unwrap();
        fs_err::write(other.join("kept"), "x").unwrap();
        fs_err::write(tree.join("a/b/file"), "x").unwrap();
        symlink(&other, tree.join("a/link")).unwrap();
        set_mode(&tree.join("a/b/file"), 0o400);
        set_mode(&tree.join("a/b"), 0o500);
        set_mode(&tree.join("a"), 0o000);
        remove_tree(&tree).unwrap();
        assert!(!tree.exists() && other.join("kept").exists());
        remove_tree(&tree).unwrap();
    }

    #[test]
    fn closed_folders_are_opened_and_those_behind_links_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, other) = (folder.path().join("tree"), folder.path().join("other"));
        fs_err::create_dir_all(tree.join("a/b")).unwrap();
        fs_err::create_dir_all(&other).unwrap();
        symlink(&other, tree.join("link")).unwrap();
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        set_mode(&tree.join("a/b"), 0o100);
        set_mode(&tree.join("a"), 0o500);
        set_mode(&other, 0o555);
        open_folders(&tree);
        assert_eq!((mode(&tree.join("a")), mode(&tree.join("a/b"))), (0o700, 0o700));
        assert_eq!(mode(&other), 0o555);
    }
}
