//! What a fleet in this process knows: plans, jobs with their leases, results.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use skillgauge_core::plan::RunId;

use super::LocalTicket;
use crate::id::{Class, PlanId, RunToken};
use crate::job::{Queue, StoredResult, WorkerInfo};
use crate::plan::{PlanEntry, PlanState};

/// A job or its result.
pub(super) type Key = (Queue, PlanId, RunToken);

/// Everything that a server would have.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) plans: BTreeMap<PlanId, PlanEntry>,
    pub(super) jobs: BTreeMap<Key, LocalJob>,
    /// In the order in which jobs were queued.
    pub(super) order: u64,
    pub(super) results: BTreeMap<Key, StoredResult>,
    pub(super) revision: u64,
    pub(super) dead: BTreeMap<Key, String>,
    /// How many rings somebody who waits for results has heard.
    pub(super) heard: u64,
    pub(super) workers: BTreeMap<String, WorkerInfo>,
    pub(super) last_plan: Option<PlanId>,
}

/// A job that waits or is under way.
#[derive(Debug)]
pub(super) struct LocalJob {
    pub(super) run: RunId,
    pub(super) order: u64,
    pub(super) delivered: u32,
    pub(super) ready: Instant,
    /// Which delivery is under way, and until when.
    pub(super) leased: Option<(u64, Instant)>,
}

impl LocalJob {
    pub(super) fn is_free(&self, now: Instant) -> bool {
        self.leased.is_none() && self.ready <= now
    }
}

impl State {
    /// Leases whose worker was silent for too long end; a job that was given out often enough is dead.
    pub(super) fn expire(&mut self) {
        let now = Instant::now();
        let mut dead = Vec::new();
        for (key, job) in &mut self.jobs {
            if job.leased.is_some_and(|(_, until)| until <= now) {
                job.leased = None;
            }
            let most = self.plans.get(&key.1).map_or(u32::MAX, |entry| entry.times.max_deliver);
            if job.leased.is_none() && job.delivered >= most {
                dead.push(key.clone());
            }
        }
        for key in dead {
            if let Some(job) = self.jobs.remove(&key) {
                self.dead
                    .insert(key, format!("given out {} times without a result", job.delivered));
            }
        }
    }

    /// The plan after the last one that has a job for these workers.
    pub(super) fn next_plan(
        &self,
        queue: Queue,
        classes: &[Class],
        except: &BTreeSet<PlanId>,
    ) -> Option<PlanId> {
        let now = Instant::now();
        let busy = |plan: &PlanId| {
            let leased = |(key, job): &(&Key, &LocalJob)| {
                key.0 == queue && key.1 == *plan && job.leased.is_some()
            };
            u32::try_from(self.jobs.iter().filter(leased).count()).unwrap_or(u32::MAX)
        };
        let has_job = |plan: &PlanId| {
            self.jobs.iter().any(|(key, job)| key.0 == queue && key.1 == *plan && job.is_free(now))
        };
        let able = |(id, entry): &(&PlanId, &PlanEntry)| {
            entry.state == PlanState::Running
                && classes.contains(&entry.class)
                && !except.contains(*id)
                && has_job(id)
                && busy(id) < entry.caps.of(queue)
        };
        let mut plans = self.plans.iter().filter(able).map(|(id, _)| id);
        let first = plans.clone().next();
        let after = plans.find(|id| self.last_plan.as_ref().is_none_or(|last| *id > last));
        after.or(first).cloned()
    }

    /// The job of a lease that still is this lease's.
    pub(super) fn held(&mut self, ticket: &LocalTicket) -> Option<&mut LocalJob> {
        let job = self.jobs.get_mut(&ticket.key)?;
        job.leased.is_some_and(|(number, _)| number == ticket.number).then_some(job)
    }
}
