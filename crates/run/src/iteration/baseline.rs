//! `--baseline-from`: takes the runs of a baseline over from an earlier iteration instead of paying for them again.
//!
//! Refused when anything differs that could change their results. What the skill under test is does not matter: it was
//! absent, or the same old version.

use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{Iteration, WorkspaceError, copy_run, differences};
use skillgauge_format::part::Configuration;
use skillgauge_format::record::IterationRecord;

/// Why the runs of a baseline cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum BaselineRefused {
    /// The earlier iteration measured something else.
    #[error("the baseline of iteration-{number} cannot be used: {}", reasons.join("; "))]
    Differs {
        /// The iteration.
        number: u64,
        /// What differs.
        reasons: Vec<String>,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// Copies the baseline's runs of another iteration into this one, those that are not there yet. Blocks.
///
/// Gradings go along when the judge is the same.
pub fn take_over(
    from: &Iteration,
    into: &Iteration,
    record: &IterationRecord,
) -> Result<usize, BaselineRefused> {
    let number = from.number().unwrap_or_default();
    let old = from.record()?;
    let Some(configuration) =
        record.configurations.iter().find(|one| **one != Configuration::WithSkill)
    else {
        let reasons = vec!["this iteration has no baseline".to_owned()];
        return Err(BaselineRefused::Differs { number, reasons });
    };
    let mut reasons = refusals(&old, record);
    let wanted: Vec<RunId> = Iteration::plan(record)
        .without(|id| id.configuration != *configuration)
        .into_iter()
        .collect();
    let missing = wanted.iter().filter(|id| !is_result(from, id)).count();
    if missing > 0 {
        reasons.push(format!("{missing} of its {} runs are not there", wanted.len()));
    }
    if !reasons.is_empty() {
        return Err(BaselineRefused::Differs { number, reasons });
    }
    let mut copied = 0;
    for id in wanted.iter().filter(|id| !into.run_dir(id).is_complete()) {
        let run = copy_run(&from.run_dir(id), into, id)?;
        if old.judge != record.judge {
            let _ = fs_err::remove_file(run.grading_file());
        }
        copied += 1;
    }
    Ok(copied)
}

/// What the skill, and the judge, may be different in.
fn refusals(old: &IterationRecord, new: &IterationRecord) -> Vec<String> {
    let mut same = old.clone();
    same.skill_digest.clone_from(&new.skill_digest);
    same.judge.clone_from(&new.judge);
    same.judge_votes = new.judge_votes;
    let mut reasons = differences(&same, new);
    if let (Some(old), Some(new)) = (&old.baseline, &new.baseline)
        && (old.kind, &old.digest) == (new.kind, &new.digest)
    {
        reasons.retain(|reason| !reason.starts_with("the baseline"));
    }
    reasons.retain(|reason| !reason.starts_with("an input file"));
    reasons
}

fn is_result(iteration: &Iteration, id: &RunId) -> bool {
    iteration.run_dir(id).record().is_ok_and(|record| record.reason.is_result())
}
