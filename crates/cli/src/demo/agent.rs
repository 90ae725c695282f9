//! The scripted agent: writes release notes from a list of commits, well if it has the skill and badly if not.
//!
//! It speaks the smallest contract (`command`): the prompt on standard input, the work folder as its own, events on
//! standard output. It has no model and can do nothing else.

use std::io::{self, Read, Write};
use std::path::Path;

use serde_json::json;

use super::SKILL;

/// The kinds of commits that users notice, with the headings of the skill, in its order.
const SECTIONS: [(&str, &str); 4] =
    [("feat!", "Breaking changes"), ("feat", "New"), ("fix", "Fixed"), ("perf", "Faster")];

/// Plays the agent in the current folder.
pub(super) fn play(prompt: &mut dyn Read, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    prompt.take(1 << 20).read_to_string(&mut text)?;
    let skills = std::env::var_os("SKILLGAUGE_SKILLS").unwrap_or_default();
    let has_skill = Path::new(&skills).join(SKILL).join("SKILL.md").is_file();
    let mut say = |event: serde_json::Value| writeln!(out, "{event}");
    say(json!({ "type": "start", "model": "scripted", "agent_version": "demo" }))?;
    if has_skill {
        say(json!({ "type": "skill", "name": SKILL, "state": "asked" }))?;
        say(json!({ "type": "skill", "name": SKILL, "state": "loaded" }))?;
    }
    let file = text
        .split_whitespace()
        .find(|word| Path::new(word).extension().is_some_and(|end| end == "txt"))
        .unwrap_or("commits.txt");
    say(json!({ "type": "tool_use", "id": "1", "name": "Read", "input": { "path": file } }))?;
    let commits = fs_err::read_to_string(file);
    let (output, is_error) = match &commits {
        Ok(commits) => (commits.clone(), false),
        Err(error) => (error.to_string(), true),
    };
    say(json!({ "type": "tool_result", "id": "1", "output": output, "is_error": is_error }))?;
    let title = version(&text);
    let notes = if has_skill { sorted(&title, &output) } else { copied(&title, &output) };
    say(
        json!({ "type": "tool_use", "id": "2", "name": "Write", "input": { "path": "RELEASE_NOTES.md" } }),
    )?;
    fs_err::write("RELEASE_NOTES.md", &notes)?;
    say(json!({ "type": "tool_result", "id": "2", "output": "written", "is_error": false }))?;
    let tokens = text.len() + output.len();
    say(
        json!({ "type": "usage", "input_tokens": tokens, "output_tokens": notes.len(), "cost_usd": 0.0 }),
    )?;
    say(
        json!({ "type": "result", "text": format!("The release notes of {title} are in RELEASE_NOTES.md.") }),
    )
}

fn version(prompt: &str) -> String {
    let mut words = prompt.split_whitespace();
    words.find(|word| *word == "version");
    words.next().unwrap_or("the next version").to_owned()
}

/// As somebody without the skill does it: every commit, as it was written.
fn copied(title: &str, commits: &str) -> String {
    let lines: String = commits
        .lines()
        .filter_map(|line| Some(format!("- {}\n", line.split_once(' ')?.1)))
        .collect();
    format!("# Release {title}\n\n{lines}")
}

/// As the skill says: in sections, for the reader, without what no user notices.
fn sorted(title: &str, commits: &str) -> String {
    let parsed: Vec<(&str, &str)> =
        commits.lines().filter_map(|line| line.split_once(' ')?.1.split_once(": ")).collect();
    let mut out = format!("# {title}\n");
    for (kind, heading) in SECTIONS {
        let lines: Vec<String> = parsed
            .iter()
            .filter(|(found, _)| *found == kind)
            .map(|(_, text)| line(kind, text))
            .collect();
        if !lines.is_empty() {
            out.push_str(&["\n## ", heading, "\n\n", &lines.concat()].concat());
        }
    }
    out
}

fn line(kind: &str, text: &str) -> String {
    let mut characters = text.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    let advice = if kind == "feat!" { ". Change what depends on it before you update" } else { "" };
    format!("- {first}{}{advice}\n", characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMITS: &str = "a1 feat!: rename x\nb2 refactor: y\nc3 fix: crash\n";

    #[test]
    fn the_skill_sorts_and_leaves_out() {
        let notes = sorted("2.0", COMMITS);
        assert_eq!(
            notes,
            "# 2.0\n\n## Breaking changes\n\n- Rename x. Change what depends on it before you update\n\n## Fixed\n\n- Crash\n"
        );
    }

    #[test]
    fn without_the_skill_every_commit_is_copied() {
        assert_eq!(
            copied("2.0", COMMITS),
            "# Release 2.0\n\n- feat!: rename x\n- refactor: y\n- fix: crash\n"
        );
    }

    #[test]
    fn the_version_stands_in_the_prompt() {
        assert_eq!(version("Write release notes for version 2.1.0 from x"), "2.1.0");
        assert_eq!(version("Hello"), "the next version");
    }
}
