//! The kinds of files: one table.
//!
//! Everything that goes through all kinds (the `schema` command, the generated `schemas/` folder, the documentation,
//! recognising a file by its shape, checking one) goes through this table. A new kind is a type, a variant and a row.

use std::fmt;
use std::sync::OnceLock;

use serde::de::Error as _;
use serde_json::Value;

use crate::check::Schema;
use crate::dialect::{self, Dialect};
use crate::json::{Node, Unreadable};
use crate::problem::{At, Problems, Report};
use crate::read::{self, Read, ReadError};
use crate::schema::schema_of;
use crate::write::to_text;
use crate::{cases, evals, improve, record, trigger, validation};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Queries with the expectation whether a skill triggers.
    TriggerSet,
    /// How often a skill triggered.
    TriggerReport,
    /// Descriptions that were tried, round by round.
    ImprovementHistory,
    /// What an improvement loop tried and which description won.
    LoopSummary,
    /// What the words of a description say about queries.
    TriggerEstimate,
    /// Which of several skills took each query.
    RouteReport,
    /// How an agent behaved, judged from its transcript.
    BehaviourGrading,
    /// Findings about a skill.
    ValidationReport,
    /// A suite in the `cases` dialect.
    CasesSuite,
    /// Versions of a skill.
    History,
    /// The grading of a run in the `cases` dialect.
    CasesGrading,
    /// A blind comparison of two results.
    Comparison,
    /// Which version was behind which label of a comparison.
    ComparisonKey,
    /// Why one version is better, and what to change.
    Analysis,
    /// A suite in the `evals` dialect.
    EvalsSuite,
    /// What the structural checks of a run found.
    Structural,
    /// The grading of a run in the `evals` dialect.
    EvalsGrading,
    /// What a run did.
    Metrics,
    /// How long a run took.
    Timing,
    /// What an eval folder is about.
    EvalMetadata,
    /// All runs of an iteration, and what they come to.
    Benchmark,
    /// Suggestions of all runs about the evals themselves.
    EvalFeedbackAggregate,
    /// What a person said about results.
    Feedback,
    /// What an iteration measures.
    Iteration,
    /// What became of a run.
    Run,
    /// What a loop that improves a skill has done.
    Improvement,
}

/// Where the format of a kind comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Trigger evaluation, behaviour grading, validation.
    Seed001,
    /// Cases, versions, comparison.
    Seed002,
    /// Structural checks, rubrics, benchmarks.
    Seed003,
    /// The public skill-creator, whose files seed 003 extends.
    SkillCreator,
    /// This project.
    Skillgauge,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seed001 => "seed 001",
            Self::Seed002 => "seed 002",
            Self::Seed003 => "seed 003",
            Self::SkillCreator => "skill-creator",
            Self::Skillgauge => "skillgauge",
        })
    }
}

/// A row of the table.
pub(crate) struct Entry {
    kind: Kind,
    name: &'static str,
    title: &'static str,
    usual_place: &'static str,
    origin: Origin,
    schema: fn(&str) -> Value,
    /// Whether a file of unknown kind looks like this one.
    looks_like: fn(&Node<'_>) -> bool,
    /// The rules that the schema cannot say.
    pub(crate) meaning: fn(&At<'_>, &mut Report<'_>),
    /// Reads the type and drops it.
    try_read: fn(&Node<'_>) -> Result<(), Unreadable>,
    /// Reads the type and writes it back.
    rewrite: fn(&Node<'_>) -> Result<String, Unreadable>,
    cache: OnceLock<Cached>,
}

struct Cached {
    schema: Value,
    compiled: Schema,
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
            schema: schema_of::<$type>,
            looks_like: $looks_like,
            meaning: $meaning,
            try_read: |node| node.deserialize::<$type>().map(drop),
            rewrite: |node| to_text(&node.deserialize::<$type>()?).map_err(Unreadable::custom),
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
}

/// All kinds in the order of [`Kind`].
#[rustfmt::skip]
static KINDS: [Entry; 26] = [
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
        |node| has(node, &["expectations", "gate_passed"]), evals::meaning::structural),
    entry!(EvalsGrading, evals::EvalsGrading, "evals-grading", "Grading of an eval",
        "<run>/grading.json", Seed003,
        |node| (node.has("expectations") || node.has("assertion_results")) && !node.has("gate_passed"),
        evals::meaning::grading),
    entry!(Metrics, evals::Metrics, "metrics", "Metrics of a run",
        "<run>/metrics.json", SkillCreator,
        |node| node.has("total_tool_calls") || node.has("tool_calls"), evals::meaning::metrics),
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
];

/// For kinds of which the schema says everything.
fn no_rules(_: &At<'_>, _: &mut Report<'_>) {}

fn has(node: &Node<'_>, keys: &[&str]) -> bool {
    keys.iter().all(|key| node.has(key))
}

/// For kinds that say what they are.
fn is_format(node: &Node<'_>, name: &str) -> bool {
    node.get("format").and_then(Node::as_str) == Some(name)
}

fn items_have(node: &Node<'_>, keys: &[&str]) -> bool {
    node.items().first().is_some_and(|item| has(item, keys))
}

impl Kind {
    /// All kinds in the order of the seeds.
    pub fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(|entry| entry.kind)
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|kind| kind.name() == name)
    }

    /// The kind that a file looks like.
    pub fn detect(root: &Node<'_>) -> Option<Self> {
        KINDS.iter().find(|entry| (entry.looks_like)(root)).map(|entry| entry.kind)
    }

    pub(crate) fn entry(self) -> &'static Entry {
        // The table has a row for every variant, in the same order; a test holds that.
        &KINDS[self as usize]
    }

    /// The name on the command line, such as `trigger-set`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The name for people, such as `Trigger set`.
    pub fn title(self) -> &'static str {
        self.entry().title
    }

    /// The file that usually holds it.
    pub fn usual_place(self) -> &'static str {
        self.entry().usual_place
    }

    /// Where the format comes from.
    pub fn origin(self) -> Origin {
        self.entry().origin
    }

    /// The JSON Schema of this kind, draft 2020-12; made once.
    pub fn schema(self) -> &'static Value {
        &self.cached().schema
    }

    /// The text of [`Kind::schema`] as a file.
    pub fn schema_text(self) -> String {
        // The alternate form of a JSON value is its pretty text, and cannot fail.
        format!("{:#}\n", self.schema())
    }

    /// The name of the file that holds the schema, such as `trigger-set.schema.json`.
    pub fn schema_file_name(self) -> String {
        format!("{}.schema.json", self.name())
    }

    pub(crate) fn compiled(self) -> &'static Schema {
        &self.cached().compiled
    }

    fn cached(self) -> &'static Cached {
        let entry = self.entry();
        entry.cache.get_or_init(|| {
            let schema = (entry.schema)(entry.title);
            let compiled = Schema::compile(&schema);
            Cached { schema, compiled }
        })
    }

    /// Everything that is wrong with a file that should be of this kind.
    pub fn check(self, bytes: &[u8]) -> Problems {
        match self.read_with(bytes, self.entry().try_read) {
            Ok(read) => read.warnings,
            Err(error) => error.problems,
        }
    }

    /// A file of this kind in the one form that we write.
    pub fn rewrite(self, bytes: &[u8]) -> Result<Read<String>, ReadError> {
        self.read_with(bytes, self.entry().rewrite)
    }

    fn read_with<T>(
        self,
        bytes: &[u8],
        make: fn(&Node<'_>) -> Result<T, Unreadable>,
    ) -> Result<Read<T>, ReadError> {
        let mut report = Report::new(bytes);
        let document = read::parse_into(bytes, &mut report);
        let value = document
            .and_then(|document| read::read_document_with(self, &document, make, &mut report));
        read::finish(value, report)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_every_kind_in_order() {
        for (number, entry) in KINDS.iter().enumerate() {
            assert_eq!(entry.kind as usize, number, "{}", entry.name);
            assert_eq!(Kind::from_name(entry.name), Some(entry.kind));
        }
        assert_eq!(Kind::Improvement as usize + 1, KINDS.len());
        assert_eq!(Kind::from_name("nonsense"), None);
    }

    #[test]
    fn the_checker_understands_every_keyword_of_every_schema() {
        for kind in Kind::all() {
            assert_eq!(kind.compiled().unsupported, Vec::<String>::new(), "{kind}");
        }
    }

    #[test]
    fn every_schema_says_what_it_is_and_describes_every_field() {
        for kind in Kind::all() {
            let schema = kind.schema();
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{kind}");
            assert_eq!(schema["title"], kind.title(), "{kind}");
            assert!(schema["description"].as_str().is_some_and(|text| text.len() > 20), "{kind}");
            let text = kind.schema_text();
            for private in ["\"format\": \"uint", "\"default\": null", "[`"] {
                assert!(!text.contains(private), "{kind} says {private}");
            }
            assert!(text.starts_with("{\n  \"$schema\""), "{kind}");
            for object in [schema]
                .into_iter()
                .chain(schema["$defs"].as_object().into_iter().flat_map(|d| d.values()))
            {
                for (name, property) in object["properties"].as_object().into_iter().flatten() {
                    assert!(
                        property["description"].is_string(),
                        "{kind}: {name} has no description"
                    );
                }
            }
        }
    }
}
