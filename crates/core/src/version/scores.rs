//! What the runs and gradings in a workspace say about each version, in either dialect.
//!
//! A case of a version counts once: by the measured runs of the newest iteration that ran the version on it, or else by
//! its gradings in `grading/`, where other tools of the `cases` dialect keep them. Repeated runs of a case are not
//! independent, so the rate of a version is the mean of its cases, and its interval is one over cases.
//!
//! The name of a file in `grading/` is no proof: a skill that is no stored version is graded under the number of the
//! next one, and may be another by the time that there is a next one. So a grading of ours says which content it is about
//! and in which iteration it was made, as an iteration does: both count only for a version with that content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use skillgauge_format::cases::{CasesGrading, Verdict};
use skillgauge_format::part::Configuration;
use skillgauge_format::record::{BaselineKind, IterationRecord};
use skillgauge_format::write::{round_rate, round_score};
use skillgauge_format::{Number, read};

use super::history::{hash_of_version, read_bounded, refuse_link};
use super::{VersionError, VersionNumber, VersionStore};
use crate::benchmark::lowest_score;
use crate::iteration::{Case, Iteration, Run};
use crate::statistics::{Interval, Spread, cluster_interval};
use crate::workspace::{Workspace, WorkspaceLock};

/// The field of a grading with the hash of the skill's files, evals excluded.
pub const GRADED_CONTENT: &str = "skill_content_hash";

/// The field of a grading with the number of the iteration that it was made in.
pub const GRADED_IN: &str = "iteration";

/// What is known of one version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VersionScores {
    /// The measured runs of each case.
    cases: BTreeMap<String, Vec<RunScore>>,
}

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RunScore {
    pass_rate: f64,
    passed: bool,
    /// From 1 to 5.
    score: Option<f64>,
}

impl VersionScores {
    /// What the runs of one iteration say.
    pub fn of(iteration: &Iteration, configuration: &Configuration) -> Self {
        let mut scores = Self::default();
        for case in &iteration.cases {
            scores.add_runs(case, case.measured(configuration));
        }
        scores
    }

    fn add_runs<'r>(&mut self, case: &Case, runs: impl Iterator<Item = &'r Run>) {
        let score = |run: &Run| {
            Some(RunScore {
                pass_rate: run.pass_rate?,
                passed: run.is_passed(),
                score: lowest_score(run).or_else(|| run.score()),
            })
        };
        let found: Vec<RunScore> = runs.filter_map(score).collect();
        if !found.is_empty() {
            self.cases.entry(case.id.to_string()).or_default().extend(found);
        }
    }

    /// How many measured runs there are.
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

    /// Mean score of the runs that have one, to one decimal; none without scores.
    pub fn average(&self) -> Option<f64> {
        self.mean().map(round_score)
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let scores: Vec<f64> = self.runs().filter_map(|run| run.score).collect();
        Spread::of(&scores).map(|spread| spread.mean)
    }

    /// Mean share of expectations that passed; none without runs.
    pub fn pass_rate(&self) -> Option<f64> {
        Spread::of(&self.rates()).map(|spread| round_rate(spread.mean))
    }

    /// The interval of the pass rate over cases; none without runs.
    pub fn interval(&self) -> Option<Interval> {
        let found = cluster_interval(&self.rates())?;
        Some(Interval { low: round_rate(found.low), high: round_rate(found.high) })
    }

    /// What they say about some of the cases.
    #[must_use]
    pub fn only(mut self, is_meant: impl Fn(&str) -> bool) -> Self {
        self.cases.retain(|case, _| is_meant(case));
        self
    }

    fn rates(&self) -> Vec<f64> {
        self.by_case(|run| Some(run.pass_rate))
    }

    /// One number for each case that has it: the mean of its runs.
    fn by_case(&self, number: impl Fn(&RunScore) -> Option<f64>) -> Vec<f64> {
        let mean = |runs: &Vec<RunScore>| {
            let numbers: Vec<f64> = runs.iter().filter_map(&number).collect();
            Spread::of(&numbers).map(|spread| spread.mean)
        };
        self.cases.values().filter_map(mean).collect()
    }

    fn add_grading(&mut self, grading: &CasesGrading) {
        let number = |count: usize| Number::Unsigned(count as u64).as_f64();
        let passed = grading.results.iter().filter(|result| result.passed).count();
        self.cases.entry(grading.case_id.to_string()).or_default().push(RunScore {
            pass_rate: number(passed) / number(grading.results.len().max(1)),
            passed: grading.overall == Verdict::Pass,
            score: Some(grading.overall_score.as_f64()),
        });
    }
}

/// All that a workspace says of its versions, and what was passed over.
#[derive(Debug, Default)]
pub struct Scores {
    pub versions: BTreeMap<VersionNumber, VersionScores>,
    pub warnings: Vec<String>,
    runs: Vec<VersionRuns>,
    files: Vec<CasesGrading>,
}

/// The measured runs of a case with a version.
#[derive(Debug)]
struct VersionRuns {
    version: VersionNumber,
    case: Case,
}

impl Scores {
    /// Reads a workspace, also for a reader that has no skill at hand.
    pub fn read(workspace: &Workspace) -> Result<Self, VersionError> {
        let mut scores = Self::default();
        let mut contents = Contents { workspace, known: BTreeMap::new() };
        scores.read_runs(workspace, &mut contents)?;
        scores.read_gradings(workspace, &mut contents)?;
        Ok(scores)
    }

    /// Of each version and case, the measured runs of the newest iteration that has any.
    fn read_runs(
        &mut self,
        workspace: &Workspace,
        contents: &mut Contents<'_>,
    ) -> Result<(), VersionError> {
        for number in workspace.iterations()?.into_iter().rev() {
            let folder = workspace.iteration(number);
            // What cannot be read is said by whoever aggregates it.
            let Ok(record) = folder.record() else { continue };
            let ran = versions_of(&record, contents);
            let is_known = |version: &VersionNumber, case: &String| {
                self.versions.get(version).is_some_and(|known| known.cases.contains_key(case))
            };
            let is_over =
                |(version, _): &(_, _)| record.case_ids.iter().all(|case| is_known(version, case));
            if ran.iter().all(is_over) {
                continue;
            }
            let Ok(iteration) = Iteration::read(folder.root()) else { continue };
            let known: BTreeSet<(VersionNumber, String)> = self
                .versions
                .iter()
                .flat_map(|(version, known)| {
                    known.cases.keys().map(|case| (*version, case.clone()))
                })
                .collect();
            for case in &iteration.cases {
                for (version, configuration) in &ran {
                    if !known.contains(&(*version, case.id.to_string())) {
                        self.add_runs(*version, case, configuration);
                    }
                }
            }
        }
        Ok(())
    }

    fn add_runs(&mut self, version: VersionNumber, case: &Case, configuration: &Configuration) {
        let runs: Vec<Run> = case.measured(configuration).cloned().collect();
        if !runs.is_empty() {
            self.versions.entry(version).or_default().add_runs(case, runs.iter());
            self.runs.push(VersionRuns { version, case: Case { runs, ..case.clone() } });
        }
    }

    /// Reads `grading/` for the cases that no iteration has. A file that is no grading, or not the one that its name says, is
    /// passed over with a warning.
    fn read_gradings(
        &mut self,
        workspace: &Workspace,
        contents: &mut Contents<'_>,
    ) -> Result<(), VersionError> {
        let folder = workspace.root().join("grading");
        refuse_link(&folder)?;
        let Ok(entries) = fs_err::read_dir(&folder) else { return Ok(()) };
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"))
            .collect();
        names.sort();
        let mut files = Vec::new();
        let mut stale = 0;
        for name in names {
            match grading(&folder, &name) {
                Ok(found) if is_about(&found, contents) => files.push(found),
                Ok(_) => stale += 1,
                Err(reason) => self.warnings.push(format!("grading/{name}: {reason}")),
            }
        }
        stale += drop_earlier(&mut files);
        if stale > 0 {
            let (s, they) = if stale == 1 { ("", "is") } else { ("s", "are") };
            self.warnings.push(format!(
                "{stale} grading{s} in grading/ {they} of another state of the skill than the version, or of an \
                 earlier iteration, and count for nothing"
            ));
        }
        // Where the iteration is still there its runs tell, and they also know of crashes and timeouts.
        files.retain(|found| {
            let version = self.versions.get(&VersionNumber(found.version));
            let has_runs = |known: &VersionScores| known.cases.contains_key(found.case_id.as_str());
            !version.is_some_and(has_runs)
                && !workspace.iteration(graded_in(found)).record_file().is_file()
        });
        for found in &files {
            self.versions.entry(VersionNumber(found.version)).or_default().add_grading(found);
        }
        self.files = files;
        Ok(())
    }

    /// What failed with these versions, a line for each criterion or expectation.
    fn failures(&self, versions: &[VersionNumber]) -> Vec<String> {
        let mut lines = Vec::new();
        let is_wanted = |found: &&CasesGrading| versions.contains(&VersionNumber(found.version));
        for found in self.files.iter().filter(is_wanted) {
            let CasesGrading { case_id, version, run, .. } = found;
            for result in found.results.iter().filter(|result| !result.passed) {
                lines.push(format!(
                    "{case_id} (v{version} run {run}): {} scored {}: {}",
                    result.criterion, result.score, result.reasoning
                ));
            }
        }
        for found in self.runs.iter().filter(|found| versions.contains(&found.version)) {
            lines.extend(failed_in(&found.case, found.version));
        }
        lines
    }
}

/// What failed in the runs of a case, a line for each expectation.
fn failed_in(case: &Case, version: VersionNumber) -> impl Iterator<Item = String> {
    case.runs.iter().flat_map(move |run| {
        run.verdicts.iter().filter(|found| !found.passed).map(move |found| {
            let evidence = found.evidence.as_deref().unwrap_or("no evidence");
            format!("{} ({version} run {}): {}: {evidence}", case.id, run.number, found.text)
        })
    })
}

/// What failed in the runs of an iteration with the skill, a line for each expectation, for the analyst; cases that it must
/// not see are left out.
pub fn failures_in(
    iteration: &Iteration,
    version: VersionNumber,
    sealed: &[String],
) -> Vec<String> {
    let with_skill = |case: &Case| Case {
        runs: case.measured(&Configuration::WithSkill).cloned().collect(),
        ..case.clone()
    };
    let is_open = |case: &&Case| !sealed.contains(&case.id.to_string());
    let cases = iteration.cases.iter().filter(is_open).map(with_skill);
    cases.flat_map(|case| failed_in(&case, version).collect::<Vec<_>>()).collect()
}

/// The hashes of versions, each computed once.
struct Contents<'w> {
    workspace: &'w Workspace,
    known: BTreeMap<u64, Option<String>>,
}

impl Contents<'_> {
    /// A version that is in no history has no content yet.
    fn of(&mut self, version: u64) -> Option<&str> {
        let folder = || self.workspace.root().join(format!("v{version}")).join("skill");
        let found = self.known.entry(version).or_insert_with(|| hash_of_version(&folder()).ok());
        found.as_deref()
    }
}

/// The versions that an iteration ran, each with its configuration.
fn versions_of(
    record: &IterationRecord,
    contents: &mut Contents<'_>,
) -> Vec<(VersionNumber, Configuration)> {
    // What was no stored version yet became the next one, unless it was changed before.
    let next = record.graded_version.filter(|version| {
        record.content_hash.is_some() && contents.of(*version) == record.content_hash.as_deref()
    });
    let version = record.version.or(next);
    let with = version.map(|version| (VersionNumber(version), Configuration::WithSkill));
    let baseline = record.baseline.as_ref().filter(|found| found.kind == BaselineKind::Old);
    let old = baseline.and_then(|found| found.version);
    let old = old.map(|version| (VersionNumber(version), Configuration::OldSkill));
    // The same version on both sides counts once.
    let old = old.filter(|(old, _)| Some(old.0) != version);
    with.into_iter().chain(old).collect()
}

/// Drops what a later iteration graded again, as it is with runs; gives how many.
fn drop_earlier(files: &mut Vec<CasesGrading>) -> usize {
    let key = |found: &CasesGrading| (found.version, found.case_id.to_string());
    let mut newest: BTreeMap<(u64, String), u64> = BTreeMap::new();
    for found in &*files {
        let newest = newest.entry(key(found)).or_default();
        *newest = (*newest).max(graded_in(found));
    }
    let before = files.len();
    files.retain(|found| newest.get(&key(found)).is_none_or(|it| *it == graded_in(found)));
    before - files.len()
}

/// The iteration of a grading; 0, before all others, for one that does not say.
fn graded_in(grading: &CasesGrading) -> u64 {
    grading.iteration.unwrap_or_default()
}

/// Whether a grading is about the content of its version; those of other tools do not say.
fn is_about(grading: &CasesGrading, contents: &mut Contents<'_>) -> bool {
    let graded = grading.skill_content_hash.as_deref();
    graded.zip(contents.of(grading.version)).is_none_or(|(graded, content)| graded == content)
}

fn grading(folder: &Path, name: &str) -> Result<CasesGrading, String> {
    let bytes = read_bounded(&folder.join(name)).map_err(|error| error.to_string())?;
    let found = read::<CasesGrading>(&bytes).map_err(|error| error.to_string())?.value;
    let expected = format!("{}_v{}_run{}.json", found.case_id, found.version, found.run);
    if name == expected { Ok(found) } else { Err(format!("its content belongs in {expected}")) }
}

impl VersionStore {
    pub(super) fn scores(&self) -> Result<Scores, VersionError> {
        Scores::read(&self.workspace)
    }

    /// What failed with these versions, a line for each criterion or expectation.
    pub fn failures(&self, versions: &[VersionNumber]) -> Result<Vec<String>, VersionError> {
        Ok(self.scores()?.failures(versions))
    }

    /// Fills in the mean score of every version. Called after grading.
    pub fn record_scores(&self, program: &str, _lock: &WorkspaceLock) -> Result<(), VersionError> {
        let before = self.history(program)?;
        let mut history = before.clone();
        let scores = self.scores()?.versions;
        for version in &mut history.versions {
            let scores = scores.get(&VersionNumber(version.version));
            version.average_score = scores.and_then(VersionScores::average).map(Number::Float);
        }
        if history == before { Ok(()) } else { self.save(&history) }
    }
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
        // Two cases are two values, whatever the number of runs.
        assert_eq!(scores.interval().map(|found| found.low < 0.2), Some(true));
    }
}
