//! What belongs to a version of a skill.

use std::path::Path;

use super::VersionError;
use crate::files::Content;
use crate::skill::discover::{self, Found, Ignore, MAX_FILES};
use crate::skill::{FileKind, SKILL_MD};

/// Folders and files that tools and systems leave behind, wherever they are.
const JUNK: [&str; 6] =
    [".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__", "node_modules", ".pytest_cache"];

/// The same by their endings.
const JUNK_ENDINGS: [&str; 4] = [".pyc", ".swp", ".orig", "~"];

/// The files of a skill that is being worked on: nothing that git ignores, no junk.
pub(crate) fn of_skill(skill: &Path) -> Result<Content, VersionError> {
    read(skill, Ignore::Respected)
}

/// The files of a stored version. What git ignores says nothing here: many people ignore whole workspaces.
pub(crate) fn of_version(folder: &Path) -> Result<Content, VersionError> {
    read(folder, Ignore::Disregarded)
}

fn read(root: &Path, ignore: Ignore) -> Result<Content, VersionError> {
    let mut files = Vec::new();
    discover::find(root, ignore, &mut |found| {
        if let Found::Folder(folder) = found {
            files = folder.files;
        }
        false
    });
    if !files.iter().any(|file| file.path == Path::new(SKILL_MD) && file.kind == FileKind::File) {
        return Err(VersionError::NoSkill { path: root.to_owned() });
    }
    if files.len() >= MAX_FILES {
        return Err(VersionError::TooManyFiles { path: root.to_owned(), limit: MAX_FILES });
    }
    let (folders, files): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.kind == FileKind::Folder);
    for folder in folders.iter().filter(|folder| !is_junk(&folder.path)) {
        // A listing passes over a folder that it may not read; a version without it would be a loss.
        fs_err::read_dir(root.join(&folder.path))?;
    }
    Ok(Content::new(root, &files, |path| !is_junk(path))?)
}

/// Whether a path is something that a tool or a system left behind.
pub(crate) fn is_junk(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        JUNK.contains(&&*name)
            || name.starts_with("._")
            || JUNK_ENDINGS.iter().any(|ending| name.ends_with(ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Durability;

    fn skill(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        folder
    }

    fn paths(content: &Content) -> Vec<&str> {
        content.entries().iter().map(|entry| entry.path.to_str().unwrap()).collect()
    }

    #[test]
    fn junk_version_control_and_ignored_files_are_no_content() {
        let folder = skill(&[
            ("SKILL.md", "x"),
            (".gitignore", "*.log\n"),
            ("run.log", "x"),
            (".git/HEAD", "x"),
            ("a/__pycache__/b.pyc", "x"),
            ("a/.DS_Store", "x"),
            ("a/note.md~", "x"),
            ("evals/evals.json", "{}"),
        ]);
        let content = of_skill(folder.path()).unwrap();
        assert_eq!(paths(&content), [".gitignore", "SKILL.md", "evals/evals.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_only_when_they_lead_to_a_place_inside() {
        use std::os::unix::fs::symlink;
        let folder = skill(&[("SKILL.md", "x"), ("sub/a.md", "a")]);
        let root = folder.path();
        for (name, target) in [
            ("inside", "sub/a.md"),
            ("sub/up", "../SKILL.md"),
            ("absolute", "/etc/passwd"),
            ("outside", "../.."),
            ("dangling", "nothing"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        let content = of_skill(root).unwrap();
        assert_eq!(paths(&content), ["SKILL.md", "inside", "sub/a.md", "sub/up"]);
        assert_eq!(content.left_out.len(), 3);
        let target = tempfile::tempdir().unwrap();
        let copied = content.copy(target.path(), Durability::Renamed).unwrap();
        assert_eq!(copied, content.hash().unwrap());
        assert_eq!(copied, of_version(target.path()).unwrap().hash().unwrap());
        assert_eq!(fs_err::read_to_string(target.path().join("inside")).unwrap(), "a");
    }

    #[test]
    fn a_hash_depends_on_names_and_bytes() {
        let hash = |files: &[(&str, &str)]| of_skill(skill(files).path()).unwrap().hash().unwrap();
        let one = hash(&[("SKILL.md", "x"), ("a", "bc")]);
        assert_eq!(one, hash(&[("SKILL.md", "x"), ("a", "bc")]));
        assert_ne!(one, hash(&[("SKILL.md", "x"), ("ab", "c")]));
        assert_ne!(one, hash(&[("SKILL.md", "x"), ("a", "bd")]));
        assert_ne!(one, hash(&[("SKILL.md", "x")]));
    }

    #[test]
    fn a_folder_without_skill_md_is_no_skill() {
        let folder = skill(&[("README.md", "x")]);
        let error = of_skill(folder.path()).unwrap_err();
        assert!(matches!(error, VersionError::NoSkill { .. }), "{error}");
    }
}
