//! Characters that a person does not see and a model reads.

/// What an invisible character can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It spells text that only a program sees: tag characters, runs of variation selectors.
    Tag,
    /// It shows text in another order than the one in which it is read.
    Bidirectional,
    /// It has no width: it splits words, or hides between them.
    ZeroWidth,
}

/// An invisible character that nothing around it calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invisible {
    /// Its first byte.
    pub(crate) offset: usize,
    pub(crate) character: char,
    /// What it can be used for.
    pub(crate) kind: Kind,
}

/// The invisible characters of a text that no script, emoji or flag around them calls for.
pub(crate) fn invisible(text: &str) -> impl Iterator<Item = Invisible> {
    // All of them start with one of three bytes in UTF-8, and most texts are ASCII anyway.
    let bytes = if text.is_ascii() { &[] } else { text.as_bytes() };
    let mut line = Line::default();
    memchr::memchr3_iter(0xe2, 0xef, 0xf3, bytes).filter_map(move |offset| {
        // Dashes, quotes, arrows and the lines of drawn trees start with the same byte: their next one tells.
        if !matches!(bytes.get(offset + 1)?, 0x80 | 0x81 | 0xa0 | 0xb8 | 0xbb) {
            return None;
        }
        let character = text.get(offset..)?.chars().next()?;
        let kind = kind(character)?;
        let before = || text[..offset].chars().next_back();
        let after = || text[offset + character.len_utf8()..].chars().next();
        let is_called_for = match character {
            '\u{200c}' => before().is_some_and(joins) && after().is_some_and(joins),
            '\u{200d}' => {
                before().is_some_and(|c| joins(c) || is_pictograph(c))
                    && after().is_some_and(|c| joins(c) || is_pictograph(c))
            }
            '\u{fe00}'..='\u{fe0f}' => before().is_none_or(|c| !is_selector(c)),
            '\u{e0100}'..='\u{e01ef}' => before().is_some_and(is_ideograph),
            '\u{e0020}'..='\u{e007f}' => is_in_flag(&text[..offset]),
            '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => {
                line.is_right_to_left(text, offset)
            }
            _ => false,
        };
        (!is_called_for).then_some(Invisible { offset, character, kind })
    })
}

fn kind(character: char) -> Option<Kind> {
    match character {
        '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' | '\u{fe00}'..='\u{fe0f}' => {
            Some(Kind::Tag)
        }
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(Kind::Bidirectional),
        '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => Some(Kind::ZeroWidth),
        _ => None,
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Letters of scripts that need joiners and non-joiners: Arabic, Syriac, the scripts of India and South-East
/// Asia, Mongolian.
fn joins(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{08ff}' | '\u{0900}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Emoji and the signs that they are joined from.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{3030}' | '\u{303d}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The flags of England, Scotland and Wales are a black flag and up to six tag characters.
fn is_in_flag(before: &str) -> bool {
    let mut back = before.chars().rev().take(7);
    back.find(|c| !matches!(c, '\u{e0020}'..='\u{e007e}')) == Some('\u{1f3f4}')
}

/// The line looked at last, so that an endless line is looked at once.
#[derive(Default)]
struct Line {
    end: usize,
    is_right_to_left: bool,
}

impl Line {
    /// Whether the line has letters that are written from right to left: then marks of direction are ordinary.
    fn is_right_to_left(&mut self, text: &str, offset: usize) -> bool {
        if offset >= self.end {
            let start = super::line_start(text, offset);
            self.end = super::line_end(text, offset);
            self.is_right_to_left = text[start..self.end].chars().any(is_right_to_left);
        }
        self.is_right_to_left
    }
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{0590}'..='\u{08ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        invisible(text).map(|found| found.kind).collect()
    }

    #[test]
    fn hidden_text_and_reordering_are_found() {
        assert_eq!(kinds("a\u{e0041}\u{e0042}"), [Kind::Tag, Kind::Tag]);
        assert_eq!(kinds("😀\u{fe0f}\u{fe01}"), [Kind::Tag]);
        assert_eq!(kinds("a\u{202e}b\u{202c}"), [Kind::Bidirectional, Kind::Bidirectional]);
        assert_eq!(kinds("a\u{2066}b"), [Kind::Bidirectional]);
        assert_eq!(kinds("a\u{200b}b\u{feff}\u{2060}"), [Kind::ZeroWidth; 3]);
        assert_eq!(kinds("a\u{200d}b"), [Kind::ZeroWidth]);
    }

    #[test]
    fn characters_that_the_text_around_calls_for_are_not() {
        for text in [
            "👩\u{200d}💻 ✅ — “x” → ❤\u{fe0f}\u{200d}🔥",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "葛\u{e0100}城",
            "שלום \u{200f}abc\u{200e}",
            "plain",
        ] {
            assert_eq!(kinds(text), [], "{text:?}");
        }
    }

    #[test]
    fn an_override_is_never_called_for() {
        assert_eq!(kinds("שלום\u{202e}abc"), [Kind::Bidirectional]);
    }
}
