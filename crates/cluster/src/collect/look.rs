//! Whether somebody is there to do what is left. Nothing here is an error: workers come and go, and a plan waits for them.

use std::time::Duration;

use super::{CollectError, Collection};
use crate::fleet::Fleet;
use crate::id::PlanId;
use crate::job::{Queue, WorkerInfo};

impl<F: Fleet> Collection<'_, F> {
    /// Says why nobody does what is left: once, until it is something else. A worker that has just come has not reported
    /// yet, so the first look of all says nothing.
    pub(super) async fn look_for_workers(&mut self, waited: Duration) -> Result<(), CollectError> {
        let workers = self.fleet.workers().await?;
        let is_left =
            |queue: &Queue| self.plan.runs().iter().any(|run| self.is_wanted(*queue, run));
        let mut queues = Queue::ALL.into_iter().filter(is_left);
        let nobody = queues.find_map(|queue| why_nobody(&workers, queue, &self.id));
        if nobody != self.nobody && waited >= self.settings.dead {
            self.nobody.clone_from(&nobody);
            if let Some(why) = nobody {
                (self.on_trouble)(&why);
            }
        }
        Ok(())
    }
}

/// Why no worker takes jobs of a queue; nothing if one may.
fn why_nobody(workers: &[WorkerInfo], queue: Queue, plan: &PlanId) -> Option<String> {
    let slots = |worker: &WorkerInfo| match queue {
        Queue::Runs => worker.slots,
        Queue::Grades => worker.grade_slots,
    };
    let (what, mut whys) = (queue.jobs(), Vec::new());
    for worker in workers.iter().filter(|worker| slots(worker) > 0) {
        let left = worker.left.iter().find(|left| left.queue == queue && left.plan == *plan)?;
        whys.push(format!("{}: {}", worker.name, left.why));
    }
    Some(if whys.is_empty() {
        format!("no worker is there for the {what} of this plan; it waits for one")
    } else {
        format!("no worker can do the {what} of this plan; it waits for one ({})", whys.join("; "))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::job::LeftJobs;

    fn worker(name: &str, grade_slots: u32, left: Option<&PlanId>) -> WorkerInfo {
        let left = left.map(|plan| LeftJobs {
            queue: Queue::Grades,
            plan: plan.clone(),
            why: "there is no key".to_owned(),
        });
        WorkerInfo {
            name: name.to_owned(),
            tool_version: "1".to_owned(),
            slots: 1,
            grade_slots,
            running: BTreeMap::new(),
            done: 0,
            failed: 0,
            left: left.into_iter().collect(),
            seen: None,
        }
    }

    #[test]
    fn one_worker_that_may_is_enough() {
        let [plan, other] = ["a", "b"].map(|digit| digit.repeat(20).parse::<PlanId>().unwrap());
        let why = |workers: &[WorkerInfo]| why_nobody(workers, Queue::Grades, &plan);
        let waits = "the gradings of this plan; it waits for one";
        assert_eq!(why(&[]).unwrap(), format!("no worker is there for {waits}"));
        assert_eq!(
            why(&[worker("w1", 0, None)]).unwrap(),
            format!("no worker is there for {waits}")
        );
        let without = worker("w1", 1, Some(&plan));
        assert_eq!(
            why(&[without.clone(), worker("w2", 0, None)]).unwrap(),
            format!("no worker can do {waits} (w1: there is no key)")
        );
        assert_eq!(why(&[without, worker("w2", 1, Some(&other))]), None);
        assert_eq!(why_nobody(&[worker("w1", 1, Some(&plan))], Queue::Runs, &plan), None);
    }
}
