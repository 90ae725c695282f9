//! Places in a text: byte spans while checking, lines and columns when a person reads them.
//!
//! Everything inside works with byte offsets; a line and a column are computed only for what is
//! shown, because most texts have no finding at all.

use std::borrow::Cow;
use std::ops::Range;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
