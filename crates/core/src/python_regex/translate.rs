//! From the tree to a pattern of the engine, in which nothing depends on the engine's own reading of flags and classes.
//!
//! Every literal that is not plain is written by its number, every category as a set, every flag where it acts. Groups
//! keep their numbers and lose their names.

use std::fmt::Write as _;

use super::error::PatternError;
use super::parse::Parsed;
use super::tree::{At, Category, ClassItem, Direction, Flags, Greed, Node, Sense, Width, width};

/// What Python's `\w` is: letters, numbers and the underscore, but no marks.
pub(super) const WORD: &str = r"\p{L}\p{N}_";
const ASCII_WORD: &str = "0-9A-Za-z_";
const SPACE: &str = r"\t-\r\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}";
const ASCII_SPACE: &str = r"\t-\r\x{20}";
const ECMA_SPACE: &str =
    r"\t-\r\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";
/// Letters that Python takes for each other when case is ignored, beyond what Unicode's simple folding says.
const DOTTED_AND_DOTLESS: &str = r"iI\x{130}\x{131}";

/// Which texts a pattern is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Texts in which the engine's words are Python's words: the engine's own `\b` can be used, which is much faster.
    Plain,
    All,
}

/// The pattern for the engine, and whether it depends on `texts`.
pub(super) struct Translated {
    pub(super) pattern: String,
    pub(super) has_boundary: bool,
}

pub(super) fn translate(parsed: &Parsed, texts: Texts) -> Result<Translated, PatternError> {
    let mut writer =
        Writer { out: String::new(), texts, widths: &parsed.widths, has_boundary: false };
    writer.sequence(&parsed.body, parsed.flags)?;
    Ok(Translated { pattern: writer.out, has_boundary: writer.has_boundary })
}

struct Writer<'p> {
    out: String,
    texts: Texts,
    widths: &'p [Option<Width>],
    has_boundary: bool,
}

impl Writer<'_> {
    fn sequence(&mut self, sequence: &[Node], flags: Flags) -> Result<(), PatternError> {
        sequence.iter().try_for_each(|node| self.node(node, flags))
    }

    /// A part between an opening that is given and a parenthesis.
    fn enclosed(&mut self, open: &str, body: &[Node], flags: Flags) -> Result<(), PatternError> {
        self.out.push_str(open);
        self.sequence(body, flags)?;
        self.out.push(')');
        Ok(())
    }

    fn node(&mut self, node: &Node, flags: Flags) -> Result<(), PatternError> {
        match node {
            Node::Literal(c) => self.literal(*c, flags),
            Node::Any if flags.has(Flags::DOT_ALL) => self.out.push_str("(?s:.)"),
            Node::Any if flags.has(Flags::ECMA) => self.out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
            Node::Any => self.out.push_str(r"[^\n]"),
            Node::Class { negated, items } => self.class(*negated, items, flags),
            Node::At(at) => self.at(*at, flags),
            Node::Repeat { min, max, greed, item } => {
                self.repeat(*min, *max, *greed, item, flags)?;
            }
            Node::Group { number: Some(_), body, .. } => self.enclosed("(", body, flags)?,
            Node::Group { number: None, change, body } => {
                self.enclosed("(?:", body, flags.changed(*change))?;
            }
            Node::Atomic(body) => self.enclosed("(?>", body, flags)?,
            Node::Look { direction, negated, body, at } => {
                let open = match (direction, negated) {
                    (Direction::Ahead, false) => "(?=",
                    (Direction::Ahead, true) => "(?!",
                    (Direction::Behind, false) => "(?<=",
                    (Direction::Behind, true) => "(?<!",
                };
                let width = width(body, self.widths);
                if *direction == Direction::Behind && width.min != width.max {
                    let message = "look-behind requires fixed-width pattern".to_owned();
                    return Err(PatternError::Syntax { message, at: *at });
                }
                self.enclosed(open, body, flags)?;
            }
            Node::Reference(group) => {
                let open = if flags.has(Flags::IGNORE_CASE) { "(?i:" } else { "(?:" };
                let _ = write!(self.out, r"{open}\{group})");
            }
            Node::Conditional { group, yes, no } => {
                let _ = write!(self.out, "(?({group})(?:");
                self.sequence(yes, flags)?;
                self.out.push_str(")|(?:");
                self.sequence(no.as_deref().unwrap_or_default(), flags)?;
                self.out.push_str("))");
            }
            Node::Branch(branches) => {
                self.out.push_str("(?:");
                for (number, branch) in branches.iter().enumerate() {
                    if number > 0 {
                        self.out.push('|');
                    }
                    self.sequence(branch, flags)?;
                }
                self.out.push(')');
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        greed: Greed,
        item: &[Node],
        flags: Flags,
    ) -> Result<(), PatternError> {
        // What has no width is the same however often it is repeated, and the engine repeats it only in a group.
        if width(item, self.widths).max == 0 {
            let open = match (min, max, greed) {
                (_, Some(0), _) => return self.never(item, flags),
                (1.., _, _) => return self.enclosed("(?:", item, flags),
                (0, _, Greed::Lazy) => "(?:|(?:",
                (0, _, Greed::Greedy | Greed::Possessive) => "(?:(?:",
            };
            self.enclosed(open, item, flags)?;
            self.out.push_str(if greed == Greed::Lazy { ")" } else { "|)" });
            return Ok(());
        }
        if max == Some(0) {
            return self.never(item, flags);
        }
        let is_atom = matches!(item, [Node::Class { .. } | Node::Any | Node::Group { .. }]);
        let is_atom = is_atom || matches!(item, [Node::Literal(_)]);
        if is_atom {
            self.sequence(item, flags)?;
        } else {
            self.enclosed("(?:", item, flags)?;
        }
        match (min, max) {
            (0, None) => self.out.push('*'),
            (1, None) => self.out.push('+'),
            (0, Some(1)) => self.out.push('?'),
            (min, None) => self.counts(format_args!("{{{min},}}")),
            (min, Some(max)) if min == max => self.counts(format_args!("{{{min}}}")),
            (min, Some(max)) => self.counts(format_args!("{{{min},{max}}}")),
        }
        self.out.push_str(match greed {
            Greed::Greedy => "",
            Greed::Lazy => "?",
            Greed::Possessive => "+",
        });
        Ok(())
    }

    fn counts(&mut self, counts: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(counts);
    }

    /// A part that is never tried, but whose groups have numbers: `x{0}`.
    fn never(&mut self, item: &[Node], flags: Flags) -> Result<(), PatternError> {
        self.enclosed("(?:|(?!)(?:", item, flags)?;
        self.out.push(')');
        Ok(())
    }

    fn literal(&mut self, c: char, flags: Flags) {
        if !flags.has(Flags::IGNORE_CASE) || !has_case(c) {
            return self.character(c);
        }
        if flags.has(Flags::ASCII) {
            self.out.push('[');
            self.character(c);
            if c.is_ascii_alphabetic() {
                self.out.push(swap_case(c));
            }
            self.out.push(']');
        } else if is_odd(c) {
            let _ = write!(self.out, "[{DOTTED_AND_DOTLESS}]");
        } else {
            self.out.push_str("(?i:");
            self.character(c);
            self.out.push(')');
        }
    }

    fn character(&mut self, c: char) {
        if c.is_ascii_alphanumeric() {
            self.out.push(c);
        } else {
            let _ = write!(self.out, r"\x{{{:x}}}", u32::from(c));
        }
    }

    fn class(&mut self, negated: bool, items: &[ClassItem], flags: Flags) {
        let folds = flags.has(Flags::IGNORE_CASE)
            && items.iter().any(|item| matches!(item, ClassItem::Range(..)));
        let is_ascii = flags.has(Flags::ASCII);
        if folds && !is_ascii {
            self.out.push_str("(?i:");
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        for item in items {
            match *item {
                ClassItem::Range(low, high) => {
                    self.range(low, high);
                    if folds && is_ascii {
                        self.swapped('a', 'z', low, high);
                        self.swapped('A', 'Z', low, high);
                    } else if folds
                        && ['i', 'I', '\u{130}', '\u{131}'].iter().any(|&c| low <= c && c <= high)
                    {
                        self.out.push_str(DOTTED_AND_DOTLESS);
                    }
                }
                ClassItem::Category(category, sense) => self.category(category, sense, flags),
            }
        }
        self.out.push(']');
        if folds && !is_ascii {
            self.out.push(')');
        }
    }

    fn range(&mut self, low: char, high: char) {
        self.character(low);
        if low != high {
            self.out.push('-');
            self.character(high);
        }
    }

    /// The letters of a range in the other case.
    fn swapped(&mut self, first: char, last: char, low: char, high: char) {
        let (low, high) = (low.max(first), high.min(last));
        if low <= high {
            self.range(swap_case(low), swap_case(high));
        }
    }

    /// A category as part of a class.
    fn category(&mut self, category: Category, sense: Sense, flags: Flags) {
        let set = match (category, flags.has(Flags::ASCII)) {
            (Category::Space, _) if flags.has(Flags::ECMA) => ECMA_SPACE,
            (Category::Digit, false) => r"\p{Nd}",
            (Category::Digit, true) => "0-9",
            (Category::Word, false) => WORD,
            (Category::Word, true) => ASCII_WORD,
            (Category::Space, false) => SPACE,
            (Category::Space, true) => ASCII_SPACE,
        };
        let _ = match sense {
            Sense::Is => write!(self.out, "{set}"),
            Sense::IsNot => write!(self.out, "[^{set}]"),
        };
    }

    fn at(&mut self, at: At, flags: Flags) {
        let is_multi_line = flags.has(Flags::MULTI_LINE);
        match at {
            At::Beginning if is_multi_line => self.out.push_str("(?m:^)"),
            At::Beginning | At::TextStart => self.out.push_str(r"\A"),
            At::End if is_multi_line => self.out.push_str("(?m:$)"),
            At::End if flags.has(Flags::ECMA) => self.out.push_str(r"\z"),
            At::End => self.out.push_str(r"(?=\n?\z)"),
            At::TextEnd => self.out.push_str(r"\z"),
            At::Boundary | At::NoBoundary => self.boundary(at, flags),
        }
    }

    fn boundary(&mut self, at: At, flags: Flags) {
        let is_ascii = flags.has(Flags::ASCII);
        if !is_ascii {
            self.has_boundary = true;
            if self.texts == Texts::Plain && at == At::Boundary {
                return self.out.push_str(r"\b");
            }
        }
        let word = if is_ascii { ASCII_WORD } else { WORD };
        let _ = if at == At::Boundary {
            write!(self.out, "(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))")
        } else {
            // In an empty text there is no `\B` for Python; so there must be a character on one side.
            write!(
                self.out,
                "(?:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}])(?:(?<=(?s:.))|(?=(?s:.))))"
            )
        };
    }
}

fn has_case(c: char) -> bool {
    c.is_alphabetic() || !c.is_ascii()
}

/// The four letters i of [`DOTTED_AND_DOTLESS`].
fn is_odd(c: char) -> bool {
    matches!(c, 'i' | 'I' | '\u{130}' | '\u{131}')
}

fn swap_case(c: char) -> char {
    if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
}
