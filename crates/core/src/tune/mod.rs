//! Improving a description: everything about the loop that needs no agent and no model.
//!
//! ```text
//! queries --split--> train, test;  report of train --prompt--> improver --candidate--> description or the reasons why not
//! reports --round--> iterations --warning, best--> loop summary, history, page
//! ```
//!
//! Invariant: nothing that goes to an improver is made from a test query or a test score. [`prompt`] takes the training
//! part of a report and cannot see the rest.

pub mod apply;
pub mod candidate;
pub mod page;
pub mod prompt;
pub mod round;
pub mod split;
pub mod text;
pub mod warning;

pub use candidate::{MAX_CHARACTERS, Rejection};
pub use prompt::{Improve, Tried};
pub use round::{Score, best, iteration};
pub use split::{Split, split};
pub use warning::warnings;
