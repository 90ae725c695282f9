//! The news of a fleet for the viewer: what `fleet status` shows, looked at again and again.

use std::time::Duration;

use serde::Deserialize as _;
use skillgauge_cluster::{FleetStatus, NatsFleet, PlanFilter, StatusReader, patiently};
use skillgauge_web::{FleetFeed, FleetView};
use tokio::sync::watch;

use super::login;
use crate::args::LoginArgs;
use crate::error::CommandError;
use crate::session::Session;

/// How often it is looked at; each look reads all results of the plans that run.
const EVERY: Duration = Duration::from_secs(2);

pub(crate) struct Feeder {
    fleet: NatsFleet,
    reader: StatusReader,
    tell: watch::Sender<FleetView>,
}

/// The news, and who brings them. A server that cannot be reached is an error now; later it is news.
pub(crate) async fn open(
    url: &str,
    login: &LoginArgs,
    session: &Session,
) -> Result<(FleetFeed, Feeder), CommandError> {
    let connect = login::connect(url, login, session, "serve");
    let fleet = NatsFleet::connect(&connect).await?;
    let reader = StatusReader::default();
    let status = patiently(|| reader.read(&fleet, &PlanFilter::Current)).await?;
    let (tell, feed) = watch::channel(view(&status).map_err(std::io::Error::from)?);
    Ok((feed, Feeder { fleet, reader, tell }))
}

impl Feeder {
    /// Goes on until nobody listens.
    pub(crate) async fn go_on(self) {
        while !self.tell.is_closed() {
            tokio::time::sleep(EVERY).await;
            let read = self.reader.read(&self.fleet, &PlanFilter::Current).await;
            let read = read.map_err(|error| error.to_string());
            let read = read.and_then(|status| view(&status).map_err(|error| error.to_string()));
            self.tell.send_if_modified(|known| {
                let new = match read {
                    Ok(new) => new,
                    // What was known stays, with the reason why it is old.
                    Err(problem) => FleetView { problem: Some(problem), ..known.clone() },
                };
                let is_different = *known != new;
                *known = new;
                is_different
            });
        }
    }
}

/// What the viewer shows of it, as it is told to programs.
fn view(status: &FleetStatus) -> serde_json::Result<FleetView> {
    FleetView::deserialize(serde_json::to_value(status)?)
}
