//! Carries out a list of work items: starts them in order, retries, gives results as they come, stops cleanly.
//!
//! One task drives ([`Driver`]); each item that is under way has a task of its own. Invariant: never more items are
//! under way, waiting for their retry included, than the pool's ceiling, so a plan of any length needs little memory.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::breaker::ServiceDown;
use super::limit::{Permit, Pool, Verdict};
use super::retry::{Attempt, Problem, Retries, RetryRules};

/// Results that may wait for their reader; then the next ones wait to be finished.
const WAITING_RESULTS: usize = 64;

/// How a kind of work is carried out.
pub trait Work: Send + Sync + 'static {
    /// One unit of work: self-contained, so that another machine could do it.
    type Item: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What comes out of it, good or bad.
    type Output: Send + 'static;

    /// Makes one attempt, counted from 1. When `cancel` fires it must end soon, with whatever it has.
    fn attempt(
        &self,
        item: &Self::Item,
        number: u32,
        cancel: CancellationToken,
    ) -> impl Future<Output = Self::Output> + Send;

    /// What kept an attempt from its result, if anything did.
    fn problem(&self, output: &Self::Output) -> Option<Problem>;

    /// What an attempt says of the service behind it.
    fn asked(&self, output: &Self::Output) -> Asked;
}

/// What an attempt says of the service behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It was asked; a problem was told in these words.
    Yes { message: String },
    /// Nobody got as far, or the attempt was stopped by us.
    No,
}

/// An item that is done.
#[derive(Debug)]
pub struct Done<I, O> {
    /// Its place in the list.
    pub index: usize,
    pub item: Arc<I>,
    /// What the last attempt gave.
    pub output: Result<O, Panicked>,
    /// All attempts, in order; empty after a panic.
    pub attempts: Vec<Attempt>,
}

/// The work itself broke; it is a bug of ours and no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an internal error stopped this item: {message}")]
pub struct Panicked {
    pub message: String,
}

/// Carries out `items`, which start in their order, and gives results as they come.
///
/// The channel closes when all are done. After `cancel` nothing more is started, what runs is cancelled, and the channel
/// closes when it has ended; items that were not started do not appear. Dropping the receiver cancels, too. When the
/// service of the pool is down nothing more is started either, but what runs goes on.
pub fn run_all<W: Work>(
    work: Arc<W>,
    items: Vec<W::Item>,
    pool: &Pool,
    rules: RetryRules,
    seed: u64,
    cancel: &CancellationToken,
) -> mpsc::Receiver<Done<W::Item, W::Output>> {
    let (sender, receiver) = mpsc::channel(WAITING_RESULTS);
    let driver = Driver {
        work,
        pool: pool.clone(),
        rules,
        seed,
        cancel: cancel.child_token(),
        sender,
        tasks: JoinSet::new(),
        under_way: HashMap::new(),
    };
    tokio::spawn(driver.drive(items));
    receiver
}

type Ran<O> = (O, Vec<Attempt>);

struct Driver<W: Work> {
    work: Arc<W>,
    pool: Pool,
    rules: RetryRules,
    seed: u64,
    cancel: CancellationToken,
    sender: mpsc::Sender<Done<W::Item, W::Output>>,
    tasks: JoinSet<Ran<W::Output>>,
    under_way: HashMap<Id, (usize, Arc<W::Item>)>,
}

impl<W: Work> Driver<W> {
    async fn drive(mut self, items: Vec<W::Item>) {
        let ceiling = usize::try_from(self.pool.ceiling()).unwrap_or(usize::MAX);
        let mut items = items.into_iter().enumerate().peekable();
        // Kept from turn to turn, because dropping it would lose our place in the queue.
        let mut turn: Option<Turn> = None;
        let mut is_down = false;
        loop {
            let may_start = items.peek().is_some()
                && self.tasks.len() < ceiling
                && !self.cancel.is_cancelled()
                && !is_down;
            if may_start && turn.is_none() {
                let pool = self.pool.clone();
                turn = Some(Box::pin(async move { pool.acquire().await }));
            }
            if !may_start && self.tasks.is_empty() {
                return;
            }
            tokio::select! {
                biased;
                Some(joined) = self.tasks.join_next_with_id() => self.report(joined).await,
                () = self.cancel.cancelled(), if may_start => turn = None,
                permit = wait(&mut turn), if may_start => {
                    turn = None;
                    match permit {
                        Err(_) => is_down = true,
                        Ok(permit) => if let Some((index, item)) = items.next() {
                            self.start(index, Arc::new(item), permit);
                        }
                    }
                }
            }
        }
    }

    fn start(&mut self, index: usize, item: Arc<W::Item>, permit: Permit) {
        let attempts = Attempts {
            work: Arc::clone(&self.work),
            item: Arc::clone(&item),
            pool: self.pool.clone(),
            retries: self.rules.start(self.seed, index as u64),
            cancel: self.cancel.clone(),
        };
        let handle = self.tasks.spawn(attempts.make(permit));
        self.under_way.insert(handle.id(), (index, item));
    }

    async fn report(&mut self, joined: Result<(Id, Ran<W::Output>), JoinError>) {
        let (id, output, attempts) = match joined {
            Ok((id, (output, attempts))) => (id, Ok(output), attempts),
            Err(error) => (error.id(), Err(error.into()), Vec::new()),
        };
        let Some((index, item)) = self.under_way.remove(&id) else { return };
        if self.sender.send(Done { index, item, output, attempts }).await.is_err() {
            // Nobody is interested any more.
            self.cancel.cancel();
        }
    }
}

type Turn = Pin<Box<dyn Future<Output = Result<Permit, ServiceDown>> + Send>>;

async fn wait(turn: &mut Option<Turn>) -> Result<Permit, ServiceDown> {
    match turn {
        Some(turn) => turn.await,
        None => std::future::pending().await,
    }
}

impl From<JoinError> for Panicked {
    fn from(error: JoinError) -> Self {
        let message = match error.try_into_panic() {
            Ok(panic) => panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "a panic without words".to_owned()),
            Err(error) => error.to_string(),
        };
        Self { message }
    }
}

/// All attempts at one item.
struct Attempts<W: Work> {
    work: Arc<W>,
    item: Arc<W::Item>,
    pool: Pool,
    retries: Retries,
    cancel: CancellationToken,
}

impl<W: Work> Attempts<W> {
    async fn make(mut self, permit: Permit) -> Ran<W::Output> {
        let mut permit = permit;
        let mut made: Vec<Attempt> = Vec::new();
        let mut number = 1;
        loop {
            let started = Instant::now();
            let output = self.work.attempt(&self.item, number, self.cancel.child_token()).await;
            let problem = self.work.problem(&output);
            if let Asked::Yes { message } = self.work.asked(&output) {
                permit.asked(problem.as_ref(), &message);
            }
            permit.finish(self.verdict(problem.as_ref()));
            let delay = problem.and_then(|problem| self.retries.after(&problem));
            let delay = delay.filter(|_| !self.cancel.is_cancelled());
            made.push(Attempt { number, took: started.elapsed(), problem, waited: delay });
            let Some(delay) = delay else { return (output, made) };
            tracing::info!(attempt = number, ?problem, wait = ?delay, "retried");
            // The permit is free while we wait: others may have better luck.
            let next = async {
                sleep(delay).await;
                self.pool.acquire().await
            };
            permit = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return (output, made),
                permit = next => if let Ok(permit) = permit {
                    permit
                } else {
                    // Nobody waits for a next one any more.
                    if let Some(last) = made.last_mut() {
                        last.waited = None;
                    }
                    return (output, made);
                },
            };
            number += 1;
        }
    }

    fn verdict(&self, problem: Option<&Problem>) -> Verdict {
        match problem {
            Some(problem) if problem.is_pressure() => {
                Verdict::Pressure { pause: self.retries.pause(problem) }
            }
            Some(_) => Verdict::Neutral,
            None if self.cancel.is_cancelled() => Verdict::Neutral,
            None => Verdict::Success,
        }
    }
}

#[cfg(test)]
mod tests;
