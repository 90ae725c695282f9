//! The files of seed 003, which extend those of the public skill-creator: structural checks, rubrics, benchmarks.

mod benchmark;
mod calibration;
mod check_type;
mod feedback;
mod feedback_aggregate;
pub(crate) mod foreign;
mod grading;
mod metadata;
mod metrics;
mod rubric;
mod statistics;
mod structural;
mod suite;
mod summary;
mod timing;
mod verdict;

pub use benchmark::{Benchmark, BenchmarkMetadata, BenchmarkRun, RunResult};
pub use calibration::{
    Calibration, CalibrationFormat, Calibrations, CorrectedRate, CorrectedRates, JudgeLabel,
    JudgeLabels, LabelledVerdict, MeasuredJudge,
};
pub use check_type::{CHECK_TYPES, CheckType, CheckTypeInfo, Operator, Presence};
pub use feedback::{Feedback, Review, ReviewFeedback, ReviewMark, ReviewVerdict};
pub use feedback_aggregate::{AggregatedSuggestion, EvalFeedbackAggregate};
pub use foreign::{AS_EXPECTED, EXPECTED_OUTPUT, translate};
pub use grading::{
    EvalFeedback, EvalSuggestion, EvalsGrading, RubricScore, RubricSummary, UserNotesSummary,
};
pub use metadata::EvalMetadata;
pub use metrics::Metrics;
pub use rubric::{Dimension, QualityRubric, Scoring};
pub use statistics::{
    Always, BenchmarkStatistics, CaseConfiguration, CaseStatistics, ConfigurationStatistics,
    DifferenceStatistics, DifferenceVerdict, Estimate, JudgeStatistics, LoadedRuns,
    NeverDiscriminating, PassAtK, SecondaryDifference, UnmeasuredRun,
};
pub use structural::{CheckResult, Structural};
pub use suite::{Eval, EvalConfig, EvalsSuite, StructuralExpectation};
pub use summary::{ConfigurationSummary, Delta, DeltaValue, RunSummary, Stats};
pub use timing::Timing;
pub use verdict::{Beyond, OnSuite, PrimaryOutcome, TestMethod, Verdict};

pub(crate) mod meaning {
    //! The rules of this family, for the table of kinds.
    pub(crate) use super::benchmark::check as benchmark;
    pub(crate) use super::grading::check as grading;
    pub(crate) use super::metrics::check as metrics;
    pub(crate) use super::structural::check as structural;
    pub(crate) use super::suite::check as suite;
}
