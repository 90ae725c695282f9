//! Parts that several files share.

mod claim;
mod configuration;
mod grader;
mod id;
mod statement;
pub(crate) mod tally;
mod timestamp;

pub use claim::Claim;
pub use configuration::Configuration;
pub(crate) use grader::is_zero;
pub use grader::{
    AbsentSearch, Grader, GraderSpending, GraderTemplate, LeftOut, OutputsLeftOut, Quote,
    TranscriptLeftOut, VerdictVotes, Votes,
};
pub use id::{CaseId, EvalId};
pub use statement::{Statement, StatementObject};
pub use tally::{GradedExpectation, Tally};
pub use timestamp::Timestamp;
