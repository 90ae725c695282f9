//! Improving a skill in rounds: everything about the loop that needs no agent, no model and no clock.
//!
//! ```text
//! baseline -- measure --> too easy? --.            .-- change (analysis of the best version, applied) <--.
//!                                     '--> stop? --+                                                    |
//! measured, compared with what it was made from <--'-- new version -- measure -- compare -- stop? ------'
//! stop --> the best version, and whether it is better than the baseline beyond noise
//! ```
//!
//! What was done is in [`Improvement`], which is written after each step; [`next`] says what comes next from
//! nothing but that. The one invariant: a step that is written down is never done, and never paid for, again.

mod change;
mod measured;
mod outcome;
mod record;
mod step;
#[cfg(test)]
mod tests;

pub use change::{Change, change};
pub use measured::measured;
pub use outcome::{conclude, fewest_cases, sentence, significance};
pub use record::{compared, file, load, save};
pub use skillgauge_format::improve::{
    Compared, Conclusion, Decision, Improvement, Measured, Round, Setting,
};
pub use step::{Rules, Step, Stop, next};
