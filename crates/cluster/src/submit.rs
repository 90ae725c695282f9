//! Hands an iteration to the fleet: bundles, manifest, plan entry, and a job for each run that has no result.
//!
//! Everything can be done again: bundles are named by digest, a plan by what it measures, a job by its run.

use std::collections::BTreeSet;
use std::path::Path;

use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::Iteration;
use skillgauge_format::record::IterationRecord;
use skillgauge_run::iteration::Prepared;

use crate::archive::SMALL;
use crate::fleet::{Fleet, FleetError, patiently, while_passing};
use crate::id::{Class, PlanId, RunToken};
use crate::job::{Queue, Revision, Standing, StoredResult};
use crate::late::remove_late;
use crate::manifest::{Manifest, ManifestError};
use crate::plan::{Caps, PlanEntry, PlanState, Times, now};

#[derive(Debug)]
pub struct Submission<'a> {
    pub prepared: &'a Prepared,
    /// The record of the iteration that was begun for it: when decides the plan's id.
    pub record: &'a IterationRecord,
    /// The iteration that the results will go to.
    pub iteration: &'a Iteration,
    pub skill: &'a Path,
    pub workspace: &'a Path,
    /// The number under which gradings are kept.
    pub version: u64,
    /// How much is done at once.
    pub caps: Caps,
    /// What a worker must have.
    pub class: Class,
    /// How long a job belongs to a silent worker.
    pub times: Times,
    /// How often a worker tries a run again by itself.
    pub retries: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Submitted {
    pub id: PlanId,
    pub entry: PlanEntry,
    /// Bundles that the server did not have.
    pub sent: usize,
    /// Runs that have no result here or there.
    pub missing: usize,
    /// Those of them that were not queued yet.
    pub queued: usize,
}

/// Why nothing was submitted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The files cannot be packed.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(transparent)]
    Fleet(#[from] FleetError),
}

impl SubmitError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Manifest(_) => "check the files of the skill and the inputs of its cases",
            Self::Fleet(error) => error.hint(),
        }
    }
}

/// Submits. Called again, it adds what is missing.
pub async fn submit<F: Fleet>(
    fleet: &F,
    submission: &Submission<'_>,
) -> Result<Submitted, SubmitError> {
    let Submission { prepared, record, skill, workspace, version, .. } = submission;
    let id = PlanId::of(record);
    let packed = Manifest::pack(prepared, record, skill, workspace, *version)?;
    let mut sent = 0;
    for (sha256, file) in &packed.files {
        sent += usize::from(patiently(|| fleet.put_input(sha256, file)).await?);
    }
    // The server has what a fleet needs, or it would have taken no input. So nothing is missing for good from here on.
    let passing = FleetError::is_passing;
    // What came after a cancel would begin to count when the plan goes on.
    while_passing(|| remove_late(fleet, &id), passing).await?;
    let done = while_passing(|| results(fleet, &id), passing).await?;
    let local = |run: &RunId| {
        submission.iteration.run_dir(run).record().is_ok_and(|record| record.reason.is_result())
    };
    let plan = Iteration::plan(record);
    let not_there = plan.without(|run| done.contains(&RunToken::of(&id, run)));
    let (only_here, missing): (Vec<RunId>, Vec<RunId>) = not_there.into_iter().partition(local);
    let entry = PlanEntry {
        manifest: packed.manifest_sha256,
        state: PlanState::Running,
        caps: submission.caps,
        class: submission.class.clone(),
        times: submission.times,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        skill: record.skill_name.clone(),
        agent: record.agent.clone(),
        model: record.model.clone(),
        judge: record.judge.clone(),
        timeout_seconds: record.timeout_seconds.as_f64(),
        retries: submission.retries,
        planned: plan.runs().len(),
        only_there: only_here.len(),
        small_archive: SMALL,
        submitted: now(),
        ended: None,
        cancelled_at: None,
    };
    while_passing(|| fleet.put_plan(&id, &entry), passing).await?;
    // What died before this is tried again now; left where it is, it would make the new try a lost run.
    for dead in while_passing(|| fleet.dead(&id), passing).await? {
        while_passing(|| fleet.bury(&dead), passing).await?;
    }
    let queued =
        while_passing(|| fleet.publish(Queue::Runs, &id, &entry, &missing), passing).await?;
    Ok(Submitted { id, entry, sent, missing: missing.len(), queued })
}

/// The runs that the fleet has a result of. One that says that the run was lost is removed: it is tried again now.
async fn results<F: Fleet>(fleet: &F, id: &PlanId) -> Result<BTreeSet<RunToken>, FleetError> {
    let (mut found, mut after) = (BTreeSet::new(), Revision::default());
    loop {
        let page = fleet.results(Queue::Runs, id, after).await?;
        let Some(last) = page.last() else { return Ok(found) };
        after = last.revision;
        for StoredResult { token, record, .. } in page {
            if matches!(record.standing, Standing::Lost { .. }) {
                fleet.forget(Queue::Runs, id, &token).await?;
            } else {
                found.insert(token);
            }
        }
    }
}
