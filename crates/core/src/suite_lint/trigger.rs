//! Rules for trigger sets: queries that are nearly the same, or that give the answer away.

use super::report::Report;
use super::table::triggers::{
    CONTRADICTING_QUERIES, LENGTH_SEPARATES, QUERY_NAMES_SKILL, SIMILAR_QUERIES,
};
use super::text::{near_pairs, quoted, repeated, words};
use super::view::TriggerView;
use super::{SkillFacts, input_file};
use crate::statistics::{area_under_curve, number};

/// The area under the curve from which the length of a query tells its label.
const SEPARATES: f64 = 0.75;

/// Fewer queries of a label differ in length by chance.
const FEWEST_FOR_LENGTH: usize = 5;

pub(super) fn check(set: &TriggerView<'_>, facts: &SkillFacts, report: &mut Report<'_>) {
    duplicates(set, report);
    input_file::check_queries(set, &facts.folder, facts.workspace.as_deref(), report);
    length(set, report);
    if let Some(name) = facts.name.as_deref().or(facts.folder_names.first().map(String::as_str)) {
        naming(set, name, report);
    }
}

fn duplicates(set: &TriggerView<'_>, report: &mut Report<'_>) {
    let texts: Vec<Vec<String>> = set.queries.iter().map(|query| words(query.query.text)).collect();
    for (first, second) in repeated(texts.iter()) {
        let (earlier, later) = (&set.queries[first], &set.queries[second]);
        if earlier.situation != later.situation {
            continue;
        }
        // To the letter the same: the reader has reported it. Without any word there is nothing to compare.
        if texts[first].is_empty() || earlier.query.text.trim() == later.query.text.trim() {
            continue;
        }
        let place = report.place(&earlier.query.spot);
        if earlier.should_trigger == later.should_trigger {
            let message = format!("{} is already at {place}", quoted(later.query.text));
            report.add(&SIMILAR_QUERIES, &later.query.spot, message, None);
        } else {
            let message = format!("{} has the other label at {place}", quoted(later.query.text));
            report.add(
                &CONTRADICTING_QUERIES,
                &later.query.spot,
                message,
                "keep one of them".to_owned(),
            );
        }
    }
    for (first, second) in near_pairs(&texts) {
        let (earlier, later) = (&set.queries[first], &set.queries[second]);
        let is_alike =
            earlier.should_trigger == later.should_trigger && earlier.situation == later.situation;
        if is_alike {
            let place = report.place(&earlier.query.spot);
            let message = format!("{} is nearly the query at {place}", quoted(later.query.text));
            report.add(&SIMILAR_QUERIES, &later.query.spot, message, None);
        }
    }
}

fn length(set: &TriggerView<'_>, report: &mut Report<'_>) {
    let lengths = |label: bool| -> Vec<f64> {
        let queries = set.queries.iter().filter(|query| query.should_trigger == label);
        let mut lengths: Vec<f64> =
            queries.map(|query| number(query.query.text.trim().chars().count())).collect();
        lengths.sort_by(f64::total_cmp);
        lengths
    };
    let (positive, negative) = (lengths(true), lengths(false));
    if positive.len().min(negative.len()) < FEWEST_FOR_LENGTH {
        return;
    }
    let Some(area) = area_under_curve(&positive, &negative) else { return };
    let (area, order) = if area < 0.5 { (1.0 - area, "shorter") } else { (area, "longer") };
    if area < SEPARATES {
        return;
    }
    let middle = |lengths: &[f64]| lengths[lengths.len() / 2];
    let message = format!(
        "queries that should trigger are {order} in {:.0}% of all pairs (middle length {} characters, {} for the others), \
         so length alone tells them apart",
        area * 100.0,
        middle(&positive),
        middle(&negative),
    );
    let hint = match order {
        "longer" => {
            "give those that should not trigger as much detail, and make some that should short"
        }
        _ => "give those that should trigger as much detail, and make some that should not short",
    };
    report.add(&LENGTH_SEPARATES, &set.list, message, hint.to_owned());
}

fn naming(set: &TriggerView<'_>, name: &str, report: &mut Report<'_>) {
    let name = name.trim().to_lowercase();
    if name.is_empty() {
        return;
    }
    for query in set.queries.iter().filter(|query| names(query.query.text, &name)) {
        let message = format!("{} names the skill", quoted(query.query.text));
        let hint = "ask as a user would who does not know that the skill exists".to_owned();
        report.add(&QUERY_NAMES_SKILL, &query.query.spot, message, hint);
    }
}

/// A name of one word is a word that users say; it counts only where a skill is meant.
fn names(query: &str, name: &str) -> bool {
    let query = query.to_lowercase();
    let stands = |phrase: &str| {
        query.match_indices(phrase).any(|(start, _)| {
            let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            !query[..start].ends_with(is_part)
                && !query[start + phrase.len()..].starts_with(is_part)
        })
    };
    let is_command = query.split_whitespace().any(|word| {
        word.strip_prefix('/')
            .is_some_and(|rest| rest.trim_end_matches(['.', ',', '!', '?', ':']) == name)
    });
    let spaced = name.replace(['-', '_'], " ");
    is_command
        || (name.contains('-') && stands(name))
        || stands(&format!("{name} skill"))
        || stands(&format!("{spaced} skill"))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_name_of_one_word_counts_only_where_a_skill_is_meant() {
        assert!(names("/pdf merge these", "pdf"));
        assert!(names("Use the PDF skill, please", "pdf"));
        assert!(names("run pdf-tools on it", "pdf-tools"));
        assert!(names("the pdf tools skill", "pdf-tools"));
        assert!(!names("Merge these pdf files", "pdf"));
        assert!(!names("open /pdf/a.txt", "pdf"));
        assert!(!names("my-pdf-tools-fork", "pdf-tools"));
        assert!(!names("tools for pdf", "pdf-tools"));
    }
}
