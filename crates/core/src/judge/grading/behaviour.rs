//! The grading of behaviour: assertions about any transcript, and four fixed dimensions.

use skillgauge_format::Extra;
use skillgauge_format::part::{GradedExpectation, Statement};
use skillgauge_format::trigger::{BehaviourGrading, Dimensions, ScoredDimension};

use super::evals::judge_statement;
use super::evidence::Open;
use super::vote::Median;
use super::{Given, NotGraded, Votes};
use crate::judge::answer::{BehaviourAnswer, JudgedStatement, ScoredNote, ids};
use crate::judge::material::Corpus;

/// Makes the grading. Without any answer there is none: every score of this file must be there.
pub fn grade_behaviour(
    assertions: &[Statement],
    votes: &Votes<BehaviourAnswer>,
    corpus: &Corpus,
) -> Result<BehaviourGrading, NotGraded> {
    let not_graded = || NotGraded::of(votes);
    let first = votes.answers.first().ok_or_else(not_graded)?;
    let mut graded: Vec<GradedExpectation> = Vec::with_capacity(assertions.len());
    for (id, assertion) in ids('A', assertions.len()).zip(assertions) {
        let given: Given<'_, JudgedStatement> = votes.about(|answer| answer.assertions.get(&id));
        let open = |open| NotGraded::about([(assertion.text(), open)], votes);
        graded.push(judge_statement(assertion, &given, corpus).map_err(open)?);
    }
    let dimension = |name: &str| {
        dimension(name, votes).ok_or_else(|| NotGraded::about([(name, Open::default())], votes))
    };
    let dimensions = Dimensions {
        task_completion: dimension("task_completion")?,
        output_structure: dimension("output_structure")?,
        error_handling: dimension("error_handling")?,
        efficiency: dimension("efficiency")?,
        extra: Extra::new(),
    };
    Ok(BehaviourGrading {
        assertions: graded,
        overall_score: dimensions.mean(),
        dimensions,
        summary: first.summary.trim().to_owned(),
        weak_assertions: weak(assertions, &first.weak_assertions),
        missing_coverage: first.missing_coverage.clone(),
        grader: None,
        extra: Extra::new(),
    })
}

fn dimension(name: &str, votes: &Votes<BehaviourAnswer>) -> Option<ScoredDimension> {
    let given: Given<'_, ScoredNote> = votes.about(|answer| answer.dimensions.get(name));
    let Given { said: given, missing } = given;
    let scores: Vec<u8> = given.iter().map(|note| note.score).collect();
    let median = Median::of(&scores, missing)?;
    Some(ScoredDimension {
        score: median.score,
        notes: given[median.speaker].notes.trim().to_owned(),
        votes: median.votes(),
        disagreement: median.disagreement(),
        extra: Extra::new(),
    })
}

/// The texts of the assertions that a judge named by id or by text; what names none is left out.
fn weak(assertions: &[Statement], named: &[String]) -> Vec<String> {
    let is_named = |id: &str, text: &str| {
        named.iter().any(|name| {
            let name = name.trim();
            name == id
                || name == text
                || name.split(':').next().is_some_and(|head| head.trim() == id)
        })
    };
    ids('A', assertions.len())
        .zip(assertions)
        .filter(|(id, assertion)| is_named(id, assertion.text()))
        .map(|(_, assertion)| assertion.text().to_owned())
        .collect()
}
