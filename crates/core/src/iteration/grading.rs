//! What a grading says, in each of its three shapes: the `evals` dialect (with the skill-creator's), the
//! `assertion_results` of agentskills.io, and the `cases` dialect with criteria from 1 to 5. A run of a `cases` suite has
//! the first shape, with the `overall` and the `overall_score` of the last.
//!
//! Read by hand and not through the types: a grading of another tool that lacks a field must still count.

use skillgauge_format::cases::PASSING_SCORE;
use skillgauge_format::evals::MeasuredJudge;
use skillgauge_format::json::{Node, Number};
use skillgauge_format::part::{Claim, GradedExpectation};
use skillgauge_format::write::rate;

use super::file::{amount, text, whole, words};
use super::judge::JudgeTally;
use crate::judge::NO_JUDGE;
use crate::statistics::Spread;

/// The best score of a criterion or a dimension.
pub(super) const BEST: f64 = 5.0;

/// How many expectations passed; a summary alone may have more than there are verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub total: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rubric {
    /// From 0 to 1.
    pub normalized: f64,
    pub scores: Vec<DimensionScore>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DimensionScore {
    pub dimension: String,
    /// From 1 to 5.
    pub score: f64,
    pub evidence: Option<String>,
}

/// One suggestion about the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub assertion: Option<String>,
    pub reason: String,
    pub action: Option<String>,
}

/// What a run was graded with.
#[derive(Debug, Default)]
pub(super) struct Graded {
    /// As stated, or else as counted.
    pub(super) pass_rate: Number,
    pub(super) counts: Counts,
    pub(super) verdicts: Vec<GradedExpectation>,
    /// What `overall` says, in the `cases` dialect.
    overall: Option<bool>,
    pub(super) judge_errors: Vec<String>,
    /// Whether there was no judge to ask.
    pub(super) is_unjudged: bool,
    pub(super) rubric: Option<Rubric>,
    pub(super) gate_passed: Option<bool>,
    pub(super) overall_score: Option<f64>,
    pub(super) required_score: Option<f64>,
    pub(super) suggestions: Vec<Suggestion>,
    pub(super) claims: Vec<Claim>,
    pub(super) notes: Vec<String>,
    pub(super) seconds: Option<f64>,
    pub(super) tokens: Option<u64>,
    pub(super) tool_calls: Option<u64>,
    pub(super) errors: Option<u64>,
    pub(super) judge: Option<String>,
    pub(super) judged_by: Option<MeasuredJudge>,
    pub(super) judged: JudgeTally,
    /// What contradicts itself or was passed over.
    pub(super) problems: Vec<String>,
}

impl Graded {
    /// Reads a grading of any shape; an error says why nothing can be made of it.
    pub(super) fn read(root: &Node<'_>) -> Result<Self, String> {
        if root.members().is_empty() {
            return Err("expected an object with a grading".to_owned());
        }
        let mut graded = Self::default();
        if root.has("results") {
            graded.take_criteria(root);
        } else {
            graded.take_expectations(root);
        }
        if root.has("overall_score") {
            let score = amount(Some(root), "overall_score").map(Number::as_f64);
            let score = score.or(graded.overall_score).filter(|score| *score <= BEST);
            graded.overall_score = score.map(|stated| graded.exact_score(stated));
            let score = amount(Some(root), "required_score").map(Number::as_f64);
            graded.required_score = score.filter(|score| *score <= BEST);
            graded.overall = match words(root, "overall") {
                Some("pass") => Some(true),
                Some("fail") => Some(false),
                _ => None,
            };
        }
        let claims = root.get("claims").map(Node::items).unwrap_or_default();
        graded.claims =
            claims.iter().filter_map(|claim| claim.deserialize::<Claim>().ok()).collect();
        let metrics = root.get("execution_metrics");
        graded.tool_calls = whole(metrics, "total_tool_calls");
        graded.errors = whole(metrics, "errors_encountered");
        let timing = root.get("timing");
        let seconds = amount(timing, "total_duration_seconds").map(Number::as_f64);
        graded.seconds = seconds.filter(|seconds| *seconds > 0.0);
        graded.tokens = whole(timing, "total_tokens").filter(|tokens| *tokens > 0);
        graded.gate_passed = root.get("gate_passed").and_then(Node::as_bool);
        let judge = root.get("judge").and_then(|judge| words(judge, "model").or(judge.as_str()));
        graded.judged = JudgeTally::of(root);
        graded.judge = words(root, "judge_model").or(judge).map(str::to_owned);
        graded.judged_by = root.get("grader").and_then(judged_by);
        Ok(graded)
    }

    /// Whether it says anything about the run.
    pub(super) const fn is_empty(&self) -> bool {
        self.counts.total == 0 && self.rubric.is_none()
    }

    /// Whether the run passed as a whole.
    pub(super) fn is_passed(&self) -> bool {
        let by_rubric = || {
            let normalized = self.rubric.as_ref().map(|rubric| rubric.normalized);
            normalized.is_some_and(|share| share * BEST >= f64::from(PASSING_SCORE))
        };
        self.overall.unwrap_or_else(|| match self.counts {
            Counts { total: 0, .. } => by_rubric(),
            Counts { passed, total, .. } => passed >= total,
        })
    }

    /// The pass rate by the counts. A stated one may be rounded to two decimals in one arm and to four in the other,
    /// which would be a difference out of nothing.
    pub(super) fn exact_rate(&self) -> f64 {
        let Counts { passed, total, .. } = self.counts;
        if total == 0 {
            return self.rubric.as_ref().map_or(0.0, |rubric| rubric.normalized);
        }
        let as_number = |count: u64| Number::Unsigned(count).as_f64();
        (as_number(passed) / as_number(total)).min(1.0)
    }

    /// The mean of the scores where the stated one is that mean in one decimal, as the seed writes it.
    fn exact_score(&self, stated: f64) -> f64 {
        let scores: Option<Vec<f64>> =
            self.verdicts.iter().map(|found| found.score.map(Number::as_f64)).collect();
        let mean = scores.and_then(|scores| Spread::of(&scores)).map(|spread| spread.mean);
        mean.filter(|mean| (mean - stated).abs() <= 0.051).unwrap_or(stated)
    }

    fn take_expectations(&mut self, root: &Node<'_>) {
        for item in ["expectations", "assertion_results"]
            .into_iter()
            .filter_map(|key| root.get(key))
            .flat_map(Node::items)
        {
            match expectation(item) {
                Some(found) => self.verdicts.push(found),
                None => self.problems.push("an expectation has no `text` or no `passed`".into()),
            }
        }
        self.take_judge_errors(root);
        self.count(root.get("summary"));
        self.rubric = rubric(root);
        if let Some(notes) = root.get("user_notes_summary") {
            let lists = ["uncertainties", "needs_review", "workarounds"].into_iter();
            let notes = lists.filter_map(|key| notes.get(key)).flat_map(Node::items);
            self.notes.extend(notes.filter_map(Node::as_str).map(str::to_owned));
        }
        let feedback = root.get("eval_feedback").and_then(|feedback| feedback.get("suggestions"));
        self.suggestions =
            feedback.map(Node::items).unwrap_or_default().iter().filter_map(suggestion).collect();
    }

    /// What has no verdict. Where there was no judge, that is no error, and nothing but checks was asked for.
    fn take_judge_errors(&mut self, root: &Node<'_>) {
        let errors = root.get("judge_errors").map(Node::items).unwrap_or_default();
        for error in errors {
            match error.as_str() {
                Some(text) if text.ends_with(NO_JUDGE) => self.is_unjudged = true,
                Some(text) => self.judge_errors.push(text.to_owned()),
                None => self.judge_errors.push("something has no verdict".to_owned()),
            }
        }
    }

    /// Takes the counts of the summary, and those of the verdicts where it has none.
    fn count(&mut self, summary: Option<&Node<'_>>) {
        let verdicts = self.verdicts.len() as u64;
        let holding = self.verdicts.iter().filter(|found| found.passed).count() as u64;
        let mut passed = whole(summary, "passed").unwrap_or(holding);
        let total = whole(summary, "total").unwrap_or(verdicts);
        let mut failed = whole(summary, "failed").unwrap_or_else(|| total.saturating_sub(passed));
        let mut stated = amount(summary, "pass_rate").filter(|rate| rate.as_f64() <= 1.0);
        if verdicts == total && holding != passed {
            // What was said of each expectation has evidence, a count has none.
            self.problems.push(format!(
                "the summary says that {passed} of {total} passed, the expectations say {holding}, \
                 which counts"
            ));
            (passed, failed, stated) = (holding, total.saturating_sub(holding), None);
        }
        self.counts = Counts { passed, failed, total };
        self.pass_rate = stated.unwrap_or_else(|| rate(passed.min(total), total));
    }

    fn take_criteria(&mut self, root: &Node<'_>) {
        let mut scores = Vec::new();
        for item in root.get("results").map(Node::items).unwrap_or_default() {
            let criterion = words(item, "criterion");
            let score = amount(Some(item), "score").map(Number::as_f64);
            let (Some(criterion), Some(score)) = (criterion, score.filter(|it| *it <= BEST)) else {
                self.problems.push("a result has no `criterion` or no `score`".into());
                continue;
            };
            scores.push(score);
            self.verdicts.push(GradedExpectation {
                text: criterion.to_owned(),
                passed: score >= f64::from(PASSING_SCORE),
                evidence: text(item, "reasoning"),
                score: Some(Number::Float(score)),
                ..GradedExpectation::default()
            });
        }
        self.count(None);
        // The stated mean, rounded to one decimal, stands for the score when it is there; the share follows from the scores.
        self.overall_score = Spread::of(&scores).map(|spread| spread.mean);
        self.rubric =
            self.overall_score.map(|mean| Rubric { normalized: mean / BEST, scores: Vec::new() });
        self.notes.extend(text(root, "user_notes_summary"));
        self.suggestions.extend(words(root, "eval_feedback").map(|reason| Suggestion {
            assertion: None,
            reason: reason.trim().to_owned(),
            action: None,
        }));
    }
}

impl Rubric {
    /// Puts the unrounded number in the place of the stated one, by the weights of the suite.
    pub(super) fn sharpen(&mut self, weights: &[(String, f64)]) {
        let score = |name: &str| self.scores.iter().find(|found| found.dimension == name);
        let scored: Option<Vec<(f64, f64)>> =
            weights.iter().map(|(name, weight)| Some((score(name)?.score, *weight))).collect();
        let Some(scored) = scored else { return };
        let sum: f64 = scored.iter().map(|(score, weight)| score * weight).sum();
        let all: f64 = scored.iter().map(|(_, weight)| weight).sum();
        if all > 0.0 {
            self.normalized = nearest(self.normalized, sum / all / BEST);
        }
    }
}

/// The computed number if the stated one is the same in 4 decimals, else the stated one.
fn nearest(stated: f64, computed: f64) -> f64 {
    if (computed - stated).abs() <= 0.000_1 { computed } else { stated }
}

fn expectation(item: &Node<'_>) -> Option<GradedExpectation> {
    let mut value = item.to_value();
    let members = value.as_object_mut()?;
    let other_name =
        ["assertion", "expectation"].into_iter().find(|name| members.contains_key(*name));
    if !members.contains_key("text")
        && let Some(text) = other_name.and_then(|name| members.shift_remove(name))
    {
        members.insert("text".to_owned(), text);
    }
    GradedExpectation::of_any_tool(value)
}

/// The verdicts of `structural.json`, for a run that nobody has graded yet.
pub(super) fn checks(root: &Node<'_>) -> Vec<GradedExpectation> {
    let list = root.get("expectations").map(Node::items).unwrap_or_default();
    list.iter().filter_map(expectation).collect()
}

/// Nothing when no part of it tells how good the run was.
fn rubric(root: &Node<'_>) -> Option<Rubric> {
    let members = root.get("rubric_scores").map(Node::members).unwrap_or_default();
    let scores: Vec<DimensionScore> = members
        .iter()
        .filter_map(|member| {
            let score = member.value.get("score").unwrap_or(&member.value).as_number()?.as_f64();
            (0.0..=BEST).contains(&score).then(|| DimensionScore {
                dimension: member.key.to_string(),
                score,
                evidence: text(&member.value, "evidence"),
            })
        })
        .collect();
    let summary = root.get("rubric_summary");
    let stated = |key| amount(summary, key).map(Number::as_f64);
    let normalized = stated("normalized").filter(|share| *share <= 1.0).or_else(|| {
        let scores: Vec<f64> = scores.iter().map(|found| found.score).collect();
        let mean = stated("weighted_mean").or_else(|| Some(Spread::of(&scores)?.mean));
        mean.map(|mean| mean / BEST)
    })?;
    let mut rubric = Rubric { normalized: normalized.clamp(0.0, 1.0), scores };
    let equal: Vec<(String, f64)> =
        rubric.scores.iter().map(|found| (found.dimension.clone(), 1.0)).collect();
    rubric.sharpen(&equal);
    Some(rubric)
}

/// Who judged; nobody when no model was asked.
fn judged_by(grader: &Node<'_>) -> Option<MeasuredJudge> {
    let template = grader.get("template");
    Some(MeasuredJudge {
        model: text(grader, "model")?,
        votes: u32::try_from(whole(Some(grader), "votes")?).ok()?,
        prompt_digest: template.and_then(|template| text(template, "digest")),
        ..MeasuredJudge::default()
    })
}

fn suggestion(item: &Node<'_>) -> Option<Suggestion> {
    let trimmed = |key| words(item, key).map(|text| text.trim().to_owned());
    let reason = trimmed("reason").or_else(|| item.as_str().map(str::to_owned))?;
    Some(Suggestion { assertion: trimmed("assertion"), reason, action: trimmed("action") })
}
