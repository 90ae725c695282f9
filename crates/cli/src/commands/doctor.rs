//! `skillgauge doctor`.

use std::io::Write as _;
use std::path::PathBuf;

use skillgauge_format::write;
use skillgauge_run::doctor::Doctor;
use skillgauge_run::process::Guard;

use super::Outcome;
use crate::args::DoctorArgs;
use crate::printer::CommandError;
use crate::{ExitCode, Printer, project};

pub(crate) fn run(args: &DoctorArgs, printer: &Printer) -> Outcome {
    let folder = std::env::current_dir().map_err(|error| {
        CommandError::usage(
            format!("the working folder cannot be read: {error}"),
            "go to another folder",
        )
    })?;
    let doctor = Doctor {
        registry: project::agents(&folder)?,
        environment: variables().collect(),
        guard: guard(),
        scratch: std::env::temp_dir(),
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

/// A variable that is not text is nobody's key.
fn variables() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text)
}

/// This program, started again. On Linux the link still means this program after an update replaced its file.
fn guard() -> Guard {
    let linux = PathBuf::from("/proc/self/exe");
    let program = if linux.exists() { linux } else { std::env::current_exe().unwrap_or(linux) };
    Guard::subcommand_of(program)
}
