//! An iteration on a machine that did not submit it: what it measures is in the manifest, so results can be brought home
//! anywhere.

use skillgauge_core::workspace::{Workspace, WorkspaceError};
use skillgauge_format::Suite;
use skillgauge_run::iteration::{Begun, restore as make};

use crate::collect::CollectError;
use crate::fleet::{Fleet, FleetError, patiently};
use crate::id::PlanId;
use crate::manifest::Manifest;

/// The iteration of a plan: the one that is in the workspace, or a new one there. The caller holds the workspace's lock.
///
/// A plan that has runs only where it was submitted is refused: here they would be missing, and run and paid for again.
pub async fn restore<F: Fleet>(
    fleet: &F,
    id: &PlanId,
    workspace: &Workspace,
) -> Result<Begun, CollectError> {
    if let Some(begun) = known(id, workspace)? {
        return Ok(begun);
    }
    let entry = patiently(|| fleet.plan(id)).await?;
    let entry = entry.ok_or_else(|| CollectError::Unknown { id: id.clone() })?;
    if entry.only_there > 0 {
        return Err(CollectError::OnlyThere { id: id.clone(), runs: entry.only_there });
    }
    let folder = tempfile::tempdir().map_err(FleetError::Io)?;
    let file = folder.path().join("manifest.json");
    let manifest = Manifest::fetch(fleet, &entry.manifest, &file).await?;
    let damaged = |reason: String| FleetError::Damaged { name: entry.manifest.clone(), reason };
    if PlanId::of(&manifest.record) != *id {
        return Err(damaged(format!("it is not of the plan {id}")).into());
    }
    let suite = Suite::read(manifest.suite.as_bytes());
    let suite = suite.map_err(|error| damaged(error.to_string()))?.value;
    Ok(make(workspace, &suite, manifest.record)?)
}

fn known(id: &PlanId, workspace: &Workspace) -> Result<Option<Begun>, WorkspaceError> {
    for number in workspace.iterations()? {
        let iteration = workspace.iteration(number);
        // One that cannot be read is not the one that is looked for.
        let Ok(record) = iteration.record() else { continue };
        if PlanId::of(&record) == *id {
            return Ok(Some(Begun { iteration, record, resumed: true, left: None }));
        }
    }
    Ok(None)
}
