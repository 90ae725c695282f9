//! `skillgauge doctor`.

use std::io::Write as _;

use skillgauge_format::write;
use skillgauge_run::doctor::Doctor;

use super::Outcome;
use crate::args::DoctorArgs;
use crate::printer::CommandError;
use crate::{ExitCode, Printer, project, session};

pub(crate) fn run(args: &DoctorArgs, printer: &Printer) -> Outcome {
    let folder = session::working_folder()?;
    let doctor = Doctor {
        registry: project::agents(&folder)?,
        environment: session::environment(),
        guard: session::guard(),
        scratch: session::scratch(),
        folder,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(doctor.examine());
    let text = if args.json {
        write::to_text(&report)
            .map_err(|error| CommandError::usage(error.to_string(), "please report this"))?
    } else {
        report.text()
    };
    let mut out = printer.stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::Success)
}
