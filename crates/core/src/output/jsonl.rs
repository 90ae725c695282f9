//! The report of the validation contract, one a line, as soon as each skill is checked.
//!
//! Invariant: a line holds the same report that `json` writes for the skill, whatever the scope.

use super::json::{compact, report};
use super::{Detail, Paths, Renderer, Scope};
use crate::validate::Checked;

/// The `jsonl` format.
#[derive(Debug)]
pub struct Jsonl {
    paths: Paths,
}

impl Jsonl {
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }
}

impl Renderer for Jsonl {
    fn skill(&self, checked: &Checked, _: Scope, _: Detail) -> String {
        compact(&report(&self.paths, checked)) + "\n"
    }
}
