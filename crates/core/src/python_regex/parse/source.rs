//! The characters of a pattern, a backslash together with what follows it.

use super::super::error::PatternError;

/// What the reader sees at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Char(char),
    /// A backslash and this character.
    Escape(char),
}

/// A pattern that is being read.
#[derive(Debug)]
pub(super) struct Source {
    chars: Vec<char>,
    at: usize,
}

impl Source {
    /// A backslash at the very end is refused here, so that every backslash has something after it.
    pub(super) fn new(pattern: &str) -> Result<Self, PatternError> {
        let source = Self { chars: pattern.chars().collect(), at: 0 };
        let mut at = 0;
        while let Some(&c) = source.chars.get(at) {
            if c == '\\' && at + 1 == source.chars.len() {
                return Err(syntax("bad escape (end of pattern)", at));
            }
            at += if c == '\\' { 2 } else { 1 };
        }
        Ok(source)
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn seek(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn peek(&self) -> Option<Token> {
        match self.chars.get(self.at)? {
            '\\' => self.chars.get(self.at + 1).map(|&c| Token::Escape(c)),
            &c => Some(Token::Char(c)),
        }
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        let token = self.peek()?;
        self.at += match token {
            Token::Char(_) => 1,
            Token::Escape(_) => 2,
        };
        Some(token)
    }

    /// Takes the character if it is next.
    pub(super) fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(Token::Char(c));
        if is_next {
            self.at += 1;
        }
        is_next
    }

    /// At most so many characters of a kind.
    pub(super) fn take_while(&mut self, most: usize, is_wanted: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while taken.len() < most
            && let Some(Token::Char(c)) = self.peek()
            && is_wanted(c)
        {
            taken.push(c);
            self.at += 1;
        }
        taken
    }

    /// Everything up to the terminator, which is taken too.
    pub(super) fn until(&mut self, terminator: char, name: &str) -> Result<String, PatternError> {
        let mut taken = String::new();
        let start = self.at;
        loop {
            match self.next() {
                None if taken.is_empty() => return Err(syntax(format!("missing {name}"), self.at)),
                None => {
                    let message = format!("missing {terminator}, unterminated name");
                    return Err(syntax(message, start));
                }
                Some(Token::Char(c)) if c == terminator => break,
                Some(Token::Char(c)) => taken.push(c),
                Some(Token::Escape(c)) => taken.extend(['\\', c]),
            }
        }
        if taken.is_empty() {
            return Err(syntax(format!("missing {name}"), start));
        }
        Ok(taken)
    }
}

/// An error of the pattern itself.
pub(super) fn syntax(message: impl Into<String>, at: usize) -> PatternError {
    PatternError::Syntax { message: message.into(), at }
}
