//! Everything that a quote may come from, and the looking up.
//!
//! A judge copies a passage, and copies it with other spaces, other quotation marks, or a composed letter for two. That
//! is forgiven, on both sides alike; any other difference is not. An ellipsis in a quote stands for anything.
//!
//! Memory is bounded by [`MAX_TOTAL`]; what a judge was shown is always in here, since digests are added too.

use std::borrow::Cow;

use memchr::memmem;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Bytes of all sources together.
const MAX_TOTAL: usize = 48 << 20;

/// The whole text of a run's outputs and transcript.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    sources: Vec<Source>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: String,
}

impl Corpus {
    /// Adds a text, as far as there is room.
    pub fn add(&mut self, name: &str, text: &str) {
        let room = MAX_TOTAL.saturating_sub(self.bytes);
        let text = normalised(&text[..text.floor_char_boundary(room)]);
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        self.sources.push(Source { name: name.to_owned(), text });
    }

    /// How many more bytes there is room for.
    pub fn room(&self) -> usize {
        MAX_TOTAL.saturating_sub(self.bytes)
    }

    /// The first source that has this quote; an empty quote is nowhere.
    pub fn find(&self, quote: &str) -> Option<&str> {
        let quote = normalised(quote);
        let quote = unwrapped(&quote);
        let whole = |quote: &str| {
            let finder = memmem::Finder::new(quote.as_bytes());
            let found =
                self.sources.iter().find(|source| finder.find(source.text.as_bytes()).is_some());
            found.map(|source| source.name.as_str())
        };
        if quote.is_empty() {
            return None;
        }
        whole(quote).or_else(|| self.find_parts(quote))
    }

    /// The first source that has all parts between ellipses, in their order.
    fn find_parts(&self, quote: &str) -> Option<&str> {
        let quote = quote.replace("[...]", "...").replace("[…]", "...").replace('…', "...");
        let parts: Vec<&str> =
            quote.split("...").map(str::trim).filter(|part| !part.is_empty()).collect();
        let has_ellipsis = quote.contains("...");
        if !has_ellipsis || parts.is_empty() {
            return None;
        }
        let has_all = |source: &&Source| {
            let mut rest = source.text.as_str();
            parts.iter().all(|part| match memmem::find(rest.as_bytes(), part.as_bytes()) {
                Some(at) => {
                    rest = &rest[at + part.len()..];
                    true
                }
                None => false,
            })
        };
        self.sources.iter().find(has_all).map(|source| source.name.as_str())
    }
}

/// A quote without the quotation marks that a judge may have put around it.
fn unwrapped(quote: &str) -> &str {
    for mark in ['"', '\'', '`'] {
        let inner = quote.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        if let Some(inner) = inner.filter(|inner| !inner.contains(mark)) {
            return inner.trim();
        }
    }
    quote
}

/// One space for any white space, straight quotation marks, composed letters.
fn normalised(text: &str) -> String {
    let composed: Cow<'_, str> = match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    };
    let mut plain = String::with_capacity(composed.len());
    let mut gap = false;
    for letter in composed.chars() {
        // A byte order mark or a zero-width space is as invisible as a space.
        if letter.is_whitespace() || matches!(letter, '\u{feff}' | '\u{200b}') {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) && !plain.is_empty() {
            plain.push(' ');
        }
        plain.push(match letter {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn corpus() -> Corpus {
        let mut corpus = Corpus::default();
        corpus.add(
            "outputs/report.md",
            "# Report\n\n  Total:\t**42**  euros\u{a0}a day.\nIt’s “done”. Cafe\u{301}.",
        );
        corpus.add("transcript", "[0] says\nI wrote report.md.\n日本語の出力");
        corpus
    }

    #[test]
    fn spaces_quotation_marks_and_composed_letters_are_forgiven() {
        let corpus = corpus();
        for quote in [
            "Total: **42** euros a day.",
            "# Report Total:",
            "It's \"done\".",
            "Café",
            "\"Total: **42**\"",
            "`# Report`",
        ] {
            assert_eq!(corpus.find(quote), Some("outputs/report.md"), "{quote}");
        }
        assert_eq!(corpus.find("日本語の\n出力"), None);
        assert_eq!(corpus.find("日本語の出力"), Some("transcript"));
    }

    #[test]
    fn anything_else_is_not() {
        let corpus = corpus();
        for quote in
            ["total: **42**", "Total: 42", "43", "", "  \n", "\"\"", "...", "[...]", "report.txt"]
        {
            assert_eq!(corpus.find(quote), None, "{quote}");
        }
    }

    #[test]
    fn an_ellipsis_stands_for_anything_within_one_source() {
        let corpus = corpus();
        assert_eq!(corpus.find("# Report ... euros"), Some("outputs/report.md"));
        assert_eq!(corpus.find("Report […] day."), Some("outputs/report.md"));
        assert_eq!(corpus.find("euros ... # Report"), None, "the order counts");
        assert_eq!(corpus.find("# Report ... I wrote"), None, "two sources are two quotes");
    }

    #[test]
    fn a_quote_of_no_source_is_found_nowhere() {
        assert_eq!(Corpus::default().find("a"), None);
    }

    proptest! {
        #[test]
        fn every_piece_of_a_text_is_found(text in "\\PC{1,80}", from in 0usize..80, to in 0usize..80) {
            let mut corpus = Corpus::default();
            corpus.add("t", &text);
            let letters: Vec<char> = normalised(&text).chars().collect();
            let (from, to) = (from.min(to).min(letters.len()), from.max(to).min(letters.len()));
            let piece: String = letters[from..to].iter().collect();
            // A piece that begins in the middle of a composition is no piece that a reader sees.
            prop_assume!(normalised(&piece) == piece && unwrapped(&piece) == piece);
            prop_assert_eq!(corpus.find(&piece).is_some(), !piece.is_empty());
        }

        #[test]
        fn no_quote_makes_it_panic(text in "\\PC{0,40}", quote in "[ .…\"'`\\[\\]a-c\\n]{0,20}") {
            let mut corpus = Corpus::default();
            corpus.add("t", &text);
            let _ = corpus.find(&quote);
        }
    }
}
