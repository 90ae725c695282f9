//! A fixture for each code, and the trial with reference answers.

use std::collections::BTreeSet;

use proptest::prelude::*;
use skillgauge_format::evals::CHECK_TYPES;

use super::structural::{OnEmpty, on_empty};
use super::*;

/// A skill in a folder of its own.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        bench.file(
            "demo-skill/SKILL.md",
            "---\nname: demo-skill\ndescription: Does a thing. Use when testing.\n---\n\nText.\n",
        )
    }

    fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
        self
    }

    fn lint(&self) -> LintOutcome {
        self.lint_with(None, Strictness::Normal)
    }

    fn lint_with(&self, scripts: Option<&dyn ScriptRunner>, strictness: Strictness) -> LintOutcome {
        let skill = self.folder.path().join("demo-skill");
        let folder = self.folder.path().join("reference");
        let scratch = self.folder.path();
        let reference = folder.is_dir().then_some(Reference { folder: &folder, scripts, scratch });
        lint(&LintRequest { skill: &skill, evals: None, triggers: None, reference, strictness })
            .unwrap()
    }
}

fn codes(linted: &LintOutcome) -> BTreeSet<&'static str> {
    linted.findings.iter().map(|finding| finding.code).collect()
}

/// One eval of the `evals` dialect with these members after its id.
fn eval(members: &str) -> String {
    format!(r#"{{"evals": [{{"id": 1, {members}}}]}}"#)
}

fn config(members: &str) -> String {
    let case = r#"{"id": 1, "prompt": "p", "expectations": ["Has 3 lines"]}"#;
    format!(r#"{{"eval_config": {{{members}}}, "evals": [{case}]}}"#)
}

/// A prompt with these checks and nothing for a judge.
fn checks(checks: &str) -> String {
    eval(&format!(r#""prompt": "Do it", "structural_expectations": [{checks}]"#))
}

/// Two evals with these prompts.
fn prompts(first: &str, second: &str) -> String {
    let eval = |id, prompt| {
        format!(r#"{{"id": {id}, "prompt": "{prompt}", "expectations": ["Names 3 files"]}}"#)
    };
    format!(r#"{{"evals": [{}, {}]}}"#, eval(1, first), eval(2, second))
}

/// One case of the `cases` dialect.
fn case(members: &str, required: bool) -> String {
    format!(
        r#"{{{members}"cases": [{{"id": "a", "prompt": "Do it", "expectations": [
            {{"criterion": "c", "description": "Names 3 files", "required": {required}}}]}}]}}"#
    )
}

/// A trigger set of these queries.
fn queries(queries: &[(&str, bool)]) -> String {
    let item = |(query, label): &(&str, bool)| {
        format!(r#"{{"query": "{query}", "should_trigger": {label}}}"#)
    };
    format!("[{}]", queries.iter().map(item).collect::<Vec<_>>().join(", "))
}

const TURNS: &str =
    r#""turns": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]"#;

/// Ten queries, and one more with these fields.
fn asked_with(fields: &str) -> String {
    let set = ten_and("x y z", true);
    let last = set.rfind("\"should_trigger\"").unwrap();
    format!("{}{fields}, {}", &set[..last], &set[last..])
}

/// Ten queries of about the same length, and one more.
fn ten_and(query: &str, label: bool) -> String {
    let texts = [
        "merge two forms",
        "split this form",
        "sign the letter",
        "read a contract",
        "fill this table",
    ];
    let others = [
        "cook some pasta",
        "call my mother",
        "paint the fence",
        "plan the party",
        "learn the piano",
    ];
    let mut all: Vec<_> = texts.iter().map(|text| (*text, true)).collect();
    all.extend(others.iter().map(|text| (*text, false)));
    all.push((query, label));
    queries(&all)
}

const EXISTS: &str =
    r#"{"id": "S1", "type": "file_exists", "pattern": "a.md", "description": "d"}"#;
const NOT_CONTAINS: &str = r#"{"id": "S1", "type": "file_not_contains", "pattern": "a.md", "match": "x", "description": "d"}"#;
const LONG: &str = "Please read the notes of our last meeting and make a list of all open tasks with a name for each";

#[derive(Clone, Copy)]
enum Into {
    Evals,
    Triggers,
}

/// A file that has the problem, and one that has not.
fn fixtures() -> Vec<(&'static str, Into, String, String)> {
    let evals = |code, bad: String, good: String| (code, Into::Evals, bad, good);
    let triggers = |code, bad: String, good: String| (code, Into::Triggers, bad, good);
    let expects = |texts: &str| {
        eval(&format!(
            r#""prompt": "Write a haiku about the sea and save it as haiku.txt", "expectations": [{texts}]"#
        ))
    };
    let sound = || expects(r#""Has 3 lines""#);
    let check = |fields: &str| checks(&format!(r#"{{"id": "S1", "description": "d", {fields}}}"#));
    let rubric = |scoring: &str| {
        eval(&format!(
            r#""prompt": "Do it", "quality_rubric": {{"dimensions": [{{"id": "d", "name": "D", "weight": 1, "description": "d", "scoring": {{{scoring}}}}}]}}"#
        ))
    };
    let six = (1..=6).map(|id| {
        format!(
            r#"{{"id": {id}, "prompt": "Task number {id}", "expectations": ["Names {id} files"]}}"#
        )
    });
    let six = format!(r#"{{"evals": [{}]}}"#, six.collect::<Vec<_>>().join(","));
    let long_positives =
        ["a", "b", "c", "d", "e"].map(|name| format!("{LONG}, and then send it to {name} {name}"));
    let mut separated: Vec<_> = long_positives.iter().map(|text| (text.as_str(), true)).collect();
    separated.extend(
        ["cook pasta", "call her", "paint it", "plan it", "learn it"].map(|text| (text, false)),
    );
    vec![
        evals("few-cases", sound(), six),
        evals("passes-empty", checks(NOT_CONTAINS), checks(&format!("{NOT_CONTAINS}, {}", EXISTS.replace("S1", "S2")))),
        evals("vacuous-check", check(r#""type": "max_tokens", "limit": 1e9"#), check(r#""type": "max_tokens", "limit": 50000"#)),
        evals("bad-check", check(r#""type": "file_contains", "pattern": "a.md", "match_regex": "(""#), check(r#""type": "file_contains", "pattern": "a.md", "match_regex": "a+""#)),
        evals("leaked-expectation", expects(r#""Save it as haiku.txt""#), sound()),
        evals("loading-expectation", expects(r#""The demo-skill skill was loaded""#), sound()),
        evals("uncheckable", expects(r#""The output is correct""#), sound()),
        evals("duplicate-case", prompts("Write a haiku", "write a  Haiku!"), prompts("Write a haiku", "Write an ode")),
        evals("similar-cases", prompts(LONG, &LONG.replace("last", "first")), prompts(LONG, "Write an ode")),
        evals("duplicate-expectation", expects(r#""Has 3 lines", "has the 3 lines.""#), expects(r#""Has 3 lines", "Has 17 syllables""#)),
        evals("missing-input", eval(r#""prompt": "p", "files": ["evals/files/none.txt"]"#), eval(r#""prompt": "p", "files": ["SKILL.md"]"#)),
        evals("other-skill", format!(r#"{{"skill_name": "other", {}"#, &sound()[1..]), format!(r#"{{"skill_name": "demo-skill", {}"#, &sound()[1..])),
        triggers("contradicting-queries", ten_and("Merge two forms!", false), ten_and("merge two posters", false)),
        triggers("similar-queries", ten_and("Merge two forms!", true), ten_and("merge two posters", true)),
        triggers("length-separates", queries(&separated), ten_and("merge two posters", false)),
        triggers("query-names-skill", ten_and("use demo-skill now", true), ten_and("use a demo now", true)),
        evals("no-required", case("", false), case("", true)),
        evals("vague", expects(r#""Has a good structure""#), sound()),
        evals("missing-outcome", config(r#""primary_outcome": "required_score""#), config(r#""primary_outcome": "preference""#)),
        evals("nothing-to-grade", eval(r#""prompt": "p""#), sound()),
        evals("not-graded", eval(r#""prompt": "p", "expectations": ["Has 3 lines"], "fail": ["It rhymes"]"#), eval(r#""prompt": "p", "expect": ["Has 3 lines"], "fail": ["It rhymes"]"#)),
        evals("judged-as-text", eval(r#""prompt": "p", "assertions": [{"name": "n", "type": "regex", "pattern": "x"}]"#), eval(r#""prompt": "p", "assertions": [{"name": "n", "type": "transcript_regex", "pattern": "x"}]"#)),
        evals("no-operator", check(r#""type": "file_count", "pattern": "*.md", "count": 2"#), check(r#""type": "file_count", "pattern": "*.md", "count": 2, "operator": ">=""#)),
        evals("no-statement", expects(r#""  ""#), sound()),
        evals("empty-suite", r#"{"cases": []}"#.into(), sound()),
        evals("duplicate-id", checks(&format!("{EXISTS}, {EXISTS}")), checks(EXISTS)),
        evals("unsafe-id", sound().replace("\"id\": 1", "\"id\": \"../x\""), sound()),
        evals("path-outside", eval(r#""prompt": "p", "files": ["../x"]"#), sound()),
        evals("unused-field", check(r#""type": "file_exists", "pattern": "a", "script": "x""#), checks(EXISTS)),
        evals("missing-anchor", rubric(r#""1": "a", "5": "b""#), rubric(r#""1": "a", "3": "c", "5": "b""#)),
        evals("unknown-anchor", rubric(r#""1": "a", "3": "c", "5": "b", "7": "d""#), rubric(r#""1": "a", "3": "c", "5": "b""#)),
        evals("bad-version", case("\"version\": \"x\", ", true), case("\"version\": \"1.0\", ", true)),
        evals("newer-version", case("\"version\": \"9.0\", ", true), case("\"version\": \"1.0\", ", true)),
        triggers("empty-set", "[]".into(), ten_and("x y z", true)),
        triggers("one-class", queries(&[("a b", true), ("c d", true)]), ten_and("x y z", true)),
        triggers("few-queries", queries(&[("a b", true), ("c d", false)]), ten_and("x y z", true)),
        triggers("conflicting-labels", ten_and("merge two forms", false), ten_and("x y z", true)),
        triggers("turn-order", asked_with(r#""turns": [{"role": "assistant", "content": "x"}]"#), asked_with(TURNS)),
        triggers("ignored-field", asked_with(r#""setup": "x""#), asked_with(r#""context": "x""#)),
        triggers("repeated-query", ten_and("merge two forms", true), ten_and("x y z", true)),
        evals("mixed-items", r#"{"evals": [{"query": "a", "should_trigger": true}, {"id": 1, "prompt": "p", "expectations": ["Has 3 lines"]}]}"#.into(), sound()),
        evals("unknown-dialect", r#"{"hello": 1}"#.into(), sound()),
        triggers("other-kind", sound(), ten_and("x y z", true)),
        evals("mismatch", eval(r#""prompt": 5"#), sound()),
        evals("missing-field", eval(r#""promt": "p""#), sound()),
        evals("exclusive-fields", check(r#""type": "file_contains", "pattern": "a", "match": "x", "match_regex": "y""#), checks(EXISTS)),
        evals("unknown-field", eval(r#""prompt": "p", "expectatoins": ["Has 3 lines"]"#), sound()),
        evals("duplicate-key", eval(r#""prompt": "p", "prompt": "q""#), sound()),
        evals("syntax", "{]".into(), sound()),
        evals("truncated", "{\"evals\": [".into(), sound()),
        evals("empty-file", " ".into(), sound()),
        evals("too-deep", "[".repeat(1000), sound()),
    ]
}

#[test]
fn every_code_is_reported_for_its_bad_fixture_and_not_for_its_good_one() {
    for (code, place, bad, good) in fixtures() {
        let found = |text: &str| {
            let path = match place {
                Into::Evals => "demo-skill/evals/evals.json",
                Into::Triggers => "demo-skill/evals/triggers.json",
            };
            codes(&Bench::new().file(path, text).lint())
        };
        assert!(found(&bad).contains(code), "{code} is not in {:?}: {bad}", found(&bad));
        assert!(!found(&good).contains(code), "{code} is in {:?}: {good}", found(&good));
    }
}

/// What no small fixture can have: a file that is not text, one that is huge, and the trial, which has tests of its own.
const ELSEWHERE: [&str; 6] = [
    "not-utf8",
    "too-many-values",
    "too-large",
    "reference-fails",
    "reference-missing",
    "reference-unused",
];

#[test]
fn every_code_has_a_fixture_and_every_fixture_only_known_codes() {
    let mut tested: BTreeSet<&str> = fixtures().iter().map(|fixture| fixture.0).collect();
    tested.extend(ELSEWHERE);
    let all: BTreeSet<&str> = lint_rules().map(|rule| rule.code).collect();
    assert_eq!(tested, all);
    for (code, place, bad, _) in fixtures() {
        let path = match place {
            Into::Evals => "demo-skill/evals/evals.json",
            Into::Triggers => "demo-skill/evals/triggers.json",
        };
        for finding in Bench::new().file(path, bad).lint().findings {
            let rule = lint_rule_named(finding.code)
                .unwrap_or_else(|| panic!("{} is in no table", finding.code));
            let is_error = rule.level == crate::rule::DefaultLevel::Error;
            assert_eq!(
                finding.level == crate::finding::Level::Error,
                is_error,
                "{} in the fixture of {code}",
                finding.code
            );
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_reported_with_their_place() {
    let linted = Bench::new().file("demo-skill/evals/evals.json", b"{\"a\": \"\xff\"}").lint();
    assert_eq!(codes(&linted), BTreeSet::from(["not-utf8"]));
    assert_eq!(linted.findings[0].place.line, 1);
}

#[test]
fn vague_expectations_are_errors_under_strict() {
    let bench = Bench::new().file(
        "demo-skill/evals/evals.json",
        eval(r#""prompt": "p", "expectations": ["Has a good title"]"#),
    );
    let strict = bench.lint_with(None, Strictness::Strict);
    let vague = strict.findings.iter().find(|finding| finding.code == "vague").unwrap();
    assert_eq!(vague.level, crate::finding::Level::Error);
}

#[test]
fn no_problem_of_a_suite_hides_another() {
    let suite = r#"{"skill_name": "demo-skill", "evals": [
        {"id": 1, "prompt": "a", "files": "x", "structural_expectations": [
            {"id": "S1", "type": "file_contains", "description": "d", "pattern": "[", "match": "a", "match_regex": "("},
            {"id": "S2", "type": "nope", "description": "d", "path": "$[?(@.x"},
            {"id": "S3", "type": "json_schema", "pattern": 3, "schema": {"type": "nope"}},
            {"id": "S4", "type": "diff_scope", "description": "d", "allow": ["a", "../x"], "match_regex": "("}]},
        {"id": 1, "prompt": "b", "files": ["../out", "gone"]},
        {"id": 3, "prompt": "c", "should_trigger": true}]}"#;
    let linted = Bench::new().file("demo-skill/evals/evals.json", suite).lint();
    let errors = linted.findings.iter().filter(|found| found.level == crate::finding::Level::Error);
    let found: Vec<String> = errors.map(|found| format!("{} {}", found.code, found.path)).collect();
    assert_eq!(
        found,
        [
            "mismatch $.evals[0].files",
            "exclusive-fields $.evals[0].structural_expectations[0]",
            "bad-check $.evals[0].structural_expectations[0].pattern",
            "bad-check $.evals[0].structural_expectations[0].match_regex",
            "mismatch $.evals[0].structural_expectations[1].type",
            "bad-check $.evals[0].structural_expectations[1].path",
            "missing-field $.evals[0].structural_expectations[2]",
            "mismatch $.evals[0].structural_expectations[2].pattern",
            "bad-check $.evals[0].structural_expectations[2].schema",
            "bad-check $.evals[0].structural_expectations[3].allow",
            "nothing-to-grade $.evals[1]",
            "duplicate-id $.evals[1].id",
            "path-outside $.evals[1].files[0]",
            "missing-input $.evals[1].files[1]",
            "mixed-items $.evals[2]",
        ],
        "a field that a type does not look at is only a warning"
    );
}

#[test]
fn pairs_of_queries_with_different_labels_are_welcome() {
    let set = queries(&[(LONG, true), (&LONG.replace("last", "first"), false)]);
    let linted = Bench::new().file("demo-skill/evals/triggers.json", set).lint();
    assert!(!codes(&linted).contains("similar-queries"));
}

#[test]
fn a_trigger_set_under_the_name_of_the_suite_is_looked_at_as_what_it_is() {
    let linted = Bench::new()
        .file("demo-skill/evals/evals.json", ten_and("use demo-skill now", true))
        .lint();
    assert_eq!((linted.cases, linted.queries), (0, 11));
    assert!(codes(&linted).contains("query-names-skill"));
}

#[test]
fn input_files_are_looked_for_in_the_workspace_and_must_not_be_links_that_lead_out() {
    let files = eval(r#""prompt": "p", "files": ["in.txt"], "expectations": ["Has 3 lines"]"#);
    let bench = Bench::new()
        .file("demo-skill/evals/evals.json", &files)
        .file("demo-skill-workspace/in.txt", "x");
    assert!(!codes(&bench.lint()).contains("missing-input"));
    #[cfg(unix)]
    {
        let bench =
            Bench::new().file("demo-skill/evals/evals.json", &files).file("secret.txt", "x");
        std::os::unix::fs::symlink(
            bench.folder.path().join("secret.txt"),
            bench.folder.path().join("demo-skill/in.txt"),
        )
        .unwrap();
        let linted = bench.lint();
        let found = linted.findings.iter().find(|finding| finding.code == "missing-input").unwrap();
        assert!(found.message.contains("leads out"), "{}", found.message);
    }
}

#[test]
fn findings_are_bounded_and_the_rest_is_counted() {
    let evals = (0..500)
        .map(|id| format!(r#"{{"id": {id}, "prompt": "p", "expectations": ["It works"]}}"#));
    let suite = format!(r#"{{"evals": [{}]}}"#, evals.collect::<Vec<_>>().join(","));
    let linted = Bench::new().file("demo-skill/evals/evals.json", suite).lint();
    assert!(
        linted.findings.len() <= 400 && linted.omitted >= 500,
        "{} {}",
        linted.findings.len(),
        linted.omitted
    );
}

/// The exit code is the script's text.
struct Echo;

impl ScriptRunner for Echo {
    fn run(
        &self,
        call: &crate::check::ScriptCall<'_>,
    ) -> Result<crate::check::ScriptEnd, crate::check::ScriptError> {
        fs_err::write(call.outputs.join("left-behind"), "x").unwrap();
        let outcome = crate::check::ScriptOutcome::Exited(call.script.parse().unwrap());
        Ok(crate::check::ScriptEnd { outcome, last_lines: vec![] })
    }
}

fn script(code: u8) -> String {
    checks(&format!(
        r#"{{"id": "S1", "type": "custom_script", "script": "{code}", "description": "d"}}"#
    ))
}

#[test]
fn a_reference_must_pass_and_an_empty_answer_must_not() {
    let suite = format!("{EXISTS}, {}", NOT_CONTAINS.replace("S1", "S2"));
    let bench = |content: &str| {
        Bench::new()
            .file("demo-skill/evals/evals.json", checks(&suite))
            .file("reference/1/a.md", content)
    };
    assert_eq!(codes(&bench("fine").lint()), BTreeSet::from(["few-cases"]));
    let linted = bench("xxx").lint();
    let failed = linted.findings.iter().find(|finding| finding.code == "reference-fails").unwrap();
    assert!(failed.message.contains("S2") && failed.message.contains("a.md"), "{}", failed.message);
    assert_eq!(failed.path.to_string(), "$.evals[0].structural_expectations[1]");
}

#[test]
fn scripts_are_tried_on_a_copy_or_left_out_with_a_note() {
    let bench = |code| {
        Bench::new().file("demo-skill/evals/evals.json", script(code)).file("reference/1/a.md", "x")
    };
    let tried = bench(0).lint_with(Some(&Echo), Strictness::Normal);
    assert!(codes(&tried).contains("passes-empty"), "{tried:?}");
    let failing = bench(1);
    assert!(codes(&failing.lint_with(Some(&Echo), Strictness::Normal)).contains("reference-fails"));
    assert!(!failing.folder.path().join("reference/1/left-behind").exists());
    let untried = bench(0).lint();
    assert_eq!(codes(&untried), BTreeSet::from(["few-cases"]));
    assert!(untried.notes[0].contains("scripts are not run"), "{:?}", untried.notes);
}

#[test]
fn what_only_a_judge_or_a_transcript_could_tell_is_noted() {
    let suite = eval(
        r#""prompt": "p", "expectations": ["Has 3 lines"],
           "structural_expectations": [{"id": "S1", "type": "no_errors", "description": "d"}]"#,
    );
    let linted = Bench::new()
        .file("demo-skill/evals/evals.json", suite)
        .file("reference/1/a", "x")
        .file("reference/old/a", "x")
        .lint();
    assert_eq!(codes(&linted), BTreeSet::from(["few-cases", "reference-unused"]));
    assert!(
        linted.notes[0].starts_with("only a judge") && linted.notes[1].contains("transcript"),
        "{:?}",
        linted.notes
    );
}

#[test]
fn a_case_with_checks_of_files_needs_a_reference() {
    let linted = Bench::new()
        .file("demo-skill/evals/evals.json", checks(EXISTS))
        .file("reference/x", "")
        .lint();
    assert!(codes(&linted).contains("reference-missing"));
}

/// What the rules believe of an empty answer is what the checks do with one.
#[test]
fn every_type_of_check_does_on_an_empty_answer_what_the_rules_say() {
    for info in CHECK_TYPES {
        for negated in [false, true] {
            let mut check: serde_json::Value = serde_json::from_str(info.example).unwrap();
            check["not"] = negated.into();
            if info.name == "custom_script" {
                continue;
            }
            let text = check.to_string();
            let document = json::parse(text.as_bytes()).unwrap();
            let expected = on_empty(&document.root);
            assert_ne!(expected, OnEmpty::Unknown, "{}", info.name);
            let suite = Suite::read(checks(&text).as_bytes()).unwrap().value;
            let case = suite.cases().next().unwrap();
            let passed = reference::passes_empty(&case).unwrap();
            assert_eq!(passed, expected == OnEmpty::Passes, "{} {negated}", info.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_input_panics(text in r#"[\[\]{}",:a-z0-9 \\]{0,200}"#) {
        let bench = Bench::new().file("demo-skill/evals/evals.json", &text).file("demo-skill/evals/triggers.json", &text);
        let linted = bench.lint();
        let _ = crate::output::lint::text(&linted, crate::output::Style::Plain);
    }

    #[test]
    fn no_suite_panics(
        prompt in "\\PC{0,60}", expectation in "\\PC{0,60}", file in "\\PC{0,20}", regex in "\\PC{0,20}", count in any::<i64>(),
    ) {
        let eval = serde_json::json!({
            "id": 1, "prompt": prompt, "expectations": [expectation, {"text": prompt}], "files": [file],
            "structural_expectations": [
                {"id": "a", "type": "file_contains", "pattern": file, "match_regex": regex, "description": "d"},
                {"id": "b", "type": "file_count", "pattern": "*", "count": count, "description": "d"},
            ],
        });
        let suite = serde_json::json!({"skill_name": prompt, "evals": [eval, eval]});
        let set = serde_json::json!([{"query": prompt, "should_trigger": true}, {"query": expectation, "should_trigger": false}]);
        let bench = Bench::new()
            .file("demo-skill/evals/evals.json", suite.to_string())
            .file("demo-skill/evals/triggers.json", set.to_string())
            .file("reference/1/a", "x");
        let linted = bench.lint();
        for finding in &linted.findings {
            prop_assert!(lint_rule_named(finding.code).is_some(), "{}", finding.code);
        }
        let _ = crate::output::lint::github(&linted, &crate::output::Paths::default());
        let _ = crate::output::lint::json(&linted, &crate::output::Paths::default());
    }
}
