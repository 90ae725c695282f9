//! `skillgauge explain`.

use std::io::Write as _;

use skillgauge_core::output::explain;
use skillgauge_core::rule::{RULES, rule_named, suggest};

use super::Outcome;
use crate::args::ExplainArgs;
use crate::printer::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &ExplainArgs, printer: &Printer) -> Outcome {
    let text = match &args.code {
        None => explain::listing(RULES),
        Some(code) => {
            let rule = rule_named(code).ok_or_else(|| unknown(code))?;
            explain::page(rule)
        }
    };
    let mut out = printer.stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::Success)
}

pub(crate) fn unknown(code: &str) -> CommandError {
    let hint = match suggest(code) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`skillgauge explain` lists all codes".to_owned(),
    };
    CommandError::usage(format!("there is no rule with the code `{code}`"), hint)
}
