//! A cursor over JSON text that makes no tree and no copy.
//!
//! It is for the thousands of small files of an iteration, and understands what such files have. The one invariant: it
//! never accepts what [`skillgauge_format::json`] refuses, nor understands it differently. At anything unusual (an escaped
//! key, a number with an exponent, nesting of more than 32 levels, broken text) it answers
//! nothing, and the file is read in the long way.

use std::borrow::Cow;

use skillgauge_format::json::Number;

/// Levels of nesting; more is unusual.
const DEPTH: usize = 32;

/// Digits of a whole number that fits every type.
const DIGITS: usize = 18;

/// A place in a text.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

/// A text between its quotes, as it stands in the file.
#[derive(Clone, Copy)]
pub(super) struct Quoted<'t> {
    /// With escapes.
    pub(super) raw: &'t str,
    escapes: Escapes,
}

/// Which escapes a text has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    None,
    /// Only those that our writer writes too.
    Usual,
    /// Others; our writer would write the text differently.
    Other,
}

impl<'t> Quoted<'t> {
    /// What it says.
    pub(super) fn text(self) -> Option<Cow<'t, str>> {
        match self.escapes {
            Escapes::None => Some(Cow::Borrowed(self.raw)),
            Escapes::Usual | Escapes::Other => {
                serde_json::from_str(&format!("\"{}\"", self.raw)).ok().map(Cow::Owned)
            }
        }
    }

    /// Writes it as our writer does, with its quotes.
    pub(super) fn render(self, out: &mut Vec<u8>) -> Option<()> {
        if self.escapes == Escapes::Other {
            return serde_json::to_writer(out, &self.text()?).ok();
        }
        out.push(b'"');
        out.extend_from_slice(self.raw.as_bytes());
        out.push(b'"');
        Some(())
    }
}

impl<'t> Cursor<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Option<Self> {
        Some(Self { text: std::str::from_utf8(bytes).ok()?, at: 0 })
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(*byte),
            }
            while bytes.get(self.at..self.at + 8) == Some(b"        ") {
                self.at += 8;
            }
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads an object: `member` is called with each key and reads its value.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'t str) -> Option<()>,
    ) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let key = self.string()?;
            if key.escapes != Escapes::None {
                return None;
            }
            self.take(b':')?;
            member(self, key.raw)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// Reads a list: `item` is called for each item and reads it.
    pub(super) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            item(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                b']' => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// Reads a value that may be null.
    #[expect(
        clippy::option_option,
        reason = "the outer one is whether it was understood, as everywhere here"
    )]
    pub(super) fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.peek()? == b'n' {
            self.word("null")?;
            return Some(None);
        }
        read(self).map(Some)
    }

    /// Reads a text.
    pub(super) fn string(&mut self) -> Option<Quoted<'t>> {
        self.take(b'"')?;
        let start = self.at;
        let mut escapes = Escapes::None;
        loop {
            let bytes = self.text.as_bytes();
            self.at += plain_length(bytes.get(self.at..)?);
            match bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    let found = self.escape()?;
                    if escapes != Escapes::Other {
                        escapes = found;
                    }
                }
                _ => return None,
            }
        }
        let raw = self.text.get(start..self.at)?;
        self.at += 1;
        Some(Quoted { raw, escapes })
    }

    fn escape(&mut self) -> Option<Escapes> {
        let bytes = self.text.as_bytes();
        let (length, found) = match bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => (2, Escapes::Usual),
            b'/' => (2, Escapes::Other),
            b'u' => match self.unit(self.at)? {
                // What UTF-16 cannot hold in one unit is a pair of them; half of a pair is no character.
                0xD800..0xDC00 if (0xDC00..0xE000).contains(&self.unit(self.at + 6)?) => {
                    (12, Escapes::Other)
                }
                0xD800..0xE000 => return None,
                _ => (6, Escapes::Other),
            },
            _ => return None,
        };
        self.at += length;
        Some(found)
    }

    /// The unit of UTF-16 that is escaped at a place.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
        // A sign is not a digit, though the conversion takes it.
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Option<Number> {
        let digits = self.digits()?;
        if digits.contains('.') {
            return digits.parse().ok().map(Number::Float);
        }
        digits
            .parse()
            .ok()
            .map(Number::Unsigned)
            .or_else(|| digits.parse().ok().map(Number::Signed))
    }

    /// The text of a number.
    fn digits(&mut self) -> Option<&'t str> {
        self.peek()?;
        let rest = self.text.get(self.at..)?;
        let bytes = rest.as_bytes();
        let count =
            |from: usize| bytes[from..].iter().take_while(|digit| digit.is_ascii_digit()).count();
        let sign = usize::from(bytes.first() == Some(&b'-'));
        let whole = count(sign);
        let is_padded = whole > 1 && bytes[sign] == b'0';
        if whole == 0 || whole > DIGITS || is_padded {
            return None;
        }
        let mut end = sign + whole;
        if bytes.get(end) == Some(&b'.') {
            let fraction = count(end + 1);
            if fraction == 0 {
                return None;
            }
            end += 1 + fraction;
        }
        let is_minus_zero = sign == 1 && bytes[1] == b'0' && end == 2;
        if is_minus_zero || matches!(bytes.get(end), Some(b'.' | b'e' | b'E' | b'0'..=b'9')) {
            return None;
        }
        self.at += end;
        Some(&rest[..end])
    }

    /// Reads `true` or `false`.
    pub(super) fn boolean(&mut self) -> Option<bool> {
        let value = self.peek()? == b't';
        self.word(if value { "true" } else { "false" })?;
        Some(value)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.peek()?;
        self.text.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }

    /// Passes over a value and gives its text.
    pub(super) fn span(&mut self) -> Option<&'t str> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        self.text.get(start..self.at)
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self) -> Option<()> {
        self.skip_in(0)
    }

    fn skip_in(&mut self, depth: usize) -> Option<()> {
        if depth > DEPTH {
            return None;
        }
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' => self.object(|cursor, _| cursor.skip_in(depth + 1)),
            b'[' => self.array(|cursor| cursor.skip_in(depth + 1)),
            b't' | b'f' => self.boolean().map(drop),
            b'n' => self.word("null"),
            _ => self.digits().map(drop),
        }
    }
}

/// How many bytes come before the first quote, backslash or control character; eight are looked at together.
fn plain_length(bytes: &[u8]) -> usize {
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

#[cfg(test)]
mod tests;
