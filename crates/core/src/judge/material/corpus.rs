//! Everything that a quote may come from, and the looking up.
//!
//! A judge copies a passage, and copies it with other spaces, other quotation marks, or a composed letter for two. That
//! is forgiven, on both sides alike; any other difference is not. An ellipsis in a quote stands for anything.
//!
//! A quote must prove something. What we wrote ourselves around the material may be part of a quote, and proves nothing
//! ([`Whose`]); a quote of a few letters counts only as a whole word, and one of a single letter never ([`Substance`]).
//!
//! Memory is bounded by [`MAX_TOTAL`].

use std::borrow::Cow;
use std::ops::Range;

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

#[derive(Clone, Debug, Default)]
struct Source {
    name: String,
    text: String,
    /// What of it we wrote.
    ours: Vec<Range<usize>>,
}

/// Who wrote a piece of what a judge sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The agent or its tools.
    Theirs,
    /// We: a mark, a number, "the agent says".
    Ours,
}

/// A quote that was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unfound {
    Absent,
    /// It is there, and proves nothing: it is too short, or only in what we wrote around the material.
    Slight,
}

/// How much a text can prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Substance {
    Enough,
    /// So short that it counts only as a whole word: any text has two letters somewhere.
    Word,
    None,
}

impl Substance {
    fn of(text: &str) -> Self {
        let (mut letters, mut marks, mut has_digit) = (0, 0, false);
        for letter in text.chars().filter(|letter| !letter.is_whitespace()) {
            has_digit |= letter.is_numeric();
            match letter {
                letter if letter.is_ascii_alphanumeric() => letters += 1,
                letter if letter.is_ascii() => marks += 1,
                // A word in Chinese is as short as this.
                _ => letters += 2,
            }
        }
        match letters {
            4.. => Self::Enough,
            2..4 => Self::Word,
            _ if has_digit || letters + marks >= 4 => Self::Word,
            _ => Self::None,
        }
    }
}

impl Source {
    /// Adds a piece, of which at most so many bytes are taken.
    fn push(&mut self, whose: Whose, text: &str, room: usize, gap: &mut bool) {
        let start = self.text.len();
        normalise_into(&text[..text.floor_char_boundary(room)], &mut self.text, gap);
        if whose == Whose::Ours {
            self.ours.push(start..self.text.len());
        }
    }

    /// The end of the first place at or after `from` where this stands and proves something, and how much.
    fn find(&self, quote: &str, from: usize) -> Result<(usize, Substance), Unfound> {
        let mut unfound = Unfound::Absent;
        let rest = self.text.get(from..).unwrap_or_default();
        for at in memmem::find_iter(rest.as_bytes(), quote.as_bytes()) {
            let place = from + at..from + at + quote.len();
            let substance = Substance::of(&self.theirs(&place));
            let counts = match substance {
                Substance::Enough => true,
                Substance::Word => self.is_bounded(&place),
                Substance::None => false,
            };
            if counts {
                return Ok((place.end, substance));
            }
            unfound = Unfound::Slight;
        }
        Err(unfound)
    }

    /// What of this place we did not write.
    fn theirs(&self, place: &Range<usize>) -> Cow<'_, str> {
        let first = self.ours.partition_point(|ours| ours.end <= place.start);
        let mut ours = self.ours[first..].iter().take_while(|ours| ours.start < place.end);
        let Some(one) = ours.next() else { return Cow::Borrowed(&self.text[place.clone()]) };
        let mut text = String::new();
        let mut start = place.start;
        for ours in std::iter::once(one).chain(ours) {
            text.push_str(self.text.get(start..ours.start).unwrap_or_default());
            start = ours.end;
        }
        text.push_str(self.text.get(start..place.end).unwrap_or_default());
        Cow::Owned(text)
    }

    /// Whether a place begins and ends where words do.
    fn is_bounded(&self, place: &Range<usize>) -> bool {
        let (before, after) = (&self.text[..place.start], &self.text[place.end..]);
        let quote = &self.text[place.clone()];
        let is_free = |edge: Option<char>, next: Option<char>| match (edge, next) {
            (_, None) => true,
            (Some(edge), Some(next)) if edge.is_alphanumeric() => !next.is_alphanumeric(),
            (_, Some(next)) => next.is_whitespace(),
        };
        is_free(quote.chars().next(), before.chars().next_back())
            && is_free(quote.chars().next_back(), after.chars().next())
    }
}

impl Corpus {
    /// Adds a text, as far as there is room.
    pub fn add(&mut self, name: &str, text: &str) {
        self.add_pieces(name, [(Whose::Theirs, text)]);
    }

    /// Adds a text of several pieces, as far as there is room.
    pub(super) fn add_pieces<'t>(
        &mut self,
        name: &str,
        pieces: impl IntoIterator<Item = (Whose, &'t str)>,
    ) {
        let mut source = Source { name: name.to_owned(), ..Source::default() };
        let mut gap = false;
        for (whose, text) in pieces {
            let room = self.room().saturating_sub(source.text.len());
            source.push(whose, text, room, &mut gap);
        }
        if !source.text.is_empty() {
            self.bytes += source.text.len();
            self.sources.push(source);
        }
    }

    /// How many more bytes there is room for.
    pub fn room(&self) -> usize {
        MAX_TOTAL.saturating_sub(self.bytes)
    }

    /// The first source that has this quote; an empty quote is nowhere.
    pub fn find(&self, quote: &str) -> Result<&str, Unfound> {
        let quote = normalised(quote);
        let quote = unwrapped(&quote);
        if quote.is_empty() {
            return Err(Unfound::Absent);
        }
        let whole = self.first(|source| source.find(quote, 0).map(drop));
        whole.or_else(|unfound| self.find_parts(quote).map_err(|parts| parts.max(unfound)))
    }

    /// The first source of which this holds, or the best of the reasons against it.
    fn first(&self, holds: impl Fn(&Source) -> Result<(), Unfound>) -> Result<&str, Unfound> {
        let mut unfound = Unfound::Absent;
        for source in &self.sources {
            match holds(source) {
                Ok(()) => return Ok(&source.name),
                Err(reason) => unfound = unfound.max(reason),
            }
        }
        Err(unfound)
    }

    /// The first source that has all parts between ellipses, in their order. One of them has to stand for itself: short
    /// words with anything between them are in any text.
    fn find_parts(&self, quote: &str) -> Result<&str, Unfound> {
        let quote = quote.replace("[...]", "...").replace("[…]", "...").replace('…', "...");
        let parts: Vec<&str> =
            quote.split("...").map(str::trim).filter(|part| !part.is_empty()).collect();
        let has_ellipsis = quote.contains("...");
        if !has_ellipsis || parts.is_empty() {
            return Err(Unfound::Absent);
        }
        let has_all = |source: &Source| {
            let (mut from, mut is_enough) = (0, false);
            for part in &parts {
                let (end, substance) = source.find(part, from)?;
                from = end;
                is_enough |= substance == Substance::Enough;
            }
            if is_enough { Ok(()) } else { Err(Unfound::Slight) }
        };
        self.first(has_all)
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
    let mut plain = String::with_capacity(text.len());
    normalise_into(text, &mut plain, &mut false);
    plain
}

/// The same for the next piece of a text; `gap` is whether white space stands before it.
fn normalise_into(text: &str, plain: &mut String, gap: &mut bool) {
    let composed: Cow<'_, str> = match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    };
    plain.reserve(composed.len());
    for letter in composed.chars() {
        // A byte order mark or a zero-width space is as invisible as a space.
        if letter.is_whitespace() || matches!(letter, '\u{feff}' | '\u{200b}') {
            *gap = true;
            continue;
        }
        if std::mem::take(gap) && !plain.is_empty() {
            plain.push(' ');
        }
        plain.push(match letter {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            other => other,
        });
    }
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
            assert_eq!(corpus.find(quote), Ok("outputs/report.md"), "{quote}");
        }
        assert_eq!(corpus.find("日本語の\n出力"), Err(Unfound::Absent));
        assert_eq!(corpus.find("日本語の出力"), Ok("transcript"));
    }

    #[test]
    fn anything_else_is_not() {
        let corpus = corpus();
        for quote in
            ["total: **42**", "Total: 42", "43", "", "  \n", "\"\"", "...", "[...]", "report.txt"]
        {
            assert_eq!(corpus.find(quote), Err(Unfound::Absent), "{quote}");
        }
    }

    #[test]
    fn an_ellipsis_stands_for_anything_within_one_source() {
        let corpus = corpus();
        assert_eq!(corpus.find("# Report ... euros"), Ok("outputs/report.md"));
        assert_eq!(corpus.find("Report […] day."), Ok("outputs/report.md"));
        assert!(corpus.find("euros ... # Report").is_err(), "the order counts");
        assert!(corpus.find("# Report ... I wrote").is_err(), "two sources are two quotes");
    }

    #[test]
    fn a_quote_of_no_source_is_found_nowhere() {
        assert_eq!(Corpus::default().find("a"), Err(Unfound::Absent));
    }

    #[test]
    fn a_few_letters_count_as_a_whole_word_and_one_letter_never() {
        let mut corpus = corpus();
        corpus.add("outputs/count.txt", "7\nOK |---| 出力\n");
        for (quote, found) in [
            ("o", Err(Unfound::Slight)),
            ("a", Err(Unfound::Slight)),
            ("ot", Err(Unfound::Slight)),
            ("day", Ok("outputs/report.md")),
            ("ay", Err(Unfound::Slight)),
            ("42", Ok("outputs/report.md")),
            ("4", Err(Unfound::Slight)),
            ("7", Ok("outputs/count.txt")),
            ("OK", Ok("outputs/count.txt")),
            ("|---|", Ok("outputs/count.txt")),
            ("--", Err(Unfound::Slight)),
            ("出力", Ok("transcript")),
        ] {
            assert_eq!(corpus.find(quote), found, "{quote}");
        }
    }

    #[test]
    fn what_is_left_of_a_quote_around_an_ellipsis_must_prove_something() {
        let corpus = corpus();
        for quote in ["R...t", "a ... y", "It ... 42", "Tot...a", "... a ...", "T...o...t...l"] {
            assert!(corpus.find(quote).is_err(), "{quote}");
        }
        assert_eq!(corpus.find("Total ... day"), Ok("outputs/report.md"));
    }

    #[test]
    fn our_own_words_prove_nothing_and_may_stand_around_what_does() {
        let mut corpus = Corpus::default();
        let pieces = [
            (Whose::Ours, "[0 ab12cd34] the agent says\n"),
            (Whose::Theirs, "I wrote report.md"),
            (Whose::Ours, "\n[1 ab12cd34] calls "),
            (Whose::Theirs, "Bash\ncommand: ls"),
            (Whose::Ours, "\nThe agent completed its work. ("),
            (Whose::Theirs, "well done"),
            (Whose::Ours, ")"),
        ];
        corpus.add_pieces("transcript", pieces);
        for quote in [
            "the agent says",
            "[0 ab12cd34]",
            "The agent completed its work.",
            "calls",
            "its ... work",
        ] {
            assert_eq!(corpus.find(quote), Err(Unfound::Slight), "{quote}");
        }
        for quote in [
            "I wrote report.md",
            "[1 ab12cd34] calls Bash",
            "the agent says I wrote report.md [1 ab12cd34] calls Bash command: ls",
            "completed its work. (well done)",
        ] {
            assert_eq!(corpus.find(quote), Ok("transcript"), "{quote}");
        }
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
            let found = corpus.find(&piece);
            match Substance::of(&piece) {
                Substance::Enough => prop_assert_eq!(found, Ok("t")),
                Substance::Word => prop_assert!(found != Err(Unfound::Absent)),
                Substance::None => prop_assert!(found.is_err()),
            }
        }

        #[test]
        fn no_quote_makes_it_panic(text in "\\PC{0,40}", quote in "[ .…\"'`\\[\\]a-c\\n]{0,20}") {
            let mut corpus = Corpus::default();
            corpus.add("t", &text);
            let _ = corpus.find(&quote);
        }
    }
}
