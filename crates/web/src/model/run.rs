//! One run: what its folder says about it, small enough to hold thousands of them.

use std::path::Path;

use serde_json::Value;

use super::json::{self, Problem, count, items, load_without, number, text, truth};

/// What only the page of the run itself shows, and what makes its files long.
const LONG_FIELDS: &[&str] = &["evidence", "reasoning", "execution", "claims", "eval_feedback"];

/// What a page needs to know of a run; everything that is not known is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// As the skill-creator names it: the folder with `-` for `/`.
    pub id: String,
    /// The folder, relative to the iteration, with `/`.
    pub folder: String,
    /// `with_skill`, `without_skill`, `old_skill`, or another tool's name.
    pub configuration: String,
    /// The number of the run, from 1.
    pub number: u64,
    /// The verdicts: structural checks first, then what was judged.
    pub verdicts: Vec<Verdict>,
    /// Share of the expectations that passed.
    pub pass_rate: Option<f64>,
    /// Statements that the judge could not answer.
    pub judge_errors: usize,
    /// Whether every critical check passed.
    pub gate_passed: Option<bool>,
    /// The rubric's scores, 1 to 5, by dimension.
    pub rubric: Vec<(String, f64)>,
    /// The rubric in one number from 0 to 1.
    pub rubric_normalized: Option<f64>,
    /// How long the agent worked.
    pub seconds: Option<f64>,
    pub tokens: Option<f64>,
    /// US dollars.
    pub cost: Option<f64>,
    /// `completed`, `timed_out`, ...; absent when nothing says so.
    pub outcome: Option<String>,
    /// Why, in the words of the record.
    pub reason: Option<String>,
    /// Whether the skill was loaded, when the record says so.
    pub skill_loaded: Option<bool>,
    pub agent_version: Option<String>,
    /// The version of the skillgauge that carried it out.
    pub skillgauge_version: Option<String>,
    /// Files that could not be used.
    pub problems: Vec<Problem>,
}

/// One expectation with its verdict.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    pub text: String,
    pub passed: bool,
}

/// What a run comes to, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunState {
    Failed,
    /// The run itself did not come to an end that could be graded.
    Broken,
    Ungraded,
    Passed,
}

impl Run {
    /// Reads the files of a run folder.
    pub(crate) fn read(iteration: &Path, folder: &str, configuration: &str, number: u64) -> Self {
        let path = iteration.join(folder);
        let mut run = Self {
            id: folder.replace('/', "-"),
            folder: folder.to_owned(),
            configuration: configuration.to_owned(),
            number,
            ..Self::default()
        };
        let mut problems = Vec::new();
        let mut read = |name: &str| {
            load_without(&path.join(name), LONG_FIELDS).or_problem(name, &mut problems)
        };
        let (record, grading, structural, timing) =
            (read("run.json"), read("grading.json"), read("structural.json"), read("timing.json"));
        if let Some(structural) = &structural {
            run.take_verdicts(structural);
            // Checks alone are no grading: the judge may still fail the run.
            run.pass_rate = None;
            run.gate_passed = truth(structural, "gate_passed");
        }
        if let Some(grading) = &grading {
            run.take_grading(grading);
            if let Some(timing) = grading.get("timing") {
                run.take_timing(timing);
            }
        }
        if let Some(timing) = &timing {
            run.take_timing(timing);
        }
        if let Some(record) = &record {
            run.take_record(record);
        }
        run.problems = problems;
        run.settle();
        run
    }

    /// Counts a run as the benchmark does: a time limit is part of the task, any other bad end measured nothing.
    fn settle(&mut self) {
        match self.outcome.as_deref() {
            None | Some("completed") => {}
            Some("timed_out") => self.pass_rate = self.pass_rate.or(Some(0.0)),
            Some(_) => self.pass_rate = None,
        }
    }

    fn take_verdicts(&mut self, graded: &Value) {
        let listed = ["expectations", "assertion_results", "results"].into_iter();
        self.verdicts = listed
            .flat_map(|key| items(graded, key))
            .filter_map(|item| {
                let what = text(item, "text").or_else(|| text(item, "criterion"))?;
                Some(Verdict { text: what, passed: truth(item, "passed")? })
            })
            .collect();
        // What is listed is what counts; a summary alone is better than nothing.
        self.pass_rate = if self.verdicts.is_empty() {
            graded.get("summary").and_then(|summary| number(summary, "pass_rate"))
        } else {
            let passed = self.verdicts.iter().filter(|verdict| verdict.passed).count();
            #[expect(clippy::cast_precision_loss, reason = "a run has few expectations")]
            Some(passed as f64 / self.verdicts.len() as f64)
        };
    }

    fn take_grading(&mut self, grading: &Value) {
        // Its list holds the structural checks too.
        self.take_verdicts(grading);
        self.judge_errors = items(grading, "judge_errors").len();
        if let Some(Value::Object(scores)) = grading.get("rubric_scores") {
            self.rubric = scores
                .iter()
                .filter_map(|(name, score)| Some((name.clone(), number(score, "score")?)))
                .collect();
        }
        self.rubric_normalized =
            grading.get("rubric_summary").and_then(|summary| number(summary, "normalized"));
    }

    fn take_timing(&mut self, timing: &Value) {
        let milliseconds = number(timing, "duration_ms").map(|value| value / 1000.0);
        let seconds = number(timing, "executor_duration_seconds")
            .or(milliseconds)
            .or_else(|| number(timing, "total_duration_seconds"));
        self.seconds = seconds.or(self.seconds);
        self.tokens = number(timing, "total_tokens").or(self.tokens);
        self.cost = number(timing, "cost_usd").or(self.cost);
    }

    fn take_record(&mut self, record: &Value) {
        self.outcome = text(record, "outcome")
            .or_else(|| record.get("outcome").and_then(|outcome| text(outcome, "outcome")));
        self.reason = text(record, "reason");
        self.skill_loaded = truth(record, "skill_loaded");
        self.agent_version = text(record, "agent_version");
        self.skillgauge_version = text(record, "skillgauge_version");
        let end = record.get("end").unwrap_or(record);
        self.cost = number(end, "cost_usd").or(self.cost);
        if self.seconds.is_none() {
            let milliseconds = number(end, "duration_ms").map(|value| value / 1000.0);
            self.seconds = number(record, "seconds").or(milliseconds);
        }
        self.tokens = self.tokens.or_else(|| number(record, "total_tokens"));
        if self.tokens.is_none() {
            let usage = end.get("usage").unwrap_or(&Value::Null);
            let parts =
                ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"];
            let parts: Vec<u64> = parts.iter().filter_map(|part| count(usage, part)).collect();
            #[expect(clippy::cast_precision_loss, reason = "tokens of one run")]
            let total = parts.iter().sum::<u64>() as f64;
            self.tokens = (!parts.is_empty()).then_some(total);
        }
    }

    pub fn passed(&self) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.passed).count()
    }

    pub fn state(&self) -> RunState {
        let ended_badly = self.outcome.as_deref().is_some_and(|outcome| outcome != "completed");
        match self.pass_rate {
            Some(rate) if rate >= 1.0 => RunState::Passed,
            Some(_) => RunState::Failed,
            None if ended_badly
                || self.problems.iter().any(|found| found.file == "grading.json") =>
            {
                RunState::Broken
            }
            None => RunState::Ungraded,
        }
    }
}

pub(crate) fn is_run_folder(path: &Path) -> bool {
    let holds = |name: &str| fs_err::symlink_metadata(path.join(name)).is_ok();
    ["outputs", "grading.json", "run.json", "transcript.jsonl", "structural.json"]
        .into_iter()
        .any(holds)
}

/// The full grading and structural result of a run, for its page.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunDetail {
    pub(crate) grading: Option<Value>,
    pub(crate) structural: Option<Value>,
    pub(crate) metrics: Option<Value>,
    pub(crate) problems: Vec<Problem>,
}

impl RunDetail {
    pub(crate) fn read(run_folder: &Path) -> Self {
        let mut problems = Vec::new();
        let mut read =
            |name: &str| json::load(&run_folder.join(name)).or_problem(name, &mut problems);
        let (grading, structural, metrics) =
            (read("grading.json"), read("structural.json"), read("metrics.json"));
        Self { grading, structural, metrics, problems }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn graded(value: &Value) -> Run {
        let mut run = Run::default();
        run.take_grading(value);
        run
    }

    #[test]
    fn a_grading_without_a_summary_is_not_a_failure() {
        let run = graded(&json!({"expectations": [{"text": "a", "passed": true}]}));
        assert_eq!(run.pass_rate, Some(1.0));
        assert_eq!(run.state(), RunState::Passed);
    }

    #[test]
    fn both_names_of_the_verdicts_are_read_and_odd_items_are_left_out() {
        let run = graded(&json!({"assertion_results": [
            {"text": "a", "passed": true}, {"text": "b", "passed": false}, {"text": 3}, 4
        ]}));
        assert_eq!((run.passed(), run.verdicts.len()), (1, 2));
        assert_eq!(run.state(), RunState::Failed);
    }

    #[test]
    fn a_run_that_was_stopped_is_broken_and_not_failed() {
        let mut run = Run::default();
        assert_eq!(run.state(), RunState::Ungraded);
        run.take_record(&json!({"outcome": "rate_limited", "cost_usd": 0.25}));
        run.pass_rate = Some(0.0);
        run.settle();
        assert_eq!(run.state(), RunState::Broken);
        run.outcome = Some("timed_out".to_owned());
        run.settle();
        assert_eq!(run.state(), RunState::Failed);
        assert_eq!(run.cost, Some(0.25));
    }

    #[test]
    fn rubric_scores_and_times_are_taken_as_far_as_they_are_there() {
        let mut run = graded(&json!({
            "expectations": [],
            "rubric_scores": {"clarity": {"score": 4, "evidence": "x"}, "odd": 3},
            "rubric_summary": {"normalized": 0.8},
        }));
        run.take_timing(&json!({"duration_ms": 1500, "total_tokens": 900}));
        assert_eq!(run.rubric, [("clarity".to_owned(), 4.0)]);
        assert_eq!((run.seconds, run.tokens, run.cost), (Some(1.5), Some(900.0), None));
    }
}
