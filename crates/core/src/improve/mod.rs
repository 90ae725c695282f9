//! Improving a skill in rounds: everything about the loop that needs no agent, no model and no clock.
//!
//! ```text
//! baseline -- measure --> too easy? --.            .-- change (analysis of the best version, applied) <--.
//!                                     '--> stop? --+                                                    |
//! measured, compared with what it was made from <--'-- new version -- measure -- compare -- stop? ------'
//! stop --> the best version, and whether it is better than the baseline beyond noise (by sealed cases, where there are any)
//! ```
//!
//! What was done is in [`Improvement`], which is written after each step; [`next`] says what comes next from
//! nothing but that. The one invariant: a step that is written down is never done, and never paid for, again.

mod change;
mod contrast;
mod design;
mod measured;
mod outcome;
mod record;
mod repeats;
mod sealed;
mod step;
#[cfg(test)]
mod tests;

pub use change::{Change, change};
pub use contrast::significance;
pub use design::Promise;
pub use measured::measured;
pub use outcome::{conclude, sentence};
pub use record::{compared, file, load, save};
pub use repeats::{repeated, repeats_sentence};
pub use sealed::seal;
pub use skillgauge_format::improve::{
    Compared, Conclusion, Decision, Improvement, Measured, Question, Round, Setting,
};
pub use step::{Rules, Step, Stop, next};
