//! Routing: several skills at once, and which of them takes each query.
//!
//! ```text
//! skills with their trigger sets --plan--> queries, each with who wants and who refuses it
//!     --(probes or the estimate, elsewhere)--> takes --report--> matrix, recall, collisions
//! ```
//!
//! A query has skills that want it and skills that refuse it. A run goes right when it loads a skill that wants the query and
//! none that does not; of a query that nobody wants, when it loads none. Every other load is a false fire of the skill that was loaded.

mod estimate;
mod plan;
mod report;
mod text;

pub use estimate::estimate;
pub use plan::{RouteQuery, RouteSkill, plan};
pub use report::{NONE, Settings, Take, is_right, report};
pub use text::render_text;

#[cfg(test)]
mod tests;
