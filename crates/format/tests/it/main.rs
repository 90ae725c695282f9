//! The contract from outside: fixtures, bad files, limits, and comparisons with independent implementations.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod bad;
mod differential;
mod fixture;
mod limits;
mod parser;
mod round_trip;
mod suite;
mod syntax;
