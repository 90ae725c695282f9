//! The pages of whole workspaces: the report, the server, and what a browser makes of them.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod browser;
mod chromium;
mod report;
mod server;
mod single;
mod workspace;
