//! The table itself: a row for each kind, and the types that the rows are made from.

use std::sync::OnceLock;

use serde::de::Error;
use serde_json::Value;

use super::{Kind, Origin};
use crate::check::Schema;
use crate::dialect::{self, Dialect};
use crate::json::{Node, from_value};
use crate::problem::{At, Report};
use crate::read;
use crate::write::to_text;
use crate::{cases, cassette, evals, improve, lint, record, transcript, trigger, validation};

/// A row of the table.
pub(crate) struct Entry {
    pub(super) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(super) usual_place: &'static str,
    pub(super) origin: Origin,
    /// The schema that is made from the type; a test holds that.
    pub(super) schema: &'static str,
    #[cfg(test)]
    pub(crate) make_schema: fn(&str, &str) -> Value,
    /// Whether a file of unknown kind looks like this one.
    pub(super) looks_like: fn(&Node<'_>) -> bool,
    /// The rules that the schema cannot say.
    pub(crate) meaning: fn(&At<'_>, &mut Report<'_>),
    /// Reads the type and drops it.
    pub(super) try_read: fn(&Value) -> Result<(), serde_json::Error>,
    /// Reads the type and writes it back.
    pub(super) rewrite: fn(&Value) -> Result<String, serde_json::Error>,
    pub(super) cache: OnceLock<Cached>,
}

pub(super) struct Cached {
    pub(super) schema: Value,
    pub(super) compiled: Schema,
}

/// Makes a row for a type.
macro_rules! entry {
    ($kind:ident, $type:ty, $name:literal, $title:literal, $place:literal, $origin:ident, $looks_like:expr, $meaning:expr) => {
        Entry {
            kind: Kind::$kind,
            name: $name,
            title: $title,
            usual_place: $place,
            origin: Origin::$origin,
            schema: include_str!(concat!("../../../../schemas/", $name, ".schema.json")),
            #[cfg(test)]
            make_schema: crate::schema_tests::schema_of::<$type>,
            looks_like: $looks_like,
            meaning: $meaning,
            try_read: |value| from_value::<$type, _>(value).map(drop),
            rewrite: |value| {
                let read: $type = from_value(value)?;
                to_text(&read).map_err(serde_json::Error::custom)
            },
            cache: OnceLock::new(),
        }
    };
}

/// Ties a type to its kind.
macro_rules! formats {
    ($($kind:ident => $type:ty),* $(,)?) => {
        $(impl read::Format for $type {
            const KIND: Kind = Kind::$kind;
        })*
    };
}

formats! {
    TriggerSet => trigger::TriggerSet,
    TriggerReport => trigger::TriggerReport,
    ImprovementHistory => trigger::ImprovementHistory,
    LoopSummary => trigger::LoopSummary,
    TriggerEstimate => trigger::TriggerEstimate,
    RouteReport => trigger::RouteReport,
    BehaviourGrading => trigger::BehaviourGrading,
    ValidationReport => validation::ValidationReport,
    CasesSuite => cases::CasesSuite,
    History => cases::History,
    CasesGrading => cases::CasesGrading,
    Comparison => cases::Comparison,
    ComparisonKey => cases::ComparisonKey,
    Analysis => cases::Analysis,
    EvalsSuite => evals::EvalsSuite,
    Structural => evals::Structural,
    EvalsGrading => evals::EvalsGrading,
    Metrics => evals::Metrics,
    Timing => evals::Timing,
    EvalMetadata => evals::EvalMetadata,
    Benchmark => evals::Benchmark,
    EvalFeedbackAggregate => evals::EvalFeedbackAggregate,
    Feedback => evals::Feedback,
    Iteration => record::IterationRecord,
    Run => record::RunRecord,
    Improvement => improve::Improvement,
    Transcript => transcript::Transcript,
    CassetteEntry => cassette::CassetteEntry,
    TuneProposals => trigger::TuneProposals,
    LintReport => lint::LintReport,
    JudgeLabels => evals::JudgeLabels,
    JudgeCalibration => evals::Calibrations,
}

/// All kinds in the order of [`Kind`].
#[rustfmt::skip]
pub(super) static KINDS: [Entry; 32] = [
    entry!(TriggerSet, trigger::TriggerSet, "trigger-set", "Trigger set",
        "<skill>/evals/triggers.json", Seed001,
        |node| dialect::guess(node) == Some(Dialect::Trigger) && !items_have(node, &["round"]), trigger::meaning::set),
    entry!(TriggerReport, trigger::TriggerReport, "trigger-report", "Trigger report",
        "trigger-report.json", Seed001,
        |node| has(node, &["skill_name", "results", "summary"]) && !node.has("case_id") && !node.has("format"), trigger::meaning::report),
    entry!(ImprovementHistory, trigger::ImprovementHistory, "improvement-history", "Improvement history",
        "<output-dir>/history.json", Seed001,
        |node| items_have(node, &["round", "pass_rate"]), trigger::meaning::history),
    entry!(LoopSummary, trigger::LoopSummary, "loop-summary", "Loop summary",
        "<output-dir>/loop_summary.json", Seed001,
        |node| has(node, &["iterations", "original_description"]), trigger::meaning::loop_summary),
    entry!(TriggerEstimate, trigger::TriggerEstimate, "trigger-estimate", "Trigger estimate",
        "trigger-estimate.json", Skillgauge,
        |node| is_format(node, "trigger-estimate"), trigger::meaning::estimate),
    entry!(RouteReport, trigger::RouteReport, "route-report", "Route report",
        "route-report.json", Skillgauge,
        |node| is_format(node, "route-report"), trigger::meaning::route),
    entry!(BehaviourGrading, trigger::BehaviourGrading, "behaviour-grading", "Behaviour grading",
        "behaviour-grading.json", Seed001,
        |node| has(node, &["assertions", "dimensions"]), trigger::meaning::behaviour),
    entry!(ValidationReport, validation::ValidationReport, "validation-report", "Validation report",
        "validation.json", Seed001,
        |node| has(node, &["skill_path", "valid"]), validation::check),
    entry!(CasesSuite, cases::CasesSuite, "cases-suite", "Suite of cases",
        "<skill>/evals/evals.json", Seed002,
        |node| dialect::guess(node) == Some(Dialect::Cases), cases::meaning::suite),
    entry!(History, cases::History, "history", "Version history",
        "<workspace>/history.json", Seed002,
        |node| has(node, &["versions", "current_version"]), cases::meaning::history),
    entry!(CasesGrading, cases::CasesGrading, "cases-grading", "Grading of a case",
        "<workspace>/grading/<case_id>_v<version>_run<run>.json", Seed002,
        |node| has(node, &["case_id", "results"]), cases::meaning::grading),
    entry!(Comparison, cases::Comparison, "comparison", "Blind comparison",
        "comparison.json", Seed002,
        |node| has(node, &["winner", "scores"]), no_rules),
    entry!(ComparisonKey, cases::ComparisonKey, "comparison-key", "Key of a blind comparison",
        "comparison_key.json", Skillgauge,
        |node| has(node, &["A", "B", "seed"]), cases::meaning::comparison_key),
    entry!(Analysis, cases::Analysis, "analysis", "Analysis of a comparison",
        "analysis.json", Seed002,
        |node| has(node, &["winner_version", "loser_version"]), no_rules),
    entry!(EvalsSuite, evals::EvalsSuite, "evals-suite", "Suite of evals",
        "<skill>/evals/evals.json", Seed003,
        |node| dialect::guess(node) == Some(Dialect::Evals), evals::meaning::suite),
    entry!(Structural, evals::Structural, "structural", "Structural checks of a run",
        "<run>/structural.json", Seed003,
        |node| has(node, &["expectations", "gate_passed"]) && !is_graded(node), evals::meaning::structural),
    entry!(EvalsGrading, evals::EvalsGrading, "evals-grading", "Grading of an eval",
        "<run>/grading.json", Seed003,
        |node| (node.has("expectations") || node.has("assertion_results")) && (!node.has("gate_passed") || is_graded(node)),
        evals::meaning::grading),
    entry!(Metrics, evals::Metrics, "metrics", "Metrics of a run",
        "<run>/metrics.json", SkillCreator,
        |node| (node.has("total_tool_calls") || node.has("tool_calls")) && !node.has("events"), evals::meaning::metrics),
    entry!(Timing, evals::Timing, "timing", "Timing of a run",
        "<run>/timing.json", SkillCreator,
        |node| ["duration_ms", "total_duration_seconds", "executor_start"].iter().any(|key| node.has(key)), no_rules),
    entry!(EvalMetadata, evals::EvalMetadata, "eval-metadata", "What an eval folder is about",
        "<iteration>/eval-<id>/eval_metadata.json", SkillCreator,
        |node| has(node, &["eval_id", "prompt"]), no_rules),
    entry!(Benchmark, evals::Benchmark, "benchmark", "Benchmark of an iteration",
        "<iteration>/benchmark.json", Seed003,
        |node| node.has("run_summary"), evals::meaning::benchmark),
    entry!(EvalFeedbackAggregate, evals::EvalFeedbackAggregate, "eval-feedback-aggregate",
        "Feedback on the evals of an iteration", "<iteration>/eval_feedback_aggregate.json", Seed003,
        |node| has(node, &["suggestions", "total_runs"]), no_rules),
    entry!(Feedback, evals::Feedback, "feedback", "Feedback of a person",
        "<iteration>/feedback.json", SkillCreator,
        |node| node.has("reviews"), no_rules),
    entry!(Iteration, record::IterationRecord, "iteration", "Record of an iteration",
        "<iteration>/iteration.json", Skillgauge,
        |node| has(node, &["format_version", "configurations"]), no_rules),
    entry!(Run, record::RunRecord, "run", "Record of a run",
        "<run>/run.json", Skillgauge,
        |node| has(node, &["format_version", "run_number"]), no_rules),
    entry!(Improvement, improve::Improvement, "improve", "Loop that improves a skill",
        "<workspace>/improve.json", Skillgauge,
        |node| is_format(node, improve::Improvement::FORMAT), no_rules),
    entry!(Transcript, transcript::Transcript, "transcript", "Transcript of a run or probe",
        "<run>/transcript.jsonl", Skillgauge,
        |node| is_format(node, "transcript"), no_rules),
    entry!(CassetteEntry, cassette::CassetteEntry, "cassette-entry", "Answer in a recording",
        "<recording>/<kind>-<purpose>-<key>-<ask>.json", Skillgauge,
        |node| is_format(node, cassette::CassetteEntry::FORMAT), no_rules),
    entry!(TuneProposals, trigger::TuneProposals, "tune-proposals", "Proposals of a loop",
        "<output-dir>/proposals.json", Skillgauge,
        |node| is_format(node, trigger::TuneProposals::FORMAT), no_rules),
    entry!(LintReport, lint::LintReport, "lint-report", "Findings about evals",
        "lint-evals.json", Skillgauge,
        |node| is_format(node, "lint-report"), no_rules),
    entry!(JudgeLabels, evals::JudgeLabels, "judge-labels", "Verdicts of people",
        "labels.json", Skillgauge,
        |node| node.has("labels"), no_rules),
    entry!(JudgeCalibration, evals::Calibrations, "judge-calibration", "Calibration of judges",
        "<workspace>/calibration.json", Skillgauge,
        |node| is_format(node, "judge-calibration"), no_rules),
];

/// For kinds of which the schema says everything.
fn no_rules(_: &At<'_>, _: &mut Report<'_>) {}

fn has(node: &Node<'_>, keys: &[&str]) -> bool {
    keys.iter().all(|key| node.has(key))
}

/// A grading of ours repeats what the structural checks say of the gate; these only a grading has.
fn is_graded(node: &Node<'_>) -> bool {
    [
        "claims",
        "eval_feedback",
        "rubric_scores",
        "execution_metrics",
        "judge_errors",
        "grader",
        "run_record",
    ]
    .iter()
    .any(|key| node.has(key))
}

/// For kinds that say what they are.
fn is_format(node: &Node<'_>, name: &str) -> bool {
    node.get("format").and_then(Node::as_str) == Some(name)
}

fn items_have(node: &Node<'_>, keys: &[&str]) -> bool {
    node.items().first().is_some_and(|item| has(item, keys))
}
