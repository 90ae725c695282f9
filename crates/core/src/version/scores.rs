//! What the gradings in a workspace say about each version, in either dialect.
//!
//! A case of a version counts once: by its gradings in `grading/`, where the `cases` dialect keeps them, or else by the
//! graded runs of the newest iteration that ran the version on it. Repeated runs of a case are not independent, so the
//! rate of a version is the mean of its cases, and its interval is one over cases.
//!
//! The name of a file in `grading/` is no proof: a skill that is no stored version is graded under the number of the
//! next one, and may be another by the time that there is a next one; a later iteration with fewer runs replaces only
//! some files. So a grading of ours says which content it is about and in which iteration it was made, and it counts
//! only for a version with that content, and only if no later iteration graded the case. Gradings of other tools say
//! neither; they count for the version that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use skillgauge_format::cases::{CasesGrading, Verdict};
use skillgauge_format::part::Configuration;
use skillgauge_format::record::{BaselineKind, IterationRecord};
use skillgauge_format::write::{round_rate, round_score};
use skillgauge_format::{Number, read};

use super::history::{hash_of_version, read_bounded, refuse_link};
use super::{VersionError, VersionNumber, VersionStore};
use crate::benchmark::{RunScore, failed_in, score_of};
use crate::plan::RunId;
use crate::statistics::{Interval, Spread, mean_interval, wilson_of_mean};
use crate::workspace::{RunDir, Workspace, WorkspaceLock};

/// The field of a grading with the hash of the skill's files, evals excluded.
pub const GRADED_CONTENT: &str = "skill_content_hash";

/// The field of a grading with the number of the iteration that it was made in.
pub const GRADED_IN: &str = "iteration";

/// What is known of one version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VersionScores {
    /// The graded runs of each case.
    cases: BTreeMap<String, Vec<RunScore>>,
}

impl VersionScores {
    /// How many graded runs there are.
    pub fn gradings(&self) -> u64 {
        self.runs().count() as u64
    }

    /// How many of them passed as a whole.
    pub fn passed(&self) -> u64 {
        self.runs().filter(|run| run.passed).count() as u64
    }

    fn runs(&self) -> impl Iterator<Item = &RunScore> {
        self.cases.values().flatten()
    }

    /// Mean score of the gradings, to one decimal; none without scores.
    pub fn average(&self) -> Option<f64> {
        self.mean().map(round_score)
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let scores: Vec<f64> = self.runs().filter_map(|run| run.score).collect();
        Spread::of(&scores).map(|spread| spread.mean)
    }

    /// The interval of the mean score over cases; none with fewer than two cases that have scores.
    pub fn average_interval(&self) -> Option<Interval> {
        mean_interval(&self.by_case(|run| run.score))
    }

    /// Mean share of expectations that passed; none without gradings.
    pub fn pass_rate(&self) -> Option<f64> {
        let rates = self.by_case(|run| Some(run.pass_rate));
        Spread::of(&rates).map(|spread| round_rate(spread.mean))
    }

    /// The interval of the pass rate over cases; none without gradings.
    pub fn interval(&self) -> Option<Interval> {
        let found = wilson_of_mean(&self.by_case(|run| Some(run.pass_rate)))?;
        Some(Interval { low: round_rate(found.low), high: round_rate(found.high) })
    }

    /// One number for each case: the mean of its runs.
    fn by_case(&self, number: impl Fn(&RunScore) -> Option<f64>) -> Vec<f64> {
        let mean = |runs: &Vec<RunScore>| {
            let numbers: Vec<f64> = runs.iter().filter_map(&number).collect();
            Spread::of(&numbers).map(|spread| spread.mean)
        };
        self.cases.values().filter_map(mean).collect()
    }

    fn add(&mut self, grading: &CasesGrading) {
        let passed = grading.results.iter().filter(|result| result.passed).count();
        let total = grading.results.len().max(1);
        self.cases.entry(grading.case_id.to_string()).or_default().push(RunScore {
            pass_rate: Number::Unsigned(passed as u64).as_f64()
                / Number::Unsigned(total as u64).as_f64(),
            passed: grading.overall == Verdict::Pass,
            score: Some(grading.overall_score.as_f64()),
        });
    }
}

/// The scores of all versions in a workspace.
pub(super) type Scores = BTreeMap<VersionNumber, VersionScores>;

/// All gradings of a workspace, by version, and what was passed over.
#[derive(Debug, Default)]
pub(super) struct Gradings {
    pub(super) scores: Scores,
    files: Vec<CasesGrading>,
    pub(super) warnings: Vec<String>,
}

impl Gradings {
    /// Drops what a later iteration graded again, as it is with runs; gives how many.
    fn drop_earlier(&mut self) -> u64 {
        let key = |found: &CasesGrading| (found.version, found.case_id.to_string());
        let mut newest: BTreeMap<(u64, String), u64> = BTreeMap::new();
        for found in &self.files {
            let newest = newest.entry(key(found)).or_default();
            *newest = (*newest).max(graded_in(found));
        }
        let before = self.files.len();
        self.files.retain(|found| newest.get(&key(found)).is_none_or(|it| *it == graded_in(found)));
        (before - self.files.len()) as u64
    }
}

/// The iteration of a grading; 0, before all others, for one that does not say.
fn graded_in(grading: &CasesGrading) -> u64 {
    grading.extra.get(GRADED_IN).and_then(serde_json::Value::as_u64).unwrap_or_default()
}

/// Whether a grading is about a version with this content.
fn is_about(grading: &CasesGrading, content: Option<&str>) -> bool {
    let graded = grading.extra.get(GRADED_CONTENT).and_then(serde_json::Value::as_str);
    graded.zip(content).is_none_or(|(graded, content)| graded == content)
}

/// What the graded runs in a workspace say of each version, for a reader that has no skill at hand.
pub fn run_scores(
    workspace: &Workspace,
) -> Result<BTreeMap<VersionNumber, VersionScores>, VersionError> {
    let mut scores = Scores::new();
    add_runs(workspace, &mut scores)?;
    Ok(scores)
}

/// Adds the graded runs of iterations, of each case those of the newest one; what `scores` has of a case stays.
fn add_runs(workspace: &Workspace, scores: &mut Scores) -> Result<(), VersionError> {
    for run in newest_runs(workspace, scores)? {
        let cases = &mut scores.entry(run.version).or_default().cases;
        cases.entry(run.id.case).or_default().push(run.score);
    }
    Ok(())
}

/// A graded run of a version.
struct GradedRun {
    version: VersionNumber,
    id: RunId,
    dir: RunDir,
    score: RunScore,
}

/// Of each version and case that is not known yet, the graded runs of the newest iteration that has any.
fn newest_runs(workspace: &Workspace, known: &Scores) -> Result<Vec<GradedRun>, VersionError> {
    let mut found: Vec<GradedRun> = Vec::new();
    let mut seen: BTreeSet<(VersionNumber, String)> = BTreeSet::new();
    for number in workspace.iterations()?.into_iter().rev() {
        let iteration = workspace.iteration(number);
        // What cannot be read is said by whoever aggregates it.
        let Ok(record) = iteration.record() else { continue };
        let ran = versions_of(&record);
        if ran.is_empty() {
            continue;
        }
        let first = found.len();
        for (id, dir) in iteration.runs() {
            let version = ran.iter().find(|(_, configuration)| *configuration == id.configuration);
            let Some(&(version, _)) = version else { continue };
            let is_known =
                known.get(&version).is_some_and(|known| known.cases.contains_key(&id.case))
                    || seen.contains(&(version, id.case.clone()));
            if !is_known && let Some(score) = score_of(dir.root()) {
                found.push(GradedRun { version, id, dir, score });
            }
        }
        seen.extend(found[first..].iter().map(|run| (run.version, run.id.case.clone())));
    }
    Ok(found)
}

/// The versions that an iteration ran, each with its configuration.
fn versions_of(record: &IterationRecord) -> Vec<(VersionNumber, Configuration)> {
    let with = record.version.map(|version| (VersionNumber(version), Configuration::WithSkill));
    let baseline = record.baseline.as_ref().filter(|found| found.kind == BaselineKind::Old);
    let old = baseline.and_then(|found| found.version);
    let old = old.map(|version| (VersionNumber(version), Configuration::OldSkill));
    // The same version on both sides counts once.
    let old = old.filter(|(version, _)| Some(version.0) != record.version);
    with.into_iter().chain(old).collect()
}

impl VersionStore {
    /// The gradings with the graded runs.
    pub(super) fn graded(&self) -> Result<Gradings, VersionError> {
        let mut gradings = self.gradings()?;
        add_runs(&self.workspace, &mut gradings.scores)?;
        Ok(gradings)
    }

    /// Reads `grading/`. A file that is no grading, or not the one that its name says, is passed over with a warning.
    fn gradings(&self) -> Result<Gradings, VersionError> {
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
        let mut contents: BTreeMap<u64, Option<String>> = BTreeMap::new();
        let mut stale = 0_u64;
        for name in names {
            let found = match grading(&folder, &name) {
                Ok(found) => found,
                Err(reason) => {
                    gradings.warnings.push(format!("grading/{name}: {reason}"));
                    continue;
                }
            };
            let number = VersionNumber(found.version);
            let content = contents.entry(found.version).or_insert_with(|| {
                // A version that is in no history has no content yet.
                hash_of_version(&self.folder(number)).ok()
            });
            if is_about(&found, content.as_deref()) {
                gradings.files.push(found);
            } else {
                stale += 1;
            }
        }
        stale += gradings.drop_earlier();
        if stale > 0 {
            let (s, they) = if stale == 1 { ("", "is") } else { ("s", "are") };
            gradings.warnings.push(format!(
                "{stale} grading{s} in grading/ {they} of another state of the skill than the version, or of an \
                 earlier iteration, and count for nothing"
            ));
        }
        for found in &gradings.files {
            gradings.scores.entry(VersionNumber(found.version)).or_default().add(found);
        }
        Ok(gradings)
    }

    /// What failed in the gradings of these versions, a line for each criterion or expectation.
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
        for run in newest_runs(&self.workspace, &gradings.scores)? {
            if !versions.contains(&run.version) {
                continue;
            }
            for (text, evidence) in failed_in(run.dir.root()) {
                let evidence = evidence.unwrap_or_else(|| "no evidence".to_owned());
                let (case, number) = (&run.id.case, run.id.number);
                lines.push(format!("{case} ({} run {number}): {text}: {evidence}", run.version));
            }
        }
        Ok(lines)
    }

    /// Fills in the mean score of every version from its gradings. Called after grading.
    pub fn record_scores(&self, program: &str, _lock: &WorkspaceLock) -> Result<(), VersionError> {
        let before = self.history(program)?;
        let mut history = before.clone();
        let gradings = self.graded()?;
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

    #[test]
    fn cases_weigh_the_same_however_often_they_were_run() {
        let run = |pass_rate: f64| RunScore { pass_rate, passed: pass_rate >= 1.0, score: None };
        let cases = [
            ("a".to_owned(), vec![run(1.0)]),
            ("b".to_owned(), vec![run(0.0), run(0.0), run(1.0), run(0.0)]),
        ];
        let scores = VersionScores { cases: cases.into() };
        assert_eq!((scores.gradings(), scores.passed()), (5, 2));
        assert_eq!((scores.pass_rate(), scores.average()), (Some(0.625), None));
        // Two cases are two trials, whatever the number of runs.
        assert_eq!(scores.interval().map(|found| found.low < 0.2), Some(true));
    }
}
