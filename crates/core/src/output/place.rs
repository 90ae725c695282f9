//! Where a finding is, as the machine-readable formats name it.
//!
//! Formats that link into a file want the path from the working folder and both ends of the marked part. Lines
//! and columns are computed here, for findings only: a skill without one never pays for them.

use std::borrow::Cow;
use std::path::Path;

use super::Paths;
use crate::finding::Finding;
use crate::text::{Position, Span};
use crate::validate::Checked;

/// Both ends of a part of a text; the end is the place after the last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) start: Position,
    pub(super) end: Position,
}

impl Region {
    /// The region under a span.
    pub(super) fn of(text: &str, span: Span) -> Self {
        Self { start: Position::of(text, span.start), end: Position::of(text, span.end) }
    }

    /// The part of its file that a finding marks.
    pub(super) fn marked(checked: &Checked, finding: &Finding) -> Option<Self> {
        let text = finding.place.source.as_deref().unwrap_or(checked.text());
        finding.place.span.map(|span| Self::of(text, span))
    }
}

/// The file or folder that a finding is about.
pub(super) fn target<'a>(checked: &'a Checked, finding: &Finding) -> Cow<'a, Path> {
    let folder = checked.skill.path.as_path();
    finding
        .place
        .file
        .as_deref()
        .map_or(Cow::Borrowed(folder), |file| Cow::Owned(folder.join(file)))
}

/// The path from the working folder, `.` for the working folder itself.
pub(super) fn from_working_folder(paths: &Paths, path: &Path) -> String {
    let relative = paths.relative(path);
    if relative.is_empty() { ".".to_owned() } else { relative }
}
