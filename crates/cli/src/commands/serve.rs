//! `skillgauge serve`.

use std::process::{Command, Stdio};

use skillgauge_core::text::hex;
use skillgauge_web::AppState;

use super::Outcome;
use super::fleet::feed;
use crate::args::{ServeArgs, TapeArgs};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &ServeArgs, printer: &Printer) -> Outcome {
    let listener = skillgauge_web::listen(args.port).map_err(|error| {
        CommandError::usage(
            format!("no port of this machine can be used: {error}"),
            "name another one with --port",
        )
    })?;
    let port = listener.local_addr()?.port();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut state = AppState::new(&args.workspace, port, token()?).or_hint(HINT)?;
    if let Some(url) = &args.fleet {
        let session = Session::open(&TapeArgs::default())?;
        let (feed, feeder) = runtime.block_on(feed::open(url, &args.login, &session))?;
        state = state.with_fleet(feed);
        runtime.spawn(feeder.go_on());
    }
    if port != args.port && args.port != 0 {
        printer.say(&format!("port {} is taken, so this is port {port}", args.port));
    }
    let address = format!("http://127.0.0.1:{port}/");
    printer.say(&format!("{address} shows {}; Ctrl-C ends it", args.workspace.display()));
    if !args.no_open {
        open(&address);
    }
    runtime.block_on(skillgauge_web::serve(listener, state)).or_hint(HINT)?;
    Ok(ExitCode::Success)
}

const HINT: &str = "a workspace is made by `skillgauge run`";

/// A secret that no other program can guess.
fn token() -> Result<String, CommandError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        CommandError::usage(format!("the system gives no random numbers: {error}"), "try again")
    })?;
    Ok(hex(bytes))
}

/// Opens the browser; when there is none, the address was printed.
fn open(address: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.spawn();
}
