//! No path from a page, a request or a file leads out of its root.

use std::path::{Component, Path, PathBuf};

use fs_err as fs;

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// It is absolute, has `..`, a backslash, or a byte that no honest path has.
    #[error("the path is not a plain relative one")]
    NotPlain,
    /// There is nothing, or nothing that may be read.
    #[error("there is no such file")]
    NotFound,
    /// A link on the way leads out of the root.
    #[error("the path leads out of its folder")]
    Outside,
}

/// The real path of a regular file below a root; a link is followed only when it stays inside.
pub(crate) fn confined_file(root: &Path, relative: &str) -> Result<PathBuf, Refused> {
    let found = confined(root, relative)?;
    if fs::metadata(&found).is_ok_and(|metadata| metadata.is_file()) {
        Ok(found)
    } else {
        Err(Refused::NotFound)
    }
}

fn confined(root: &Path, relative: &str) -> Result<PathBuf, Refused> {
    let odd = |character: char| character == '\\' || character == ':' || character.is_control();
    let path = Path::new(relative);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if relative.is_empty() || relative.contains(odd) || !plain {
        return Err(Refused::NotPlain);
    }
    let root = fs::canonicalize(root).map_err(|_| Refused::NotFound)?;
    let found = fs::canonicalize(root.join(path)).map_err(|_| Refused::NotFound)?;
    if found.starts_with(&root) { Ok(found) } else { Err(Refused::Outside) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_plain_paths_to_files_inside_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a/b.txt"), "x").unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        assert!(confined_file(&root, "a/b.txt").is_ok());
        for path in ["../secret", "a/../../secret", "/etc/passwd", "", ".", "a\\b", "C:a", "a/\0"] {
            assert_eq!(confined_file(&root, path), Err(Refused::NotPlain), "{path:?}");
        }
        for path in ["a", "a/c.txt", "%2e%2e/secret"] {
            assert_eq!(confined_file(&root, path), Err(Refused::NotFound), "{path:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_may_stay_inside_and_never_leads_out() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("in"), "x").unwrap();
        fs::write(folder.path().join("out"), "x").unwrap();
        symlink("in", root.join("good")).unwrap();
        symlink("../out", root.join("bad")).unwrap();
        symlink("..", root.join("up")).unwrap();
        assert!(confined_file(&root, "good").is_ok());
        assert_eq!(confined_file(&root, "bad"), Err(Refused::Outside));
        assert_eq!(confined_file(&root, "up/out"), Err(Refused::Outside));
    }

    proptest! {
        #[test]
        fn nothing_that_is_found_lies_outside(path in "[a-z./\\\\~%:-]{0,24}") {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("root");
            fs::create_dir_all(root.join("a")).unwrap();
            fs::write(root.join("a/b"), "x").unwrap();
            fs::write(folder.path().join("b"), "x").unwrap();
            if let Ok(found) = confined_file(&root, &path) {
                prop_assert!(found.starts_with(fs::canonicalize(&root).unwrap()));
            }
        }
    }
}
