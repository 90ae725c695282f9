//! The grading of a run of a `cases` suite: criteria from 1 to 5, and the conventions of skill writing.

use skillgauge_format::cases::{
    CasesGrading, ConventionCheck, ConventionCompliance, Criterion, CriterionResult, PASSING_SCORE,
    SuiteCase, Verdict,
};
use skillgauge_format::evals::Metrics;
use skillgauge_format::{Extra, Number, write};

use super::convention::{front_matter, token_efficiency};
use super::evals::claim;
use super::evidence::{Open, Scored, Unquoted};
use super::vote::Majority;
use super::{Given, NotGraded, Votes};
use crate::judge::answer::{CasesAnswer, JudgedConvention, JudgedScore, ids};
use crate::judge::material::Corpus;
use crate::skill::Skill;

/// A run that is graded.
#[derive(Clone, Copy, Debug)]
pub struct CasesSubject<'s> {
    pub case: &'s SuiteCase,
    /// Which version of the skill was tested.
    pub version: u64,
    /// The number of the run, from 1.
    pub run: u64,
    /// The skill, for the conventions.
    pub skill: Option<&'s Skill>,
    pub metrics: Option<&'s Metrics>,
}

/// Makes the grading. Without any answer there is none: every score of this file must be there.
pub fn grade_cases(
    subject: &CasesSubject<'_>,
    votes: &Votes<CasesAnswer>,
    corpus: &Corpus,
) -> Result<CasesGrading, NotGraded> {
    let first = votes.answers.first().ok_or_else(|| NotGraded::of(votes))?;
    let criteria = &subject.case.expectations;
    let (mut results, mut open) = (Vec::with_capacity(criteria.len()), Vec::new());
    for (id, criterion) in ids('C', criteria.len()).zip(criteria) {
        let given = votes.about(|answer| answer.criteria.get(&id));
        match judge_criterion(criterion, &given, corpus) {
            Ok(result) => results.push(result),
            Err(reason) => open.push((criterion.criterion.as_str(), reason)),
        }
    }
    if !open.is_empty() {
        return Err(NotGraded::about(open, votes));
    }
    let scores = |is_wanted: &dyn Fn(usize) -> bool| -> Vec<u8> {
        let wanted = results.iter().enumerate().filter(|(index, _)| is_wanted(*index));
        wanted.map(|(_, result)| result.score).collect()
    };
    let all = scores(&|_| true);
    let required = scores(&|index| criteria[index].required);
    // A suite without a required criterion is refused elsewhere; then all of them count.
    let required = if required.is_empty() { all.clone() } else { required };
    let is_passed = required.iter().all(|&score| score >= PASSING_SCORE);
    Ok(CasesGrading {
        case_id: subject.case.id.clone(),
        version: subject.version,
        run: subject.run.max(1),
        overall_score: mean(&all).ok_or_else(|| NotGraded::of(votes))?,
        required_score: mean(&required).ok_or_else(|| NotGraded::of(votes))?,
        results,
        overall: if is_passed { Verdict::Pass } else { Verdict::Fail },
        convention_compliance: conventions(subject.skill, votes),
        claims: first.claims.iter().map(|judged| claim(judged, corpus)).collect(),
        user_notes_summary: first.user_notes_summary.trim().to_owned(),
        eval_feedback: first.eval_feedback.trim().to_owned(),
        execution_metrics: subject.metrics.cloned().unwrap_or_default(),
        grader: None,
        skill_content_hash: None,
        iteration: None,
        extra: Extra::new(),
    })
}

fn mean(scores: &[u8]) -> Option<Number> {
    let count = u32::try_from(scores.len()).ok().filter(|&count| count > 0)?;
    let sum: f64 = scores.iter().map(|&score| f64::from(score)).sum();
    Some(Number::Float(write::round_score(sum / f64::from(count))))
}

fn judge_criterion(
    criterion: &Criterion,
    given: &Given<'_, JudgedScore>,
    corpus: &Corpus,
) -> Result<CriterionResult, Open> {
    let scored = Scored::of(given, &criterion.description, Unquoted::Voided, corpus)?;
    Ok(CriterionResult {
        evidence_found: scored.evidence_found,
        quotes: scored.quotes,
        unfound_quotes: scored.unfound_quotes,
        absent: scored.absent,
        voided: scored.voided,
        judged_score: scored.judged_score,
        votes: scored.votes,
        disagreement: scored.disagreement,
        ..CriterionResult::new(&criterion.criterion, scored.score, scored.text)
    })
}

/// Two conventions are computed, three are judged.
fn conventions(skill: Option<&Skill>, votes: &Votes<CasesAnswer>) -> ConventionCompliance {
    ConventionCompliance {
        frontmatter: skill.map_or_else(not_known, front_matter),
        description_field: judge_convention("description_field", votes),
        token_efficiency: skill.map_or_else(not_known, token_efficiency),
        progressive_disclosure: judge_convention("progressive_disclosure", votes),
        type_alignment: judge_convention("type_alignment", votes),
        extra: Extra::new(),
    }
}

fn not_known() -> ConventionCheck {
    ConventionCheck {
        details: "Not judged: the skill was not given".to_owned(),
        not_judged: Some("no skill".to_owned()),
        ..ConventionCheck::default()
    }
}

fn judge_convention(name: &str, votes: &Votes<CasesAnswer>) -> ConventionCheck {
    let given: Given<'_, JudgedConvention> = votes.about(|answer| answer.conventions.get(name));
    let Given { said: given, missing } = given;
    let verdicts: Vec<bool> = given.iter().map(|vote| vote.passed).collect();
    let Some(majority) = Majority::of(&verdicts, missing) else { return not_known() };
    ConventionCheck {
        passed: majority.passed,
        details: given[majority.speaker].details.trim().to_owned(),
        votes: majority.votes(),
        disagreement: majority.disagreement(),
        ..ConventionCheck::default()
    }
}
