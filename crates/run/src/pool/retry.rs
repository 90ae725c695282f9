//! Which failures are tried again, and how long to wait before.
//!
//! Two sets of rules. A **run** is a measurement: only what the model's service or this machine did is tried again,
//! because an agent that crashed, timed out or gave a bad answer has given its result, and retrying until it works
//! would bias the benchmark. A **probe** asks one question; whatever kept it from an answer may be tried again.
//! Neither ever retries what cannot pass: a refused key, an unknown model, a rejected request.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};
use skillgauge_format::transcript::Reason;

/// What kept an attempt from its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub cause: Cause,
    /// How long the service asked us to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The agent, or the service behind it, as the transcript's end says.
    Reason(Reason),
    /// This machine: no process, no space. The program never had its chance.
    Machine,
}

impl Problem {
    /// A problem that a transcript shows.
    pub fn new(reason: Reason) -> Self {
        Self { cause: Cause::Reason(reason), retry_after: None }
    }

    /// A failure of this machine.
    pub fn machine() -> Self {
        Self { cause: Cause::Machine, retry_after: None }
    }

    /// The same with a delay that the service asked for.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Whether there were too many requests: a reason to make fewer at once.
    pub fn is_pressure(&self) -> bool {
        matches!(self.cause, Cause::Reason(Reason::RateLimit | Reason::Overloaded))
    }
}

/// What to do about a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Never,
    /// Try again after a while.
    Backoff,
    /// Try again if the service said when; otherwise it takes hours.
    WhenTold,
}

/// One row: a reason, and what runs and probes do about it. Reasons that are not here are never tried again.
type Row = (Reason, Rule, Rule);

const TABLE: [Row; 12] = [
    (Reason::RateLimit, Rule::Backoff, Rule::Backoff),
    (Reason::UsageLimit, Rule::WhenTold, Rule::WhenTold),
    (Reason::Overloaded, Rule::Backoff, Rule::Backoff),
    (Reason::ServerError, Rule::Backoff, Rule::Backoff),
    (Reason::Connection, Rule::Backoff, Rule::Backoff),
    (Reason::BadResponse, Rule::Backoff, Rule::Backoff),
    (Reason::Timeout, Rule::Never, Rule::Backoff),
    (Reason::Silence, Rule::Never, Rule::Backoff),
    (Reason::NoTerminalEvent, Rule::Never, Rule::Backoff),
    (Reason::MalformedStream, Rule::Never, Rule::Backoff),
    (Reason::Crashed, Rule::Never, Rule::Backoff),
    (Reason::Other, Rule::Never, Rule::Backoff),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryRules {
    column: Column,
    /// How many attempts there are after the first.
    pub retries: u32,
    /// The delay before the second attempt, before jitter; it doubles each time.
    pub first_delay: Duration,
    /// The longest delay of our own choice.
    pub max_delay: Duration,
    /// The longest delay that a service may ask for; when it asks for more we give up.
    pub max_asked: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Runs,
    Probes,
}

impl RetryRules {
    /// For runs: only what the service or this machine did.
    pub fn for_runs() -> Self {
        Self::new(Column::Runs)
    }

    /// For probes: whatever may pass.
    pub fn for_probes() -> Self {
        Self::new(Column::Probes)
    }

    fn new(column: Column) -> Self {
        Self {
            column,
            retries: 2,
            first_delay: Duration::from_secs(2),
            max_delay: Duration::from_mins(1),
            max_asked: Duration::from_mins(5),
        }
    }

    /// The same with another number of retries.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// What is done about a problem.
    pub fn rule(&self, cause: Cause) -> Rule {
        let reason = match cause {
            Cause::Machine => return Rule::Backoff,
            Cause::Reason(reason) => reason,
        };
        let row = TABLE.iter().find(|(known, ..)| *known == reason);
        row.map_or(Rule::Never, |(_, runs, probes)| match self.column {
            Column::Runs => *runs,
            Column::Probes => *probes,
        })
    }

    /// The retries of one work item. The same seed and index give the same delays, whatever runs beside it.
    pub fn start(&self, seed: u64, index: u64) -> Retries {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(index);
        Retries { rules: *self, random, failed: 0 }
    }
}

/// The retries of one work item.
#[derive(Debug, Clone)]
pub struct Retries {
    rules: RetryRules,
    random: ChaCha8Rng,
    failed: u32,
}

impl Retries {
    /// How long to wait before the next attempt; `None` when there is to be none.
    pub fn after(&mut self, problem: &Problem) -> Option<Duration> {
        let rules = self.rules;
        if self.failed >= rules.retries {
            return None;
        }
        match (rules.rule(problem.cause), problem.retry_after) {
            (Rule::Never, _) | (Rule::WhenTold, None) => return None,
            (_, Some(asked)) if asked > rules.max_asked => return None,
            (Rule::Backoff | Rule::WhenTold, _) => {}
        }
        let doublings = self.failed.min(20);
        self.failed += 1;
        let backoff = rules.first_delay.saturating_mul(1 << doublings).min(rules.max_delay);
        // Between half of it and all of it: those that failed together do not come back together.
        let backoff = backoff / 2 + self.part_of(backoff / 2);
        Some(match problem.retry_after {
            Some(asked) => backoff.max(asked.saturating_add(self.part_of(rules.first_delay / 2))),
            None => backoff,
        })
    }

    /// How long everybody should wait who asks the same service; `None` when that is too long to wait at all.
    pub(super) fn pause(&self, problem: &Problem) -> Option<Duration> {
        problem.retry_after.filter(|asked| *asked <= self.rules.max_asked)
    }

    fn part_of(&mut self, span: Duration) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64")]
        let part = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        span.mul_f64(part)
    }
}

/// One attempt, as it is kept in a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Which one, from 1.
    pub number: u32,
    pub took: Duration,
    /// What kept it from its result, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// How long we waited before the next one; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn delays(rules: RetryRules, problem: Problem, seed: u64, index: u64) -> Vec<Duration> {
        let mut retries = rules.start(seed, index);
        std::iter::from_fn(|| retries.after(&problem)).collect()
    }

    #[test]
    fn nothing_is_tried_again_that_cannot_pass() {
        for rules in [RetryRules::for_runs(), RetryRules::for_probes()] {
            for reason in Reason::ALL.into_iter().filter(|reason| !reason.may_pass()) {
                assert_eq!(rules.rule(Cause::Reason(reason)), Rule::Never, "{reason}");
            }
        }
        for reason in [Reason::Authentication, Reason::ModelNotFound, Reason::BadRequest] {
            assert!(delays(RetryRules::for_probes(), Problem::new(reason), 1, 1).is_empty());
        }
    }

    #[test]
    fn a_probe_tries_everything_again_that_may_pass() {
        for reason in Reason::ALL.into_iter().filter(|reason| reason.may_pass()) {
            assert_ne!(
                RetryRules::for_probes().rule(Cause::Reason(reason)),
                Rule::Never,
                "{reason}"
            );
        }
    }

    #[test]
    fn a_run_tries_again_only_what_the_service_or_the_machine_did() {
        use Reason::{BadResponse, Connection, Overloaded, RateLimit, ServerError};
        let again: Vec<Reason> = Reason::ALL
            .into_iter()
            .filter(|reason| RetryRules::for_runs().rule(Cause::Reason(*reason)) == Rule::Backoff)
            .collect();
        assert_eq!(again, [RateLimit, Overloaded, ServerError, Connection, BadResponse]);
        assert_eq!(RetryRules::for_runs().rule(Cause::Machine), Rule::Backoff);
    }

    #[test]
    fn a_used_up_plan_is_tried_again_only_when_we_know_when() {
        let problem = Problem::new(Reason::UsageLimit);
        assert!(delays(RetryRules::for_probes(), problem, 1, 1).is_empty());
        assert_eq!(delays(RetryRules::for_probes(), problem.retry_after(SECOND), 1, 1).len(), 2);
    }

    #[test]
    fn the_same_seed_gives_the_same_delays_and_each_item_its_own() {
        let of = |seed, index| {
            let rules = RetryRules::for_probes().retries(5);
            delays(rules, Problem::new(Reason::RateLimit), seed, index)
        };
        assert_eq!(of(7, 3), of(7, 3));
        assert_ne!(of(7, 3), of(7, 4));
        assert_ne!(of(7, 3), of(8, 3));
        assert_eq!(of(7, 3).len(), 5);
    }

    #[test]
    fn the_delays_of_a_seed_are_the_same_on_every_machine() {
        let rules = RetryRules::for_probes();
        let delays = delays(rules, Problem::new(Reason::RateLimit), 42, 0);
        let millis: Vec<u128> = delays.iter().map(Duration::as_millis).collect();
        assert_eq!(millis, [1681, 3900]);
    }

    #[test]
    fn what_a_service_asks_for_is_honoured_up_to_a_limit() {
        let rules = RetryRules::for_runs().retries(1);
        let asked = |seconds| {
            let problem = Problem::new(Reason::RateLimit).retry_after(seconds * SECOND);
            delays(rules, problem, 1, 1).first().copied()
        };
        let delay = asked(30).unwrap();
        assert!(delay >= 30 * SECOND && delay <= 31 * SECOND, "{delay:?}");
        assert!(asked(0).unwrap() >= SECOND, "a service that asks for nothing gets our own delay");
        assert_eq!(asked(301), None);
    }

    proptest! {
        #[test]
        fn a_delay_lies_between_half_of_the_backoff_and_all_of_it(seed: u64, index: u64) {
            let rules = RetryRules::for_runs().retries(30);
            let delays = delays(rules, Problem::new(Reason::ServerError), seed, index);
            for (failed, delay) in delays.iter().enumerate() {
                let doublings = u32::try_from(failed.min(20)).unwrap();
                let backoff = (2 * SECOND).saturating_mul(1 << doublings).min(60 * SECOND);
                prop_assert!(*delay >= backoff / 2 && *delay <= backoff, "{:?}", delay);
            }
            prop_assert_eq!(delays.len(), 30);
        }
    }
}
