//! The files of seed 001: does a skill trigger for the right queries, and how its description was improved.

mod against;
mod behaviour;
mod estimate;
mod evidence;
mod history;
mod loop_summary;
mod measurement;
mod proposals;
mod report;
mod route;
mod set;
mod situation;

pub use against::{LeftOutQuery, LeftOutReason, TriggerComparison};
pub use behaviour::{BehaviourGrading, Dimensions, ScoredDimension};
pub use estimate::{
    EstimateMethod, EstimateSummary, QueryEstimate, TriggerEstimate, TriggerEstimateFormat,
};
pub use evidence::{ListingBasis, ListingSeen, LoadsAt, TurnLimit, TurnUse, WrongRun};
pub use history::{ImprovementHistory, ImprovementRound, ImprovementScore};
pub use loop_summary::{LoopIteration, LoopSummary, ProofDesign, ProofResult, TuneProof};
pub use measurement::{
    ListedDescription, TriggerCalibration, TriggerControl, TriggerCrowd, TriggerDisagreement,
    TriggerListing, TriggerMeasurement, TriggerMetrics, Via, ViaDetail,
};
pub use proposals::{TuneProposal, TuneProposals};
pub use report::{QueryResult, QueryVerdict, TriggerReport, TriggerSummary, settled};
pub use route::{
    Collision, ConfusionMatrix, QueryRoute, RouteBasis, RouteControl, RouteReport,
    RouteReportFormat, RouteSummary, SkillRoute, Taken,
};
pub use set::{Query, TriggerItem, TriggerObject, TriggerSet};
pub use situation::{Situation, Turn, TurnRole};

pub(crate) mod meaning {
    //! The rules of this family, for the table of kinds.
    pub(crate) use super::behaviour::check as behaviour;
    pub(crate) use super::estimate::check as estimate;
    pub(crate) use super::history::check as history;
    pub(crate) use super::loop_summary::check as loop_summary;
    pub(crate) use super::report::check as report;
    pub(crate) use super::route::check as route;
    pub(crate) use super::set::check as set;
}
