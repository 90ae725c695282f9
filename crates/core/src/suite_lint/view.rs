//! A suite or a trigger set as the rules look at it: what is there, whatever else is wrong with the file.

use skillgauge_format::json::{Node, Step, Value};
use skillgauge_format::{Dialect, JsonPath};

use super::report::Spot;

/// A text of the file and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Text<'d> {
    pub(super) text: &'d str,
    pub(super) spot: Spot,
}

/// The cases of a suite.
#[derive(Debug)]
pub(super) struct SuiteView<'d> {
    pub(super) dialect: Dialect,
    pub(super) list: Spot,
    /// The skill that the suite says it is for.
    pub(super) skill: Option<Text<'d>>,
    pub(super) cases: Vec<CaseView<'d>>,
}

#[derive(Debug)]
pub(super) struct CaseView<'d> {
    pub(super) spot: Spot,
    pub(super) id: String,
    pub(super) prompt: Option<Text<'d>>,
    pub(super) files: Vec<Text<'d>>,
    pub(super) expectations: Vec<Text<'d>>,
    pub(super) checks: Vec<CheckView<'d>>,
    /// Whether a judge scores dimensions.
    pub(super) has_rubric: bool,
    /// Whether it has `should_trigger`, and so is no case at all, which the reader reports.
    pub(super) is_query: bool,
}

#[derive(Debug)]
pub(super) struct CheckView<'d> {
    pub(super) spot: Spot,
    pub(super) node: &'d Node<'d>,
}

impl<'d> SuiteView<'d> {
    pub(super) fn new(root: &'d Node<'d>) -> Self {
        let top = Cursor::root(root);
        let (dialect, key, skill) = if root.has("cases") {
            (Dialect::Cases, "cases", "skill")
        } else {
            (Dialect::Evals, "evals", "skill_name")
        };
        let list = top.field(key);
        Self {
            dialect,
            skill: top.field(skill).and_then(|found| found.text()),
            cases: list.iter().flat_map(Cursor::items).map(|case| CaseView::new(&case)).collect(),
            list: list.unwrap_or(top).spot,
        }
    }
}

impl<'d> CaseView<'d> {
    fn new(case: &Cursor<'d>) -> Self {
        let texts = |key: &str| case.list(key).iter().filter_map(Cursor::text).collect();
        let id = case.node.get("id").map(|id| match &id.value {
            Value::String(text) => text.to_string(),
            Value::Number(number) => number.as_f64().to_string(),
            _ => String::new(),
        });
        let expectations = ["expectations", "assertions"].iter().flat_map(|key| case.list(key));
        let checks = case.list("structural_expectations").into_iter();
        Self {
            id: id.unwrap_or_default(),
            prompt: case.field("prompt").and_then(|prompt| prompt.text()),
            files: texts("files"),
            expectations: expectations.filter_map(|found| statement(&found)).collect(),
            checks: checks.map(|Cursor { spot, node }| CheckView { spot, node }).collect(),
            has_rubric: case
                .node
                .get("quality_rubric")
                .is_some_and(|node| !node.members().is_empty()),
            is_query: case.node.has("should_trigger"),
            spot: case.spot.clone(),
        }
    }

    /// Whether a judge is asked about this case.
    pub(super) fn is_judged(&self) -> bool {
        !self.expectations.is_empty() || self.has_rubric
    }
}

/// A statement is a text, or an object with one under one of three names.
fn statement<'d>(found: &Cursor<'d>) -> Option<Text<'d>> {
    let blank = |text: &Text<'d>| text.text.trim().is_empty();
    let fields = ["text", "description", "name"].iter();
    found
        .text()
        .or_else(|| fields.filter_map(|key| found.field(key)?.text()).find(|text| !blank(text)))
}

/// The queries of a trigger set.
#[derive(Debug)]
pub(super) struct TriggerView<'d> {
    pub(super) list: Spot,
    pub(super) queries: Vec<QueryView<'d>>,
}

#[derive(Debug)]
pub(super) struct QueryView<'d> {
    pub(super) query: Text<'d>,
    pub(super) should_trigger: bool,
    pub(super) files: Vec<Text<'d>>,
    /// Where it is asked, as JSON: the same words elsewhere are another query.
    pub(super) situation: String,
}

impl<'d> TriggerView<'d> {
    pub(super) fn new(root: &'d Node<'d>) -> Self {
        let top = Cursor::root(root);
        let list = top.field("evals").unwrap_or(top);
        let query = |item: Cursor<'d>| {
            let text = item.field("query").or_else(|| item.field("prompt"))?.text()?;
            let should_trigger = item.node.get("should_trigger")?.as_bool()?;
            let files = item.list("files").iter().filter_map(Cursor::text).collect();
            let around =
                ["files", "turns", "context"].map(|key| item.node.get(key).map(Node::to_value));
            let situation = serde_json::Value::from_iter(around).to_string();
            Some(QueryView { query: text, should_trigger, files, situation })
        };
        Self { queries: list.items().filter_map(query).collect(), list: list.spot }
    }
}

/// A value and where it stands; unlike a borrowed walk it lives as long as the tree.
struct Cursor<'d> {
    spot: Spot,
    node: &'d Node<'d>,
}

impl<'d> Cursor<'d> {
    fn root(node: &'d Node<'d>) -> Self {
        Self { spot: Spot { path: JsonPath::root(), span: node.span }, node }
    }

    fn step(&self, step: Step, node: &'d Node<'d>) -> Self {
        let mut steps = self.spot.path.steps().to_vec();
        steps.push(step);
        Self { spot: Spot { path: JsonPath::new(steps), span: node.span }, node }
    }

    fn field(&self, key: &str) -> Option<Self> {
        self.node.get(key).map(|node| self.step(Step::Key(key.to_owned()), node))
    }

    fn items(&self) -> impl Iterator<Item = Self> {
        self.node
            .items()
            .iter()
            .enumerate()
            .map(|(index, node)| self.step(Step::Index(index), node))
    }

    fn list(&self, key: &str) -> Vec<Self> {
        self.field(key).map(|found| found.items().collect()).unwrap_or_default()
    }

    fn text(&self) -> Option<Text<'d>> {
        self.node.as_str().map(|text| Text { text, spot: self.spot.clone() })
    }
}
