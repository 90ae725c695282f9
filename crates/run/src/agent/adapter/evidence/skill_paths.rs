//! Skills in paths and in command output.
//!
//! Two questions: does a tool's input name a file of a skill ([`in_value`], a soft trigger), and does a command's
//! output hold a skill's body ([`bodies_in`], which is how a skill is loaded by an agent without a tool for it)?

use serde_json::Value;
use skillgauge_format::transcript::names_skill;

use super::super::context::InstalledSkill;

pub(in super::super) const SKILL_FILE: &str = "SKILL.md";

/// Folders that agents look for skills in.
const ROOTS: [&str; 6] = [
    ".claude/skills/",
    ".agents/skills/",
    ".codex/skills/",
    ".gemini/skills/",
    ".opencode/skills/",
    ".opencode/skill/",
];

/// Texts longer than this are content, not commands; their end is not searched.
const MAX_SEARCHED: usize = 64 << 10;
/// More than this in one input are not told apart.
const MAX_FOUND: usize = 32;

/// The skills whose files a tool's input names, each with the path, in order and without repetition.
pub(in super::super) fn in_value(
    input: &Value,
    skills: &[InstalledSkill],
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    search(input, skills, &mut found);
    found
}

fn search(value: &Value, skills: &[InstalledSkill], found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => {
            for touch in in_text(text, skills) {
                if found.len() < MAX_FOUND && !found.contains(&touch) {
                    found.push(touch);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| search(item, skills, found)),
        Value::Object(fields) => {
            // What is written into a file is not a path that is touched.
            let content =
                ["content", "new_string", "newString", "old_string", "oldString", "prompt"];
            let inputs = fields.iter().filter(|(key, _)| !content.contains(&key.as_str()));
            inputs.for_each(|(_, item)| search(item, skills, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The skills whose files a command or path names.
pub(in super::super) fn in_text(text: &str, skills: &[InstalledSkill]) -> Vec<(String, String)> {
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED)];
    let mut hits: Vec<(usize, String)> = Vec::new();
    for skill in skills {
        let tail = tail(&skill.folder);
        for start in occurrences(text, tail) {
            let end = start + tail.len();
            let whole = !text[..start].ends_with(is_name) && !text[end..].starts_with(is_name);
            if whole && !tail.is_empty() {
                hits.push((start, skill.name.clone()));
            }
        }
    }
    for root in ROOTS {
        for start in occurrences(text, root) {
            let rest = &text[start + root.len()..];
            let name = &rest[..rest.find(|character| !is_name(character)).unwrap_or(rest.len())];
            let known = skills.iter().any(|skill| folder_name(&skill.folder) == name);
            if !name.is_empty() && !known && !name.starts_with('.') {
                hits.push((start, name.to_owned()));
            }
        }
    }
    hits.sort();
    hits.dedup();
    hits.into_iter().map(|(start, name)| (name, path_around(text, start).to_owned())).collect()
}

/// The skills whose SKILL.md a command's output quotes line by line, as `grep` does.
pub(in super::super) fn quoted_in(
    output: &str,
    skills: &[InstalledSkill],
) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for (name, path) in in_text(output, skills) {
        if let Some(end) = path.find("SKILL.md:").map(|start| start + SKILL_FILE.len()) {
            let touch = (name, path[..end].to_owned());
            if !found.contains(&touch) {
                found.push(touch);
            }
        }
    }
    found
}

/// The skills whose body stands in the output of a command.
///
/// An installed skill is recognised by the first lines of its body. For any other, the output must show a frontmatter
/// with a name and text after it.
pub(in super::super) fn bodies_in(output: &str, skills: &[InstalledSkill]) -> Vec<String> {
    let mut names: Vec<String> = skills
        .iter()
        .filter(|skill| has_body(output, &skill.body))
        .map(|skill| skill.name.clone())
        .collect();
    let lines: Vec<&str> = output.lines().map(unnumbered).collect();
    for name in frontmatter_names(&lines) {
        let judged =
            skills.iter().any(|skill| names_skill(&skill.name, &name) && !skill.body.is_empty());
        if !judged && !names.contains(&name) && names.len() < MAX_FOUND {
            names.push(name);
        }
    }
    names
}

/// Whether the body's first lines stand in the output, each on a line of its own, in order.
fn has_body(output: &str, body: &[String]) -> bool {
    let mut lines = output.lines();
    let mut stands = |expected: &String| {
        lines.any(|line| line.trim() == expected || unnumbered(line) == expected)
    };
    !body.is_empty() && body.iter().all(&mut stands)
}

/// The names in complete frontmatters that text follows.
fn frontmatter_names(lines: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        if lines[index] != "---" {
            index += 1;
            continue;
        }
        let Some(length) = lines[index + 1..].iter().position(|line| *line == "---") else { break };
        let fields = &lines[index + 1..index + 1 + length];
        let rest = &lines[index + length + 2..];
        let body = rest.iter().take_while(|line| **line != "---").any(|line| !line.is_empty());
        let name = fields.iter().find_map(|line| line.strip_prefix("name:"));
        match name.map(|name| name.trim().trim_matches(['"', '\''])) {
            Some(name) if body && !name.is_empty() => {
                names.push(name.to_owned());
                index += length + 2;
            }
            // The closing line of no frontmatter may be the opening line of one.
            _ => index += 1,
        }
    }
    names
}

/// A line without the number that `nl`, `cat -n` and the like put before it.
fn unnumbered(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
    if rest.len() == line.len() {
        return line;
    }
    match rest.strip_prefix(['\t', ':', '|']).or_else(|| rest.strip_prefix("  ")) {
        Some(text) => text.trim(),
        None if rest.is_empty() => rest,
        None => line,
    }
}

/// The last two parts of a folder: enough to know it by, and the same in absolute and relative paths.
fn tail(folder: &str) -> &str {
    let mut slashes = folder.match_indices('/').map(|(at, _)| at).rev();
    match (slashes.next(), slashes.next()) {
        (Some(_), Some(second)) => &folder[second + 1..],
        _ => folder,
    }
}

fn folder_name(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

fn occurrences(text: &str, pattern: &str) -> Vec<usize> {
    if pattern.is_empty() {
        return Vec::new();
    }
    text.match_indices(pattern).map(|(start, _)| start).take(MAX_FOUND).collect()
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || "-_.".contains(character)
}

/// The whole path that an occurrence is a part of.
fn path_around(text: &str, at: usize) -> &str {
    let ends =
        |character: char| character.is_whitespace() || "'\"`;|&<>()=,*{}[]$".contains(character);
    let start = text[..at]
        .rfind(ends)
        .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
    let end = text[at..].find(ends).map_or(text.len(), |after| at + after);
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{InstalledSkill, bodies_in, in_text, in_value, quoted_in, unnumbered};

    const BODY: &str = "# csv-report\n\nRead the CSV, write report.md.\n";
    const FILE: &str = "---\nname: csv-report\ndescription: x\n---\n\n# csv-report\n\nRead the CSV, write report.md.\n";

    fn installed() -> Vec<InstalledSkill> {
        vec![InstalledSkill::new("csv-report", "/WORK/.agents/skills/csv-report", BODY)]
    }

    fn names(text: &str, skills: &[InstalledSkill]) -> Vec<String> {
        in_text(text, skills).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_path_is_found_absolute_relative_and_in_a_command() {
        for text in [
            "/WORK/.agents/skills/csv-report/SKILL.md",
            ".agents/skills/csv-report/scripts/sum.py",
            "python3 .agents/skills/csv-report/scripts/sum.py > out.txt; ls",
            "/bin/bash -lc 'cat /WORK/.agents/skills/csv-report/SKILL.md'",
            "cd .agents/skills/csv-report && cat SKILL.md",
        ] {
            assert_eq!(names(text, &installed()), ["csv-report"], "{text}");
            assert_eq!(names(text, &[]), ["csv-report"], "{text}");
        }
    }

    #[test]
    fn the_path_is_taken_out_of_the_command() {
        let found = in_text("python3 '.claude/skills/csv-report/scripts/sum.py' > out", &[]);
        assert_eq!(
            found,
            [("csv-report".to_owned(), ".claude/skills/csv-report/scripts/sum.py".to_owned())]
        );
    }

    #[test]
    fn a_similar_name_is_another_skill() {
        assert_eq!(
            names("cat .agents/skills/csv-report-2/SKILL.md", &installed()),
            ["csv-report-2"]
        );
        assert_eq!(names("cat my-skills/csv-report.txt", &installed()), Vec::<String>::new());
        assert_eq!(
            names("ls .agents/skills/ .agents/skills/*/SKILL.md", &installed()),
            Vec::<String>::new()
        );
        assert_eq!(names("cat sales.csv", &installed()), Vec::<String>::new());
    }

    #[test]
    fn a_plugin_folder_is_known_by_its_installed_place() {
        let skills =
            [InstalledSkill::new("undertest:csv-report", "/AGENTS/plug/skills/csv-report", BODY)];
        assert_eq!(
            names("cat /AGENTS/plug/skills/csv-report/references/style.md", &skills),
            ["undertest:csv-report"]
        );
    }

    #[test]
    fn what_is_written_into_a_file_is_no_touch() {
        let input =
            json!({"file_path": "notes.md", "content": "see .claude/skills/csv-report/SKILL.md"});
        assert_eq!(in_value(&input, &installed()), []);
        let input = json!({"file_path": ".claude/skills/csv-report/SKILL.md"});
        assert_eq!(in_value(&input, &[]).len(), 1);
    }

    #[test]
    fn a_body_is_found_as_it_is_and_numbered() {
        let numbered: Vec<String> =
            FILE.lines().zip(1..).map(|(line, number)| format!("{number:6}\t{line}")).collect();
        let numbered = numbered.join("\n");
        for output in [FILE, &numbered, BODY, &format!("noise\n{FILE}more")] {
            assert_eq!(bodies_in(output, &installed()), ["csv-report"], "{output}");
        }
        assert_eq!(bodies_in(FILE, &[]), ["csv-report"]);
        assert_eq!(bodies_in(&numbered, &[]), ["csv-report"]);
    }

    #[test]
    fn a_frontmatter_a_listing_or_a_match_is_no_body() {
        for output in [
            "---\nname: csv-report\ndescription: x\n",
            "---\nname: csv-report\ndescription: x\n---\n",
            "---\nname: csv-report\ndescription: x\n---\n\n",
            "-rw-r--r-- 1 u u 239 /WORK/.agents/skills/csv-report/SKILL.md\n",
            ".agents/skills/csv-report/SKILL.md:8:Read the CSV, write report.md.\n",
            "8 /WORK/.agents/skills/csv-report/SKILL.md\n",
            "cat: SKILL.md: No such file or directory\n",
            "",
        ] {
            assert_eq!(bodies_in(output, &installed()), Vec::<String>::new(), "{output}");
            assert_eq!(bodies_in(output, &[]), Vec::<String>::new(), "{output}");
        }
    }

    #[test]
    fn a_quoted_line_is_a_touch_and_a_listed_name_is_none() {
        let quoted =
            ".agents/skills/csv-report/SKILL.md:8:Read\n.agents/skills/csv-report/SKILL.md:9:x\n";
        let path = ".agents/skills/csv-report/SKILL.md".to_owned();
        assert_eq!(quoted_in(quoted, &installed()), [("csv-report".to_owned(), path)]);
        assert_eq!(quoted_in(".agents/skills/csv-report/SKILL.md\n", &installed()), []);
    }

    #[test]
    fn several_skills_in_one_output_are_all_found() {
        let output = format!("{FILE}---\nname: \"other\"\ndescription: y\n---\nDo it.\n");
        assert_eq!(bodies_in(&output, &installed()), ["csv-report", "other"]);
        assert_eq!(bodies_in(&output, &[]), ["csv-report", "other"]);
    }

    #[test]
    fn numbers_are_taken_away_only_where_a_tool_put_them() {
        assert_eq!(unnumbered("     6\t# csv-report"), "# csv-report");
        assert_eq!(unnumbered("6: # csv-report"), "# csv-report");
        assert_eq!(unnumbered("  12  text"), "text");
        assert_eq!(unnumbered("5"), "");
        assert_eq!(unnumbered("2 eggs"), "2 eggs");
        assert_eq!(unnumbered("1. First"), "1. First");
    }
}
