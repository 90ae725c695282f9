//! What `skillgauge history` shows: every version with its scores, the current one and the best one.

use serde::{Deserialize, Serialize};
use skillgauge_format::cases::{History, Version};
use skillgauge_format::read;

use super::history::read_bounded;
use super::scores::{Scores, VersionScores};
use super::{VersionError, VersionNumber, VersionStore};
use crate::text::{percent, shorten, table};
use crate::workspace::Workspace;

/// The versions of a skill with what is known about them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// The versions, the oldest first.
    pub versions: Vec<VersionLine>,
    /// The version that is being worked on.
    pub current_version: u64,
    /// The version with the highest pass rate, then the highest mean score, then the earlier one: as `improve` has it; null
    /// without gradings.
    pub best_version: Option<u64>,
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VersionLine {
    #[serde(flatten)]
    pub version: Version,
    /// How many graded runs there are.
    pub gradings: u64,
    /// How many of them passed as a whole.
    pub passed: u64,
    /// The share of expectations that passed, as the mean over cases; null without gradings.
    pub pass_rate: Option<f64>,
    /// The interval of that rate with a confidence of 95 %; null without gradings.
    pub pass_rate_interval: Option<[f64; 2]>,
}

impl VersionStore {
    /// Reads the history and the gradings.
    pub fn overview(&self, program: &str) -> Result<Overview, VersionError> {
        Ok(Overview::new(&self.history(program)?, self.scores()?))
    }
}

impl Overview {
    /// The versions in a workspace, for a reader that has no skill at hand: what is wrong is a warning.
    pub fn of_workspace(workspace: &Workspace) -> Self {
        let mut problems = Vec::new();
        let scores = Scores::read(workspace).unwrap_or_else(|error| {
            problems.push(error.to_string());
            Scores::default()
        });
        let path = workspace.root().join("history.json");
        let history = match fs_err::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => read_bounded(&path).ok(),
            _ => None,
        };
        let mut overview = match history.as_deref().map(skill_creator_history) {
            Some(Some(other)) => other,
            Some(None) => match read::<History>(history.as_deref().unwrap_or_default()) {
                Ok(history) => Self::new(&history.value, scores),
                Err(error) => {
                    problems.push(format!("history.json: {error}"));
                    Self::default()
                }
            },
            None => Self { warnings: scores.warnings, ..Self::default() },
        };
        overview.warnings.extend(problems);
        overview
    }

    fn new(history: &History, found: Scores) -> Self {
        let Scores { versions: scores, mut warnings, .. } = found;
        let known = history.versions.len() as u64;
        for unknown in scores.keys().filter(|version| version.0 >= known) {
            warnings.push(format!("there are gradings of {unknown}, which is in no history"));
        }
        let line = |version: &Version| {
            let scores = scores.get(&VersionNumber(version.version)).cloned().unwrap_or_default();
            VersionLine::new(version, &scores)
        };
        let versions: Vec<VersionLine> = history.versions.iter().map(line).collect();
        let best_version = best(history.versions.iter().filter_map(|version| {
            let scores = scores.get(&VersionNumber(version.version))?;
            Some((version.version, scores.pass_rate()?, scores.mean()))
        }));
        Self { versions, current_version: history.current_version, best_version, warnings }
    }
}

/// The history that the skill-creator keeps when it improves a skill.
#[derive(Deserialize)]
struct SkillCreatorHistory {
    current_best: String,
    iterations: Vec<SkillCreatorVersion>,
}

#[derive(Deserialize)]
struct SkillCreatorVersion {
    version: String,
    expectation_pass_rate: Option<f64>,
    #[serde(default)]
    grading_result: String,
}

/// Nothing when it is no such history.
fn skill_creator_history(bytes: &[u8]) -> Option<Overview> {
    let found: SkillCreatorHistory = serde_json::from_slice(bytes).ok()?;
    let number = |name: &str| name.trim_start_matches('v').parse::<u64>().ok();
    let line = |other: &SkillCreatorVersion| {
        Some(VersionLine {
            version: Version {
                version: number(&other.version)?,
                description: other.grading_result.clone(),
                ..Version::default()
            },
            gradings: 0,
            passed: 0,
            pass_rate: other.expectation_pass_rate,
            pass_rate_interval: None,
        })
    };
    let best = number(&found.current_best)?;
    Some(Overview {
        versions: found.iterations.iter().filter_map(line).collect(),
        current_version: best,
        best_version: Some(best),
        warnings: Vec::new(),
    })
}

/// The version with the highest pass rate, then the highest score, then the earliest.
fn best(scored: impl Iterator<Item = (u64, f64, Option<f64>)>) -> Option<u64> {
    let better = |best: (u64, f64, Option<f64>), next: (u64, f64, Option<f64>)| {
        if (next.1, next.2) > (best.1, best.2) { next } else { best }
    };
    scored.reduce(better).map(|(version, ..)| version)
}

impl VersionLine {
    fn new(version: &Version, scores: &VersionScores) -> Self {
        let mut version = version.clone();
        if let Some(average) = scores.average() {
            version.average_score = Some(average.into());
        }
        Self {
            version,
            gradings: scores.gradings(),
            passed: scores.passed(),
            pass_rate: scores.pass_rate(),
            pass_rate_interval: scores.interval().map(|interval| [interval.low, interval.high]),
        }
    }
}

impl Overview {
    pub fn to_text(&self) -> String {
        let head = ["version", "time", "pass rate", "interval", "score", "passed", "commit"];
        let mut rows = vec![head.iter().chain(&["description"]).map(ToString::to_string).collect()];
        for line in &self.versions {
            let version = &line.version;
            let unknown = || "-".to_owned();
            let commit = version.git_hash.as_deref().unwrap_or("-");
            let passed = match line.gradings {
                0 => unknown(),
                all => format!("{}/{all}", line.passed),
            };
            rows.push(vec![
                VersionNumber(version.version).to_string(),
                version.timestamp.to_string(),
                line.pass_rate.map_or_else(unknown, percent),
                line.pass_rate_interval.map_or_else(unknown, |[low, high]| {
                    format!("{:.0}-{}", 100.0 * low, percent(high))
                }),
                version.average_score.map_or_else(unknown, |s| format!("{:.1}", s.as_f64())),
                passed,
                commit.get(..7).unwrap_or(commit).to_owned(),
                shorten(&version.description, 80) + self.marks(version.version),
            ]);
        }
        let mut text = table(&rows, &[0, 1, 6, 7]);
        if self.versions.iter().any(|line| line.gradings > 0) {
            text.push_str(
                "\nrates are over all measured runs with the skill; a benchmark compares only the cases that all of its arms have\n",
            );
        }
        text
    }

    fn marks(&self, version: u64) -> &'static str {
        match (self.current_version == version, self.best_version == Some(version)) {
            (true, true) => " (current, best)",
            (true, false) => " (current)",
            (false, true) => " (best)",
            (false, false) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_of_equals_is_best() {
        let one = |version: u64, rate: f64, score: f64| (version, rate, Some(score));
        let three = [one(0, 0.5, 3.0), one(1, 0.5, 4.0), one(2, 0.5, 4.0)];
        assert_eq!(best(three.into_iter()), Some(1));
        assert_eq!(best([one(0, 0.5, 4.0), one(1, 0.6, 3.0)].into_iter()), Some(1));
        // Without scores the rates decide alone.
        assert_eq!(best([(0, 0.6, None), (1, 0.6, None), (2, 0.7, None)].into_iter()), Some(2));
        assert_eq!(best(std::iter::empty()), None);
    }
}
