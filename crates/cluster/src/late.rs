//! Results that came after a cancel: a worker looked, saw a plan that is wanted, and stored its result a moment too late.
//!
//! Nobody counts them ([`PlanEntry::counts`](crate::PlanEntry::counts)); here they are removed, by the janitor and before
//! a plan goes on, so that they do not begin to count then.

use crate::fleet::{Fleet, FleetError};
use crate::id::PlanId;
use crate::job::Queue;

/// Removes the late results of a plan and their archives. Tells how many there were.
pub(crate) async fn remove_late<F: Fleet>(fleet: &F, id: &PlanId) -> Result<usize, FleetError> {
    let entry = fleet.plan(id).await?;
    let Some(cancelled) = entry.and_then(|entry| entry.cancelled_at) else { return Ok(0) };
    let mut removed = 0;
    for queue in Queue::ALL {
        let mut after = cancelled.of(queue);
        loop {
            let page = fleet.results(queue, id, after).await?;
            let Some(last) = page.last() else { break };
            after = last.revision;
            for stored in page {
                // The result first: an archive that no result points at is found again, a result without one is not. By
                // its key: what a record says of itself may be the name of another run.
                fleet.forget(queue, id, &stored.token).await?;
                if let Some(archive) = &stored.record.archive {
                    let _ = archive.remove(fleet).await;
                }
                removed += 1;
            }
        }
    }
    Ok(removed)
}
