//! Character classes: `[a-z\d]`.

use super::super::error::PatternError;
use super::super::tree::{ClassItem, Node};
use super::Parser;
use super::escape::class_escape;
use super::source::{Token, syntax};

impl Parser {
    /// A class; its opening bracket is at `start` and already taken.
    pub(super) fn class(&mut self, start: usize) -> Result<Node, PatternError> {
        let negated = self.source.take('^');
        let mut items = Vec::new();
        loop {
            let at = self.source.at();
            let item = match self.source.next() {
                None => return Err(syntax("unterminated character set", start)),
                Some(Token::Char(']')) if !items.is_empty() => break,
                Some(token) => self.class_item(token, at)?,
            };
            if !self.source.take('-') {
                items.push(item);
                continue;
            }
            let end_at = self.source.at();
            let end = match self.source.next() {
                None => return Err(syntax("unterminated character set", start)),
                Some(Token::Char(']')) => {
                    items.extend([item, ClassItem::Range('-', '-')]);
                    break;
                }
                Some(token) => self.class_item(token, end_at)?,
            };
            items.push(range(item, end).ok_or_else(|| syntax("bad character range", at))?);
        }
        Ok(Node::Class { negated, items })
    }

    fn class_item(&mut self, token: Token, at: usize) -> Result<ClassItem, PatternError> {
        match token {
            Token::Char(c) => Ok(ClassItem::Range(c, c)),
            Token::Escape(c) => class_escape(&mut self.source, c, at),
        }
    }
}

fn range(low: ClassItem, high: ClassItem) -> Option<ClassItem> {
    match (low, high) {
        (ClassItem::Range(low, _), ClassItem::Range(high, _)) if low <= high => {
            Some(ClassItem::Range(low, high))
        }
        _ => None,
    }
}
