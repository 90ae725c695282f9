//! How a note says it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skillgauge_format::evals::{CaseStatistics, DifferenceOver, DifferenceStatistics};
use skillgauge_format::json::Number;
use skillgauge_format::part::EvalId;

use crate::statistics::{FEWEST_CASES, PairedDifference, SIGNIFICANCE};
use crate::text::{plural, shorten};

/// Things that a note lists by name.
const LISTED: usize = 5;

/// Characters of a text that a note quotes.
pub(super) const SHORT: usize = 80;

/// The sum of the counts, and each of them with its name and an example of its reasons.
pub(super) fn tallied(counts: &BTreeMap<&str, (u64, Option<&str>)>) -> (u64, String) {
    let shown: Vec<String> = counts
        .iter()
        .map(|(outcome, (count, reason))| match reason {
            Some(reason) => format!("{count} {outcome} ({})", shorten(reason, SHORT)),
            None => format!("{count} {outcome}"),
        })
        .collect();
    (counts.values().map(|(count, _)| count).sum(), shown.join(", "))
}

/// Says what the skill costs or saves, or that nobody can tell.
pub(super) fn cost_note(name: &str, factor: f64, found: Option<&PairedDifference>) -> String {
    let plain = format!("runs with the skill took {factor:.1} times the {name}");
    let Some(found) = found else {
        return format!("{plain}, but no case has both sides");
    };
    if found.cases < FEWEST_CASES {
        let cases = plural(found.cases, "case");
        return format!(
            "{plain}, which may be chance: {cases}, and it takes {FEWEST_CASES} to tell"
        );
    }
    let test = format!("permutation test p = {:.4}", found.p_value);
    // Cases with many runs can pull the two apart.
    let is_same_way = (found.mean > 0.0) == (factor > 1.0);
    if found.p_value > SIGNIFICANCE || !is_same_way {
        return format!("{plain}, which is within the noise ({test})");
    }
    if factor > 1.0 {
        format!("the skill costs {factor:.1} times the {name} ({test})")
    } else {
        format!("the skill saves {:.0} % of the {name} ({test})", 100.0 * (1.0 - factor))
    }
}

pub(super) fn difference_note(found: &DifferenceStatistics) -> String {
    let over = match found.over {
        DifferenceOver::Assigned => "",
        DifferenceOver::Loaded => " where the skill was loaded",
    };
    let mut note =
        format!("{} against {}{over}: {}", found.configuration, found.baseline, found.verdict);
    if let Some(difference) = found.difference {
        let _ = write!(note, ", pass rate {:+.2}", difference.as_f64());
        if let Some((low, high)) = found.low.zip(found.high).map(pair) {
            let _ = write!(note, " [{low:+.2}, {high:+.2}]");
        }
    }
    let _ = write!(note, " ({})", found.reason);
    note
}

pub(in crate::benchmark) fn pair((low, high): (Number, Number)) -> (f64, f64) {
    (low.as_f64(), high.as_f64())
}

/// A case as people call it.
pub(in crate::benchmark) fn case_name(case: &CaseStatistics) -> String {
    case.eval_name.clone().unwrap_or_else(|| shown_id(&case.eval_id))
}

pub(super) fn shown_id(id: &EvalId) -> String {
    match id {
        EvalId::Number(number) => format!("eval {number}"),
        EvalId::Text(text) => text.clone(),
    }
}

pub(super) fn listed(items: &[impl AsRef<str>]) -> String {
    let shown: Vec<&str> = items.iter().take(LISTED).map(AsRef::as_ref).collect();
    let mut text = shown.join(", ");
    if items.len() > LISTED {
        let _ = write!(text, " and {} more", items.len() - LISTED);
    }
    text
}
