//! Renders checked skills in every output format of `skillgauge validate`.
//!
//! A renderer works skill by skill: [`Renderer::skill`] runs on the thread that checked the skill, the pieces
//! are put out in order, and nothing has to be kept. So memory does not grow with the number of skills.

pub mod explain;
pub(crate) mod github;
mod json;
mod jsonl;
pub(crate) mod junit;
pub mod lint;
mod paths;
mod place;
mod sarif;
pub mod snippet;
mod text;
mod totals;
pub mod transcript_text;
pub mod trigger_ci;
pub mod trigger_evidence;
pub mod trigger_text;

pub use github::Github;
pub use json::Json;
pub use jsonl::Jsonl;
pub use junit::Junit;
pub use paths::Paths;
pub use sarif::Sarif;
pub use text::{Style, Text};
pub use totals::Totals;

use crate::validate::Checked;

/// What a call is about, which decides the shape of some formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The one path that was given is a skill, or should have been one.
    OneSkill,
    /// A folder of skills, or several paths.
    ManySkills,
}

pub trait Renderer: Send + Sync {
    /// What comes before the first skill.
    fn open(&self, _: Scope) -> String {
        String::new()
    }

    fn skill(&self, checked: &Checked, scope: Scope, detail: Detail) -> String;

    /// What stands between two skills that both have something to say.
    fn separator(&self) -> &'static str {
        ""
    }

    /// What comes after the last skill.
    fn close(&self, _: &Totals, _: Scope) -> String {
        String::new()
    }

    /// Whether [`Detail::Line`] makes a difference: a person cannot read thousands of findings in full.
    fn is_brief_when_long(&self) -> bool {
        false
    }
}

/// How much to show of each finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Full,
    Line,
}

/// The table of formats: name on the command line, and what it is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    /// The contract's report, or a list of them.
    Json,
    Jsonl,
    Sarif,
    /// Annotations in a GitHub Actions log.
    Github,
    /// For CI systems that show test results.
    Junit,
}

impl Format {
    pub const ALL: [Self; 6] =
        [Self::Text, Self::Json, Self::Jsonl, Self::Sarif, Self::Github, Self::Junit];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Sarif => "sarif",
            Self::Github => "github",
            Self::Junit => "junit",
        }
    }

    /// What it is for, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Text => "for people: each finding with the line it is about",
            Self::Json => {
                "the report of the validation contract; for many skills, a list of reports and totals"
            }
            Self::Jsonl => "one report a line, as soon as each skill is checked",
            Self::Sarif => "SARIF 2.1.0, for code scanning services",
            Self::Github => "annotations for a GitHub Actions log",
            Self::Junit => "JUnit XML, for CI systems that show test results",
        }
    }
}
