//! Suites as other tools write them, translated into ours.
//!
//! ```text
//! [{"prompt", "expect", "fail"}, ...]           {"evals": [{"id", "prompt", "expectations"}]}
//! {"test_cases": [...]}                      -->
//! {"assertions": [{"type": "file_exists"}]}     {"structural_expectations": [{"type": "file_exists"}]}
//! {"prompt", "expected_output"}                 {"prompt", "expected_output", "expectations": [the result is that]}
//! ```
//!
//! It works on the tree, before anything is checked or read: so checks, rules, lint and types see one form, and every value
//! keeps its place in the file. A suite that is already ours is left alone, and a translated one translates to itself. What is
//! written back is what its author wrote: only the list comes under `evals`.
//!
//! The invariant: what an author wrote down to be judged is judged. What can't become a check reaches the judge as text with
//! all of its conditions, and [`check`] warns about it.

use std::borrow::Cow;

use super::check_type::{CHECK_TYPES, CheckType};
use crate::check::most_similar;
use crate::dialect;
use crate::json::{Member, Node, Number, Span, Value};
use crate::problem::{At, MeaningIssue, Report};

/// The id of the expectation that stands for `expected_output`.
pub const EXPECTED_OUTPUT: &str = "expected_output";

/// What the judge decides of a case that has nothing but `expected_output`.
pub const AS_EXPECTED: &str = "The result is what `expected_output` describes";

/// Other names for expectations, each with what stands before its texts. They are read where there are no `expectations`.
const EXPECTATIONS: [(&str, &str); 7] = [
    ("expect", ""),
    ("expected_behavior", ""),
    ("expected_behaviors", ""),
    ("success_criteria", ""),
    ("evaluation_criteria", ""),
    ("fail", "This does not happen: "),
    ("anti_patterns", "This does not happen: "),
];

/// Lists of regular expressions for the result, each with whether they must be absent.
const REGEXES: [(&str, bool); 2] = [("must_have", false), ("must_not_have", true)];

/// Fields of an assertion that say what must hold. A judge that is not shown them judges something else.
const CONDITIONS: [&str; 15] = [
    "check",
    "type",
    "pattern",
    "regex",
    "value",
    "values",
    "expect",
    "expected",
    "contains",
    "not_contains",
    "must_contain",
    "must_not_contain",
    "path",
    "file",
    "command",
];

/// The suite in our form; nothing when it already is.
pub fn translate<'t>(root: &Node<'t>) -> Option<Node<'t>> {
    let wrapped = wrapped(root);
    let mut is_changed = wrapped.is_some();
    let mut root = wrapped.unwrap_or_else(|| root.clone());
    // A trigger set is none of our business.
    let items =
        evals_of(&mut root).filter(|items| !items.iter().any(|item| item.has("should_trigger")));
    for item in items? {
        let span = item.span;
        if let Value::Object(members) = &mut item.value {
            is_changed |= translate_eval(members, span);
        }
    }
    is_changed.then_some(root)
}

/// The suite with its list under `evals`, where it is bare or has another name; ids that nobody gave are numbers.
pub(crate) fn wrapped<'t>(root: &Node<'t>) -> Option<Node<'t>> {
    let span = root.span;
    let mut wrapped = if dialect::is_bare_suite(root) {
        Node { span, value: Value::Object(vec![member("evals", root.clone())]) }
    } else if dialect::has_test_cases(root) {
        let mut members = root.members().to_vec();
        for member in members.iter_mut().filter(|member| member.key == "test_cases") {
            member.key = Cow::Borrowed("evals");
        }
        Node { span, value: Value::Object(members) }
    } else {
        return None;
    };
    let items = evals_of(&mut wrapped)?;
    if !items.iter().any(|item| item.has("id")) {
        for (number, item) in (1_u64..).zip(items) {
            let id = Node { span: item.span, value: Value::Number(Number::Unsigned(number)) };
            if let Value::Object(members) = &mut item.value {
                members.insert(0, member("id", id));
            }
        }
    }
    Some(wrapped)
}

fn evals_of<'r, 't>(root: &'r mut Node<'t>) -> Option<&'r mut Vec<Node<'t>>> {
    let Value::Object(members) = &mut root.value else { return None };
    let evals = members.iter_mut().rfind(|member| member.key == "evals")?;
    match &mut evals.value.value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn translate_eval(members: &mut Vec<Member<'_>>, span: Span) -> bool {
    let mut made = Made::default();
    let mut is_changed = take_other_names(members, &mut made);
    for (key, is_absent) in REGEXES {
        is_changed |= take_regexes(members, key, is_absent, &mut made);
    }
    for key in ["expectations", "assertions"] {
        let Some(list) = members.iter_mut().find(|member| member.key == key) else { continue };
        let Value::Array(items) = &mut list.value.value else { continue };
        let kept = std::mem::take(items).into_iter().filter_map(|item| {
            let (item, is_same) = translate_assertion(item, &mut made);
            is_changed |= !is_same;
            item
        });
        *items = kept.collect();
    }
    let Made { checks, statements, .. } = made;
    extend(members, "structural_expectations", checks, span);
    extend(members, "expectations", statements, span);
    if !is_gradable(members)
        && let Some(expected) = text_of(members, "expected_output").map(|node| node.span)
    {
        let statement = object(
            expected,
            [
                ("id", text(expected, EXPECTED_OUTPUT.to_owned())),
                ("text", text(expected, AS_EXPECTED.to_owned())),
            ],
        );
        extend(members, "expectations", vec![statement], span);
        is_changed = true;
    }
    is_changed
}

/// What an eval gets.
#[derive(Default)]
struct Made<'t> {
    checks: Vec<Node<'t>>,
    statements: Vec<Node<'t>>,
    regexes: usize,
}

/// Expectations under another name, where there are none under ours.
fn take_other_names<'t>(members: &mut Vec<Member<'t>>, made: &mut Made<'t>) -> bool {
    if has_statements(members) {
        return false;
    }
    let mut is_changed = false;
    for (key, before) in EXPECTATIONS {
        let Some(index) = members.iter().position(|member| member.key == key) else { continue };
        let Some(texts) = texts(&members[index].value) else { continue };
        made.statements
            .extend(texts.into_iter().map(|(span, words)| text(span, format!("{before}{words}"))));
        members.remove(index);
        is_changed = true;
    }
    is_changed
}

/// The texts of a list, of a single text, or of an object that gives them names.
fn texts(node: &Node<'_>) -> Option<Vec<(Span, String)>> {
    let of = |node: &Node<'_>| node.as_str().map(|text| (node.span, text.to_owned()));
    let found: Option<Vec<_>> = match &node.value {
        Value::String(_) => of(node).map(|text| vec![text]),
        Value::Array(items) => items.iter().map(of).collect(),
        Value::Object(members) => members
            .iter()
            .map(|member| {
                let words = member.value.as_str()?;
                Some((member.value.span, format!("{}: {words}", member.key)))
            })
            .collect(),
        _ => None,
    };
    found.filter(|texts| texts.iter().all(|(_, text)| !text.trim().is_empty()))
}

/// Regular expressions for the result become checks, sentences become expectations.
fn take_regexes<'t>(
    members: &mut Vec<Member<'t>>,
    key: &str,
    is_absent: bool,
    made: &mut Made<'t>,
) -> bool {
    let Some(index) = members.iter().position(|member| member.key == key) else { return false };
    let list = &members[index].value;
    let items = match &list.value {
        Value::Array(items) => items.as_slice(),
        Value::String(_) => std::slice::from_ref(list),
        _ => return false,
    };
    if items.iter().any(|item| item.as_str().is_none_or(|text| text.trim().is_empty())) {
        return false;
    }
    for item in items {
        let (span, words) = (item.span, item.as_str().unwrap_or_default());
        let has = if is_absent { "does not have" } else { "has" };
        if is_sentence(words) {
            made.statements.push(text(span, format!("The result {has}: {words}")));
            continue;
        }
        made.regexes += 1;
        let mut check = vec![
            ("id", text(span, format!("R{}", made.regexes))),
            ("type", text(span, CheckType::ResultContains.name().to_owned())),
            ("description", text(span, format!("The result {has} /{words}/"))),
            ("match_regex", text(span, words.to_owned())),
        ];
        if is_absent {
            check.push(("not", Node { span, value: Value::Bool(true) }));
        }
        made.checks.push(object(span, check));
    }
    members.remove(index);
    true
}

/// Four words and no sign that means something in a regular expression: nobody looks for that literally.
fn is_sentence(words: &str) -> bool {
    words.split_whitespace().count() >= 4
        && !words.contains(['\\', '[', ']', '(', ')', '|', '*', '+', '^', '$', '{', '}'])
}

/// What stays in the list of statements, and whether that is what was there.
fn translate_assertion<'t>(node: Node<'t>, made: &mut Made<'t>) -> (Option<Node<'t>>, bool) {
    let Node { span, value: Value::Object(mut members) } = node else { return (Some(node), true) };
    let has_regexes = REGEXES.iter().fold(false, |has, (key, is_absent)| {
        take_regexes(&mut members, key, *is_absent, made) | has
    });
    if has_regexes {
        let said =
            ["text", "description", "check"].iter().any(|key| text_of(&members, key).is_some());
        return (said.then_some(Node { span, value: Value::Object(members) }), false);
    }
    if check_type(&members).is_some_and(|check_type| missing(check_type, &members).is_empty()) {
        let number = made.checks.len() + 1;
        made.checks.push(check_of(members, span, number));
        return (None, false);
    }
    let conditions: Vec<String> = conditions(&members).collect();
    let rule = text_of(&members, "check").and_then(Node::as_str).map(str::to_owned);
    if conditions.is_empty() && rule.is_none() {
        return (Some(Node { span, value: Value::Object(members) }), true);
    }
    let name = ["text", "description", "name", "id"]
        .iter()
        .find_map(|key| text_of(&members, key).and_then(Node::as_str));
    let mut words = match (name, rule) {
        (Some(name), Some(rule)) if name.contains(rule.as_str()) => name.to_owned(),
        (Some(name), Some(rule)) => format!("{name}: {rule}"),
        (Some(name), None) => name.to_owned(),
        (None, rule) => rule.unwrap_or_default(),
    };
    if !conditions.is_empty() {
        let all = format!("{words} ({})", conditions.join(", "));
        all.trim().clone_into(&mut words);
    }
    members.retain(|member| member.key != "text" && !CONDITIONS.contains(&&*member.key));
    members.push(member("text", text(span, words)));
    (Some(Node { span, value: Value::Object(members) }), false)
}

/// The conditions of an assertion beside its `check`, in words. A type alone is none: `"type": "quality"` only sorts.
fn conditions(members: &[Member<'_>]) -> impl Iterator<Item = String> {
    let is_said = |member: &&Member<'_>| {
        CONDITIONS.contains(&&*member.key) && member.key != "check" && member.key != "type"
    };
    let has_any = members.iter().any(|member| is_said(&member));
    let is_shown = move |member: &&Member<'_>| {
        has_any && member.key != "check" && CONDITIONS.contains(&&*member.key)
    };
    members.iter().filter(is_shown).map(|member| match &member.value.value {
        Value::String(text) => format!("{}: {text}", member.key),
        _ => format!("{}: {}", member.key, member.value.to_value()),
    })
}

fn check_type(members: &[Member<'_>]) -> Option<CheckType> {
    text_of(members, "type").and_then(Node::as_str).and_then(CheckType::from_name)
}

/// The fields that keep an assertion from being a check of its type.
fn missing(check_type: CheckType, members: &[Member<'_>]) -> Vec<&'static str> {
    let info = check_type.info();
    let is_there = |field: &&str| members.iter().any(|member| member.key == *field);
    let mut missing: Vec<_> =
        info.required.iter().filter(|field| !is_there(field)).copied().collect();
    if !info.exactly_one.is_empty() && !info.exactly_one.iter().any(is_there) {
        missing.extend(info.exactly_one.first());
    }
    missing
}

/// An assertion as a check, with the id and the description that it may lack.
fn check_of<'t>(mut members: Vec<Member<'t>>, span: Span, number: usize) -> Node<'t> {
    let of = |members: &[Member<'t>], keys: &[&str]| {
        let found = keys.iter().find_map(|key| text_of(members, key).and_then(Node::as_str));
        found.map(str::to_owned)
    };
    if text_of(&members, "description").is_none() {
        let said = of(&members, &["text", "check", "name", "id", "type"]).unwrap_or_default();
        members.retain(|member| member.key != "description");
        members.insert(0, member("description", text(span, said)));
    }
    if text_of(&members, "id").is_none() {
        let id = of(&members, &["name"]).unwrap_or_else(|| format!("A{number}"));
        members.retain(|member| member.key != "id");
        members.insert(0, member("id", text(span, id)));
    }
    members.retain(|member| member.key != "text" && member.key != "name");
    Node { span, value: Value::Object(members) }
}

/// Whether something decides about an eval.
fn is_gradable(members: &[Member<'_>]) -> bool {
    let is_full = |key: &str| {
        members.iter().any(|member| {
            member.key == key
                && (!member.value.items().is_empty() || !member.value.members().is_empty())
        })
    };
    has_statements(members) || is_full("structural_expectations") || is_full("quality_rubric")
}

fn has_statements(members: &[Member<'_>]) -> bool {
    ["expectations", "assertions"].iter().any(|key| {
        members.iter().any(|member| member.key == *key && !member.value.items().is_empty())
    })
}

/// The value of a key when it is a text that says something.
fn text_of<'m, 't>(members: &'m [Member<'t>], key: &str) -> Option<&'m Node<'t>> {
    let value = &members.iter().rev().find(|member| member.key == key)?.value;
    value.as_str().is_some_and(|text| !text.trim().is_empty()).then_some(value)
}

fn member<'t>(key: &'static str, value: Node<'t>) -> Member<'t> {
    Member { key: Cow::Borrowed(key), key_span: value.span, value }
}

fn text<'t>(span: Span, text: String) -> Node<'t> {
    Node { span, value: Value::String(Cow::Owned(text)) }
}

fn object<'t>(span: Span, members: impl IntoIterator<Item = (&'static str, Node<'t>)>) -> Node<'t> {
    let members = members.into_iter().map(|(key, value)| member(key, value)).collect();
    Node { span, value: Value::Object(members) }
}

/// Adds to a list of the eval; one that is no list has been written wrong, and stays as it is.
fn extend<'t>(members: &mut Vec<Member<'t>>, key: &'static str, more: Vec<Node<'t>>, span: Span) {
    if more.is_empty() {
        return;
    }
    match members.iter_mut().find(|member| member.key == key) {
        Some(Member { value: Node { value: Value::Array(items), .. }, .. }) => items.extend(more),
        Some(_) => {}
        None => members.push(member(key, Node { span, value: Value::Array(more) })),
    }
}

/// Warns about what a program could decide and now a judge does, or nobody. Looks at the file as it is written.
pub(crate) fn check(root: &At<'_>, report: &mut Report<'_>) {
    let list = ["evals", "test_cases"].iter().find_map(|key| root.field(key));
    for eval in list.unwrap_or(*root).items() {
        check_fields(&eval, report);
        for key in ["expectations", "assertions"] {
            let Some(list) = eval.field(key) else { continue };
            for assertion in list.items() {
                check_assertion(&assertion, report);
            }
        }
    }
}

fn check_fields(eval: &At<'_>, report: &mut Report<'_>) {
    let has_statements = has_statements(eval.node().members());
    for (key, _) in EXPECTATIONS {
        let Some(at) = eval.field(key) else { continue };
        let field = key.to_owned();
        if has_statements {
            let why = "the eval has `expectations` or `assertions`, and only those are graded";
            report.add(&at, MeaningIssue::NotGraded { field, why });
        } else if texts(at.node()).is_none() {
            let why = "expected a text or a list of texts";
            report.add(&at, MeaningIssue::NotGraded { field, why });
        }
    }
    check_regexes(eval, report);
}

fn check_regexes(owner: &At<'_>, report: &mut Report<'_>) {
    for (key, _) in REGEXES {
        let Some(at) = owner.field(key) else { continue };
        let is_text = |node: &Node<'_>| node.as_str().is_some_and(|text| !text.trim().is_empty());
        let is_list = matches!(at.node().value, Value::Array(_));
        if !(is_text(at.node()) || is_list && at.node().items().iter().all(is_text)) {
            let why = "expected a list of regular expressions";
            report.add(&at, MeaningIssue::NotGraded { field: key.to_owned(), why });
        }
    }
}

fn check_assertion(assertion: &At<'_>, report: &mut Report<'_>) {
    check_regexes(assertion, report);
    let members = assertion.node().members();
    if REGEXES.iter().any(|(key, _)| assertion.node().has(key)) {
        return;
    }
    let fields: Vec<String> = members
        .iter()
        .map(|member| member.key.to_string())
        .filter(|key| CONDITIONS.contains(&key.as_str()) && key != "check" && key != "type")
        .collect();
    let missing = check_type(members).map(|check_type| missing(check_type, members));
    let is_check = missing.as_ref().is_some_and(Vec::is_empty);
    if is_check || fields.is_empty() && missing.is_none() {
        return;
    }
    let stated = assertion.text("type").unwrap_or_default();
    let similar =
        missing.is_none().then(|| most_similar(stated, CHECK_TYPES.iter().map(|info| info.name)));
    report.add(
        assertion,
        MeaningIssue::JudgedAsText {
            fields,
            check_type: stated.to_owned(),
            missing: missing.unwrap_or_default().into_iter().map(str::to_owned).collect(),
            similar: similar.flatten().map(str::to_owned),
        },
    );
}

#[cfg(test)]
mod tests;
