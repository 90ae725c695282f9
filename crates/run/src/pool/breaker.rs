//! A circuit breaker: a service that fails again and again is left alone for a while, and given up when that does not help.
//!
//! ```text
//! closed --(ERRORS service errors of one kind in a row)--> open: nothing starts --(pause)--> one try decides
//!    ^                                                      ^                                  |      |
//!    |                                                      '-----(failed: a longer pause)-----'      |
//!    '-----------------------------------(it worked)--------------------------------------------------'
//! after the last pause: down, nothing more starts
//! ```
//!
//! [`Services`] are all that a command asks: each has a breaker of its own, and while one is open nobody starts anything,
//! because an agent's run is of no use when its judge is away. Attempts that were under way when a breaker opened say
//! nothing about what comes after. Waiting is on tokio's clock, so tests can stop it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skillgauge_format::transcript::Reason;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::retry::{Cause, Problem};

/// So many service errors of one kind in a row open a breaker.
pub const ERRORS: u32 = 5;
/// How long to wait before each try that decides, when nobody says.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(15), Duration::from_secs(30), Duration::from_mins(1)];
/// The longest pause that a service may ask for.
const LONGEST: Duration = Duration::from_mins(5);

/// How a breaker works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerRules {
    /// How long to wait before each try that decides; without any the breaker never opens.
    pub pauses: Vec<Duration>,
    pub after_last: AfterLast,
}

/// What happens when the try after the last pause fails, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLast {
    /// The service is down: nothing more is started.
    Stop,
    /// The last pause comes again, for as long as it takes. For a worker that nobody waits for.
    PauseAgain,
}

impl BreakerRules {
    /// For recordings: they get no better by waiting.
    pub fn never() -> Self {
        Self { pauses: Vec::new(), after_last: AfterLast::PauseAgain }
    }
}

impl Default for BreakerRules {
    fn default() -> Self {
        Self { pauses: PAUSES.to_vec(), after_last: AfterLast::Stop }
    }
}

/// What happens to a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceEvent {
    /// Nothing is started for a while.
    Paused { service: String, reason: Reason, message: String, errors: u32, pause: Duration },
    /// The try after a pause worked.
    Back { service: String },
}

impl fmt::Display for ServiceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused { service, reason, message, errors, pause } => {
                let said = said(*reason, message);
                let pause = seconds(*pause);
                write!(
                    f,
                    "pausing for {pause}: {service} failed {errors} times in a row ({said}); then one try decides"
                )
            }
            Self::Back { service } => write!(f, "{service} works again"),
        }
    }
}

/// A service that was given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{service} failed {errors} times in a row{} ({})",
    after(pauses),
    said(*reason, message)
)]
pub struct ServiceDown {
    pub service: String,
    pub reason: Reason,
    pub message: String,
    /// Failures in a row, the tries after pauses included.
    pub errors: u32,
    pub pauses: Vec<Duration>,
}

impl ServiceDown {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self.reason {
            Reason::RateLimit => {
                "lower --jobs or wait until the limit resets, then run the same command again to resume"
            }
            Reason::Connection => {
                "check the network, the proxy and the base URL (`skillgauge doctor`), then run the same command again to resume"
            }
            _ => {
                "see the status page of the service, or the log of your gateway; then run the same command again to resume"
            }
        }
    }
}

fn after(pauses: &[Duration]) -> String {
    if pauses.is_empty() {
        return String::new();
    }
    let pauses: Vec<String> = pauses.iter().map(|pause| seconds(*pause)).collect();
    format!(", the last {} after pauses of {}", pauses.len(), pauses.join(", "))
}

fn said(reason: Reason, message: &str) -> String {
    if message.is_empty() { reason.to_string() } else { format!("{reason}: {message}") }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds => format!("{seconds} s"),
    }
}

/// Whether a problem is one of the service's and not of what was asked.
fn of_service(problem: &Problem) -> Option<Reason> {
    match problem.cause {
        Cause::Reason(
            reason @ (Reason::RateLimit
            | Reason::Overloaded
            | Reason::ServerError
            | Reason::Connection
            | Reason::BadResponse),
        ) => Some(reason),
        Cause::Reason(_) | Cause::Machine => None,
    }
}

/// Somebody who wants to know. Must not block.
type OnServiceEvent = Box<dyn Fn(&ServiceEvent) + Send + Sync>;

/// All services that a command asks. Clones share them.
#[derive(Clone)]
pub struct Services {
    shared: Arc<Shared>,
}

struct Shared {
    rules: BreakerRules,
    states: Mutex<BTreeMap<String, State>>,
    changed: Notify,
    on_event: OnServiceEvent,
}

#[derive(Debug)]
struct State {
    /// The kind of the last errors, and how many there were in a row.
    errors: Option<(Reason, u32)>,
    message: String,
    /// Grows when the breaker opens; tells attempts that began before from those after.
    epoch: u64,
    /// The pauses since it opened.
    pauses: Vec<Duration>,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Closed,
    /// Nothing starts before; then one try decides.
    Open(Instant),
    /// The try that decides is under way.
    Trying,
    Down,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").field("rules", &self.shared.rules).finish_non_exhaustive()
    }
}

/// Nobody is told, with the usual rules.
impl Default for Services {
    fn default() -> Self {
        Self::new(BreakerRules::default(), |_| {})
    }
}

impl Services {
    pub fn new(
        rules: BreakerRules,
        on_event: impl Fn(&ServiceEvent) + Send + Sync + 'static,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                rules,
                states: Mutex::default(),
                changed: Notify::new(),
                on_event: Box::new(on_event),
            }),
        }
    }

    /// The breaker of one of them. The same name gives the same one.
    pub fn breaker(&self, service: impl Into<String>) -> Breaker {
        Breaker { services: self.clone(), service: service.into() }
    }

    /// One that was given up, if any was.
    pub fn down(&self) -> Option<ServiceDown> {
        let states = self.lock();
        let mut down = states.iter().filter(|(_, state)| matches!(state.phase, Phase::Down));
        down.next().map(|(service, state)| state.down(service))
    }

    /// Whether one of them is out of order at the moment.
    pub fn is_troubled(&self) -> bool {
        self.lock().values().any(|state| !matches!(state.phase, Phase::Closed))
    }

    /// When the last of the pauses ends; nothing if nobody pauses.
    fn paused_until(states: &BTreeMap<String, State>) -> Option<Instant> {
        let until = states.values().filter_map(|state| match state.phase {
            Phase::Open(until) => Some(until),
            Phase::Closed | Phase::Trying | Phase::Down => None,
        });
        until.max().filter(|until| *until > Instant::now())
    }

    /// Waits for the end of all pauses: for whoever hands out work and does not ask himself.
    pub async fn pauses_over(&self) {
        loop {
            let until = Self::paused_until(&self.lock());
            let Some(until) = until else { return };
            sleep_until(until).await;
        }
    }

    /// A panic elsewhere leaves states that are still true.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, State>> {
        self.shared.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The breaker of one service.
#[derive(Clone, Debug)]
pub struct Breaker {
    services: Services,
    service: String,
}

/// The right to ask a service once. Dropped without an end, it says nothing.
#[derive(Debug)]
pub struct Pass {
    breaker: Breaker,
    epoch: u64,
    is_open: bool,
}

impl Breaker {
    /// Waits for the end of all pauses, and of the try that decides about this service.
    pub async fn pass(&self) -> Result<Pass, ServiceDown> {
        let shared = &self.services.shared;
        loop {
            let changed = shared.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            let until = {
                let mut states = self.services.lock();
                let down = |state: &State| matches!(state.phase, Phase::Down);
                if let Some((service, state)) = states.iter().find(|(_, state)| down(state)) {
                    return Err(state.down(service));
                }
                match Services::paused_until(&states) {
                    Some(until) => Some(until),
                    None => match self.enter(&mut states) {
                        Some(pass) => return Ok(pass),
                        None => None,
                    },
                }
            };
            match until {
                Some(until) => sleep_until(until).await,
                None => changed.await,
            }
        }
    }

    /// A pass, unless somebody else's try decides.
    fn enter(&self, states: &mut BTreeMap<String, State>) -> Option<Pass> {
        let state = states.entry(self.service.clone()).or_insert_with(State::new);
        match state.phase {
            Phase::Closed => {}
            Phase::Open(_) => state.phase = Phase::Trying,
            Phase::Trying | Phase::Down => return None,
        }
        Some(Pass { breaker: self.clone(), epoch: state.epoch, is_open: true })
    }
}

impl Pass {
    /// Says how it went: what kept it from its result, if anything did, and in which words.
    pub fn end(mut self, problem: Option<&Problem>, message: &str) {
        self.is_open = false;
        let shared = Arc::clone(&self.breaker.services.shared);
        let service = &self.breaker.service;
        let event = {
            let mut states = self.breaker.services.lock();
            let Some(state) = states.get_mut(service) else { return };
            // What was under way when the breaker opened says nothing about now.
            if state.epoch != self.epoch {
                return;
            }
            state.take(service, problem, message, &shared.rules)
        };
        shared.changed.notify_waiters();
        if let Some(event) = event {
            tracing::info!(%event, "service");
            (shared.on_event)(&event);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let mut states = self.breaker.services.lock();
        if let Some(state) = states.get_mut(&self.breaker.service)
            && state.epoch == self.epoch
            && matches!(state.phase, Phase::Trying)
        {
            // It was not tried; somebody else may.
            state.phase = Phase::Open(Instant::now());
        }
        drop(states);
        self.breaker.services.shared.changed.notify_waiters();
    }
}

impl State {
    fn new() -> Self {
        Self {
            errors: None,
            message: String::new(),
            epoch: 0,
            pauses: Vec::new(),
            phase: Phase::Closed,
        }
    }

    fn down(&self, service: &str) -> ServiceDown {
        let (reason, errors) = self.errors.unwrap_or((Reason::Other, 0));
        ServiceDown {
            service: service.to_owned(),
            reason,
            message: self.message.clone(),
            errors,
            pauses: self.pauses.clone(),
        }
    }

    fn take(
        &mut self,
        service: &str,
        problem: Option<&Problem>,
        message: &str,
        rules: &BreakerRules,
    ) -> Option<ServiceEvent> {
        let is_trying = matches!(self.phase, Phase::Trying);
        let Some((problem, reason)) = problem.and_then(|it| Some((it, of_service(it)?))) else {
            // A crash or a bad answer is no word of the service's, unless it was the try: then somebody answered.
            if problem.is_none() || is_trying {
                self.errors = None;
                (self.phase, self.pauses) = (Phase::Closed, Vec::new());
            }
            return is_trying.then(|| ServiceEvent::Back { service: service.to_owned() });
        };
        let before = self.errors.filter(|(known, _)| *known == reason || is_trying);
        let errors = before.map_or(1, |(_, count)| count.saturating_add(1));
        self.errors = Some((reason, errors));
        message.clone_into(&mut self.message);
        if rules.pauses.is_empty() || (!is_trying && errors < ERRORS) {
            return None;
        }
        self.epoch += 1;
        self.open(service, problem.retry_after, rules)
    }

    /// Pauses, or gives up when all pauses were of no use.
    fn open(
        &mut self,
        service: &str,
        asked: Option<Duration>,
        rules: &BreakerRules,
    ) -> Option<ServiceEvent> {
        let usual = match (rules.pauses.get(self.pauses.len()), rules.after_last) {
            (Some(pause), _) => Some(*pause),
            (None, AfterLast::PauseAgain) => rules.pauses.last().copied(),
            (None, AfterLast::Stop) => None,
        };
        let asked = asked.unwrap_or_default();
        // Whoever asks for more than we are ready to wait gets what he wants: nobody comes.
        let is_too_long = asked > LONGEST && rules.after_last == AfterLast::Stop;
        let Some(pause) = usual.filter(|_| !is_too_long) else {
            self.phase = Phase::Down;
            return None;
        };
        let pause = pause.max(asked.min(LONGEST));
        if self.pauses.len() < rules.pauses.len() {
            self.pauses.push(pause);
        }
        self.phase = Phase::Open(Instant::now() + pause);
        let (reason, errors) = self.errors?;
        let (service, message) = (service.to_owned(), self.message.clone());
        Some(ServiceEvent::Paused { service, reason, message, errors, pause })
    }
}

#[cfg(test)]
mod tests;
