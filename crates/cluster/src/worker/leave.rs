//! Jobs that this worker leaves to others, because it lacks what they need: the plan's agent, its judge, or the folder with
//! an archive.
//!
//! Looked for before a job is taken: giving one back uses up one of its deliveries, and a worker that lacks something would
//! spoil the jobs of all others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Shared, WorkerEvent};
use crate::fleet::{Fleet, FleetError};
use crate::id::PlanId;
use crate::job::{LeftJobs, Queue};
use crate::plan::PlanEntry;

/// How long jobs of a plan are left to others before this worker looks again.
const LEAVE: Duration = Duration::from_mins(1);

/// What a worker leaves, and what it knows that it has.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    left: Mutex<BTreeMap<(Queue, PlanId), (Instant, String)>>,
    /// Judges that could be opened here.
    judges: Mutex<BTreeSet<String>>,
}

impl Leaving {
    /// Everything that is left now, for people.
    pub(super) fn all(&self) -> Vec<LeftJobs> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |((queue, plan), (_, why)): (&(Queue, PlanId), &(Instant, String))| LeftJobs {
            queue: *queue,
            plan: plan.clone(),
            why: why.clone(),
        };
        left.iter().map(one).collect()
    }

    fn is_fresh(&self, key: &(Queue, PlanId)) -> bool {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.get(key).is_some_and(|(when, _)| when.elapsed() < LEAVE)
    }

    /// What is there now, or is over, is not left any more. What was left a moment ago stays: a job may just have found out.
    fn keep(&self, queue: Queue, plans: &BTreeSet<PlanId>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|(of, plan), (when, _)| {
            *of != queue || plans.contains(plan) || when.elapsed() < LEAVE
        });
    }
}

impl<F: Fleet> Shared<F> {
    /// The plans whose jobs of a queue cannot be done here.
    pub(super) async fn plans_to_leave(
        &self,
        queue: Queue,
    ) -> Result<BTreeSet<PlanId>, FleetError> {
        let mut left = BTreeSet::new();
        for (id, entry) in self.fleet.running_plans().await? {
            if !self.settings.classes.contains(&entry.class) {
                continue;
            }
            if self.leaving.is_fresh(&(queue, id.clone())) {
                left.insert(id);
            } else if let Err(why) = self.has_what_it_takes(queue, &entry).await {
                self.leave(queue, &id, &why);
                left.insert(id);
            }
        }
        self.leaving.keep(queue, &left);
        Ok(left)
    }

    async fn has_what_it_takes(&self, queue: Queue, entry: &PlanEntry) -> Result<(), String> {
        let settings = &self.settings;
        match (queue, &entry.judge) {
            (Queue::Runs, _) => {
                let ready = settings.executor.prepare(&entry.agent).await;
                ready.map(drop).map_err(|error| error.to_string())
            }
            (Queue::Grades, Some(judge)) => {
                let known = &self.leaving.judges;
                if !known.lock().unwrap_or_else(PoisonError::into_inner).contains(judge) {
                    // Votes and seed are those of a grading; whether the judge is there does not depend on them.
                    settings.judges.open(judge, 1)?;
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    known.insert(judge.clone());
                }
                Ok(())
            }
            (Queue::Grades, None) => Ok(()),
        }
    }

    /// Leaves jobs of a plan to others for a while, and says so the first time.
    pub(super) fn leave(&self, queue: Queue, plan: &PlanId, why: &str) {
        let entry = (Instant::now(), why.to_owned());
        if queue == Queue::Grades {
            // A judge that was there may be gone; it is looked for again.
            self.leaving.judges.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        let mut left = self.leaving.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.insert((queue, plan.clone()), entry).is_none() {
            drop(left);
            self.changed.notify_one();
            let (plan, why) = (plan.clone(), why.to_owned());
            self.tell(&WorkerEvent::Left(LeftJobs { queue, plan, why }));
        }
    }
}
