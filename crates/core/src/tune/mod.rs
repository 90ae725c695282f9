//! Improving a description: everything about the loop that needs no agent and no model.
//!
//! ```text
//! queries --split--> train, test;  report of train --prompt--> improver --candidate--> description or the reasons why not
//! reports --round--> iterations --warning, best--> loop summary, history, page
//! candidate (best on train) --proof: fresh runs on test--> final description --conclusion--> the sentence of every surface
//! ```
//!
//! Invariants: candidates are chosen by training queries, and proven by fresh runs of held-out ones; nothing that goes to an improver is made from a test query or a test score. [`prompt`] takes the training
//! part of a report and cannot see the rest.

pub mod apply;
pub mod candidate;
pub mod conclusion;
pub mod halving;
pub mod page;
pub mod prompt;
pub mod proof;
pub mod round;
pub mod simulation;
pub mod split;
pub mod text;
pub mod warning;

pub use candidate::{MAX_CHARACTERS, Rejection};
pub use conclusion::{conclusion, is_open};
pub use prompt::{Improve, Tried};
pub use proof::{PROOF_RUNS, ProofPlan};
pub use round::{Score, best, iteration};
pub use split::{Split, split};
pub use warning::warnings;
