//! The scripted server as a program, for shells and for programs in other languages.
//!
//! It writes its port to a file when it is ready, and its requests to a log, one JSON object per line. It ends after its
//! lifetime at the latest, so that no test leaves a server behind.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use skillgauge_testkit::server::{Script, ScriptError, Server, StartError};

/// Answers model requests on 127.0.0.1 from a script.
#[derive(Parser)]
struct Arguments {
    /// The script, as JSON
    #[arg(long)]
    script: PathBuf,
    /// The file that gets the port as soon as the server listens
    #[arg(long)]
    port_file: PathBuf,
    /// The file that gets one line of JSON per request
    #[arg(long)]
    log: Option<PathBuf>,
    /// After how many seconds the server ends
    #[arg(long, default_value_t = 600)]
    lifetime: u64,
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{path}: {source}")]
    Script { path: PathBuf, source: ScriptError },
    #[error("{0}")]
    Start(#[from] StartError),
    #[error("{0}")]
    File(#[from] std::io::Error),
}

fn main() -> ExitCode {
    match serve(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause = std::error::Error::source(&error).and_then(std::error::Error::source);
            let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
            let _ = writeln!(std::io::stderr(), "testkit-server: {error}{cause}");
            ExitCode::from(2)
        }
    }
}

fn serve(arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.script.clone();
    let script = Script::from_file(&path).map_err(|source| Failure::Script { path, source })?;
    let server = match &arguments.log {
        Some(log) => Server::start_with_log(script, Box::new(fs_err::File::create(log)?))?,
        None => Server::start(script)?,
    };
    announce(&arguments.port_file, server.address().port())?;
    std::thread::sleep(Duration::from_secs(arguments.lifetime));
    Ok(())
}

/// Writes the port in one step: whoever sees the file sees all of it.
fn announce(path: &Path, port: u16) -> std::io::Result<()> {
    let draft = path.with_extension("draft");
    fs_err::write(&draft, port.to_string())?;
    fs_err::rename(&draft, path)
}
