//! Text to tree, in one pass.
//!
//! A recursive descent over bytes: linear in the size of the file, one allocation per container, none for text without
//! escapes. The depth of the recursion is bounded by [`LIMITS`]. An error carries the path that it happened on: every
//! level adds its step while the error passes through.

use std::borrow::Cow;
use std::collections::HashSet;

use super::position::BOM;
use super::syntax::Found;
use super::{
    Container, Document, JsonPath, LIMITS, LineIndex, Member, Node, Number, Span, Step,
    SyntaxError, SyntaxIssue, Value,
};

/// Parses a whole file.
pub fn parse(bytes: &[u8]) -> Result<Document<'_>, SyntaxError> {
    let text = decode(bytes).map_err(|raised| raised.into_error(bytes))?;
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let mut parser = Parser { text, position: start, values: 0, repeated_keys: 0 };
    parser.document().map_err(|raised| raised.into_error(bytes))
}

/// Checks size and encoding.
fn decode(bytes: &[u8]) -> Result<&str, Raised> {
    LIMITS.check_size(bytes.len() as u64).map_err(|issue| Raised::new(Span::default(), issue))?;
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Err(Raised::new(Span::new(0, 2), SyntaxIssue::Utf16));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let byte = bytes.get(offset).copied().unwrap_or_default();
        Raised::new(Span::new(offset, offset + 1), SyntaxIssue::NotUtf8 { byte })
    })
}

/// An error on its way out; boxed, since almost nothing fails and a small `Result` is a fast one.
pub(super) struct Raised(Box<RaisedAt>);

struct RaisedAt {
    span: Span,
    issue: SyntaxIssue,
    /// The steps that the error has passed, the innermost first.
    steps: Vec<Step>,
}

impl Raised {
    pub(super) fn new(span: Span, issue: SyntaxIssue) -> Self {
        Self(Box::new(RaisedAt { span, issue, steps: Vec::new() }))
    }

    /// Adds the step into the container that the error leaves.
    fn through(mut self, step: Step) -> Self {
        self.0.steps.push(step);
        self
    }

    fn into_error(self, bytes: &[u8]) -> SyntaxError {
        let RaisedAt { span, issue, mut steps } = *self.0;
        steps.reverse();
        // A file that is too large is not looked at, not even to count its lines.
        let place = LineIndex::new(bytes.get(..span.end).unwrap_or_default()).place(span.start);
        SyntaxError { span, place, path: JsonPath::new(steps), issue }
    }
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) position: usize,
    values: usize,
    repeated_keys: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    fn document(&mut self) -> Result<Document<'t>, Raised> {
        if self.skip_space()?.is_none() {
            return Err(self.raise_here(0, SyntaxIssue::Empty));
        }
        let root = self.value(0)?;
        if self.skip_space()?.is_some() {
            let found = self.found();
            return Err(self.raise_here(1, SyntaxIssue::TextAfterValue { found }));
        }
        Ok(Document { root, repeated_keys: self.repeated_keys })
    }

    /// Reads a value; the parser stands on its first byte.
    fn value(&mut self, depth: usize) -> Result<Node<'t>, Raised> {
        self.values += 1;
        if self.values > LIMITS.values {
            return Err(self.raise_here(1, SyntaxIssue::TooManyValues));
        }
        let start = self.position;
        let value = match self.bytes().get(start) {
            Some(b'"') => Value::String(self.string()?.0),
            Some(b'{') => self.object(depth + 1)?,
            Some(b'[') => self.array(depth + 1)?,
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.word()?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { span: Span::new(start, self.position), value })
    }

    fn array(&mut self, depth: usize) -> Result<Value<'t>, Raised> {
        let opened = self.open(depth)?;
        let mut items = Vec::new();
        if self.next_in(Container::Array, opened)? == b']' {
            self.position += 1;
            return Ok(Value::Array(items));
        }
        loop {
            let step = |raised: Raised| raised.through(Step::Index(items.len()));
            let item = self.value(depth).map_err(step)?;
            items.push(item);
            match self.next_in(Container::Array, opened)? {
                b']' => break,
                b',' => self.comma(Container::Array, opened, b']')?,
                _ => return Err(self.unexpected("`,` or `]`")),
            }
        }
        self.position += 1;
        Ok(Value::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Value<'t>, Raised> {
        let opened = self.open(depth)?;
        let mut members: Vec<Member<'t>> = Vec::new();
        let mut next = self.next_in(Container::Object, opened)?;
        if next == b'}' {
            self.position += 1;
            return Ok(Value::Object(members));
        }
        loop {
            if next != b'"' {
                return Err(self.not_a_key());
            }
            let (key, key_span) = self.string()?;
            let step =
                |raised: Raised, key: &Cow<'t, str>| raised.through(Step::Key(key.to_string()));
            if self.next_in(Container::Object, opened)? != b':' {
                let raised = self.unexpected("`:` after the key");
                return Err(step(raised, &key));
            }
            self.position += 1;
            self.next_in(Container::Object, opened).map_err(|raised| step(raised, &key))?;
            let value = self.value(depth).map_err(|raised| step(raised, &key))?;
            members.push(Member { key, key_span, value });
            match self.next_in(Container::Object, opened)? {
                b'}' => break,
                b',' => self.comma(Container::Object, opened, b'}')?,
                _ => return Err(self.unexpected("`,` or `}`")),
            }
            next = self.next_in(Container::Object, opened)?;
        }
        self.position += 1;
        self.repeated_keys += count_repeated(&members);
        Ok(Value::Object(members))
    }

    /// Steps over an opening bracket and says where it was.
    fn open(&mut self, depth: usize) -> Result<usize, Raised> {
        if depth > LIMITS.depth {
            return Err(self.raise_here(1, SyntaxIssue::TooDeep));
        }
        self.position += 1;
        Ok(self.position - 1)
    }

    /// Steps over a comma and refuses one that nothing follows.
    fn comma(&mut self, inside: Container, opened: usize, close: u8) -> Result<(), Raised> {
        let comma = self.position;
        self.position += 1;
        if self.next_in(inside, opened)? == close {
            self.position = comma;
            return Err(self.raise_here(1, SyntaxIssue::TrailingComma { inside }));
        }
        Ok(())
    }

    /// The next byte that is no white space, inside of something that must be closed.
    fn next_in(&mut self, inside: Container, opened: usize) -> Result<u8, Raised> {
        match self.skip_space()? {
            Some(byte) => Ok(byte),
            None => Err(self.truncated(inside, opened)),
        }
    }

    /// Skips white space and refuses comments, wherever they stand.
    fn skip_space(&mut self) -> Result<Option<u8>, Raised> {
        loop {
            match self.bytes().get(self.position) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.position += 1,
                Some(b'/' | b'#') => return Err(self.raise_here(1, SyntaxIssue::Comment)),
                other => return Ok(other.copied()),
            }
        }
    }

    /// Reads `true`, `false` or `null`, and tells what other words should have been.
    fn word(&mut self) -> Result<Value<'t>, Raised> {
        let word = self.word_here();
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => {
                let issue = match foreign_word(word) {
                    Some(instead) => SyntaxIssue::ForeignWord { word: word.to_owned(), instead },
                    None => SyntaxIssue::UnknownWord { word: shorten(word) },
                };
                return Err(self.raise_here(word.len(), issue));
            }
        };
        self.position += word.len();
        Ok(value)
    }

    /// The letters, digits and underscores at the parser's position.
    fn word_here(&self) -> &'t str {
        let rest = &self.text[self.position..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'))
            .unwrap_or(rest.len());
        &rest[..end]
    }

    fn number(&mut self) -> Result<Number, Raised> {
        let rest = &self.text[self.position..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')))
            .unwrap_or(rest.len());
        let text = &rest[..end];
        let number = read_number(text).map_err(|reason| {
            let issue = match (foreign_word(text.trim_start_matches(['-', '+'])), reason) {
                (Some(instead), _) => SyntaxIssue::ForeignWord { word: text.to_owned(), instead },
                (None, reason) => SyntaxIssue::BadNumber { text: shorten(text), reason },
            };
            self.raise_here(text.len(), issue)
        })?;
        self.position += text.len();
        Ok(number)
    }

    /// Something other than a string where a key should be.
    fn not_a_key(&self) -> Raised {
        let key = self.word_here();
        if key.is_empty() || key.starts_with(|c: char| c.is_ascii_digit()) {
            return self.unexpected("a key in double quotes");
        }
        self.raise_here(key.len(), SyntaxIssue::UnquotedKey { key: shorten(key) })
    }

    fn unexpected(&self, expected: &'static str) -> Raised {
        let found = self.found();
        let issue = match found {
            Found::Character(quote @ ('\'' | '`' | '\u{2018}'..='\u{201F}')) => {
                SyntaxIssue::WrongQuote { quote }
            }
            found => SyntaxIssue::Unexpected { expected, found },
        };
        self.raise_here(1, issue)
    }

    fn found(&self) -> Found {
        self.text
            .get(self.position..)
            .and_then(|rest| rest.chars().next())
            .map_or(Found::End, Found::Character)
    }

    /// An error that begins at the parser's position.
    pub(super) fn raise_here(&self, length: usize, issue: SyntaxIssue) -> Raised {
        let end = (self.position + length).min(self.text.len());
        Raised::new(Span::new(self.position, end), issue)
    }

    /// The text ended; the span is its end.
    pub(super) fn truncated(&self, inside: Container, opened: usize) -> Raised {
        let opened = LineIndex::new(self.bytes()).place(opened);
        let end = self.text.len();
        Raised::new(Span::new(end, end), SyntaxIssue::Truncated { inside, opened })
    }
}

/// Reads a number as JSON defines it, or says which of its rules the text breaks.
fn read_number(text: &str) -> Result<Number, &'static str> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    if text.starts_with('+') {
        return Err("it cannot start with `+`");
    }
    if whole == 0 {
        return Err("it needs a digit in front");
    }
    if whole > 1 && unsigned.starts_with('0') {
        return Err("it cannot start with 0");
    }
    let mut is_whole = true;
    if let Some(fraction) = rest.strip_prefix('.') {
        is_whole = false;
        let length = digits(fraction);
        if length == 0 {
            return Err("it needs a digit after the point");
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        is_whole = false;
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = digits(exponent);
        if length == 0 {
            return Err("it needs a digit in the exponent");
        }
        rest = &exponent[length..];
    }
    if !rest.is_empty() {
        return Err("it has characters that are no digits");
    }
    // Negative zero has a sign that only a float can keep.
    if is_whole && text != "-0" {
        if let Ok(number) = text.parse::<u64>() {
            return Ok(Number::Unsigned(number));
        }
        if let Ok(number) = text.parse::<i64>() {
            return Ok(Number::Signed(number));
        }
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Number::Float(number)),
        _ => Err("it is too large"),
    }
}

/// What JSON has for words of Python, JavaScript and YAML.
fn foreign_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "True" | "TRUE" | "yes" | "Yes" => "true",
        "False" | "FALSE" | "no" | "No" => "false",
        "None" | "Null" | "NULL" | "nil" | "undefined" => "null",
        "NaN" | "nan" | "Infinity" | "inf" => "null, JSON has no such number",
        _ => return None,
    })
}

/// Cuts what a message quotes.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// How many members have a key that an earlier one has.
fn count_repeated(members: &[Member<'_>]) -> usize {
    /// Up to here comparing all pairs is faster than hashing.
    const FEW: usize = 12;
    if members.len() <= FEW {
        let is_repeated = |(index, member): &(usize, &Member<'_>)| {
            members[..*index].iter().any(|m| m.key == member.key)
        };
        return members.iter().enumerate().filter(is_repeated).count();
    }
    let mut keys = HashSet::with_capacity(members.len());
    members.iter().filter(|member| !keys.insert(member.key.as_ref())).count()
}
