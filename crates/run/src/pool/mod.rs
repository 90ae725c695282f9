//! Carries out many runs or probes: how many at once, and what to try again.
//!
//! [`run_all`] takes work items in the order of the plan and gives their results as they come. A [`Pool`] says how many
//! may run at once: never more than `--jobs`, fewer after a rate limit, more again when it goes well. [`RetryRules`] say
//! which failures are tried again and how long to wait before. [`Services`] have a circuit breaker each: one that fails
//! again and again is left alone for a while, and then given up.
//!
//! All waiting is on tokio's clock, so tests can stop it; all chance comes from a seed.

mod bounded;
mod breaker;
mod limit;
mod retry;
mod schedule;

pub use bounded::Bounded;
pub use breaker::{
    AfterLast, Breaker, BreakerRules, ERRORS, Pass, ServiceDown, ServiceEvent, Services,
};
pub use limit::{Permit, Pool, Verdict};
pub use retry::{Attempt, Cause, Problem, Retries, RetryRules, Rule};
pub use schedule::{Asked, Done, Panicked, Work, run_all};
