//! A small JSON parser that remembers where everything stood.
//!
//! Everything that reads a file starts here: bytes become a [`Document`], a tree of [`Node`]s that know their byte
//! [`Span`]. The checker walks that tree, and serde reads our types from it.
//!
//! Why not `serde_json`: it stops at the first thing that does not fit, knows places only while it fails, silently
//! keeps the last of two equal keys, and has no bound on memory. We need all problems of a file at once, each with its
//! place, for files that come from anywhere.
//!
//! The invariant: a span always lies inside the text that was parsed, and no input, however hostile, makes the parser
//! panic, recurse deeper than [`Limits::depth`] or keep more than [`Limits::values`] nodes.

mod de;
mod node;
mod number;
mod parse;
mod path;
mod position;
mod string;
mod syntax;

pub(crate) use de::from_value;
pub use node::{Document, Member, Node, Value};
pub use number::Number;
pub use parse::parse;
pub use path::{JsonPath, Step};
pub use position::{LineIndex, Place, Span};
pub use syntax::{Container, SyntaxError, SyntaxIssue};

/// How much of a file the parser accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of the file in bytes. Ask [`Limits::check_size`] before a file is read into memory.
    pub bytes: usize,
    /// Number of values of any kind, objects and arrays included. It bounds the memory of the tree.
    pub values: usize,
    /// How deep arrays and objects may lie inside each other.
    pub depth: usize,
}

/// The limits that every reader of this crate applies.
///
/// The largest file we know of is a `benchmark.json` of 10,000 runs: about 1 million values in 40 MB.
pub const LIMITS: Limits = Limits { bytes: 64 * 1024 * 1024, values: 4_000_000, depth: 128 };

impl Limits {
    /// Says whether a file of this size would be read at all, before a byte of it is loaded.
    pub fn check_size(&self, size: u64) -> Result<(), SyntaxIssue> {
        let limit = self.bytes as u64;
        if size > limit { Err(SyntaxIssue::TooLarge { size, limit }) } else { Ok(()) }
    }
}
