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
    /// `skillgauge run`: every run has a record, and its grading a copy of what matters of it.
    Ours,
    /// Another tool: no records, and times and tokens only in timing.json.
    Other,
}

/// How large it is.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) cases: u32,
    /// Runs of each case in each configuration.
    pub(crate) runs: u32,
}

impl Shape {
    /// Runs in all.
    pub(crate) fn all(self) -> u32 {
        self.cases * self.runs * 2
    }
}

/// What was written.
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

/// Writes the iteration.
pub(crate) fn write(folder: &Path, shape: Shape, writer: Writer) -> Result<Written> {
    let mut written = Written::default();
    let mut counter = 0;
    for case in 1..=shape.cases {
        let case_folder = folder.join(format!("eval-{case}"));
        fs_err::create_dir_all(&case_folder)?;
        let metadata = json!({"eval_id": case, "eval_name": format!("Case {case}"), "prompt": "Tidy up the imports"});
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
    Ok(written)
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
    let mut grading = grading(counter, with_skill);
    if writer == Writer::Ours {
        let mut record = json!({
            "outcome": "completed", "reason": "completed", "model": "claude-sonnet-4-5",
            "skill_loaded": with_skill, "seconds": seconds, "total_tokens": tokens
        });
        // The script looks for tokens in timing.json only when the grading has no total.
        if let Some(members) = timing.as_object_mut() {
            members.shift_remove("total_duration_seconds");
        }
        grading["timing"] = timing;
        grading["grader"] = json!({
            "model": "anthropic:claude-sonnet-4-5", "answered_by": "claude-sonnet-4-5", "votes": 1,
            "template": {"name": "grade_evals", "version": "1", "sha256": "0123456789abcdef0123456789abcdef"}
        });
        grading["run_record"] = record.clone();
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

/// Eight expectations with evidence, metrics, notes and feedback: about 3 kB, as judges write them.
fn grading(counter: u64, with_skill: bool) -> Value {
    let passes = |index: u64| (counter * 7 + index * 5) % 10 < if with_skill { 8 } else { 5 };
    let expectations: Vec<Value> = (0..8)
        .map(|index| {
            json!({
                "text": format!("Expectation {index}: the imports of every file are sorted and unused ones are gone"),
                "passed": passes(index),
                "evidence": "Found in src/main.rs line 12: `use std::fmt;` stands before `use std::io;`, as it should"
            })
        })
        .collect();
    let good = (0..8).filter(|index| passes(*index)).count() as u64;
    json!({
        "expectations": expectations,
        "summary": {"passed": good, "failed": 8 - good, "total": 8, "pass_rate": rate(good, 8)},
        "execution_metrics": metrics(counter),
        "claims": [{"claim": "All imports are sorted", "type": "quality", "verified": true, "evidence": "looked"}],
        "user_notes_summary": {"uncertainties": ["Whether generated files count"], "needs_review": [], "workarounds": []},
        "eval_feedback": {
            "suggestions": [{
                "assertion": "Expectation 3: the imports are sorted",
                "reason": "This would pass for a file without any imports. Add a file that has some."
            }],
            "overall": "The expectations look at the right things."
        }
    })
}
