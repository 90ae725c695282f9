//! The report and the viewer: pages of a workspace, rendered on the server from embedded templates.
//!
//! `core` reads a workspace, whatever state it is in; `page/` makes of it what a page shows; the templates turn that into
//! HTML. The server and the one-file report show the same pages, and no number of them is computed here.
//!
//! Invariant: nothing from a workspace is ever markup. Templates escape everything, and no page runs a script that is
//! not ours.

mod confine;
mod feedback;
mod page;
mod read;
mod report;
mod server;
mod triggering;
mod versions;
mod workspace;

pub use page::RenderError;
pub use report::{ReportError, report, route_page, tune_page};
pub use server::{
    AppState, FleetFeed, FleetView, PlanView, ServeError, WorkerView, app, listen, serve,
};
pub use workspace::{OpenError, Workspace};
