//! Takes the skill under test out of texts: its name, its paths, its own lines, and phrases about using it.
//!
//! The same is done in every arm, whether the skill was there or not, so that nothing of it tells a judge which arm a run
//! belongs to. A name that the task itself uses as a word (`report`) stays where it is a word. Paths into the folder of
//! skills lose that folder: a script of the skill reads like any other script.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use regex::{Captures, Regex};

use super::listing;
use super::phrases::{Mentions, Names, Phrases, has_fact};
use crate::skill::{FileEntry, FileKind, Skill};

/// What stands where the skill's name was: a word that says nothing.
pub(crate) const NAME: &str = "project";
/// What stands where the name of its file was.
const FILE: &str = "README.md";

/// Shorter lines of a skill stand in other texts by chance.
const LEAST_LINE: usize = 12;
/// So many letters of a skill's lines in one text are no chance.
const LEAST_READ: usize = 30;
/// How much of a skill's files is looked at, in bytes.
const MAX_TEXT: u64 = 2 << 20;

/// Folders that agents keep their settings in.
const SETTINGS: &str =
    r"\.(?:claude|agents|codex|gemini|opencode|cursor|goose|factory|junie|amp|copilot)";
/// Folders that agents find skills in.
const ROOTS: &str = r"\B\.[A-Za-z][\w-]*/skills?\b|\$\{?CODEX_HOME\}?/skills?\b|\$\{?(?:SKILLGAUGE_SKILLS|CLAUDE_SKILL_DIR)\}?";
/// What a path is made of.
const PART: &str = r#"[^\s"'`<>|;,(){}\[\]=:]"#;

/// What is known of the skill that must not show, in all of its versions that a run may have had.
#[derive(Clone, Debug, Default)]
pub struct Unshown {
    names: Vec<String>,
    /// What its SKILL.md is headed with.
    titles: Vec<String>,
    /// What its files and folders are called.
    entries: HashSet<String>,
    texts: Vec<String>,
}

impl Unshown {
    pub fn named(name: &str) -> Self {
        let mut unshown = Self::default();
        unshown.add_name(name);
        unshown
    }

    /// And the version of it in this folder.
    #[must_use]
    pub fn and(mut self, folder: &Path) -> Self {
        let skill = Skill::read(folder);
        if let Some(document) = skill.document() {
            let name = document.entry("name").and_then(|entry| entry.value.as_str());
            self.add_name(name.unwrap_or_default());
            let title = document.body().lines().find_map(|line| line.strip_prefix("# "));
            self.titles.extend(title.map(|title| title.trim().to_owned()));
        }
        let mut left = MAX_TEXT;
        // No agent sees its evals.
        let is_seen =
            |file: &&FileEntry| file.kind == FileKind::File && !file.path.starts_with("evals");
        for file in skill.files.iter().filter(is_seen) {
            let path = skill.path.join(&file.path);
            let parts = file.path.iter().filter_map(|part| part.to_str());
            self.entries.extend(parts.map(str::to_owned));
            let size = fs_err::metadata(&path).map_or(u64::MAX, |data| data.len());
            // What is no text has no lines to be found again.
            if size <= left
                && let Ok(text) = fs_err::read_to_string(&path)
            {
                left -= size;
                self.texts.push(text);
            }
        }
        self
    }

    fn add_name(&mut self, name: &str) {
        let name = name.trim().to_owned();
        if !name.is_empty() && !self.names.contains(&name) {
            self.names.push(name);
        }
    }
}

/// The skill of a run, as something that must not show.
#[derive(Clone, Debug)]
pub struct SkillMask {
    /// A path into a folder of skills, up to the skill's own folder; or into a folder of settings.
    folder: Regex,
    /// The name, where it is the skill's.
    name: Regex,
    phrases: Phrases,
    /// A folder of settings; none when the task is about one.
    settings: Option<Regex>,
    /// The file of a skill; none when the task is about one.
    file: Option<Regex>,
    /// The lines of the skill's own texts, and of none of the task's.
    lines: HashSet<String>,
    /// Those that others have as well; numbers are never among them.
    short: HashSet<String>,
    /// What its files and folders are called.
    entries: HashSet<String>,
    /// Each of its lines with the one before it.
    follows: HashSet<(String, String)>,
    /// Its texts in base64.
    encoded: Vec<String>,
}

impl SkillMask {
    /// For this skill, in a case with these texts (its prompt, what is expected): the same for all arms. Nothing for a skill
    /// without a name.
    pub fn new<'t>(unshown: &Unshown, case: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let case: Vec<&str> = case.into_iter().collect();
        let is_used = |pattern: &Regex| case.iter().any(|text| pattern.is_match(text));
        let (mut telling, mut plain, mut names) = (Vec::new(), Vec::new(), Names::default());
        for name in &unshown.names {
            let word = Regex::new(&format!(r"(?i)\b{}\b", regex::escape(name))).ok()?;
            names.beside.push(joined(name, "[-_ ]?"));
            // `csv-report` is a name wherever it stands. A word such as `report` or `pdf` is what others call things, too.
            let is_word = name.chars().all(|letter| letter.is_ascii_alphanumeric());
            if name.contains(['-', '_']) || !(is_word || is_used(&word)) {
                telling.push(name_pattern(name));
                names.alone.push(name_pattern(name));
            } else {
                plain.push(regex::escape(name));
            }
        }
        let title = |title: &&String| {
            let pattern = Regex::new(&format!("(?i){}", regex::escape(title)));
            title.contains(' ') && pattern.is_ok_and(|pattern| !is_used(&pattern))
        };
        for title in unshown.titles.iter().filter(title) {
            names.beside.push(regex::escape(title));
            // As a heading writes it: in small letters these are words like any others.
            let exactly = format!("(?-i:{})", regex::escape(title));
            telling.push(exactly.clone());
            names.alone.push(exactly);
        }
        let unless_used = |pattern: &str| -> Result<Option<Regex>, regex::Error> {
            Ok(Some(Regex::new(pattern)?).filter(|pattern| !is_used(pattern)))
        };
        names.any_skill = unless_used(r"(?i)\bskills?\b|skill\.md").ok()?.is_some();
        let settings =
            unless_used(&format!(r#"(?:^|[\s/"'`(=]){SETTINGS}(?:$|[\s/"'`):,;])"#)).ok()?;
        let every =
            unshown.names.iter().map(|name| regex::escape(name)).collect::<Vec<_>>().join("|");
        let own = if settings.is_some() { format!(r"|\B{SETTINGS}/") } else { String::new() };
        // No Latin letter at either side: `\b` would miss a name that begins or ends with a sign, or stands between letters
        // of a script without spaces.
        let mut name = Vec::new();
        if !telling.is_empty() {
            let telling = telling.join("|");
            name.push(format!(
                r"(?P<before>^|[^\p{{Latin}}\p{{N}}])(?:{telling})(?P<after>s?(?:$|[^\p{{Latin}}\p{{N}}]))"
            ));
        }
        if !plain.is_empty() {
            let plain = plain.join("|");
            name.push(format!(
                r#"(?P<before2>\bskill["'`]?\s*[:=]?\s*["'`]?)(?:{plain})(?P<after2>\b)|(?P<before3>\b)(?:{plain})(?P<after3>["'`]?\s+skill\b)"#
            ));
        }
        if name.is_empty() {
            return None;
        }
        let texts = unshown.texts.iter().flat_map(|text| text.lines()).map(normalised);
        let texts =
            texts.filter(|line| !line.is_empty() && !case.iter().any(|text| text.contains(line)));
        let (lines, short): (HashSet<_>, HashSet<_>) =
            texts.partition(|line| line.len() >= LEAST_LINE);
        let has_digit = |line: &String| line.contains(|letter: char| letter.is_ascii_digit());
        Some(Self {
            folder: Regex::new(&format!(
                r"(?:{PART}*/)?(?:(?:{ROOTS})(?:/(?:{every})\b)?|skills?/(?:{every})\b)/?{own}"
            ))
            .ok()?,
            name: Regex::new(&format!("(?i){}", name.join("|"))).ok()?,
            phrases: Phrases::new(&names).ok()?,
            settings,
            file: unless_used(r"(?i)\bskill\.md\b").ok()?,
            lines,
            entries: unshown.entries.clone(),
            follows: unshown.texts.iter().flat_map(|text| follows(text)).collect(),
            encoded: unshown.texts.iter().map(|text| base64(text.as_bytes())).collect(),
            short: short.into_iter().filter(|line| !has_digit(line)).collect(),
        })
    }

    /// Whether a text names a file of the skill, a folder of skills, or one of an agent's settings.
    pub(super) fn is_path_in(&self, text: &str) -> bool {
        let is_match = |pattern: &Option<Regex>| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
        };
        self.folder.is_match(text) || is_match(&self.settings) || is_match(&self.file)
    }

    /// The text without the skill's folder, file and name.
    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = self.folder.replace_all(text, "");
        if let Some(file) = &self.file
            && let Cow::Owned(changed) = file.replace_all(&text, FILE)
        {
            text = Cow::Owned(changed);
        }
        // Names may stand side by side, and a match takes the sign between them.
        let text = replaced(&self.name, text);
        replaced(&self.name, text)
    }

    /// What an agent said, without phrases about using the skill.
    pub(super) fn said<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.phrases.without(text, Mentions::All)
    }

    /// What was written into a file or a command: there "the skill" may be what it is about.
    pub(super) fn written<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.phrases.without(text, Mentions::Named)
    }

    /// Whether what a tool answered shows the skill itself; lines that the agent wrote are its own.
    pub(super) fn has_lines(&self, output: &str, written: &HashSet<String>) -> bool {
        let letters = |line: &str| line.chars().filter(|letter| letter.is_alphanumeric()).count();
        let own = output.lines().filter(|line| self.kind(line, written) == LineKind::Skill);
        own.map(letters).sum::<usize>() >= LEAST_READ
    }

    /// Whether a text is one of the skill's in base64, or a part of it.
    pub(super) fn encodes(&self, output: &str) -> bool {
        let joined: String = output.split_whitespace().collect();
        let joined = joined.trim_end_matches('=');
        joined.len() >= LEAST_READ && self.encoded.iter().any(|text| text.contains(joined))
    }

    fn kind(&self, line: &str, written: &HashSet<String>) -> LineKind {
        let whole = normalised(line);
        let bare = normalised(unnumbered(line));
        let is_in = |lines: &HashSet<String>| {
            [&whole, &bare].into_iter().any(|line| lines.contains(line) && !written.contains(line))
        };
        if is_in(&self.lines) {
            LineKind::Skill
        } else if bare.is_empty() || is_in(&self.short) {
            LineKind::Short
        } else {
            LineKind::Other
        }
    }

    /// What a tool answered, without what shows the folder of skills or of settings in listings; and without the lines of
    /// the skill itself, when the tool has read it, with the short ones between them.
    pub(super) fn answered<'t>(
        &self,
        output: &'t str,
        has_read: bool,
        written: &HashSet<String>,
    ) -> Cow<'t, str> {
        let listed = if has_read && self.file.is_some() {
            let is_entry = |name: &str| self.entries.contains(name);
            let rest = listing::without_folder(output, "SKILL.md", &is_entry);
            Cow::Owned(self.unlisted(&rest).into_owned())
        } else {
            self.unlisted(output)
        };
        let lines: Vec<(&str, LineKind)> =
            listed.split_inclusive('\n').map(|line| (line, self.kind(line, written))).collect();
        if !has_read || !lines.iter().any(|(_, kind)| *kind == LineKind::Skill) {
            return listed;
        }
        let is_of_block = |kind: LineKind| matches!(kind, LineKind::Skill | LineKind::Short);
        let mut kept = String::with_capacity(listed.len());
        let (mut last, mut is_own) = (String::new(), false);
        for block in lines.chunk_by(|one, other| is_of_block(one.1) == is_of_block(other.1)) {
            let is_read = block.iter().any(|(_, kind)| *kind == LineKind::Skill);
            for (line, _) in block {
                let next = normalised(unnumbered(line));
                if next.is_empty() {
                    kept.push_str(if is_read { "" } else { line });
                    continue;
                }
                // A number may be a result: it is the skill's only where it follows what it follows there.
                let pair = (last, next);
                is_own = is_read || (is_own && self.follows.contains(&pair));
                if !is_own {
                    kept.push_str(line);
                }
                last = pair.1;
            }
        }
        Cow::Owned(kept)
    }

    /// A listing without the skill's folder, and without an agent's settings.
    fn unlisted<'t>(&self, output: &'t str) -> Cow<'t, str> {
        if !self.is_path_in(output) {
            return Cow::Borrowed(output);
        }
        let is_own = |text: &str| self.is_path_in(text);
        Cow::Owned(listing::without(output, &is_own, &has_fact))
    }
}

/// What a line of a tool's answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    /// One of the skill's.
    Skill,
    /// One of the skill's that stands in other texts as well, or an empty one.
    Short,
    Other,
}

/// The words of a name with a pattern between them.
fn joined(name: &str, between: &str) -> String {
    name.split(['-', '_', ' ']).map(regex::escape).collect::<Vec<_>>().join(between)
}

/// A name in the ways that people write it: `csv-tidy`, `csv_tidy`, `CsvTidy`.
pub(crate) fn name_pattern(name: &str) -> String {
    joined(name, "[-_]?")
}

/// Each line of a text with the one before it, without empty ones.
fn follows(text: &str) -> impl Iterator<Item = (String, String)> {
    let mut lines = text.lines().map(normalised).filter(|line| !line.is_empty());
    let mut last = lines.next().unwrap_or_default();
    lines.map(move |line| (std::mem::replace(&mut last, line.clone()), line))
}

/// A text in base64, without what fills it up.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len() / 3 * 4 + 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, at| {
            bits << 8 | three.get(at).map_or(0, |byte| usize::from(*byte))
        });
        for at in 0..=three.len() {
            text.push(char::from(LETTERS[bits >> (18 - 6 * at) & 63]));
        }
    }
    text
}

/// A line with single spaces.
pub(super) fn normalised(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn replaced<'t>(name: &Regex, text: Cow<'t, str>) -> Cow<'t, str> {
    let around = |found: &Captures<'_>| {
        let part = |names: [&str; 3]| {
            names
                .into_iter()
                .find_map(|name| found.name(name))
                .map_or("", |part| part.as_str())
                .to_owned()
        };
        let (before, after) = (["before", "before2", "before3"], ["after", "after2", "after3"]);
        format!("{}{NAME}{}", part(before), part(after))
    };
    match name.replace_all(&text, around) {
        Cow::Borrowed(_) => text,
        Cow::Owned(changed) => Cow::Owned(changed),
    }
}

/// A line without the number that a tool for reading puts before it.
fn unnumbered(line: &str) -> &str {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = rest.len() < line.len() && rest.starts_with(['\t', '→', ':', '|', ' ']);
    if is_numbered { rest.trim_start_matches(['\t', '→', ':', '|', ' ']) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unshown(name: &str, text: &str) -> Unshown {
        Unshown { texts: vec![text.to_owned()], ..Unshown::named(name) }
    }

    fn mask(name: &str) -> SkillMask {
        let case = ["Greet the reader", "The reader is greeted"];
        let text = "# How to\n\nWrite the total first, with two digits.\nThen greet the reader.\n";
        SkillMask::new(&unshown(name, text), case).unwrap()
    }

    #[test]
    fn names_and_paths_are_taken_out() {
        let mask = mask("csv-report");
        for (text, expected) in [
            ("made with csv-report.", "made with project."),
            ("csv-report csv_report,csv-report", "project project,project"),
            ("see csv-reports and a csv report", "see projects and a csv report"),
            ("CsvReport, csvReport and csvreport", "project, project and project"),
            ("已用csv-report完成。csv-reportを使いました", "已用project完成。projectを使いました"),
            ("csv-reporter, xcsv-report", "csv-reporter, xcsv-report"),
            (
                "python .claude/skills/csv-report/scripts/sum.py a.csv",
                "python scripts/sum.py a.csv",
            ),
            ("cat /tmp/x/home/.agents/skills/csv-report/SKILL.md", "cat README.md"),
            ("ls $CODEX_HOME/skills/csv-report", "ls "),
            ("sed -n 1p '/a/b/skills/csv-report/SKILL.md'", "sed -n 1p 'README.md'"),
            ("her skills/hobbies", "her skills/hobbies"),
            ("cp /w/.claude/settings.json x", "cp /w/settings.json x"),
            ("see example.com/skills", "see example.com/skills"),
        ] {
            assert_eq!(mask.apply(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_that_the_task_uses_as_a_word_stays_a_word() {
        let mask =
            SkillMask::new(&Unshown::named("report"), ["Write a report about sales"]).unwrap();
        assert_eq!(mask.apply("The report is done"), "The report is done");
        assert_eq!(
            mask.said("Using the report, the total is 42"),
            "Using the report, the total is 42"
        );
        assert_eq!(mask.said("Using the report skill, the total is 42"), "The total is 42");
        assert_eq!(
            mask.apply("skill: report, the report skill"),
            "skill: project, the project skill"
        );
        // Nor does one that the task does not use: it may be a file's ending.
        let unused = SkillMask::new(&Unshown::named("pdf"), ["Fill in the form"]).unwrap();
        let text = "Saved as a PDF: out.pdf (PDF/A). See pdf-lib.";
        assert_eq!(unused.apply(text), text);
        assert_eq!(unused.said("I used the pdf skill. The form is a PDF."), "The form is a PDF.");
    }

    #[test]
    fn a_task_about_skills_keeps_its_words() {
        let case = ["Make a skill for CSV: SKILL.md in .claude/skills"];
        let about = SkillMask::new(&Unshown::named("skill-creator"), case).unwrap();
        let text = "I used the skill twice. I use the skill-creator skill.";
        assert_eq!(about.said(text), "I used the skill twice.");
        assert_eq!(about.apply("cat x/SKILL.md"), "cat x/SKILL.md");
        assert!(!about.is_path_in("cat x/SKILL.md"));
    }

    #[test]
    fn the_title_of_the_skill_is_its_name_where_it_is_used() {
        let titled = Unshown { titles: vec!["CSV Tidy".to_owned()], ..Unshown::named("x-y") };
        let mask = SkillMask::new(&titled, ["Sum it up"]).unwrap();
        assert_eq!(mask.said("The CSV Tidy guide says the total is 42."), "The total is 42.");
        assert_eq!(mask.said("Following CSV Tidy, March is best."), "March is best.");
        assert_eq!(mask.said("# CSV Tidy\nThe x y guide says 42."), "# CSV Tidy\n42.");
        assert_eq!(mask.apply("## CSV Tidy\n\na csv tidy"), "## project\n\na csv tidy");
    }

    #[test]
    fn no_version_of_the_skill_shows_in_either_arm() {
        let root = tempfile::tempdir().unwrap();
        let version = |name: &str, rule: &str| {
            let folder = root.path().join(name);
            fs_err::create_dir_all(folder.join("evals")).unwrap();
            let text =
                format!("---\nname: {name}\ndescription: x\n---\n\n# {name} for all\n\n{rule}\n");
            fs_err::write(folder.join("SKILL.md"), text).unwrap();
            fs_err::write(
                folder.join("evals/evals.json"),
                "This line is none of the skill, it is of its evals.",
            )
            .unwrap();
            folder
        };
        let [old, new] = [
            version("csv-old", "Always sum the last column of the table, then round it."),
            version("csv-new", "Never sum the first column of the table, but do count it."),
        ];
        for folders in [[&old, &new], [&new, &old]] {
            let unshown =
                folders.into_iter().fold(Unshown::named("csv-new"), |all, one| all.and(one));
            let mask = SkillMask::new(&unshown, ["Sum it up"]).unwrap();
            let none = HashSet::new();
            let is_shown = |rule: &str| mask.has_lines(rule, &none);
            for name in ["csv-old", "csv-new"] {
                assert_eq!(mask.said(&format!("Using the {name} skill, it is 42.")), "It is 42.");
            }
            for rule in [
                "Always sum the last column of the table, then round it.",
                "Never sum the first column of the table, but do count it.",
            ] {
                assert!(is_shown(rule), "{rule}");
            }
            let evals = "This line is none of the skill, it is of its evals.";
            assert!(!is_shown(evals));
        }
    }

    #[test]
    fn listings_lose_the_folders_of_agents() {
        let mask = mask("csv-report");
        let listing = ".\n..\n./.claude\n./.claude/skills/csv-report/SKILL.md\n./a.csv\n";
        let none = HashSet::new();
        assert_eq!(mask.answered(listing, false, &none), ".\n..\n./a.csv\n");
        for listing in [
            "drwxr-xr-x 3 a a 4096 Nov 1 .claude\na.csv\n",
            "?? .claude/\na.csv\n",
            ".claude/skills/csv-report/SKILL.md\na.csv\n",
            "\t.agents/\na.csv\n",
            "./x/SKILL.md\na.csv\n",
        ] {
            assert_eq!(mask.answered(listing, false, &none), "a.csv\n", "{listing}");
        }
    }

    #[test]
    fn the_skill_is_known_by_its_lines_whoever_reads_them() {
        let mask = mask("csv-report");
        let none = HashSet::new();
        let read =
            "     2\tWrite  the total first, with two digits.\n3\tThen greet the reader.\nok\n";
        assert!(mask.has_lines(read, &none));
        assert_eq!(mask.answered(read, true, &none), "ok\n");
        let whole = "# How to\n\nWrite the total first, with two digits.\n\n42\n\n# How to\n";
        assert_eq!(mask.answered(whole, true, &none), "42\n\n# How to\n");
        assert_eq!(mask.answered(read, false, &none), read);
        let numbered = SkillMask::new(
            &unshown("x-y", "Write the total first, with two digits.\n\n3. Done\n"),
            ["Sum"],
        )
        .unwrap();
        let steps = "Write the total first, with two digits.\n\n3. Done\n3. Done\n";
        assert_eq!(numbered.answered(steps, true, &none), "3. Done\n");
        // What stands alone may be the answer.
        assert_eq!(mask.answered("Then greet the reader.\n42\n", true, &none), "42\n");
        assert_eq!(mask.answered("Then greet the reader.\n    3\t\n", true, &none), "");
        assert!(!mask.has_lines("Then greet the reader.\n", &none));
        assert!(
            mask.encodes("IyBIb3cgdG8KCldyaXRlIHRoZSB0b3RhbCBmaXJz\ndCwgd2l0aCB0d28gZGlnaXRzLg==")
        );
        assert!(!mask.encodes("bm90aGluZyBvZiBpdCBpcyBpbiB0aGUgc2tpbGwu"));
        // A report in which the agent wrote the same is its own.
        let own: HashSet<String> = [
            "Write the total first, with two digits.".to_owned(),
            "Then greet the reader.".to_owned(),
        ]
        .into();
        assert!(!mask.has_lines(read, &own));
    }
}
