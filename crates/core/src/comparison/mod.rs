//! Blind comparison of two versions of a skill on the same cases.
//!
//! ```text
//! stored runs -- pairs --> shown (outputs, without what tells versions apart) -- question --> comparator, in both orders
//! answers -- decision (a tie when the orders disagree) --> comparison.json + comparison_key.json -- verdict --> sign test
//! ```
//!
//! The one invariant: what decides which version is behind which label (the [`Draw`] and the runs themselves) never goes
//! into a [`Question`]; a question knows labels only.

mod blinding;
mod decision;
mod draw;
mod pairs;
mod question;
mod shown;
mod store;
mod verdict;

pub use blinding::Blinding;
pub use decision::{ComparatorAnswer, ComparisonFiles, Decision};
pub use draw::Draw;
pub use pairs::{CasePair, ComparedRun, Maker, Pairs, StoredRuns, Task, pairs};
pub use question::question;
pub use shown::{Shown, show};
pub use store::{ComparisonStore, StoredComparison};
pub use verdict::{Overall, PositionBias, overall};

pub use crate::judge::question::{Question, QuestionError};
