//! `skillgauge explain`.

use skillgauge_core::output::explain;
use skillgauge_core::rule::{RULES, rule_named, suggest};
use skillgauge_core::suite_lint::{lint_rule_named, suggest_lint_rule};

use super::Outcome;
use crate::args::ExplainArgs;
use crate::error::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &ExplainArgs, printer: &Printer) -> Outcome {
    let text = match &args.code {
        None => format!(
            "Codes of skillgauge validate:\n\n{}\nCodes of skillgauge lint-evals:\n\n{}",
            explain::listing(RULES),
            explain::lint_listing()
        ),
        Some(code) => page(code).ok_or_else(|| no_rule(code, nearest(code)))?,
    };
    printer.print(&text)?;
    Ok(ExitCode::Success)
}

/// What is known of a code. Both commands have a few of the same name, such as DUPLICATE_KEY and duplicate-key: the spelling
/// decides, and where it does not, both are shown.
fn page(code: &str) -> Option<String> {
    let rule = rule_named(code);
    let lint = lint_rule_named(code);
    match (rule, lint) {
        (Some(rule), Some(lint)) if rule.code != code && lint.code != code => {
            Some(format!("{}\n{}", explain::page(rule), explain::lint_page(lint)))
        }
        (_, Some(lint)) if lint.code == code || rule.is_none() => Some(explain::lint_page(lint)),
        (Some(rule), _) => Some(explain::page(rule)),
        (None, _) => None,
    }
}

/// For a code that can only be one of `validate`.
pub(crate) fn unknown(code: &str) -> CommandError {
    no_rule(code, suggest(code))
}

/// Codes of `validate` are in capitals, those of `lint-evals` are not.
fn nearest(code: &str) -> Option<&'static str> {
    if code.contains(|c: char| c.is_ascii_lowercase()) {
        suggest_lint_rule(code).or_else(|| suggest(code))
    } else {
        suggest(code).or_else(|| suggest_lint_rule(code))
    }
}

fn no_rule(code: &str, near: Option<&str>) -> CommandError {
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`skillgauge explain` lists all codes".to_owned(),
    };
    CommandError::usage(format!("there is no rule with the code `{code}`"), hint)
}
