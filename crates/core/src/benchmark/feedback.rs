//! The suggestions of all gradings about the suite itself, the most frequent first.
//!
//! Judges say the same thing in other words, so suggestions are grouped by the expectation that they are about and then
//! by the words of their reasons. An id names an expectation only within its eval: the `S1` of one eval has nothing to do
//! with that of another. What is missing altogether may be missing in several evals, and is one suggestion for all of them.
//! What many runs say is a strong signal; what one says may be noise.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;
use skillgauge_format::Extra;
use skillgauge_format::evals::{AggregatedSuggestion, EvalFeedbackAggregate};

use crate::iteration::Iteration;
use crate::workspace;

/// Groups for one expectation; what fits none of them after that is only counted.
const MOST_GROUPS: usize = 200;

/// The share of common words from which on two reasons are the same.
const SIMILAR: f64 = 0.5;

/// The share of the shorter one's words in the longer one, for reasons of very different length.
const CONTAINED: f64 = 0.75;

/// Words that say nothing about what a reason is about.
#[rustfmt::skip]
const EMPTY_WORDS: [&str; 40] = [
    "the", "and", "that", "this", "for", "but", "not", "are", "was", "with", "from", "would", "could", "should", "even",
    "when", "whether", "which", "what", "also", "only", "just", "than", "then", "have", "has", "does", "its", "can", "will",
    "may", "any", "all", "some", "there", "consider", "assertion", "expectation", "check", "checks",
];

/// Suggestions that say the same.
struct Group {
    words: BTreeSet<String>,
    reasons: IndexMap<String, u64>,
    actions: IndexMap<String, u64>,
    evals: BTreeSet<String>,
    runs: u64,
    last_run: usize,
}

/// The suggestions about one expectation.
#[derive(Default)]
struct Suggestions<'i> {
    groups: Vec<Group>,
    /// Where a reason belongs, word for word; nothing when there was no room for it. A group never changes its words and
    /// new ones come last, so the answer stays right.
    places: HashMap<&'i str, Option<usize>>,
}

impl<'i> Suggestions<'i> {
    /// The group that a reason belongs to; a new one when it is like none.
    fn group(&mut self, reason: &'i str) -> Option<&mut Group> {
        let groups = &mut self.groups;
        let place = *self.places.entry(reason).or_insert_with(|| {
            let words = words_of(reason);
            let place = groups.iter().position(|group| similar(&group.words, &words));
            if place.is_none() && groups.len() < MOST_GROUPS {
                groups.push(Group::new(words));
                return Some(groups.len() - 1);
            }
            place
        });
        place.and_then(|place| self.groups.get_mut(place))
    }
}

/// Collects the suggestions of all measured runs.
pub(super) fn aggregate(iteration: &Iteration, skill_name: Option<&str>) -> EvalFeedbackAggregate {
    let mut groups: IndexMap<Option<(&str, String)>, Suggestions<'_>> = IndexMap::new();
    let (mut total_runs, mut left_out) = (0, 0_u64);
    for case in &iteration.cases {
        let id = case.id.to_string();
        let key = case.key.as_str();
        for run in case.runs.iter().filter(|run| run.is_measured()) {
            total_runs += 1;
            for suggestion in &run.suggestions {
                let about = suggestion.assertion.as_deref().map(|text| (key, assertion_id(text)));
                let list = groups.entry(about).or_default();
                let Some(group) = list.group(&suggestion.reason) else {
                    left_out += 1;
                    continue;
                };
                if group.last_run != total_runs {
                    (group.last_run, group.runs) = (total_runs, group.runs + 1);
                }
                add(&mut group.reasons, &suggestion.reason);
                if let Some(action) = &suggestion.action {
                    add(&mut group.actions, action);
                }
                if !group.evals.contains(&id) {
                    group.evals.insert(id.clone());
                }
            }
        }
    }
    let mut suggestions: Vec<AggregatedSuggestion> = groups
        .into_iter()
        .flat_map(|(about, list)| {
            let assertion = about.map(|(_, assertion)| assertion);
            list.groups.into_iter().map(move |group| group.finish(assertion.clone()))
        })
        .collect();
    // Stable, so that equals stay in the order in which they were met.
    suggestions.sort_by_key(|suggestion| std::cmp::Reverse(suggestion.frequency));
    EvalFeedbackAggregate {
        skill_name: skill_name.unwrap_or_default().to_owned(),
        // A folder of another name is the first.
        iteration: workspace::Iteration::at(&iteration.folder).number().unwrap_or(1),
        total_runs: total_runs as u64,
        suggestions,
        left_out: (left_out > 0).then_some(left_out),
        extra: Extra::new(),
    }
}

fn add(counts: &mut IndexMap<String, u64>, text: &str) {
    match counts.get_mut(text) {
        Some(count) => *count += 1,
        None => _ = counts.insert(text.to_owned(), 1),
    }
}

impl Group {
    fn new(words: BTreeSet<String>) -> Self {
        Self {
            words,
            reasons: IndexMap::new(),
            actions: IndexMap::new(),
            evals: BTreeSet::new(),
            runs: 0,
            last_run: 0,
        }
    }

    fn finish(self, assertion: Option<String>) -> AggregatedSuggestion {
        let reason = most_frequent(self.reasons).unwrap_or_default();
        // In the judge's words: a sentence of ours would be the same whatever is wrong.
        let action = most_frequent(self.actions)
            .or_else(|| advice(&reason))
            .unwrap_or_else(|| reason.clone());
        let evals: Vec<String> = self.evals.into_iter().collect();
        AggregatedSuggestion {
            frequency: self.runs,
            assertion,
            reason,
            action,
            evals: Some(evals),
            extra: Extra::new(),
        }
    }
}

/// The one that was said most often; the first of equals.
fn most_frequent(counts: IndexMap<String, u64>) -> Option<String> {
    let mut best: Option<(String, u64)> = None;
    for (text, count) in counts {
        if best.as_ref().is_none_or(|(_, most)| count > *most) {
            best = Some((text, count));
        }
    }
    best.map(|(text, _)| text)
}

/// The `S7` of `S7: Uses fixture factory pattern`; a text without an id stands for itself.
fn assertion_id(assertion: &str) -> String {
    let text = assertion.trim();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    let digits = head.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = head.len() - digits.len();
    let is_id = (1..=3).contains(&letters)
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (rest.is_empty() || rest.trim_start().starts_with([':', '.', '-', '–', '—', ')']));
    if is_id { head.to_owned() } else { text.to_owned() }
}

fn words_of(reason: &str) -> BTreeSet<String> {
    reason
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(|word| {
            let word = word.to_lowercase();
            let stem = word.strip_suffix('s').filter(|stem| !stem.ends_with('s'));
            stem.map(str::to_owned).unwrap_or(word)
        })
        .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
        .collect()
}

fn similar(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    use crate::statistics::number;
    let common = number(a.intersection(b).count());
    let (all, fewer) = (number(a.union(b).count()), number(a.len().min(b.len())));
    if all == 0.0 {
        return true;
    }
    common / all >= SIMILAR || (fewer >= 3.0 && common / fewer >= CONTAINED)
}

/// The sentence of a reason that says what to do.
fn advice(reason: &str) -> Option<String> {
    const VERBS: [&str; 11] = [
        "add", "check", "consider", "replace", "require", "remove", "use", "verify", "split",
        "make", "assert",
    ];
    let sentences = reason.split_inclusive(". ").map(str::trim);
    let asks = |sentence: &&str| {
        let first = sentence.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        VERBS.contains(&first.to_ascii_lowercase().as_str())
    };
    sentences.into_iter().find(asks).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_from_the_front_of_an_assertion() {
        for (text, id) in [
            ("S7: Uses fixture factory pattern", "S7"),
            ("S7", "S7"),
            ("E12 - has a title", "E12"),
            ("The output has 3 rows", "The output has 3 rows"),
            ("Step 3: done", "Step 3: done"),
            ("S7 days later", "S7 days later"),
        ] {
            assert_eq!(assertion_id(text), id);
        }
    }

    #[test]
    fn reasons_are_the_same_when_they_share_their_words() {
        let same = |a: &str, b: &str| similar(&words_of(a), &words_of(b));
        assert!(same(
            "This checks for the pattern name but would pass even if the factory returns incorrect data.",
            "Checks pattern name; the factory may return incorrect data and it would still pass"
        ));
        assert!(!same(
            "No assertion checks whether domain services are real instances",
            "The title of the report is never looked at"
        ));
    }

    #[test]
    fn the_action_is_the_sentence_that_asks_for_one() {
        assert_eq!(
            advice("It passes by name alone. Consider checking that overrides are used."),
            Some("Consider checking that overrides are used.".to_owned())
        );
        assert_eq!(advice("It passes by name alone."), None);
    }
}
