//! The iteration that is aggregated: what `skillgauge run` leaves of each run, with made-up results.
//!
//! Invariant: the same on every machine; the numbers in it come from a counter and not from chance.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use skillgauge_format::write::{rate, to_text};

/// The configurations of each case.
pub(crate) const CONFIGURATIONS: [&str; 2] = ["with_skill", "without_skill"];

/// Who is supposed to have written it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    /// `skillgauge run`: every run has a record.
    Ours,
    /// Another tool: no records, and times and tokens only in timing.json.
    Other,
}

#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) cases: u32,
    /// Runs of each case in each configuration.
    pub(crate) runs: u32,
}

impl Shape {
    pub(crate) fn all(self) -> u32 {
        self.cases * self.runs * 2
    }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Written {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) grading_bytes: u64,
}

impl Written {
    fn file(&mut self, path: &Path, text: &str) -> Result<()> {
        fs_err::write(path, text)?;
        self.files += 1;
        self.bytes += text.len() as u64;
        Ok(())
    }
}

pub(crate) fn write(folder: &Path, shape: Shape, writer: Writer) -> Result<Written> {
    let mut written = Written::default();
    let mut counter = 0;
    for case in 1..=shape.cases {
        let case_folder = folder.join(format!("eval-{case}"));
        fs_err::create_dir_all(&case_folder)?;
        let metadata =
            json!({"eval_id": case, "eval_name": format!("Case {case}"), "prompt": PROMPT});
        written.file(&case_folder.join("eval_metadata.json"), &to_text(&metadata)?)?;
        for configuration in CONFIGURATIONS {
            for run in 1..=shape.runs {
                counter += 1;
                let run_folder = case_folder.join(configuration).join(format!("run-{run}"));
                fs_err::create_dir_all(run_folder.join("outputs"))?;
                let with_skill = configuration == "with_skill";
                write_run(&run_folder, counter, with_skill, writer, &mut written)?;
            }
        }
    }
    if writer == Writer::Ours {
        written.file(&folder.join("iteration.json"), &to_text(&record(shape))?)?;
        written.file(&folder.join("suite.json"), &to_text(&suite(shape))?)?;
    }
    Ok(written)
}

const PROMPT: &str = "Tidy up the imports of every file in src, and remove those that are not used";
const JUDGE: &str = "anthropic:claude-sonnet-4-5";
const MODEL: &str = "claude-sonnet-4-5";

/// The record of the iteration.
fn record(shape: Shape) -> Value {
    let cases: Vec<String> = (1..=shape.cases).map(|case| case.to_string()).collect();
    json!({
        "format": "iteration", "format_version": {"major": 1, "minor": 0},
        "key": format!("sha256:{}", "0".repeat(64)),
        "started": "2026-11-16T10:00:00Z", "finished": "2026-11-16T11:00:00Z",
        "skill_name": "imports", "skill_path": "imports",
        "skill_digest": format!("sha256:{}", "1".repeat(64)), "suite_digest": format!("sha256:{}", "2".repeat(64)),
        "agent": "claude", "executor_model": MODEL, "judge": JUDGE, "judge_votes": 1,
        "case_ids": cases, "configurations": CONFIGURATIONS, "runs_per_configuration": shape.runs,
        "baseline": {"kind": "without"}, "timeout_seconds": 600.0, "seed": 42, "skillgauge_version": "0.1.0"
    })
}

/// The suite, as it lies in the iteration.
fn suite(shape: Shape) -> Value {
    let structural = |index: u64| {
        json!({
            "id": format!("S{}", index + 1), "type": check_type(index), "description": text(index),
            "pattern": "*.rs", "critical": index == 0
        })
    };
    let eval = |case: u32| {
        json!({
            "id": case, "name": format!("Case {case}"), "prompt": PROMPT, "files": [],
            "expectations": (CHECKS..EXPECTATIONS).map(text).collect::<Vec<_>>(),
            "structural_expectations": (0..CHECKS).map(structural).collect::<Vec<_>>(),
            "quality_rubric": {
                "dimensions": DIMENSIONS.map(|name| json!({"name": name, "description": "How good it is", "weight": 1}))
            }
        })
    };
    json!({
        "skill_name": "imports",
        "eval_config": {"runs_per_eval": shape.runs, "structural_gate": true, "baseline_comparison": true},
        "evals": (1..=shape.cases).map(eval).collect::<Vec<_>>()
    })
}

fn write_run(
    folder: &Path,
    counter: u64,
    with_skill: bool,
    writer: Writer,
    written: &mut Written,
) -> Result<()> {
    let millis = 20_000 + counter * 37 % 60_000;
    #[expect(clippy::cast_precision_loss, reason = "a minute in milliseconds")]
    let seconds = millis as f64 / 1000.0;
    let tokens = 2000 + counter * 131 % 6000;
    let mut timing = json!({
        "total_tokens": tokens, "duration_ms": millis, "total_duration_seconds": seconds,
        "executor_start": "2026-11-16T10:00:00Z", "executor_end": "2026-11-16T10:01:00Z",
        "executor_duration_seconds": seconds
    });
    written.file(&folder.join("timing.json"), &to_text(&timing)?)?;
    written.file(&folder.join("metrics.json"), &to_text(&metrics(counter))?)?;
    let structural = json!({
        "expectations": [], "summary": {"passed": 0, "failed": 0, "total": 0, "pass_rate": 0.0}, "gate_passed": true
    });
    written.file(&folder.join("structural.json"), &to_text(&structural)?)?;
    let mut grading = grading(counter, with_skill, writer);
    if writer == Writer::Ours {
        let mut record = json!({
            "outcome": "completed", "reason": "completed", "model": MODEL, "skill_loaded": with_skill,
            "seconds": seconds, "total_tokens": tokens, "agent_version": "2.0.31", "skillgauge_version": "0.1.0"
        });
        // The script looks for tokens in timing.json only when the grading has no total.
        if let Some(members) = timing.as_object_mut() {
            members.shift_remove("total_duration_seconds");
        }
        grading["timing"] = timing;
        grading["gate_passed"] = true.into();
        grading["grader"] = json!({
            "model": JUDGE, "answered_by": MODEL, "votes": 1,
            "template": {"name": "grade_evals", "version": "1", "digest": "0123456789abcdef"}
        });
        record["format"] = "run".into();
        record["format_version"] = json!({"major": 1, "minor": 0});
        record["agent"] = "claude".into();
        record["attempts"] = json!([]);
        written.file(&folder.join("run.json"), &to_text(&record)?)?;
    }
    let grading = to_text(&grading)?;
    written.grading_bytes += grading.len() as u64;
    written.file(&folder.join("grading.json"), &grading)?;
    written.file(&folder.join("outputs/result.md"), "# Result\n")?;
    let event =
        json!({"type": "text", "text": "I look at the imports of the next file."}).to_string();
    let transcript = (event + "\n").repeat(30);
    written.file(&folder.join("transcript.jsonl"), &transcript)
}

fn metrics(counter: u64) -> Value {
    let calls = counter % 23;
    json!({
        "tool_calls": {"Read": calls, "Write": 2, "Bash": 3}, "total_tool_calls": calls + 5, "total_steps": 12,
        "files_created": ["result.md"], "errors_encountered": counter % 3, "output_chars": 9, "transcript_chars": 2100
    })
}

/// Expectations of a case, and how many of them a program checks; a judge is asked for the others.
const EXPECTATIONS: u64 = 8;
const CHECKS: u64 = 4;

fn check_type(index: u64) -> &'static str {
    match index {
        0 => "file_exists",
        1 => "file_contains",
        2 => "file_not_contains",
        _ => "no_errors",
    }
}

const DIMENSIONS: [&str; 2] = ["correctness", "readability"];

fn text(index: u64) -> String {
    format!("Expectation {index}: the imports of every file are sorted and unused ones are gone")
}

/// Eight expectations with evidence, metrics, notes and feedback, as judges write them; ours say more about each, and have
/// a rubric.
fn grading(counter: u64, with_skill: bool, writer: Writer) -> Value {
    let passes = |index: u64| (counter * 7 + index * 5) % 10 < if with_skill { 8 } else { 5 };
    let quotes = json!([{"text": "use std::fmt;", "found_in": "outputs/src/main.rs"}]);
    let expectation = |index: u64| {
        let mut one = json!({
            "text": text(index),
            "passed": passes(index),
            "evidence": "Found in src/main.rs line 12: `use std::fmt;` stands before `use std::io;`, as it should"
        });
        if writer == Writer::Ours && index < CHECKS {
            one["id"] = format!("S{}", index + 1).into();
            one["type"] = check_type(index).into();
            one["critical"] = (index == 0).into();
        } else if writer == Writer::Ours {
            one["evidence_found"] = true.into();
            one["quotes"] = quotes.clone();
        }
        one
    };
    let good = (0..EXPECTATIONS).filter(|index| passes(*index)).count() as u64;
    let mut grading = json!({
        "expectations": (0..EXPECTATIONS).map(expectation).collect::<Vec<_>>(),
        "summary": {
            "passed": good, "failed": EXPECTATIONS - good, "total": EXPECTATIONS, "pass_rate": rate(good, EXPECTATIONS)
        },
    });
    if writer == Writer::Ours {
        let evidence = "The order is kept in all files, and what is not used is gone, but for one in src/lib.rs";
        for (place, name) in (0..).zip(DIMENSIONS) {
            grading["rubric_scores"][name] = json!({
                "score": 3 + (counter + place) % 3, "evidence": evidence, "evidence_found": true, "quotes": quotes
            });
        }
        grading["rubric_summary"] =
            json!({"weighted_mean": 4.0, "max_possible": 5.0, "normalized": 0.8});
    }
    grading["execution_metrics"] = metrics(counter);
    grading["claims"] = json!([{"claim": "All imports are sorted", "type": "quality", "verified": true, "evidence": "looked"}]);
    grading["user_notes_summary"] = json!({"uncertainties": ["Whether generated files count"], "needs_review": [], "workarounds": []});
    grading["eval_feedback"] = json!({
        "suggestions": [{
            "assertion": "Expectation 3: the imports are sorted",
            "reason": "This would pass for a file without any imports. Add a file that has some."
        }],
        "overall": "The expectations look at the right things."
    });
    grading
}
