//! Parts that several files share.

mod claim;
mod configuration;
mod id;
mod statement;
pub(crate) mod tally;
mod timestamp;

pub use claim::Claim;
pub use configuration::Configuration;
pub use id::{CaseId, EvalId};
pub use statement::{Statement, StatementObject};
pub use tally::{GradedExpectation, Tally};
pub use timestamp::Timestamp;
