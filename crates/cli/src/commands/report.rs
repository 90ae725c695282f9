//! `skillgauge report`.

use std::io::Write as _;
use std::path::Path;

use super::Outcome;
use crate::args::ReportArgs;
use crate::printer::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &ReportArgs, printer: &Printer) -> Outcome {
    let html = skillgauge_web::report(&args.workspace).map_err(|error| {
        CommandError::usage(error.to_string(), "a workspace is made by `skillgauge run`")
    })?;
    if args.out == Path::new("-") {
        let mut out = printer.stdout();
        out.write_all(html.as_bytes())?;
        out.flush()?;
        return Ok(ExitCode::Success);
    }
    fs_err::write(&args.out, html)
        .map_err(|error| CommandError::usage(error.to_string(), "name another file with --out"))?;
    printer.say(&format!("wrote {}", args.out.display()));
    Ok(ExitCode::Success)
}
