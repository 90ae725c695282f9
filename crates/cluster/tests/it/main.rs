//! The fleet with a real nats-server, and the rules that every fleet keeps.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod conformance;
mod example;
mod init;
mod login;
mod role;
