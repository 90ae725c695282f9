//! Byte spans, and the lines and columns that people see.
//!
//! The parser and the tree speak of byte offsets only; a [`LineIndex`] turns them into places, and is built only when
//! there is something to report. It keeps a checkpoint every few kilobytes, so that a place costs the same in a
//! minified file of one line as in any other.

use serde::Serialize;

/// A range of bytes in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to and without `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// A line and a column, both counted from 1; the column counts characters, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1. A byte order mark has no column.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The UTF-8 byte order mark, which some editors put in front of a file.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Distance of the checkpoints in bytes.
const STEP: usize = 4096;

/// Turns byte offsets of one text into places.
#[derive(Debug)]
pub struct LineIndex<'t> {
    text: &'t [u8],
    /// The place of every `STEP`th byte.
    checkpoints: Vec<Place>,
}

impl<'t> LineIndex<'t> {
    /// Reads the text once.
    pub fn new(text: &'t [u8]) -> Self {
        let mut checkpoints = Vec::with_capacity(text.len() / STEP + 1);
        let mut place = Place { line: 1, column: 1 };
        for (number, chunk) in text.chunks(STEP).enumerate() {
            checkpoints.push(place);
            let start = number * STEP;
            place = advance(place, chunk, start);
        }
        Self { text, checkpoints }
    }

    /// The place of a byte; an offset behind the end gives the place behind the last character.
    pub fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let number = offset / STEP;
        let start = number * STEP;
        match self.checkpoints.get(number) {
            Some(&place) => advance(place, &self.text[start..offset], start),
            // The text ends exactly on a checkpoint that has no chunk behind it.
            None => match self.checkpoints.last() {
                Some(&place) => {
                    let start = start.saturating_sub(STEP);
                    advance(place, &self.text[start..offset], start)
                }
                None => Place { line: 1, column: 1 },
            },
        }
    }
}

/// The place behind `bytes`, which stand at `place` and begin at `offset` of the text.
fn advance(mut place: Place, bytes: &[u8], offset: usize) -> Place {
    // Only at the very start is EF BB BF a mark and not a character; chunks are longer than the mark.
    let bytes = if offset == 0 { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes };
    for &byte in bytes {
        if byte == b'\n' {
            place = Place { line: place.line + 1, column: 1 };
        } else if byte & 0xC0 != 0x80 {
            // A continuation byte of UTF-8 belongs to the character before it.
            place.column += 1;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: usize, column: usize) -> Place {
        Place { line, column }
    }

    #[test]
    fn columns_count_characters_and_lines_end_with_newline() {
        let text = "äb\r\n\tc\n";
        let index = LineIndex::new(text.as_bytes());
        assert_eq!(index.place(0), place(1, 1));
        assert_eq!(index.place(2), place(1, 2), "ä has two bytes and one column");
        assert_eq!(index.place(5), place(2, 1));
        assert_eq!(index.place(6), place(2, 2), "a tab is one column");
        assert_eq!(index.place(text.len()), place(3, 1));
        assert_eq!(index.place(10_000), place(3, 1));
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let index = LineIndex::new(b"\xEF\xBB\xBF[1]");
        assert_eq!(index.place(3), place(1, 1));
        assert_eq!(index.place(4), place(1, 2));
    }

    #[test]
    fn checkpoints_agree_with_counting_from_the_start() {
        let text = "é\n日本語 text that is a little longer\r\n".repeat(700);
        let bytes = text.as_bytes();
        let index = LineIndex::new(bytes);
        for offset in (0..=bytes.len()).filter(|&offset| text.is_char_boundary(offset)) {
            let before = &text[..offset];
            let line = before.matches('\n').count() + 1;
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            assert_eq!(index.place(offset), place(line, before[start..].chars().count() + 1));
        }
        let aligned = "x".repeat(2 * STEP);
        assert_eq!(LineIndex::new(aligned.as_bytes()).place(2 * STEP), place(1, 2 * STEP + 1));
        assert_eq!(LineIndex::new(b"").place(0), place(1, 1));
    }
}
