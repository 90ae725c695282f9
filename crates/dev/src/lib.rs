//! Generates docs/ from the tables in the code. A test fails when a file is not what it should be.

mod agents_page;
mod checks_page;
mod cli_page;
mod lint_page;
mod rules_page;

use std::path::{Path, PathBuf};

/// A file that is made from code.
#[derive(Debug)]
pub struct Generated {
    /// Relative to the project's root.
    pub path: PathBuf,
    pub content: String,
}

pub fn generated() -> Vec<Generated> {
    vec![
        agents_page::generate(),
        checks_page::generate(),
        rules_page::generate(),
        cli_page::generate(),
        lint_page::generate(),
    ]
}

/// The folder with the workspace's Cargo.toml.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The first line of every generated page.
const NOTICE: &str = "<!-- Made by `make generate` from the code; edits here are lost. -->";
