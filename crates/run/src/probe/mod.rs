//! Probes: does an agent load a skill for a query?
//!
//! ```text
//! Measurement + queries --> ProbeSpec (control first) --> Prober: pool, retries, budget, journal --> ProbeResult
//!                                                            |  agent: Executor, stopped at the first proof
//!                                                            '  api:   one model request, as the agent would send it
//! ProbeResult --> core's tallies --> TriggerReport
//! ```
//!
//! [`measure`] is the whole of it for one skill with one description. [`Prober::run`] carries out any list of probes; routing
//! between skills uses it directly, with specs that stop at the load of any skill.
//!
//! Invariants: a probe that measured nothing is no "did not trigger"; no rate without a control that triggered; what is in
//! the journal is not paid for again.

mod api;
mod capture;
mod error;
mod forecast;
mod gate;
mod journal;
mod listing;
mod measure;
mod neighbours;
mod prober;
mod report;
mod result;
mod spec;
mod surroundings;
mod work;

pub(crate) use measure::{Installed, control, listed};
pub(crate) use prober::BatchResult;
pub(crate) use surroundings::{SituatedQuery, Surroundings};

pub use api::{ApiAsk, MAX_OUTPUT_TOKENS};
pub use capture::{CapturedRequest, Offer, RequestSource};
pub use error::ProbeError;
pub use forecast::CostForecast;
pub use gate::Gate;
pub use journal::{Failed, Journal, JournalError, MAX_FAILURES, Resume};
pub use measure::{
    EarlyStop, ListingSource, Measured, Measurement, ProbeCost, Probing, Sample, Shortfall,
    measure, measure_sample, planned_calls,
};
pub use neighbours::{Crowd, CrowdError};
pub use prober::{Batch, ProbeEvent, Prober, ProberSettings};
pub use result::{ProbeResult, Spending};
pub use spec::{Ask, ProbeId, ProbeSpec};
