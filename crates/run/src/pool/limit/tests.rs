//! The limit with a stopped clock.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use super::{Permit, Pool, Verdict};
use crate::pool::Services;

const PRESSURE: Verdict = Verdict::Pressure { pause: None };
const NOT_NOW: Duration = Duration::from_secs(100);

fn fresh(jobs: u32) -> Pool {
    Pool::new(jobs, Services::default().breaker("s"))
}

async fn take(pool: &Pool, count: usize) -> Vec<Permit> {
    let mut permits = Vec::new();
    for _ in 0..count {
        permits.push(pool.acquire().await.unwrap());
    }
    permits
}

async fn is_full(pool: &Pool) -> bool {
    timeout(NOT_NOW, pool.acquire()).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn a_ceiling_is_never_exceeded() {
    let pool = fresh(3);
    let held = take(&pool, 3).await;
    assert!(is_full(&pool).await);
    drop(held);
    for _ in 0..100 {
        pool.acquire().await.unwrap().finish(Verdict::Success);
    }
    assert_eq!((pool.limit(), pool.ceiling()), (3, 3));
    let _held = take(&pool, 3).await;
    assert!(is_full(&pool).await);
    assert_eq!(fresh(0).limit(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_rate_limits_halves_once() {
    let pool = fresh(16);
    for permit in take(&pool, 16).await {
        permit.finish(PRESSURE);
    }
    assert_eq!(pool.limit(), 8);
    for expected in [4, 2, 1, 1] {
        pool.acquire().await.unwrap().finish(PRESSURE);
        assert_eq!(pool.limit(), expected, "each is a burst of its own");
    }
    let _held = pool.acquire().await.unwrap();
    assert!(is_full(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn a_smaller_limit_holds_although_more_are_running() {
    let pool = fresh(8);
    let mut held = take(&pool, 8).await;
    held.pop().unwrap().finish(PRESSURE);
    assert_eq!(pool.limit(), 4);
    for running in (4..=7).rev() {
        assert_eq!(held.len(), running);
        assert!(is_full(&pool).await, "{running} are running");
        drop(held.pop());
    }
    held.push(pool.acquire().await.unwrap());
    assert!(is_full(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn a_run_of_successes_grows_by_one() {
    let pool = fresh(8);
    for _ in 0..3 {
        pool.acquire().await.unwrap().finish(PRESSURE);
    }
    assert_eq!(pool.limit(), 1);
    let mut limits = Vec::new();
    for _ in 0..40 {
        pool.acquire().await.unwrap().finish(Verdict::Success);
        limits.push(pool.limit());
    }
    // Four each while the limit is below four, then as many as the limit.
    let grown: Vec<usize> = (1..40).filter(|at| limits[*at] > limits[at - 1]).collect();
    assert_eq!(grown, [3, 7, 11, 15, 20, 26, 33]);
    assert_eq!(pool.limit(), 8);
    let _held = take(&pool, 8).await;
    assert!(is_full(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn successes_from_before_the_decrease_do_not_grow_it() {
    let pool = fresh(16);
    let mut held = take(&pool, 16).await;
    held.pop().unwrap().finish(PRESSURE);
    for permit in held {
        permit.finish(Verdict::Success);
    }
    assert_eq!(pool.limit(), 8);
}

#[tokio::test(start_paused = true)]
async fn growth_while_too_many_are_running_pays_the_debt() {
    let pool = fresh(8);
    let mut old = take(&pool, 8).await;
    old.pop().unwrap().finish(PRESSURE);
    old.truncate(3);
    for _ in 0..4 {
        pool.acquire().await.unwrap().finish(Verdict::Success);
    }
    assert_eq!(pool.limit(), 5);
    let _new = take(&pool, 2).await;
    assert!(is_full(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_no_pressure_changes_nothing() {
    let pool = fresh(4);
    for _ in 0..10 {
        pool.acquire().await.unwrap().finish(Verdict::Neutral);
        drop(pool.acquire().await.unwrap());
    }
    assert_eq!(pool.limit(), 4);
    let _held = take(&pool, 4).await;
    assert!(is_full(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn nothing_starts_in_a_pause_that_was_asked_for() {
    let pool = fresh(4);
    let start = Instant::now();
    let pause = Some(Duration::from_secs(30));
    let other = pool.acquire().await.unwrap();
    pool.acquire().await.unwrap().finish(Verdict::Pressure { pause });
    other.finish(Verdict::Pressure { pause: Some(Duration::from_secs(10)) });
    let permit = pool.acquire().await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(30), "the longer pause counts");
    permit.finish(Verdict::Success);
    pool.acquire().await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(31));
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_waiting_takes_nothing_along() {
    let pool = fresh(1);
    let pause = Some(Duration::from_secs(1000));
    pool.acquire().await.unwrap().finish(Verdict::Pressure { pause });
    assert!(is_full(&pool).await, "this one gave up in the pause");
    sleep(Duration::from_secs(1000)).await;
    let held = pool.acquire().await.unwrap();
    assert!(is_full(&pool).await, "this one gave up in the queue");
    drop(held);
    pool.acquire().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn permits_are_handed_out_in_the_order_of_asking() {
    let pool = fresh(2);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for number in 0..50 {
        let (pool, sender) = (pool.clone(), sender.clone());
        tokio::spawn(async move {
            let permit = pool.acquire().await.unwrap();
            sender.send(number).unwrap();
            sleep(Duration::from_secs(1)).await;
            // A little of everything: no verdict lets a later one pass.
            permit.finish(match number % 10 {
                3 => PRESSURE,
                7 => Verdict::Neutral,
                _ => Verdict::Success,
            });
        });
        tokio::task::yield_now().await;
    }
    drop(sender);
    let mut order = Vec::new();
    while let Some(number) = receiver.recv().await {
        order.push(number);
    }
    assert_eq!(order, (0..50).collect::<Vec<_>>(), "everybody, in order");
}

#[tokio::test(start_paused = true)]
async fn the_limit_settles_around_what_a_service_takes() {
    // A service that takes six at once and refuses the seventh.
    let (pool, running) = (fresh(32), std::sync::Arc::new(std::sync::Mutex::new(0_u32)));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for _ in 0..400 {
        let (pool, running, sender) = (pool.clone(), running.clone(), sender.clone());
        tokio::spawn(async move {
            loop {
                let permit = pool.acquire().await.unwrap();
                let taken = {
                    let mut running = running.lock().unwrap();
                    let taken = *running < 6;
                    *running += u32::from(taken);
                    taken
                };
                if !taken {
                    permit.finish(PRESSURE);
                    sleep(Duration::from_secs(1)).await;
                    continue;
                }
                sleep(Duration::from_secs(1)).await;
                *running.lock().unwrap() -= 1;
                permit.finish(Verdict::Success);
                sender.send(pool.limit()).unwrap();
                return;
            }
        });
    }
    drop(sender);
    let mut limits = Vec::new();
    while let Some(limit) = receiver.recv().await {
        limits.push(limit);
    }
    assert_eq!(limits.len(), 400, "nobody starved");
    let later = &limits[50..350];
    assert!(later.iter().all(|limit| (2..=8).contains(limit)), "{later:?}");
    assert!(later.contains(&6), "{later:?}");
}
