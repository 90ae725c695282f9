//! Checks of files and what stands in them, scripts, and the gate.

use super::*;

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
