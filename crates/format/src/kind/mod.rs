//! The kinds of files: one table.
//!
//! Everything that goes through all kinds (the `schema` command, the generated `schemas/` folder, the documentation,
//! recognising a file by its shape, checking one) goes through this table. A new kind is a type, a variant and a row.

mod table;

use std::fmt;

use serde_json::Value;

use crate::check::Schema;
use crate::json::Node;
use crate::problem::{Problems, Report};
use crate::read::{self, Read, ReadError};
use table::{Cached, Entry, KINDS};

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
    /// What an agent did in a run or probe.
    Transcript,
    /// What somebody was asked and said, in a recording.
    CassetteEntry,
    /// What was proposed in each round of a loop.
    TuneProposals,
    /// Findings about a suite and a trigger set.
    LintReport,
    /// What people decided about expectations.
    JudgeLabels,
    /// How well judges agree with people.
    JudgeCalibration,
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
    pub fn schema_text(self) -> &'static str {
        self.entry().schema
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
            // A test holds that all of them can be read.
            let schema = serde_json::from_str(entry.schema).unwrap_or_default();
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
        make: fn(&Value) -> Result<T, serde_json::Error>,
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
        assert_eq!(Kind::JudgeCalibration as usize + 1, KINDS.len());
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
            assert_eq!(schema["$id"], format!("urn:skillgauge:schema:{kind}:1"), "{kind}");
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
