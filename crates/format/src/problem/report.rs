//! Collects the problems of one file.

use std::cell::OnceCell;
use std::fmt;

use super::{At, Issue, Level, Problem};
use crate::json::{LineIndex, Node, Place, Span, SyntaxError};

/// How many problems of one file are kept; the others are counted.
///
/// A file of the wrong kind has a problem in every object, and nobody reads the thousandth.
pub const MAX_PROBLEMS: usize = 200;

/// Where checks put what they find.
#[derive(Debug)]
pub struct Report<'t> {
    text: &'t [u8],
    lines: OnceCell<LineIndex<'t>>,
    found: Vec<Found>,
    omitted: usize,
    errors: usize,
}

/// A problem whose place nobody has looked up yet.
#[derive(Debug)]
struct Found {
    path: crate::json::JsonPath,
    span: Span,
    issue: Issue,
}

impl<'t> Report<'t> {
    /// An empty report on a file with this text.
    pub fn new(text: &'t [u8]) -> Self {
        Self { text, lines: OnceCell::new(), found: Vec::new(), omitted: 0, errors: 0 }
    }

    /// A problem with a value, or with the object that it is.
    pub fn add(&mut self, at: &At<'_>, issue: impl Into<Issue>) {
        self.add_span(at, at.span(), issue);
    }

    /// A problem with a value that is best seen at another span, such as the key of a member.
    pub fn add_span(&mut self, at: &At<'_>, span: Span, issue: impl Into<Issue>) {
        let issue = issue.into();
        if issue.level() == Level::Error {
            self.errors += 1;
        }
        // The path is the costly part, so an omitted problem has none.
        if self.is_full() {
            self.omitted += 1;
        } else {
            self.found.push(Found { path: at.path(), span, issue });
        }
    }

    /// Whether further problems are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS
    }

    /// Counts an error that nobody would see.
    pub(crate) fn omit_error(&mut self) {
        self.errors += 1;
        self.omitted += 1;
    }

    /// The one problem that ends the reading of a file.
    pub fn add_syntax_error(&mut self, error: SyntaxError) {
        let SyntaxError { span, path, issue, place: _ } = error;
        self.errors += 1;
        self.found.push(Found { path, span, issue: issue.into() });
    }

    /// How many errors there are so far.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// The line and column of a span, for issues that name a second place.
    pub fn place(&self, span: Span) -> Place {
        self.lines.get_or_init(|| LineIndex::new(self.text)).place(span.start)
    }

    /// An empty report on the same text, for a branch that may turn out not to count.
    pub(crate) fn branch(&self) -> Report<'t> {
        Report::new(self.text)
    }

    /// Takes over what a branch found.
    pub(crate) fn absorb(&mut self, branch: Report<'t>) {
        self.errors += branch.errors;
        self.omitted += branch.omitted;
        for found in branch.found {
            if self.found.len() < MAX_PROBLEMS {
                self.found.push(found);
            } else {
                self.omitted += 1;
            }
        }
    }

    /// Finds the way to each problem anew, for a tree that was translated: places stay, ways do not.
    pub(crate) fn relocate(&mut self, root: &Node<'_>) {
        for found in &mut self.found {
            if let Some(path) = root.path_of(found.span) {
                found.path = path;
            }
        }
    }

    /// All problems in the order of the file.
    pub fn finish(mut self) -> Problems {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|found| found.span.start);
        let list = found
            .into_iter()
            .map(|Found { path, span, issue }| Problem {
                path,
                span,
                place: self.place(span),
                issue,
            })
            .collect();
        Problems { list, omitted: self.omitted, errors: self.errors }
    }
}

/// The problems of a file in the order of the file, at most [`MAX_PROBLEMS`] of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problems {
    list: Vec<Problem>,
    omitted: usize,
    errors: usize,
}

impl Problems {
    /// The problems that were kept.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// How many more there are.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// How many of all problems are errors.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The problems that were kept, one after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.list.iter()
    }
}

impl<'p> IntoIterator for &'p Problems {
    type Item = &'p Problem;
    type IntoIter = std::slice::Iter<'p, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// One line per problem, and a last one that counts what was left out.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.list.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}", problem.with_place())?;
            if problem.level() == Level::Warning {
                f.write_str(" (warning)")?;
            }
        }
        if self.omitted > 0 {
            write!(f, "\nand {} more", self.omitted)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use crate::problem::MeaningIssue;

    #[test]
    fn only_so_many_problems_are_kept_and_the_others_are_counted() {
        let text = b"[1]";
        let document = parse(text).unwrap();
        let mut report = Report::new(text);
        for _ in 0..MAX_PROBLEMS + 7 {
            report.add(&At::root(&document.root), MeaningIssue::EmptySet);
        }
        let problems = report.finish();
        assert_eq!(problems.list().len(), MAX_PROBLEMS);
        assert_eq!(problems.omitted(), 7);
        assert_eq!(problems.errors(), MAX_PROBLEMS + 7);
        assert!(problems.to_string().ends_with("\nand 7 more"));
    }
}
