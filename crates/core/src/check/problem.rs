//! What is wrong with a check of a suite.

use serde_json::Value as Json;
use skillgauge_format::evals::CheckType;

use super::glob::{Glob, GlobProblem, NameGlob};
use super::json_path::{self, PathProblem};
use super::json_schema::{JsonSchema, SchemaProblem};
use super::needle::Needle;
use crate::python_regex::PatternError;

/// A check that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("eval {case}, check {check}: {kind}")]
pub struct CheckProblem {
    /// The id of the case.
    pub case: String,
    /// The id of the check.
    pub check: String,
    /// What is wrong.
    #[source]
    pub kind: CheckProblemKind,
}

/// Why a check cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckProblemKind {
    /// A field that its type needs is not there.
    #[error("`{check_type}` needs {}", list(fields))]
    Missing {
        /// The check's type.
        check_type: &'static str,
        /// The field, or the fields of which one is needed.
        fields: Vec<&'static str>,
    },
    /// Fields that exclude each other.
    #[error("only one of {} can be there", list(fields))]
    Exclusive {
        /// The fields that are there.
        fields: Vec<&'static str>,
    },
    /// A glob is wrong.
    #[error("`{field}`: {problem}")]
    Glob {
        /// The field.
        field: &'static str,
        /// What is wrong.
        problem: GlobProblem,
    },
    /// A regular expression is wrong.
    #[error("`{field}`: {problem}")]
    Pattern {
        /// The field.
        field: &'static str,
        /// What is wrong.
        problem: PatternError,
    },
    /// Too many or too long texts.
    #[error("`match_any`: the texts are too long to be looked for")]
    Texts,
    /// A path is wrong.
    #[error("`path`: {0}")]
    Path(PathProblem),
    /// A schema is wrong.
    #[error("`schema`: {0}")]
    Schema(SchemaProblem),
    /// A limit is no amount.
    #[error("`limit` must be a number of at least 0")]
    Limit,
}

fn list(fields: &[&'static str]) -> String {
    let quoted: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
    quoted.join(" or ")
}

/// What is wrong with the value of one field, whatever is wrong with the rest of its check; for a suite that cannot be read
/// as a whole. A value of the wrong type is none of its business.
pub fn field_problems(
    check_type: Option<CheckType>,
    field: &str,
    value: &Json,
) -> Vec<CheckProblemKind> {
    let texts = || value.as_array().into_iter().flatten().filter_map(Json::as_str);
    let glob = |field: &'static str, glob: &str| {
        Glob::new(glob).err().map(|problem| CheckProblemKind::Glob { field, problem })
    };
    let regex = |field: &'static str, pattern: &str| {
        Needle::regex(pattern).err().map(|problem| CheckProblemKind::Pattern { field, problem })
    };
    match (field, value.as_str()) {
        ("pattern", Some(pattern)) if check_type == Some(CheckType::TranscriptRegex) => {
            regex("pattern", pattern).into_iter().collect()
        }
        ("pattern", Some(pattern)) => glob("pattern", pattern).into_iter().collect(),
        ("allow", _) => texts().filter_map(|allowed| glob("allow", allowed)).collect(),
        ("tool", Some(tool)) => {
            let problem = NameGlob::new(tool).err();
            problem
                .map(|problem| CheckProblemKind::Glob { field: "tool", problem })
                .into_iter()
                .collect()
        }
        ("match_regex", Some(pattern)) => regex("match_regex", pattern).into_iter().collect(),
        ("match_any", _) => {
            let texts: Vec<String> = texts().map(str::to_owned).collect();
            if Needle::texts(&texts).is_none() { vec![CheckProblemKind::Texts] } else { Vec::new() }
        }
        ("path", Some(path)) => {
            json_path::Path::new(path).err().map(CheckProblemKind::Path).into_iter().collect()
        }
        ("schema", _) => {
            let problems = JsonSchema::new(value).err().unwrap_or_default();
            problems.into_iter().map(CheckProblemKind::Schema).collect()
        }
        _ => Vec::new(),
    }
}
