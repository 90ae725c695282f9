//! The trigger set: queries, and whether the skill should trigger for them.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::check::{most_similar, quote};
use crate::json::{self, Node, Span, Value};
use crate::problem::{At, MeaningIssue, Report};
use crate::trigger::situation::{Situation, Turn};
use crate::{Extra, JsonSchema, rule};

/// Queries with the expectation whether the skill triggers, as an array or as an object with `evals`.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TriggerSet {
    /// The queries themselves.
    List(Vec<TriggerItem>),
    /// The queries in an object, which may say more.
    Object(TriggerObject),
}

/// The form of a trigger set that is an object.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TriggerObject {
    /// The queries.
    pub evals: Vec<TriggerItem>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One query, under the key `query` or `prompt`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("oneOf" = [{ "required": ["query"] }, { "required": ["prompt"] }]))]
pub struct TriggerItem {
    /// What the user says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = crate::check::NOT_BLANK), transform = crate::schema_tests::not_null)]
    pub query: Option<String>,
    /// What the user says; another name for `query`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = crate::check::NOT_BLANK), transform = crate::schema_tests::not_null)]
    pub prompt: Option<String>,
    /// `true` when the skill should trigger, `false` when it should not.
    pub should_trigger: bool,
    /// Files to put into the work folder, relative to the skill; `evals/files/` is taken off their paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Earlier messages of the conversation, from the user's first one to the agent's last one. The query comes next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<Vec<Turn>>,
    /// Project instructions: what CLAUDE.md, AGENTS.md or GEMINI.md in the work folder says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub context: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The fields of an item, for whoever wants to know which ones are not.
const FIELDS: [&str; 6] = ["query", "prompt", "should_trigger", "files", "turns", "context"];

impl TriggerItem {
    /// An item under the key `query`.
    pub fn new(query: impl Into<String>, should_trigger: bool) -> Self {
        Self { query: Some(query.into()), should_trigger, ..Self::default() }
    }

    /// The same query asked elsewhere.
    #[must_use]
    pub fn asked_in(mut self, situation: Option<Situation>) -> Self {
        let Situation { files, turns, context } = situation.unwrap_or_default();
        self.files = (!files.is_empty()).then_some(files);
        self.turns = (!turns.is_empty()).then_some(turns);
        self.context = context;
        self
    }

    /// What the user says, whichever key it stands under.
    pub fn text(&self) -> &str {
        self.query.as_deref().or(self.prompt.as_deref()).unwrap_or_default()
    }

    /// Where the query is asked; nothing in an empty folder and a new conversation.
    pub fn situation(&self) -> Option<Situation> {
        let situation = Situation {
            files: self.files.clone().unwrap_or_default(),
            turns: self.turns.clone().unwrap_or_default(),
            context: self.context.clone(),
        };
        situation.some()
    }
}

/// A query that is to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query<'s> {
    /// What the user says, without white space around it.
    pub text: &'s str,
    /// Whether the skill should trigger.
    pub should_trigger: bool,
    /// Where it is asked; nothing in an empty folder and a new conversation.
    pub situation: Option<Situation>,
}

impl TriggerSet {
    /// The items as they stand in the file.
    pub fn items(&self) -> &[TriggerItem] {
        match self {
            Self::List(items) | Self::Object(TriggerObject { evals: items, .. }) => items,
        }
    }

    /// The different queries in the order of the file; a query that is there twice in the same situation counts once.
    pub fn queries(&self) -> Vec<Query<'_>> {
        let mut seen = std::collections::HashSet::new();
        let queries = self.items().iter().map(|item| Query {
            text: item.text().trim(),
            should_trigger: item.should_trigger,
            situation: item.situation(),
        });
        queries.filter(|query| seen.insert((query.text, query.situation.clone()))).collect()
    }
}

impl<'de> Deserialize<'de> for TriggerSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            list @ serde_json::Value::Array(_) => json::from_value(&list).map(Self::List),
            object => json::from_value(&object).map(Self::Object),
        }
    }
}

/// How many different queries of each label make a rate worth looking at.
const RECOMMENDED: usize = 5;

/// A set that is empty, contradicts itself, or is too small.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let evals = root.field("evals");
    let list = evals.as_ref().unwrap_or(root);
    let Value::Array(items) = &list.node().value else { return };
    if items.is_empty() {
        return report.add(list, MeaningIssue::EmptySet);
    }
    let labels = check_labels(list, report);
    for item in list.items() {
        rule::check_files(&item, report);
        check_turns(&item, report);
    }
    check_fields(list, report);
    let count = |label: bool| {
        labels.values().filter(|(_, should_trigger)| *should_trigger == label).count()
    };
    let (positive, negative) = (count(true), count(false));
    // Items without a query or a label have been reported, and would make these counts wrong.
    if labels.is_empty() || report.errors() > 0 {
        return;
    }
    if positive == 0 || negative == 0 {
        report.add(list, MeaningIssue::OneClass { missing: positive == 0 });
    } else if positive < RECOMMENDED || negative < RECOMMENDED {
        report.add(list, MeaningIssue::FewQueries { positive, negative });
    }
}

/// Reports messages that don't take turns: the user begins, and the query follows a message of the agent.
fn check_turns(item: &At<'_>, report: &mut Report<'_>) {
    let Some(turns) = item.field("turns") else { return };
    let mut expected = ["user", "assistant"].into_iter().cycle();
    let mut last = None;
    for turn in turns.items() {
        let (Some(role), Some(wanted)) = (turn.text("role"), expected.next()) else { return };
        if role != wanted {
            // A role that doesn't exist is the schema's to report.
            if let Some(at) = turn.field("role").filter(|_| matches!(role, "user" | "assistant")) {
                report.add(&at, MeaningIssue::TurnOrder { expected: wanted });
            }
            return;
        }
        last = Some(role);
    }
    if last == Some("user") {
        report.add(&turns, MeaningIssue::TurnsEnd);
    }
}

/// Warns of fields that are ignored, once for each name; those that look like a misspelling have been reported.
fn check_fields(list: &At<'_>, report: &mut Report<'_>) {
    let mut seen = std::collections::HashSet::new();
    for item in list.items() {
        let mut absent: Vec<&str> =
            FIELDS.into_iter().filter(|field| !item.node().has(field)).collect();
        for (member, at) in item.fields() {
            let key = member.key.as_ref();
            if FIELDS.contains(&key) {
                continue;
            }
            if let Some(meant) = most_similar(key, absent.iter().copied()) {
                absent.retain(|field| *field != meant);
            } else if seen.insert(key.to_owned()) {
                let field = key.to_owned();
                report.add_span(&at, member.key_span, MeaningIssue::IgnoredField { field });
            }
        }
    }
}

/// The text of a query and, as JSON, where it is asked.
type QueryIdentity<'s> = (&'s str, String);

/// Reports queries that are there twice, and gives the place and label of the different ones.
fn check_labels<'s>(
    list: &'s At<'_>,
    report: &mut Report<'_>,
) -> HashMap<QueryIdentity<'s>, (Span, bool)> {
    let mut labels = HashMap::<QueryIdentity<'s>, (Span, bool)>::new();
    for (item, node) in list.items().zip(list.node().items()) {
        let key = if node.has("query") { "query" } else { "prompt" };
        let (Some(at), Some(label)) = (item.field(key), item.truth("should_trigger")) else {
            continue;
        };
        let Some(query) = node.get(key).and_then(Node::as_str).map(str::trim) else { continue };
        let around = ["files", "turns", "context"].map(|key| node.get(key).map(Node::to_value));
        let identity = (query, serde_json::Value::from_iter(around).to_string());
        match labels.get(&identity) {
            None => {
                labels.insert(identity, (at.span(), label));
            }
            Some(&(first, first_label)) => {
                let (first, query) = (report.place(first), quote(query));
                report.add(
                    &at,
                    if label == first_label {
                        MeaningIssue::RepeatedQuery { query, first }
                    } else {
                        MeaningIssue::ConflictingLabels { query, label, first }
                    },
                );
            }
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_is_there_twice_counts_once() {
        let items = vec![
            TriggerItem::new("a", true),
            TriggerItem::new(" a ", true),
            TriggerItem::new("b", false),
        ];
        let texts: Vec<_> =
            TriggerSet::List(items).queries().iter().map(|query| query.text.to_owned()).collect();
        assert_eq!(texts, ["a", "b"]);
    }
}
