//! Finds the runs of two versions on the same cases in a workspace.
//!
//! A version was run where an iteration names it, or where it was an iteration's old version. Of several runs of a case
//! the newest two count that the same agent made for the same task, and of an iteration the first run that is a result:
//! never one that was chosen by how it came out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use skillgauge_format::Suite;
use skillgauge_format::part::Configuration;
use skillgauge_format::record::{BaselineKind, IterationRecord};

use crate::plan::RunId;
use crate::version::VersionNumber;
use crate::workspace::{Iteration, RunDir, Workspace, WorkspaceError};

/// A run that takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedRun {
    pub iteration: u64,
    pub id: RunId,
    pub dir: RunDir,
}

impl ComparedRun {
    /// Where it is, below the workspace.
    pub fn place(&self) -> String {
        format!("iteration-{}/{}", self.iteration, self.id)
    }
}

/// One case that both versions were run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CasePair {
    pub case: String,
    pub prompt: String,
    /// A run of each version, in the order in which the versions were given.
    pub runs: [ComparedRun; 2],
}

/// All cases that can be compared, and why others cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// The cases, by their ids.
    pub pairs: Vec<CasePair>,
    /// Cases that lack a run of a version, or runs of the same task.
    pub unpaired: Vec<String>,
    /// What was passed over, and what else differs than the version.
    pub notes: Vec<String>,
}

/// A case as it should be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub case: String,
    pub prompt: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maker {
    pub agent: String,
    /// The model that it was told to use.
    pub model: Option<String>,
}

impl Maker {
    /// Who made the runs of an iteration.
    pub fn of(record: &IterationRecord) -> Self {
        Self { agent: record.agent.clone(), model: record.model.clone() }
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.model {
            Some(model) => write!(f, "{} with {model}", self.agent),
            None => f.write_str(&self.agent),
        }
    }
}

#[derive(Debug)]
struct Candidate {
    run: ComparedRun,
    prompt: String,
    maker: Maker,
}

/// The runs of one version by case, the newest first.
type Side = BTreeMap<String, Vec<Candidate>>;

/// The runs of two versions in a workspace.
#[derive(Debug)]
pub struct StoredRuns {
    versions: [VersionNumber; 2],
    sides: [Side; 2],
    notes: Vec<String>,
}

/// Looks for runs of both versions, on whatever cases there are.
pub fn pairs(workspace: &Workspace, versions: [VersionNumber; 2]) -> Result<Pairs, WorkspaceError> {
    Ok(StoredRuns::of(workspace, versions)?.pairs())
}

impl StoredRuns {
    pub fn of(workspace: &Workspace, versions: [VersionNumber; 2]) -> Result<Self, WorkspaceError> {
        let mut found = Self { versions, sides: Default::default(), notes: Vec::new() };
        for number in workspace.iterations()?.into_iter().rev() {
            let iteration = workspace.iteration(number);
            match iteration.record() {
                Ok(record) => {
                    for (side, version) in found.sides.iter_mut().zip(versions) {
                        collect(&iteration, number, &record, version, side);
                    }
                }
                Err(error) => {
                    found.notes.push(format!("iteration-{number} is passed over: {error}"));
                }
            }
        }
        Ok(found)
    }

    /// The pairs of all cases that a version was run on.
    pub fn pairs(&self) -> Pairs {
        let cases: BTreeSet<&String> = self.sides.iter().flat_map(BTreeMap::keys).collect();
        self.collect(cases.into_iter().map(|case| (case.as_str(), None)))
    }

    /// The pairs of these cases, with the tasks that they have now.
    pub fn pairs_of(&self, tasks: &[Task]) -> Pairs {
        self.collect(tasks.iter().map(|task| (task.case.as_str(), Some(task.prompt.as_str()))))
    }

    /// The cases that each version must be run on, so that there are runs of both by one maker.
    pub fn lacking(&self, tasks: &[Task], maker: &Maker) -> [Vec<String>; 2] {
        let mut lacking = [Vec::new(), Vec::new()];
        for task in tasks {
            let found = [0, 1].map(|side| self.candidates(side, &task.case, Some(&task.prompt)));
            if same_maker(&found).is_some() {
                continue;
            }
            for (lacking, found) in lacking.iter_mut().zip(&found) {
                if !found.iter().any(|candidate| candidate.maker == *maker) {
                    lacking.push(task.case.clone());
                }
            }
        }
        lacking
    }

    /// Whether all of these cases have runs of both versions by one maker.
    pub fn is_complete(&self, tasks: &[Task]) -> bool {
        tasks.iter().all(|task| {
            let found = [0, 1].map(|side| self.candidates(side, &task.case, Some(&task.prompt)));
            same_maker(&found).is_some()
        })
    }

    fn candidates(&self, side: usize, case: &str, prompt: Option<&str>) -> Vec<&Candidate> {
        let all = self.sides[side].get(case).into_iter().flatten();
        all.filter(|found| prompt.is_none_or(|prompt| found.prompt == prompt)).collect()
    }

    fn collect<'c>(&self, cases: impl Iterator<Item = (&'c str, Option<&'c str>)>) -> Pairs {
        let mut found = Pairs { notes: self.notes.clone(), ..Pairs::default() };
        for (case, prompt) in cases {
            let sides = [0, 1].map(|side| self.candidates(side, case, prompt));
            let Some(pair) = same_maker(&sides).or_else(|| same_task(&sides)) else {
                found.unpaired.push(case.to_owned());
                found.notes.push(format!("{case}: {}", self.why_unpaired(&sides)));
                continue;
            };
            let [old, new] = pair;
            if old.maker != new.maker {
                found.notes.push(format!(
                    "{case}: more than the version differs: {} was run by {} and {} by {}",
                    self.versions[0], old.maker, self.versions[1], new.maker
                ));
            }
            found.pairs.push(CasePair {
                case: case.to_owned(),
                prompt: old.prompt.clone(),
                runs: pair.map(|candidate| candidate.run.clone()),
            });
        }
        found
    }

    fn why_unpaired(&self, sides: &[Vec<&Candidate>; 2]) -> String {
        match sides.iter().zip(self.versions).find(|(side, _)| side.is_empty()) {
            Some((_, version)) => format!("there is no run of {version}"),
            None => "the task was changed between the two runs".to_owned(),
        }
    }
}

/// The newest two runs of the same task by the same maker.
fn same_maker<'c>(sides: &[Vec<&'c Candidate>; 2]) -> Option<[&'c Candidate; 2]> {
    newest(sides, |old, new| old.prompt == new.prompt && old.maker == new.maker)
}

/// The newest two runs of the same task.
fn same_task<'c>(sides: &[Vec<&'c Candidate>; 2]) -> Option<[&'c Candidate; 2]> {
    newest(sides, |old, new| old.prompt == new.prompt)
}

fn newest<'c>(
    [old, new]: &[Vec<&'c Candidate>; 2],
    is_alike: impl Fn(&Candidate, &Candidate) -> bool,
) -> Option<[&'c Candidate; 2]> {
    new.iter().find_map(|new| {
        let old = old.iter().find(|old| is_alike(old, new))?;
        Some([*old, *new])
    })
}

fn collect(
    iteration: &Iteration,
    number: u64,
    record: &IterationRecord,
    version: VersionNumber,
    found: &mut Side,
) {
    let Some(configuration) = configuration_of(record, version) else { return };
    let suite =
        fs_err::read(iteration.suite_file()).ok().and_then(|bytes| Suite::read(&bytes).ok());
    let Some(suite) = suite.map(|read| read.value) else { return };
    let maker = Maker::of(record);
    for (id, dir) in iteration.runs() {
        let known = found.get(&id.case).and_then(|found| found.last());
        let is_known = known.is_some_and(|candidate| candidate.run.iteration == number);
        let is_result = || dir.record().is_ok_and(|record| record.reason.is_result());
        if id.configuration != configuration || is_known || !is_result() {
            continue;
        }
        let Some(case) = suite.cases().find(|case| case.id() == id.case) else { continue };
        let prompt = case.prompt().to_owned();
        let key = id.case.clone();
        let run = ComparedRun { iteration: number, id, dir };
        found.entry(key).or_default().push(Candidate { run, prompt, maker: maker.clone() });
    }
}

/// The configuration in which an iteration ran a version.
fn configuration_of(record: &IterationRecord, version: VersionNumber) -> Option<Configuration> {
    if record.version == Some(version.0) {
        return Some(Configuration::WithSkill);
    }
    let old = record.baseline.as_ref().filter(|baseline| baseline.kind == BaselineKind::Old)?;
    (old.version == Some(version.0)).then_some(Configuration::OldSkill)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ITERATION: &str = include_str!("../../../format/testdata/skillgauge/iteration.json");
    const RUN: &str = include_str!("../../../format/testdata/skillgauge/run.json");
    const VERSIONS: [VersionNumber; 2] = [VersionNumber(0), VersionNumber(1)];

    /// An iteration of a version by an agent, with a run of each case on the same task.
    fn iteration(root: &std::path::Path, number: u64, version: u64, agent: &str, cases: &[&str]) {
        let folder = root.join(format!("iteration-{number}"));
        let mut record: Value = serde_json::from_str(ITERATION).unwrap();
        record["version"] = version.into();
        record["agent"] = agent.into();
        let case = |id: &&str| {
            let criterion =
                json!({"criterion": "c", "description": "It is there", "required": true});
            json!({"id": id, "prompt": "Do it.", "expectations": [criterion]})
        };
        let suite = json!({"version": "1.0", "cases": cases.iter().map(case).collect::<Vec<_>>()});
        for case in cases {
            let id = format!("eval-{case}/with_skill/run-1");
            let mut run: Value = serde_json::from_str(RUN).unwrap();
            run["id"] = id.as_str().into();
            run["case_id"] = (*case).into();
            fs_err::create_dir_all(folder.join(&id)).unwrap();
            fs_err::write(folder.join(&id).join("run.json"), run.to_string()).unwrap();
        }
        fs_err::write(folder.join("iteration.json"), record.to_string()).unwrap();
        fs_err::write(folder.join("suite.json"), suite.to_string()).unwrap();
    }

    fn task(case: &str, prompt: &str) -> Task {
        Task { case: case.to_owned(), prompt: prompt.to_owned() }
    }

    fn maker(agent: &str, root: &std::path::Path) -> Maker {
        let record = Workspace::at(root).iteration(1).record().unwrap();
        Maker { agent: agent.to_owned(), ..Maker::of(&record) }
    }

    #[test]
    fn runs_by_the_same_agent_are_paired_even_when_others_are_newer() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        iteration(root, 1, 0, "one", &["a", "b"]);
        iteration(root, 2, 1, "one", &["a"]);
        iteration(root, 3, 1, "two", &["a", "b", "c"]);
        let stored = StoredRuns::of(&Workspace::at(root), VERSIONS).unwrap();
        let found = stored.pairs();
        let places: Vec<String> = found.pairs.iter().map(|pair| pair.runs[1].place()).collect();
        assert!(places[0].starts_with("iteration-2/"), "{places:?}");
        assert!(places[1].starts_with("iteration-3/"), "{places:?}");
        assert_eq!(found.unpaired, ["c"]);
        assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
        assert!(found.notes[0].starts_with("b: more than the version differs: v0 was run by one"));
        assert_eq!(found.notes[1], "c: there is no run of v0");
    }

    #[test]
    fn only_what_is_missing_is_lacking() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        iteration(root, 1, 0, "one", &["a", "b"]);
        iteration(root, 2, 1, "one", &["a"]);
        let stored = StoredRuns::of(&Workspace::at(root), VERSIONS).unwrap();
        let tasks = [task("a", "Do it."), task("b", "Do it."), task("c", "Do it.")];
        let lacking = stored.lacking(&tasks, &maker("one", root));
        assert_eq!(lacking, [vec!["c".to_owned()], vec!["b".to_owned(), "c".to_owned()]]);
        // Another agent cannot use the run that is there, except where a pair of the first one is complete.
        let lacking = stored.lacking(&tasks, &maker("two", root));
        assert_eq!(lacking[0], ["b", "c"]);
        assert!(stored.is_complete(&tasks[..1]) && !stored.is_complete(&tasks));
        // A task that was changed since is another task.
        let changed = [task("a", "Do something else.")];
        assert!(!stored.is_complete(&changed));
        assert_eq!(stored.pairs_of(&changed).unpaired, ["a"]);
        assert_eq!(stored.lacking(&changed, &maker("one", root)), [["a"], ["a"]]);
    }
}
