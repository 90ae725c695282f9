//! How many may run at once: additive increase, multiplicative decrease, below a ceiling.
//!
//! Permits are handed out in the order of asking. Invariant: the permits that exist (free or held) are the limit plus
//! the debt, and the debt is paid by permits that come back, so a smaller limit holds as soon as it can.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use super::breaker::{Breaker, Pass, ServiceDown};
use super::retry::Problem;

/// However small the limit: so many successes make it larger.
const SUCCESSES_TO_GROW: u32 = 4;

/// How many may run at once. Clones share the limit.
#[derive(Debug, Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ceiling: u32,
    /// That of the service that all work of the pool asks.
    breaker: Breaker,
    semaphore: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    limit: u32,
    /// Permits that are held and will not be handed out again.
    debt: u32,
    /// Grows with every decrease; tells permits that were handed out before from those after.
    epoch: u64,
    /// Successes in a row since the limit changed last.
    successes: u32,
    /// Nothing starts before this time.
    resume: Option<Instant>,
}

/// How the work under a permit went, as far as the number of jobs is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Success,
    /// There were too many requests.
    Pressure {
        /// How long the service asked us to wait; nothing else starts before.
        pause: Option<Duration>,
    },
    /// It says nothing about the number of jobs: a bad key, a crash, a cancellation.
    Neutral,
}

/// The right to run one thing. Dropping it without a verdict is [`Verdict::Neutral`].
#[derive(Debug)]
pub struct Permit {
    shared: Arc<Shared>,
    held: Option<OwnedSemaphorePermit>,
    epoch: u64,
    pass: Option<Pass>,
}

impl Pool {
    /// At most `ceiling` at once, at least one, as long as their service is not down.
    pub fn new(ceiling: u32, breaker: Breaker) -> Self {
        let ceiling = ceiling.max(1);
        let state = State { limit: ceiling, debt: 0, epoch: 0, successes: 0, resume: None };
        let permits = usize::try_from(ceiling).unwrap_or(Semaphore::MAX_PERMITS);
        let semaphore = Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        Self { shared: Arc::new(Shared { ceiling, breaker, semaphore, state: Mutex::new(state) }) }
    }

    /// The most that may run at once: `--jobs`.
    pub fn ceiling(&self) -> u32 {
        self.shared.ceiling
    }

    /// How many may run at once now.
    pub fn limit(&self) -> u32 {
        self.shared.lock().limit
    }

    /// Waits for its turn, and for the end of a pause that a service asked for or needs. There is none when the service
    /// is down.
    pub async fn acquire(&self) -> Result<Permit, ServiceDown> {
        let shared = Arc::clone(&self.shared);
        let Ok(held) = Arc::clone(&shared.semaphore).acquire_owned().await else {
            // Only a closed semaphore refuses, and nobody closes ours.
            return std::future::pending().await;
        };
        // From here on it goes back whatever happens, also when this future is dropped in a pause.
        let mut permit = Permit { shared, held: Some(held), epoch: 0, pass: None };
        loop {
            let (resume, epoch) = {
                let state = permit.shared.lock();
                (state.resume, state.epoch)
            };
            permit.epoch = epoch;
            match resume {
                Some(resume) if resume > Instant::now() => sleep_until(resume).await,
                Some(_) | None => break,
            }
        }
        permit.pass = Some(permit.shared.breaker.pass().await?);
        Ok(permit)
    }
}

impl Permit {
    /// Tells the service's breaker what kept the work from its result, if anything did, and in which words. Work that never
    /// got as far as the service is not told.
    pub fn asked(&mut self, problem: Option<&Problem>, message: &str) {
        if let Some(pass) = self.pass.take() {
            pass.end(problem, message);
        }
    }

    /// Gives the permit back and says how it went.
    pub fn finish(self, verdict: Verdict) {
        match verdict {
            Verdict::Success => self.shared.lock().succeed(self.epoch, &self.shared),
            Verdict::Pressure { pause } => {
                self.shared.lock().shrink(self.epoch, pause, &self.shared);
            }
            Verdict::Neutral => {}
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        let mut state = self.shared.lock();
        if state.debt > 0 {
            state.debt -= 1;
            held.forget();
        }
    }
}

impl Shared {
    /// A panic elsewhere leaves numbers that are still true.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn succeed(&mut self, epoch: u64, shared: &Shared) {
        // What was started under a larger limit says nothing about this one.
        if epoch != self.epoch {
            return;
        }
        self.successes += 1;
        if self.limit < shared.ceiling && self.successes >= self.limit.max(SUCCESSES_TO_GROW) {
            self.limit += 1;
            self.successes = 0;
            if self.debt > 0 {
                self.debt -= 1;
            } else {
                shared.semaphore.add_permits(1);
            }
        }
    }

    fn shrink(&mut self, epoch: u64, pause: Option<Duration>, shared: &Shared) {
        let resume = pause.and_then(|pause| Instant::now().checked_add(pause));
        self.resume = self.resume.max(resume);
        // The others of the same burst were started before we knew.
        if epoch != self.epoch {
            return;
        }
        self.epoch += 1;
        self.successes = 0;
        let smaller = (self.limit / 2).max(1);
        self.debt += self.limit - smaller;
        self.limit = smaller;
        let free =
            shared.semaphore.forget_permits(usize::try_from(self.debt).unwrap_or(usize::MAX));
        self.debt -= u32::try_from(free).unwrap_or(self.debt).min(self.debt);
    }
}

#[cfg(test)]
mod tests;
