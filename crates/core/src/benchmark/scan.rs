//! A cursor over JSON text that makes no tree and no copy.
//!
//! It is for the thousands of small files of an iteration, and understands what such files have. The one invariant: it
//! never accepts what [`skillgauge_format::json`] refuses, nor understands it differently. At anything unusual (an escaped
//! key, a number with an exponent, nesting of more than 32 levels, broken text) it answers
//! nothing, and the file is read in the long way.

mod bytes;

use std::borrow::Cow;

use skillgauge_format::json::Number;

use self::bytes::{begin, end, plain_length, spaces};

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
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            // One question for nearly all bytes; a table of cases would be guessed wrong too often.
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
            if byte == b'\n' {
                self.at += spaces(&bytes[self.at..]);
            }
        }
    }

    #[inline]
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

    pub(super) fn string(&mut self) -> Option<Quoted<'t>> {
        self.take(b'"')?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += plain_length(bytes.get(start..)?);
        let escapes = if *bytes.get(self.at)? == b'"' { Escapes::None } else { self.escapes()? };
        let raw = self.text.get(start..self.at)?;
        self.at += 1;
        Some(Quoted { raw, escapes })
    }

    /// Goes on to the end of a text that is not plain.
    #[cold]
    fn escapes(&mut self) -> Option<Escapes> {
        let mut escapes = Escapes::Usual;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at)? {
                b'"' => return Some(escapes),
                b'\\' => {
                    if self.escape()? == Escapes::Other {
                        escapes = Escapes::Other;
                    }
                }
                _ => return None,
            }
            self.at += plain_length(bytes.get(self.at..)?);
        }
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

    /// Reads the id of a case as text.
    pub(super) fn id(&mut self) -> Option<String> {
        if self.peek()? == b'"' {
            return self.string()?.text().map(Cow::into_owned);
        }
        match self.number()? {
            Number::Unsigned(number) => Some(number.to_string()),
            Number::Signed(_) | Number::Float(_) => None,
        }
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

    /// Passes over a value and writes it as our writer does, at a depth of so many spaces.
    pub(super) fn render(&mut self, indent: usize, out: &mut Vec<u8>) -> Option<()> {
        let inner = indent + 2;
        match self.peek()? {
            b'"' => self.string()?.render(out)?,
            b'{' => {
                let mut names = Names::default();
                out.push(b'{');
                self.object(|cursor, key| {
                    begin(names.is_empty(), inner, out)?;
                    names.add(key)?;
                    out.push(b'"');
                    out.extend_from_slice(key.as_bytes());
                    out.extend_from_slice(b"\": ");
                    cursor.render(inner, out)
                })?;
                end(names.is_empty(), indent, b'}', out)?;
            }
            b'[' => {
                let mut is_empty = true;
                out.push(b'[');
                self.array(|cursor| {
                    begin(is_empty, inner, out)?;
                    is_empty = false;
                    cursor.render(inner, out)
                })?;
                end(is_empty, indent, b']', out)?;
            }
            b't' | b'f' => out.extend_from_slice(if self.boolean()? { b"true" } else { b"false" }),
            b'n' => {
                self.word("null")?;
                out.extend_from_slice(b"null");
            }
            _ => {
                let digits = self.digits()?;
                if digits.contains('.') {
                    // There are many ways to write a fraction, and ours is one of them.
                    serde_json::to_writer(out, &digits.parse::<f64>().ok()?).ok()?;
                } else {
                    out.extend_from_slice(digits.as_bytes());
                }
            }
        }
        Some(())
    }

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

/// The keys of an object that were met; more than fit, or one twice, is unusual.
#[derive(Default)]
pub(super) struct Names<'t> {
    known: [&'t str; 16],
    count: usize,
}

impl<'t> Names<'t> {
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn add(&mut self, name: &'t str) -> Option<()> {
        let is_new = !self.known[..self.count].contains(&name);
        *self.known.get_mut(self.count).filter(|_| is_new)? = name;
        self.count += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests;
