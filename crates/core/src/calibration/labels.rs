//! Verdicts of people: where they come from, and which verdict of the judge each is about.

use std::collections::BTreeMap;
use std::fmt;

use skillgauge_format::evals::{Feedback, JudgeLabels, MeasuredJudge};
use skillgauge_format::part::GradedExpectation;

use super::{is_judged, judged, neutral_id};
use crate::iteration::{Iteration, Run};
use crate::text::shorten;

/// What a person decided about one expectation of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The run's folder below the iteration, or its id.
    pub run: String,
    /// The expectation's text, or its id.
    pub expectation: String,
    pub passed: bool,
    /// The file that says it.
    pub source: String,
}

/// Why labels cannot be used at all.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    #[error(
        "the labels contradict each other: {run}, `{expectation}` is passed in {passed_in} and failed in {failed_in}"
    )]
    Contradiction { run: String, expectation: String, passed_in: String, failed_in: String },
    #[error(
        "{run}, `{expectation}` is {now} in {source_file}, and was {before} in labels that are kept in calibration.json"
    )]
    Changed {
        run: String,
        expectation: String,
        before: &'static str,
        now: &'static str,
        source_file: String,
    },
    #[error("there are no labels: nobody has decided about an expectation yet")]
    None,
    #[error("none of the {labels} labels is about a verdict of a judge: {first}")]
    AllUnused { labels: usize, first: String },
}

impl LabelError {
    /// A label that was kept said something else.
    pub(super) fn changed(label: &Label, before: bool) -> Self {
        let word = |passed: bool| if passed { "passed" } else { "failed" };
        Self::Changed {
            run: label.run.clone(),
            expectation: shorten(&label.expectation, 80),
            before: word(before),
            now: word(label.passed),
            source_file: label.source.clone(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Changed { .. } => {
                "correct the label; or, if the earlier one was wrong, remove this judge's entry from calibration.json and give all labels again"
            }
            Self::Contradiction { .. } => "keep one of the two",
            Self::None | Self::AllUnused { .. } => {
                "`skillgauge calibrate --sample 30 --out labels.json` picks verdicts to decide; or decide them on the review page of `skillgauge serve`"
            }
        }
    }
}

/// A label that nothing was compared with, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    pub label: Label,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    NoRun,
    NoExpectation,
    /// A program decided it, or the gate did.
    NotJudged,
    /// The grading does not say who judged.
    NoJudge,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Label { run, expectation, .. } = &self.label;
        let why = match self.why {
            Why::NoRun => "there is no such run in this iteration",
            Why::NoExpectation => "the run has no verdict on it",
            Why::NotJudged => "no judge decided it",
            Why::NoJudge => "the grading does not say who judged",
        };
        write!(f, "{run}, `{}`: {why}", shorten(expectation, 60))
    }
}

/// What people decided on the review page.
pub fn of_feedback(feedback: &Feedback) -> Vec<Label> {
    let Feedback::Reviews(feedback) = feedback else { return Vec::new() };
    let labels = feedback.reviews.iter().flat_map(|review| {
        review.verdicts.iter().map(|verdict| Label {
            run: review.run_id.clone(),
            expectation: verdict.text.clone(),
            passed: verdict.passed,
            source: "feedback.json".to_owned(),
        })
    });
    labels.collect()
}

/// What people wrote into a file; what nobody has looked at yet is left out.
pub fn of_file(file: &JudgeLabels, source: &str) -> Vec<Label> {
    let labels = file.labels.iter().filter_map(|label| {
        Some(Label {
            run: label.run.clone(),
            expectation: label.expectation.clone(),
            passed: label.passed?,
            source: source.to_owned(),
        })
    });
    labels.collect()
}

/// A verdict of a judge with what a person decided.
#[derive(Clone, Debug)]
pub(super) struct Pair<'i> {
    pub(super) judge: MeasuredJudge,
    pub(super) label: &'i Label,
    pub(super) run: &'i Run,
    pub(super) verdict: &'i GradedExpectation,
}

/// Puts each label beside the verdict that it is about.
pub(super) fn pair<'i>(
    iteration: &'i Iteration,
    labels: &'i [Label],
) -> Result<(Vec<Pair<'i>>, Vec<Unused>), LabelError> {
    if labels.is_empty() {
        return Err(LabelError::None);
    }
    let mut runs: BTreeMap<String, &Run> = BTreeMap::new();
    for run in iteration.runs() {
        runs.insert(plain(&run.id), run);
        runs.insert(plain(&run.folder), run);
        runs.insert(neutral_id(iteration, run), run);
    }
    let mut found: BTreeMap<(usize, usize), Pair<'i>> = BTreeMap::new();
    let mut unused = Vec::new();
    for label in labels {
        let (place, pair) = match verdict_of(&runs, label) {
            Ok(found) => found,
            Err(why) => {
                unused.push(Unused { label: label.clone(), why });
                continue;
            }
        };
        match found.get(&place) {
            Some(Pair { label: other, .. }) if other.passed != label.passed => {
                let [passed, failed] = if other.passed { [*other, label] } else { [label, *other] };
                return Err(LabelError::Contradiction {
                    run: label.run.clone(),
                    expectation: shorten(&label.expectation, 80),
                    passed_in: passed.source.clone(),
                    failed_in: failed.source.clone(),
                });
            }
            _ => {
                found.insert(place, pair);
            }
        }
    }
    if found.is_empty() {
        let first = unused.first().map(ToString::to_string).unwrap_or_default();
        return Err(LabelError::AllUnused { labels: labels.len(), first });
    }
    Ok((found.into_values().collect(), unused))
}

/// The verdict that a label is about, with a place that is the same for every label about it.
fn verdict_of<'i>(
    runs: &BTreeMap<String, &'i Run>,
    label: &'i Label,
) -> Result<((usize, usize), Pair<'i>), Why> {
    let run: &'i Run = runs.get(&plain(&label.run)).ok_or(Why::NoRun)?;
    let wanted = label.expectation.trim();
    let is_meant = |verdict: &GradedExpectation| {
        let id = verdict.id.as_ref().map(ToString::to_string);
        verdict.text.trim() == wanted || id.as_deref() == Some(wanted)
    };
    let mut meant = run.verdicts.iter().enumerate().filter(|(_, verdict)| is_meant(verdict));
    let first = meant.clone().next().ok_or(Why::NoExpectation)?;
    // A check may have the text of an expectation; a label is about what was judged.
    let (place, verdict) = meant.find(|(_, verdict)| is_judged(verdict)).unwrap_or(first);
    if !is_judged(verdict) {
        return Err(Why::NotJudged);
    }
    let judge = run.judged_by.clone().ok_or(Why::NoJudge)?;
    let address = std::ptr::from_ref(run) as usize;
    Ok(((address, place), Pair { judge, label, run, verdict }))
}

/// `eval-1/with_skill/run-1` and `eval-1-with_skill-run-1` are one run.
fn plain(run: &str) -> String {
    run.trim().trim_matches('/').replace(['/', '\\'], "-")
}

/// What is left for people to decide: every verdict of a judge, with its run and what the agent was asked.
pub(super) fn to_label(iteration: &Iteration) -> Vec<(Option<&str>, &Run, &GradedExpectation)> {
    let runs = iteration
        .cases
        .iter()
        .flat_map(|case| case.runs.iter().map(|run| (case.prompt.as_deref(), run)));
    runs.flat_map(|(prompt, run)| judged(run).map(move |verdict| (prompt, run, verdict))).collect()
}
