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
fn binary_files_are_searched_and_reported() {
    let run = Run::new().output("a.png", b"\x89PNG\0\0TODO\xff\r\n").output("b.txt", "fine");
    let check = |kind: &str, field: &str, text: &str, negated: bool| {
        run.check(json!({"type": kind, "pattern": "*", field: text, "not": negated}))
    };
    for (field, text) in [("match", "TODO"), ("match_regex", "TOD[O]\\ufffd\\n")] {
        let (passed, evidence) = check("file_contains", field, text, false);
        assert!(passed && evidence.ends_with(": a.png (binary)"), "{evidence}");
        assert!(!check("file_contains", field, text, true).0, "{text}");
        let (passed, evidence) = check("file_not_contains", field, text, false);
        assert!(!passed && evidence.ends_with(": a.png (binary)"), "{evidence}");
    }
    assert_eq!(
        check("file_not_contains", "match", "FIXME", false),
        (
            true,
            r#""FIXME" is not in the 2 files that match `*`; a.png is binary; its bytes were searched"#
                .to_owned()
        )
    );
    assert!(check("file_contains", "match", "FIXME", true).0);
}

#[test]
fn files_that_cannot_be_searched_decide_nothing() {
    let run = Run::new().output("wide.txt", b"\xff\xfeT\0O\0D\0O\0").output("b.txt", "fine");
    let either = |run: &Run, kind: &str, pattern: &str| {
        let mut check = json!({"type": kind, "pattern": pattern, "match": "TODO"});
        let plain = run.check(check.clone());
        check["not"] = true.into();
        assert_eq!((plain.0, run.check(check)), (false, plain.clone()), "neither way");
        plain.1
    };
    for kind in ["file_contains", "file_not_contains"] {
        assert_eq!(
            either(&run, kind, "*"),
            r#"Not decided: "TODO" is not in 1 of the 2 files that match `*`; wide.txt is UTF-16 and not UTF-8"#
        );
    }
    let large = run.folder.path().join("outputs/large.txt");
    fs_err::File::create(&large).unwrap().set_len(outputs::MOST_BYTES + 1).unwrap();
    for kind in ["file_contains", "file_not_contains"] {
        assert_eq!(
            either(&run, kind, "l*"),
            "Not decided: the file that matches `l*` could not be searched; \
             large.txt is too large to be searched (33554433 bytes)"
        );
    }
}

/// A run whose record tells of these files, and of more.
fn recorded(files: &[Value], more: &Value) -> Run {
    let mut outputs = json!({"files": files, "copied_bytes": 0, "notes": []});
    outputs.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Run::new().file("run.json", json!({"execution": {"outputs": outputs}}).to_string())
}

fn entry(path: &str, stored: &str) -> Value {
    json!({"path": path, "change": "created", "kind": "file", "bytes": 1, "stored": stored})
}

#[test]
fn files_that_were_not_kept_are_there_and_what_is_in_them_is_not_known() {
    let files =
        [entry("a.log", "copied"), entry("big.log", "too_large"), entry("c.log", "no_room")];
    let run = recorded(&files, &json!({"unlisted": {"files": ["d.log"]}})).output("a.log", "x");
    assert_eq!(
        run.check(json!({"type": "file_exists", "pattern": "big.log"})),
        (true, "Found: big.log (too large to be kept)".to_owned())
    );
    assert!(!run.check(json!({"type": "file_absent", "pattern": "d.log"})).0);
    assert!(run.check(json!({"type": "file_absent", "pattern": "e.log"})).0);
    let (passed, evidence) =
        run.check(json!({"type": "file_count", "pattern": "*.log", "count": 4}));
    assert!(passed && evidence.contains("3 of them not kept in outputs/"), "{evidence}");
    for check in [
        json!({"type": "file_contains", "pattern": "*.log", "match": "y"}),
        json!({"type": "file_not_contains", "pattern": "*.log", "match": "y"}),
        json!({"type": "json_schema", "pattern": "big.log", "schema": {}}),
        json!({"type": "json_path", "pattern": "big.log", "path": "$.a"}),
        json!({"type": "yaml_valid", "pattern": "*.log"}),
        json!({"type": "markdown_section", "pattern": "*.log", "heading": "Risks"}),
    ] {
        for negated in [false, true] {
            let mut check = check.clone();
            check["not"] = negated.into();
            let (passed, evidence) = run.check(check.clone());
            assert!(!passed && evidence.starts_with("Not decided: "), "{check}: {evidence}");
            assert!(evidence.contains("big.log was not kept"), "{check}: {evidence}");
        }
    }
    let found = json!({"type": "file_contains", "pattern": "*.log", "match": "x"});
    assert!(run.check(found).0, "what was seen is enough");
    let script = run.check(json!({"type": "custom_script", "script": "0"}));
    assert!(script.0 && script.1.contains("3 files of the run were not kept"), "{}", script.1);
}

#[test]
fn files_without_a_name_leave_in_doubt_what_they_could_change() {
    let notes = json!([{"note": "too_many_files", "left_out": 95_000, "limit": 5000}]);
    // Without a list of names, as records were before there was one.
    let run = recorded(&[entry("a.log", "copied")], &json!({"notes": notes})).output("a.log", "x");
    let undecided = |run: &Run, check: Value| {
        let (passed, evidence) = run.check(check);
        assert!(!passed && evidence.starts_with("Not decided: "), "{evidence}");
        evidence
    };
    let evidence = undecided(&run, json!({"type": "file_absent", "pattern": "*.txt"}));
    assert!(evidence.ends_with("95000 more files of the run were not kept, nor named"));
    undecided(&run, json!({"type": "file_exists", "pattern": "*.txt", "not": true}));
    undecided(&run, json!({"type": "file_not_contains", "pattern": "*", "match": "y"}));
    undecided(&run, json!({"type": "diff_scope", "allow": ["a.log"]}));
    undecided(&run, json!({"type": "file_count", "pattern": "*.log", "count": 1}));
    let count = |operator: &str, count: u64| {
        run.check(
            json!({"type": "file_count", "pattern": "*.log", "count": count, "operator": operator}),
        )
    };
    assert!(count(">=", 1).0, "more of them change nothing");
    assert!(!count("<=", 0).0 && !count("<=", 0).1.starts_with("Not decided"));
    undecided(
        &run,
        json!({"type": "file_count", "pattern": "*.log", "count": 9, "operator": "<="}),
    );

    let shut = recorded(&[], &json!({"unlisted": {"folders": ["shut", ".cache"]}}));
    undecided(&shut, json!({"type": "file_absent", "pattern": "shut/*.log"}));
    undecided(&shut, json!({"type": "file_absent", "pattern": "*.log"}));
    assert!(shut.check(json!({"type": "file_absent", "pattern": "open/*.log"})).0);
    undecided(&Run::new().file("run.json", "{"), json!({"type": "file_absent", "pattern": "*"}));
}

#[test]
fn links_of_the_record_are_named() {
    let link = |path: &str, stored: &str| json!({"path": path, "change": "created", "kind": {"symlink": {"target": "x"}}, "bytes": 1, "stored": stored});
    let links = [
        link("out.txt", "leads_out"),
        link("gone.txt", "leads_nowhere"),
        link("old.txt", "nothing"),
        link("lib64", "leads_to_folder"),
    ];
    let more = json!({"unlisted": {"others": ["past.txt"]}});
    let run = recorded(&links, &more).output("lib/a.py", "");
    for (pattern, expected) in [
        ("out.txt", "is a link that leads out of outputs/ and is not followed"),
        ("gone.txt", "is a link that leads to no file"),
        ("old.txt", "is a link that was not followed"),
        ("past.txt", "is no file, but a link to none, a pipe or the like"),
    ] {
        let (passed, evidence) = run.check(json!({"type": "file_exists", "pattern": pattern}));
        assert!(!passed, "{pattern}");
        assert_eq!(evidence, format!("No file matches `{pattern}`; {pattern} {expected}"));
    }
    let (passed, evidence) = run.check(json!({"type": "file_absent", "pattern": "lib64/a.py"}));
    assert!(!passed && evidence.contains("lib64 is a link to a folder"), "{evidence}");
    assert!(run.check(json!({"type": "file_exists", "pattern": "**/a.py"})).0);
    assert!(run.check(json!({"type": "file_absent", "pattern": "**/b.py"})).0);
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
