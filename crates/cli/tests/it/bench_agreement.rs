//! The public skill-creator's `aggregate_benchmark.py` on an iteration that we wrote: every number that it has, we have.
//!
//! The script is not ours and not in this tree. Without its folder in `SKILLGAUGE_SKILL_CREATOR` nothing is compared.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use skillgauge_format::evals::{EvalMetadata, EvalsGrading, Metrics, Timing, UserNotesSummary};
use skillgauge_format::part::{EvalId, GradedExpectation, Tally};
use skillgauge_format::write::to_text;
use skillgauge_format::{Extra, Number};

use crate::command::Project;

const ITERATION: &str = "tidy-workspace/iteration-1";

/// The script; nothing, and a loud line, when nobody says where it is.
fn script() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("SKILLGAUGE_SKILL_CREATOR") else {
        // Straight to the terminal: what tests print is only shown when they fail.
        let _ = std::io::stderr().write_all(
            b"SKIPPED: SKILLGAUGE_SKILL_CREATOR is not set to the skill-creator's folder; \
              nothing was compared with aggregate_benchmark.py\n",
        );
        return None;
    };
    let script = PathBuf::from(folder).join("scripts/aggregate_benchmark.py");
    assert!(script.is_file(), "SKILLGAUGE_SKILL_CREATOR has no scripts/aggregate_benchmark.py");
    Some(script)
}

/// A stream of small numbers that is always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Writes an iteration as `skillgauge run` does: our types, our writer.
fn write_iteration(project: &Project, baseline: &str) {
    let mut numbers = Numbers(1);
    for case in 1..=12_i64 {
        let metadata = EvalMetadata {
            eval_id: EvalId::Number(case),
            eval_name: Some(format!("Case {case}")),
            prompt: "Tidy up".to_owned(),
            assertions: None,
            extra: Extra::new(),
        };
        let folder = format!("{ITERATION}/eval-{case}");
        project.file(&format!("{folder}/eval_metadata.json"), to_text(&metadata).unwrap());
        for configuration in ["with_skill", baseline] {
            for run in 1..=3 {
                let folder = format!("{folder}/{configuration}/run-{run}");
                let expectations = 3 + numbers.below(5);
                let grading = grading(&mut numbers, expectations, configuration == "with_skill");
                let millis = 1000 + numbers.below(90_000);
                let timing = Timing {
                    total_tokens: Some(500 + numbers.below(9000)),
                    duration_ms: Some(millis.into()),
                    total_duration_seconds: Some(Number::Float(
                        Number::Unsigned(millis).as_f64() / 1000.0,
                    )),
                    ..Timing::default()
                };
                project.file(&format!("{folder}/grading.json"), to_text(&grading).unwrap());
                project.file(&format!("{folder}/timing.json"), to_text(&timing).unwrap());
                let record = json!({"format": "run", "outcome": "completed", "reason": "completed", "skill_loaded": true});
                project.file(&format!("{folder}/run.json"), record.to_string());
            }
        }
    }
}

fn grading(numbers: &mut Numbers, expectations: u64, with_skill: bool) -> EvalsGrading {
    let verdicts: Vec<GradedExpectation> = (0..expectations)
        .map(|index| GradedExpectation {
            text: format!("expectation {index} – \"ümläut\""),
            passed: numbers.below(10) < if with_skill { 8 } else { 4 },
            evidence: Some("line 3".to_owned()),
            ..GradedExpectation::default()
        })
        .collect();
    let passed = verdicts.iter().filter(|verdict| verdict.passed).count() as u64;
    EvalsGrading {
        summary: Tally::new(passed, expectations - passed),
        expectations: Some(verdicts),
        execution_metrics: Some(Metrics {
            total_tool_calls: Some(numbers.below(40)),
            errors_encountered: Some(numbers.below(3)),
            output_chars: Some(12_450),
            ..Metrics::default()
        }),
        // As the judge's gradings have it: with a total in here the script takes characters for tokens.
        timing: Some(Timing {
            executor_duration_seconds: Some(Number::Float(1.5)),
            ..Timing::default()
        }),
        user_notes_summary: Some(UserNotesSummary {
            uncertainties: Some(vec!["which style".to_owned()]),
            workarounds: Some(vec!["used sed".to_owned()]),
            ..UserNotesSummary::default()
        }),
        ..EvalsGrading::default()
    }
}

/// Both benchmarks of an iteration that is made up.
fn both(baseline: &str) -> Option<(Value, Value)> {
    let project = Project::new();
    write_iteration(&project, baseline);
    both_of(&project, ITERATION)
}

/// Both benchmarks of the same iteration.
fn both_of(project: &Project, iteration: &str) -> Option<(Value, Value)> {
    let script = script()?;
    let theirs = project.path().join("theirs.json");
    let status = Command::new("python3")
        .arg(script)
        .arg(project.path().join(iteration))
        .args(["--skill-name", "tidy", "--skill-path", "tidy", "--output"])
        .arg(&theirs)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "the script failed on what we wrote");
    let ours =
        project.stdout(&["bench", iteration, "--skill-path", "tidy", "--out-format", "json"]);
    let theirs = serde_json::from_slice(&fs_err::read(theirs).unwrap()).unwrap();
    Some((theirs, serde_json::from_str(&ours).unwrap()))
}

/// Everything in theirs is in ours, numbers as amounts; how many numbers were compared.
fn compare(theirs: &Value, ours: &Value, path: &str) -> usize {
    match (theirs, ours) {
        (Value::Object(members), _) => members
            .iter()
            .map(|(key, value)| compare(value, &ours[key], &format!("{path}.{key}")))
            .sum(),
        (Value::Array(items), Value::Array(found)) => {
            assert_eq!(items.len(), found.len(), "{path}");
            items.iter().zip(found).map(|(theirs, ours)| compare(theirs, ours, path)).sum()
        }
        (Value::Number(number), _) => {
            assert_eq!(number.as_f64(), ours.as_f64(), "{path}");
            1
        }
        // A delta is a number in a text; theirs has a sign at zero that comes from what was rounded away.
        (Value::String(text), Value::String(found))
            if text.parse().is_ok_and(|n: f64| n == 0.0) =>
        {
            assert_eq!(Ok(0.0), found.parse::<f64>(), "{path}");
            1
        }
        _ => {
            assert_eq!(theirs, ours, "{path}");
            0
        }
    }
}

/// The runs in one order: theirs go by configuration and by the alphabet.
fn sorted_runs(benchmark: &Value) -> Value {
    let mut runs = benchmark["runs"].as_array().unwrap().clone();
    runs.sort_by_key(|run| {
        (run["configuration"].to_string(), run["eval_id"].as_i64(), run["run_number"].as_u64())
    });
    runs.into()
}

#[test]
fn the_script_of_the_skill_creator_agrees_on_every_number() {
    let Some((theirs, ours)) = both("without_skill") else { return };
    let mut numbers = compare(&sorted_runs(&theirs), &sorted_runs(&ours), "runs");
    numbers += compare(&theirs["run_summary"], &ours["run_summary"], "run_summary");
    for key in ["skill_name", "skill_path", "evals_run"] {
        numbers += compare(&theirs["metadata"][key], &ours["metadata"][key], key);
    }
    // 72 runs with 8 numbers and 2 ids each, 24 statistics, 12 evals; the three deltas are texts.
    assert_eq!(numbers, 72 * 10 + 24 + 12);
}

/// A suite of the `cases` dialect, really run: its gradings have a shape of their own in `grading/`, and not here.
#[test]
fn the_script_of_the_skill_creator_reads_the_runs_of_a_cases_suite() {
    let project = crate::run_cases::cases();
    let output = crate::run::run(&project, &["--runs", "3", "--baseline", "without"]);
    let iteration = crate::run::ITERATION;
    // What the script does with a grading, so that something is held to it where it is not at hand.
    for configuration in ["with_skill", "without_skill"] {
        let file = format!("{iteration}/eval-hello/{configuration}/run-2/grading.json");
        let grading = crate::run::json(&project, &file);
        let is_object = |key: &str| grading[key].is_object();
        assert!(["summary", "user_notes_summary", "timing"].iter().all(|key| is_object(key)));
        assert!(grading["timing"].get("total_duration_seconds").is_none(), "{grading:#}");
        for expectation in grading["expectations"].as_array().unwrap() {
            let has = |key: &str| expectation.get(key).is_some();
            assert!(["text", "passed", "evidence"].iter().all(|key| has(key)), "{expectation:#}");
        }
    }
    let Some((theirs, ours)) = both_of(&project, iteration) else { return };
    let numbers = compare(&sorted_runs(&theirs), &sorted_runs(&ours), "runs")
        + compare(&theirs["run_summary"], &ours["run_summary"], "run_summary");
    assert!(numbers >= 6 * 8 + 24, "{numbers}: {}", project.shown(&output));
}

#[test]
fn the_script_of_the_skill_creator_turns_the_sign_against_an_old_version_and_we_do_not() {
    let Some((theirs, ours)) = both("old_skill") else { return };
    let delta = |benchmark: &Value| {
        let text = benchmark["run_summary"]["delta"]["pass_rate"].as_str().unwrap().to_owned();
        text.parse::<f64>().unwrap()
    };
    assert!(delta(&ours) > 0.0, "the skill of this iteration helps");
    assert!((delta(&ours) + delta(&theirs)).abs() < 1e-9);
}
