//! Text for people: each finding with the line it is about, and a summary.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level as Shown, Origin, Renderer as Drawer, Snippet};

use super::{Detail, Renderer, Scope, Totals};
use crate::finding::{Finding, Level};
use crate::text::{Position, Span, printable};
use crate::validate::Checked;

/// Whether to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain characters.
    Plain,
    /// Terminal colours.
    Coloured,
}

/// The text format.
#[derive(Debug)]
pub struct Text {
    style: Style,
}

impl Text {
    /// With or without colour.
    pub fn new(style: Style) -> Self {
        Self { style }
    }

    /// The finding with the line that it is about.
    fn full(&self, checked: &Checked, finding: &Finding) -> String {
        let drawer = match self.style {
            Style::Plain => Drawer::plain(),
            Style::Coloured => Drawer::styled(),
        };
        let level = match finding.level {
            Level::Error => Shown::ERROR,
            Level::Warning => Shown::WARNING,
        };
        let title = level.primary_title(&*finding.message).id(finding.rule.code);
        let path = shown_path(checked, finding);
        let source = finding.place.source.as_deref().unwrap_or(checked.text());
        let mut group = match finding.place.span {
            Some(span) => {
                let line = line_around(source, span.start);
                let marked = Span::new(span.start, span.end.min(line.end).max(span.start));
                let position = Position::of(source, span.start);
                let range = marked.start - line.start..marked.end - line.start;
                let snippet = Snippet::source(line.slice(source))
                    .line_start(position.line)
                    .path(path)
                    .annotation(AnnotationKind::Primary.span(range));
                title.element(snippet)
            }
            None => title.element(Origin::path(path)),
        };
        if let Some(hint) = &finding.hint {
            group = group.element(Shown::HELP.message(&**hint));
        }
        let mut drawn = drawer.render(&[group]);
        drawn.push_str("\n\n");
        drawn
    }

    /// The finding in one line.
    fn brief(&self, checked: &Checked, finding: &Finding) -> String {
        let path = shown_path(checked, finding);
        let place = match finding.place.position(checked.text()) {
            Some(Position { line, column }) => format!("{path}:{line}:{column}"),
            None => path,
        };
        let level = self
            .level(finding.level, &format!("{}[{}]", finding.level.as_str(), finding.rule.code));
        format!("{place}: {level}: {}\n", finding.message)
    }

    fn level(&self, level: Level, text: &str) -> String {
        let colour = match level {
            Level::Error => "1;31",
            Level::Warning => "1;33",
        };
        self.styled(colour, text)
    }

    fn styled(&self, code: &str, text: &str) -> String {
        match self.style {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }

    /// How often each rule reported, most frequent first; only of use when there is a lot.
    fn table(&self, totals: &Totals) -> String {
        let mut rows: Vec<_> = totals.by_code.iter().collect();
        rows.sort_by_key(|(code, (level, count))| (std::cmp::Reverse((*level, *count)), **code));
        let row = |(code, (level, count)): &(&&str, &(Level, usize))| {
            let word = self.level(*level, &format!("{:<7}", level.as_str()));
            format!("{:>9}  {word}  {code}\n", grouped(*count))
        };
        rows.iter().map(row).collect()
    }
}

impl Renderer for Text {
    fn open(&self, _: Scope) -> String {
        String::new()
    }

    fn skill(&self, checked: &Checked, _: Scope, detail: Detail) -> String {
        let one = |finding| match detail {
            Detail::Full => self.full(checked, finding),
            Detail::Line => self.brief(checked, finding),
        };
        checked.findings.iter().map(one).collect()
    }

    fn separator(&self) -> &'static str {
        ""
    }

    fn close(&self, totals: &Totals, scope: Scope) -> String {
        let mut out = String::new();
        let findings = totals.errors + totals.warnings;
        if scope == Scope::ManySkills && totals.by_code.len() > 1 {
            out.push_str(&self.table(totals));
            out.push('\n');
        }
        let verdict = match (totals.errors, totals.warnings) {
            (0, 0) => self.styled("1;32", "no findings"),
            (0, warnings) => plural(warnings, "warning"),
            (errors, 0) => plural(errors, "error"),
            (errors, warnings) => {
                format!("{}, {}", plural(errors, "error"), plural(warnings, "warning"))
            }
        };
        let skills = match scope {
            Scope::OneSkill if totals.invalid > 0 => "the skill is not valid".to_owned(),
            Scope::OneSkill => "the skill is valid".to_owned(),
            Scope::ManySkills if totals.invalid == 0 => {
                format!("{}, all valid", plural(totals.skills, "skill"))
            }
            Scope::ManySkills => {
                format!("{}, {} not valid", plural(totals.skills, "skill"), grouped(totals.invalid))
            }
        };
        let _ = writeln!(out, "{skills}: {verdict}");
        if totals.fixable > 0 {
            let _ =
                writeln!(out, "{} can be fixed with `--fix`", plural(totals.fixable, "finding"));
        }
        if findings > 0 {
            out.push_str("`skillgauge explain CODE` tells more about a finding\n");
        }
        out
    }

    fn is_brief_when_long(&self) -> bool {
        true
    }
}

/// The file of a finding as the user would name it.
fn shown_path(checked: &Checked, finding: &Finding) -> String {
    let folder = &checked.skill.path;
    let path = finding.place.file.as_deref().map_or(Cow::Borrowed(folder.as_path()), |file| {
        if folder == Path::new(".") { Cow::Borrowed(file) } else { Cow::Owned(folder.join(file)) }
    });
    printable(&path.to_string_lossy()).into_owned()
}

/// The line that byte `offset` is in, without its line break.
fn line_around(text: &str, offset: usize) -> Span {
    let offset = offset.min(text.len());
    let bytes = text.as_bytes();
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..offset]).map_or(0, |at| at + 1);
    let end = memchr::memchr2(b'\n', b'\r', &bytes[offset..]).map_or(text.len(), |at| offset + at);
    Span::new(start, end)
}

/// `1 error`, `2,345 errors`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Digits in groups of three.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234), "1,234");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(plural(1, "error"), "1 error");
        assert_eq!(plural(0, "error"), "0 errors");
    }

    #[test]
    fn the_line_around_a_place_has_no_line_break() {
        let text = "ab\r\ncd\nef";
        assert_eq!(line_around(text, 0).slice(text), "ab");
        assert_eq!(line_around(text, 5).slice(text), "cd");
        assert_eq!(line_around(text, 9).slice(text), "ef");
        assert_eq!(line_around(text, 99).slice(text), "ef");
    }
}
