//! The files of seed 002: cases with criteria scored from 1 to 5, versions of a skill, and blind comparison.

mod analysis;
mod comparison;
mod comparison_key;
mod grading;
mod history;
mod suite;

pub use analysis::{Analysis, Suggestion};
pub use comparison::{Comparison, ComparisonScores, Label, ScorePair};
pub use comparison_key::{ComparisonKey, ComparisonOrder, ComparisonRuns, Position};
pub use grading::{
    CasesGrading, ConventionCheck, ConventionCompliance, CriterionResult, PASSING_SCORE, Verdict,
};
pub use history::{History, Version};
pub use suite::{CasesSuite, Criterion, SUITE_VERSION, SuiteCase};

pub(crate) mod meaning {
    //! The rules of this family, for the table of kinds.
    pub(crate) use super::comparison_key::check as comparison_key;
    pub(crate) use super::grading::check as grading;
    pub(crate) use super::history::check as history;
    pub(crate) use super::suite::check as suite;
}
