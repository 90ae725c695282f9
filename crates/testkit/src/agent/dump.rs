//! What a fake agent can see from where it stands: for tests of isolation.
//!
//! The dump is one JSON document with the arguments, the environment, the work folder and the home as trees, the open
//! files and the process ids. Trees are bounded, so that a dump in the wrong place is only useless and not endless.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

/// The most entries of a tree.
const MAX_ENTRIES: usize = 10_000;

/// Everything there is to see.
pub(super) fn look_around(arguments: &[String], folder: &Path) -> io::Result<Value> {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .map(|(name, value)| {
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        })
        .collect();
    let home = environment.get("HOME").cloned();
    Ok(json!({
        "argv": arguments,
        "env": environment,
        "cwd": folder,
        "cwd_files": tree(folder)?,
        "home_files": home.map(|home| tree(Path::new(&home))).transpose()?,
        "open_files": open_files(),
        "pid": std::process::id(),
        "parent": std::os::unix::process::parent_id(),
        "group": rustix::process::getpgrp().as_raw_nonzero().get(),
    }))
}

/// The paths below a folder, relative to it and sorted; folders end with a slash, links show their target.
fn tree(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        // A folder that cannot be read is as good as empty to an agent.
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries {
            if found.len() >= MAX_ENTRIES {
                return Ok(found);
            }
            let entry = entry?;
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                let target = fs_err::read_link(&path)?;
                found.push(format!("{name} -> {}", target.display()));
            } else if kind.is_dir() {
                found.push(format!("{name}/"));
                folders.push(path);
            } else {
                found.push(name);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What each open file is, by number; only Linux tells.
fn open_files() -> BTreeMap<String, String> {
    let Ok(entries) = fs_err::read_dir("/proc/self/fd") else { return BTreeMap::new() };
    let files = entries.flatten().filter_map(|entry| {
        let target = fs_err::read_link(entry.path()).ok()?;
        Some((
            entry.file_name().to_string_lossy().into_owned(),
            target.to_string_lossy().into_owned(),
        ))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_shows_files_folders_and_links_without_following_them() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("a")).unwrap();
        fs_err::write(folder.path().join("a/b.txt"), "x").unwrap();
        fs_err::os::unix::fs::symlink("/", folder.path().join("root")).unwrap();
        assert_eq!(tree(folder.path()).unwrap(), ["a/", "a/b.txt", "root -> /"]);
    }
}
