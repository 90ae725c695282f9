//! The grading of a run of an `evals` suite: structural checks, then judged expectations; rubric; gate.

use indexmap::IndexMap;
use skillgauge_format::Extra;
use skillgauge_format::evals::{
    CheckResult, Dimension, Eval, EvalFeedback, EvalSuggestion, EvalsGrading, Metrics, RubricScore,
    RubricSummary, Structural, Timing, UserNotesSummary,
};
use skillgauge_format::part::{Claim, EvalId, GradedExpectation, Statement, Tally};
use skillgauge_format::transcript::Transcript;

use super::evidence::{Evidence, Open, Scored, Unquoted};
use super::vote::Majority;
use super::{CONTRADICTED, Given, UNREAD, Votes};
use crate::judge::answer::{
    EvalsAnswer, FeedbackAnswer, JudgedClaim, JudgedScore, JudgedStatement, JudgedVerdict,
    NotesAnswer, ids,
};
use crate::judge::loading::Loading;
use crate::judge::material::Corpus;
use crate::judge::question::{Sight, judged_statements};

/// A run that is graded.
#[derive(Clone, Copy, Debug)]
pub struct EvalsSubject<'s> {
    pub eval: &'s Eval,
    /// What the structural checks found; none when they were not evaluated.
    pub structural: Option<&'s Structural>,
    /// Whether a failed critical check ends the grading.
    pub structural_gate: bool,
    /// Whether there is a judge at all. Without one only the checks count, in every run alike, gate or not.
    pub has_judge: bool,
    pub metrics: Option<&'s Metrics>,
    pub timing: Option<&'s Timing>,
    /// The skill under test, to which the judge is blind; none when nobody knows it.
    pub skill: Option<&'s str>,
    /// What the agent did: it decides what is expected about loading the skill.
    pub transcript: Option<&'s Transcript>,
}

/// Whether a judge is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// There is something to judge.
    Judge,
    /// The case has neither statements nor a rubric.
    Nothing,
    /// The gate is closed: these critical checks failed.
    Gated(Vec<String>),
}

impl EvalsSubject<'_> {
    /// Whether a judge is needed.
    pub fn need(&self) -> Need {
        let failed = self.structural.filter(|found| self.structural_gate && !found.gate_passed);
        if let Some(structural) = failed {
            let is_failed = |check: &&CheckResult| check.critical && !check.passed;
            let checks = structural.expectations.iter().filter(is_failed);
            return Need::Gated(checks.map(|check| check.id.clone()).collect());
        }
        let has_statements = judged_statements(self.eval, Sight::of(self.skill)).next().is_some();
        if has_statements || !self.dimensions().is_empty() { Need::Judge } else { Need::Nothing }
    }

    fn dimensions(&self) -> &[Dimension] {
        self.eval.quality_rubric.as_ref().map_or(&[], |rubric| &rubric.dimensions)
    }

    /// Checks of the suite that have no result.
    fn unchecked(&self) -> impl Iterator<Item = String> {
        let known = |id: &str| {
            self.structural
                .is_some_and(|found| found.expectations.iter().any(|check| check.id == id))
        };
        let checks = self.eval.structural_expectations.iter().flatten();
        checks
            .filter(move |check| !known(&check.id))
            .map(|check| format!("{}: the structural check was not evaluated", check.description))
    }
}

/// Makes the grading. What no vote has answered is named in `judge_errors` and counted nowhere.
pub fn grade_evals(
    subject: &EvalsSubject<'_>,
    votes: &Votes<EvalsAnswer>,
    corpus: &Corpus,
) -> EvalsGrading {
    let need = subject.need();
    let mut grading = Grading { corpus, expectations: Vec::new(), errors: Vec::new() };
    grading.errors.extend(subject.unchecked());
    let checks = subject.structural.iter().flat_map(|structural| &structural.expectations);
    grading.expectations.extend(checks.map(check_result));
    match &need {
        Need::Gated(checks) if subject.has_judge => grading.gate(subject.eval, checks),
        Need::Nothing => grading.judge(subject, &Votes::default()),
        Need::Judge | Need::Gated(_) => grading.judge(subject, votes),
    }
    let has_rubric = !subject.dimensions().is_empty();
    let scores = match need {
        Need::Gated(_) if subject.has_judge => IndexMap::new(),
        Need::Judge | Need::Gated(_) => grading.rubric(subject.dimensions(), votes),
        Need::Nothing => IndexMap::new(),
    };
    let first = votes.answers.first().filter(|_| need == Need::Judge);
    let claims = first.into_iter().flat_map(|answer| &answer.claims);
    let Grading { expectations, errors, .. } = grading;
    let passed = expectations.iter().filter(|expectation| expectation.passed).count() as u64;
    EvalsGrading {
        summary: Tally::new(passed, expectations.len() as u64 - passed),
        expectations: Some(expectations),
        rubric_summary: has_rubric.then(|| summary(subject.dimensions(), &scores)),
        rubric_scores: has_rubric.then_some(scores),
        execution_metrics: subject.metrics.cloned(),
        timing: subject.timing.map(without_total),
        // The seed's fields are there whoever was asked; nobody claims or suggests anything then.
        claims: Some(claims.map(|claimed| claim(claimed, corpus)).collect()),
        user_notes_summary: first.map(|answer| notes(&answer.user_notes)),
        eval_feedback: Some(feedback(first.map(|answer| &answer.eval_feedback))),
        judge_errors: (!errors.is_empty()).then_some(errors),
        gate_passed: subject.structural.map(|structural| structural.gate_passed),
        ..EvalsGrading::default()
    }
}

/// The public skill-creator's script looks into timing.json, and finds the tokens there, only when the grading has no
/// total; with one it takes characters for tokens.
fn without_total(timing: &Timing) -> Timing {
    Timing { total_duration_seconds: None, ..timing.clone() }
}

struct Grading<'c> {
    corpus: &'c Corpus,
    expectations: Vec<GradedExpectation>,
    errors: Vec<String>,
}

impl Grading<'_> {
    /// Expectations that were not judged because of the gate have failed.
    fn gate(&mut self, eval: &Eval, checks: &[String]) {
        let evidence =
            format!("Not judged: the structural gate is closed ({} failed)", checks.join(", "));
        for statement in eval.statements() {
            let mut graded = unjudged(statement);
            graded.evidence = Some(evidence.clone());
            graded.not_judged = Some("gate".to_owned());
            self.expectations.push(graded);
        }
    }

    fn judge(&mut self, subject: &EvalsSubject<'_>, votes: &Votes<EvalsAnswer>) {
        let statements: Vec<&Statement> = subject.eval.statements().collect();
        for (id, statement) in ids('E', statements.len()).zip(statements) {
            let loading = subject.skill.zip(Loading::wanted_by(statement.text()));
            if let Some((skill, loading)) = loading {
                self.load(statement, loading, subject.transcript, skill);
                continue;
            }
            let given = votes.about(|answer| answer.expectations.get(&id));
            match judge_statement(statement, &given, self.corpus) {
                Ok(graded) => self.expectations.push(graded),
                Err(open) => {
                    let said = votes.answers.iter().filter(|it| it.expectations.contains_key(&id));
                    let contradicts = votes.answers.iter().any(|it| it.contradicted.contains(&id));
                    let unread = if contradicts { CONTRADICTED } else { UNREAD };
                    let why = open.reason(|| votes.reason(said.count(), unread));
                    self.errors.push(format!("{}: {why}", statement.text()));
                }
            }
        }
    }

    /// What is expected about loading the skill, from the events: the judge is blind to them.
    fn load(
        &mut self,
        statement: &Statement,
        loading: Loading,
        transcript: Option<&Transcript>,
        skill: &str,
    ) {
        match loading.decide(transcript, skill) {
            Some((passed, evidence)) => self.expectations.push(GradedExpectation {
                passed,
                evidence: Some(evidence),
                check_type: Some("skill_loaded".to_owned()),
                ..unjudged(statement)
            }),
            None => self.errors.push(format!(
                "{}: without a transcript nobody knows whether the skill was loaded",
                statement.text()
            )),
        }
    }

    fn rubric(
        &mut self,
        dimensions: &[Dimension],
        votes: &Votes<EvalsAnswer>,
    ) -> IndexMap<String, RubricScore> {
        let mut scores = IndexMap::new();
        for (id, dimension) in ids('D', dimensions.len()).zip(dimensions) {
            let given = votes.about(|answer| answer.rubric.get(&id));
            match judge_score(&given, &dimension.description, self.corpus) {
                Ok(score) => {
                    scores.insert(dimension.name.clone(), score);
                }
                Err(open) => {
                    let said = votes.answers.iter().filter(|it| it.rubric.contains_key(&id));
                    let why = open.reason(|| votes.reason(said.count(), UNREAD));
                    self.errors.push(format!("rubric {}: {why}", dimension.name));
                }
            }
        }
        scores
    }
}

/// A structural check as an expectation of the grading.
fn check_result(check: &CheckResult) -> GradedExpectation {
    GradedExpectation {
        text: check.text.clone(),
        passed: check.passed,
        evidence: Some(check.evidence.clone()),
        id: Some(EvalId::Text(check.id.clone())),
        check_type: Some(check.check_type.clone()),
        critical: Some(check.critical),
        ..GradedExpectation::default()
    }
}

fn unjudged(statement: &Statement) -> GradedExpectation {
    let id = match statement {
        Statement::Object(object) => object.id.clone().map(EvalId::Text),
        Statement::Text(_) => None,
    };
    GradedExpectation { text: statement.text().to_owned(), id, ..GradedExpectation::default() }
}

/// The verdict of the votes on a statement; the reason where they decide none.
pub(super) fn judge_statement(
    statement: &Statement,
    Given { said, missing }: &Given<'_, JudgedStatement>,
    corpus: &Corpus,
) -> Result<GradedExpectation, Open> {
    let look_up = |vote: &&JudgedStatement| {
        Evidence::of(corpus, &vote.quotes, &vote.absent, statement.text())
    };
    let judged = said.iter().map(|vote| (*vote, look_up(vote)));
    let (decided, open) = Open::sort(judged, |vote, evidence| {
        evidence.undecided().filter(|_| vote.verdict == JudgedVerdict::Pass)
    });
    let is_pass = |(vote, evidence): &(&JudgedStatement, Evidence)| {
        vote.verdict == JudgedVerdict::Pass && evidence.holds()
    };
    let verdicts: Vec<bool> = decided.iter().map(is_pass).collect();
    let majority = Majority::of(&verdicts, missing + open.count()).ok_or(open)?;
    let (vote, evidence) = &decided[majority.speaker];
    let objection = evidence.objection().filter(|_| vote.verdict == JudgedVerdict::Pass);
    let described = evidence.describe(&vote.reasoning);
    Ok(GradedExpectation {
        passed: majority.passed,
        evidence_found: evidence.found(objection.is_some()),
        quotes: evidence.kept(),
        unfound_quotes: evidence.unfound_quotes(),
        absent: evidence.searches(),
        voided: objection.is_some().then_some(true),
        votes: majority.votes(),
        disagreement: majority.disagreement(),
        evidence: Some(match objection {
            Some(objection) => format!("Pass voided: {objection}. {described}"),
            None => described,
        }),
        ..unjudged(statement)
    })
}

fn judge_score(
    given: &Given<'_, JudgedScore>,
    expected: &str,
    corpus: &Corpus,
) -> Result<RubricScore, Open> {
    let scored = Scored::of(given, expected, Unquoted::Stands, corpus)?;
    Ok(RubricScore {
        score: scored.score,
        evidence: scored.text,
        evidence_found: scored.evidence_found,
        quotes: scored.quotes,
        unfound_quotes: scored.unfound_quotes,
        absent: scored.absent,
        voided: scored.voided,
        judged_score: scored.judged_score,
        votes: scored.votes,
        disagreement: scored.disagreement,
        extra: Extra::new(),
    })
}

/// The weighted mean of the dimensions; none when one of them has no score, since the rest would be another rubric.
fn summary(
    dimensions: &[Dimension],
    scores: &IndexMap<String, RubricScore>,
) -> Option<RubricSummary> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for dimension in dimensions {
        let score = scores.get(&dimension.name)?;
        sum += f64::from(score.score) * dimension.weight();
        weights += dimension.weight();
    }
    let mean = sum / weights;
    (weights > 0.0 && mean.is_finite()).then(|| RubricSummary::of(mean))
}

/// A claim; one that is said to hold and whose quotes are nowhere does not.
pub(super) fn claim(judged: &JudgedClaim, corpus: &Corpus) -> Claim {
    let evidence = Evidence::look_up(corpus, &judged.quotes);
    let objection = evidence.objection().filter(|_| judged.verified);
    let described = evidence.describe(&judged.evidence);
    Claim {
        claim: judged.claim.clone(),
        claim_type: judged.claim_type.clone(),
        verified: judged.verified && objection.is_none(),
        evidence_found: evidence.found(objection.is_some()),
        quotes: evidence.kept(),
        evidence: Some(match objection {
            Some(objection) => format!("Not verified: {objection}. {described}"),
            None => described,
        }),
        extra: Extra::new(),
    }
}

fn notes(answer: &NotesAnswer) -> UserNotesSummary {
    UserNotesSummary {
        uncertainties: Some(answer.uncertainties.clone()),
        needs_review: Some(answer.needs_review.clone()),
        workarounds: Some(answer.workarounds.clone()),
        extra: Extra::new(),
    }
}

fn feedback(answer: Option<&FeedbackAnswer>) -> EvalFeedback {
    let suggestions = answer.into_iter().flat_map(|answer| &answer.suggestions);
    let suggestions = suggestions.filter(|given| !given.reason.trim().is_empty());
    EvalFeedback {
        suggestions: Some(
            suggestions
                .map(|given| EvalSuggestion {
                    assertion: Some(given.assertion.trim().to_owned())
                        .filter(|text| !text.is_empty()),
                    reason: given.reason.trim().to_owned(),
                    action: Some(given.action.trim().to_owned()).filter(|text| !text.is_empty()),
                    extra: Extra::new(),
                })
                .collect(),
        ),
        overall: Some(answer.map(|answer| answer.overall.trim().to_owned()).unwrap_or_default()),
        extra: Extra::new(),
    }
}
