//! One result of static validation, and how serious it is.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::rule::Rule;
use crate::skill::SKILL_MD;
use crate::text::{Position, Span};

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth a look; the skill is valid.
    Warning,
    /// The skill is not valid.
    Error,
}

impl Level {
    /// The word in every output: `warning` or `error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a rule found in a skill.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// How serious it is under the profile in force.
    pub level: Level,
    /// What is wrong, in one sentence without a period.
    pub message: String,
    pub place: Place,
    pub hint: Option<String>,
    /// The change that puts it right without changing what the skill means.
    pub fix: Option<Fix>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the skill folder; none when it is about the folder.
    pub file: Option<Cow<'static, Path>>,
    /// The bytes, when the finding is about a part of the file.
    pub span: Option<Span>,
    /// The text that `span` counts in, for files other than SKILL.md.
    pub source: Option<Arc<str>>,
}

impl Place {
    /// The folder as a whole.
    pub fn folder() -> Self {
        Self { file: None, span: None, source: None }
    }

    /// A part of SKILL.md.
    pub fn skill_md(span: Span) -> Self {
        Self { span: Some(span), ..Self::skill_md_file() }
    }

    /// SKILL.md as a whole.
    pub fn skill_md_file() -> Self {
        Self { file: Some(Cow::Borrowed(Path::new(SKILL_MD))), span: None, source: None }
    }

    /// Another file of the skill as a whole.
    pub fn file(path: &Path) -> Self {
        Self { file: Some(Cow::Owned(path.to_owned())), span: None, source: None }
    }

    /// A part of another file of the skill.
    pub fn part(path: &Path, source: Arc<str>, span: Span) -> Self {
        Self { span: Some(span), source: Some(source), ..Self::file(path) }
    }

    /// Line and column, given the text of SKILL.md.
    pub fn position(&self, skill_md: &str) -> Option<Position> {
        let text = self.source.as_deref().unwrap_or(skill_md);
        self.span.map(|span| Position::of(text, span.start))
    }
}

/// A change that cannot alter what the skill means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Replace bytes of SKILL.md.
    Replace { span: Span, with: String },
    /// Remove the byte order mark of SKILL.md.
    RemoveByteOrderMark,
    /// Give a file of the skill folder the name SKILL.md.
    RenameToSkillMd { from: String },
}
