//! The versions of a skill: the history with its scores, the newest improve loop, comparisons and analyses.

use std::path::Path;

use skillgauge_core::improve::{self, Round};
use skillgauge_core::iteration::Problem;
use skillgauge_core::version::Overview;
use skillgauge_core::workspace::Workspace;
use skillgauge_format::cases::{Analysis, Comparison, ComparisonKey};

use crate::read::{files, folders, load};

/// Whether there may be any; every page asks, so nothing is read.
pub(crate) fn are_in(root: &Path) -> bool {
    let is_there = |name: &str| fs_err::symlink_metadata(root.join(name)).is_ok();
    ["history.json", "grading", "comparison", "comparison.json"].into_iter().any(is_there)
}

/// Files stand beside what they hold, relative to the workspace.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    pub(crate) overview: Overview,
    pub(crate) comparisons: Vec<(String, Comparison, Option<ComparisonKey>)>,
    pub(crate) analyses: Vec<(String, Analysis)>,
    /// The rounds of the newest improve loop, and how it ended.
    pub(crate) rounds: Vec<Round>,
    pub(crate) conclusion: Option<String>,
    pub(crate) problems: Vec<Problem>,
}

impl Versions {
    /// Comparisons are in the workspace, one level below, and where `compare` puts them (`comparison/v0-v1/<case>/`).
    pub(crate) fn read(root: &Path) -> Self {
        let workspace = Workspace::at(root);
        let mut found = Self { overview: Overview::of_workspace(&workspace), ..Self::default() };
        let warnings = std::mem::take(&mut found.overview.warnings).into_iter();
        let problem = |message| Problem { file: "history.json".to_owned(), message };
        found.problems.extend(warnings.map(problem));
        let mut places = vec![String::new()];
        places.extend(folders(root));
        for pair in folders(&root.join("comparison")) {
            let pair = format!("comparison/{pair}");
            places.extend(folders(&root.join(&pair)).iter().map(|case| format!("{pair}/{case}")));
            places.push(pair);
        }
        places.sort();
        for folder in places {
            found.read_folder(root, &folder);
        }
        match improve::load(&workspace) {
            Ok(Some(improvement)) => {
                found.conclusion = improvement.conclusion.as_ref().map(improve::sentence);
                found.rounds = improvement.rounds;
            }
            Ok(None) => {}
            Err(error) => {
                let (file, message) = ("improve.json".to_owned(), error.to_string());
                found.problems.push(Problem { file, message });
            }
        }
        found
    }

    fn read_folder(&mut self, root: &Path, folder: &str) {
        let place = |name: &str| match folder {
            "" => name.to_owned(),
            _ => format!("{folder}/{name}"),
        };
        for name in files(&root.join(folder)) {
            let Some(stem) = name.strip_suffix(".json") else { continue };
            let file = place(&name);
            if stem.starts_with("comparison") && !stem.contains("key") {
                let key = place(&name.replacen("comparison", "comparison_key", 1));
                let key = load(root, &key, &mut self.problems);
                let read = load(root, &file, &mut self.problems);
                self.comparisons.extend(read.map(|comparison| (file, comparison, key)));
            } else if stem.starts_with("analysis") {
                let read = load(root, &file, &mut self.problems);
                self.analyses.extend(read.map(|analysis| (file, analysis)));
            }
        }
    }
}
