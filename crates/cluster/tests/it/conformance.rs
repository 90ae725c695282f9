//! The rules that every fleet keeps, as one suite that runs on each of them.

use std::collections::BTreeSet;
use std::time::Duration;

use skillgauge_cluster::{
    ArchiveName, ArchiveRef, Caps, Class, Commit, Connect, Files as _, Fleet, FleetError,
    FleetStatus, InitSettings, LeaseState, LocalFleet, NatsFleet, PlanEntry, PlanFilter, PlanState,
    Queue, Refusal, ResultRecord, Revision, RunToken, SharedFolder, StatusReader, TidyCount,
    WorkerInfo,
};
use skillgauge_testkit::nats::NatsServer;

use crate::example::{LONG, SOON, begin, entry, graded, next, plan, ran, record, runs};

/// All of it, on a fleet that nobody else uses.
async fn suite<F: Fleet>(fleet: &F) {
    submitting_twice_does_no_harm(fleet).await;
    each_job_is_given_out_once_and_its_result_is_read_once(fleet).await;
    the_first_commit_wins_and_the_second_is_told_who_did(fleet).await;
    a_released_job_is_given_out_again(fleet).await;
    heartbeats_keep_a_job_and_silence_loses_it(fleet).await;
    a_job_that_fails_too_often_is_dead_and_can_be_done_again(fleet).await;
    cancelling_empties_the_queue_and_is_seen(fleet).await;
    what_is_stored_after_a_cancel_does_not_count_and_goes(fleet).await;
    caps_and_classes_are_kept_and_plans_take_turns(fleet).await;
    files_come_back_as_they_were_and_orphans_go(fleet).await;
    results_of_any_number_and_size_are_read_in_order(fleet).await;
    news_end_a_wait(fleet).await;
    workers_are_seen(fleet).await;
    status_is_about_now_and_shows_what_is_over_for_a_day(fleet).await;
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
        let Some(last) = page.last() else { break };
        after = last.revision;
        read.extend(page.into_iter().map(|stored| stored.record.run));
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
    assert_eq!(fleet.given_out(Queue::Runs, &id, &entry).await.unwrap(), Some(1));
    assert_eq!(fleet.given_out(Queue::Grades, &id, &entry).await.unwrap(), Some(0));
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

/// A worker looks at the plan, somebody cancels it, the worker stores what it has.
async fn what_is_stored_after_a_cancel_does_not_count_and_goes<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('e'), entry(30_000));
    begin(fleet, &id, &entry, 4).await;
    let folder = tempfile::tempdir().unwrap();
    let (file, back) = (folder.path().join("a"), folder.path().join("b"));
    fs_err::write(&file, vec![7; 200_000]).unwrap();
    let mut stored = Vec::new();
    for queue in [Queue::Runs, Queue::Grades, Queue::Runs, Queue::Grades] {
        if stored.len() == 2 {
            fleet.end_plan(&id, PlanState::Cancelled).await.unwrap();
            // Told twice, it is still the first that decides.
            fleet.end_plan(&id, PlanState::Cancelled).await.unwrap();
        }
        let (number, attempt) = (1 + stored.len() / 2, skillgauge_cluster::AttemptId::new());
        let run = runs(4).remove(number);
        let name = ArchiveName::new(queue, &id, &RunToken::of(&id, &run), attempt.clone());
        let archive = fleet.put_archive(&name, &file).await.unwrap();
        let standing = match queue {
            Queue::Runs => ran().standing,
            Queue::Grades => graded(),
        };
        let archived = Some(archive.clone());
        let record = ResultRecord { run, attempt, standing, archive: archived, ..ran() };
        assert_eq!(fleet.commit(queue, &id, &record).await.unwrap(), Commit::Won);
        if stored.len() == 3 {
            fleet.end_plan(&id, PlanState::Cancelled).await.unwrap();
        }
        stored.push((queue, record, archive));
    }
    let entry = fleet.plan(&id).await.unwrap().unwrap();
    for (queue, record) in [(Queue::Runs, 0), (Queue::Grades, 1)] {
        let found = fleet.results(queue, &id, Revision::default()).await.unwrap();
        let (counting, late): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|it| entry.counts(queue, it.revision));
        assert_eq!((counting.len(), late.len()), (1, 1), "{queue:?}");
        assert_eq!(counting[0].record, stored[record].1);
    }
    let status = FleetStatus::read(fleet, &PlanFilter::Only(id.clone())).await.unwrap();
    assert_eq!((status.plans[0].done, status.plans[0].graded), (1, 1));
    assert_eq!(fleet.tidy(&id, Duration::from_hours(1)).await.unwrap().late, 2);
    assert_eq!(fleet.tidy(&id, Duration::from_hours(1)).await.unwrap().late, 0);
    let left = fleet.tidy(&id, Duration::ZERO).await.unwrap();
    assert_eq!((left.archives, left.uploads), (0, 0), "their archives went with them");
    for (number, (queue, record, archive)) in stored.iter().enumerate() {
        let token = RunToken::of(&id, &record.run);
        let is_there = fleet.result(*queue, &id, &token).await.unwrap().is_some();
        assert_eq!(is_there, number < 2, "{number}");
        if is_there {
            fleet.get_archive(archive, &back).await.unwrap();
        }
    }
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

/// More than one page has, in messages and in bytes.
async fn results_of_any_number_and_size_are_read_in_order<F: Fleet>(fleet: &F) {
    let (id, entry) = (plan('c'), entry(30_000));
    let runs = begin(fleet, &id, &entry, 300).await;
    let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
    let mut committed = Vec::new();
    for (run, size) in runs.into_iter().zip([10, 30_000].into_iter().cycle()) {
        let archive = ArchiveRef {
            name: "a".repeat(size),
            size: 0,
            sha256: String::new(),
            uri: None,
            bytes: None,
        };
        let result = ResultRecord { run, archive: Some(archive), ..record(&lease) };
        assert_eq!(fleet.commit(Queue::Runs, &id, &result).await.unwrap(), Commit::Won);
        committed.push(result);
    }
    let (mut after, mut read) = (Revision::default(), Vec::new());
    loop {
        let page = fleet.results(Queue::Runs, &id, after).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.iter().all(|stored| stored.revision > after));
        assert!(page.iter().all(|it| it.token == RunToken::of(&id, &it.record.run)));
        assert!(page.iter().all(|stored| stored.time > 1_700_000_000_000), "when it was stored");
        after = last.revision;
        read.extend(page.into_iter().map(|stored| stored.record));
    }
    assert!(read == committed, "{} of {} were read", read.len(), committed.len());
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
}

/// Each wait would take an hour, and the whole suite a few seconds.
async fn news_end_a_wait<F: Fleet>(fleet: &F) {
    let hour = Duration::from_hours(1);
    let (id, entry) = (plan('d'), entry(30_000));
    let submitting = async {
        // Not before somebody listens.
        tokio::time::sleep(SOON).await;
        begin(fleet, &id, &entry, 2).await;
    };
    let heard = async { tokio::join!(fleet.plans_change(hour), submitting) };
    assert!(tokio::time::timeout(LONG, heard).await.is_ok(), "a new plan is heard of");
    fleet.results_come(&id, &entry, SOON).await;
    let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
    fleet.commit(Queue::Runs, &id, &record(&lease)).await.unwrap();
    fleet.done(&lease).await.unwrap();
    // It came before anybody waited, and is not missed.
    let heard = fleet.results_come(&id, &entry, hour);
    assert!(tokio::time::timeout(LONG, heard).await.is_ok(), "a job that is done is heard of");
    let waiting = tokio::time::timeout(SOON, fleet.results_come(&id, &entry, hour)).await;
    assert!(waiting.is_err(), "nothing was done since");
    let ending = async {
        tokio::time::sleep(SOON).await;
        fleet.end_plan(&id, PlanState::Cancelled).await.unwrap();
    };
    let heard = async { tokio::join!(fleet.plans_change(hour), ending) };
    assert!(tokio::time::timeout(LONG, heard).await.is_ok(), "a cancel is heard of");
    assert!(!fleet.is_running(&id).await.unwrap(), "and seen at once");
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
        left: Vec::new(),
        seen: None,
    };
    fleet.report(&worker).await.unwrap();
    fleet.report(&WorkerInfo { done: 4, ..worker.clone() }).await.unwrap();
    let seen = fleet.workers().await.unwrap();
    assert!(seen[0].seen.is_some_and(|time| time > 1_700_000_000_000), "{seen:?}");
    assert_eq!(seen, [WorkerInfo { done: 4, seen: seen[0].seen, ..worker }]);
}

async fn status_is_about_now_and_shows_what_is_over_for_a_day<F: Fleet>(fleet: &F) {
    let id = plan('f');
    // Submitted in 1970, and nobody works on it before now.
    let entry = PlanEntry { planned: 3, ..entry(30_000) };
    begin(fleet, &id, &entry, 3).await;
    let of = |status: FleetStatus| status.plans.into_iter().find(|plan| plan.id == id);
    let lease = next(fleet, Queue::Runs, LONG).await.unwrap();
    let status = of(FleetStatus::read(fleet, &PlanFilter::Current).await.unwrap()).unwrap();
    assert_eq!((status.running, status.queued, status.done), (1, 2, 0));
    assert_eq!((status.runs_per_minute, status.seconds_left), (None, None));
    fleet.commit(Queue::Runs, &id, &record(&lease)).await.unwrap();
    fleet.done(&lease).await.unwrap();
    let reader = StatusReader::default();
    let status = of(reader.read(fleet, &PlanFilter::Current).await.unwrap()).unwrap();
    assert_eq!((status.running, status.queued, status.done), (0, 2, 1));
    assert!(status.runs_per_minute.unwrap() > 1.0, "{status:?}");
    assert!(status.seconds_left.unwrap() < 120.0, "{status:?}");
    fleet.end_plan(&id, PlanState::Finished).await.unwrap();
    for _ in 0..2 {
        let status = of(reader.read(fleet, &PlanFilter::Current).await.unwrap()).unwrap();
        assert_eq!((status.state, status.done, status.queued), ("finished", 1, 0));
        assert_eq!((status.runs_per_minute, status.seconds_left), (None, None));
        assert!(status.ended.is_some());
    }
    let ended = PlanEntry { state: PlanState::Finished, ended: Some(1), ..entry.clone() };
    fleet.put_plan(&id, &ended).await.unwrap();
    let current = FleetStatus::read(fleet, &PlanFilter::Current).await.unwrap();
    assert!(current.plans_over >= 1 && of(current).is_none(), "over for long");
    for shown in [PlanFilter::All, PlanFilter::Only(id.clone())] {
        assert!(of(FleetStatus::read(fleet, &shown).await.unwrap()).is_some(), "{shown:?}");
    }
    fleet.end_plan(&id, PlanState::Cancelled).await.unwrap();
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
    let info = WorkerInfo {
        name,
        tool_version,
        slots: 1,
        grade_slots: 0,
        running,
        done: 1,
        failed: 0,
        left: Vec::new(),
        seen: None,
    };
    worker.report(&info).await.unwrap();
    let seen = worker.workers().await.unwrap();
    assert_eq!(seen, [WorkerInfo { seen: seen[0].seen, ..info }]);
    assert!(worker.end_plan(&id, PlanState::Cancelled).await.is_err());
    assert!(worker.put_plan(&id, &entry).await.is_err());
    assert!(worker.publish(Queue::Runs, &id, &entry, &runs(3)).await.is_err());
    assert!(worker.put_input(&sha256.replace('e', "f"), &file).await.is_err());
}

#[tokio::test]
async fn the_fleet_in_this_process_keeps_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    suite(&LocalFleet::new(folder.path())).await;
}

async fn on_nats(server: &NatsServer) -> NatsFleet {
    let connect = Connect { url: server.url(), name: "test".to_owned(), ..Connect::default() };
    let fleet = NatsFleet::connect(&connect).await.unwrap();
    fleet.init(&InitSettings::default()).await.unwrap();
    fleet
}

#[tokio::test]
async fn the_fleet_on_nats_keeps_the_rules() {
    let server = NatsServer::start().unwrap();
    Box::pin(suite(&on_nats(&server).await)).await;
}

/// Every archive is too large for the server.
#[tokio::test]
async fn the_fleet_on_nats_with_a_shared_folder_keeps_the_rules() {
    let (server, folder) = (NatsServer::start().unwrap(), tempfile::tempdir().unwrap());
    let shared = SharedFolder::open(folder.path(), 0).unwrap();
    let fleet = on_nats(&server).await.sharing(Some(shared));
    files_come_back_as_they_were_and_orphans_go(&fleet).await;
    what_is_stored_after_a_cancel_does_not_count_and_goes(&fleet).await;
    let (id, run) = (plan('d'), runs(1).remove(0));
    let attempt = skillgauge_cluster::AttemptId::new();
    let name = ArchiveName::new(Queue::Runs, &id, &RunToken::of(&id, &run), attempt);
    let (file, back) = (folder.path().join("file"), folder.path().join("back"));
    fs_err::write(&file, "content").unwrap();
    let archive = fleet.put_archive(&name, &file).await.unwrap();
    let below = archive.uri.as_ref().unwrap().strip_prefix("shared:").unwrap();
    let place = folder.path().join("skillgauge-fleet").join(below);
    assert_eq!(fs_err::read_to_string(&place).unwrap(), "content");
    // Longer than what was stored, and half of an upload beside it.
    fs_err::write(&place, "content and more").unwrap();
    fs_err::write(place.with_file_name(format!("{below}.part")), "half").unwrap();
    let error = fleet.get_archive(&archive, &back).await.unwrap_err();
    assert!(matches!(error, FleetError::Damaged { .. }), "{error}");
    assert_eq!(fleet.tidy(&id, Duration::from_hours(1)).await.unwrap(), TidyCount::default());
    let count = fleet.tidy(&id, Duration::ZERO).await.unwrap();
    assert_eq!((count.archives, count.uploads), (1, 1));
    // Not mounted, or another folder: nothing is called damaged for that.
    let error = fleet.get_archive(&archive, &back).await.unwrap_err();
    assert!(matches!(error, FleetError::Folder { .. }), "{error}");
    let error = on_nats(&server).await.get_archive(&archive, &back).await.unwrap_err();
    assert!(matches!(error, FleetError::NoFolder { .. }), "{error}");
}
