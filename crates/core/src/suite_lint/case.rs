//! Rules for the suite as a whole and its cases: how many, the same twice, for another skill.

use std::path::Path;

use skillgauge_format::{Dialect, Suite};

use super::SkillFacts;
use super::report::Report;
use super::table::suite::{
    DUPLICATE_CASE, FEW_CASES, MISSING_OUTCOME, NOTHING_TO_GRADE, OTHER_SKILL, SIMILAR_CASES,
};
use super::text::{near_pairs, normalised, quoted, repeated, words};
use super::view::{CaseView, SuiteView};
use crate::statistics::FEWEST_CASES;

pub(super) fn check(suite: &SuiteView<'_>, facts: &SkillFacts, report: &mut Report<'_>) {
    count(suite, report);
    duplicates(&suite.cases, report);
    other_skill(suite, facts, report);
}

/// Cases that nothing can be said about, however they are run.
pub(super) fn nothing_to_grade(
    suite: &SuiteView<'_>,
    is_wanted: impl Fn(&str) -> bool,
    report: &mut Report<'_>,
) {
    for case in suite.cases.iter().filter(|case| is_wanted(&case.id)) {
        if case.is_judged() || case.is_query || !case.checks.is_empty() {
            continue;
        }
        let message = format!(
            "case {} can't be graded: it has no expectations, no checks, no rubric and no `expected_output`",
            case.id
        );
        let hint = "add `expectations`, or an `expected_output` that says what a good result is";
        report.add(&NOTHING_TO_GRADE, &case.spot, message, hint.to_owned());
    }
}

/// `run` would refuse it.
pub(super) fn outcome(suite: &Suite, view: &SuiteView<'_>, report: &mut Report<'_>) {
    let has = suite.outcomes();
    let Some(named) = suite.config().primary_outcome.filter(|named| !has.contains(named)) else {
        return;
    };
    let has: Vec<&str> = has.iter().map(|outcome| outcome.as_str()).collect();
    let message = format!("the suite has no {named}; its outcomes are {}", has.join(", "));
    let hint = "name one of them as `primary_outcome`, or leave it out".to_owned();
    report.add(&MISSING_OUTCOME, &view.list, message, hint);
}

fn count(suite: &SuiteView<'_>, report: &mut Report<'_>) {
    let found = suite.cases.len();
    // A suite without any case is the reader's to report.
    if (1..FEWEST_CASES).contains(&found) {
        let s = if found == 1 { "" } else { "s" };
        let message = format!(
            "{found} case{s} can't say how the skill does on other tasks; it takes at least {FEWEST_CASES}"
        );
        let hint = format!(
            "add {} more different tasks; more runs make the answer surer for these cases only",
            FEWEST_CASES - found
        );
        report.add(&FEW_CASES, &suite.list, message, hint);
    }
}

fn duplicates(cases: &[CaseView<'_>], report: &mut Report<'_>) {
    let with_prompt: Vec<_> =
        cases.iter().filter_map(|case| Some((case, case.prompt.as_ref()?))).collect();
    let files = |case: &CaseView<'_>| {
        let mut files: Vec<String> = case.files.iter().map(|file| file.text.to_owned()).collect();
        files.sort_unstable();
        files
    };
    let keys = with_prompt.iter().map(|(case, prompt)| (normalised(prompt.text), files(case)));
    for (first, second) in repeated(keys) {
        let (earlier, prompt) = (with_prompt[first].0, with_prompt[second].1);
        let message =
            format!("the case {} has the same prompt and input files", quoted(&earlier.id));
        let hint = format!("see {}", report.place(&earlier.spot));
        report.add(&DUPLICATE_CASE, &prompt.spot, message, hint);
    }
    let texts: Vec<Vec<String>> =
        with_prompt.iter().map(|(_, prompt)| words(prompt.text)).collect();
    for (first, second) in near_pairs(&texts) {
        let ((earlier, _), (later, prompt)) = (with_prompt[first], with_prompt[second]);
        if files(earlier) != files(later) {
            continue;
        }
        let message = format!("the prompt is nearly the one of the case {}", quoted(&earlier.id));
        let hint = format!("see {}", report.place(&earlier.spot));
        report.add(&SIMILAR_CASES, &prompt.spot, message, hint);
    }
}

pub(super) fn other_skill(suite: &SuiteView<'_>, facts: &SkillFacts, report: &mut Report<'_>) {
    let Some(stated) = &suite.skill else { return };
    let name = match suite.dialect {
        // A path, and `.` or `..` name nothing.
        Dialect::Cases => {
            let last = Path::new(stated.text.trim()).file_name();
            last.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        }
        Dialect::Evals | Dialect::Trigger => stated.text.trim().to_owned(),
    };
    let known: Vec<&String> = facts.name.iter().chain(&facts.folder_names).collect();
    if name.is_empty() || known.is_empty() || known.contains(&&name) {
        return;
    }
    let message = format!("the suite is for {}, the skill is {}", quoted(&name), quoted(known[0]));
    report.add(&OTHER_SKILL, &stated.spot, message, None);
}
