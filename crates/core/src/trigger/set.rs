//! A trigger set that is worth spending money on.
//!
//! Reading it reports everything that is wrong at once; a set with errors, or with one label only, is refused before the
//! first probe. Invariant: the queries are different from each other, and both labels are there.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use skillgauge_format::trigger::{QueryResult, Situation, TriggerSet};
use skillgauge_format::{Problems, read};

/// A query of a trigger set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LabelledQuery {
    pub text: String,
    /// Whether the skill should trigger.
    pub should_trigger: bool,
    /// Where it is asked; nothing in an empty folder and a new conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub situation: Option<Situation>,
}

impl LabelledQuery {
    pub fn new(text: impl Into<String>, should_trigger: bool) -> Self {
        Self { text: text.into(), should_trigger, situation: None }
    }

    /// Whether a result is about this query.
    pub fn is_of(&self, result: &QueryResult) -> bool {
        result.is_of(&self.text, self.situation.as_ref())
    }
}

/// The queries of a trigger set.
#[derive(Clone, Debug, PartialEq)]
pub struct QuerySet {
    /// The different queries, in the order of the file.
    pub queries: Vec<LabelledQuery>,
    /// What its author should look at, one sentence each with its place.
    pub warnings: Vec<String>,
}

/// Why a trigger set cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SetError {
    /// The file is not a trigger set, is empty, or contradicts itself.
    #[error("the trigger set cannot be used:{}", lines(problems))]
    Problems {
        /// Everything that is wrong, warnings included.
        problems: Problems,
    },
    /// All queries have the same label.
    #[error(
        "no query of the trigger set has `should_trigger: {missing}`, so nothing would show whether the skill {}; \
         add some (5 of each are recommended)",
        if *missing { "triggers when it should" } else { "stays quiet when it should" }
    )]
    OneClass {
        /// The label that no query has.
        missing: bool,
    },
}

fn lines(problems: &Problems) -> String {
    let mut text = String::new();
    for problem in problems {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  {}", problem.with_place());
    }
    if problems.omitted() > 0 {
        let _ = write!(text, "\n  and {} more", problems.omitted());
    }
    text
}

impl QuerySet {
    /// Reads a trigger set of either form.
    pub fn read(bytes: &[u8]) -> Result<Self, SetError> {
        let read = read::<TriggerSet>(bytes)
            .map_err(|error| SetError::Problems { problems: error.problems })?;
        let queries: Vec<LabelledQuery> = read
            .value
            .queries()
            .into_iter()
            .map(|query| LabelledQuery {
                situation: query.situation,
                ..LabelledQuery::new(query.text, query.should_trigger)
            })
            .collect();
        for missing in [true, false] {
            if queries.iter().all(|query| query.should_trigger != missing) {
                return Err(SetError::OneClass { missing });
            }
        }
        let warnings = read.warnings.into_iter().map(|problem| problem.with_place().to_string());
        Ok(Self { queries, warnings: warnings.collect() })
    }

    /// How many queries have the label.
    pub fn count(&self, should_trigger: bool) -> usize {
        self.queries.iter().filter(|query| query.should_trigger == should_trigger).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn set(value: &Value) -> Result<QuerySet, String> {
        QuerySet::read(value.to_string().as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn both_forms_are_read_and_a_repeated_query_merges() {
        let list = json!([
            {"query": "a", "should_trigger": true}, {"query": " a ", "should_trigger": true},
            {"query": "b", "should_trigger": false},
        ]);
        let object = json!({"evals": [
            {"prompt": "a", "should_trigger": true}, {"prompt": "b", "should_trigger": false},
        ]});
        let expected = [LabelledQuery::new("a", true), LabelledQuery::new("b", false)];
        assert_eq!(set(&list).unwrap().queries, expected);
        assert_eq!(set(&object).unwrap().queries, expected);
        let warnings = set(&list).unwrap().warnings.join("\n");
        assert!(warnings.contains("it counts once"), "{warnings}");
        assert!(warnings.contains("at least 5 of each are recommended"), "{warnings}");
    }

    #[test]
    fn what_cannot_give_an_answer_is_refused_with_the_reason() {
        let empty = set(&json!([])).unwrap_err();
        assert!(empty.contains("the trigger set has no queries"), "{empty}");
        let one = set(&json!([{"query": "a", "should_trigger": true}])).unwrap_err();
        assert!(one.contains("no query of the trigger set has `should_trigger: false`"), "{one}");
        let none = set(&json!([{"query": "a", "should_trigger": false}])).unwrap_err();
        assert!(none.contains("`should_trigger: true`"), "{none}");
        let both = set(&json!([
            {"query": "a", "should_trigger": true}, {"query": "a", "should_trigger": false},
        ]))
        .unwrap_err();
        assert!(both.contains("should not trigger here and should trigger at line 1"), "{both}");
        let typo = set(&json!([{"qeury": "a", "should_trigger": true}])).unwrap_err();
        assert!(typo.contains("1:"), "{typo}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = QuerySet::read(&bytes);
        }

        #[test]
        fn the_queries_are_different_and_have_both_labels(
            items in proptest::collection::vec(("[ab]{1,2}", any::<bool>()), 0..8)
        ) {
            let items: Vec<Value> = items
                .into_iter()
                .map(|(query, label)| json!({"query": query, "should_trigger": label}))
                .collect();
            if let Ok(set) = set(&Value::from(items)) {
                let mut texts: Vec<&String> = set.queries.iter().map(|query| &query.text).collect();
                texts.sort();
                texts.dedup();
                prop_assert_eq!(texts.len(), set.queries.len());
                prop_assert!(set.count(true) > 0 && set.count(false) > 0);
            }
        }
    }
}
