//! Flags in a pattern: `(?i)` for all of it, `(?i-s:...)` for a group.

use super::super::error::PatternError;
use super::super::tree::{FlagChange, Flags};
use super::Parser;
use super::source::{Token, syntax};

impl Parser {
    /// Reads flags from their first character on. Nothing when they are for the whole pattern.
    pub(super) fn inline_flags(&mut self, first: char) -> Result<Option<FlagChange>, PatternError> {
        let mut change = FlagChange::default();
        let mut c = first;
        if c != '-' {
            loop {
                change.add = change.add.with(self.flag(c)?);
                if change.add.types_clash() {
                    let message = "bad inline flags: flags 'a', 'u' and 'L' are incompatible";
                    return Err(syntax(message, self.source.at()));
                }
                c = self.flag_char("missing -, : or )")?;
                if matches!(c, ')' | '-' | ':') {
                    break;
                }
                self.check_flag(c, "missing -, : or )")?;
            }
        }
        if c == ')' {
            self.flags = self.flags.with(change.add);
            return Ok(None);
        }
        if c == '-' {
            c = self.flag_char("missing flag")?;
            self.check_flag(c, "missing flag")?;
            loop {
                if matches!(c, 'a' | 'u' | 'L') {
                    let message = "bad inline flags: cannot turn off flags 'a', 'u' and 'L'";
                    return Err(syntax(message, self.source.at()));
                }
                change.remove = change.remove.with(self.flag(c)?);
                c = self.flag_char("missing :")?;
                if c == ':' {
                    break;
                }
                self.check_flag(c, "missing :")?;
            }
        }
        if change.add.0 & change.remove.0 != 0 {
            let message = "bad inline flags: flag turned on and off";
            return Err(syntax(message, self.source.at().saturating_sub(1)));
        }
        Ok(Some(change))
    }

    fn flag_char(&mut self, missing: &str) -> Result<char, PatternError> {
        match self.source.next() {
            Some(Token::Char(c)) => Ok(c),
            _ => Err(syntax(missing, self.source.at())),
        }
    }

    fn check_flag(&self, c: char, otherwise: &str) -> Result<(), PatternError> {
        if is_flag(c) {
            return Ok(());
        }
        let message = if c.is_alphabetic() { "unknown flag" } else { otherwise };
        Err(syntax(message, self.source.at().saturating_sub(1)))
    }

    fn flag(&self, c: char) -> Result<Flags, PatternError> {
        Ok(match c {
            'i' => Flags::IGNORE_CASE,
            'm' => Flags::MULTI_LINE,
            's' => Flags::DOT_ALL,
            'x' => Flags::VERBOSE,
            'a' => Flags::ASCII,
            'u' => Flags::UNICODE,
            _ => {
                let message = "bad inline flags: cannot use 'L' flag with a str pattern";
                return Err(syntax(message, self.source.at()));
            }
        })
    }
}

/// Whether a character is a flag of Python's `re`.
pub(super) fn is_flag(c: char) -> bool {
    matches!(c, 'i' | 'L' | 'm' | 's' | 'x' | 'a' | 'u')
}
