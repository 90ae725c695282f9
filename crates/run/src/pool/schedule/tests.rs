//! Lists of scripted work with a stopped clock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillgauge_format::transcript::Reason;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{Asked, Done, Panicked, Work, run_all};
use crate::pool::{Cause, Pool, Problem, RetryRules, Services};

const SECOND: Duration = Duration::from_secs(1);

/// An item that fails with each of these in turn and then succeeds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Item {
    name: u32,
    seconds: u32,
    failures: Vec<Reason>,
    panics: bool,
}

/// What happened, and how many ran at once.
#[derive(Debug, Default)]
struct Diary {
    started: Vec<(u32, u32)>,
    cancelled: Vec<u32>,
    running: u32,
    most: u32,
}

#[derive(Debug, Default)]
struct Scripted {
    diary: Mutex<Diary>,
}

impl Work for Scripted {
    type Item = Item;
    type Output = Result<u32, Reason>;

    async fn attempt(&self, item: &Item, number: u32, cancel: CancellationToken) -> Self::Output {
        {
            let mut diary = self.diary.lock().unwrap();
            diary.started.push((item.name, number));
            diary.running += 1;
            diary.most = diary.most.max(diary.running);
        }
        let ended = tokio::select! {
            () = sleep(item.seconds * SECOND) => Ok(()),
            () = cancel.cancelled() => Err(Reason::Cancelled),
        };
        let mut diary = self.diary.lock().unwrap();
        diary.running -= 1;
        if ended.is_err() {
            diary.cancelled.push(item.name);
        }
        drop(diary);
        assert!(!item.panics, "scripted panic of {}", item.name);
        ended?;
        item.failures.get(number as usize - 1).map_or(Ok(item.name), |reason| Err(*reason))
    }

    fn problem(&self, output: &Self::Output) -> Option<Problem> {
        output.err().map(Problem::new)
    }

    fn asked(&self, output: &Self::Output) -> Asked {
        Asked::Yes { message: output.err().map(|reason| reason.to_string()).unwrap_or_default() }
    }
}

type Results = BTreeMap<usize, Done<Item, Result<u32, Reason>>>;

async fn all(mut receiver: mpsc::Receiver<Done<Item, Result<u32, Reason>>>) -> Results {
    let mut results = BTreeMap::new();
    while let Some(done) = receiver.recv().await {
        assert!(results.insert(done.index, done).is_none(), "no item is done twice");
    }
    results
}

fn items(count: u32, seconds: u32) -> Vec<Item> {
    (0..count).map(|name| Item { name, seconds, ..Item::default() }).collect()
}

struct Trial {
    work: Arc<Scripted>,
    pool: Pool,
    cancel: CancellationToken,
}

impl Trial {
    fn new(jobs: u32) -> Self {
        Self {
            work: Arc::default(),
            pool: Pool::new(jobs, Services::default().breaker("s")),
            cancel: CancellationToken::new(),
        }
    }

    fn start(&self, items: Vec<Item>) -> mpsc::Receiver<Done<Item, Result<u32, Reason>>> {
        let rules = RetryRules::for_probes();
        run_all(Arc::clone(&self.work), items, &self.pool, rules, 42, &self.cancel)
    }

    fn started(&self) -> Vec<(u32, u32)> {
        self.work.diary.lock().unwrap().started.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn everything_is_done_in_order_and_never_too_much_at_once() {
    let trial = Trial::new(4);
    let start = Instant::now();
    let results = all(trial.start(items(20, 3))).await;
    assert_eq!(start.elapsed(), 15 * SECOND);
    assert_eq!(results.len(), 20);
    assert!(results.values().all(|done| done.output == Ok(Ok(done.item.name))));
    assert_eq!(trial.started(), (0..20).map(|name| (name, 1)).collect::<Vec<_>>());
    assert_eq!(trial.work.diary.lock().unwrap().most, 4);
    assert!(all(trial.start(Vec::new())).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn results_come_as_they_finish() {
    let trial = Trial::new(2);
    let mut list = items(3, 1);
    list[0].seconds = 10;
    let mut receiver = trial.start(list);
    let mut order = Vec::new();
    while let Some(done) = receiver.recv().await {
        order.push(done.index);
    }
    assert_eq!(order, [1, 2, 0]);
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again_and_every_attempt_is_kept() {
    let trial = Trial::new(2);
    let mut list = items(3, 1);
    list[0].failures = vec![Reason::Connection, Reason::ServerError];
    list[1].failures = vec![Reason::Connection; 9];
    list[2].failures = vec![Reason::Authentication];
    let results = all(trial.start(list)).await;
    assert_eq!(results[&0].output, Ok(Ok(0)));
    assert_eq!(results[&1].output, Ok(Err(Reason::Connection)), "the last attempt counts");
    assert_eq!(results[&2].output, Ok(Err(Reason::Authentication)));
    let tries = |index: usize| results[&index].attempts.len();
    assert_eq!([tries(0), tries(1), tries(2)], [3, 3, 1]);
    let attempts = &results[&0].attempts;
    assert_eq!(attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(attempts[1].problem.unwrap().cause, Cause::Reason(Reason::ServerError));
    assert!(attempts[0].waited.unwrap() >= SECOND && attempts[2].waited.is_none());
    assert!(attempts.iter().all(|attempt| attempt.took == SECOND));
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_waits_the_same_whatever_else_runs() {
    let waits = async |jobs| {
        let mut list = items(6, 1);
        for item in &mut list {
            item.failures = vec![Reason::Crashed, Reason::Crashed];
        }
        let results = all(Trial::new(jobs).start(list)).await;
        let attempts = results.into_values().map(|done| done.attempts);
        attempts
            .map(|attempts| attempts.iter().map(|a| a.waited).collect())
            .collect::<Vec<Vec<_>>>()
    };
    assert_eq!(waits(1).await, waits(6).await);
}

#[tokio::test(start_paused = true)]
async fn rate_limits_make_fewer_run_at_once() {
    let trial = Trial::new(8);
    let mut list = items(8, 1);
    for item in &mut list {
        item.failures = vec![Reason::RateLimit];
    }
    let results = all(trial.start(list)).await;
    assert!(results.values().all(|done| done.output.as_ref().unwrap().is_ok()));
    // One burst: halved once, and four of the eight successes made it one larger again.
    assert!((4..=6).contains(&trial.pool.limit()), "{}", trial.pool.limit());
}

#[tokio::test(start_paused = true)]
async fn a_plan_of_failures_is_not_all_under_way_at_once() {
    let trial = Trial::new(3);
    let mut list = items(30, 1);
    for item in &mut list {
        item.failures = vec![Reason::Connection];
    }
    let receiver = trial.start(list);
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(trial.started().len(), 3, "those that wait for their retry count");
    assert_eq!(all(receiver).await.len(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_stops_what_runs_and_starts_nothing_more() {
    let trial = Trial::new(4);
    let mut list = items(100, 10);
    list[1].failures = vec![Reason::Connection; 3];
    list[1].seconds = 1;
    let receiver = trial.start(list);
    sleep(1500 * SECOND / 1000).await;
    trial.cancel.cancel();
    let start = Instant::now();
    let results = all(receiver).await;
    assert_eq!(start.elapsed(), Duration::ZERO, "nobody is waited for");
    assert_eq!(results.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
    let mut cancelled = trial.work.diary.lock().unwrap().cancelled.clone();
    cancelled.sort_unstable();
    assert_eq!(cancelled, [0, 2, 3]);
    assert_eq!(results[&1].output, Ok(Err(Reason::Connection)), "it was waiting for its retry");
    assert_eq!(trial.started().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_before_the_start_starts_nothing() {
    let trial = Trial::new(4);
    trial.cancel.cancel();
    assert!(all(trial.start(items(5, 1))).await.is_empty());
    assert!(trial.started().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_leaves_cancels_the_rest() {
    let trial = Trial::new(2);
    let mut receiver = trial.start(items(100, 1));
    receiver.recv().await.unwrap();
    drop(receiver);
    sleep(10 * SECOND).await;
    assert!(trial.started().len() <= 6, "{:?}", trial.started());
    assert!(!trial.cancel.is_cancelled(), "the caller's token is the caller's");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_slows_the_work_and_loses_nothing() {
    let trial = Trial::new(8);
    let mut receiver = trial.start(items(300, 1));
    sleep(1000 * SECOND).await;
    assert!(trial.started().len() < 100, "{}", trial.started().len());
    let mut count = 0;
    while receiver.recv().await.is_some() {
        count += 1;
    }
    assert_eq!(count, 300);
}

#[tokio::test(start_paused = true)]
async fn a_panic_costs_one_item() {
    let trial = Trial::new(2);
    let mut list = items(5, 1);
    list[2].panics = true;
    let results = all(trial.start(list)).await;
    assert_eq!(results.len(), 5);
    let Err(Panicked { message }) = &results[&2].output else { panic!("it should have failed") };
    assert!(message.contains("scripted panic of 2"), "{message}");
    assert_eq!(results[&2].item.name, 2);
    assert_eq!(trial.pool.limit(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_down_costs_a_few_attempts_and_not_the_whole_list() {
    let trial = Trial::new(4);
    let down = |name| Item { name, failures: vec![Reason::ServerError; 9], ..Item::default() };
    let results = all(trial.start((0..40).map(down).collect())).await;
    let attempts: usize = results.values().map(|done| done.attempts.len()).sum();
    // Four at once, so a few more than five may be under way when it opens; then one after each of three pauses.
    assert!((8..=13).contains(&attempts), "{attempts}");
    assert!(results.len() < 12, "what was not started does not appear: {}", results.len());
}

#[tokio::test(start_paused = true)]
async fn an_outage_that_ends_costs_a_pause_and_all_is_done() {
    let trial = Trial::new(6);
    let failing = |name| Item { name, failures: vec![Reason::ServerError], ..Item::default() };
    let mut items: Vec<Item> = (0..6).map(failing).collect();
    items.extend((6..10).map(|name| Item { name, ..Item::default() }));
    let began = Instant::now();
    let results = all(trial.start(items)).await;
    assert_eq!(results.len(), 10);
    assert!(results.values().all(|done| matches!(done.output, Ok(Ok(_)))));
    assert!(began.elapsed() >= 15 * SECOND, "{:?}", began.elapsed());
}
