//! From a case and its material to the question for a judge.
//!
//! A [`Question`] is everything that decides the answer. It names no configuration, no version, no folder and no skill: a
//! judge that knows which run had the skill is no judge. What an answer left open is asked about again, and nothing else.

use std::borrow::Cow;

use serde::Serialize;
use skillgauge_format::cases::SuiteCase;
use skillgauge_format::evals::{CheckResult, Eval, Structural};
use skillgauge_format::part::{GraderTemplate, Statement};
use skillgauge_format::{AnswerSchema, UnsupportedSchema};

use super::answer::{
    Absence, BehaviourAnswer, CasesAnswer, DIMENSIONS, EvalsAnswer, Rest, SkillShown, Wanted, ids,
};
use super::loading::Loading;
use super::material::{Blind, Fence, FenceKey, Material};
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
    /// What is to be judged: the length of the answer follows from it.
    pub wanted: Vec<Wanted>,
    /// The numbers in it that are drawn: a recording must not know them.
    pub drawn: Vec<String>,
}

impl Question {
    pub fn ids(&self) -> Vec<String> {
        self.wanted.iter().map(|one| one.id.clone()).collect()
    }
}

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    All,
    /// What an answer left open, by ids.
    Missing(&'a [String]),
}

impl Asked<'_> {
    fn of(self, all: Vec<Wanted>) -> Vec<Wanted> {
        match self {
            Self::All => all,
            Self::Missing(missing) => {
                all.into_iter().filter(|one| missing.contains(&one.id)).collect()
            }
        }
    }

    fn rest(self) -> Rest {
        match self {
            Self::All => Rest::Asked,
            Self::Missing(_) => Rest::LeftOut,
        }
    }
}

/// The ids of the statements of a case that a judge is asked about: not of those about loading the skill, which it does
/// not see.
pub(super) fn judged_statements(
    eval: &Eval,
    blind: Sight,
) -> impl Iterator<Item = (String, &Statement)> {
    let statements: Vec<&Statement> = eval.statements().collect();
    let numbered = ids('E', statements.len()).zip(statements);
    numbered.filter(move |(_, statement)| {
        blind == Sight::Whole || Loading::wanted_by(statement.text()).is_none()
    })
}

/// Whether a judge sees what shows the skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    Blind,
    /// Nobody knows which skill it is.
    Whole,
}

impl Sight {
    pub(super) fn of(skill: Option<&str>) -> Self {
        if skill.is_some() { Self::Blind } else { Self::Whole }
    }
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
    criterion: Option<Cow<'e, str>>,
    text: Cow<'e, str>,
}

#[derive(Serialize)]
struct ShownDimension<'e> {
    id: String,
    name: &'e str,
    description: Cow<'e, str>,
    anchors: Vec<ShownAnchor<'e>>,
}

#[derive(Serialize)]
struct ShownAnchor<'e> {
    score: u8,
    text: Cow<'e, str>,
}

#[derive(Serialize)]
struct ShownCheck<'e> {
    id: &'e str,
    text: Cow<'e, str>,
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
    /// Whether it is asked again, about what is missing.
    again: bool,
    /// Whether anything has to be absent.
    absence: bool,
}

/// Asks about a run of an `evals` suite.
pub fn evals(
    eval: &Eval,
    structural: Option<&Structural>,
    material: &Material,
    template: &Template,
    key: FenceKey,
    asked: Asked<'_>,
) -> Result<Question, QuestionError> {
    let blind = &material.blind;
    let sight = if blind.hides_skill() { Sight::Blind } else { Sight::Whole };
    let dimensions = eval.quality_rubric.iter().flat_map(|rubric| &rubric.dimensions);
    let dimensions: Vec<_> = dimensions.collect();
    let statements =
        judged_statements(eval, sight).map(|(id, statement)| Wanted::new(id, statement.text()));
    let numbered = ids('D', dimensions.len()).zip(&dimensions);
    let scored = numbered.map(|(id, dimension)| Wanted::new(id, &dimension.description));
    let wanted = asked.of(statements.chain(scored).collect());
    let schema = EvalsAnswer::schema(&wanted, asked.rest())?;
    let expected = eval.expected_output.as_deref().unwrap_or_default();
    let fenced = Fenced::new(key, &blind.apply(&eval.prompt), &blind.apply(expected), material);
    // Whether the skill was loaded tells the arm.
    let is_shown = |check: &&CheckResult| {
        check.check_type != "skill_loaded" && Loading::wanted_by(&check.text).is_none()
    };
    let checks = structural.iter().flat_map(|structural| &structural.expectations);
    let context = Context {
        checks: checks
            .filter(is_shown)
            .filter(|_| asked == Asked::All)
            .map(|check| ShownCheck {
                id: &check.id,
                text: blind.apply(&check.text),
                passed: check.passed,
            })
            .collect(),
        dimensions: ids('D', dimensions.len())
            .zip(dimensions)
            .filter(|(id, _)| is_wanted(&wanted, id))
            .map(|(id, dimension)| ShownDimension {
                id,
                name: &dimension.name,
                description: blind.apply(&dimension.description),
                anchors: dimension
                    .scoring
                    .anchors()
                    .map(|(score, text)| ShownAnchor { score, text: blind.apply(text) })
                    .collect(),
            })
            .collect(),
        expectations: judged_statements(eval, sight)
            .filter(|(id, _)| is_wanted(&wanted, id))
            .map(|(id, statement)| shown(id, statement, blind))
            .collect(),
        again: asked != Asked::All,
        absence: has_absence(&wanted),
        ..fenced.context()
    };
    finish(template, &context, material, schema, wanted)
}

/// Asks about a run of a `cases` suite.
pub fn cases(
    case: &SuiteCase,
    material: &Material,
    template: &Template,
    key: FenceKey,
    asked: Asked<'_>,
) -> Result<Question, QuestionError> {
    let blind = &material.blind;
    let skill_shown = if material.skill.is_some() { SkillShown::Yes } else { SkillShown::No };
    let criteria = ids('C', case.expectations.len()).zip(&case.expectations);
    let criteria = criteria.map(|(id, criterion)| Wanted::new(id, &criterion.description));
    let wanted = asked.of(criteria.collect());
    let schema = CasesAnswer::schema(&wanted, skill_shown, asked.rest())?;
    let fenced = Fenced::new(key, &blind.apply(&case.prompt), "", material);
    let expectations: Vec<_> = ids('C', case.expectations.len())
        .zip(&case.expectations)
        .filter(|(id, _)| is_wanted(&wanted, id))
        .map(|(id, criterion)| ShownExpectation {
            id,
            criterion: Some(blind.apply(&criterion.criterion)),
            text: blind.apply(&criterion.description),
        })
        .collect();
    let again = asked != Asked::All;
    let absence = has_absence(&wanted);
    let mut context = Context { expectations, again, absence, ..fenced.context() };
    if again {
        context.skill.clear();
    }
    finish(template, &context, material, schema, wanted)
}

pub fn behaviour(
    assertions: &[Statement],
    material: &Material,
    template: &Template,
    key: FenceKey,
    asked: Asked<'_>,
) -> Result<Question, QuestionError> {
    let dimensions = DIMENSIONS.map(str::to_owned);
    let statements = ids('A', assertions.len()).zip(assertions);
    let statements = statements.map(|(id, statement)| Wanted::new(id, statement.text()));
    let dimensions = dimensions.map(|id| Wanted::new(id, ""));
    let wanted = asked.of(statements.chain(dimensions).collect());
    let schema = BehaviourAnswer::schema(&wanted, asked.rest())?;
    let fenced = Fenced::new(key, "", "", material);
    let expectations = ids('A', assertions.len()).zip(assertions);
    let context = Context {
        expectations: expectations
            .filter(|(id, _)| is_wanted(&wanted, id))
            .map(|(id, statement)| shown(id, statement, &material.blind))
            .collect(),
        again: asked != Asked::All,
        absence: has_absence(&wanted),
        ..fenced.context()
    };
    finish(template, &context, material, schema, wanted)
}

fn is_wanted(wanted: &[Wanted], id: &str) -> bool {
    wanted.iter().any(|one| one.id == id)
}

fn has_absence(wanted: &[Wanted]) -> bool {
    wanted.iter().any(|one| one.absence != Absence::None)
}

fn shown<'e>(id: String, statement: &'e Statement, blind: &Blind) -> ShownExpectation<'e> {
    ShownExpectation { id, criterion: None, text: blind.apply(statement.text()) }
}

fn finish(
    template: &Template,
    context: &Context<'_>,
    material: &Material,
    schema: AnswerSchema,
    wanted: Vec<Wanted>,
) -> Result<Question, QuestionError> {
    let Rendered { system, user } = template.render(context)?;
    let drawn = material.marks().chain([context.boundary]).map(str::to_owned).collect();
    Ok(Question { system, user, schema, template: template.record().clone(), wanted, drawn })
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
    fn new(key: FenceKey, prompt: &str, expected: &str, material: &Material) -> Self {
        let outputs = material.outputs.as_ref().map_or("", |digest| digest.text.as_str());
        let skill = material.skill.as_deref().unwrap_or_default();
        let texts = [prompt, expected, &material.transcript.text, outputs, skill];
        let fence = Fence::around(key, &texts);
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
