//! Plans, jobs and results to try a fleet with.

use std::collections::BTreeSet;
use std::time::Duration;

use skillgauge_cluster::{
    AttemptId, Caps, Class, Fleet, GradingCounts, Lease, PlanEntry, PlanId, PlanState, Queue,
    ResultRecord, Standing, Times,
};
use skillgauge_core::plan::RunId;
use skillgauge_format::transcript::{Outcome, Reason};

pub(crate) const SOON: Duration = Duration::from_millis(400);
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) fn plan(digit: char) -> PlanId {
    digit.to_string().repeat(20).parse().unwrap()
}

pub(crate) fn entry(ack_wait_ms: u64) -> PlanEntry {
    PlanEntry {
        manifest: "m".to_owned(),
        state: PlanState::Running,
        caps: Caps { runs: 8, grades: 2 },
        class: Class::any(),
        times: Times { ack_wait_ms, heartbeat_ms: ack_wait_ms / 3, max_deliver: 3 },
        tool_version: "0".to_owned(),
        skill: "s".to_owned(),
        agent: "a".to_owned(),
        model: None,
        judge: None,
        timeout_seconds: 1.0,
        retries: 0,
        planned: 3,
        only_there: 0,
        small_archive: 0,
        submitted: 0,
        ended: None,
        cancelled_at: None,
    }
}

pub(crate) fn runs(count: u32) -> Vec<RunId> {
    (1..=count).map(|number| format!("eval-a/with_skill/run-{number}").parse().unwrap()).collect()
}

pub(crate) fn record<T>(lease: &Lease<T>) -> ResultRecord {
    let (run, attempt, delivered) = (lease.run.clone(), lease.attempt.clone(), lease.delivered);
    ResultRecord { run, attempt, delivered, ..ran() }
}

pub(crate) fn ran() -> ResultRecord {
    ResultRecord {
        run: runs(1).remove(0),
        attempt: AttemptId::new(),
        delivered: 1,
        worker: "w".to_owned(),
        tool_version: "0".to_owned(),
        agent_version: None,
        standing: Standing::Ran {
            outcome: Outcome::Completed,
            reason: Reason::Completed,
            seconds: 1.0,
        },
        archive: None,
        grading: None,
    }
}

pub(crate) fn graded() -> Standing {
    let (cost_usd, calls) = (None, 0);
    Standing::Graded(GradingCounts {
        passed: 1,
        total: 1,
        gated: false,
        judge_errors: 0,
        cost_usd,
        calls,
    })
}

pub(crate) async fn next<F: Fleet>(
    fleet: &F,
    queue: Queue,
    wait: Duration,
) -> Option<Lease<F::Ticket>> {
    let until = std::time::Instant::now() + wait;
    loop {
        let found = fleet.next(queue, &[Class::any()], &BTreeSet::new(), SOON).await.unwrap();
        if found.is_some() || std::time::Instant::now() >= until {
            return found;
        }
    }
}

pub(crate) async fn begin<F: Fleet>(
    fleet: &F,
    id: &PlanId,
    entry: &PlanEntry,
    count: u32,
) -> Vec<RunId> {
    let runs = runs(count);
    fleet.put_plan(id, entry).await.unwrap();
    fleet.publish(Queue::Runs, id, entry, &runs).await.unwrap();
    runs
}
