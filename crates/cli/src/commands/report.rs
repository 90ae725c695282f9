//! `skillgauge report`.

use std::path::Path;

use super::Outcome;
use crate::args::{ReportArgs, write_file};
use crate::error::Explain as _;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &ReportArgs, printer: &Printer) -> Outcome {
    let html = skillgauge_web::report(&args.workspace)
        .or_hint("a workspace is made by `skillgauge run`")?;
    if args.out == Path::new("-") {
        printer.print(&html)?;
        return Ok(ExitCode::Success);
    }
    write_file(&args.out, &html, printer)?;
    Ok(ExitCode::Success)
}
