//! What happens while probes are carried out.

use std::path::PathBuf;

use skillgauge_core::trigger::Observation;

use super::result::ProbeResult;

/// What happens while probes are carried out.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProbeEvent<'e> {
    /// The request of all probes is what this agent sends.
    RequestCaptured {
        agent: &'e str,
        /// Its version, if it tells one.
        version: Option<&'e str>,
    },
    /// The request of all probes is ours, because no agent's could be captured.
    RequestBuiltIn {
        reason: &'e str,
    },
    ControlStarted {
        query: &'e str,
    },
    ControlEnded {
        observation: &'e Observation,
    },
    Started {
        /// How many probes it has.
        probes: usize,
        /// How many of them are known from the journal.
        resumed: usize,
        journal: Option<PathBuf>,
    },
    Ended {
        /// Its place in the batch.
        place: usize,
        result: &'e ProbeResult,
    },
    /// A probe was not begun because its result cannot change anything.
    Saved {
        /// Its place in the batch.
        place: usize,
    },
}
