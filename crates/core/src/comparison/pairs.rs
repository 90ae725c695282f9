//! Finds the runs of two versions on the same cases in a workspace.
//!
//! A version was run where an iteration names it, or where it was an iteration's old version. Of several runs of a case
//! the newest iteration counts, and in it the first run that is a result: never one that was chosen by how it came out.

use std::collections::BTreeMap;

use skillgauge_format::Suite;
use skillgauge_format::part::Configuration;
use skillgauge_format::record::{BaselineKind, IterationRecord};

use crate::plan::RunId;
use crate::version::VersionNumber;
use crate::workspace::{Iteration, RunDir, Workspace, WorkspaceError};

/// A run that takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedRun {
    /// The iteration.
    pub iteration: u64,
    /// Which run of it.
    pub id: RunId,
    /// Its folder.
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
    /// The case.
    pub case: String,
    /// The task.
    pub prompt: String,
    /// A run of each version, in the order in which the versions were given.
    pub runs: [ComparedRun; 2],
}

/// All cases that can be compared, and why others cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// The cases, by their ids.
    pub pairs: Vec<CasePair>,
    /// What was passed over.
    pub notes: Vec<String>,
}

struct Candidate {
    run: ComparedRun,
    prompt: String,
}

/// Looks for runs of both versions.
pub fn pairs(workspace: &Workspace, versions: [VersionNumber; 2]) -> Result<Pairs, WorkspaceError> {
    let mut found = Pairs::default();
    let mut sides = [BTreeMap::new(), BTreeMap::new()];
    for number in workspace.iterations()?.into_iter().rev() {
        let iteration = workspace.iteration(number);
        match iteration.record() {
            Ok(record) => {
                for (side, version) in sides.iter_mut().zip(versions) {
                    collect(&iteration, number, &record, version, side);
                }
            }
            Err(error) => found.notes.push(format!("iteration-{number} is passed over: {error}")),
        }
    }
    let [old, mut new] = sides;
    for (case, old) in old {
        match new.remove(&case) {
            Some(new) if new.prompt == old.prompt => {
                found.pairs.push(CasePair { case, prompt: old.prompt, runs: [old.run, new.run] });
            }
            Some(_) => {
                found.notes.push(format!("{case}: the task was changed between the two runs"));
            }
            None => found.notes.push(format!("{case}: there is no run of {}", versions[1])),
        }
    }
    found
        .notes
        .extend(new.keys().map(|case| format!("{case}: there is no run of {}", versions[0])));
    Ok(found)
}

fn collect(
    iteration: &Iteration,
    number: u64,
    record: &IterationRecord,
    version: VersionNumber,
    found: &mut BTreeMap<String, Candidate>,
) {
    let Some(configuration) = configuration_of(record, version) else { return };
    let suite =
        fs_err::read(iteration.suite_file()).ok().and_then(|bytes| Suite::read(&bytes).ok());
    let Some(suite) = suite.map(|read| read.value) else { return };
    for (id, dir) in iteration.runs() {
        let is_result = || dir.record().is_ok_and(|record| record.reason.is_result());
        if id.configuration != configuration || found.contains_key(&id.case) || !is_result() {
            continue;
        }
        let Some(case) = suite.cases().find(|case| case.id() == id.case) else { continue };
        let prompt = case.prompt().to_owned();
        let key = id.case.clone();
        found.insert(key, Candidate { run: ComparedRun { iteration: number, id, dir }, prompt });
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
