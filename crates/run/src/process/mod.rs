//! Starts programs and leaves nothing of them behind.
//!
//! [`run`] starts a [`Command`] under a [`Guard`], hands its standard output on line by line, keeps [`Limits`], and says
//! how it [`Ended`]. The guard is a process of ours between us and the program ([`guard::main`]): it outlives a crash
//! of ours, adopts whatever the program leaves behind, and ends all of it.
//!
//! ```text
//! us --(control socket = the guard's stdin)--> guard --> program --> its children
//!  ^------------- stdout and stderr, inherited: no byte is copied ------'
//! ```
//!
//! Invariant: when [`run`] returns, is dropped, or dies with us, no process of the program is left. On Linux this holds
//! for processes that left the group and the session, too; elsewhere only for the program's process group.

mod command;
mod ended;
mod error;
pub mod guard;
mod intake;
mod message;
mod reclaim;
mod supervise;
mod table;
mod tail;

pub use command::{Command, Guard, Limits, Stdin};
pub use ended::{Ended, ResourceUsage, StdoutTally};
pub use error::ProcessError;
pub use intake::Flow;
pub use supervise::run;
pub use tail::Tail;
