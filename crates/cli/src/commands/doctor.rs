//! `skillgauge doctor`.

use skillgauge_format::write;
use skillgauge_run::doctor::Doctor;

use super::Outcome;
use crate::args::{DoctorArgs, PlainFormat};
use crate::error::Explain as _;
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
    let mut output = args.output.clone();
    if args.json {
        output.format = PlainFormat::Json;
    }
    output.write(printer, |format| match format {
        PlainFormat::Text => Ok(report.text()),
        PlainFormat::Json => write::to_text(&report).or_bug(),
    })?;
    Ok(match report.auto_agent.chosen {
        Some(_) => ExitCode::Success,
        None => ExitCode::Incomplete,
    })
}
