//! What never goes into an archive: one table of reasons, and the names that each is about.

use std::fmt;
use std::path::Path;

use crate::skill::FileKind;
use crate::version::is_junk;

/// Why something stays out of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftOut {
    /// The evals of the skill: for its author.
    Evals,
    Workspace,
    VersionControl,
    /// It looks like a secret.
    Secret,
    /// A link, wherever it leads.
    Link,
    /// A pipe, a socket, a device.
    Special,
    /// Left behind by a tool or a system.
    Junk,
    /// Another archive of a skill.
    Archive,
    Ignored,
    /// A skill of its own.
    OtherSkill,
    /// Its name is not text.
    NotText,
    /// Too many folders are around it.
    TooDeep,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Evals => "evals are for the author",
            Self::Workspace => "a workspace",
            Self::VersionControl => "version control",
            Self::Secret => "looks like a secret",
            Self::Link => "a link",
            Self::Special => "not a regular file",
            Self::Junk => "left behind by a tool or a system",
            Self::Archive => "an archive of a skill",
            Self::Ignored => "ignored by git",
            Self::OtherSkill => "a skill of its own",
            Self::NotText => "its name is not text",
            Self::TooDeep => "too deep",
        })
    }
}

const VERSION_CONTROL: [&str; 8] =
    [".git", ".hg", ".svn", ".jj", ".gitignore", ".gitattributes", ".gitmodules", ".github"];

/// Whole names of files and folders with secrets, in lower case.
const SECRET_NAMES: [&str; 24] = [
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    ".pgpass",
    ".aws",
    ".ssh",
    ".gnupg",
    ".docker",
    ".kube",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials",
    "credentials.json",
    "credentials.yaml",
    "credentials.yml",
    "credentials.toml",
    "credentials.csv",
];

/// Endings of files with keys, in lower case.
const SECRET_ENDINGS: [&str; 9] =
    [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc"];

/// `.env` files that are meant to be shown.
const EXAMPLES: [&str; 3] = [".example", ".sample", ".template"];

/// Why an entry stays out, as far as its name and kind tell.
pub(super) fn reason(path: &Path, kind: FileKind) -> Option<LeftOut> {
    match kind {
        FileKind::Link => return Some(LeftOut::Link),
        FileKind::Other => return Some(LeftOut::Special),
        FileKind::File | FileKind::Folder => {}
    }
    let is_folder = kind == FileKind::Folder;
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let has_ending = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if is_folder && path == Path::new("evals") {
        Some(LeftOut::Evals)
    } else if is_folder && name.ends_with("-workspace") {
        Some(LeftOut::Workspace)
    } else if VERSION_CONTROL.contains(&&*name) {
        Some(LeftOut::VersionControl)
    } else if is_secret(&name) || (!is_folder && has_ending(&SECRET_ENDINGS)) {
        Some(LeftOut::Secret)
    } else if !is_folder && has_ending(&[".skill"]) {
        Some(LeftOut::Archive)
    } else if is_junk(path) {
        Some(LeftOut::Junk)
    } else {
        None
    }
}

fn is_secret(name: &str) -> bool {
    let is_env = name.starts_with(".env.") && !EXAMPLES.iter().any(|end| name.ends_with(end));
    let extension = name.rsplit('.').next();
    let is_bag = name.starts_with("secrets.") && extension != Some("md");
    let is_account = name.starts_with("service-account") && extension == Some("json");
    SECRET_NAMES.contains(&name) || is_env || is_bag || is_account
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_stays_out() {
        let of = |path: &str, kind| reason(Path::new(path), kind);
        for (path, expected) in [
            (".env", LeftOut::Secret),
            ("scripts/.ENV.local", LeftOut::Secret),
            ("certs/server.PEM", LeftOut::Secret),
            ("id_rsa", LeftOut::Secret),
            ("credentials.json", LeftOut::Secret),
            ("secrets.yaml", LeftOut::Secret),
            ("old.skill", LeftOut::Archive),
            (".DS_Store", LeftOut::Junk),
            (".gitignore", LeftOut::VersionControl),
        ] {
            assert_eq!(of(path, FileKind::File), Some(expected), "{path}");
        }
        for path in
            ["SKILL.md", ".env.example", "docs/credentials.md", "evals", "key.md", "secrets.md"]
        {
            assert_eq!(of(path, FileKind::File), None, "{path}");
        }
        assert_eq!(of("evals", FileKind::Folder), Some(LeftOut::Evals));
        assert_eq!(of("docs/evals", FileKind::Folder), None);
        assert_eq!(of("a-workspace", FileKind::Folder), Some(LeftOut::Workspace));
        assert_eq!(of("anything", FileKind::Link), Some(LeftOut::Link));
    }
}
