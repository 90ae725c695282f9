//! The short way for the files of a run: what every grading of ours and of the public skill-creator looks like, read in one
//! pass and without a tree.
//!
//! The one invariant: whatever is unusual is none of its business. A field of another type or of another name, a key
//! twice, broken JSON: the answer is nothing, and the long way reads the file again and says what it is. So the
//! two can only agree, and a property test holds that they do.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use skillgauge_format::json::Number;
use skillgauge_format::part::GradedExpectation;

use super::file::{amount_of, whole_of};
use super::grading::{Counts, Graded, Suggestion, rubric_of};
use super::told::{Times, Told};
use crate::judge::record::RunFacts;

/// Reads a type from a file, if it is a plain one.
fn read<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Option<T> {
    serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()
}

/// What `run.json` tells.
pub(super) fn told(bytes: &[u8]) -> Option<Told> {
    read(bytes)
}

/// What `timing.json` tells.
pub(super) fn times(bytes: &[u8]) -> Option<Times> {
    read(bytes)
}

/// Reads a grading; nothing when it is an unusual one, an error when it measures nothing.
pub(super) fn grading(bytes: &[u8]) -> Option<Result<Graded, String>> {
    read::<Document>(bytes).map(Document::graded)
}

/// The usual grading.
#[derive(Deserialize)]
struct Document {
    expectations: Vec<Verdict>,
    summary: Summary,
    rubric_scores: Option<Scores>,
    rubric_summary: Option<RubricSummary>,
    execution_metrics: Option<Metrics>,
    timing: Option<Total>,
    user_notes_summary: Option<Notes>,
    eval_feedback: Option<Feedback>,
    gate_passed: Option<bool>,
    run_record: Option<RunFacts>,
    // Shapes and names of others.
    #[serde(default, rename = "results")]
    _results: Unusual,
    #[serde(default, rename = "assertion_results")]
    _assertion_results: Unusual,
    #[serde(default, rename = "judge")]
    _judge: Unusual,
    #[serde(default, rename = "judge_model")]
    _judge_model: Unusual,
}

#[derive(Deserialize)]
struct Summary {
    passed: Option<Number>,
    failed: Option<Number>,
    total: Option<Number>,
    pass_rate: Option<Number>,
}

#[derive(Deserialize)]
struct RubricSummary {
    normalized: Option<Number>,
    weighted_mean: Option<Number>,
}

#[derive(Deserialize)]
struct Metrics {
    total_tool_calls: Option<Number>,
    errors_encountered: Option<Number>,
}

#[derive(Deserialize)]
struct Total {
    total_duration_seconds: Option<Number>,
    total_tokens: Option<Number>,
}

#[derive(Deserialize)]
struct Notes {
    #[serde(default)]
    uncertainties: Vec<String>,
    #[serde(default)]
    needs_review: Vec<String>,
    #[serde(default)]
    workarounds: Vec<String>,
}

#[derive(Deserialize)]
struct Feedback {
    #[serde(default)]
    suggestions: Vec<Suggested>,
}

#[derive(Deserialize)]
struct Suggested {
    assertion: Option<String>,
    reason: Option<String>,
    action: Option<String>,
}

impl Document {
    fn graded(self) -> Result<Graded, String> {
        let amount = |number: Option<Number>| number.and_then(amount_of);
        let whole = |number: Option<Number>| number.and_then(whole_of);
        let expectations = self.expectations.into_iter().map(|verdict| verdict.0).collect();
        let mut graded = Graded { expectations, ..Graded::default() };
        graded.count(Counts {
            passed: whole(self.summary.passed),
            failed: whole(self.summary.failed),
            total: whole(self.summary.total),
            pass_rate: amount(self.summary.pass_rate),
        })?;
        let stated = self.rubric_summary;
        let stated = |of: fn(&RubricSummary) -> Option<Number>| {
            amount(stated.as_ref().and_then(of)).map(Number::as_f64)
        };
        let scores = self.rubric_scores.unwrap_or_default().0;
        graded.rubric = rubric_of(
            scores,
            stated(|found| found.normalized),
            stated(|found| found.weighted_mean),
        );
        if let Some(notes) = self.user_notes_summary {
            let Notes { uncertainties, needs_review, workarounds } = notes;
            graded.notes =
                [uncertainties, needs_review, workarounds].into_iter().flatten().collect();
        }
        let suggestions = self.eval_feedback.map(|found| found.suggestions).unwrap_or_default();
        graded.suggestions = suggestions.into_iter().filter_map(Suggested::finish).collect();
        if let Some(metrics) = self.execution_metrics {
            graded.tool_calls = whole(metrics.total_tool_calls);
            graded.errors = whole(metrics.errors_encountered);
        }
        if let Some(timing) = self.timing {
            let seconds = amount(timing.total_duration_seconds);
            graded.seconds = seconds.filter(|time| time.as_f64() > 0.0);
            graded.tokens = whole(timing.total_tokens).filter(|tokens| *tokens > 0);
        }
        graded.gate_passed = self.gate_passed;
        graded.facts = self.run_record;
        Ok(graded)
    }
}

impl Suggested {
    fn finish(self) -> Option<Suggestion> {
        let trimmed = |text: Option<String>| {
            text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        Some(Suggestion {
            reason: trimmed(self.reason)?,
            assertion: trimmed(self.assertion),
            action: trimmed(self.action),
        })
    }
}

/// A field that only the long way understands.
#[derive(Default)]
struct Unusual;

impl<'de> Deserialize<'de> for Unusual {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(unusual())
    }
}

fn unusual<E: de::Error>() -> E {
    E::custom("left to the long way")
}

/// An expectation with its verdict. Not derived: a flattened map of the other fields would be read twice.
struct Verdict(GradedExpectation);

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(VerdictVisitor)
    }
}

struct VerdictVisitor;

impl<'de> Visitor<'de> for VerdictVisitor {
    type Value = Verdict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an expectation with a verdict")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Verdict, A::Error> {
        let mut found = GradedExpectation::default();
        let (mut text, mut passed) = (None, None);
        while let Some(key) = map.next_key::<&str>()? {
            match key {
                "text" if text.is_none() => text = Some(map.next_value()?),
                "passed" if passed.is_none() => passed = Some(map.next_value()?),
                "evidence" if found.evidence.is_none() => found.evidence = Some(map.next_value()?),
                "text" | "passed" | "evidence" | "assertion" | "expectation" => {
                    return Err(unusual());
                }
                other => {
                    let (other, value) = (other.to_owned(), map.next_value()?);
                    if found.extra.insert(other, value).is_some() {
                        return Err(unusual());
                    }
                }
            }
        }
        (found.text, found.passed) = text.zip(passed).ok_or_else(unusual)?;
        Ok(Verdict(found))
    }
}

/// The scores of a rubric by dimension.
#[derive(Default)]
struct Scores(Vec<(String, f64)>);

impl<'de> Deserialize<'de> for Scores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Score {
            score: Number,
        }
        struct ScoresVisitor;
        impl<'de> Visitor<'de> for ScoresVisitor {
            type Value = Scores;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("scores by dimension")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scores, A::Error> {
                let mut scores = Vec::new();
                while let Some((name, Score { score })) = map.next_entry::<String, Score>()? {
                    let score = score.as_f64();
                    if !(0.0..=5.0).contains(&score) {
                        return Err(unusual());
                    }
                    scores.push((name, score));
                }
                Ok(Scores(scores))
            }
        }
        deserializer.deserialize_map(ScoresVisitor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::grading::read_any;
    use super::*;

    fn usual() -> Value {
        json!({
            "expectations": [
                {"text": "S1: a", "passed": true, "evidence": "out.md:1: \"a\"", "severity": "critical", "votes": [true]},
                {"text": "b", "passed": false},
            ],
            "summary": {"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5},
            "rubric_scores": {"depth": {"score": 4, "evidence": "deep"}, "form": {"score": 2, "evidence": ""}},
            "rubric_summary": {"weighted_mean": 3.2, "max_possible": 5, "normalized": 0.64},
            "execution_metrics": {"total_tool_calls": 7, "errors_encountered": 1, "tool_calls": {"Read": 7}},
            "timing": {"total_tokens": 900, "duration_ms": 1500, "executor_duration_seconds": 1.5},
            "claims": [{"claim": "done", "type": "process", "verified": true, "evidence": "e"}],
            "user_notes_summary": {"uncertainties": ["u"], "needs_review": [], "workarounds": ["w"]},
            "eval_feedback": {"suggestions": [{"assertion": "S1: a", "reason": " weak "}], "overall": "fine"},
            "gate_passed": true,
            "grader": {"model": "m", "votes": 1},
            "run_record": {
                "outcome": "completed", "reason": "completed", "skill_loaded": true, "seconds": 1.5, "total_tokens": 900
            },
        })
    }

    /// Whatever somebody may have put into a field.
    fn odd() -> impl Strategy<Value = Option<Value>> {
        let values = [
            json!(null),
            json!(true),
            json!(-1),
            json!(0),
            json!(3),
            json!(3.0),
            json!(0.25),
            json!(1e300),
            json!(u64::MAX),
            json!(""),
            json!("  "),
            json!("text"),
            json!([]),
            json!(["x", 1]),
            json!({}),
            json!({"score": 9}),
            json!([{"reason": "r"}, {"assertion": "a"}, "plain"]),
            json!([{"text": "t", "passed": true}, {"assertion": "t", "passed": false}, {"text": "no verdict"}]),
        ];
        proptest::option::weighted(0.8, proptest::sample::select(values.to_vec()))
    }

    /// Puts something else, or nothing, where a pointer leads; makes the field if it is not there.
    fn change(document: &mut Value, pointer: &str, to: Option<Value>) {
        let Some((parent, key)) = pointer.rsplit_once('/') else { return };
        let Some(Value::Object(members)) = document.pointer_mut(parent) else { return };
        match to {
            Some(value) => _ = members.insert(key.to_owned(), value),
            None => _ = members.shift_remove(key),
        }
    }

    #[test]
    fn the_usual_grading_takes_the_short_way_and_says_the_same() {
        let bytes = serde_json::to_vec_pretty(&usual()).unwrap();
        let quick = grading(&bytes).unwrap();
        assert_eq!(quick, read_any(&bytes));
        let graded = quick.unwrap();
        assert_eq!((graded.passed, graded.tokens, graded.tool_calls), (1, Some(900), Some(7)));
        assert!(graded.facts.unwrap().skill_loaded);
    }

    #[test]
    fn what_only_the_long_way_understands_is_left_to_it() {
        for (pointer, value) in [
            ("/results", json!([])),
            ("/assertion_results", json!([])),
            ("/judge_model", json!("m")),
            ("/expectations/0/assertion", json!("x")),
        ] {
            let mut document = usual();
            change(&mut document, pointer, Some(value));
            assert!(grading(&serde_json::to_vec(&document).unwrap()).is_none(), "{pointer}");
        }
        for text in ["", "{", "[]", "\u{feff}{}", "{\"expectations\": [], \"expectations\": []}"] {
            assert!(grading(text.as_bytes()).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_short_way_never_contradicts_the_long_one(
            changes in proptest::collection::vec((proptest::sample::select(vec![
                "/expectations", "/expectations/0/text", "/expectations/0/passed", "/expectations/1/evidence",
                "/expectations/1/more", "/summary", "/summary/passed", "/summary/failed", "/summary/total",
                "/summary/pass_rate", "/rubric_scores", "/rubric_scores/depth", "/rubric_scores/depth/score",
                "/rubric_summary", "/rubric_summary/normalized", "/rubric_summary/weighted_mean", "/execution_metrics",
                "/execution_metrics/total_tool_calls", "/execution_metrics/errors_encountered", "/timing",
                "/timing/total_duration_seconds", "/timing/total_tokens", "/user_notes_summary",
                "/user_notes_summary/uncertainties", "/user_notes_summary/workarounds", "/eval_feedback",
                "/eval_feedback/suggestions", "/gate_passed", "/judge", "/judge_model", "/results", "/run_record",
                "/run_record/outcome", "/run_record/seconds", "/run_record/total_tokens", "/run_record/model",
            ]), odd()), 0..4),
        ) {
            let mut document = usual();
            for (pointer, to) in changes {
                change(&mut document, pointer, to);
            }
            let bytes = serde_json::to_vec(&document).unwrap();
            if let Some(quick) = grading(&bytes) {
                prop_assert_eq!(quick, read_any(&bytes));
            }
        }
    }
}
