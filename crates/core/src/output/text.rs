//! Text for people: each finding with the line it is about, and a summary.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use super::snippet::{Drawing, draw};
use super::{Detail, Renderer, Scope, Totals};
use crate::finding::{Finding, Level};
use crate::text::{Position, printable};
use crate::text::{grouped, plural};
use crate::validate::Checked;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

#[derive(Debug)]
pub struct Text {
    style: Style,
}

impl Text {
    pub fn new(style: Style) -> Self {
        Self { style }
    }

    /// The finding with the line that it is about.
    fn full(&self, checked: &Checked, finding: &Finding) -> String {
        let source = finding.place.source.as_deref().unwrap_or(checked.text());
        let drawing = Drawing {
            level: finding.level,
            code: finding.rule.code,
            message: &finding.message,
            path: &shown_path(checked, finding),
            place: finding.place.span.map(|span| (source, span)),
            hint: finding.hint.as_deref(),
        };
        draw(&drawing, self.style)
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
    fn skill(&self, checked: &Checked, _: Scope, detail: Detail) -> String {
        let one = |finding| match detail {
            Detail::Full => self.full(checked, finding),
            Detail::Line => self.brief(checked, finding),
        };
        checked.findings.iter().map(one).collect()
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
}
