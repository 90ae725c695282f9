//! What follows from a comparison: why the winner won, and changes to the skill that can be applied as they stand.
//!
//! ```text
//! comparisons + skill -- question --> model --> suggestions -- locate: really there, only once? --> analysis.json -- apply
//! ```
//!
//! The one invariant: a suggestion that is kept replaces a passage that occurs exactly once in a file of the skill, and
//! applying it changes that passage or nothing.

mod apply;
mod files;
mod locate;
mod question;

pub use apply::{Application, Applied, plan, write};
pub use files::SkillFiles;
pub use locate::{AnalysisAnswer, PlacementError, Sorted, SuggestionAnswer, sort};
pub use question::{AnalysisSubject, ComparedCase, Standing, question};
