//! `--baseline-from`: takes the runs of a baseline over from an earlier iteration instead of paying for them again.
//!
//! Refused when anything differs that could change their results, and before anything is written: an iteration that was
//! begun for nothing would be the newest one. What the skill under test is does not matter: it was absent, or the same
//! old version.

use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceError, copy_run, differences};
use skillgauge_format::part::Configuration;
use skillgauge_format::record::IterationRecord;

/// Why the runs of a baseline cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    #[error("there is no iteration-{number}; {}", there(known))]
    Unknown { number: u64, known: Vec<u64> },
    /// The earlier iteration measured something else.
    #[error("the baseline of iteration-{number} cannot be used: {}", reasons.join("; "))]
    Differs { number: u64, reasons: Vec<String> },
    /// A file cannot be read or written.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl TakeOverError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Workspace(error) => error.hint(),
            Self::Unknown { .. } | Self::Differs { .. } => {
                "leave --baseline-from out to run the baseline again"
            }
        }
    }
}

fn there(known: &[u64]) -> String {
    let names: Vec<String> = known.iter().map(|number| format!("iteration-{number}")).collect();
    match names.as_slice() {
        [] => "nothing was run in this workspace yet".to_owned(),
        [one] => format!("there is {one}"),
        all => format!("there are {}", all.join(", ")),
    }
}

/// Runs of a baseline that can be taken over.
#[derive(Clone, Debug)]
pub struct TakeOver {
    from: Iteration,
    runs: Vec<RunId>,
    /// Whether their gradings are by the same judge, and are taken over, too.
    is_same_judge: bool,
}

impl TakeOver {
    /// Looks whether the baseline's runs of an iteration are what a new one, with this record, would get. Blocks.
    pub fn plan(
        workspace: &Workspace,
        number: u64,
        record: &IterationRecord,
    ) -> Result<Self, TakeOverError> {
        let known = workspace.iterations()?;
        if !known.contains(&number) {
            return Err(TakeOverError::Unknown { number, known });
        }
        let from = workspace.iteration(number);
        let old = from.record()?;
        let Some(configuration) =
            record.configurations.iter().find(|one| **one != Configuration::WithSkill)
        else {
            let reasons = vec!["there is no baseline to be run now".to_owned()];
            return Err(TakeOverError::Differs { number, reasons });
        };
        let mut reasons = refusals(&old, record);
        let runs = Iteration::plan(record).without(|id| id.configuration != *configuration);
        let missing = runs.iter().filter(|id| !is_result(&from, id)).count();
        if missing > 0 {
            reasons.push(format!("{missing} of its {} runs are not there", runs.len()));
        }
        if !reasons.is_empty() {
            return Err(TakeOverError::Differs { number, reasons });
        }
        let is_same_judge = (&old.judge, old.judge_votes) == (&record.judge, record.judge_votes);
        Ok(Self { from, runs, is_same_judge })
    }

    /// The runs that need not be made.
    pub fn runs(&self) -> &[RunId] {
        &self.runs
    }

    /// Whether somebody has to judge a run again.
    pub fn is_to_judge(&self, id: &RunId) -> bool {
        !self.is_same_judge && self.runs.contains(id)
    }

    /// Copies those that are not there yet into an iteration; how many. Blocks.
    pub fn copy_into(&self, into: &Iteration) -> Result<usize, WorkspaceError> {
        let mut copied = 0;
        for id in self.runs.iter().filter(|id| !is_result(into, id)) {
            let run = copy_run(&self.from.run_dir(id), into, id)?;
            if !self.is_same_judge {
                let _ = fs_err::remove_file(run.grading_file());
            }
            copied += 1;
        }
        Ok(copied)
    }
}

/// What the skill, and the judge, may be different in.
fn refusals(old: &IterationRecord, new: &IterationRecord) -> Vec<String> {
    let mut same = old.clone();
    same.skill_digest.clone_from(&new.skill_digest);
    same.judge.clone_from(&new.judge);
    same.judge_votes = new.judge_votes;
    if let (Some(old), Some(new)) = (&old.baseline, &new.baseline)
        && (old.kind, &old.digest) == (new.kind, &new.digest)
    {
        same.baseline = Some(new.clone());
    }
    let mut reasons = differences(&same, new);
    reasons.retain(|reason| !reason.starts_with("an input file"));
    reasons
}

fn is_result(iteration: &Iteration, id: &RunId) -> bool {
    iteration.run_dir(id).record().is_ok_and(|record| record.reason.is_result())
}
