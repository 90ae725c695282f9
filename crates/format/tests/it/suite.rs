//! One model for both dialects.

use skillgauge_format::{Case, Dialect, Suite, SuiteConfig};

use crate::fixture;

fn suite(name: &str) -> Suite {
    let bytes = fs_err::read(fixture::path(name)).unwrap();
    Suite::read(&bytes).unwrap().value
}

#[test]
fn a_suite_of_cases_shows_its_criteria() {
    let suite = suite("seed-002/cases-suite.json");
    assert_eq!((suite.dialect(), suite.skill()), (Dialect::Cases, Some("path/to/skill")));
    assert_eq!(suite.config(), SuiteConfig::default());
    let cases: Vec<Case<'_>> = suite.cases().collect();
    assert_eq!(cases.len(), 1);
    let case = cases[0];
    assert_eq!(
        (case.id().as_ref(), case.title().as_ref(), case.name()),
        ("case-01", "case-01", None)
    );
    assert_eq!(case.prompt(), "Create a skill for managing Docker deployments");
    assert!(case.files().is_empty() && case.checks().is_empty() && case.rubric().is_none());
    let expectations: Vec<_> =
        case.expectations().iter().map(|e| (e.label(), e.text().len(), e.is_required())).collect();
    assert_eq!(
        expectations,
        [(Some("frontmatter"), 59, true), (Some("token-efficiency"), 32, false)]
    );
}

#[test]
fn a_suite_of_evals_shows_checks_rubric_and_config() {
    let suite = suite("seed-003/evals-suite.json");
    assert_eq!((suite.dialect(), suite.skill()), (Dialect::Evals, Some("testing")));
    let config = suite.config();
    assert_eq!(config.judge_model, Some("claude-sonnet-4-5-20250929"));
    assert_eq!(
        (config.runs_per_eval, config.structural_gate, config.baseline_comparison),
        (3, true, true)
    );
    let case = suite.cases().next().unwrap();
    assert_eq!((case.id().as_ref(), case.title().as_ref()), ("1", "Descriptive Eval Name"));
    assert_eq!(case.files(), ["evals/files/input.ts"]);
    assert_eq!(case.expected_output(), Some("Human description of what success looks like"));
    assert_eq!(case.checks()[0].pattern.as_deref(), Some("*.test.ts"));
    assert!(case.checks()[0].is_critical());
    let dimension = &case.rubric().unwrap().dimensions[0];
    assert!((dimension.weight() - 2.0).abs() < f64::EPSILON);
    assert_eq!(dimension.scoring.anchors().map(|(score, _)| score).collect::<Vec<_>>(), [1, 3, 5]);
    assert!(case.expectations().is_empty());
}

#[test]
fn statements_are_found_under_both_names() {
    for name in ["skill-creator/evals-suite.json", "agentskills/evals-suite.json"] {
        let suite = suite(name);
        let case = suite.cases().next().unwrap();
        assert_eq!(case.expectations().len(), 2, "{name}");
        assert!(
            case.expectations().iter().all(|e| e.is_required() && e.label().is_none()),
            "{name}"
        );
        assert_eq!(suite.config(), SuiteConfig::default(), "{name}");
    }
}

#[test]
fn a_suite_is_written_back_in_its_own_dialect() {
    let good = fixture::good();
    let suites = good.iter().filter(|fixture| fixture.kind.name().ends_with("-suite"));
    let mut count = 0;
    for fixture in suites {
        let text = Suite::read(&fixture.bytes).unwrap().value.to_json().unwrap();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            fixture.value(),
            "{}",
            fixture.name
        );
        count += 1;
    }
    assert!(count >= 6);
}

#[test]
fn a_trigger_set_is_not_a_suite() {
    let error = Suite::read(br#"[{"query": "a", "should_trigger": true}]"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1:1: $: this is a file of kind `trigger-set`, expected `cases-suite` or `evals-suite`"
    );
}
