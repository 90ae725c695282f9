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

    /// The command without the parts that read the skill; nothing when only looking is left.
    pub(super) fn without_reading(&self, names_skill: &dyn Fn(&str) -> bool) -> Option<String> {
        let (mut kept, mut works, mut is_inside) = (String::new(), false, false);
        for part in parts(self.0, &["&&", "||", ";", "\n"]) {
            let names = names_skill(part);
            let does = does(part);
            if part.trim_start().starts_with("cd ") {
                is_inside = names;
            }
            if (names || is_inside) && does != Does::Work {
                continue;
            }
            works |= does != Does::Look;
            kept.push_str(part);
        }
        let kept = kept.trim().trim_end_matches(['&', ';', '|']).trim_end();
        (works && !kept.is_empty()).then(|| kept.to_owned())
    }
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
    let mut words = step.split_whitespace().skip_while(|word| {
        matches!(
            *word,
            "sudo"
                | "time"
                | "env"
                | "xargs"
                | "if"
                | "then"
                | "else"
                | "do"
                | "for"
                | "while"
                | "!"
        ) || word.starts_with('-')
            || (word.contains('=') && !word.starts_with(['"', '\'']))
    });
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
        ] {
            assert_eq!(
                Command::new(command).without_reading(&names).as_deref(),
                expected,
                "{command}"
            );
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
