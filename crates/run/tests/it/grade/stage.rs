//! What the tests share: a workspace with stored runs, a server, judges.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillgauge_core::workspace::RunDir;
use skillgauge_format::transcript::Transcript;
use skillgauge_format::{Case, Kind, Suite, write};
use skillgauge_run::grade::{Graded, GradingFile, Judge, StoredRun, grade_run};
use skillgauge_run::model::{Access, connect};
use skillgauge_testkit::server::{Reply, Rule, Script, Server};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::model::stage::access_at;

pub(crate) const EVALS: &str = r#"{
  "skill_name": "csv-report",
  "evals": [{
    "id": 1, "prompt": "Summarise sales.csv", "expected_output": "A report with the total",
    "expectations": ["The report names the total", "The report has a table"],
    "structural_expectations": [{"id": "S1", "type": "file_exists", "description": "A report is there", "pattern": "*.md", "critical": true}],
    "quality_rubric": {"dimensions": [
      {"id": "Q1", "name": "clarity", "description": "Is it clear?", "scoring": {"1": "muddled", "3": "readable", "5": "clear"}}
    ]}
  }]
}"#;

pub(crate) const CASES: &str = r#"{
  "version": "1.0", "skill": "csv-report",
  "cases": [{
    "id": "case-01", "prompt": "Summarise sales.csv",
    "expectations": [
      {"criterion": "total", "description": "The report names the total", "required": true},
      {"criterion": "table", "description": "The report has a table", "required": false}
    ]
  }]
}"#;

/// A workspace with one iteration.
pub(crate) struct Workshop {
    folder: TempDir,
    pub(crate) suite: Suite,
}

impl Workshop {
    pub(crate) fn new(suite: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let iteration = folder.path().join("csv-report-workspace/iteration-1");
        fs_err::create_dir_all(&iteration).unwrap();
        fs_err::write(iteration.join("suite.json"), suite).unwrap();
        let skill = folder.path().join("csv-report");
        fs_err::create_dir_all(&skill).unwrap();
        let text = "---\nname: csv-report\ndescription: Reports on CSV files. Use when given one.\n---\n\n# Steps\n";
        fs_err::write(skill.join("SKILL.md"), text).unwrap();
        let suite = Suite::read(suite.as_bytes()).unwrap().value;
        Self { folder, suite }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.path().join("csv-report")
    }

    pub(crate) fn iteration(&self) -> PathBuf {
        self.path().join("csv-report-workspace/iteration-1")
    }

    /// Stores a run whose agent told where it works, as an agent without isolation would.
    pub(crate) fn run(&self, id: &str) -> RunDir {
        let run = RunDir::at(self.iteration().join(id));
        fs_err::create_dir_all(run.outputs()).unwrap();
        let root = run.root().display();
        let events = [
            json!({"index": 0, "type": "text", "text": format!("I work in {root}/outputs.")}),
            json!({"index": 1, "type": "tool_call", "id": "1", "name": "Write", "input": {"path": format!("{root}/outputs/report.md")}}),
            json!({"index": 2, "type": "text", "text": "I wrote report.md."}),
        ];
        let mut text =
            json!({"format": "transcript", "version": {"major": 1, "minor": 0}, "agent": "claude",
            "adapter": "claude", "model": "claude-opus-4-5"})
            .to_string();
        for event in events {
            text.push('\n');
            text.push_str(&event.to_string());
        }
        let end = json!({"type": "end", "outcome": "completed", "reason": "completed", "skills_requested": [],
            "skills_loaded": [], "skills_denied": [], "skills_touched": [], "tool_calls": {}, "permission_denials": 0,
            "usage": null, "cost_usd": null, "errors": [], "final_text": "I wrote report.md.", "lines": 3});
        text.push('\n');
        text.push_str(&end.to_string());
        Transcript::from_jsonl(&text).unwrap();
        fs_err::write(run.transcript_file(), text).unwrap();
        fs_err::write(run.outputs().join("report.md"), "# Sales\n\nTotal: 42 euros\n").unwrap();
        fs_err::write(
            run.metrics_file(),
            r#"{"total_tool_calls": 1, "files_created": ["report.md"]}"#,
        )
        .unwrap();
        fs_err::write(run.timing_file(), r#"{"duration_ms": 1500}"#).unwrap();
        Self::check(&run, true);
        run
    }

    /// Stores what the structural check found.
    pub(crate) fn check(run: &RunDir, passed: bool) {
        let (yes, no) = (u8::from(passed), u8::from(!passed));
        let structural = json!({
            "expectations": [{"id": "S1", "text": "A report is there", "type": "file_exists", "passed": passed,
                              "evidence": "report.md", "critical": true}],
            "summary": {"passed": yes, "failed": no, "total": 1, "pass_rate": yes},
            "gate_passed": passed,
        });
        fs_err::write(run.structural_file(), structural.to_string()).unwrap();
    }

    pub(crate) async fn grade(&self, run: &RunDir, judge: Option<&Judge>) -> Graded {
        let stored = StoredRun::read(run.clone()).unwrap();
        let case: Case<'_> = self.suite.cases().next().unwrap();
        let skill = self.skill();
        let mut input = stored.input(&self.suite, case);
        input.skill_dir = Some(&skill);
        input.version = 2;
        grade_run(&input, judge, &CancellationToken::new()).await
    }
}

/// Access to a server at this address from a folder, with one quick retry.
pub(crate) fn access(url: &str, folder: &Path) -> Access {
    let access = access_at(url);
    Access { retry: access.retry.retries(1), folder: folder.to_owned(), ..access }
}

/// A judge behind a server.
pub(crate) fn judge(server: &Server, votes: u32) -> Judge {
    let access = access(&server.url(), &std::env::temp_dir());
    let model = connect(&"anthropic:claude-sonnet-4-5".parse().unwrap(), &access).unwrap();
    Judge { votes: NonZeroU32::new(votes).unwrap(), ..Judge::new(model).unwrap() }
}

/// A server that gives these answers, one after the other.
pub(crate) fn serve(answers: Vec<Value>) -> Server {
    let script = answers.into_iter().fold(Script::new(), |script, answer| {
        script.rule(Rule::reply(Reply::json(answer)).times(1))
    });
    Server::start(script).unwrap()
}

pub(crate) fn statement(verdict: &str, quotes: &[&str]) -> Value {
    json!({"reasoning": "I looked.", "quotes": quotes, "verdict": verdict})
}

/// An answer about the run of [`EVALS`].
pub(crate) fn evals_answer(first: &Value, second: &Value, score: u8) -> Value {
    json!({
        "expectations": {"E1": first, "E2": second},
        "rubric": {"D1": {"reasoning": "Short and clear.", "quotes": ["# Sales"], "score": score}},
        "claims": [], "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": []},
        "eval_feedback": {"suggestions": [], "overall": ""},
    })
}

/// An answer about the run of [`CASES`].
pub(crate) fn cases_answer(total: u8) -> Value {
    let convention = json!({"details": "It does.", "passed": true});
    json!({
        "criteria": {"C1": {"reasoning": "It is there.", "quotes": ["Total: 42 euros"], "score": total},
                     "C2": {"reasoning": "None.", "quotes": [], "score": 1}},
        "conventions": {"description_field": convention, "progressive_disclosure": convention, "type_alignment": convention},
        "claims": [], "user_notes_summary": "", "eval_feedback": "",
    })
}

/// The grading as JSON, after its published schema has accepted it.
pub(crate) fn checked(graded: &Graded) -> Value {
    let (kind, text) = match graded.file.as_ref().unwrap() {
        GradingFile::Evals(grading) => (Kind::EvalsGrading, write::to_text(grading).unwrap()),
        GradingFile::Cases(grading) => (Kind::CasesGrading, write::to_text(grading).unwrap()),
    };
    let problems = kind.check(text.as_bytes());
    assert!(problems.list().is_empty(), "{problems}\n{text}");
    serde_json::from_str(&text).unwrap()
}
