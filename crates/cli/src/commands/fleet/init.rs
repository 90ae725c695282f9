//! `skillgauge fleet init`.

use std::io::Write as _;

use skillgauge_cluster::{InitSettings, NatsFleet, server_config};

use super::login;
use crate::args::{FleetInitArgs, TapeArgs};
use crate::commands::Outcome;
use crate::error::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer};

pub(super) fn run(args: &FleetInitArgs, printer: &Printer) -> Outcome {
    let mut out = printer.stdout();
    if args.server_config {
        out.write_all(server_config().as_bytes())?;
        out.flush()?;
        return Ok(ExitCode::Success);
    }
    let session = Session::open(&TapeArgs::default())?;
    let url = args.url.as_deref().unwrap_or_default();
    let connect = login::connect(url, &args.login, &session, "init");
    let settings = InitSettings { replicas: usize::from(args.replicas), max_bytes: args.max_bytes };
    let made = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await?;
        Ok::<_, CommandError>((fleet.server_version(), fleet.init(&settings).await?))
    })?;
    let (version, made) = made?;
    printer.say(&format!("nats-server {version} at {}", connect.shown()));
    for made in made {
        let copies = if made.replicas == 1 { "copy" } else { "copies" };
        writeln!(
            out,
            "{:<16} {} {copies}, {} messages",
            made.stream, made.replicas, made.messages
        )?;
    }
    out.flush()?;
    printer.say("everything is stored as it was asked for; start workers with `skillgauge fleet worker URL`");
    Ok(ExitCode::Success)
}
