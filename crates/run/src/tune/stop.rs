//! Why a loop ended.

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// The description is as good as was asked for, on the training queries.
    TargetReached {
        /// The share of training queries that had to pass.
        target: f64,
    },
    RoundsUsed {
        rounds: u32,
    },
    /// No training query failed that was measured, so there is nothing to learn from.
    NothingToLearn,
    /// A limit on calls or cost.
    Limit {
        limit: String,
    },
    /// The improver did not answer.
    Improver {
        message: String,
    },
    Measurement {
        message: String,
    },
    Interrupted,
}

impl StopReason {
    /// Whether the loop was stopped before its end.
    pub fn is_early(&self) -> bool {
        match self {
            Self::TargetReached { .. } | Self::RoundsUsed { .. } | Self::NothingToLearn => false,
            Self::Limit { .. }
            | Self::Improver { .. }
            | Self::Measurement { .. }
            | Self::Interrupted => true,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TargetReached { target } => {
                write!(f, "the target of {:.0} % on the training queries is reached", 100.0 * target)
            }
            Self::RoundsUsed { rounds: 1 } => f.write_str("the one round is used"),
            Self::RoundsUsed { rounds } => write!(f, "all {rounds} rounds are used"),
            Self::NothingToLearn => {
                f.write_str("the training queries that failed could not be measured, so there is nothing to learn from")
            }
            Self::Limit { limit } => f.write_str(limit),
            Self::Improver { message } => write!(f, "the improver did not answer: {message}"),
            Self::Measurement { message } => write!(f, "a measurement broke: {message}"),
            Self::Interrupted => f.write_str("it was interrupted"),
        }
    }
}
