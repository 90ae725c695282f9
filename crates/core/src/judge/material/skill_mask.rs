//! Takes the skill under test out of texts: its name, its paths, and sentences about using it.
//!
//! The same is done in every arm, whether the skill was there or not, so that nothing of it tells a judge which arm a run
//! belongs to. A name that the task itself uses as a word (`report`) stays where it is a word. Paths into the folder of
//! skills lose that folder: a script of the skill reads like any other script.

use std::borrow::Cow;
use std::collections::HashSet;

use regex::{Captures, Regex};

/// What stands where the skill's name was.
const NAME: &str = "[name]";

/// Shorter lines of a skill stand in other texts by chance.
const LEAST_LINE: usize = 12;

/// Folders that agents find skills in.
const ROOTS: &str = r"\.(?:claude|agents|codex|gemini|opencode)/skills?\b|\$\{?CODEX_HOME\}?/skills?\b|\$\{?(?:SKILLGAUGE_SKILLS|CLAUDE_SKILL_DIR)\}?";
/// What a path is made of.
const PART: &str = r#"[^\s"'`<>|;,(){}\[\]=:]"#;

/// The skill of a run, as something that must not show.
#[derive(Clone, Debug)]
pub struct SkillMask {
    /// A path into a folder of skills, up to the skill's own folder.
    folder: Regex,
    /// The name, where it is the skill's.
    name: Regex,
    /// A sentence about using the skill.
    talk: Regex,
    /// A folder of skills alone, in a listing.
    listed: Regex,
    /// The lines of the skill's own text.
    lines: HashSet<String>,
}

impl SkillMask {
    /// For the skill of that name, in a case with these texts (its prompt, what is expected): the same for all arms.
    /// Nothing for a name that no pattern can be made of.
    pub fn new<'t>(name: &str, case: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        let case: Vec<&str> = case.into_iter().collect();
        let escaped = regex::escape(name);
        let word = Regex::new(&format!(r"(?i)\b{escaped}\b")).ok()?;
        let skill = Regex::new(r"(?i)\bskills?\b|skill\.md").ok()?;
        let is_used = |pattern: &Regex| case.iter().any(|text| pattern.is_match(text));
        // `csv-report` is a name wherever it stands, `report` may be what the task is about.
        let is_telling = name.contains(['-', '_']) || !is_used(&word);
        let name = if is_telling {
            // No letter at either side; `\b` would miss a name that begins or ends with a sign.
            format!(r"(?i)(?P<before>^|[^\p{{L}}\p{{N}}]){escaped}(?P<after>$|[^\p{{L}}\p{{N}}])")
        } else {
            format!(
                r#"(?i)(?P<before>\bskill["'`]?\s*[:=]?\s*["'`]?){escaped}(?P<after>\b)|(?P<before2>\b){escaped}(?P<after2>["'`]?\s+skill\b)"#
            )
        };
        let with_name = format!(r"\b{escaped}\b[^\n]*\bskills?\b|\bskills?\b[^\n]*\b{escaped}\b");
        let about_use = if is_used(&skill) {
            // The task is about skills, so that the word alone says nothing.
            String::new()
        } else {
            format!("|{USES}")
        };
        Some(Self {
            folder: Regex::new(&format!(
                r"(?:{PART}*/)?(?:(?:{ROOTS})(?:/{escaped}\b)?|skills?/{escaped}\b)/?"
            ))
            .ok()?,
            name: Regex::new(&name).ok()?,
            talk: Regex::new(&format!("(?i){with_name}|{ROOTS}{about_use}")).ok()?,
            listed: Regex::new(
                r"^(?:\S+\s+.*\s)?(?:\./)?\.(?:claude|agents|codex|gemini|opencode)/?:?$",
            )
            .ok()?,
            lines: HashSet::new(),
        })
    }

    /// The same, for a skill with this text.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| line.len() >= LEAST_LINE);
        self.lines.extend(lines.map(str::to_owned));
        self
    }

    /// Whether a text names a file of the skill, or a folder of skills.
    pub(super) fn is_path_in(&self, text: &str) -> bool {
        self.folder.is_match(text)
    }

    /// The text without the skill's folder and name.
    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = self.folder.replace_all(text, "");
        // Names may stand side by side, and a match takes the sign between them.
        let text = replaced(&self.name, text);
        replaced(&self.name, text)
    }

    /// What an agent said, without the sentences about using the skill.
    pub(super) fn said<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.talk.is_match(text) {
            return Cow::Borrowed(text);
        }
        let mut kept = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            if !self.talk.is_match(line) {
                kept.push_str(line);
                continue;
            }
            let rest = sentences(line).filter(|sentence| !self.talk.is_match(sentence));
            let rest: String = rest.collect();
            let rest = rest.trim_end();
            if !rest.is_empty() {
                kept.push_str(rest);
                kept.extend(line.ends_with('\n').then_some('\n'));
            }
        }
        Cow::Owned(kept)
    }

    /// What a tool answered, without lines that show the folder of skills; and without the lines of the skill itself, when
    /// the tool has read it.
    pub(super) fn answered<'t>(&self, output: &'t str, has_read: bool) -> Cow<'t, str> {
        let is_telling = |line: &str| {
            let line = line.trim();
            self.folder.is_match(line)
                || self.listed.is_match(line)
                || (has_read && self.lines.contains(unnumbered(line)))
        };
        if !output.lines().any(is_telling) {
            return Cow::Borrowed(output);
        }
        let lines = output.split_inclusive('\n').filter(|line| !is_telling(line));
        Cow::Owned(lines.collect())
    }
}

/// Verbs around the word: "using the skill", "the skill says".
const USES: &str = r"\b(?:us(?:e|es|ed|ing)|load(?:s|ed|ing)?|follow(?:s|ed|ing)?|invok(?:e|es|ed|ing)|activat(?:e|es|ed|ing)|launch(?:es|ed|ing)?|consult(?:s|ed|ing)?|appl(?:y|ies|ied|ying)|read(?:s|ing)?|check(?:s|ed|ing)?|per|according to)\b[^.!?\n]{0,40}\bskill\b|\bskill(?:'s|’s)?\s+(?:says|tells|instructs|recommends|instructions?|file)\b|\bskill\.md\b";

fn replaced<'t>(name: &Regex, text: Cow<'t, str>) -> Cow<'t, str> {
    let around = |found: &Captures<'_>| {
        let part = |one: &str, other: &str| {
            found
                .name(one)
                .or_else(|| found.name(other))
                .map_or("", |part| part.as_str())
                .to_owned()
        };
        format!("{}{NAME}{}", part("before", "before2"), part("after", "after2"))
    };
    match name.replace_all(&text, around) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => Cow::Owned(changed),
    }
}

/// A line in its sentences, each with the space behind it.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = |(at, letter): (usize, char)| {
            let after = at + letter.len_utf8();
            let is_end = matches!(letter, '.' | '!' | '?' | ':' | ';' | '。' | '！' | '？');
            let is_followed = rest[after..].starts_with(char::is_whitespace) || !letter.is_ascii();
            (is_end && is_followed).then_some(after)
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let end = end + (rest[end..].len() - rest[end..].trim_start_matches([' ', '\t']).len());
        let (sentence, left) = rest.split_at(end);
        rest = left;
        Some(sentence)
    })
}

/// A line without the number that a tool for reading puts before it.
fn unnumbered(line: &str) -> &str {
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.len() == line.len() {
        return line;
    }
    let rest = rest.strip_prefix(['\t', '→', ':', '|']).unwrap_or(rest);
    rest.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(name: &str) -> SkillMask {
        SkillMask::new(name, ["Greet the reader", "The reader is greeted"]).unwrap()
    }

    #[test]
    fn names_and_paths_are_taken_out() {
        let mask = mask("csv-report");
        for (text, expected) in [
            ("made with csv-report.", "made with [name]."),
            ("csv-report csv-report,csv-report", "[name] [name],[name]"),
            ("see csv-reports and a csv report", "see csv-reports and a csv report"),
            (
                "python .claude/skills/csv-report/scripts/sum.py a.csv",
                "python scripts/sum.py a.csv",
            ),
            ("cat /tmp/x/home/.agents/skills/csv-report/SKILL.md", "cat SKILL.md"),
            ("ls $CODEX_HOME/skills/csv-report", "ls "),
            ("sed -n 1p '/a/b/skills/csv-report/SKILL.md'", "sed -n 1p 'SKILL.md'"),
            ("her skills/hobbies", "her skills/hobbies"),
        ] {
            assert_eq!(mask.apply(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_that_the_task_uses_as_a_word_stays_a_word() {
        let mask = SkillMask::new("report", ["Write a report about sales"]).unwrap();
        assert_eq!(mask.apply("The report is done"), "The report is done");
        assert_eq!(
            mask.apply("skill: report, the report skill"),
            "skill: [name], the [name] skill"
        );
        let unused = SkillMask::new("report", ["Sum it up"]).unwrap();
        assert_eq!(unused.apply("# Report\nreported"), "# [name]\nreported");
    }

    #[test]
    fn sentences_about_using_the_skill_are_left_out_and_others_stay() {
        let mask = mask("csv-report");
        for (text, expected) in [
            ("I'll use the csv-report skill. Then I write.", "Then I write."),
            ("Using the skill now\nDone.", "Done."),
            ("I write. According to the skill's rules it is short. Done.", "I write. Done."),
            ("I read SKILL.md first: it helps", "it helps"),
            ("The total is 42. I followed the csv-report skill.\nBye", "The total is 42.\nBye"),
            ("Skills: Java, Go. She has a skill.", "Skills: Java, Go. She has a skill."),
        ] {
            assert_eq!(mask.said(text), expected, "{text}");
        }
        let about_skills = SkillMask::new("skill-creator", ["Make a skill for CSV"]).unwrap();
        let text = "I used the skill twice. I use the skill-creator skill.";
        assert_eq!(about_skills.said(text), "I used the skill twice.");
    }

    #[test]
    fn listings_lose_the_folder_of_skills() {
        let mask = mask("csv-report").with_text("# How to\n\nWrite the total first.\n");
        let listing = ".\n..\n./.claude\n./.claude/skills/csv-report/SKILL.md\n./a.csv\n";
        assert_eq!(mask.answered(listing, false), ".\n..\n./a.csv\n");
        assert_eq!(mask.answered("drwxr-xr-x 3 a a 4096 Nov 1 .claude\na.csv\n", false), "a.csv\n");
        let read = "     2\tWrite the total first.\nok\n";
        assert_eq!(mask.answered(read, true), "ok\n");
        assert_eq!(mask.answered(read, false), read);
    }
}
