//! What the tests of the other crates stand on; never shipped.
//!
//! Four things live here. A loopback [`server`] speaks the model protocols and answers from a script, faults included.
//! A fake [`agent`] is a program that behaves as its script says, from well-mannered to hostile. [`real`] finds or
//! installs the pinned real agents, so that tests can run them against the server; [`nats`] does so for the server of a
//! fleet. [`process`] and [`program`] help
//! a test to start programs and to leave none behind.
//!
//! The one invariant: nothing here talks to anything but 127.0.0.1, except the installation of the real programs.

pub mod agent;
pub mod nats;
pub mod process;
pub mod program;
pub mod real;
pub mod server;
