//! The rules that every fleet keeps, as one suite that runs on each of them.

use std::collections::BTreeSet;
use std::time::Duration;

use skillgauge_cluster::{
    Caps, Class, Commit, Connect, Fleet, InitSettings, Lease, LeaseState, LocalFleet, NatsFleet,
    PlanEntry, PlanId, PlanState, Queue, Refusal, ResultRecord, Revision, RunToken, Standing,
    Times, WorkerInfo,
};
use skillgauge_core::plan::RunId;
use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_testkit::nats::NatsServer;

const SOON: Duration = Duration::from_millis(400);
const LONG: Duration = Duration::from_secs(20);

fn plan(digit: char) -> PlanId {
    digit.to_string().repeat(20).parse().unwrap()
}

fn entry(ack_wait_ms: u64) -> PlanEntry {
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
        submitted: 0,
    }
}

fn runs(count: u32) -> Vec<RunId> {
    (1..=count).map(|number| format!("eval-a/with_skill/run-{number}").parse().unwrap()).collect()
}

fn record<T>(lease: &Lease<T>) -> ResultRecord {
    ResultRecord {
        run: lease.run.clone(),
        attempt: lease.attempt.clone(),
        delivered: lease.delivered,
        worker: "w".to_owned(),
        tool_version: "0".to_owned(),
        agent_version: None,
        standing: Standing::Ran {
            outcome: Outcome::Completed,
            reason: Reason::Completed,
            seconds: 1.0,
        },
        archive: None,
    }
}

async fn next<F: Fleet>(fleet: &F, queue: Queue, wait: Duration) -> Option<Lease<F::Ticket>> {
    let until = std::time::Instant::now() + wait;
    loop {
        let found = fleet.next(queue, &[Class::any()], &BTreeSet::new(), SOON).await.unwrap();
        if found.is_some() || std::time::Instant::now() >= until {
            return found;
        }
    }
}

async fn begin<F: Fleet>(fleet: &F, id: &PlanId, entry: &PlanEntry, count: u32) -> Vec<RunId> {
    let runs = runs(count);
    fleet.put_plan(id, entry).await.unwrap();
    fleet.publish(Queue::Runs, id, entry, &runs).await.unwrap();
    runs
}

/// All of it, on a fleet that nobody else uses.
async fn suite<F: Fleet>(fleet: &F) {
    submitting_twice_does_no_harm(fleet).await;
    each_job_is_given_out_once_and_its_result_is_read_once(fleet).await;
    the_first_commit_wins_and_the_second_is_told_who_did(fleet).await;
    a_released_job_is_given_out_again(fleet).await;
    heartbeats_keep_a_job_and_silence_loses_it(fleet).await;
    a_job_that_fails_too_often_is_dead_and_can_be_done_again(fleet).await;
    cancelling_empties_the_queue_and_is_seen(fleet).await;
    caps_and_classes_are_kept_and_plans_take_turns(fleet).await;
    files_come_back_as_they_were_and_orphans_go(fleet).await;
    workers_are_seen(fleet).await;
}

async fn submitting_twice_does_no_harm<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('1'), entry(30_000));
    let runs = begin(fleet, &id, &entry, 3).await;
    fleet.put_plan(&id, &entry).await.unwrap();
    assert_eq!(fleet.publish(Queue::Runs, &id, &entry, &runs).await.unwrap(), 0);
    assert_eq!(fleet.publish(Queue::Grades, &id, &entry, &runs[..1]).await.unwrap(), 1);
    let tokens: BTreeSet<RunToken> = runs.iter().map(|run| RunToken::of(&id, run)).collect();
    assert_eq!(fleet.queued(Queue::Runs, &id).await.unwrap(), tokens);
    assert_eq!(fleet.plan(&id).await.unwrap(), Some(entry.clone()));
    assert!(fleet.plans().await.unwrap().contains(&(id.clone(), entry)));
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

async fn each_job_is_given_out_once_and_its_result_is_read_once<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('2'), entry(30_000));
    let runs = begin(fleet, &id, &entry, 5).await;
    let mut seen = BTreeSet::new();
    for _ in 0..5 {
        let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
        assert_eq!((lease.delivered, &lease.plan), (1, &id));
        assert_eq!(fleet.commit(Queue::Runs, &id, &record(&lease)).await.unwrap(), Commit::Won);
        fleet.done(&lease).await.unwrap();
        assert!(seen.insert(lease.run.clone()), "{} was given out twice", lease.run);
    }
    assert!(next(fleet, Queue::Runs, SOON).await.is_none());
    assert!(fleet.queued(Queue::Runs, &id).await.unwrap().is_empty());
    let (mut after, mut read) = (Revision::default(), Vec::new());
    loop {
        let page = fleet.results(Queue::Runs, &id, after).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        after = *last;
        read.extend(page.into_iter().map(|(_, record)| record.run));
    }
    read.sort();
    assert_eq!(read, runs);
    assert!(fleet.results(Queue::Grades, &id, Revision::default()).await.unwrap().is_empty());
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

async fn the_first_commit_wins_and_the_second_is_told_who_did<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('3'), entry(30_000));
    begin(fleet, &id, &entry, 1).await;
    let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
    let first = record(&lease);
    let second = ResultRecord { attempt: skillgauge_cluster::AttemptId::new(), ..first.clone() };
    assert_eq!(fleet.commit(Queue::Runs, &id, &first).await.unwrap(), Commit::Won);
    assert_eq!(fleet.commit(Queue::Runs, &id, &first).await.unwrap(), Commit::Won, "said twice");
    let lost = Commit::Lost { to: first.attempt.clone() };
    assert_eq!(fleet.commit(Queue::Runs, &id, &second).await.unwrap(), lost);
    let token = lease.token();
    assert_eq!(fleet.result(Queue::Runs, &id, &token).await.unwrap(), Some(first));
    fleet.forget(Queue::Runs, &id, &token).await.unwrap();
    assert_eq!(fleet.result(Queue::Runs, &id, &token).await.unwrap(), None);
    assert_eq!(fleet.commit(Queue::Runs, &id, &second).await.unwrap(), Commit::Won);
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

async fn a_released_job_is_given_out_again<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('4'), entry(30_000));
    begin(fleet, &id, &entry, 1).await;
    let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
    assert!(next(fleet, Queue::Runs, SOON).await.is_none(), "it is given out");
    fleet.release(&lease, Duration::from_millis(10)).await.unwrap();
    let again = next(fleet, Queue::Runs, LONG).await.unwrap();
    assert_eq!((again.run.clone(), again.delivered), (lease.run.clone(), 2));
    assert_ne!(again.attempt, lease.attempt);
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

async fn heartbeats_keep_a_job_and_silence_loses_it<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('5'), entry(1500));
    begin(fleet, &id, &entry, 1).await;
    let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
    for _ in 0..8 {
        assert_eq!(fleet.heartbeat(&lease).await.unwrap(), LeaseState::Held);
        assert!(next(fleet, Queue::Runs, SOON).await.is_none(), "it is ours");
    }
    let other = next(fleet, Queue::Runs, LONG).await.unwrap();
    assert_eq!(other.run, lease.run);
    assert_eq!(fleet.heartbeat(&lease).await.unwrap(), LeaseState::MaybeLost);
    // Who may have lost a job cannot take it from the one who has it.
    fleet.release(&lease, Duration::ZERO).await.unwrap();
    fleet.refuse(&lease, &Refusal::Unwanted).await.unwrap();
    assert_eq!(fleet.heartbeat(&other).await.unwrap(), LeaseState::Held);
    assert!(next(fleet, Queue::Runs, SOON).await.is_none());
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

async fn a_job_that_fails_too_often_is_dead_and_can_be_done_again<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('6'), entry(1000));
    let runs = begin(fleet, &id, &entry, 2).await;
    let mut refused = None;
    // One job is given up with a reason, the other is never heard of again.
    while let Some(lease) = next(fleet, Queue::Runs, Duration::from_secs(4)).await {
        if lease.run == runs[0] {
            let why = Refusal::Failed { why: "no\nlogin".to_owned() };
            fleet.refuse(&lease, &why).await.unwrap();
            refused = Some(lease.token());
        }
        assert!(lease.delivered <= 3);
    }
    let mut dead = fleet.dead(&id).await.unwrap();
    assert_eq!(dead.len(), 2, "{dead:?}");
    dead.sort_by_key(|dead| Some(&dead.token) != refused.as_ref());
    assert_eq!(dead[0].why.split_whitespace().collect::<Vec<_>>(), ["no", "login"]);
    assert_eq!(dead[1].token, RunToken::of(&id, &runs[1]));
    assert!(dead[1].why.contains("3 times"), "{}", dead[1].why);
    assert_eq!(fleet.dead(&id).await.unwrap().len(), 2, "told until buried");
    for dead in &dead {
        fleet.bury(dead).await.unwrap();
    }
    assert!(fleet.dead(&id).await.unwrap().is_empty());
    assert!(fleet.queued(Queue::Runs, &id).await.unwrap().is_empty());
    assert_eq!(fleet.publish(Queue::Runs, &id, &entry, &runs).await.unwrap(), 2);
    assert_eq!(next(fleet, Queue::Runs, LONG).await.unwrap().delivered, 1);
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

async fn cancelling_empties_the_queue_and_is_seen<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('7'), entry(30_000));
    let runs = begin(fleet, &id, &entry, 4).await;
    let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
    fleet.end_plan(&id, PlanState::Cancelled).await.unwrap();
    fleet.end_plan(&id, PlanState::Cancelled).await.unwrap();
    assert!(next(fleet, Queue::Runs, SOON).await.is_none());
    assert!(fleet.queued(Queue::Runs, &id).await.unwrap().is_empty());
    assert_eq!(fleet.plan(&id).await.unwrap().unwrap().state, PlanState::Cancelled);
    fleet.refuse(&lease, &Refusal::Unwanted).await.unwrap();
    assert!(fleet.dead(&id).await.unwrap().is_empty(), "nobody wanted it");
    // Submitted again, it goes on.
    fleet.put_plan(&id, &entry).await.unwrap();
    assert_eq!(fleet.publish(Queue::Runs, &id, &entry, &runs).await.unwrap(), 4);
    assert!(next(fleet, Queue::Runs, LONG).await.is_some());
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

async fn caps_and_classes_are_kept_and_plans_take_turns<F: Fleet>(fleet: &F) {
    let (one, other) = (plan('8'), plan('9'));
    let capped = PlanEntry { caps: Caps { runs: 2, grades: 1 }, ..entry(30_000) };
    begin(fleet, &one, &capped, 4).await;
    begin(fleet, &other, &capped, 4).await;
    let mut plans = Vec::new();
    let mut leases = Vec::new();
    while let Some(lease) = next(fleet, Queue::Runs, Duration::from_secs(1)).await {
        plans.push(lease.plan.clone());
        leases.push(lease);
    }
    assert_eq!(plans.len(), 4, "two of each plan at once: {plans:?}");
    assert_ne!(plans[0], plans[1], "in turns: {plans:?}");
    let nobody: Class = "special".parse().unwrap();
    let none = fleet.next(Queue::Runs, &[nobody], &BTreeSet::new(), SOON).await.unwrap();
    assert!(none.is_none());
    fleet.done(&leases[0]).await.unwrap();
    let except = BTreeSet::from([leases[0].plan.clone()]);
    let none = fleet.next(Queue::Runs, &[Class::any()], &except, SOON).await.unwrap();
    assert!(none.is_none(), "this worker cannot do jobs of that plan");
    assert_eq!(next(fleet, Queue::Runs, LONG).await.unwrap().plan, leases[0].plan);
    fleet.end_plan(&one, PlanState::Finished).await.unwrap();
    fleet.end_plan(&other, PlanState::Finished).await.unwrap();
}

async fn files_come_back_as_they_were_and_orphans_go<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('a'), entry(30_000));
    let runs = begin(fleet, &id, &entry, 2).await;
    let folder = tempfile::tempdir().unwrap();
    let (file, back) = (folder.path().join("a"), folder.path().join("b"));
    let bytes: Vec<u8> = (0..1_300_000_u32).flat_map(u32::to_le_bytes).take(1_300_000).collect();
    fs_err::write(&file, &bytes).unwrap();
    let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
    let archive = fleet.put_archive(&lease.archive_name(), &file).await.unwrap();
    assert_eq!(archive.size, 1_300_000);
    fleet.get_archive(&archive, &back).await.unwrap();
    assert!(fs_err::read(&back).unwrap() == bytes);
    assert!(fleet.put_input(&archive.sha256, &file).await.unwrap());
    assert!(!fleet.put_input(&archive.sha256, &file).await.unwrap(), "there already");
    fleet.get_input(&archive.sha256, &back).await.unwrap();
    assert!(fs_err::read(&back).unwrap() == bytes);
    let committed = ResultRecord { archive: Some(archive.clone()), ..record(&lease) };
    fleet.commit(Queue::Runs, &id, &committed).await.unwrap();
    let orphan = next(fleet, Queue::Runs, LONG).await.unwrap();
    assert_ne!(orphan.run, lease.run);
    let lost = fleet.put_archive(&orphan.archive_name(), &file).await.unwrap();
    assert_eq!(fleet.tidy(&id, Duration::from_hours(1)).await.unwrap().archives, 0, "too young");
    assert_eq!(fleet.tidy(&id, Duration::ZERO).await.unwrap().archives, 1);
    assert!(fleet.get_archive(&lost, &back).await.is_err());
    fleet.get_archive(&archive, &back).await.unwrap();
    fleet.remove_archive(&archive).await.unwrap();
    assert!(fleet.get_archive(&archive, &back).await.is_err());
    let _ = runs;
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

async fn workers_are_seen<F: Fleet>(fleet: &F) {
    let worker = WorkerInfo {
        name: "host.example-7".to_owned(),
        tool_version: "0".to_owned(),
        slots: 4,
        grade_slots: 1,
        running: [(plan('1'), 2)].into(),
        done: 3,
        failed: 1,
    };
    fleet.report(&worker).await.unwrap();
    fleet.report(&WorkerInfo { done: 4, ..worker.clone() }).await.unwrap();
    assert_eq!(fleet.workers().await.unwrap(), [WorkerInfo { done: 4, ..worker }]);
}

/// What a worker does, with a login that may do nothing else.
pub(crate) async fn a_worker_works<F: Fleet>(coordinator: &F, worker: &F) {
    let (id, entry) = (plan('b'), entry(30_000));
    begin(coordinator, &id, &entry, 2).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    fs_err::write(&file, "content").unwrap();
    let (_, sha256) = (0, "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73");
    coordinator.put_input(sha256, &file).await.unwrap();
    worker.get_input(sha256, &folder.path().join("b")).await.unwrap();
    let lease = next(worker, Queue::Runs, LONG).await.unwrap();
    assert_eq!(worker.heartbeat(&lease).await.unwrap(), LeaseState::Held);
    let archive = worker.put_archive(&lease.archive_name(), &file).await.unwrap();
    let result = ResultRecord { archive: Some(archive.clone()), ..record(&lease) };
    assert_eq!(worker.commit(Queue::Runs, &id, &result).await.unwrap(), Commit::Won);
    let late = ResultRecord { attempt: skillgauge_cluster::AttemptId::new(), ..result };
    assert!(matches!(worker.commit(Queue::Runs, &id, &late).await.unwrap(), Commit::Lost { .. }));
    worker.done(&lease).await.unwrap();
    let second = next(worker, Queue::Runs, LONG).await.unwrap();
    worker.release(&second, Duration::ZERO).await.unwrap();
    worker.get_archive(&archive, &folder.path().join("c")).await.unwrap();
    let name = "w1".to_owned();
    let running = std::collections::BTreeMap::new();
    let tool_version = "0".to_owned();
    let info =
        WorkerInfo { name, tool_version, slots: 1, grade_slots: 0, running, done: 1, failed: 0 };
    worker.report(&info).await.unwrap();
    assert!(worker.put_plan(&id, &entry).await.is_err());
    assert!(worker.publish(Queue::Runs, &id, &entry, &runs(3)).await.is_err());
    assert!(worker.put_input(&sha256.replace('e', "f"), &file).await.is_err());
}

#[tokio::test]
async fn the_fleet_in_this_process_keeps_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    suite(&LocalFleet::new(folder.path())).await;
}

#[tokio::test]
async fn the_fleet_on_nats_keeps_the_rules() {
    let server = NatsServer::start().unwrap();
    let connect = Connect { url: server.url(), name: "test".to_owned(), ..Connect::default() };
    let fleet = NatsFleet::connect(&connect).await.unwrap();
    fleet.init(&InitSettings::default()).await.unwrap();
    suite(&fleet).await;
}
