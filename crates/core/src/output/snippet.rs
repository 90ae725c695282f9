//! A message with the line that it is about, drawn for a terminal.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Level as Shown, Origin, Renderer as Drawer, Snippet};

use super::Style;
use crate::finding::Level;
use crate::text::{Position, Span, printable};

/// A line longer than this is not shown: a minified file would fill the screen.
const MAX_LINE: usize = 4096;

pub struct Drawing<'a> {
    pub level: Level,
    pub code: &'a str,
    pub message: &'a str,
    /// The file as the user names it.
    pub path: &'a str,
    /// The file's text and the place in it.
    pub place: Option<(&'a str, Span)>,
    pub hint: Option<&'a str>,
}

/// Draws a message; ends with an empty line.
pub fn draw(drawing: &Drawing<'_>, style: Style) -> String {
    let drawer = match style {
        Style::Plain => Drawer::plain(),
        Style::Coloured => Drawer::styled(),
    };
    let level = match drawing.level {
        Level::Error => Shown::ERROR,
        Level::Warning => Shown::WARNING,
    };
    let path = printable(drawing.path);
    let title = level.primary_title(drawing.message).id(drawing.code);
    let mut group = match drawing.place {
        None => title.element(Origin::path(path)),
        Some((source, span)) => {
            let line = line_around(source, span.start);
            let Position { line: number, column } = Position::of(source, span.start);
            let is_shown = line.end - line.start <= MAX_LINE
                && line.start <= span.start
                && source.is_char_boundary(span.start)
                && source.is_char_boundary(span.end.clamp(span.start, line.end.max(span.start)));
            if is_shown {
                let end = span.end.clamp(span.start, line.end.max(span.start));
                let marked = span.start - line.start..end - line.start;
                let text = without_c1(line.slice(source));
                let snippet = Snippet::source(text).line_start(number).path(path);
                title.element(snippet.annotation(AnnotationKind::Primary.span(marked)))
            } else {
                title.element(Origin::path(path).line(number).char_column(column))
            }
        }
    };
    if let Some(hint) = drawing.hint {
        group = group.element(Shown::HELP.message(hint));
    }
    let mut drawn = drawer.render(&[group]);
    drawn.push_str("\n\n");
    drawn
}

/// The drawing library replaces the control characters of ASCII; the others can move a cursor too. Each gives
/// way to a sign of the same length in bytes, so that places stay right.
fn without_c1(line: &str) -> Cow<'_, str> {
    let is_c1 = |c: char| ('\u{80}'..='\u{9f}').contains(&c);
    if line.contains(is_c1) {
        Cow::Owned(line.replace(is_c1, "\u{b7}"))
    } else {
        Cow::Borrowed(line)
    }
}

/// The line that byte `offset` is in, without its line break.
fn line_around(text: &str, offset: usize) -> Span {
    let offset = offset.min(text.len());
    let bytes = text.as_bytes();
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..offset]).map_or(0, |at| at + 1);
    let end = memchr::memchr2(b'\n', b'\r', &bytes[offset..]).map_or(text.len(), |at| offset + at);
    Span::new(start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_around_a_place_has_no_line_break() {
        let text = "ab\r\ncd\nef";
        assert_eq!(line_around(text, 0).slice(text), "ab");
        assert_eq!(line_around(text, 5).slice(text), "cd");
        assert_eq!(line_around(text, 9).slice(text), "ef");
        assert_eq!(line_around(text, 99).slice(text), "ef");
    }

    #[test]
    fn a_very_long_line_is_named_but_not_shown() {
        let source = format!("a\n{}", "x".repeat(10_000));
        let place = Some((source.as_str(), Span::new(5000, 5001)));
        let drawing =
            Drawing { level: Level::Error, code: "C", message: "m", path: "p", place, hint: None };
        assert_eq!(draw(&drawing, Style::Plain), "error[C]: m\n--> p:2:4999\n\n");
    }
}
