//! Rules for structural checks: ones that cannot fail, cases that pass when nothing is done, checks there twice, checks
//! that cannot be carried out.

use skillgauge_format::evals::{CheckType, Operator};
use skillgauge_format::json::{Node, Number};

use super::report::Report;
use super::table::suite::{
    BAD_CHECK, DUPLICATE_EXPECTATION, NO_OPERATOR, PASSES_EMPTY, VACUOUS_CHECK,
};
use super::text::{quoted, repeated};
use super::view::{CaseView, CheckView, SuiteView};
use crate::check::{CheckProblem, field_problems};

/// A limit of tokens that no run comes near to.
const ABSURD_TOKENS: f64 = 10_000_000.0;

/// A limit of time that no run comes near to: a day.
const ABSURD_SECONDS: f64 = 86_400.0;

pub(super) fn check(case: &CaseView<'_>, report: &mut Report<'_>) {
    for check in &case.checks {
        if let Some(reason) = never_fails(check.node) {
            report.add(
                &VACUOUS_CHECK,
                &check.spot,
                format!("this check can never fail: {reason}"),
                None,
            );
        }
    }
    for check in case.checks.iter().filter(|check| lacks_operator(check.node)) {
        let message = "a `file_count` without `operator` means exactly as many files here, and at least \
                       as many in structural-checker.py";
        let hint = "add \"operator\": \">=\" or \"operator\": \"==\"";
        report.add(&NO_OPERATOR, &check.spot, message.to_owned(), hint.to_owned());
    }
    let is_idle = |check: &CheckView<'_>| on_empty(check.node) == OnEmpty::Passes;
    if !case.is_judged() && !case.checks.is_empty() && case.checks.iter().all(is_idle) {
        report.add(&PASSES_EMPTY, &case.spot, IDLE.to_owned(), IDLE_HINT.to_owned());
    }
    for (first, second) in repeated(case.checks.iter().map(substance)) {
        let place = report.place(&case.checks[first].spot);
        let message = format!("the check is the same as the one at {place}");
        report.add(
            &DUPLICATE_EXPECTATION,
            &case.checks[second].spot,
            message,
            "leave one of them out".to_owned(),
        );
    }
}

fn lacks_operator(check: &Node<'_>) -> bool {
    check.get("type").and_then(Node::as_str) == Some(CheckType::FileCount.name())
        && !check.has("operator")
}

pub(super) const IDLE: &str = "every check of this case passes when the agent does nothing";
pub(super) const IDLE_HINT: &str =
    "add a check of what must be there, such as file_exists or file_contains";

/// What `run` would refuse. Each field is looked at by itself, so that nothing else that is wrong hides it.
pub(super) fn compile(view: &SuiteView<'_>, report: &mut Report<'_>) {
    for case in &view.cases {
        for check in &case.checks {
            let check_type = check.node.get("type").and_then(Node::as_str);
            let check_type = check_type.and_then(CheckType::from_name);
            let info = check_type.map(CheckType::info);
            // A field that the type does not look at does no harm; which those are, nobody knows without a type.
            let is_used = |field: &str| info.is_none_or(|info| info.uses(field));
            for member in check.node.members().iter().filter(|member| is_used(&member.key)) {
                let value = member.value.to_value();
                for kind in field_problems(check_type, &member.key, &value) {
                    let (case, check_id) = (case.id.clone(), id(check).unwrap_or("?").to_owned());
                    let problem = CheckProblem { case, check: check_id, kind };
                    let spot = check.spot.field(&member.key, &member.value);
                    report.add(&BAD_CHECK, &spot, problem.to_string(), None);
                }
            }
        }
    }
}

pub(super) fn id<'d>(check: &CheckView<'d>) -> Option<&'d str> {
    check.node.get("id").and_then(Node::as_str)
}

/// What a check says of an answer without files, tool calls and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnEmpty {
    Passes,
    Fails,
    /// Only a trial could tell.
    Unknown,
}

/// A test compares this with what the checks really do.
pub(super) fn on_empty(check: &Node<'_>) -> OnEmpty {
    let text = |key| check.get(key).and_then(Node::as_str);
    let plain = match text("type") {
        Some(
            "file_exists" | "file_contains" | "json_schema" | "json_path" | "yaml_valid"
            | "markdown_section" | "skill_loaded" | "output_contains" | "result_contains",
        ) => OnEmpty::Fails,
        Some(
            "file_not_contains" | "file_absent" | "no_errors" | "tool_not_called" | "max_tokens"
            | "max_seconds" | "diff_scope",
        ) => OnEmpty::Passes,
        Some("transcript_regex") => match text("expect") {
            Some("absent") => OnEmpty::Passes,
            _ => OnEmpty::Fails,
        },
        Some("file_count") => holds_for_none(operator(check), amount(check, "count")),
        Some("tool_called") => match (check.has("operator"), amount(check, "count")) {
            (false, None) => OnEmpty::Fails,
            (_, count) => holds_for_none(operator(check), Some(count.unwrap_or(1.0))),
        },
        _ => OnEmpty::Unknown,
    };
    match (plain, is_negated(check)) {
        (OnEmpty::Passes, true) => OnEmpty::Fails,
        (OnEmpty::Fails, true) => OnEmpty::Passes,
        (plain, _) => plain,
    }
}

/// What a comparison says of nothing at all.
fn holds_for_none(operator: Option<Operator>, count: Option<f64>) -> OnEmpty {
    let (Some(operator), Some(count)) = (operator, count) else { return OnEmpty::Unknown };
    let holds = match operator {
        Operator::Equal | Operator::AtLeast => count <= 0.0,
        Operator::AtMost => count >= 0.0,
    };
    if holds { OnEmpty::Passes } else { OnEmpty::Fails }
}

fn is_negated(check: &Node<'_>) -> bool {
    check.get("not").and_then(Node::as_bool) == Some(true)
}

fn amount(check: &Node<'_>, key: &str) -> Option<f64> {
    check.get(key).and_then(Node::as_number).map(Number::as_f64)
}

/// The operator of a count; nothing when it is none that we know, which the reader reports.
fn operator(check: &Node<'_>) -> Option<Operator> {
    match check.get("operator").and_then(Node::as_str) {
        None | Some("==") => Some(Operator::Equal),
        Some(">=") => Some(Operator::AtLeast),
        Some("<=") => Some(Operator::AtMost),
        Some(_) => None,
    }
}

/// Why a check passes in every run, if it does.
fn never_fails(check: &Node<'_>) -> Option<String> {
    if is_negated(check) {
        return None;
    }
    let text = |key| check.get(key).and_then(Node::as_str);
    match text("type")? {
        "file_count" => {
            let is_any =
                operator(check) == Some(Operator::AtLeast) && amount(check, "count") == Some(0.0);
            is_any.then(|| "there are always at least 0 files".to_owned())
        }
        "max_tokens" => {
            let limit = amount(check, "limit").filter(|limit| *limit >= ABSURD_TOKENS)?;
            Some(format!("no run uses {limit} tokens"))
        }
        "max_seconds" => {
            let limit = amount(check, "limit").filter(|limit| *limit >= ABSURD_SECONDS)?;
            Some(format!("no run takes {limit} seconds"))
        }
        "custom_script" => {
            let script = text("script")?;
            always_succeeds(script)
                .then(|| format!("the script {} always exits with 0", quoted(script)))
        }
        "diff_scope" => {
            let allowed = check.get("allow")?.items().iter().filter_map(Node::as_str);
            let everything =
                allowed.into_iter().find(|glob| matches!(*glob, "*" | "**" | "**/*"))?;
            Some(format!("{everything:?} allows every file"))
        }
        "file_contains" | "markdown_section" | "output_contains" | "result_contains" => {
            let pattern = text("match_regex")?;
            let matches_all = matches!(
                pattern,
                "" | "." | ".*" | ".+" | ".*?" | "^" | "$" | "^.*$" | "[\\s\\S]*"
            );
            matches_all.then(|| format!("every text matches {pattern:?}"))
        }
        _ => None,
    }
}

fn always_succeeds(script: &str) -> bool {
    let script = script.trim().trim_end_matches(';').trim_end();
    let last = script.rsplit(['\n', ';']).next().unwrap_or_default().trim();
    let after_or = script.rsplit("||").next().unwrap_or_default().trim();
    let is_true = |command: &str| matches!(command, "true" | ":" | "exit 0");
    is_true(last) || (after_or.len() < script.len() && is_true(after_or))
}

/// Everything that a check is, but its name and its description.
fn substance(check: &CheckView<'_>) -> Vec<(String, String)> {
    let members = check
        .node
        .members()
        .iter()
        .filter(|member| member.key != "id" && member.key != "description");
    let mut fields: Vec<_> = members
        .map(|member| (member.key.to_string(), format!("{:?}", bare(&member.value))))
        .collect();
    fields.sort_unstable();
    // Without any field it is broken, and its place is all that tells it from another one.
    if fields.is_empty() {
        fields.push((check.spot.path.to_string(), String::new()));
    }
    fields
}

/// A value without its places.
fn bare(node: &Node<'_>) -> serde_json::Value {
    use skillgauge_format::json::Value;
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => number.as_f64().into(),
        Value::String(text) => text.as_ref().into(),
        Value::Array(items) => items.iter().map(bare).collect(),
        Value::Object(members) => {
            members.iter().map(|member| (member.key.to_string(), bare(&member.value))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_swallow_every_failure_always_succeed() {
        for script in
            ["true", " : ", "exit 0", "grep x y || true", "make; true", "make\nexit 0\n", "a || :"]
        {
            assert!(always_succeeds(script), "{script}");
        }
        for script in
            ["test -f a", "true && test -f a", "grep -q true x", "exit 1", "a || exit 1", ""]
        {
            assert!(!always_succeeds(script), "{script}");
        }
    }
}
