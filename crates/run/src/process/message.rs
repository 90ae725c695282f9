//! What a guard and its starter say to each other.
//!
//! The guard's standard input is a socket. The starter sends the program's standard input first, then at most two
//! [`Order`]s of one byte; the end of the stream means that the starter is gone. The guard answers with one line of
//! JSON, its [`Report`], when everything is over.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the starter asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// TERM, the grace period, KILL.
    Stop,
    Kill,
}

impl Order {
    pub(super) const fn byte(self) -> u8 {
        match self {
            Self::Stop => b's',
            Self::Kill => b'k',
        }
    }

    pub(super) fn read(byte: u8) -> Option<Self> {
        [Self::Stop, Self::Kill].into_iter().find(|order| order.byte() == byte)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// The program could not be started.
    NotStarted {
        /// The system's number for the reason, if it has one.
        errno: Option<i32>,
        text: String,
    },
    /// The program ended, and so did everything that it had started.
    Ended(AgentEnd),
}

/// The end of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AgentEnd {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// Whether it had been told to end before it did.
    pub(super) cause: Cause,
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) peak_rss: u64,
    pub(super) stragglers: u32,
    pub(super) survivors: u32,
}

impl AgentEnd {
    /// The program was stopped before it had begun.
    pub(super) const BEFORE_START: Self = Self {
        code: None,
        signal: None,
        cause: Cause::Guard,
        wall: Duration::ZERO,
        cpu: Duration::ZERO,
        peak_rss: 0,
        stragglers: 0,
        survivors: 0,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cause {
    /// By itself, or by somebody else's signal.
    Itself,
    Guard,
}
