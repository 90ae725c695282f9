//! The bytes of JSON text: where a text or an indent ends, and how a line begins.

use super::DEPTH;

/// A line break, and more spaces than the depth of any value that is written takes.
const LINE: &[u8; 1 + 2 * DEPTH] =
    b"\n                                                                ";

/// Begins the line of a member or an item.
pub(super) fn begin(is_first: bool, indent: usize, out: &mut Vec<u8>) -> Option<()> {
    if !is_first {
        out.push(b',');
    }
    out.extend_from_slice(LINE.get(..=indent)?);
    Some(())
}

/// Ends an object or a list.
pub(super) fn end(is_empty: bool, indent: usize, bracket: u8, out: &mut Vec<u8>) -> Option<()> {
    if !is_empty {
        out.extend_from_slice(LINE.get(..=indent)?);
    }
    out.push(bracket);
    Some(())
}

/// How many spaces begin a line, up to sixteen; eight are looked at together.
#[inline]
pub(super) fn spaces(line: &[u8]) -> usize {
    const SPACES: u64 = u64::from_le_bytes([b' '; 8]);
    let count = |at: usize| {
        let eight = line.get(at..).and_then(<[u8]>::first_chunk)?;
        Some((u64::from_le_bytes(*eight) ^ SPACES).trailing_zeros() as usize / 8)
    };
    match count(0) {
        Some(8) => 8 + count(8).unwrap_or(0),
        few => few.unwrap_or(0),
    }
}

/// How many bytes come before the first quote, backslash or control character; eight are looked at together.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // The lowest byte that is marked is marked rightly: only bytes above it can be marked by a borrow.
    let below = |word: u64, limit: u8| word.wrapping_sub(LOW * u64::from(limit)) & !word & HIGH;
    let mut length = 0;
    for chunk in bytes.chunks_exact(8) {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        let word = u64::from_le_bytes(eight);
        let is = |byte: u8| below(word ^ (LOW * u64::from(byte)), 1);
        let marks = is(b'"') | is(b'\\') | below(word, 0x20);
        if marks != 0 {
            return length + marks.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let is_plain = |byte: &&u8| **byte >= 0x20 && **byte != b'"' && **byte != b'\\';
    length + bytes[length..].iter().take_while(is_plain).count()
}
