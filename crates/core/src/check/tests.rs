//! Whole checks on small folders: what passes, what fails, what the evidence says.

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

#[test]
fn a_file_exists_when_one_matches() {
    let run = Run::new().output("a/create.test.ts", "").output(".hidden.ts", "");
    assert_eq!(
        run.check(json!({"type": "file_exists", "pattern": "*.test.ts"})),
        (true, "Found: a/create.test.ts".to_owned())
    );
    assert_eq!(
        run.check(json!({"type": "file_exists", "pattern": "*.test.ts", "not": true})),
        (false, "Negated: Found: a/create.test.ts".to_owned())
    );
    assert_eq!(
        run.check(json!({"type": "file_exists", "pattern": "*.py"})),
        (false, "No file matches `*.py`".to_owned())
    );
    assert!(run.check(json!({"type": "file_absent", "pattern": "*.py"})).0);
    assert!(!run.check(json!({"type": "file_absent", "pattern": "*.ts"})).0);
    assert!(!run.check(json!({"type": "file_exists", "pattern": "*hidden*"})).0);
}

#[test]
fn files_are_counted() {
    let run = Run::new().output("a.ts", "").output("b.ts", "");
    let count = |count: u64, operator: Option<&str>| {
        let mut check = json!({"type": "file_count", "pattern": "*.ts", "count": count});
        if let Some(operator) = operator {
            check["operator"] = operator.into();
        }
        run.check(check)
    };
    assert_eq!(
        count(2, None),
        (true, "2 files match `*.ts`, expected == 2: a.ts; b.ts".to_owned())
    );
    assert!(!count(3, None).0);
    assert!(count(1, Some(">=")).0 && !count(1, Some("<=")).0);
    assert!(run.check(json!({"type": "file_count", "pattern": "*.md", "count": 0})).0);
}

#[test]
fn a_text_is_found_with_its_file_and_line() {
    let run =
        Run::new().output("a.md", "one\r\ntwo\r\n").output("b.md", "zero\n\n  the two towers\n");
    let (passed, evidence) =
        run.check(json!({"type": "file_contains", "pattern": "*.md", "match": "two"}));
    assert!(passed);
    assert_eq!(evidence, r#"Found "two": a.md:2: two; b.md:3: the two towers"#);
    let regex = json!({"type": "file_contains", "pattern": "a.md", "match_regex": r"(?m)^two$"});
    assert_eq!(run.check(regex), (true, "Found /(?m)^two$/: a.md:2: two".to_owned()));
    let any = json!({"type": "file_contains", "pattern": "*.md", "match_any": ["x", "y"]});
    assert_eq!(
        run.check(any),
        (false, r#""x" or "y" is not in the 2 files that match `*.md`"#.to_owned())
    );
    let absent = json!({"type": "file_contains", "pattern": "*.py", "match": "x"});
    assert_eq!(run.check(absent), (false, "No file matches `*.py`".to_owned()));
}

#[test]
fn evidence_names_at_most_five_places() {
    let run = Run::new().output("a.md", "TODO\n".repeat(9));
    let check = json!({"type": "file_not_contains", "pattern": "*", "match": "TODO"});
    assert_eq!(
        run.check(check),
        (
            false,
            r#"Found "TODO": a.md:1: TODO; a.md:2: TODO; a.md:3: TODO; a.md:4: TODO; a.md:5: TODO"#
                .to_owned()
        )
    );
}

#[test]
fn a_hit_is_exempt_when_its_context_is_within_two_lines() {
    let not_contains = |text: &str| {
        let run = Run::new().output("a.ts", text);
        run.check(json!({"type": "file_not_contains", "pattern": "*.ts", "match": "vi.fn()", "except_context": ["onSubmit"]}))
    };
    assert!(not_contains("onSubmit\n\nvi.fn()\n").0, "two lines before");
    assert!(not_contains("vi.fn()\n\nonSubmit").0, "two lines after");
    assert!(not_contains("x = vi.fn() // onSubmit").0, "on the same line");
    assert!(!not_contains("onSubmit\n\n\nvi.fn()\n").0, "three lines before");
    assert!(!not_contains("vi.fn()\n\n\nonSubmit").0, "three lines after");
    let (passed, evidence) = not_contains("onSubmit vi.fn()\n\n\n\nvi.fn()\n");
    assert_eq!((passed, evidence.as_str()), (false, r#"Found "vi.fn()": a.ts:5: vi.fn()"#));
    let (_, evidence) = not_contains("onSubmit vi.fn()\n");
    assert!(evidence.ends_with("1 exempt by their context"), "{evidence}");
}

#[test]
fn a_vacuous_pass_says_so() {
    let check = json!({"type": "file_not_contains", "pattern": "*.ts", "match": "x"});
    let (passed, evidence) = Run::new().check(check);
    assert_eq!((passed, evidence.as_str()), (true, "Vacuous: no file matches `*.ts`"));
}

#[test]
fn many_hits_on_one_long_line_take_linear_time() {
    let run = Run::new().output("min.js", "vi.fn();".repeat(200_000) + "onSubmit");
    let check = json!({"type": "file_not_contains", "pattern": "*.js", "match": "vi.fn()", "except_context": ["onSubmit"]});
    let (passed, evidence) = run.check(check);
    assert!(passed && evidence.contains("200000 exempt"), "{evidence}");
}

#[test]
fn binary_and_large_files_are_reported() {
    let run = Run::new().output("a.png", b"\x89PNG\0\0TODO").output("b.txt", "fine");
    let contains = json!({"type": "file_contains", "pattern": "*", "match": "TODO"});
    let (passed, evidence) = run.check(contains);
    assert!(!passed && evidence.contains("a.png is binary and was not searched"), "{evidence}");
    let absent = json!({"type": "file_not_contains", "pattern": "*", "match": "TODO"});
    let (passed, evidence) = run.check(absent.clone());
    assert!(passed && evidence.contains("a.png is binary"), "{evidence}");

    let large = run.folder.path().join("outputs/large.txt");
    fs_err::File::create(&large).unwrap().set_len(outputs::MOST_BYTES + 1).unwrap();
    let (passed, evidence) = run.check(absent.clone());
    assert!(!passed && evidence.starts_with("Not decided: "), "{evidence}");
    assert!(evidence.contains("large.txt is too large to be searched"), "{evidence}");
    let mut negated = absent;
    negated["not"] = true.into();
    assert!(!run.check(negated).0, "what was not seen passes neither way");
}

#[test]
fn text_that_is_not_utf_8_is_searched_all_the_same() {
    let run = Run::new().output("latin.txt", b"caf\xe9 TODO");
    assert!(run.check(json!({"type": "file_contains", "pattern": "*", "match": "TODO"})).0);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_of_outputs() {
    let run = Run::new().file("secret.txt", "key").output("real/a.txt", "text");
    let outputs = run.folder.path().join("outputs");
    std::os::unix::fs::symlink("../secret.txt", outputs.join("leak.txt")).unwrap();
    std::os::unix::fs::symlink("real/a.txt", outputs.join("inside.txt")).unwrap();
    std::os::unix::fs::symlink("/", outputs.join("root")).unwrap();
    std::os::unix::fs::symlink(".", outputs.join("loop")).unwrap();
    let leak = json!({"type": "file_contains", "pattern": "leak.txt", "match": "key"});
    let (passed, evidence) = run.check(leak);
    assert!(!passed && evidence.contains("leads out of outputs/"), "{evidence}");
    assert!(
        run.check(json!({"type": "file_contains", "pattern": "inside.txt", "match": "text"})).0
    );
    let all = run.check(json!({"type": "file_count", "pattern": "*", "count": 2}));
    assert!(all.0, "{}", all.1);
}

#[cfg(unix)]
#[test]
fn names_with_newlines_are_shown_escaped() {
    let run = Run::new().output("a\nb.txt", "TODO");
    let (_, evidence) = run.check(json!({"type": "file_exists", "pattern": "*.txt"}));
    assert_eq!(evidence, r"Found: a\nb.txt");
}

#[test]
fn scripts_pass_with_exit_code_0_and_their_last_lines_are_evidence() {
    let run = Run::new();
    let script = |code: &str| run.check(json!({"type": "custom_script", "script": code}));
    assert_eq!(script("0"), (true, "exit code 0: last words".to_owned()));
    assert_eq!(script("3"), (false, "exit code 3: last words".to_owned()));
    let suite = suite(&[json!({"type": "custom_script", "script": "unstartable"})]);
    let compiled = compile(&suite.cases().next().unwrap()).unwrap();
    let stored = StoredRun::read(run.folder.path()).unwrap();
    let error = evaluate(&compiled, &stored.context(None, None, &[], &Echo)).unwrap_err();
    assert!(matches!(error, CheckError::Script { .. }), "a machine that fails is no failed check");
}

#[test]
fn the_gate_depends_on_critical_checks_only() {
    let run = Run::new().output("a.md", "");
    let exists = |pattern: &str, critical: bool| json!({"type": "file_exists", "pattern": pattern, "critical": critical});
    let structural = run.structural(&[exists("*.md", true), exists("*.ts", false)]);
    assert!(structural.gate_passed);
    assert_eq!((structural.summary.passed, structural.summary.failed), (1, 1));
    assert!(!run.structural(&[exists("*.ts", true)]).gate_passed);
    let text = skillgauge_format::write::to_text(&structural).unwrap();
    skillgauge_format::read::<Structural>(text.as_bytes()).unwrap();
}

#[test]
fn json_files_are_held_to_a_schema() {
    let run = Run::new()
        .output("good.json", r#"{"total": 3}"#)
        .output("bad.json", "{\n  \"total\": -1\n}");
    let check = |pattern: &str| {
        run.check(json!({"type": "json_schema", "pattern": pattern, "schema": {
            "type": "object", "required": ["total"], "properties": {"total": {"type": "integer", "minimum": 0}}
        }}))
    };
    assert_eq!(check("good.json"), (true, "1 file obeys the schema".to_owned()));
    assert_eq!(check("*.json"), (false, "bad.json:2: $.total is less than 0".to_owned()));
    assert!(!check("none.json").0);
    let run = Run::new().output("a.json", "{oops");
    let (passed, evidence) =
        run.check(json!({"type": "json_schema", "pattern": "*", "schema": true}));
    assert!(!passed && evidence.starts_with("a.json is not JSON"), "{evidence}");
}

#[test]
fn values_of_json_files_are_looked_up() {
    let run =
        Run::new().output("r.json", "{\"rows\": 3.0,\n \"name\": \"The Report\", \"none\": null}");
    let check = |more: Value| {
        let mut check = json!({"type": "json_path", "pattern": "r.json"});
        check.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run.check(check)
    };
    assert_eq!(
        check(json!({"path": "$.rows", "equals": 3})),
        (true, "Found at $.rows: r.json:1: 3.0".to_owned())
    );
    assert_eq!(
        check(json!({"path": "$.rows", "equals": 4})),
        (false, "$.rows is not 4: r.json:1: 3.0".to_owned())
    );
    assert!(check(json!({"path": "$.name", "match": "Report"})).0);
    assert!(check(json!({"path": "$.name", "match_regex": "^The"})).0);
    assert!(check(json!({"path": "$.none"})).0);
    assert!(check(json!({"path": "$.none", "equals": null})).0);
    assert!(!check(json!({"path": "$.rows", "equals": null})).0);
    assert_eq!(check(json!({"path": "$.x"})), (false, "r.json has nothing at $.x".to_owned()));
    assert!(check(json!({"path": "$.x", "not": true})).0);
}

#[test]
fn yaml_files_are_read() {
    let run = Run::new()
        .output("good.yml", "a: 1\nb: [x, y]\n")
        .output("many.yaml", "a: 1\n---\na: 2\n---\nb: 3\n")
        .output("twice.yml", "a: 1\nb:\n  c: 1\n  c: 2\n")
        .output("bad.yml", "a: [1\n");
    let check = |pattern: &str| run.check(json!({"type": "yaml_valid", "pattern": pattern}));
    assert_eq!(check("good.yml"), (true, "1 file is valid YAML".to_owned()));
    assert!(check("many.yaml").0, "{}", check("many.yaml").1);
    assert_eq!(check("twice.yml"), (false, "twice.yml:4: the key `c` occurs twice".to_owned()));
    assert!(!check("bad.yml").0 && check("bad.yml").1.starts_with("bad.yml:"));
    assert!(!check("none.yml").0);
}

#[test]
fn sections_of_markdown_files_are_found() {
    let text = "# Report\n\n## Risks\n\n- one\n\n### Detail\n\nmore\n\n## Empty\n\n## Next *steps*\n\n```\n## Not a heading\n```\n";
    let run = Run::new().output("r.md", text);
    let check = |heading: &str, more: Value| {
        let mut check = json!({"type": "markdown_section", "pattern": "*.md", "heading": heading});
        check.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run.check(check)
    };
    let found = check("risks", json!({"match_regex": "(?m)^- "}));
    assert_eq!(found, (true, r#"Found in the section "risks": r.md:5: - one"#.to_owned()));
    assert!(check("Risks", json!({"match": "more"})).0, "a deeper heading does not end a section");
    assert!(!check("Detail", json!({"match": "one"})).0);
    assert!(check("Next steps", json!({})).0);
    assert!(!check("Empty", json!({})).0);
    assert!(!check("Not a heading", json!({})).0);
    assert!(!check("Risks", json!({"match": "Next"})).0, "the next heading of its level does");
}

fn bash(command: &str) -> Value {
    json!({"type": "tool_call", "id": "t1", "name": "Bash", "input": {"command": command}})
}

fn result(status: &str, output: &str) -> Value {
    json!({"type": "tool_result", "id": "t1", "status": status, "output": output})
}

#[test]
fn errors_in_the_transcript_are_found() {
    let no_errors = json!({"type": "no_errors"});
    let check =
        |events: &[Value], end: Value| Run::new().transcript(events, end).check(no_errors.clone());
    assert!(check(&[bash("ls"), result("ok", "a.txt")], json!({})).0);
    assert_eq!(
        check(&[bash("ls x"), result("error", "no such file")], json!({})),
        (false, "transcript.jsonl:3: Bash failed: no such file".to_owned())
    );
    let (passed, evidence) =
        check(&[bash("make"), result("ok", "cc x.c\nerror: no main\n")], json!({}));
    assert_eq!(
        (passed, evidence.as_str()),
        (false, "transcript.jsonl:3: output of Bash: error: no main")
    );
    let prose = json!({"type": "text", "text": "error: is what I would write here"});
    assert!(check(&[prose], json!({})).0, "prose does not count");
    let read = json!({"type": "tool_call", "id": "t1", "name": "Read", "input": {}});
    assert!(check(&[read, result("ok", "error: in a log file")], json!({})).0);
    let failed =
        check(&[], json!({"outcome": "failed", "reason": "api_error", "message": "overloaded"}));
    assert_eq!(failed, (false, "the run did not complete: overloaded".to_owned()));
    assert_eq!(
        Run::new().check(no_errors.clone()),
        (false, "Not decided: the run has no transcript.jsonl".to_owned())
    );
}

#[test]
fn calls_of_tools_are_counted() {
    let run = Run::new().transcript(&[bash("npm test"), bash("npm ci")], json!({}));
    let called = |more: Value| {
        let mut check = json!({"type": "tool_called", "tool": "{Bash,shell}"});
        check.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run.check(check)
    };
    assert!(called(json!({})).0);
    assert_eq!(
        called(json!({"match": "npm test"})),
        (
            true,
            r#"`{Bash,shell}` was called 1 time with "npm test", expected >= 1: transcript.jsonl:2: Bash {"command":"npm test"}"#
                .to_owned()
        )
    );
    assert!(called(json!({"count": 2})).0 && !called(json!({"count": 1})).0);
    assert!(called(json!({"count": 2, "operator": "<="})).0);
    assert!(!called(json!({"not": true})).0);
    assert!(run.check(json!({"type": "tool_not_called", "tool": "Web*"})).0);
    assert!(
        !run.check(json!({"type": "tool_not_called", "tool": "Bash", "match_regex": "npm\\s+ci"}))
            .0
    );
}

#[test]
fn loaded_skills_tokens_seconds_and_the_answer_are_checked() {
    let usage = json!({"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0, "basis": "reported"});
    let end = json!({"skills_loaded": ["csv-report"], "usage": usage, "duration_ms": 1500, "final_text": "Wrote\nreport.json"});
    let run = Run::new().transcript(&[], end);
    assert!(run.check(json!({"type": "skill_loaded"})).0);
    assert!(!run.check(json!({"type": "skill_loaded", "skill": "other"})).0);
    assert!(run.check(json!({"type": "skill_loaded", "skill": "other", "not": true})).0);
    assert_eq!(
        run.check(json!({"type": "max_tokens", "limit": 119})),
        (false, "120 tokens, at most 119 are right".to_owned())
    );
    assert!(run.check(json!({"type": "max_tokens", "limit": 120})).0);
    assert!(run.check(json!({"type": "max_seconds", "limit": 1.5})).0);
    assert!(!run.check(json!({"type": "max_seconds", "limit": 1.4})).0);
    let (passed, evidence) = run.check(json!({"type": "output_contains", "match": "report"}));
    assert!(passed && evidence.ends_with("line 2: report.json"), "{evidence}");
    assert!(!run.check(json!({"type": "output_contains", "match": "csv"})).0);

    let timed = run.file("timing.json", r#"{"total_tokens": 7, "executor_duration_seconds": 2.5}"#);
    assert!(timed.check(json!({"type": "max_tokens", "limit": 7})).0, "timing.json comes first");
    assert!(!timed.check(json!({"type": "max_seconds", "limit": 2})).0);
    let unknown = Run::new().check(json!({"type": "max_tokens", "limit": 7, "not": true}));
    assert_eq!(unknown, (false, "Not decided: nobody said how many tokens were used".to_owned()));
}

#[test]
fn changes_outside_of_the_scope_are_found() {
    let run =
        Run::new().output("report.json", "{}").output("src/x.ts", "").output("data.csv", "a,b");
    let inputs = tempfile::tempdir().unwrap();
    fs_err::write(inputs.path().join("data.csv"), "a,b").unwrap();
    let check = |allow: &[&str], inputs: &[std::path::PathBuf]| {
        let suite = suite(&[json!({"type": "diff_scope", "allow": allow})]);
        let compiled = compile(&suite.cases().next().unwrap()).unwrap();
        let stored = StoredRun::read(run.folder.path()).unwrap();
        let structural = evaluate(&compiled, &stored.context(None, None, inputs, &Echo)).unwrap();
        let result = structural.expectations[0].clone();
        (result.passed, result.evidence)
    };
    let input = [inputs.path().join("data.csv")];
    assert!(check(&["report.json", "src/**"], &input).0);
    let (passed, evidence) = check(&["report.json"], &input);
    assert_eq!(
        (passed, evidence.as_str()),
        (false, "Made, changed or deleted without being allowed: src/x.ts")
    );
    fs_err::write(&input[0], "a;b").unwrap();
    assert!(!check(&["report.json", "src/**"], &input).0, "a changed input is a change");
}

#[test]
fn what_was_deleted_or_not_kept_is_in_the_scope_too() {
    let entry = |path: &str, change: &str, stored: &str| json!({"path": path, "change": change, "stored": stored});
    let record = json!({"execution": {"outputs": {"files": [
        entry("a.txt", "created", "copied"),
        entry("old/gone.txt", "deleted", "nothing"),
        entry("huge.bin", "created", "too_large"),
    ]}}});
    let run = || Run::new().output("a.txt", "");
    let told = run().file("run.json", record.to_string());
    let of = |run: &Run, allow: &[&str]| run.check(json!({"type": "diff_scope", "allow": allow}));
    assert_eq!(
        of(&told, &["a.txt"]),
        (
            false,
            "Made, changed or deleted without being allowed: old/gone.txt (deleted); huge.bin (not kept)"
                .to_owned()
        )
    );
    assert_eq!(
        of(&told, &["a.txt", "old/**", "*.bin"]),
        (true, "3 files made, changed or deleted, all of them allowed".to_owned())
    );
    let (passed, evidence) = of(&run(), &["a.txt"]);
    assert!(passed && evidence.ends_with("nobody knows what was deleted"), "{evidence}");
    let broken = of(&run().file("run.json", "{"), &["a.txt"]);
    assert!(!broken.0 && broken.1.starts_with("Not decided"), "{}", broken.1);
}

#[test]
fn everything_that_is_wrong_with_a_suite_is_said_at_once() {
    let suite = suite(&[
        json!({"type": "file_contains", "pattern": "a[", "match_regex": "(unclosed"}),
        json!({"type": "json_schema", "pattern": "*", "schema": {"type": "text", "format": "date", "properties": {"a": {"nope": 1}}}}),
        json!({"type": "json_path", "pattern": "*", "path": "$[?@.a]"}),
        json!({"type": "file_exists", "pattern": "../*"}),
        json!({"type": "diff_scope", "allow": ["{a", "b"]}),
        json!({"type": "tool_called", "tool": "[", "match_regex": r"\N{DASH}"}),
    ]);
    let problems = compile_suite(&suite).unwrap_err();
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn missing_fields_are_named() {
    // The reader refuses these before; whoever builds a suite in memory is told here.
    use skillgauge_format::evals::{Eval, EvalsSuite, StructuralExpectation};
    for info in CHECK_TYPES {
        let check = StructuralExpectation::new("S1", info.check_type, "d");
        let eval = Eval { structural_expectations: Some(vec![check]), ..Eval::new(1, "p") };
        let suite = Suite::from(EvalsSuite { evals: vec![eval], ..EvalsSuite::default() });
        let result = compile(&suite.cases().next().unwrap());
        let needs = info.required.len() + usize::from(!info.exactly_one.is_empty());
        match result {
            Ok(_) => assert_eq!(needs, 0, "{}", info.name),
            Err(problems) => assert_eq!(problems.len(), needs, "{}: {problems:?}", info.name),
        }
    }
}

#[test]
fn every_type_can_be_negated() {
    let run =
        Run::new().output("a.md", "# A\n\ntext\n").output("a.json", "{}").output("a.yml", "a: 1");
    let run = run.transcript(&[bash("ls")], json!({"final_text": "x", "duration_ms": 1}));
    let run = run.file("timing.json", r#"{"total_tokens": 7}"#);
    for info in CHECK_TYPES {
        let mut check: Value = serde_json::from_str(info.example).unwrap();
        if info.name == "custom_script" {
            check["script"] = "0".into();
        }
        let (passed, evidence) = run.check(check.clone());
        check["not"] = true.into();
        let (negated, _) = run.check(check);
        assert_ne!(passed, negated, "{}: {evidence}", info.name);
    }
}

#[test]
fn a_folder_without_a_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = StoredRun::read(folder.path()).unwrap_err();
    assert!(matches!(error, StoredRunError::NoRun(_)), "{error}");
}

#[test]
fn runs_are_found_below_an_iteration() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(folder.path()).unwrap();
    for run in [
        "eval-1/with_skill/run-1",
        "eval-1/without_skill/run-1",
        "eval-b.2/with_skill/run-3",
        ".partial/x",
    ] {
        fs_err::create_dir_all(root.join(run).join("outputs")).unwrap();
    }
    let found = CheckTarget::find(&root).unwrap();
    let names: Vec<(String, String)> =
        found.iter().map(|target| (target.case.clone(), target.name())).collect();
    let expected = [
        ("1", "eval-1/with_skill/run-1"),
        ("1", "eval-1/without_skill/run-1"),
        ("b.2", "eval-b.2/with_skill/run-3"),
    ];
    assert_eq!(names, expected.map(|(case, name)| (case.to_owned(), name.to_owned())));
    let one = CheckTarget::find(&root.join("eval-b.2/with_skill/run-3")).unwrap();
    assert_eq!(one[0].iteration, root);
    assert!(matches!(
        CheckTarget::find(&root.join("eval-1/none")),
        Err(TargetError::Unreadable { .. })
    ));
    fs_err::create_dir_all(root.join("loose/outputs")).unwrap();
    assert!(matches!(CheckTarget::find(&root.join("loose")), Err(TargetError::NoEval(_))));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(CheckTarget::find(empty.path()), Err(TargetError::NoRuns(_))));
}

#[test]
fn unknown_problems_have_the_place_in_the_suite() {
    let found = problems(json!({"type": "file_contains", "pattern": "*", "match_regex": "*"}));
    assert_eq!(found, ["eval 1, check S1: `match_regex`: nothing to repeat at position 0"]);
}
