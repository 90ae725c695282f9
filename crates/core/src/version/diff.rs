//! The difference between two versions, as a unified diff of their files.

use std::collections::BTreeSet;
use std::path::Path;

use super::{VersionError, VersionNumber, VersionStore};
use crate::files::{Content, ContentEntry, ContentKind};

/// Larger files are only said to differ.
const MAX_BYTES: u64 = 1 << 20;

/// One side of a file's difference.
enum Side {
    Absent,
    Text(String),
    /// A link, something that is not text, or too large: shown as a whole or not at all.
    Opaque(Vec<u8>),
}

impl VersionStore {
    /// A unified diff from one version to another; empty when they are equal.
    pub fn diff(
        &self,
        from: VersionNumber,
        to: VersionNumber,
        program: &str,
    ) -> Result<String, VersionError> {
        let history = self.history(program)?;
        let (old, new) = (self.verified(&history, from)?, self.verified(&history, to)?);
        diff_contents((&old, &from.to_string()), (&new, &to.to_string()))
    }
}

fn diff_contents(old: (&Content, &str), new: (&Content, &str)) -> Result<String, VersionError> {
    let both = old.0.entries().iter().chain(new.0.entries());
    let paths: BTreeSet<&Path> = both.map(|entry| entry.path.as_path()).collect();
    let mut out = String::new();
    for path in paths {
        let (before, after) = (side(old.0, path)?, side(new.0, path)?);
        let name = |side: &Side, label: &str| match side {
            Side::Absent => "/dev/null".to_owned(),
            Side::Text(_) | Side::Opaque(_) => format!("{label}/{}", path.display()),
        };
        let names = (name(&before, old.1), name(&after, new.1));
        out.push_str(&file_diff(&before, &after, &names));
    }
    Ok(out)
}

fn file_diff(before: &Side, after: &Side, names: &(String, String)) -> String {
    let (before, after) = match (before, after) {
        (Side::Text(before), Side::Text(after)) => (before.as_str(), after.as_str()),
        (Side::Absent, Side::Text(after)) => ("", after.as_str()),
        (Side::Text(before), Side::Absent) => (before.as_str(), ""),
        (Side::Opaque(before), Side::Opaque(after)) if before == after => return String::new(),
        (Side::Absent, Side::Absent) => return String::new(),
        _ => return format!("{} and {} differ and are not text\n", names.0, names.1),
    };
    if before == after {
        // An empty file that comes or goes has no lines to show.
        return if names.0 == "/dev/null" || names.1 == "/dev/null" {
            format!("--- {}\n+++ {}\n", names.0, names.1)
        } else {
            String::new()
        };
    }
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .header(&names.0, &names.1)
        .to_string()
}

fn side(content: &Content, path: &Path) -> Result<Side, VersionError> {
    let Some(entry) = content.entry(path) else { return Ok(Side::Absent) };
    match &entry.kind {
        ContentKind::Link { target } => {
            Ok(Side::Opaque(target.as_os_str().as_encoded_bytes().to_vec()))
        }
        ContentKind::File { .. } => file_side(entry),
        ContentKind::Folder => Ok(Side::Absent),
    }
}

fn file_side(entry: &ContentEntry) -> Result<Side, VersionError> {
    let size = fs_err::metadata(&entry.place)?.len();
    if size > MAX_BYTES {
        let hash = entry.hash()?;
        return Ok(Side::Opaque(hash.as_str().as_bytes().to_vec()));
    }
    let bytes = fs_err::read(&entry.place)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Side::Text(text),
        Ok(text) => Side::Opaque(text.into_bytes()),
        Err(error) => Side::Opaque(error.into_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Content) {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            fs_err::write(folder.path().join(path), bytes).unwrap();
        }
        let content = super::super::of_version(folder.path()).unwrap();
        (folder, content)
    }

    #[test]
    fn changed_new_removed_and_binary_files_are_shown() {
        let (_a, old) = content(&[
            ("SKILL.md", b"one\ntwo\n"),
            ("b", b"\xff1"),
            ("gone", b"x\n"),
            ("same", b"s\n"),
        ]);
        let (_b, new) = content(&[
            ("SKILL.md", b"one\n2\n"),
            ("b", b"\xff2"),
            ("here", b"y\n"),
            ("same", b"s\n"),
        ]);
        insta::assert_snapshot!(diff_contents((&old, "v0"), (&new, "v1")).unwrap(), @r"
        --- v0/SKILL.md
        +++ v1/SKILL.md
        @@ -1,2 +1,2 @@
         one
        -two
        +2
        v0/b and v1/b differ and are not text
        --- v0/gone
        +++ /dev/null
        @@ -1 +0,0 @@
        -x
        --- /dev/null
        +++ v1/here
        @@ -0,0 +1 @@
        +y
        ");
        assert_eq!(diff_contents((&old, "v0"), (&old, "v0")).unwrap(), "");
    }
}
