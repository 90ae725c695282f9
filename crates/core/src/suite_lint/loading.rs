//! The rule about expectations that a blind judge can't judge: whether the skill was loaded.

use serde_json::json;
use skillgauge_format::Dialect;

use super::report::Report;
use super::table::blind::LOADING_EXPECTATION;
use super::text::quoted;
use super::view::{CaseView, SuiteView};
use crate::judge::loading::Loading;

/// More checks than this no case has.
const MOST_CHECKS: usize = 10_000;

/// Reports them in the cases that are wanted, with the check to paste instead.
pub(super) fn check(
    view: &SuiteView<'_>,
    is_wanted: impl Fn(&str) -> bool,
    report: &mut Report<'_>,
) {
    for case in view.cases.iter().filter(|case| is_wanted(&case.id)) {
        let mut number = case.checks.len();
        for expectation in &case.expectations {
            let Some(loading) = Loading::wanted_by(expectation.text) else { continue };
            number += 1;
            let message = format!(
                "{} is about loading the skill, which the judge doesn't see",
                quoted(expectation.text)
            );
            let hint = hint(view.dialect, case, loading, number, expectation.text);
            report.add(&LOADING_EXPECTATION, &expectation.spot, message, hint);
        }
    }
}

fn hint(
    dialect: Dialect,
    case: &CaseView<'_>,
    loading: Loading,
    number: usize,
    text: &str,
) -> String {
    match (dialect, loading) {
        (Dialect::Evals, Loading::Wanted) => {
            // Among so many names one is free: a case has fewer checks.
            let free = (number..number + MOST_CHECKS)
                .map(|number| format!("S{number}"))
                .find(|id| !has_check(case, id));
            let check = json!({
                "id": free.unwrap_or_default(), "type": "skill_loaded", "description": text, "critical": false,
            });
            format!("it's decided from the run's events; as a check in `structural_expectations`: {check}")
        }
        (Dialect::Evals, Loading::Unwanted) => {
            "it's decided from the run's events; queries that must not load a skill belong in evals/triggers.json"
                .to_owned()
        }
        _ => "leave it out: `skillgauge trigger` measures how often a skill is loaded".to_owned(),
    }
}

fn has_check(case: &CaseView<'_>, id: &str) -> bool {
    let own = |check: &super::view::CheckView<'_>| {
        check.node.get("id").and_then(|node| node.as_str()) == Some(id)
    };
    case.checks.iter().any(own)
}
