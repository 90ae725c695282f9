//! The list of files in ARCHITECTURE.md: the first line of each file's own module comment.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::{Generated, project_root};

const BEGIN: &str = "<!-- files:begin -->";
const END: &str = "<!-- files:end -->";

/// Folders of like files that have one line for all.
const FOLDERS: [(&str, &str); 1] = [(
    "crates/core/src/rule/table",
    "One file for each rule of `skillgauge validate`, and their table",
)];

pub(crate) fn generate() -> Generated {
    let path = PathBuf::from("ARCHITECTURE.md");
    let page = fs_err::read_to_string(project_root().join(&path)).unwrap_or_default();
    let before = page.split(BEGIN).next().unwrap_or_default();
    let after = page.split(END).nth(1).unwrap_or_default();
    Generated { path, content: format!("{before}{BEGIN}\n{}{END}{after}", listing()) }
}

fn listing() -> String {
    let root = project_root();
    let mut out = String::new();
    let mut folder = String::new();
    for file in source_files(&root) {
        let shown = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        if FOLDERS
            .iter()
            .any(|(name, _)| shown.starts_with(&format!("{name}/")) && !shown.ends_with("/mod.rs"))
        {
            continue;
        }
        let crate_folder = shown.split('/').take(2).collect::<Vec<_>>().join("/");
        if crate_folder != folder && shown.starts_with("crates/") {
            let _ = writeln!(out, "\n### {crate_folder}\n");
            folder = crate_folder;
        }
        let _ = writeln!(out, "- `{shown}`: {}", purpose(&file));
        for (name, purpose) in FOLDERS.iter().filter(|(name, _)| shown == format!("{name}/mod.rs"))
        {
            let _ = writeln!(out, "- `{name}/*`: {purpose}");
        }
    }
    out.push('\n');
    out
}

/// The first line of the module comment, with the lines that finish its sentence.
fn purpose(file: &Path) -> String {
    let text = fs_err::read_to_string(file).unwrap_or_default();
    let comment = text.lines().map_while(|line| line.strip_prefix("//!"));
    let first: Vec<&str> = comment.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = first.join(" ");
    let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default().trim();
    sentence.trim_end_matches('.').to_owned()
}

/// Sorted, so that the page does not depend on the file system.
fn source_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("benches"), root.join("crates")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir()
                && !["testdata", "tests", "examples", "target"]
                    .iter()
                    .any(|skipped| name == *skipped)
            {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && name != "tests.rs"
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
