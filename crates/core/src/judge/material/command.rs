//! A shell command, as far as one must understand it to tell looking from working.
//!
//! Quotes and here-documents are respected, so that code in them is one piece. What is not understood counts as looking
//! where it is about the skill, and as work everywhere else.

use std::sync::LazyLock;

use regex::Regex;

/// Programs that only look.
const READERS: [&str; 40] = [
    "awk",
    "base64",
    "basename",
    "bat",
    "cat",
    "cd",
    "cut",
    "dir",
    "dirname",
    "echo",
    "exa",
    "export",
    "file",
    "find",
    "grep",
    "head",
    "hexdump",
    "jq",
    "less",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "printf",
    "pwd",
    "readlink",
    "rg",
    "sed",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tail",
    "test",
    "tree",
    "true",
    "uniq",
    "wc",
    "xxd",
];
/// Programs that change something.
const WORKERS: [&str; 38] = [
    "apply_patch",
    "cargo",
    "chmod",
    "chown",
    "cmake",
    "cp",
    "curl",
    "dd",
    "docker",
    "gcc",
    "go",
    "install",
    "ln",
    "make",
    "mkdir",
    "mktemp",
    "mv",
    "npm",
    "npx",
    "patch",
    "pip",
    "pip3",
    "pnpm",
    "pytest",
    "rm",
    "rmdir",
    "rsync",
    "tar",
    "tee",
    "touch",
    "truncate",
    "unzip",
    "uv",
    "wget",
    "yarn",
    "zip",
    "bun",
    "deno",
];
/// Programs that run code.
const INTERPRETERS: [&str; 12] = [
    "bash", "node", "perl", "php", "python", "python2", "python3", "ruby", "sh", "source", "zsh",
    ".",
];
/// What git only looks with.
const GIT_READERS: [&str; 9] =
    ["status", "log", "diff", "show", "ls-files", "ls-tree", "grep", "branch", "check-ignore"];

/// What in code writes, or runs something else.
static WRITING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)write|["'][wax]b?\+?["']|\bdump\(|\bsave|\bto_[a-z]+\(|\bmkdir|\bremove|\bunlink|\brename|\bcopy|\bsystem\(|\bsubprocess|\bexec|\bspawn|\bimport_module"#,
    )
    .ok()
});
/// Where a step writes to.
static REDIRECT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?P<from>\d?)>{1,2}\s*(?P<to>[^\s;|&]*)").ok());

/// What a command does, as far as one can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    Look,
    /// Something that is not known.
    Something,
    Work,
}

pub(super) struct Command<'c>(&'c str);

impl<'c> Command<'c> {
    /// The command, or the one within `bash -lc '...'`.
    pub(super) fn new(command: &'c str) -> Self {
        let rest = command.trim();
        let shell = rest.split_once(" -lc ").or_else(|| rest.split_once(" -c "));
        let Some((_, inner)) =
            shell.filter(|(shell, _)| shell.ends_with("sh") && !shell.contains(' '))
        else {
            return Self(rest);
        };
        let inner = inner.trim();
        let quoted = ['"', '\'']
            .into_iter()
            .find_map(|mark| inner.strip_prefix(mark).and_then(|inner| inner.strip_suffix(mark)));
        Self(quoted.unwrap_or(inner))
    }

    pub(super) fn does(&self) -> Does {
        parts(self.0, &["&&", "||", ";", "\n"]).map(does).max().unwrap_or(Does::Look)
    }

    /// The command without what reads the skill: whole parts, or those arguments of a part that name it.
    pub(super) fn without_reading(&self, names_skill: &dyn Fn(&str) -> bool) -> Left {
        let mut reader = Reader { names_skill, folders: Vec::new(), is_inside: false };
        let (mut kept, mut is_more, mut is_code) = (String::new(), false, false);
        // Within a loop over files of the skill; and whether the part before was left out.
        let (mut loops, mut is_else) = (0_usize, false);
        for part in parts(self.0, &["&&", "||", ";", "\n"]) {
            let body = part.trim_end_matches(['&', '|', ';', '\n', ' ']);
            let words = words(body);
            let first = words.first().copied().unwrap_or_default();
            if loops > 0 {
                loops = match first {
                    "for" | "while" | "until" => loops + 1,
                    "done" => loops - 1,
                    _ => loops,
                };
                continue;
            }
            let is_bare = is_bare(&words) && does(body) != Does::Work;
            // What is said when the skill is not there.
            if std::mem::take(&mut is_else) && is_bare {
                continue;
            }
            match reader.part_without(body, &words) {
                Left::Rest(rest) => {
                    is_more |= !is_bare;
                    kept.push_str(&rest);
                    kept.push_str(&part[body.len()..]);
                }
                left => {
                    is_code |= left == Left::Code;
                    loops += usize::from(first == "for");
                    is_else = part.ends_with("||");
                }
            }
        }
        let kept = kept.trim().trim_end_matches(['&', ';', '|']).trim_end();
        match is_more && !kept.is_empty() {
            true => Left::Rest(kept.to_owned()),
            false if is_code => Left::Code,
            false => Left::Nothing,
        }
    }
}

/// What is left of a command without reading the skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    /// Code that names the skill, and may do more than read it.
    Code,
    Rest(String),
}

/// Finds what of a command reads the skill.
struct Reader<'r> {
    names_skill: &'r dyn Fn(&str) -> bool,
    /// Variables that hold a path of the skill.
    folders: Vec<String>,
    /// Whether the command has gone into a folder of the skill.
    is_inside: bool,
}

impl Reader<'_> {
    fn names(&self, word: &str) -> bool {
        let is_held = |name: &String| {
            word.contains(&format!("${name}")) || word.contains(&format!("${{{name}}}"))
        };
        (self.names_skill)(word) || self.folders.iter().any(is_held)
    }

    fn part_without(&mut self, part: &str, words: &[&str]) -> Left {
        let names = self.names(part);
        if words.first() == Some(&"cd") {
            self.is_inside = names;
        }
        if !names && !self.is_inside {
            return Left::Rest(part.to_owned());
        }
        for word in words {
            if let Some((name, value)) = word.split_once('=')
                && is_variable(name)
                && self.names(value)
            {
                self.folders.push(name.to_owned());
            }
        }
        if does(part) == Does::Work {
            return Left::Rest(part.to_owned());
        }
        let mut kept = Vec::new();
        for (index, step) in parts(part, &["|"]).enumerate() {
            match self.step_without(step.trim_matches(['|', ' ']), index == 0) {
                // What comes behind it works on the skill.
                left if index == 0 && !matches!(left, Left::Rest(_)) => return left,
                Left::Rest(rest) => kept.push(rest),
                Left::Nothing | Left::Code => {}
            }
        }
        let lead = &part[..part.len() - part.trim_start().len()];
        Left::Rest(format!("{lead}{}", kept.join(" | ")))
    }

    /// A step of a pipeline without the arguments that name the skill; nothing when no other file is among them.
    fn step_without(&self, step: &str, is_first: bool) -> Left {
        let words = words(step);
        let begin = words.iter().take_while(|word| is_before_program(word)).count();
        let program = words.get(begin).map_or("", |path| path.rsplit('/').next().unwrap_or(path));
        // Where the command has gone into a folder of the skill, what has no path of its own is in there.
        let is_in = self.is_inside && is_first && !matches!(program, "echo" | "printf");
        if !is_in && !self.names(step) {
            return Left::Rest(step.to_owned());
        }
        if INTERPRETERS.contains(&program) || step.contains("<<") {
            return Left::Code;
        }
        let is_elsewhere =
            |word: &str| word.starts_with(['/', '~', '$', '-']) || word.contains("..");
        let is_own = |word: &str| self.names(word) || (is_in && !is_elsewhere(word));
        let (program_words, arguments) = words.split_at(words.len().min(begin + 1));
        let found = if program == "find" {
            find_without(arguments, &is_own)
        } else {
            arguments_without(program, arguments, &is_own)
        };
        match found {
            Some(kept) => Left::Rest([program_words, &kept].concat().join(" ")),
            None => Left::Nothing,
        }
    }
}

/// The arguments that do not name the skill; nothing when no file is among them.
fn arguments_without<'w>(
    program: &str,
    arguments: &[&'w str],
    is_own: &dyn Fn(&str) -> bool,
) -> Option<Vec<&'w str>> {
    // The first argument of these is no file.
    let mut others =
        usize::from(matches!(program, "awk" | "egrep" | "git" | "grep" | "jq" | "rg" | "sed"));
    let (mut kept, mut is_left) = (Vec::new(), false);
    for &word in arguments {
        let is_ignoring = kept.last().is_some_and(|last| matches!(*last, "-I" | "--ignore"));
        if is_own(word) {
            // A program that is fed the skill works on nothing else, whatever its arguments look like.
            if word.starts_with('<') || kept.last() == Some(&"<") {
                return None;
            }
            // What is left out by the command itself is not read.
            let is_excluded =
                word.contains("exclude") || word.trim_matches(['"', '\'']).starts_with('!');
            is_left |= is_excluded || is_ignoring;
            if is_ignoring {
                kept.pop();
            }
            continue;
        }
        kept.push(word);
        let is_file = !word.starts_with('-')
            && !word.contains('>')
            && !word.chars().all(|letter| letter.is_ascii_digit())
            && word != "in";
        is_left |= is_file && others == 0;
        others -= usize::from(is_file && others > 0);
    }
    is_left.then_some(kept)
}

/// The same for `find`, whose options have values; nothing when only the skill was looked for.
fn find_without<'w>(arguments: &[&'w str], is_own: &dyn Fn(&str) -> bool) -> Option<Vec<&'w str>> {
    let is_option = |word: &&str| word.starts_with(['-', '!', '(', '\\']);
    let roots = arguments.iter().position(is_option).unwrap_or(arguments.len());
    let (roots, tests) = arguments.split_at(roots);
    let mut kept: Vec<&str> = roots.iter().copied().filter(|root| !is_own(root)).collect();
    if kept.is_empty() && !roots.is_empty() {
        return None;
    }
    let is_link = |word: &str| matches!(word, "-o" | "-or" | "-a" | "-and");
    let (mut is_cut, mut is_left, mut is_linked) = (false, false, true);
    for &word in tests {
        let is_test =
            kept.last().is_some_and(|last| last.ends_with("name") || last.ends_with("path"));
        if !is_own(word) {
            is_left |= is_test;
            // What stood between two tests goes with one of them.
            if is_linked || !is_link(word) {
                kept.push(word);
            }
            is_linked = true;
            continue;
        }
        if is_test {
            kept.pop();
        }
        // What it passes over is not read.
        if kept.last().is_some_and(|last| matches!(*last, "-not" | "!")) {
            kept.pop();
            is_left = true;
        }
        is_linked = kept.last().is_some_and(|last| is_link(last));
        if is_linked {
            kept.pop();
        }
        is_cut = true;
    }
    (is_left || !is_cut).then_some(kept)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Whether a word stands before the program of a step.
fn is_before_program(word: &str) -> bool {
    const WORDS: [&str; 11] =
        ["sudo", "time", "env", "xargs", "if", "then", "else", "do", "for", "while", "!"];
    WORDS.contains(&word)
        || word.starts_with('-')
        || (word.contains('=') && !word.starts_with(['"', '\'']))
}

/// Whether a part does nothing that is worth showing: it only goes somewhere, or prints what is no fact.
fn is_bare(words: &[&str]) -> bool {
    let begin = words.iter().take_while(|word| is_before_program(word)).count();
    let Some(program) = words.get(begin) else { return true };
    match *program {
        "cd" | "pwd" | "true" | ":" | "export" | "set" | "done" | "fi" => true,
        "echo" | "printf" => !words[begin + 1..]
            .iter()
            .any(|word| word.contains(|letter: char| letter.is_ascii_digit())),
        _ => false,
    }
}

/// The words of a step; what is quoted, or a command of its own, is one.
fn words(step: &str) -> Vec<&str> {
    let (mut words, mut begin, mut quote, mut depth) = (Vec::new(), None, None, 0_usize);
    for (at, letter) in step.char_indices() {
        match quote {
            Some(mark) if mark == letter => quote = None,
            Some(_) => continue,
            None if matches!(letter, '"' | '\'' | '`') => quote = Some(letter),
            None if letter == '(' => depth += 1,
            None if letter == ')' => depth = depth.saturating_sub(1),
            None => {}
        }
        if letter.is_whitespace() && depth == 0 {
            words.extend(begin.take().map(|begin: usize| &step[begin..at]));
        } else {
            begin.get_or_insert(at);
        }
    }
    words.extend(begin.map(|begin| &step[begin..]));
    words
}

/// What a part does: the most that one of its steps does.
fn does(part: &str) -> Does {
    let part = part.trim_end_matches(['&', '|', ';', '\n', ' ']);
    parts(part, &["|"]).map(step_does).max().unwrap_or(Does::Look)
}

fn step_does(step: &str) -> Does {
    let step = step.trim_matches(['|', ' ', '(', ')', '{', '}', '\n', '\t']);
    if writes_file(step) {
        return Does::Work;
    }
    let mut words = step.split_whitespace().skip_while(|word| is_before_program(word));
    let Some(path) = words.next() else { return Does::Look };
    let program = path.rsplit('/').next().unwrap_or(path);
    let rest: Vec<&str> = words.collect();
    let edits =
        || rest.iter().any(|word| word.starts_with("-i") || *word == "-delete" || *word == "-exec");
    if INTERPRETERS.contains(&program) {
        let is_inline = step.contains("<<")
            || rest.iter().any(|word| matches!(*word, "-c" | "-e" | "-r" | "-p" | "-lc" | "-"));
        let writes = WRITING.as_ref().is_none_or(|writing| writing.is_match(step));
        return if is_inline && !writes { Does::Look } else { Does::Work };
    }
    if program == "git" {
        let is_look = rest.iter().any(|word| GIT_READERS.contains(word));
        return if is_look { Does::Look } else { Does::Work };
    }
    if READERS.contains(&program) {
        let is_editor = matches!(program, "sed" | "find") && edits();
        return if is_editor { Does::Work } else { Does::Look };
    }
    let is_script = path.contains('/') || program.contains('.');
    if WORKERS.contains(&program) || is_script { Does::Work } else { Does::Something }
}

/// Whether something outside of quotes is sent into a file.
fn writes_file(step: &str) -> bool {
    let mut bare = String::with_capacity(step.len());
    let mut quote = None;
    for letter in step.chars() {
        match quote {
            Some(mark) if mark == letter => quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                // A file may be named in quotes.
                bare.push('q');
            }
            None => bare.push(letter),
        }
    }
    let Some(redirect) = REDIRECT.as_ref() else { return true };
    redirect.captures_iter(&bare).any(|found| {
        let to = &found["to"];
        &found["from"] != "2" && !to.starts_with('&') && to != "/dev/null" && !to.is_empty()
    })
}

/// A command in parts, each with the sign that parts it from the next. Signs in quotes and in here-documents are none.
fn parts<'c>(command: &'c str, signs: &'c [&'c str]) -> impl Iterator<Item = &'c str> {
    let mut rest = command;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, left) = rest.split_at(part_end(rest, signs));
        rest = left;
        Some(part)
    })
}

fn part_end(text: &str, signs: &[&str]) -> usize {
    let mut quote = None;
    let mut document: Option<String> = None;
    let mut skip_to = 0;
    for (at, letter) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        match quote {
            Some(mark) => {
                if letter == mark {
                    quote = None;
                }
                continue;
            }
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                continue;
            }
            None if letter == '\\' => {
                skip_to = at + 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
                continue;
            }
            None => {}
        }
        let here = &text[at..];
        if let Some(word) = here.strip_prefix("<<").filter(|word| !word.starts_with('<')) {
            let word = word.trim_start_matches(['-', ' ']);
            let is_mark =
                |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '"' | '\'');
            let end = word.find(|letter| !is_mark(letter)).unwrap_or(word.len());
            document = Some(word[..end].trim_matches(['"', '\'']).to_owned());
            skip_to = text.len() - word.len() + end;
            continue;
        }
        if letter == '\n'
            && let Some(end) = document.take()
        {
            let lines = here[1..].split_inclusive('\n');
            let mut length = 1;
            for line in lines {
                length += line.len();
                if line.trim() == end {
                    break;
                }
            }
            skip_to = at + length;
            // The end of the document ends the part as well.
            if signs.contains(&"\n") {
                return skip_to;
            }
            continue;
        }
        if let Some(sign) = signs.iter().find(|sign| here.starts_with(**sign)) {
            return at + sign.len();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::material::skill_mask::{SkillMask, Unshown};

    #[test]
    fn reading_the_skill_is_cut_out_of_a_command_that_does_more() {
        let mask = SkillMask::new(&Unshown::named("csv-report"), ["Sum it up"]).unwrap();
        let names = |part: &str| mask.is_path_in(part);
        for (command, expected) in [
            ("cat .claude/skills/csv-report/SKILL.md", None),
            ("bash -lc 'sed -n 1,200p /x/.agents/skills/csv-report/SKILL.md'", None),
            ("ls .claude/skills | head -3 && cat .claude/skills/csv-report/SKILL.md", None),
            ("cat .claude/skills/csv-report/SKILL.md; make all", Some("make all")),
            ("cd .claude/skills && python run.py", Some("python run.py")),
            (
                "cd .claude/skills/csv-report && python3 -c \"import os; print(open('SKILL.md').read())\"",
                None,
            ),
            (
                "cd .claude/skills/csv-report && cat more.md; cd ../../.. && make",
                Some("cd ../../.. && make"),
            ),
            (
                "python3 - <<'EOF'\nprint(open('.claude/skills/csv-report/SKILL.md').read())\nEOF\nmake",
                Some("make"),
            ),
            ("base64 .claude/skills/csv-report/SKILL.md", None),
            ("tr a-z A-Z < .claude/skills/csv-report/SKILL.md", None),
            ("tr a-z A-Z <.claude/skills/csv-report/SKILL.md; cat a.csv", Some("cat a.csv")),
            ("pandoc .claude/skills/csv-report/SKILL.md", None),
            ("find . -name SKILL.md", None),
            ("find / -name SKILL.md 2>/dev/null | xargs cat", None),
            ("ls -la .claude/ 2>&1", None),
            ("git ls-files .claude/", None),
            (
                "python .claude/skills/csv-report/sum.py a.csv",
                Some("python .claude/skills/csv-report/sum.py a.csv"),
            ),
            (".claude/skills/csv-report/run a.csv", Some(".claude/skills/csv-report/run a.csv")),
            (
                "cat .claude/skills/csv-report/a.md > report.md",
                Some("cat .claude/skills/csv-report/a.md > report.md"),
            ),
            (
                "cp .claude/skills/csv-report/a.md report.md",
                Some("cp .claude/skills/csv-report/a.md report.md"),
            ),
            ("cat .claude/x; echo 'a; b' > out.txt", Some("echo 'a; b' > out.txt")),
            // Looking at something else is no reading of the skill.
            (
                "cat .claude/skills/csv-report/SKILL.md; grep -n broken a.csv",
                Some("grep -n broken a.csv"),
            ),
            ("cat .claude/skills/csv-report/SKILL.md a.csv", Some("cat a.csv")),
            ("cat a.csv .claude/skills/csv-report/SKILL.md | head -3", Some("cat a.csv | head -3")),
            (
                "head -n 5 .claude/skills/csv-report/SKILL.md && sqlite3 db 'select 1'",
                Some("sqlite3 db 'select 1'"),
            ),
            ("grep -n total .claude/skills/csv-report/SKILL.md a.csv", Some("grep -n total a.csv")),
            ("grep -n total .claude/skills/csv-report/SKILL.md", None),
            (
                "sed -n 1,9p .claude/skills/csv-report/SKILL.md; sed -n 1,9p a.csv",
                Some("sed -n 1,9p a.csv"),
            ),
            ("ls -la .claude/skills/csv-report && cat a.csv", Some("cat a.csv")),
            (
                "find . -name SKILL.md -o -name '*.csv' | xargs cat",
                Some("find . -name '*.csv' | xargs cat"),
            ),
            ("find . -type f -not -path './.claude/*'", Some("find . -type f")),
            ("ls -a | grep -v .claude", Some("ls -a")),
            ("tree -a -I .claude", Some("tree -a")),
            ("grep -rn total --exclude-dir=.claude", Some("grep -rn total")),
            (
                "for f in .claude/skills/csv-report/*.md a.csv; do echo == $f; cat $f; done",
                Some("for f in a.csv; do echo == $f; cat $f; done"),
            ),
            (
                "for f in .claude/skills/csv-report/*.md; do cat $f; done; wc -l a.csv",
                Some("wc -l a.csv"),
            ),
            ("for f in .claude/skills/csv-report/*.md; do cat $f; done", None),
            (
                "cd .claude/skills/csv-report && cat SKILL.md && cat ../../../a.csv",
                Some("cat ../../../a.csv"),
            ),
            ("D=.claude/skills; F=$D/csv-report; base64 $F/x.md", None),
            ("cat .claude/skills/csv-report/SKILL.md; echo ---; pwd", None),
            ("cat .claude/skills/csv-report/SKILL.md || echo 'none found'", None),
            (
                "cat .claude/skills/csv-report/SKILL.md; echo row 17 is broken",
                Some("echo row 17 is broken"),
            ),
            ("cat $(ls -d .claude/skills/*/SKILL.md)", None),
        ] {
            let left = Command::new(command).without_reading(&names);
            let left = if let Left::Rest(rest) = &left { Some(rest.as_str()) } else { None };
            assert_eq!(left, expected, "{command}");
        }
    }

    #[test]
    fn looking_is_told_from_working() {
        for (command, does) in [
            ("cat a | head -3", Does::Look),
            ("python3 -c \"print(1 > 0)\"", Does::Look),
            ("python3 -c \"open('a', 'w')\"", Does::Work),
            ("python3 sum.py", Does::Work),
            ("ls 2>/dev/null", Does::Look),
            ("ls > list", Does::Work),
            ("ls | tee list", Does::Work),
            ("sed -i s/a/b/ x", Does::Work),
            ("git status", Does::Look),
            ("git commit -m x", Does::Work),
            ("frobnicate", Does::Something),
            ("A=1 cat x", Does::Look),
            ("", Does::Look),
        ] {
            assert_eq!(Command::new(command).does(), does, "{command}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_parts_are_the_command(command in "[a-z ;&|'\"\\\\\n<>E]{0,60}") {
            let all: String = parts(&command, &["&&", "||", ";", "\n"]).collect();
            proptest::prop_assert_eq!(all, command);
        }
    }
}
