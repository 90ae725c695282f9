//! What a judge is asked, and what becomes of its answer.
//!
//! ```text
//! transcript, outputs, skill -- material (digest, blinding) --> template --> question: system, user, schema
//! answers (one for each vote) -- evidence lookup, majority, means, gate --> a grading in one of three shapes
//! ```
//!
//! Who is asked, how often, and what a failure means is the business of `crates/run`. The one invariant: a judge gives
//! reasons, quotes and single verdicts; everything that follows from them (`passed`, means, gates, overall) is computed
//! here, and a quote that is nowhere in the material never supports a pass.

mod absence;
pub mod answer;
pub mod grading;
pub mod loading;
pub mod material;
pub mod question;
pub mod template;

/// How the reason ends of what has no verdict because there was no judge (`--judge none`); no failure of a judge.
pub const NO_JUDGE: &str = "no judge was given";

#[cfg(test)]
mod tests;
