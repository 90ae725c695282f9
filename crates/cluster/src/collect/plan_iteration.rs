//! The iteration of a plan, on a machine that may not have submitted it: what it measures is in the manifest, so results can
//! be brought home anywhere.

use skillgauge_core::workspace::{Workspace, WorkspaceError};
use skillgauge_format::Suite;
use skillgauge_format::record::IterationRecord;
use skillgauge_run::iteration::{OpenIteration, begin_recorded};

use super::CollectError;
use crate::fleet::{Fleet, FleetError, patiently};
use crate::id::PlanId;
use crate::manifest::Manifest;

/// An iteration that is in the workspace, or can be made there.
#[derive(Debug)]
pub enum PlanIteration {
    Here(Box<OpenIteration>),
    /// The server has what it is made from.
    There {
        record: Box<IterationRecord>,
        suite: Box<Suite>,
    },
}

impl PlanIteration {
    /// Looks for it, here and then on the server. Writes nothing.
    ///
    /// A plan that has results only where it was submitted is refused: here they would be missing, and run and paid for
    /// again.
    pub async fn find<F: Fleet>(
        fleet: &F,
        id: &PlanId,
        workspace: &Workspace,
    ) -> Result<Self, CollectError> {
        if let Some(open) = here(id, workspace)? {
            return Ok(Self::Here(Box::new(open)));
        }
        let entry = patiently(|| fleet.plan(id)).await?;
        let entry = entry.ok_or_else(|| CollectError::Unknown { id: id.clone() })?;
        if entry.only_there > 0 {
            return Err(CollectError::OnlyThere { id: id.clone(), runs: entry.only_there });
        }
        let folder = tempfile::tempdir().map_err(FleetError::Io)?;
        let file = folder.path().join("manifest.json");
        let manifest = Manifest::fetch(fleet, &entry.manifest, &file).await?;
        let damaged = |reason: &str| FleetError::damaged(&entry.manifest, reason);
        if PlanId::of(&manifest.record) != *id {
            return Err(damaged(&format!("it is not of the plan {id}")).into());
        }
        let suite = Suite::read(manifest.suite.as_bytes());
        let suite = Box::new(suite.map_err(|error| damaged(&error.to_string()))?.value);
        Ok(Self::There { record: Box::new(manifest.record), suite })
    }

    /// The skill that it measures.
    pub fn skill_name(&self) -> &str {
        match self {
            Self::Here(open) => &open.record.skill_name,
            Self::There { record, .. } => &record.skill_name,
        }
    }

    /// Makes it in the workspace, if it is not there. The caller holds the workspace's lock. Blocks.
    pub fn begin(self, workspace: &Workspace) -> Result<OpenIteration, CollectError> {
        match self {
            Self::Here(open) => Ok(*open),
            Self::There { record, suite } => Ok(begin_recorded(workspace, &suite, *record)?),
        }
    }
}

fn here(id: &PlanId, workspace: &Workspace) -> Result<Option<OpenIteration>, WorkspaceError> {
    for number in workspace.iterations()? {
        let iteration = workspace.iteration(number);
        // One that cannot be read is not the one that is looked for.
        let Ok(record) = iteration.record() else { continue };
        if PlanId::of(&record) == *id {
            return Ok(Some(OpenIteration { iteration, record, resumed: true, left: None }));
        }
    }
    Ok(None)
}
