//! What is going on in a fleet, for people: workers, queues, what is done, how fast, how long still.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::fleet::{Fleet, FleetError};
use crate::id::PlanId;
use crate::job::{Queue, Revision, Standing, Stored, WorkerInfo};
use crate::plan::PlanEntry;

/// A fleet at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetStatus {
    /// The workers that have reported in the last two minutes.
    pub workers: Vec<WorkerInfo>,
    /// The plans, those that were submitted first come first.
    pub plans: Vec<PlanStatus>,
}

/// A plan at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanStatus {
    /// Its id.
    pub id: PlanId,
    /// The skill.
    pub skill: String,
    /// The agent.
    pub agent: String,
    /// `running`, `cancelled` or `finished`.
    pub state: &'static str,
    /// When it was submitted: milliseconds since 1970.
    pub submitted: u64,
    /// All runs of the plan.
    pub planned: usize,
    /// Runs that wait for a worker.
    pub queued: usize,
    /// Runs that a worker has now, as far as workers tell.
    pub running: usize,
    /// Runs that have a result.
    pub done: usize,
    /// Results whose outcome is not `completed`.
    pub failed: usize,
    /// Runs that were given up.
    pub lost: usize,
    /// Gradings that wait for a worker, or that a worker has now.
    pub grades_queued: usize,
    /// Runs that are graded.
    pub graded: usize,
    /// Runs a minute since it was submitted; absent before the first one is done.
    pub runs_per_minute: Option<f64>,
    /// Seconds until the last run is done, if it goes on like this.
    pub seconds_left: Option<f64>,
}

impl FleetStatus {
    /// Looks at everything. Costs a request for each result, so plans that are over are left out unless asked for.
    pub async fn read<F: Fleet>(fleet: &F, only: Option<&PlanId>) -> Result<Self, FleetError> {
        let workers = fleet.workers().await?;
        let mut plans = Vec::new();
        let mut known = fleet.plans().await?;
        known.sort_by_key(|(_, entry)| entry.submitted);
        for (id, entry) in known.iter().filter(|(id, _)| only.is_none_or(|only| only == id)) {
            plans.push(PlanStatus::read(fleet, id, entry, &workers).await?);
        }
        Ok(Self { workers, plans })
    }
}

impl PlanStatus {
    async fn read<F: Fleet>(
        fleet: &F,
        id: &PlanId,
        entry: &PlanEntry,
        workers: &[WorkerInfo],
    ) -> Result<Self, FleetError> {
        let (mut done, mut failed, mut given_up) = (0, 0, 0);
        let mut graded = 0;
        for queue in Queue::ALL {
            let mut after = Revision::default();
            loop {
                let page = fleet.results(queue, id, after).await?;
                let Some(last) = page.last() else { break };
                after = last.revision;
                let counted = page.into_iter().filter(|it| entry.counts(queue, it.revision));
                for Stored { record, .. } in counted {
                    match record.standing {
                        Standing::Ran { reason, .. } => {
                            done += 1;
                            graded += usize::from(record.grading.is_some());
                            failed += usize::from(reason.as_str() != "completed");
                        }
                        Standing::Graded(_) => graded += 1,
                        Standing::Lost { .. } => given_up += usize::from(queue == Queue::Runs),
                    }
                }
            }
        }
        let running: u32 = workers.iter().filter_map(|worker| worker.running.get(id)).sum();
        let running = running as usize;
        let queued = fleet.queued(Queue::Runs, id).await?.len();
        let grades_queued = fleet.queued(Queue::Grades, id).await?.len();
        let left = entry.planned.saturating_sub(done + given_up);
        let rate = rate(entry.submitted, done);
        Ok(Self {
            id: id.clone(),
            skill: entry.skill.clone(),
            agent: entry.agent.clone(),
            state: entry.state.as_str(),
            submitted: entry.submitted,
            planned: entry.planned,
            queued: queued.saturating_sub(running),
            running: running.min(queued),
            done,
            failed,
            lost: given_up,
            grades_queued,
            graded,
            runs_per_minute: rate.map(|rate| rate * 60.0),
            seconds_left: rate.map(|rate| as_f64(left) / rate),
        })
    }
}

fn rate(submitted: u64, done: usize) -> Option<f64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds since 1970 are exact until the year 287,000"
    )]
    let seconds = now - submitted as f64 / 1000.0;
    (done > 0 && seconds > 0.0).then(|| as_f64(done) / seconds)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
fn as_f64(number: usize) -> f64 {
    number as f64
}
