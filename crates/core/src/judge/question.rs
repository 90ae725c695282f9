//! From a case and its material to the question for a judge.
//!
//! A [`Question`] is everything that decides the answer. It names no configuration, no version and no folder: a judge that
//! knows which run had the skill is no judge.

use serde::Serialize;
use skillgauge_format::cases::SuiteCase;
use skillgauge_format::evals::{Eval, Structural};
use skillgauge_format::part::{GraderTemplate, Statement};
use skillgauge_format::{AnswerSchema, UnsupportedSchema};

use super::answer::{BehaviourAnswer, CasesAnswer, EvalsAnswer, SkillShown, ids};
use super::material::{Fence, Material};
use super::template::{Rendered, Template, TemplateError};

/// What a judge is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The system text; may be empty.
    pub system: String,
    pub user: String,
    pub schema: AnswerSchema,
    /// The template that it was made with.
    pub template: GraderTemplate,
    /// How many things are to be judged: the length of the answer follows from it.
    pub items: usize,
}

/// Why there is no question.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// The template cannot be used.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The answer cannot be checked; a mistake of ours.
    #[error(transparent)]
    Schema(#[from] UnsupportedSchema),
}

#[derive(Serialize)]
struct ShownExpectation<'e> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<&'e str>,
    text: &'e str,
}

#[derive(Serialize)]
struct ShownDimension<'e> {
    id: String,
    name: &'e str,
    description: &'e str,
    anchors: Vec<ShownAnchor<'e>>,
}

#[derive(Serialize)]
struct ShownAnchor<'e> {
    score: u8,
    text: &'e str,
}

#[derive(Serialize)]
struct ShownCheck<'e> {
    id: &'e str,
    text: &'e str,
    passed: bool,
}

/// All that a template may use; a template for another purpose finds what it does not need empty.
#[derive(Default, Serialize)]
struct Context<'e> {
    boundary: &'e str,
    prompt: String,
    expected_output: String,
    transcript: String,
    outputs: String,
    skill: String,
    checks: Vec<ShownCheck<'e>>,
    expectations: Vec<ShownExpectation<'e>>,
    dimensions: Vec<ShownDimension<'e>>,
}

/// Asks about a run of an `evals` suite.
pub fn evals(
    eval: &Eval,
    structural: Option<&Structural>,
    material: &Material,
    template: &Template,
    seed: u64,
) -> Result<Question, QuestionError> {
    let expectations: Vec<_> = statements('E', eval.statements());
    let dimensions: Vec<_> =
        eval.quality_rubric.iter().flat_map(|rubric| &rubric.dimensions).collect();
    let schema = EvalsAnswer::schema(expectations.len(), dimensions.len())?;
    let items = expectations.len() + dimensions.len();
    let expected = eval.expected_output.as_deref().unwrap_or_default();
    let fenced = Fenced::new(seed, &eval.prompt, expected, material);
    let checks = structural.iter().flat_map(|structural| &structural.expectations);
    let context = Context {
        checks: checks
            .map(|check| ShownCheck { id: &check.id, text: &check.text, passed: check.passed })
            .collect(),
        dimensions: ids('D', dimensions.len())
            .zip(dimensions)
            .map(|(id, dimension)| ShownDimension {
                id,
                name: &dimension.name,
                description: &dimension.description,
                anchors: dimension
                    .scoring
                    .anchors()
                    .map(|(score, text)| ShownAnchor { score, text })
                    .collect(),
            })
            .collect(),
        expectations,
        ..fenced.context()
    };
    finish(template, &context, schema, items)
}

/// Asks about a run of a `cases` suite.
pub fn cases(
    case: &SuiteCase,
    material: &Material,
    template: &Template,
    seed: u64,
) -> Result<Question, QuestionError> {
    let shown = if material.skill.is_some() { SkillShown::Yes } else { SkillShown::No };
    let schema = CasesAnswer::schema(case.expectations.len(), shown)?;
    let fenced = Fenced::new(seed, &case.prompt, "", material);
    let expectations: Vec<_> = ids('C', case.expectations.len())
        .zip(&case.expectations)
        .map(|(id, criterion)| ShownExpectation {
            id,
            criterion: Some(&criterion.criterion),
            text: &criterion.description,
        })
        .collect();
    let items = expectations.len() + 3;
    let context = Context { expectations, ..fenced.context() };
    finish(template, &context, schema, items)
}

pub fn behaviour(
    assertions: &[Statement],
    material: &Material,
    template: &Template,
    seed: u64,
) -> Result<Question, QuestionError> {
    let schema = BehaviourAnswer::schema(assertions.len())?;
    let fenced = Fenced::new(seed, "", "", material);
    let context = Context { expectations: statements('A', assertions.iter()), ..fenced.context() };
    finish(template, &context, schema, assertions.len() + 4)
}

fn statements<'e>(
    letter: char,
    statements: impl Iterator<Item = &'e Statement>,
) -> Vec<ShownExpectation<'e>> {
    let statements: Vec<_> = statements.collect();
    ids(letter, statements.len())
        .zip(statements)
        .map(|(id, statement)| ShownExpectation { id, criterion: None, text: statement.text() })
        .collect()
}

fn finish(
    template: &Template,
    context: &Context<'_>,
    schema: AnswerSchema,
    items: usize,
) -> Result<Question, QuestionError> {
    let Rendered { system, user } = template.render(context)?;
    Ok(Question { system, user, schema, template: template.record().clone(), items })
}

/// The material between its lines.
struct Fenced {
    fence: Fence,
    prompt: String,
    expected_output: String,
    transcript: String,
    outputs: String,
    skill: String,
}

impl Fenced {
    fn new(seed: u64, prompt: &str, expected: &str, material: &Material) -> Self {
        let outputs = material.outputs.as_ref().map_or("", |digest| digest.text.as_str());
        let skill = material.skill.as_deref().unwrap_or_default();
        let texts = [prompt, expected, &material.transcript.text, outputs, skill];
        let fence = Fence::around(seed, &texts);
        let wrap = |name, text: &str| {
            if text.is_empty() { String::new() } else { fence.wrap(name, text) }
        };
        Self {
            prompt: wrap("TASK", prompt),
            expected_output: wrap("EXPECTED OUTPUT", expected),
            transcript: wrap("TRANSCRIPT", &material.transcript.text),
            outputs: wrap("OUTPUTS", outputs),
            skill: wrap("SKILL", skill),
            fence,
        }
    }

    fn context(&self) -> Context<'_> {
        Context {
            boundary: self.fence.boundary(),
            prompt: self.prompt.clone(),
            expected_output: self.expected_output.clone(),
            transcript: self.transcript.clone(),
            outputs: self.outputs.clone(),
            skill: self.skill.clone(),
            ..Context::default()
        }
    }
}
