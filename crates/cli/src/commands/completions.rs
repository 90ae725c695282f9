//! `skillgauge completions`.

use std::io::Write as _;

use super::Outcome;
use crate::args::CompletionsArgs;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &CompletionsArgs, printer: &Printer) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "skillgauge", &mut script);
    let mut out = printer.stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitCode::Success)
}
