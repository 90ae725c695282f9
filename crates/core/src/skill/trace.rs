//! Rare pieces of text that some rule looks for, all found in one pass.
//!
//! A search for one piece costs as much as the pass for all of them, so rules share it. A trace is only where a
//! rule starts to look: most of them turn out to be something else.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// What is looked for. Each needle starts with three characters that are rare in prose and code: that is what makes
/// the search quick.
pub const NEEDLES: [&str; 19] = [
    HOME_FOLDERS[0],
    HOME_FOLDERS[1],
    HOME_FOLDERS[2],
    BASE64,
    PRIVATE_KEY,
    "AKIA",
    "ASIA",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "sk-ant-",
    "sk-proj-",
];

/// How a home folder starts.
pub const HOME_FOLDERS: [&str; 3] = ["/Users/", ":\\Users\\", "/home/"];

/// The end of the command `base64`, because `bas` is the start of `bash`.
pub const BASE64: &str = "se64 ";

/// In the first line of a private key, after its dashes, because tables are full of dashes.
pub const PRIVATE_KEY: &str = "-BEGIN ";

/// A needle that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// One of [`NEEDLES`].
    pub needle: &'static str,
    /// Its first byte.
    pub offset: usize,
}

/// No needle is the start of another, so the kind of match does not matter; this one is the fastest.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(NEEDLES).ok()
});

/// The traces in a text, in order.
pub fn traces(text: &str) -> Vec<Trace> {
    let hits = FINDER.as_ref().map(|finder| finder.find_iter(text));
    let trace = |hit: aho_corasick::Match| Trace {
        needle: NEEDLES[hit.pattern().as_usize()],
        offset: hit.start(),
    };
    hits.into_iter().flatten().map(trace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_needle_is_found_where_it_stands() {
        for needle in NEEDLES {
            let text = format!("é {needle} {needle}");
            let offsets: Vec<usize> = traces(&text).iter().map(|trace| trace.offset).collect();
            assert_eq!(offsets, [3, 4 + needle.len()], "{needle}");
            assert!(traces(&text).iter().all(|trace| trace.needle == needle), "{needle}");
        }
    }

    #[test]
    fn no_needle_hides_another() {
        for needle in NEEDLES {
            let inside = NEEDLES.iter().filter(|other| **other != needle && other.contains(needle));
            assert_eq!(inside.count(), 0, "{needle}");
        }
    }
}
