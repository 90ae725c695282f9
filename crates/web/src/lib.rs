//! The report and the viewer: pages of a workspace, rendered on the server from embedded templates.
//!
//! `model/` reads a workspace, whatever state it is in; `page/` makes of it what a page shows; the templates turn that
//! into HTML. The server and the one-file report show the same pages.
//!
//! Invariant: nothing from a workspace is ever markup. Templates escape everything, and no page runs a script that is
//! not ours.

pub mod model;
mod page;
mod report;
mod server;
mod single;

pub use page::RenderError;
pub use report::{ReportError, report};
pub use server::{AppState, FleetFeed, FleetView, ServeError, app, listen, serve};
pub use single::{route_page, tune_page};
