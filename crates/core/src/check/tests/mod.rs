//! Whole checks on small folders: what passes, what fails, what the evidence says.

mod content;
mod document;
mod suite;
mod trace;

use serde_json::{Value, json};
use skillgauge_format::Suite;
use skillgauge_format::evals::CHECK_TYPES;

use super::*;

/// Scripts that are not run; the exit code is the script's text.
struct Echo;

impl ScriptRunner for Echo {
    fn run(&self, call: &ScriptCall<'_>) -> Result<ScriptEnd, ScriptError> {
        let code = call.script.parse().map_err(|_| ScriptError { reason: "no bash".to_owned() })?;
        let last_lines = vec!["last words".to_owned()];
        Ok(ScriptEnd { outcome: ScriptOutcome::Exited(code), last_lines })
    }
}

struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("outputs")).unwrap();
        Self { folder }
    }

    fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
        self
    }

    fn output(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.file(&format!("outputs/{path}"), content)
    }

    #[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
    fn transcript(self, events: &[Value], end: Value) -> Self {
        let mut lines = vec![json!({
            "format": "transcript", "version": {"major": 1, "minor": 0}, "adapter": "command", "agent": "command"
        })];
        for (index, event) in events.iter().enumerate() {
            let mut event = event.clone();
            event["index"] = index.into();
            lines.push(event);
        }
        let mut last = json!({
            "type": "end", "outcome": "completed", "reason": "none", "skills_requested": [], "skills_loaded": [],
            "skills_denied": [], "skills_touched": [], "tool_calls": {}, "permission_denials": 0, "usage": null,
            "cost_usd": null, "errors": [], "lines": 1
        });
        for (key, value) in end.as_object().unwrap() {
            last[key] = value.clone();
        }
        lines.push(last);
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        self.file("transcript.jsonl", text.join("\n") + "\n")
    }

    fn structural(&self, checks: &[Value]) -> Structural {
        let suite = suite(checks);
        let compiled = compile(&suite.cases().next().unwrap()).unwrap();
        let stored = StoredRun::read(self.folder.path()).unwrap();
        evaluate(&compiled, &stored.context(None, Some("csv-report"), &[], &Echo)).unwrap()
    }

    /// Whether one check passes, and its evidence.
    fn check(&self, check: Value) -> (bool, String) {
        let mut structural = self.structural(&[check]);
        let result = structural.expectations.pop().unwrap();
        (result.passed, result.evidence)
    }
}

fn suite(checks: &[Value]) -> Suite {
    let mut checks = checks.to_vec();
    for (number, check) in checks.iter_mut().enumerate() {
        check["id"] = format!("S{}", number + 1).into();
        check["description"] = "A check".into();
    }
    let suite = json!({"evals": [{"id": 1, "prompt": "p", "structural_expectations": checks}]});
    Suite::read(suite.to_string().as_bytes()).unwrap().value
}

fn problems(check: Value) -> Vec<String> {
    let suite = suite(&[check]);
    let problems = compile(&suite.cases().next().unwrap()).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

fn bash(command: &str) -> Value {
    json!({"type": "tool_call", "id": "t1", "name": "Bash", "input": {"command": command}})
}
