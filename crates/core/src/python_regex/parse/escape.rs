//! What a backslash and the characters after it mean, outside and inside of a character class.

use super::super::error::PatternError;
use super::super::tree::{At, Category, ClassItem, Node, Sense};
use super::Parser;
use super::source::{Source, syntax};

impl Parser {
    /// An escape outside of a class. `c` stands after the backslash, which is at `start`.
    pub(super) fn escape(&mut self, c: char, start: usize) -> Result<Node, PatternError> {
        let place = match c {
            'A' => Some(At::TextStart),
            'Z' => Some(At::TextEnd),
            'b' => Some(At::Boundary),
            'B' => Some(At::NoBoundary),
            _ => None,
        };
        if let Some(place) = place {
            return Ok(Node::At(place));
        }
        if let Some(category) = category(c) {
            return Ok(Node::Class { negated: false, items: vec![category] });
        }
        if c == '0' {
            let digits = self.source.take_while(2, is_octal);
            return Ok(Node::Literal(char::from(octal(&digits))));
        }
        if c.is_ascii_digit() {
            return self.digits(c, start);
        }
        literal(&mut self.source, c, start).map(Node::Literal)
    }

    /// Three octal digits are a character, anything else is a reference to a group.
    fn digits(&mut self, first: char, start: usize) -> Result<Node, PatternError> {
        let mut digits = String::from(first);
        let second = self.source.take_while(1, |c| c.is_ascii_digit());
        digits.push_str(&second);
        if digits.len() == 2 && digits.chars().all(is_octal) {
            let third = self.source.take_while(1, is_octal);
            if !third.is_empty() {
                digits.push_str(&third);
                return octal_escape(&digits, start).map(Node::Literal);
            }
        }
        let group = digits.parse().unwrap_or(usize::MAX);
        self.reference(group, start)
    }
}

/// An escape inside of a class.
pub(super) fn class_escape(
    source: &mut Source,
    c: char,
    start: usize,
) -> Result<ClassItem, PatternError> {
    if let Some(category) = category(c) {
        return Ok(category);
    }
    let c = match c {
        'b' => '\u{8}',
        '0'..='7' => {
            let mut digits = String::from(c);
            digits.push_str(&source.take_while(2, is_octal));
            octal_escape(&digits, start)?
        }
        _ => literal(source, c, start)?,
    };
    Ok(ClassItem::Range(c, c))
}

fn category(c: char) -> Option<ClassItem> {
    let sense = if c.is_ascii_uppercase() { Sense::IsNot } else { Sense::Is };
    let category = match c.to_ascii_lowercase() {
        'd' => Category::Digit,
        'w' => Category::Word,
        's' => Category::Space,
        _ => return None,
    };
    Some(ClassItem::Category(category, sense))
}

/// The character that an escape stands for.
fn literal(source: &mut Source, c: char, start: usize) -> Result<char, PatternError> {
    Ok(match c {
        'a' => '\u{7}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        'x' => hex(source, 'x', 2, start)?,
        'u' => hex(source, 'u', 4, start)?,
        'U' => hex(source, 'U', 8, start)?,
        'N' => {
            if !source.take('{') {
                return Err(syntax("missing {", source.at()));
            }
            let name = source.until('}', "character name")?;
            return Err(PatternError::Unsupported {
                what: format!("the character name `\\N{{{name}}}`"),
                at: start,
                hint: "write the character itself, or its code as \\uXXXX",
            });
        }
        c if c.is_ascii_alphanumeric() => {
            return Err(syntax(format!("bad escape \\{c}"), start));
        }
        c => c,
    })
}

fn hex(source: &mut Source, kind: char, count: usize, start: usize) -> Result<char, PatternError> {
    let digits = source.take_while(count, |c| c.is_ascii_hexdigit());
    if digits.len() != count {
        return Err(syntax(format!("incomplete escape \\{kind}{digits}"), start));
    }
    let code = u32::from_str_radix(&digits, 16).unwrap_or(u32::MAX);
    if (0xd800..0xe000).contains(&code) {
        return Err(PatternError::Unsupported {
            what: format!("the surrogate `\\{kind}{digits}`"),
            at: start,
            hint: "write the whole character as \\UXXXXXXXX",
        });
    }
    char::from_u32(code).ok_or_else(|| syntax(format!("bad escape \\{kind}{digits}"), start))
}

fn octal_escape(digits: &str, start: usize) -> Result<char, PatternError> {
    let value = digits.chars().fold(0_u32, |value, c| value * 8 + c.to_digit(8).unwrap_or(0));
    u8::try_from(value).map(char::from).map_err(|_| {
        syntax(format!("octal escape value \\{digits} outside of range 0-0o377"), start)
    })
}

/// At most two octal digits.
fn octal(digits: &str) -> u8 {
    digits.bytes().fold(0, |value, digit| value * 8 + (digit - b'0'))
}

fn is_octal(c: char) -> bool {
    ('0'..='7').contains(&c)
}
