//! The file contract of skillgauge: a type, a reader and a JSON Schema for every JSON file.
//!
//! Three seed documents define the files that skillgauge reads and writes, and the public skill-creator adds some.
//! Each is a *kind*: a plain type with serde, a schema in `schemas/` that is made from it, and a row in the table of [`Kind`]s. This crate has no I/O,
//! no clock and no randomness; it turns bytes into types and types into text.
//!
//! # The way of a file
//!
//! ```text
//! bytes -- json::parse --> tree with byte spans
//!                            |-- check: the kind's JSON Schema, compiled       \
//!                            |-- rule: what no schema can say                   > Problems, all at once
//!                            '-- serde: the kind's type, when nothing is wrong /
//! type  -- write::to_text --> text in one canonical form
//! ```
//!
//! [`read`] goes this way for a known kind, [`Suite::read`] for a suite in either dialect, and [`Kind::check`] for a
//! kind that is known only at run time.
//!
//! # Promises
//!
//! - **One source of truth.** The JSON Schema that is published is generated from the types, and the checker is
//!   compiled from that schema. Tests hold the schema to the types, and its verdicts to those of an independent
//!   implementation.
//! - **Read generously, write exactly.** Unknown fields are kept in `extra` on every object, at every level, and never
//!   an error. Synonyms of other tools (`prompt` for `query`, `assertions` for `expectations`) are read and written
//!   back as they were. In an optional field null means the same as nothing, and is not written back.
//! - **Everything at once, with its place.** A [`Problem`] has a path, a line and a column, says what was found and what
//!   was expected, and often what was meant.
//! - **No input is a disaster.** Size, number of values and depth are bounded ([`json::LIMITS`]); nothing panics.
//!
//! # Example
//!
//! ```
//! use skillgauge_format::{Suite, read, trigger::TriggerSet};
//!
//! let set = read::<TriggerSet>(br#"[{"query": "Make a skill", "should_trigger": true}]"#)?;
//! assert_eq!(set.value.queries().len(), 1);
//! assert_eq!(set.warnings.list()[0].code(), "one-class");
//!
//! let error = Suite::read(br#"{"cases": [{"id": "Case 1", "promt": "Do it", "expectations": []}]}"#).unwrap_err();
//! let texts: Vec<String> = error.problems.iter().map(|problem| problem.with_place().to_string()).collect();
//! assert_eq!(texts, [
//!     "1:12: $.cases[0]: missing field `prompt`; found `promt`, did you mean `prompt`?",
//!     "1:19: $.cases[0].id: expected an id in kebab-case such as \"case-01\", found the string \"Case 1\"; \
//!      write \"case-1\"",
//!     "1:63: $.cases[0].expectations: no expectation has `required: true`, so this case can never fail",
//! ]);
//! # Ok::<(), skillgauge_format::ReadError>(())
//! ```

#![warn(missing_docs)] // the contract is the one crate whose items others read without its source

mod answer;
pub mod cases;
pub mod cassette;
mod check;
mod dialect;
pub mod evals;
pub mod improve;
pub mod json;
mod kind;
mod lint;
pub mod part;
pub mod problem;
mod read;
pub mod record;
mod rule;
#[cfg(test)]
mod schema_tests;
mod suite;
pub mod transcript;
pub mod trigger;
mod validation;
pub mod write;

pub use answer::{AnswerSchema, UnsupportedSchema};
pub use check::is_rfc3339;
pub use dialect::Dialect;
pub use json::{JsonPath, LIMITS, Number, Place, Span};
pub use kind::{Kind, Origin};
pub use lint::{LintReport, LintReportFormat, LintSummary, ReportedLint};
pub use problem::{Issue, Level, Problem, Problems};
pub use read::{Format, Read, ReadError, read};
pub use suite::{Case, Expectation, Suite, SuiteConfig};
pub use validation::{FindingLevel, ReportedFinding, ValidationReport, ValidationSummary};

// The schemas are committed and embedded. Only the test that holds them to the types needs what `derive(JsonSchema)` makes
// of a hundred types; in the program it would be a fifth of this crate.
#[cfg(test)]
use schemars::JsonSchema;
#[cfg(not(test))]
use skillgauge_no_schema::JsonSchema;

/// The fields of an object that this version does not know, in the order in which they were read.
pub type Extra = serde_json::Map<String, serde_json::Value>;
