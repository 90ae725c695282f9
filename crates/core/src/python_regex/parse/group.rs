//! Everything that begins with an opening parenthesis.

use super::super::error::PatternError;
use super::super::tree::{Direction, FlagChange, Flags, Node, width};
use super::flags::is_flag;
use super::source::{Token, syntax};
use super::{NO_CHANGE, Parser, Verbose};

impl Parser {
    /// A group; its parenthesis is at `start` and already taken. Nothing for comments and flags.
    pub(super) fn group(
        &mut self,
        start: usize,
        verbose: Verbose,
        nesting: usize,
        may_set: bool,
    ) -> Result<Option<Node>, PatternError> {
        if !self.source.take('?') {
            return self.capture(None, start, verbose, nesting).map(Some);
        }
        let c = match self.source.next() {
            None => return Err(syntax("unexpected end of pattern", self.source.at())),
            Some(Token::Escape(_)) => return Err(syntax("unknown extension ?\\", start + 1)),
            Some(Token::Char(c)) => c,
        };
        match c {
            'P' => self.python_group(start, verbose, nesting).map(Some),
            ':' => self.plain(NO_CHANGE, start, verbose, nesting).map(Some),
            '#' => self.comment(start).map(|()| None),
            '=' => self.look(Direction::Ahead, false, start, verbose, nesting).map(Some),
            '!' => self.look(Direction::Ahead, true, start, verbose, nesting).map(Some),
            '<' => match self.source.next() {
                Some(Token::Char('=')) => {
                    self.look(Direction::Behind, false, start, verbose, nesting).map(Some)
                }
                Some(Token::Char('!')) => {
                    self.look(Direction::Behind, true, start, verbose, nesting).map(Some)
                }
                None => Err(syntax("unexpected end of pattern", self.source.at())),
                Some(_) => Err(syntax(
                    "unknown extension ?< (Python names a group with (?P<name>...))",
                    start + 1,
                )),
            },
            '(' => self.conditional(start, verbose, nesting).map(Some),
            '>' => {
                let body = self.alternatives(verbose, nesting + 1)?;
                self.close(start)?;
                Ok(Some(Node::Atomic(body)))
            }
            c if is_flag(c) || c == '-' => match self.inline_flags(c)? {
                Some(change) => self.plain(change, start, verbose, nesting).map(Some),
                None if may_set => Ok(None),
                None => Err(syntax("global flags not at the start of the expression", start)),
            },
            c => Err(syntax(format!("unknown extension ?{c}"), start + 1)),
        }
    }

    fn close(&mut self, start: usize) -> Result<(), PatternError> {
        if self.source.take(')') {
            return Ok(());
        }
        Err(syntax("missing ), unterminated subpattern", start))
    }

    fn comment(&mut self, start: usize) -> Result<(), PatternError> {
        loop {
            match self.source.next() {
                None => return Err(syntax("missing ), unterminated comment", start)),
                Some(Token::Char(')')) => return Ok(()),
                Some(_) => {}
            }
        }
    }

    fn plain(
        &mut self,
        change: FlagChange,
        start: usize,
        verbose: Verbose,
        nesting: usize,
    ) -> Result<Node, PatternError> {
        let is_verbose = (verbose == Verbose::Yes || change.add.has(Flags::VERBOSE))
            && !change.remove.has(Flags::VERBOSE);
        let verbose = if is_verbose { Verbose::Yes } else { Verbose::No };
        let body = self.alternatives(verbose, nesting + 1)?;
        self.close(start)?;
        Ok(Node::Group { number: None, change, body })
    }

    fn capture(
        &mut self,
        name: Option<String>,
        start: usize,
        verbose: Verbose,
        nesting: usize,
    ) -> Result<Node, PatternError> {
        let number = self.names.len();
        self.names.push(name);
        self.widths.push(None);
        let body = self.alternatives(verbose, nesting + 1)?;
        self.close(start)?;
        self.widths[number] = Some(width(&body, &self.widths));
        Ok(Node::Group { number: Some(number), change: NO_CHANGE, body })
    }

    /// `(?P<name>...)` and `(?P=name)`.
    fn python_group(
        &mut self,
        start: usize,
        verbose: Verbose,
        nesting: usize,
    ) -> Result<Node, PatternError> {
        if self.source.take('<') {
            let at = self.source.at();
            let name = self.source.until('>', "group name")?;
            check_name(&name, at)?;
            if let Some(old) = self.number_of(&name) {
                let new = self.names.len();
                let message =
                    format!("redefinition of group name '{name}' as group {new}; was group {old}");
                return Err(syntax(message, at));
            }
            return self.capture(Some(name), start, verbose, nesting);
        }
        if self.source.take('=') {
            let at = self.source.at();
            let name = self.source.until(')', "group name")?;
            check_name(&name, at)?;
            let Some(group) = self.number_of(&name) else {
                return Err(syntax(format!("unknown group name '{name}'"), at));
            };
            return self.reference(group, at);
        }
        match self.source.next() {
            None => Err(syntax("unexpected end of pattern", self.source.at())),
            Some(Token::Char(c)) => Err(syntax(format!("unknown extension ?P{c}"), start + 1)),
            Some(Token::Escape(_)) => Err(syntax("unknown extension ?P\\", start + 1)),
        }
    }

    fn number_of(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.as_deref() == Some(name))
    }

    fn look(
        &mut self,
        direction: Direction,
        negated: bool,
        start: usize,
        verbose: Verbose,
        nesting: usize,
    ) -> Result<Node, PatternError> {
        let outer = self.look_behind_groups;
        if direction == Direction::Behind && outer.is_none() {
            self.look_behind_groups = Some(self.names.len());
        }
        let body = self.alternatives(verbose, nesting + 1)?;
        self.look_behind_groups = outer;
        self.close(start)?;
        Ok(Node::Look { direction, negated, body, at: start })
    }

    /// `(?(1)yes|no)` and `(?(name)yes|no)`.
    fn conditional(
        &mut self,
        start: usize,
        verbose: Verbose,
        nesting: usize,
    ) -> Result<Node, PatternError> {
        let at = self.source.at();
        let name = self.source.until(')', "group name")?;
        let group = if is_identifier(&name) {
            self.number_of(&name)
                .ok_or_else(|| syntax(format!("unknown group name '{name}'"), at))?
        } else {
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            let number = name.parse::<usize>().ok().filter(|_| is_number);
            let bad = || syntax(format!("bad character in group name '{name}'"), at);
            let number = number.ok_or_else(bad)?;
            if number == 0 {
                return Err(syntax("bad group number", at));
            }
            self.conditions.push((number, at));
            number
        };
        self.check_look_behind(group, at)?;
        if self.widths.get(group).is_some_and(Option::is_none) {
            return Err(PatternError::Unsupported {
                what: format!("a condition on the group `{name}` inside of that group"),
                at,
                hint: "ask for a group that is closed",
            });
        }
        if nesting >= super::MOST_NESTING {
            let reason = format!("more than {} levels", super::MOST_NESTING);
            return Err(PatternError::Engine { reason });
        }
        let yes = self.sequence(verbose, nesting + 1, false)?;
        let no = if self.source.take('|') {
            let no = self.sequence(verbose, nesting + 1, false)?;
            if self.source.peek() == Some(Token::Char('|')) {
                let message = "conditional backref with more than two branches";
                return Err(syntax(message, self.source.at()));
            }
            Some(no)
        } else {
            None
        };
        self.close(start)?;
        Ok(Node::Conditional { group, yes, no })
    }
}

fn check_name(name: &str, at: usize) -> Result<(), PatternError> {
    if is_identifier(name) {
        return Ok(());
    }
    Err(syntax(format!("bad character in group name '{name}'"), at))
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
        && chars.all(|c| c == '_' || c.is_alphanumeric())
}
