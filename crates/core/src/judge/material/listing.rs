//! Takes a folder out of listings of files, as tools print them: one name in a line or many, trees, `ls -R`, JSON.
//!
//! Only what is about the folder goes. A line with other names in it loses the name, and nothing else.

use std::sync::LazyLock;

use regex::Regex;

/// What stands before a name in a tree.
static INDENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:\s|│|[├└|`+\\][─_-]*|[-*•]\s)*").ok());
/// A line that is about one file: what `ls -l`, `du`, `wc`, `git status` and `git clean` print, and errors.
static ENTRY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^\s*(?:[-dlbcps][-rwxsStT]{9}|[\d.,]+[KMGTP]?\s+\S+$|[MADRCU?!]{1,2}\s+\S+$|add '|Would |Removing |(?:[\w./-]+: )+.*: [A-Z][a-z ]+$)",
    )
    .ok()
});
/// A line of `ls -l`.
static LONG: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:total [\d.]+[KMGT]?$|[-dlbcps][-rwxsStT]{9}\S*\s)").ok());
/// A text in a list, or something with fields, and what parts it from the next.
static ITEM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?P<item>\{[^{}]*\}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?P<comma>\s*,\s*)?(?P<colon>\s*:)?"#).ok()
});

fn is_match(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// A listing without the paths that are to be hidden; `has_fact` says of a sentence with such a path whether it stays.
pub(super) fn without(
    output: &str,
    is_own: &dyn Fn(&str) -> bool,
    has_fact: &dyn Fn(&str) -> bool,
) -> String {
    if output.trim_start().starts_with(['[', '{'])
        && serde_json::from_str::<serde::de::IgnoredAny>(output).is_ok()
    {
        return items_without(output, is_own);
    }
    let mut kept = String::with_capacity(output.len());
    // Within a block of `ls -R`; and below a folder of a tree, which is so deep.
    let (mut is_block, mut below) = (false, None);
    for line in output.split_inclusive('\n') {
        let bare = line.trim_end();
        if is_block {
            is_block = !bare.is_empty();
            continue;
        }
        let indent =
            INDENT.as_ref().and_then(|indent| indent.find(bare)).map_or("", |found| found.as_str());
        let depth = indent.chars().count();
        below = below.filter(|top| depth > *top && !bare.is_empty());
        if below.is_some() {
            continue;
        }
        if !is_own(bare) {
            kept.push_str(line);
            continue;
        }
        let node = &bare[indent.len()..];
        let first = node.split_whitespace().next().unwrap_or_default();
        if first == node {
            is_block = node.ends_with(':');
            below = (!is_block).then_some(depth);
            continue;
        }
        // What `grep` found in it, what it has in it.
        let is_about =
            is_own(first) && (first.contains(':') || node[first.len()..].starts_with(" ["));
        if is_about || is_match(&ENTRY, bare) {
            continue;
        }
        let rest = if node.starts_with(['[', '{']) {
            items_without(line, is_own)
        } else if is_sentence(node) {
            let others: Vec<&str> = node.split_whitespace().filter(|word| !is_own(word)).collect();
            if has_fact(&others.join(" ")) { line.to_owned() } else { String::new() }
        } else {
            words_without(line, is_own)
        };
        if rest.contains(char::is_alphanumeric) {
            kept.push_str(&rest);
        }
    }
    kept
}

/// Whether a line is words with single spaces, rather than names.
fn is_sentence(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_plain = |word: &&&str| {
        let word = word.trim_end_matches([',', ':', ';', '.']);
        !word.is_empty() && word.chars().all(char::is_alphabetic)
    };
    !line.contains("  ")
        && !line.contains('\t')
        && words.iter().filter(is_plain).count() * 2 >= words.len()
}

/// A line of names without those that are to be hidden.
fn words_without(line: &str, is_own: &dyn Fn(&str) -> bool) -> String {
    let mut kept = String::with_capacity(line.len());
    let (names, newline) = line.split_at(line.trim_end().len());
    let mut is_gone = false;
    for word in names.split_inclusive(char::is_whitespace) {
        // The space behind a name goes with it.
        is_gone = is_own(word.trim()) || (is_gone && word.trim().is_empty());
        if !is_gone {
            kept.push_str(word);
        }
    }
    let mut kept = kept.trim_end().to_owned();
    if !names.ends_with(',') {
        kept.truncate(kept.trim_end_matches(',').len());
    }
    kept + newline
}

/// A list of texts, or of things with fields, without those that name what is to be hidden.
fn items_without(list: &str, is_own: &dyn Fn(&str) -> bool) -> String {
    let Some(pattern) = ITEM.as_ref() else { return list.to_owned() };
    let mut kept = String::with_capacity(list.len());
    let mut end = 0;
    for found in pattern.captures_iter(list) {
        let (Some(all), Some(item)) = (found.get(0), found.name("item")) else { continue };
        let before = &list[end..all.start()];
        kept.push_str(before);
        end = all.end();
        // What a field holds, or is called, is no item; nor is the whole.
        let item = item.as_str();
        let is_item = found.name("colon").is_none() && kept.trim_end().ends_with(['[', ',']);
        if !is_item || !is_own(item) {
            let inner = item.strip_prefix('{').and_then(|item| item.strip_suffix('}'));
            match inner {
                Some(inner) => kept.extend(["{", &items_without(inner, is_own), "}"]),
                None => kept.push_str(item),
            }
            kept.push_str(&all.as_str()[item.len()..]);
            continue;
        }
        if found.name("comma").is_none() {
            // It was the last one.
            let body = kept.trim_end();
            let length = body.strip_suffix(',').unwrap_or(body).len();
            kept.truncate(length);
        }
    }
    kept.push_str(&list[end..]);
    kept
}

/// A text without the listing of a folder that has a file of this name in it; `is_entry` knows all that is in the folder.
pub(super) fn without_folder(output: &str, file: &str, is_entry: &dyn Fn(&str) -> bool) -> String {
    let name_of = |line: &str| -> Option<String> {
        let line = line.trim();
        let is_long = is_match(&LONG, line);
        let name = line.split_whitespace().last()?.trim_end_matches('/');
        let is_in = line.starts_with("total ") || matches!(name, "." | "..") || is_entry(name);
        ((is_long || !line.contains(char::is_whitespace)) && is_in).then(|| name.to_owned())
    };
    let lines: Vec<(&str, Option<String>)> =
        output.split_inclusive('\n').map(|line| (line, name_of(line))).collect();
    let mut kept = String::with_capacity(output.len());
    for run in lines.chunk_by(|one, other| one.1.is_some() == other.1.is_some()) {
        let is_listed = run.iter().any(|(_, name)| name.as_deref() == Some(file));
        if !is_listed {
            kept.extend(run.iter().map(|(line, _)| *line));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(output: &str) -> String {
        let is_own = |text: &str| text.contains(".claude") || text.contains("SKILL.md");
        without(output, &is_own, &|text| text.contains(|letter: char| letter.is_ascii_digit()))
    }

    #[test]
    fn only_what_is_about_the_folder_goes() {
        for (listing, expected) in [
            (".\n..\n.claude\na.csv\n", ".\n..\na.csv\n"),
            (".  ..  .claude  .git  a.csv\n", ".  ..  .git  a.csv\n"),
            ("., .., .claude, .git, a.csv\n", "., .., .git, a.csv\n"),
            ("a.csv, .claude\n", "a.csv\n"),
            (". .. .claude .git a.csv\n", ". .. .git a.csv\n"),
            ("src\t.claude\tMakefile\n", "src\tMakefile\n"),
            (r#"[".claude",".git","a.csv"]"#, r#"[".git","a.csv"]"#),
            (r#"["a.csv", ".claude"]"#, r#"["a.csv"]"#),
            ("[\n  \".claude\",\n  \"a.csv\"\n]", "[\n  \"a.csv\"\n]"),
            (
                r#"[{"name":".claude","type":"dir"},{"name":"a.csv","type":"file"}]"#,
                r#"[{"name":"a.csv","type":"file"}]"#,
            ),
            (r#"{"total": 42, "path": ".claude/x"}"#, r#"{"total": 42, "path": ".claude/x"}"#),
            (r#"{"files": [".claude", "a.csv"]}"#, r#"{"files": ["a.csv"]}"#),
            ("['.claude', 'a.csv']\n", "['a.csv']\n"),
            (
                ".:\n.claude\na.csv\n\n./.claude:\nskills\n\n./.claude/skills:\nx\n\n./src:\nb.rs\n",
                ".:\na.csv\n\n./src:\nb.rs\n",
            ),
            (".\n├── .claude\n│   └── skills\n│       └── x\n└── a.csv\n", ".\n└── a.csv\n"),
            ("- /w/\n  - .claude/\n    - skills/\n  - a.csv\n", "- /w/\n  - a.csv\n"),
            ("|__.claude\n|__|__skills\n|__a.csv\n", "|__a.csv\n"),
            (
                "drwxr-xr-x 3 a a 4096 Nov 1 .claude\n-rw-r--r-- 1 a a 4 Nov 1 a.csv\n",
                "-rw-r--r-- 1 a a 4 Nov 1 a.csv\n",
            ),
            ("?? .claude/\n M a.csv\n", " M a.csv\n"),
            ("8.0K\t./.claude\n4.0K\t./a.csv\n", "4.0K\t./a.csv\n"),
            ("./.claude/x/SKILL.md:3:Sum 7\n./a.csv:7:Sum 7\n", "./a.csv:7:Sum 7\n"),
            ("ls: cannot access '.claude': No such file or directory\n", ""),
            ("Base directory: /w/.claude/x\n", ""),
            // A fact beside it stays.
            ("Ran .claude/x/sum.py over 42 rows\n", "Ran .claude/x/sum.py over 42 rows\n"),
        ] {
            assert_eq!(left(listing), expected, "{listing}");
        }
    }

    #[test]
    fn a_folder_that_was_listed_goes_with_all_its_names() {
        let is_entry = |name: &str| matches!(name, "SKILL.md" | "scripts");
        for (listing, expected) in [
            (
                "total 8\ndrwxr-xr-x 2 a a 9 Nov 1 .\ndrwxr-xr-x 2 a a 9 Nov 1 ..\n-rw-r--r-- 1 a a 9 Nov 1 SKILL.md\nh,1\n",
                "h,1\n",
            ),
            ("SKILL.md\nscripts\na.csv\n", "a.csv\n"),
            ("scripts\na.csv\n", "scripts\na.csv\n"),
        ] {
            assert_eq!(without_folder(listing, "SKILL.md", &is_entry), expected, "{listing}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_names_nothing_stays(listing in "[a-z.│├ \\[\\]{}\"',:\n-]{0,80}") {
            proptest::prop_assert_eq!(left(&listing), listing.clone());
            proptest::prop_assert_eq!(items_without(&listing, &|_| false), listing);
        }
    }
}
