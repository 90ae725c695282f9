//! The files of a workspace, whoever wrote them: bounded, never through a link, and nothing in them is an error of ours.

use std::io::Read as _;
use std::path::Path;

use fs_err as fs;
use serde::de::DeserializeOwned;
use skillgauge_core::iteration::Problem;

/// A file larger than this is not read.
const MAX_BYTES: u64 = 32 << 20;

/// What became of reading a file.
pub(crate) enum Bytes {
    Missing,
    /// It is there and cannot be used; why.
    Broken(String),
    Read(Vec<u8>),
}

/// Reads a regular file of bounded size; a link may lead out of the workspace.
pub(crate) fn load_bytes(path: &Path, limit: u64) -> Bytes {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Bytes::Missing,
        Err(error) => return Bytes::Broken(error.kind().to_string()),
    };
    if metadata.is_symlink() {
        return Bytes::Broken("a link; links are not followed".to_owned());
    }
    if !metadata.is_file() {
        return Bytes::Broken("not a file".to_owned());
    }
    if metadata.len() > limit {
        return Bytes::Broken(format!("larger than {} MB", limit >> 20));
    }
    let mut bytes = Vec::new();
    match fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Ok(_) => Bytes::Read(bytes),
        Err(error) => Bytes::Broken(error.kind().to_string()),
    }
}

/// A file below a root as its type; what is broken goes to the problems.
pub(crate) fn load<T: DeserializeOwned>(
    root: &Path,
    file: &str,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    match parse(load_bytes(&root.join(file), MAX_BYTES)) {
        Ok(found) => found,
        Err(message) => {
            problems.push(Problem { file: file.to_owned(), message });
            None
        }
    }
}

/// The type of what was read; nothing of nothing.
pub(crate) fn parse<T: DeserializeOwned>(bytes: Bytes) -> Result<Option<T>, String> {
    match bytes {
        Bytes::Missing => Ok(None),
        Bytes::Broken(message) => Err(message),
        Bytes::Read(bytes) => match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_data() => Err(error.to_string()),
            Err(error) => Err(format!("not JSON: {error}")),
        },
    }
}

pub(crate) fn folders(path: &Path) -> Vec<String> {
    names(path, std::fs::FileType::is_dir)
}

pub(crate) fn files(path: &Path) -> Vec<String> {
    names(path, std::fs::FileType::is_file)
}

/// In the order of their names; links and what is hidden are left out.
fn names(path: &Path, is_wanted: fn(&std::fs::FileType) -> bool) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| is_wanted(&kind)))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_broken_is_said_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let mut problems = Vec::new();
        let mut read = |name: &str| {
            let found = load::<Vec<u64>>(folder.path(), name, &mut problems);
            (found, problems.pop().map(|problem| problem.message))
        };
        let write = |text: &str| fs::write(folder.path().join("a.json"), text).unwrap();
        assert_eq!(read("a.json"), (None, None));
        write("[1, 2]");
        assert_eq!(read("a.json"), (Some(vec![1, 2]), None));
        write("[1");
        assert!(read("a.json").1.unwrap().starts_with("not JSON"));
        write("{}");
        assert!(read("a.json").1.unwrap().contains("invalid type"));
        assert!(read(".").1.unwrap().contains("not a file"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a.json", folder.path().join("b.json")).unwrap();
            assert!(read("b.json").1.unwrap().contains("link"));
            assert_eq!(files(folder.path()), ["a.json"]);
        }
    }
}
