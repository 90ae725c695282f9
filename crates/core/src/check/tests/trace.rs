//! Checks of what the agent did and said, and of what it touched.

use super::*;

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
    let incomplete = |outcome: &str, reason: &str, exit: Value| {
        let end =
            json!({"outcome": outcome, "reason": reason, "exit": exit, "duration_ms": 10_020});
        let (passed, evidence) = check(&[], end);
        assert!(!passed);
        evidence.strip_prefix("the run did not complete: ").unwrap().to_owned()
    };
    assert_eq!(
        incomplete("timed_out", "timeout", json!({"signal": 15, "stop": "timeout"})),
        "it was stopped after 10.0 seconds, at its time limit"
    );
    assert_eq!(
        incomplete("timed_out", "silence", json!({"signal": 15, "stop": "silence"})),
        "it was stopped after 10.0 seconds, because nothing came from the agent"
    );
    assert_eq!(
        incomplete("failed", "crashed", json!({"code": 3})),
        "the agent ended with exit code 3 and did not say why"
    );
    assert_eq!(
        incomplete("failed", "crashed", json!({"signal": 9})),
        "the agent was ended by signal 9"
    );
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
