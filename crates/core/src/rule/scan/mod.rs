//! Cheap looks at a text that tell a rule whether it has anything to do.
//!
//! Nearly always there is nothing to report, and the bytes say so much faster than a parser does. These looks know
//! nothing of Markdown's nesting; where a rule needs more, it parses once a look has found something.

pub(super) mod invisible;
pub(super) mod link;
pub(super) mod shell;
pub(super) mod words;

/// Where the line around byte `at` starts.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[..at]).map_or(0, |end| end + 1)
}

/// Where the line around byte `at` ends, its line break not included.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr2(b'\n', b'\r', &text.as_bytes()[at..]).map_or(text.len(), |end| at + end)
}
