//! `skillgauge schema`.

use std::io::Write as _;

use super::Outcome;
use crate::args::SchemaArgs;
use crate::printer::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &SchemaArgs, printer: &Printer) -> Outcome {
    let mut out = printer.stdout();
    out.write_all(b"")?;
    out.flush()?;
    Err(CommandError::usage(format!("{:?}", args), "later"))
}
