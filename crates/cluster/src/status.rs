//! What is going on in a fleet, for people: workers, queues, what is done, how fast, how long still.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use serde::Serialize;

use crate::fleet::{Fleet, FleetError};
use crate::id::PlanId;
use crate::job::{Queue, Revision, Standing, StoredResult, WorkerInfo};
use crate::lock;
use crate::plan::{PlanEntry, PlanState, now};

/// A plan that is over is shown for so long without being asked for.
const SHOWN: Duration = Duration::from_hours(24);
/// How fast a plan goes is how fast it went in the last minutes,
const RECENT: Duration = Duration::from_mins(5);
/// or with the last few runs, if there were fewer then.
const FEW: usize = 10;
/// When nothing was under way for longer, what came before tells nothing about now.
const PAUSE: Duration = Duration::from_mins(1);

/// A fleet at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetStatus {
    /// The workers that have reported in the last two minutes.
    pub workers: Vec<WorkerInfo>,
    /// The plans, those that were submitted first come first.
    pub plans: Vec<PlanStatus>,
    /// How many plans are over and not among them.
    pub plans_over: usize,
}

/// A plan at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanStatus {
    pub id: PlanId,
    pub skill: String,
    pub agent: String,
    /// `running`, `cancelled` or `finished`.
    pub state: &'static str,
    /// When it was submitted: milliseconds since 1970.
    pub submitted: u64,
    /// When it was finished or cancelled, in the same way.
    pub ended: Option<u64>,
    /// All runs of the plan.
    pub planned: usize,
    /// Runs that wait for a worker.
    pub queued: usize,
    /// Runs that a worker has now, as the server knows it.
    pub running: usize,
    /// Runs that have a result.
    pub done: usize,
    /// Results whose outcome is not `completed`.
    pub failed: usize,
    /// Runs that were given up.
    pub lost: usize,
    /// Gradings that wait for a worker, or that a worker has now.
    pub grades_queued: usize,
    pub graded: usize,
    /// Runs a minute, as fast as the last ones were; absent when nothing was done lately, and when it is over.
    pub runs_per_minute: Option<f64>,
    /// Seconds until the last run is done, if it goes on like this; absent when none is left.
    pub seconds_left: Option<f64>,
}

/// Which plans are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlanFilter {
    /// Those that run, and those that were over within the last day.
    #[default]
    Current,
    /// All that the server knows.
    All,
    /// One, whatever became of it.
    Only(PlanId),
}

/// Looks at a fleet, once or again and again. All results of a plan are read for that, some hundred with each request;
/// those of a plan that is over do not change, so they are read once.
#[derive(Debug, Default)]
pub struct StatusReader {
    over: Mutex<BTreeMap<PlanId, (PlanEntry, PlanStatus)>>,
}

impl FleetStatus {
    pub async fn read<F: Fleet>(fleet: &F, shown: &PlanFilter) -> Result<Self, FleetError> {
        StatusReader::default().read(fleet, shown).await
    }
}

impl StatusReader {
    /// Looks at the workers, and at the plans that are to be shown.
    pub async fn read<F: Fleet>(
        &self,
        fleet: &F,
        shown: &PlanFilter,
    ) -> Result<FleetStatus, FleetError> {
        let workers = fleet.workers().await?;
        let mut known = fleet.plans().await?;
        known.sort_by_key(|(_, entry)| entry.submitted);
        let now = now();
        let (mut plans, mut plans_over) = (Vec::new(), 0);
        for (id, entry) in &known {
            if shown.includes(id, entry, now) {
                plans.push(self.plan(fleet, id, entry, &workers).await?);
            } else if *shown == PlanFilter::Current {
                plans_over += 1;
            }
        }
        Ok(FleetStatus { workers, plans, plans_over })
    }

    async fn plan<F: Fleet>(
        &self,
        fleet: &F,
        id: &PlanId,
        entry: &PlanEntry,
        workers: &[WorkerInfo],
    ) -> Result<PlanStatus, FleetError> {
        if entry.state == PlanState::Running {
            return PlanStatus::read(fleet, id, entry, workers).await;
        }
        let known = lock(&self.over).get(id).cloned();
        if let Some((_, status)) = known.filter(|(of, _)| of == entry) {
            return Ok(status);
        }
        let status = PlanStatus::read(fleet, id, entry, workers).await?;
        let mut over = lock(&self.over);
        over.insert(id.clone(), (entry.clone(), status.clone()));
        Ok(status)
    }
}

impl PlanFilter {
    fn includes(&self, id: &PlanId, entry: &PlanEntry, now: u64) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == id,
            Self::Current => {
                // An entry of an older version does not say when it ended.
                let ended = entry.ended.unwrap_or(entry.submitted);
                entry.state == PlanState::Running || now.saturating_sub(ended) < millis(SHOWN)
            }
        }
    }
}

/// What the results of a plan say.
#[derive(Debug, Default)]
struct Tally {
    done: usize,
    failed: usize,
    lost: usize,
    graded: usize,
    /// When each run was stored, and how many milliseconds it took.
    ended: Vec<(u64, u64)>,
}

impl Tally {
    async fn read<F: Fleet>(fleet: &F, id: &PlanId, entry: &PlanEntry) -> Result<Self, FleetError> {
        let mut tally = Self::default();
        for queue in Queue::ALL {
            let mut after = Revision::default();
            loop {
                let page = fleet.results(queue, id, after).await?;
                let Some(last) = page.last() else { break };
                after = last.revision;
                let counted = page.iter().filter(|stored| entry.counts(queue, stored.revision));
                counted.for_each(|stored| tally.add(queue, stored));
            }
        }
        tally.ended.sort_unstable();
        Ok(tally)
    }

    fn add(&mut self, queue: Queue, stored: &StoredResult) {
        match &stored.record.standing {
            Standing::Ran { reason, seconds, .. } => {
                self.done += 1;
                self.graded += usize::from(stored.record.grading.is_some());
                self.failed += usize::from(reason.as_str() != "completed");
                let took = Duration::try_from_secs_f64(*seconds).unwrap_or_default();
                self.ended.push((stored.time, millis(took)));
            }
            Standing::Graded(_) => self.graded += 1,
            Standing::Lost { .. } => self.lost += usize::from(queue == Queue::Runs),
        }
    }
}

impl PlanStatus {
    async fn read<F: Fleet>(
        fleet: &F,
        id: &PlanId,
        entry: &PlanEntry,
        workers: &[WorkerInfo],
    ) -> Result<Self, FleetError> {
        let is_running = entry.state == PlanState::Running;
        // Nothing of a plan that is over is queued or given out.
        let (mut queued, mut running, mut grades_queued) = (0, 0, 0);
        if is_running {
            queued = fleet.queued(Queue::Runs, id).await?.len();
            grades_queued = fleet.queued(Queue::Grades, id).await?.len();
            let told = || workers.iter().filter_map(|worker| worker.running.get(id)).sum::<u32>();
            let given_out = fleet.given_out(Queue::Runs, id, entry).await?;
            running = given_out.unwrap_or_else(|| told() as usize).min(queued);
        }
        let tally = Tally::read(fleet, id, entry).await?;
        let left = entry.planned.saturating_sub(tally.done + tally.lost);
        let rate = if is_running { rate(&tally.ended, running, now()) } else { None };
        Ok(Self {
            id: id.clone(),
            skill: entry.skill.clone(),
            agent: entry.agent.clone(),
            state: entry.state.as_str(),
            submitted: entry.submitted,
            ended: entry.ended,
            planned: entry.planned,
            queued: queued.saturating_sub(running),
            running,
            done: tally.done,
            failed: tally.failed,
            lost: tally.lost,
            grades_queued,
            graded: tally.graded,
            runs_per_minute: rate.map(|rate| rate * 60.0),
            seconds_left: rate.filter(|_| left > 0).map(|rate| as_f64(left) / rate),
        })
    }
}

/// Runs a second, from the times at which runs were stored and what each took, in order. They are counted from the last
/// one back, until there are enough or until nothing was under way: a plan that waited for a worker since yesterday is
/// as fast as that worker is.
fn rate(ended: &[(u64, u64)], running: usize, now: u64) -> Option<f64> {
    let (last, _) = *ended.last()?;
    // Our clock and the server's may differ.
    let now = now.max(last);
    if running == 0 && now - last > millis(RECENT) {
        return None;
    }
    let (mut count, mut began, mut since) = (0, now, None);
    for (time, took) in ended.iter().rev().copied() {
        if count > 0 && time + millis(PAUSE) < began {
            break;
        }
        if count >= FEW && now - time > millis(RECENT) {
            since = Some(time);
            break;
        }
        count += 1;
        began = began.min(time.saturating_sub(took));
    }
    let window = Duration::from_millis(now - since.unwrap_or(began)).max(Duration::from_secs(1));
    Some(as_f64(count) / window.as_secs_f64())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
fn as_f64(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;
    const DAY: u64 = 24 * 60 * MINUTE;

    fn a_minute(ended: &[(u64, u64)], running: usize, now: u64) -> f64 {
        rate(ended, running, now).unwrap() * 60.0
    }

    #[test]
    fn a_rate_is_that_of_the_last_runs() {
        assert_eq!(rate(&[], 5, DAY), None);
        // One run that took half a minute and ended just now.
        assert!((a_minute(&[(DAY, 30_000)], 1, DAY) - 2.0).abs() < 1e-9);
        // Ten a minute, four at a time, for an hour.
        let steady: Vec<(u64, u64)> = (0..600).map(|n| (DAY + n * 6000, 24_000)).collect();
        let now = DAY + 600 * 6000;
        assert!((a_minute(&steady, 4, now) - 10.0).abs() < 0.3);
        // Faster before: only the last minutes count.
        let slower: Vec<(u64, u64)> =
            (0..600).map(|n| (n * 100, 100)).chain(steady.iter().copied()).collect();
        assert!((a_minute(&slower, 4, now) - 10.0).abs() < 0.3);
    }

    #[test]
    fn what_was_done_before_a_pause_tells_nothing() {
        let yesterday = (0..20).map(|n| (n * MINUTE, MINUTE));
        let today = [(DAY, 10_000), (DAY + 10_000, 10_000)];
        let all: Vec<(u64, u64)> = yesterday.clone().chain(today).collect();
        assert!((a_minute(&all, 1, DAY + 10_000) - 6.0).abs() < 1e-9);
        let idle: Vec<(u64, u64)> = yesterday.collect();
        assert_eq!(rate(&idle, 0, DAY), None, "nobody works on it");
    }

    /// Runs that take longer than what is recent.
    #[test]
    fn long_runs_have_a_rate_between_two_of_them() {
        let long: Vec<(u64, u64)> = (1..=30).map(|n| (n * 20 * MINUTE, 20 * MINUTE)).collect();
        let now = 30 * 20 * MINUTE + 15 * MINUTE;
        let found = a_minute(&long, 1, now);
        assert!((0.04..=0.05).contains(&found), "{found}");
    }
}
