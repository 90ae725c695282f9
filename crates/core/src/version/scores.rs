//! What the gradings in a workspace say about each version.

use std::collections::BTreeMap;
use std::path::Path;

use skillgauge_format::cases::{CasesGrading, Verdict};
use skillgauge_format::write::{round_rate, round_score};
use skillgauge_format::{Number, read};

use super::history::{read_bounded, refuse_link};
use super::{VersionError, VersionNumber, VersionStore};
use crate::statistics::{Interval, wilson};
use crate::workspace::WorkspaceLock;

/// The gradings of one version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VersionScores {
    /// How many there are.
    pub gradings: u64,
    /// How many passed.
    pub passed: u64,
    sum: f64,
}

impl VersionScores {
    /// Mean score, to one decimal; none without gradings.
    pub fn average(&self) -> Option<f64> {
        self.mean().map(round_score)
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.gradings > 0).then(|| self.sum / Number::Unsigned(self.gradings).as_f64())
    }

    /// Share of the gradings that passed; none without gradings.
    pub fn pass_rate(&self) -> Option<f64> {
        let (passed, all) = (Number::Unsigned(self.passed), Number::Unsigned(self.gradings));
        (self.gradings > 0).then(|| round_rate(passed.as_f64() / all.as_f64()))
    }

    /// Wilson's interval of the pass rate; none without gradings.
    pub fn interval(&self) -> Option<Interval> {
        let count = |count: u64| usize::try_from(count).ok();
        let found = wilson(count(self.passed)?, count(self.gradings)?)?;
        Some(Interval { low: round_rate(found.low), high: round_rate(found.high) })
    }

    fn add(&mut self, grading: &CasesGrading) {
        self.gradings += 1;
        self.passed += u64::from(grading.overall == Verdict::Pass);
        self.sum += grading.overall_score.as_f64();
    }
}

/// All gradings of a workspace, by version, and what was passed over.
#[derive(Debug, Default)]
pub(super) struct Gradings {
    pub(super) scores: BTreeMap<VersionNumber, VersionScores>,
    files: Vec<CasesGrading>,
    pub(super) warnings: Vec<String>,
}

impl VersionStore {
    /// Reads `grading/`. A file that is no grading, or not the one that its name says, is passed over with a warning.
    pub(super) fn gradings(&self) -> Result<Gradings, VersionError> {
        let folder = self.root().join("grading");
        refuse_link(&folder)?;
        let mut gradings = Gradings::default();
        let Ok(entries) = fs_err::read_dir(&folder) else { return Ok(gradings) };
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"))
            .collect();
        names.sort();
        for name in names {
            match grading(&folder, &name) {
                Ok(found) => {
                    gradings.scores.entry(VersionNumber(found.version)).or_default().add(&found);
                    gradings.files.push(found);
                }
                Err(reason) => gradings.warnings.push(format!("grading/{name}: {reason}")),
            }
        }
        Ok(gradings)
    }

    /// What failed in the gradings of these versions, a line for each criterion.
    pub fn failures(&self, versions: &[VersionNumber]) -> Result<Vec<String>, VersionError> {
        let gradings = self.gradings()?;
        let is_wanted =
            |grading: &&CasesGrading| versions.contains(&VersionNumber(grading.version));
        let mut lines = Vec::new();
        for grading in gradings.files.iter().filter(is_wanted) {
            for result in grading.results.iter().filter(|result| !result.passed) {
                lines.push(format!(
                    "{} (v{} run {}): {} scored {}: {}",
                    grading.case_id,
                    grading.version,
                    grading.run,
                    result.criterion,
                    result.score,
                    result.reasoning
                ));
            }
        }
        Ok(lines)
    }

    /// Fills in the mean score of every version from its gradings. Called after grading.
    pub fn record_scores(&self, program: &str, _lock: &WorkspaceLock) -> Result<(), VersionError> {
        let before = self.history(program)?;
        let mut history = before.clone();
        let gradings = self.gradings()?;
        for version in &mut history.versions {
            let scores = gradings.scores.get(&VersionNumber(version.version));
            version.average_score = scores.and_then(VersionScores::average).map(Number::Float);
        }
        if history == before { Ok(()) } else { self.save(&history) }
    }
}

fn grading(folder: &Path, name: &str) -> Result<CasesGrading, String> {
    let bytes = read_bounded(&folder.join(name)).map_err(|error| error.to_string())?;
    let found = read::<CasesGrading>(&bytes).map_err(|error| error.to_string())?.value;
    let expected = format!("{}_v{}_run{}.json", found.case_id, found.version, found.run);
    if name == expected { Ok(found) } else { Err(format!("its content belongs in {expected}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_gradings_nothing_is_said() {
        let none = VersionScores::default();
        assert_eq!((none.average(), none.pass_rate(), none.interval()), (None, None, None));
    }
}
