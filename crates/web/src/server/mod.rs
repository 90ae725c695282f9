//! The viewer: the pages of a workspace over HTTP, for this machine only.
//!
//! ```text
//! request -> guard (Host, Origin, headers of every answer) -> page | asset | output file | live events | review
//! ```
//!
//! Every page is rendered from the files as they are at that moment; the only thing that is ever written is
//! `feedback.json`.

mod answer;
mod file;
mod fleet;
mod guard;
mod live;
mod pages;
mod reviews;

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};

pub use fleet::{FleetFeed, FleetView, PlanView, WorkerView};

use crate::page::{RenderError, Templates};
use crate::workspace::{OpenError, Workspace};

/// How many ports after the wanted one are tried.
const PORTS: u16 = 50;
/// A review is a few sentences.
const MAX_REVIEW: usize = 256 << 10;

/// Why the viewer cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The workspace cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error("the server cannot go on: {0}")]
    Io(#[from] std::io::Error),
}

#[derive(Debug)]
pub struct AppState {
    workspace: Workspace,
    templates: Templates,
    /// What a write must bring along; only our own pages have it.
    token: String,
    port: u16,
    /// The fleet that is watched, if one is.
    fleet: Option<FleetFeed>,
    /// One review at a time: the file is read, changed and replaced.
    writing: tokio::sync::Mutex<()>,
}

impl AppState {
    /// The state of a server on a port. The token is a secret that nobody can guess.
    pub fn new(workspace: &Path, port: u16, token: String) -> Result<Self, ServeError> {
        Ok(Self {
            workspace: Workspace::open(workspace)?,
            templates: Templates::new()?,
            token,
            port,
            fleet: None,
            writing: tokio::sync::Mutex::new(()),
        })
    }

    /// The same, with a page about a fleet.
    #[must_use]
    pub fn with_fleet(mut self, feed: FleetFeed) -> Self {
        self.fleet = Some(feed);
        self
    }

    /// What is known of the fleet now.
    fn fleet(&self) -> Option<FleetView> {
        self.fleet.as_ref().map(|feed| feed.borrow().clone())
    }
}

/// Everything that the viewer answers.
pub fn app(state: AppState) -> Router {
    let state = Arc::new(state);
    Router::new()
        .route("/", get(pages::home))
        .route("/i/{iteration}/{page}", get(pages::page))
        .route("/i/{iteration}/review", get(pages::review).merge(post(reviews::save)))
        .route("/i/{iteration}/case/{*key}", get(pages::case))
        .route("/i/{iteration}/transcript/{*folder}", get(pages::transcript))
        .route("/i/{iteration}/file/{*path}", get(file::output))
        .route("/i/{iteration}/live", get(live::follow))
        .route("/fleet/live", get(fleet::follow))
        .route("/assets/style.css", get(answer::style))
        .route("/assets/script.js", get(answer::script))
        .fallback(pages::nowhere)
        .layer(DefaultBodyLimit::max(MAX_REVIEW))
        .layer(middleware::from_fn_with_state(Arc::clone(&state), guard::check))
        .with_state(state)
}

/// A listener on this machine only: on the wanted port, or on the next one that is free. Nobody is asked to leave.
pub fn listen(port: u16) -> std::io::Result<TcpListener> {
    let bind = |port: u16| TcpListener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
    let wanted = (0..=PORTS).filter_map(|step| port.checked_add(step));
    for port in wanted {
        match bind(port) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            // A port below 1024 may not be ours to take.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => break,
            Err(error) => return Err(error),
        }
    }
    bind(0)
}

/// Serves until the process ends.
pub async fn serve(listener: TcpListener, state: AppState) -> Result<(), ServeError> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    Ok(axum::serve(listener, app(state)).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_left_alone_and_the_next_one_is_used() {
        let taken = listen(0).unwrap();
        let port = taken.local_addr().unwrap().port();
        let next = listen(port).unwrap().local_addr().unwrap();
        assert_ne!(next.port(), port);
        assert!(next.ip().is_loopback());
        assert!(taken.local_addr().is_ok());
    }
}
