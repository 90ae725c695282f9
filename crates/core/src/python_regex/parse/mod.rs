//! Reads a pattern as Python 3.11 does: what it accepts is accepted, what it refuses is refused.
//!
//! The order of the cases follows Python's own parser, because that order decides what odd patterns mean.

mod class;
mod escape;
mod flags;
mod group;
mod source;

use super::error::PatternError;
use super::tree::{At, FlagChange, Flags, Greed, Node, Sequence, Width};
use source::{Source, Token, syntax};

/// Deeper nesting is refused: the tree is walked recursively.
const MOST_NESTING: usize = 100;

/// A pattern that was read.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) body: Sequence,
    pub(super) flags: Flags,
    /// The name of each group; the first is the whole match.
    pub(super) names: Vec<Option<String>>,
    /// The width of each group.
    pub(super) widths: Vec<Option<Width>>,
}

pub(super) fn parse(pattern: &str) -> Result<Parsed, PatternError> {
    let mut parser = Parser {
        source: Source::new(pattern)?,
        flags: Flags::NONE,
        names: vec![None],
        widths: vec![None],
        look_behind_groups: None,
        conditions: Vec::new(),
    };
    let body = parser.alternatives(Verbose::No, 0)?;
    if parser.source.peek().is_some() {
        return Err(syntax("unbalanced parenthesis", parser.source.at()));
    }
    if parser.flags.types_clash() {
        return Err(syntax("ASCII and UNICODE flags are incompatible", 0));
    }
    let missing = parser.conditions.iter().find(|(group, _)| *group >= parser.names.len());
    if let Some(&(group, at)) = missing {
        return Err(syntax(format!("invalid group reference {group}"), at));
    }
    let Parser { flags, names, widths, .. } = parser;
    Ok(Parsed { body, flags, names, widths })
}

/// Whether white space and comments are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verbose {
    Yes,
    No,
}

struct Parser {
    source: Source,
    /// The flags of the whole pattern.
    flags: Flags,
    names: Vec<Option<String>>,
    /// `None` while a group is open.
    widths: Vec<Option<Width>>,
    /// How many groups there were when the outermost look-behind began.
    look_behind_groups: Option<usize>,
    /// Groups that conditions ask for by number, and where.
    conditions: Vec<(usize, usize)>,
}

impl Parser {
    fn verbose(&self) -> Verbose {
        if self.flags.has(Flags::VERBOSE) { Verbose::Yes } else { Verbose::No }
    }

    /// `a|b|c`, up to a closing parenthesis or the end.
    fn alternatives(
        &mut self,
        mut verbose: Verbose,
        nesting: usize,
    ) -> Result<Sequence, PatternError> {
        if nesting > MOST_NESTING {
            let reason = format!("more than {MOST_NESTING} levels");
            return Err(PatternError::Engine { reason });
        }
        let mut branches = Vec::new();
        loop {
            let is_first = nesting == 0 && branches.is_empty();
            branches.push(self.sequence(verbose, nesting, is_first)?);
            if !self.source.take('|') {
                break;
            }
            if nesting == 0 {
                verbose = self.verbose();
            }
        }
        if branches.len() == 1 {
            return Ok(branches.pop().unwrap_or_default());
        }
        Ok(vec![Node::Branch(branches)])
    }

    /// Parts up to a bar, a closing parenthesis or the end. Only the first may set flags for the whole pattern.
    fn sequence(
        &mut self,
        mut verbose: Verbose,
        nesting: usize,
        is_first: bool,
    ) -> Result<Sequence, PatternError> {
        let mut sequence = Sequence::new();
        loop {
            let start = self.source.at();
            match self.source.peek() {
                None | Some(Token::Char('|' | ')')) => return Ok(sequence),
                Some(_) => {}
            }
            let Some(token) = self.source.next() else { return Ok(sequence) };
            let c = match token {
                Token::Escape(c) => {
                    let node = self.escape(c, start)?;
                    sequence.push(node);
                    continue;
                }
                Token::Char(c) => c,
            };
            if verbose == Verbose::Yes && self.skips(c) {
                continue;
            }
            match c {
                '[' => sequence.push(self.class(start)?),
                '*' | '+' | '?' | '{' => self.repeat(c, start, &mut sequence)?,
                '.' => sequence.push(Node::Any),
                '(' => {
                    let may_set = is_first && sequence.is_empty();
                    match self.group(start, verbose, nesting, may_set)? {
                        Some(node) => sequence.push(node),
                        None if may_set => verbose = self.verbose(),
                        None => {}
                    }
                }
                '^' => sequence.push(Node::At(At::Beginning)),
                '$' => sequence.push(Node::At(At::End)),
                c => sequence.push(Node::Literal(c)),
            }
        }
    }

    /// Whether a character means nothing in verbose mode; a comment is taken to its end.
    fn skips(&mut self, c: char) -> bool {
        if c == '#' {
            while let Some(token) = self.source.next() {
                if token == Token::Char('\n') {
                    break;
                }
            }
        }
        matches!(c, '#' | ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
    }

    /// A quantifier: puts the last part of the sequence into a repetition.
    fn repeat(
        &mut self,
        c: char,
        start: usize,
        sequence: &mut Sequence,
    ) -> Result<(), PatternError> {
        let Some((min, max)) = self.counts(c, start)? else {
            sequence.push(Node::Literal('{'));
            return Ok(());
        };
        let item = match sequence.pop() {
            None | Some(Node::At(_)) => return Err(syntax("nothing to repeat", start)),
            Some(Node::Repeat { .. }) => return Err(syntax("multiple repeat", start)),
            Some(Node::Group { number: None, change, body }) if change.is_none() => body,
            Some(node) => vec![node],
        };
        let greed = if self.source.take('?') {
            Greed::Lazy
        } else if self.source.take('+') {
            Greed::Possessive
        } else {
            Greed::Greedy
        };
        sequence.push(Node::Repeat { min, max, greed, item });
        Ok(())
    }

    /// How often; nothing when a brace is only a brace.
    fn counts(
        &mut self,
        c: char,
        start: usize,
    ) -> Result<Option<(u32, Option<u32>)>, PatternError> {
        match c {
            '?' => return Ok(Some((0, Some(1)))),
            '*' => return Ok(Some((0, None))),
            '+' => return Ok(Some((1, None))),
            _ => {}
        }
        let here = self.source.at();
        if self.source.peek() == Some(Token::Char('}')) {
            return Ok(None);
        }
        let is_digit = |c: char| c.is_ascii_digit();
        let low = self.source.take_while(usize::MAX, is_digit);
        let high = if self.source.take(',') {
            self.source.take_while(usize::MAX, is_digit)
        } else {
            low.clone()
        };
        if !self.source.take('}') {
            self.source.seek(here);
            return Ok(None);
        }
        let number = |digits: &str| match digits.parse::<u32>() {
            Ok(number) if number < u32::MAX => Ok(number),
            _ => Err(syntax("the repetition number is too large", start)),
        };
        let min = if low.is_empty() { 0 } else { number(&low)? };
        let max = if high.is_empty() { None } else { Some(number(&high)?) };
        if max.is_some_and(|max| max < min) {
            return Err(syntax("min repeat greater than max repeat", start));
        }
        Ok(Some((min, max)))
    }

    /// A reference to a group that must be closed and outside of the look-behind that refers to it.
    fn reference(&mut self, group: usize, start: usize) -> Result<Node, PatternError> {
        if group >= self.names.len() {
            return Err(syntax(format!("invalid group reference {group}"), start + 1));
        }
        if self.widths[group].is_none() {
            return Err(syntax("cannot refer to an open group", start));
        }
        self.check_look_behind(group, start)?;
        Ok(Node::Reference(group))
    }

    fn check_look_behind(&self, group: usize, at: usize) -> Result<(), PatternError> {
        let Some(groups) = self.look_behind_groups else { return Ok(()) };
        if self.widths.get(group).copied().flatten().is_none() {
            return Err(syntax("cannot refer to an open group", at));
        }
        if group >= groups {
            let message = "cannot refer to group defined in the same lookbehind subpattern";
            return Err(syntax(message, at));
        }
        Ok(())
    }
}

/// A group that changes nothing.
const NO_CHANGE: FlagChange = FlagChange { add: Flags::NONE, remove: Flags::NONE };
