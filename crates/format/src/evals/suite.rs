//! The suite in the `evals` dialect: the skill-creator's, extended by structural checks and rubrics.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use super::check_type::{CheckType, Operator, Presence, special_fields};
use super::rubric::{self, QualityRubric};
use super::verdict::PrimaryOutcome;
use crate::check::quote;
use crate::dialect::{self, Dialect};
use crate::json::{Number, Value};
use crate::kind::Kind;
use crate::part::{EvalId, Statement};
use crate::problem::{At, ExpectedKind, IdKind, MeaningIssue, Report, ShapeIssue};
use crate::rule;
use crate::{Extra, JsonSchema};

/// Test cases for a skill, judged by structural checks, statements and a rubric.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EvalsSuite {
    /// Name of the skill, as its front matter has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_name: Option<String>,
    /// How the suite is run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_config: Option<EvalConfig>,
    /// The cases.
    pub evals: Vec<Eval>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a suite is run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct EvalConfig {
    /// How often each eval is run; 3 when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub runs_per_eval: Option<u64>,
    /// Whether the judge is skipped when a critical check failed; true when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structural_gate: Option<bool>,
    /// The model that judges; it should not be the one that does the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_model: Option<String>,
    /// Whether each eval is also run without the skill; true when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_comparison: Option<bool>,
    /// The outcome that decides; `overall_efficiency` with a rubric in any eval, else `pass_rate`, when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_outcome: Option<PrimaryOutcome>,
    /// A difference below this share of the outcome's scale does not matter; 0.1 when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub margin: Option<Number>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One task and what its result is judged by.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Eval {
    /// Unique in the suite; an integer, though a text is read as well.
    pub id: EvalId,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The task.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub prompt: String,
    /// What success looks like. The judge reads it, and it decides when an eval has nothing else to be graded by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<String>,
    /// Input files, relative to the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Statements that must be true of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expectations: Option<Vec<Statement>>,
    /// Another name for `expectations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertions: Option<Vec<Statement>>,
    /// Checks that a program can make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structural_expectations: Option<Vec<StructuralExpectation>>,
    /// Dimensions that a judge scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality_rubric: Option<QualityRubric>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A check that a program can make. Which fields it needs depends on its type.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(transform = crate::schema_tests::add_conditions)]
pub struct StructuralExpectation {
    /// Short name, such as `S1`, unique in the eval.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub id: String,
    /// What is checked.
    #[serde(rename = "type")]
    pub check_type: CheckType,
    /// What this checks, for reports.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub description: String,
    /// Glob of the files to look at: without `/` a file name at any depth, with it a path below `outputs/`. For
    /// `transcript_regex` a regular expression as Python writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), transform = crate::schema_tests::not_null)]
    pub pattern: Option<String>,
    /// The text to look for.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), transform = crate::schema_tests::not_null)]
    pub match_text: Option<String>,
    /// Texts to look for; one is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), inner(length(min = 1)), transform = crate::schema_tests::not_null)]
    pub match_any: Option<Vec<String>>,
    /// A regular expression as Python writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), transform = crate::schema_tests::not_null)]
    pub match_regex: Option<String>,
    /// Texts that exempt a match when they stand near it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(min = 1)), transform = crate::schema_tests::not_null)]
    pub except_context: Option<Vec<String>>,
    /// How many files.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::schema_tests::not_null)]
    pub count: Option<u64>,
    /// How the number of files is compared with `count`; `==` when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::schema_tests::not_null)]
    pub operator: Option<Operator>,
    /// A bash command; it passes when it exits with 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), transform = crate::schema_tests::not_null)]
    pub script: Option<String>,
    /// A JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// A path into a JSON file: `$.summary.rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), transform = crate::schema_tests::not_null)]
    pub path: Option<String>,
    /// The JSON value that must be at `path`; null is one, too.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some")]
    #[schemars(with = "Json")]
    pub equals: Option<Json>,
    /// The text of a Markdown heading, without its `#`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = crate::check::NOT_BLANK), transform = crate::schema_tests::not_null)]
    pub heading: Option<String>,
    /// Glob of the names of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), transform = crate::schema_tests::not_null)]
    pub tool: Option<String>,
    /// The name of a skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), transform = crate::schema_tests::not_null)]
    pub skill: Option<String>,
    /// The largest number that is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), transform = crate::schema_tests::not_null)]
    pub limit: Option<Number>,
    /// Globs of the files that may be made or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), inner(length(min = 1)), transform = crate::schema_tests::not_null)]
    pub allow: Option<Vec<String>>,
    /// Whether `pattern` has to be in the transcript; `present` when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = crate::schema_tests::not_null)]
    pub expect: Option<Presence>,
    /// Whether the check passes when its statement is false; false when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<bool>,
    /// Whether the structural gate fails with this check; false when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<bool>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Eval {
    /// An eval with nothing but a task.
    pub fn new(id: impl Into<EvalId>, prompt: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: None,
            prompt: prompt.into(),
            expected_output: None,
            files: None,
            expectations: None,
            assertions: None,
            structural_expectations: None,
            quality_rubric: None,
            extra: Extra::new(),
        }
    }

    /// The statements under both names.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        [&self.expectations, &self.assertions].into_iter().flatten().flatten()
    }
}

impl StructuralExpectation {
    /// A check without the fields that its type needs.
    pub fn new(
        id: impl Into<String>,
        check_type: CheckType,
        description: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            check_type,
            description: description.into(),
            pattern: None,
            match_text: None,
            match_any: None,
            match_regex: None,
            except_context: None,
            count: None,
            operator: None,
            script: None,
            schema: None,
            path: None,
            equals: None,
            heading: None,
            tool: None,
            skill: None,
            limit: None,
            allow: None,
            expect: None,
            not: None,
            critical: None,
            extra: Extra::new(),
        }
    }

    /// Whether the structural gate fails with this check.
    pub fn is_critical(&self) -> bool {
        self.critical.unwrap_or_default()
    }

    /// Whether the check passes when its statement is false.
    pub fn is_negated(&self) -> bool {
        self.not.unwrap_or_default()
    }
}

/// A value that is there, null included.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// Ids that clash or make no folder names, statements without words, fields that a check ignores.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let Some(evals) = root.field("evals") else { return };
    if evals.node().items().is_empty() {
        report.add(&evals, MeaningIssue::EmptySuite);
    }
    if !dialect::check_mixed(&evals, report)
        && dialect::guess(root.node()) == Some(Dialect::Trigger)
    {
        let (found, expected) = (Kind::TriggerSet, ExpectedKind::One(Kind::EvalsSuite));
        return report.add(root, MeaningIssue::OtherKind { found, expected });
    }
    let mut ids = rule::Unique::new(IdKind::Eval);
    for eval in evals.items() {
        if let Some(id) = eval.field("id") {
            check_id(&id, &mut ids, report);
        }
        rule::check_files(&eval, report);
        check_statements(&eval, report);
        if let Some(expectations) = eval.field("structural_expectations") {
            check_structural(&expectations, report);
        }
        if let Some(rubric) = eval.field("quality_rubric") {
            rubric::check(&rubric, report);
        }
    }
}

/// An id becomes the folder `eval-<id>`, so `1` and `"1"` are the same.
fn check_id(id: &At<'_>, ids: &mut rule::Unique, report: &mut Report<'_>) {
    let text = match &id.node().value {
        Value::Number(number) if Number::is_integer(*number) => number.as_f64().to_string(),
        Value::String(text) => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            let is_safe =
                text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_plain);
            if !is_safe && !text.is_empty() {
                report.add(id, MeaningIssue::UnsafeId { id: quote(text) });
            }
            text.to_string()
        }
        _ => return,
    };
    ids.add(id, text, report);
}

fn check_statements(eval: &At<'_>, report: &mut Report<'_>) {
    for key in ["expectations", "assertions"] {
        let Some(statements) = eval.field(key) else { continue };
        for statement in statements.items() {
            check_statement(&statement, report);
        }
    }
}

fn check_statement(statement: &At<'_>, report: &mut Report<'_>) {
    let is_blank = |at: &At<'_>| at.node().as_str().is_none_or(|text| text.trim().is_empty());
    match &statement.node().value {
        Value::String(_) if is_blank(statement) => report.add(statement, MeaningIssue::NoStatement),
        Value::String(_) => rule::check_vague(statement, report),
        Value::Object(_) => {
            let mut texts =
                ["text", "description", "name"].iter().filter_map(|key| statement.field(key));
            match texts.find(|text| !is_blank(text)) {
                Some(text) => rule::check_vague(&text, report),
                None => report.add(statement, MeaningIssue::NoStatement),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}

fn check_structural(expectations: &At<'_>, report: &mut Report<'_>) {
    let mut ids = rule::Unique::new(IdKind::Check);
    for expectation in expectations.items() {
        ids.add_field(&expectation, "id", report);
        let Some(info) =
            expectation.text("type").and_then(CheckType::from_name).map(CheckType::info)
        else {
            continue;
        };
        let rivals = info.at_most_one.iter().filter(|field| expectation.field(field).is_some());
        let rivals: Vec<String> = rivals.map(|&field| field.to_owned()).collect();
        if rivals.len() > 1 {
            report.add(&expectation, ShapeIssue::ExclusiveFields { fields: rivals });
        }
        for field in special_fields().filter(|field| !info.uses(field)) {
            if let Some(at) = expectation.field(field) {
                let (field, check_type) = (field.to_owned(), info.name.to_owned());
                report.add(&at, MeaningIssue::UnusedField { field, check_type });
            }
        }
    }
}
