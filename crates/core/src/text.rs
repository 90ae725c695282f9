//! Places in a text (byte spans while checking, lines and columns when a person reads them) and the small helpers that
//! put counts, lists, rates, errors and digests into words.
//!
//! Everything inside works with byte offsets; a line and a column are computed only for what is
//! shown, because most texts have no finding at all.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write as _;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

/// Stands before a count that may be more.
pub fn at_least(is_bound: bool) -> &'static str {
    if is_bound { "at least " } else { "" }
}

/// A byte range in a text. Always on character boundaries of the text it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The empty span at `offset`.
    pub fn at(offset: usize) -> Self {
        Self { start: offset, end: offset }
    }

    /// The same bytes, counted from a text that starts `by` bytes earlier.
    #[must_use]
    pub fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// As a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The text under the span; empty when the span does not fit the text.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// A place as people and editors name it: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters (Unicode scalar values), from 1.
    pub column: usize,
}

impl Position {
    /// Where byte `offset` of `text` is. Lines end at `\n`, `\r\n` or a lone `\r`.
    pub fn of(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let mut line = 1;
        let mut line_start = 0;
        for at in memchr::memchr2_iter(b'\n', b'\r', before.as_bytes()) {
            let is_first_half = text.as_bytes().get(at) == Some(&b'\r')
                && text.as_bytes().get(at + 1) == Some(&b'\n');
            if !is_first_half {
                line += 1;
                line_start = at + 1;
            }
        }
        Self { line, column: before[line_start..].chars().count() + 1 }
    }
}

/// The text with control characters replaced, so that a file cannot move the cursor or forge a line of output.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Cuts `text` to at most `limit` bytes (and a short note), and says how many bytes went.
///
/// The middle goes, because the beginning says what it is and the end how it went.
pub fn cut_middle(text: &str, limit: usize) -> (String, u64) {
    if text.len() <= limit {
        return (text.to_owned(), 0);
    }
    let head = text.floor_char_boundary(limit - limit / 4);
    let tail = text.ceil_char_boundary(text.len() - limit / 4);
    let gone = tail - head;
    (format!("{}[{gone} bytes left out]{}", &text[..head], &text[tail..]), gone as u64)
}

/// How many lines a text has, as an editor counts them: a final line break starts no new line.
pub fn count_lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let feeds = memchr::memchr_iter(b'\n', bytes).count();
    let lone_returns =
        memchr::memchr_iter(b'\r', bytes).filter(|&at| bytes.get(at + 1) != Some(&b'\n')).count();
    let unfinished = usize::from(!matches!(bytes.last(), None | Some(b'\n' | b'\r')));
    feeds + lone_returns + unfinished
}

/// The lines of a text with their spans, line breaks not included.
pub fn lines(text: &str) -> impl Iterator<Item = (Span, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= text.len() {
            return None;
        }
        let bytes = text.as_bytes();
        let end = memchr::memchr2(b'\n', b'\r', &bytes[start..]).map_or(text.len(), |n| start + n);
        let next = if bytes[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 };
        let span = Span::new(start, end);
        start = next;
        Some((span, span.slice(text)))
    })
}

/// `1 run`, `2 runs`, `2,345 runs`.
pub fn plural(count: impl TryInto<usize>, noun: &str) -> String {
    counted(count, noun, &format!("{noun}s"))
}

/// The same where an `s` is not enough: `1 query`, `2 queries`, `1 run was`, `2 runs were`.
pub fn counted(count: impl TryInto<usize>, one: &str, many: &str) -> String {
    let count = count.try_into().unwrap_or(usize::MAX);
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// The `s` of a counted noun, where the number stands elsewhere in the sentence.
pub fn ending(count: impl TryInto<usize>) -> &'static str {
    if count.try_into().is_ok_and(|count| count == 1) { "" } else { "s" }
}

/// Digits in groups of three.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `a, b and c`.
pub fn list(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => items.concat(),
    }
}

/// `0.873` as `87 %`.
pub fn percent(rate: f64) -> String {
    format!("{:.0} %", 100.0 * rate)
}

/// `0.0312` as `p = 0.03`.
pub fn probability(p: f64) -> String {
    match p {
        p if p < 0.0001 => "p < 0.0001".to_owned(),
        p if p < 0.01 => format!("p = {p:.4}"),
        p => format!("p = {p:.2}"),
    }
}

/// A text of somebody else on one line, and without anything that a terminal would obey.
pub fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    printable(&line).into_owned()
}

/// The same, of at most `most` characters and an ellipsis.
pub fn shorten(text: &str, most: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Rows whose columns are as wide as what is in them. The columns named in `texts` begin at the left, the others have
/// numbers and end at the right.
pub fn table(rows: &[Vec<String>], texts: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if texts.contains(&column) {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    out
}

/// Breaks lines that are wider between their words; what goes on stands a little further right.
pub fn wrap(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        if content.chars().count() <= width {
            out.push_str(line);
            continue;
        }
        let own = content.len() - content.trim_start().len();
        let indent = " ".repeat((own + 2).min(width / 2));
        let mut used = own;
        out.push_str(&content[..own]);
        for (number, word) in content[own..].split(' ').enumerate() {
            let length = word.chars().count();
            if number > 0 && used + 1 + length > width {
                out.push('\n');
                out.push_str(&indent);
                used = indent.len();
            } else if number > 0 {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += length;
        }
        out.push_str(&line[content.len()..]);
    }
    out
}

/// An error with its causes, as far as it has not said them itself: "cannot keep the outputs: no space left on device".
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of `bytes` in hexadecimal digits.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_lists_read_as_sentences() {
        assert_eq!(plural(0_u64, "run"), "0 runs");
        assert_eq!(plural(1_usize, "run"), "1 run");
        assert_eq!(plural(1_234_567_u64, "run"), "1,234,567 runs");
        assert_eq!(list(&["a"; 0]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b"]), "a and b");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(percent(0.873), "87 %");
    }

    #[test]
    fn a_short_text_is_one_printable_line() {
        assert_eq!(shorten("a\n  b\u{1b}", 9), "a b\u{fffd}");
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äö ü", 3), "äö…");
    }

    #[test]
    fn a_table_has_columns_as_wide_as_their_cells() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["name", "runs", "note"]), row(["ä", "10000", ""])];
        assert_eq!(table(&rows, &[0, 2]), "name   runs  note\nä     10000\n");
    }

    #[test]
    fn a_chain_says_nothing_twice() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read")]
        struct Outer(#[source] Middle);
        #[derive(Debug, thiserror::Error)]
        #[error("a.txt: {0}")]
        struct Middle(#[source] std::io::Error);
        let error = Outer(Middle(std::io::Error::other("disk gone")));
        assert_eq!(chain(&error), "cannot read: a.txt: disk gone");
    }

    #[test]
    fn a_digest_is_what_sha256sum_says() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(""), empty);
        assert_eq!(hex([0x0f, 0xa0]), "0fa0");
    }

    #[test]
    fn positions_count_characters_and_any_line_break() {
        let text = "a\r\nbé\rç\nd";
        assert_eq!(Position::of(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, 3), Position { line: 2, column: 1 });
        assert_eq!(Position::of(text, 6), Position { line: 2, column: 3 });
        assert_eq!(Position::of(text, 7), Position { line: 3, column: 1 });
        assert_eq!(Position::of(text, 10), Position { line: 4, column: 1 });
        assert_eq!(Position::of(text, 999), Position { line: 4, column: 2 });
        assert_eq!(Position::of("é", 1), Position { line: 1, column: 1 });
    }

    #[test]
    fn a_final_line_break_starts_no_line() {
        for (text, expected) in [
            ("", 0),
            ("a", 1),
            ("a\n", 1),
            ("a\nb", 2),
            ("a\r\nb\r\n", 2),
            ("a\rb\r", 2),
            ("\n", 1),
        ] {
            assert_eq!(count_lines(text), expected, "{text:?}");
            assert_eq!(lines(text).count(), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_give_their_own_bytes() {
        let text = "a\r\n\nbc\rd";
        let found: Vec<_> = lines(text).map(|(span, line)| (span.start, line)).collect();
        assert_eq!(found, [(0, "a"), (3, ""), (4, "bc"), (7, "d")]);
    }

    #[test]
    fn a_line_is_broken_between_words_and_a_word_never() {
        assert_eq!(wrap("one two three\n", 8), "one two\n  three\n");
        assert_eq!(wrap("  one two three", 9), "  one two\n    three");
        assert_eq!(wrap("short\nunbreakable\n", 8), "short\nunbreakable\n");
        assert_eq!(wrap("a  b   c", 80), "a  b   c", "a table that fits stays as it is");
        for line in wrap(&"word ".repeat(100), 80).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
