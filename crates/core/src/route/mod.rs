//! Routing: several skills at once, and which of them takes each query.
//!
//! ```text
//! skills with their trigger sets --plan--> queries, each with who wants and who refuses it
//!     --(probes or the estimate, elsewhere)--> takes --report--> matrix, recall, collisions
//! ```
//!
//! A negative query of one skill says only that *this* skill must not take it. So a query has skills that want it and
//! skills that refuse it; one that nobody wants and that goes to a skill which says nothing about it is not a mistake.

mod estimate;
mod plan;
mod report;
mod text;

pub use estimate::estimate;
pub use plan::{RouteQuery, RouteSkill, plan};
pub use report::{NONE, Settings, Take, report};
pub use text::render_text;

#[cfg(test)]
mod tests;
