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
        /// The agent.
        agent: &'e str,
        /// Its version, if it tells one.
        version: Option<&'e str>,
    },
    /// The request of all probes is ours, because no agent's could be captured.
    RequestBuiltIn {
        /// Why.
        reason: &'e str,
    },
    /// A control begins.
    ControlStarted {
        /// What is asked.
        query: &'e str,
    },
    /// A control is over.
    ControlEnded {
        /// What it saw.
        observation: &'e Observation,
    },
    /// A batch begins.
    Started {
        /// How many probes it has.
        probes: usize,
        /// How many of them are known from the journal.
        resumed: usize,
        /// The journal.
        journal: Option<PathBuf>,
    },
    /// A probe is over.
    Ended {
        /// Its place in the batch.
        place: usize,
        /// What it found.
        result: &'e ProbeResult,
    },
    /// A probe was not begun because its result cannot change anything.
    Saved {
        /// Its place in the batch.
        place: usize,
    },
}
