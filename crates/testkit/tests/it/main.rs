//! The test kit's own tests: the server over real sockets, the fake agent as a program, and the real agents against the
//! server.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of a test may fail like the test itself"
)]

mod client;
mod fake_agent;
mod fake_agent_hostile;
mod fake_agent_pipeline;
mod real;
mod server_faults;
mod server_life;
mod server_protocols;
mod stage;
