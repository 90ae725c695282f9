//! Strings: borrowed from the text when they have no escapes, which is nearly always.

use std::borrow::Cow;

use super::parse::{Parser, Raised};
use super::{Container, Span, SyntaxIssue};

impl<'t> Parser<'t> {
    /// Reads a string; the parser stands on its opening quote.
    pub(super) fn string(&mut self) -> Result<(Cow<'t, str>, Span), Raised> {
        let opened = self.position;
        self.position += 1;
        let mut owned: Option<String> = None;
        let mut run = self.position;
        loop {
            // Quotes, backslashes and control characters are ASCII, so the text can be cut beside them.
            let Some(&byte) = self.bytes().get(self.position) else {
                return Err(self.truncated(Container::String, opened));
            };
            match byte {
                b'"' => {
                    let rest = &self.text[run..self.position];
                    self.position += 1;
                    let text = match owned {
                        Some(mut text) => {
                            text.push_str(rest);
                            Cow::Owned(text)
                        }
                        None => Cow::Borrowed(rest),
                    };
                    return Ok((text, Span::new(opened, self.position)));
                }
                b'\\' => {
                    let text = owned.get_or_insert_default();
                    text.push_str(&self.text[run..self.position]);
                    let character = self.escape(opened)?;
                    text.push(character);
                    run = self.position;
                }
                code @ 0..0x20 => {
                    return Err(self.raise_here(1, SyntaxIssue::ControlCharacter { code }));
                }
                _ => self.position += 1,
            }
        }
    }

    /// Reads an escape; the parser stands on its backslash, inside the string that starts at `opened`.
    fn escape(&mut self, opened: usize) -> Result<char, Raised> {
        let start = self.position;
        let Some(&kind) = self.bytes().get(start + 1) else {
            return Err(self.truncated(Container::String, opened));
        };
        let character = match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(opened),
            _ => return Err(self.bad_escape(start, 2)),
        };
        self.position = start + 2;
        Ok(character)
    }

    /// Reads `\uXXXX`, or two of them when they are the halves of one character.
    fn unicode_escape(&mut self, opened: usize) -> Result<char, Raised> {
        let start = self.position;
        let first = self.hex(start, opened)?;
        let code = match first {
            0xD800..=0xDBFF => {
                let next = self.bytes().get(self.position..self.position + 2);
                if next != Some(br"\u") {
                    return Err(self.lone_surrogate(start));
                }
                match self.hex(self.position, opened)? {
                    second @ 0xDC00..=0xDFFF => {
                        0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                    }
                    _ => return Err(self.lone_surrogate(start)),
                }
            }
            code => code,
        };
        // What is left out of `char` are exactly the surrogates.
        char::from_u32(code).ok_or_else(|| self.lone_surrogate(start))
    }

    /// The four hexadecimal digits of the escape at `start`; the parser stands behind them afterwards.
    fn hex(&mut self, start: usize, opened: usize) -> Result<u32, Raised> {
        let mut code = 0;
        for offset in 2..6 {
            let Some(&digit) = self.bytes().get(start + offset) else {
                return Err(self.truncated(Container::String, opened));
            };
            let Some(value) = char::from(digit).to_digit(16) else {
                return Err(self.bad_escape(start, offset));
            };
            code = code * 16 + value;
        }
        self.position = start + 6;
        Ok(code)
    }

    fn bad_escape(&mut self, start: usize, length: usize) -> Raised {
        self.position = start;
        // The character that does not fit may have several bytes.
        let end = (start + length..=self.text.len())
            .find(|&end| self.text.is_char_boundary(end))
            .unwrap_or(start);
        let escape = self.text.get(start..end).unwrap_or_default().to_owned();
        self.raise_here(escape.len(), SyntaxIssue::BadEscape { escape })
    }

    fn lone_surrogate(&mut self, start: usize) -> Raised {
        self.position = start;
        let escape = self.text.get(start..start + 6).unwrap_or_default().to_owned();
        self.raise_here(escape.len(), SyntaxIssue::LoneSurrogate { escape })
    }
}
