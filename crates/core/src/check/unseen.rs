//! What a check of contents could not look into, and what it says of it.
//!
//! The invariant: a file that was not looked into makes a check undecided, unless another one has decided it.

use std::ops::Range;
use std::path::Path;

use super::content::line_at;
use super::evidence::{self, Evidence, name};
use super::glob::Glob;
use super::needle::Needle;
use super::outputs::{Content, Outputs};
use super::verdict::Verdict;

/// How many binary files are named.
const BINARY_NAMED: usize = 2;

/// What stood in the way of a look at all files.
#[derive(Default)]
pub(super) struct Unseen {
    notes: Vec<String>,
    files: usize,
    doubts: Vec<String>,
    /// Binary files, which were searched all the same.
    binary: Vec<String>,
    more_binary: usize,
}

impl Unseen {
    /// Begins with what is not in `outputs/` at all.
    pub(super) fn new(outputs: &Outputs, glob: &Glob) -> Self {
        let mut unseen = Self { doubts: outputs.doubts(glob), ..Self::default() };
        for (path, reason) in outputs.matching_unkept(glob) {
            unseen.push(path, || format!("was not kept, so nobody knows what is in it ({reason})"));
        }
        unseen
    }

    /// The text to search in a file; without one, takes note of why.
    pub(super) fn text(&mut self, path: &Path, content: Content) -> Option<Searched> {
        match content {
            Content::Text(text) => return Some(Searched { text, is_binary: false }),
            Content::Binary(text) => {
                if self.binary.len() < BINARY_NAMED {
                    self.binary.push(format!("{} is binary; its bytes were searched", name(path)));
                } else {
                    self.more_binary += 1;
                }
                return Some(Searched { text, is_binary: true });
            }
            Content::Encoded(_) | Content::TooLarge(_) | Content::Unreadable(_) => {}
        }
        self.add(path, &content);
        None
    }

    /// Takes note of a file that could not be looked into.
    pub(super) fn add(&mut self, path: &Path, content: &Content) {
        self.push(path, || match content {
            Content::Text(_) | Content::Binary(_) => "was not searched".to_owned(),
            Content::Encoded(encoding) => format!("is {encoding} and not UTF-8"),
            Content::TooLarge(bytes) => format!("is too large to be searched ({bytes} bytes)"),
            Content::Unreadable(error) => format!("cannot be read ({error})"),
        });
    }

    pub(super) fn add_reason(&mut self, path: &Path, reason: &str) {
        self.push(path, || format!("was not decided: {reason}"));
    }

    fn push(&mut self, path: &Path, reason: impl FnOnce() -> String) {
        self.files += 1;
        if self.notes.len() < 3 {
            self.notes.push(format!("{} {}", name(path), reason()));
        }
    }

    /// How many files could not be looked into.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    pub(super) fn tell(&self, evidence: &mut Evidence) {
        for note in &self.notes {
            evidence.note(note.clone());
        }
        let rest = self.files - self.notes.len();
        if rest > 0 {
            let files = if rest == 1 { "file was" } else { "files were" };
            evidence.note(format!("{rest} more {files} not looked into"));
        }
        for note in self.doubts.iter().chain(&self.binary) {
            evidence.note(note.clone());
        }
        if self.more_binary > 0 {
            let files = if self.more_binary == 1 { "file is" } else { "files are" };
            evidence.note(format!("{} more {files} binary", self.more_binary));
        }
    }

    /// The verdict when nothing was found in what could be seen.
    pub(super) fn unless(&self, otherwise: Verdict) -> Verdict {
        if self.files > 0 || !self.doubts.is_empty() { Verdict::Unknown } else { otherwise }
    }

    /// Says in how many files something is not, and nothing of those that were not seen.
    pub(super) fn not_in(&self, needle: &Needle, searched: usize, glob: &Glob) -> String {
        let (total, glob) = (searched + self.files, glob.as_str());
        let files = if total == 1 { "file that matches" } else { "files that match" };
        match searched {
            0 if total == 1 => format!("the {files} `{glob}` could not be searched"),
            0 => format!("none of the {total} {files} `{glob}` could be searched"),
            _ if searched == total && total == 1 => {
                format!("{needle} is not in the {files} `{glob}`")
            }
            _ if searched == total => format!("{needle} is not in the {total} {files} `{glob}`"),
            _ => format!("{needle} is not in {searched} of the {total} {files} `{glob}`"),
        }
    }
}

/// What is searched of a file.
pub(super) struct Searched {
    pub(super) text: String,
    pub(super) is_binary: bool,
}

impl Searched {
    /// A hit with its file, its line and what stands there; the lines of a binary file are none for people.
    pub(super) fn shown(&self, path: &Path, hit: &Range<usize>) -> String {
        if self.is_binary {
            return format!("{} (binary)", name(path));
        }
        let (number, line) = line_at(&self.text, hit.start);
        evidence::place(&name(path), number, line)
    }
}
