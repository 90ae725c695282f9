//! What a grading says, in each of its three shapes: the `evals` dialect (with the skill-creator's), the
//! `assertion_results` of agentskills.io, and the `cases` dialect with criteria from 1 to 5. A run of a `cases` suite has
//! the first shape, with the `overall` and the `overall_score` of the last.
//!
//! Read by hand and not through the types: a grading of another tool that lacks a field must still count. The usual
//! grading takes the short way of [`super::quick`]; what is here decides for all others.

use std::sync::Arc;

use serde::Deserialize as _;
use skillgauge_format::cases::PASSING_SCORE;
use skillgauge_format::json::{Node, Number};
use skillgauge_format::part::GradedExpectation;
use skillgauge_format::write::{rate, round_rate};
use skillgauge_format::{Extra, json};

use super::file::{amount, whole, words};
use super::quick::{self, Keeper};
use super::verdict::Verdicts;
use crate::judge::record::{GRADER, RUN_RECORD, RunFacts};

/// What a run was graded with.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Graded {
    pub(super) pass_rate: Number,
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) total: u64,
    /// Whether the run passed as a whole; nothing when that hangs on what the judge could not decide.
    pub(super) run_passed: Option<bool>,
    /// What the judge could not decide.
    pub(super) judge_errors: u64,
    pub(super) verdicts: Verdicts,
    pub(super) notes: Vec<String>,
    pub(super) rubric: Option<Rubric>,
    /// Whether the structural gate let the judge have a look; absent when the grading does not say.
    pub(super) gate_passed: Option<bool>,
    pub(super) overall_score: Option<Number>,
    pub(super) suggestions: Vec<Suggestion>,
    pub(super) seconds: Option<Number>,
    pub(super) tokens: Option<u64>,
    pub(super) tool_calls: Option<u64>,
    pub(super) errors: Option<u64>,
    pub(super) judge: Option<String>,
    /// What the grading says of its run; with it neither `run.json` nor `timing.json` has to be opened.
    pub(super) facts: Option<RunFacts>,
    pub(super) problems: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rubric {
    /// From 0 to 1.
    pub(super) normalized: f64,
    pub(super) scores: Vec<(Arc<str>, f64)>,
}

/// One suggestion about the suite.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Suggestion {
    pub(super) assertion: Option<String>,
    pub(super) reason: String,
    pub(super) action: Option<String>,
}

/// The counts that a summary states.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) passed: Option<u64>,
    pub(super) failed: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) pass_rate: Option<Number>,
}

/// Reads a grading, and keeps the list of its verdicts; an error says why it measures nothing.
pub(super) fn read(bytes: &[u8], keeper: &mut Keeper) -> Result<Graded, String> {
    let start = keeper.lists.len();
    let graded = quick::grading(bytes, keeper).unwrap_or_else(|| {
        keeper.lists.truncate(start);
        read_any(bytes, &mut keeper.lists)
    });
    if graded.is_err() {
        keeper.lists.truncate(start);
    }
    graded
}

/// Reads a grading of any shape; appends the list of its verdicts.
pub(super) fn read_any(bytes: &[u8], lists: &mut Vec<u8>) -> Result<Graded, String> {
    let document = json::parse(bytes).map_err(|error| error.to_string())?;
    let root = &document.root;
    if root.members().is_empty() {
        return Err("expected an object with a grading".to_owned());
    }
    let mut graded = if root.has("results") { cases(root, lists)? } else { evals(root, lists)? };
    let metrics = root.get("execution_metrics");
    graded.tool_calls = whole(metrics, "total_tool_calls");
    graded.errors = whole(metrics, "errors_encountered");
    let timing = root.get("timing");
    graded.seconds = amount(timing, "total_duration_seconds").filter(|time| time.as_f64() > 0.0);
    graded.tokens = whole(timing, "total_tokens").filter(|tokens| *tokens > 0);
    graded.gate_passed = root.get("gate_passed").and_then(Node::as_bool);
    graded.judge = judge(root);
    graded.facts = root.get(RUN_RECORD).and_then(|facts| facts.deserialize().ok());
    Ok(graded)
}

fn judge(root: &Node<'_>) -> Option<String> {
    let judge = root.get("judge").and_then(|judge| words(judge, "model").or(judge.as_str()));
    words(root, "judge_model").or(judge).map(str::to_owned)
}

fn evals(root: &Node<'_>, lists: &mut Vec<u8>) -> Result<Graded, String> {
    let mut graded = Graded::default();
    let mut expectations = Vec::new();
    for list in ["expectations", "assertion_results"] {
        for item in root.get(list).map(Node::items).unwrap_or_default() {
            match expectation(item) {
                Some(found) => expectations.push(found),
                None => graded.problems.push("an expectation has no `text` or no `passed`".into()),
            }
        }
    }
    graded.verdicts = Verdicts::of(&expectations, lists);
    // Where nobody was asked to judge, nobody failed to.
    let is_judged = root
        .get(GRADER)
        .is_none_or(|grader| grader.get("model").is_some_and(|model| model.as_str().is_some()));
    if is_judged {
        graded.judge_errors = root.get("judge_errors").map_or(0, |list| list.items().len() as u64);
    }
    let summary = root.get("summary");
    graded.count(Counts {
        passed: whole(summary, "passed"),
        failed: whole(summary, "failed"),
        total: whole(summary, "total"),
        pass_rate: amount(summary, "pass_rate"),
    })?;
    graded.rubric = rubric(root);
    let notes = root.get("user_notes_summary");
    for key in ["uncertainties", "needs_review", "workarounds"] {
        let list = notes.and_then(|notes| notes.get(key)).map(Node::items).unwrap_or_default();
        graded.notes.extend(list.iter().filter_map(Node::as_str).map(str::to_owned));
    }
    let feedback = root.get("eval_feedback").and_then(|feedback| feedback.get("suggestions"));
    graded.suggestions =
        feedback.map(Node::items).unwrap_or_default().iter().filter_map(suggestion).collect();
    if root.has("overall_score") {
        graded.take_overall(root);
    }
    Ok(graded)
}

impl Graded {
    /// Takes what the criteria of a run of a `cases` suite come to, in either shape of its grading.
    fn take_overall(&mut self, root: &Node<'_>) {
        let score = amount(Some(root), "overall_score").or(self.overall_score);
        self.overall_score = score.filter(|score| score.as_f64() <= 5.0);
        self.run_passed = match words(root, "overall") {
            Some("pass") => Some(true),
            Some("fail") => Some(false),
            _ => self.run_passed,
        };
    }

    /// Takes the counts of the summary, and those of the verdicts where it has none.
    pub(super) fn count(&mut self, stated: Counts) -> Result<(), String> {
        let verdicts = self.verdicts.iter().len() as u64;
        let passes = self.verdicts.iter().filter(|(_, passed)| *passed).count() as u64;
        self.passed = stated.passed.unwrap_or(passes);
        self.total = stated.total.unwrap_or(verdicts);
        self.failed = stated.failed.unwrap_or_else(|| self.total.saturating_sub(self.passed));
        if self.total == 0 && self.judge_errors == 0 {
            return Err("no expectation has a verdict".to_owned());
        }
        if verdicts == self.total && passes != self.passed {
            self.problems.push(format!(
                "the summary says that {} of {} passed, the expectations say {passes}",
                self.passed, self.total
            ));
        }
        let stated_rate = stated.pass_rate.filter(|rate| rate.as_f64() <= 1.0);
        self.pass_rate =
            stated_rate.unwrap_or_else(|| rate(self.passed.min(self.total), self.total));
        // One that failed has failed, whatever the judge would have said about the others.
        let is_decided = self.passed < self.total || self.judge_errors == 0;
        self.run_passed = is_decided.then_some(self.passed >= self.total);
        Ok(())
    }
}

fn expectation(item: &Node<'_>) -> Option<GradedExpectation> {
    let mut found = GradedExpectation::default();
    let (mut text, mut passed) = (None, None);
    for member in item.members() {
        match (member.key.as_ref(), &member.value) {
            ("text" | "assertion" | "expectation", value) if text.is_none() => {
                text = value.as_str().map(str::to_owned);
            }
            ("passed", value) => passed = value.as_bool(),
            ("evidence", value) => found.evidence = value.as_str().map(str::to_owned),
            (key, value) => {
                if let Ok(value) = serde_json::Value::deserialize(value) {
                    found.extra.insert(key.to_owned(), value);
                }
            }
        }
    }
    (found.text, found.passed) = (text?, passed?);
    Some(found)
}

fn rubric(root: &Node<'_>) -> Option<Rubric> {
    let members = root.get("rubric_scores").map(Node::members).unwrap_or_default();
    let scores: Vec<(Arc<str>, f64)> = members
        .iter()
        .filter_map(|member| {
            let score = member.value.get("score").unwrap_or(&member.value).as_number()?.as_f64();
            (0.0..=5.0).contains(&score).then(|| (Arc::from(&*member.key), score))
        })
        .collect();
    let summary = root.get("rubric_summary");
    let stated = |key| amount(summary, key).map(Number::as_f64);
    rubric_of(scores, stated("normalized"), stated("weighted_mean"))
}

/// The rubric from its parts; nothing when none of them tells how good the run was.
pub(super) fn rubric_of(
    scores: Vec<(Arc<str>, f64)>,
    normalized: Option<f64>,
    weighted_mean: Option<f64>,
) -> Option<Rubric> {
    let normalized = normalized.filter(|share| *share <= 1.0).or_else(|| {
        let scores: Vec<f64> = scores.iter().map(|(_, score)| *score).collect();
        let mean = crate::statistics::Spread::of(&scores).map(|spread| spread.mean);
        weighted_mean.or(mean).map(|mean| mean / 5.0)
    })?;
    Some(Rubric { normalized: normalized.clamp(0.0, 1.0), scores })
}

fn suggestion(item: &Node<'_>) -> Option<Suggestion> {
    let text = |key| words(item, key).map(|text| text.trim().to_owned());
    let reason = text("reason").or_else(|| item.as_str().map(str::to_owned))?;
    Some(Suggestion { assertion: text("assertion"), reason, action: text("action") })
}

fn cases(root: &Node<'_>, lists: &mut Vec<u8>) -> Result<Graded, String> {
    let mut graded = Graded::default();
    let (mut expectations, mut scores) = (Vec::new(), Vec::new());
    for item in root.get("results").map(Node::items).unwrap_or_default() {
        let criterion = words(item, "criterion");
        let score = amount(Some(item), "score").map(Number::as_f64).filter(|score| *score <= 5.0);
        let (Some(criterion), Some(score)) = (criterion, score) else {
            graded.problems.push("a result has no `criterion` or no `score`".into());
            continue;
        };
        scores.push(score);
        expectations.push(GradedExpectation {
            text: criterion.to_owned(),
            passed: score >= f64::from(PASSING_SCORE),
            evidence: words(item, "reasoning").map(str::to_owned),
            extra: Extra::from_iter([("score".to_owned(), score.into())]),
        });
    }
    graded.verdicts = Verdicts::of(&expectations, lists);
    graded.count(Counts::default())?;
    // The stated mean is rounded to one decimal; it stands when it is there, as the seed's own number.
    let mean = crate::statistics::Spread::of(&scores).map(|spread| spread.mean);
    graded.overall_score = mean.map(Number::Float);
    graded.rubric =
        mean.map(|mean| Rubric { normalized: round_rate(mean / 5.0), scores: Vec::new() });
    graded.take_overall(root);
    graded.notes.extend(words(root, "user_notes_summary").map(str::to_owned));
    graded.suggestions.extend(words(root, "eval_feedback").map(|reason| Suggestion {
        assertion: None,
        reason: reason.trim().to_owned(),
        action: None,
    }));
    Ok(graded)
}
