//! Checks of what stands in files.

use std::ops::Range;
use std::path::Path;

use super::context::CheckContext;
use super::evidence::{Evidence, name};
use super::glob::Glob;
use super::needle::Needle;
use super::outputs::{Content, Outputs};
use super::trace;
use super::unseen::{Searched, Unseen};
use super::verdict::{Finding, Verdict};
use crate::yaml::{self, Node, Value, YamlError};

/// How many lines around a hit its context has, on each side.
const CONTEXT_LINES: usize = 2;

/// At least one matching file contains it.
pub(super) fn contains(outputs: &Outputs, glob: &Glob, needle: &Needle) -> Finding {
    let mut evidence = Evidence::new();
    let mut unseen = Unseen::new(outputs, glob);
    let mut searched = 0_usize;
    for path in outputs.matching(glob) {
        let Some(file) = unseen.text(path, outputs.read(path)) else { continue };
        match needle.find(&file.text, 0) {
            Ok(hit) => {
                searched += 1;
                if let Some(hit) = hit {
                    evidence.add(file.shown(path, &hit));
                }
            }
            Err(error) => unseen.add_reason(path, &error.to_string()),
        }
        if evidence.is_full() {
            break;
        }
    }
    if !evidence.is_empty() {
        let mut found = Evidence::new();
        found.note(format!("Found {needle}"));
        return Finding::new(Verdict::Holds, merge(found, evidence));
    }
    if searched + unseen.files() == 0 {
        return outputs.none_matches(glob);
    }
    evidence.note(unseen.not_in(needle, searched, glob));
    outputs.note_links(glob, &mut evidence);
    unseen.tell(&mut evidence);
    Finding::new(unseen.unless(Verdict::Fails), evidence)
}

/// The final answer or a file contains it. What is in neither must have been looked for in both.
pub(super) fn result_contains(
    outputs: &Outputs,
    context: &CheckContext<'_>,
    needle: &Needle,
) -> Finding {
    let answer = trace::output_contains(context, needle);
    if answer.verdict == Verdict::Holds {
        return answer;
    }
    let files = match Glob::new("*") {
        Ok(every) => contains(outputs, &every, needle),
        Err(problem) => return Finding::plain(Verdict::Unknown, problem.to_string()),
    };
    match (answer.verdict, files.verdict) {
        (_, Verdict::Holds) => files,
        (Verdict::Unknown, _) => answer,
        (_, Verdict::Unknown) => files,
        (_, Verdict::Fails) => Finding::plain(
            Verdict::Fails,
            format!("{needle} is neither in the final answer nor in a file"),
        ),
    }
}

/// No matching file contains it outside of an exempt context.
pub(super) fn not_contains(
    outputs: &Outputs,
    glob: &Glob,
    needle: &Needle,
    contexts: &[String],
) -> Finding {
    let mut evidence = Evidence::new();
    let mut unseen = Unseen::new(outputs, glob);
    let (mut searched, mut exempt) = (0_usize, 0_usize);
    for path in outputs.matching(glob) {
        let Some(file) = unseen.text(path, outputs.read(path)) else { continue };
        match hits(&file, needle, contexts, path, &mut evidence) {
            Ok(count) => {
                searched += 1;
                exempt += count;
            }
            Err(reason) => unseen.add_reason(path, &reason),
        }
        if evidence.is_full() {
            break;
        }
    }
    if !evidence.is_empty() {
        let mut found = Evidence::new();
        found.note(format!("Found {needle}"));
        return Finding::new(Verdict::Fails, merge(found, evidence));
    }
    evidence.note(match searched + unseen.files() {
        0 => format!("Vacuous: no file matches `{}`", glob.as_str()),
        _ => unseen.not_in(needle, searched, glob),
    });
    if exempt > 0 {
        evidence.note(format!("{exempt} exempt by their context"));
    }
    outputs.note_links(glob, &mut evidence);
    unseen.tell(&mut evidence);
    Finding::new(unseen.unless(Verdict::Holds), evidence)
}

/// Adds the hits that are not exempt to the evidence; the number of those that are.
fn hits(
    file: &Searched,
    needle: &Needle,
    contexts: &[String],
    path: &Path,
    evidence: &mut Evidence,
) -> Result<usize, String> {
    let text = file.text.as_str();
    let mut exempt = 0;
    let mut start = 0;
    // Many hits on one long line have the same context, which is looked for once.
    let mut last: Option<(Range<usize>, bool)> = None;
    while let Some(hit) = needle.find(text, start).map_err(|error| error.to_string())? {
        let is_exempt = match &last {
            _ if contexts.is_empty() => false,
            Some((line, is_exempt)) if line.start <= hit.start && hit.end <= line.end => *is_exempt,
            _ => {
                let around = context(text, &hit);
                let is_exempt =
                    contexts.iter().any(|context| text[around.clone()].contains(context.as_str()));
                last = Some((line_range(text, hit.start), is_exempt));
                is_exempt
            }
        };
        if is_exempt {
            exempt += 1;
        } else {
            evidence.add(file.shown(path, &hit));
            // The hits of a binary file all look the same.
            if evidence.is_full() || file.is_binary {
                break;
            }
        }
        start = after(text, &hit);
        if start > text.len() {
            break;
        }
    }
    Ok(exempt)
}

/// Where to look on: behind the hit, and always further on.
fn after(text: &str, hit: &Range<usize>) -> usize {
    if hit.end > hit.start {
        return hit.end;
    }
    hit.end + text[hit.end..].chars().next().map_or(1, char::len_utf8)
}

/// The lines of a hit and two more on each side.
fn context(text: &str, hit: &Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let mut start = hit.start;
    for line in 0..=CONTEXT_LINES {
        match memchr::memrchr(b'\n', &bytes[..start]) {
            Some(newline) if line == CONTEXT_LINES => {
                start = newline + 1;
            }
            Some(newline) => start = newline,
            None => {
                start = 0;
                break;
            }
        }
    }
    // A newline at the very end of a hit belongs to the hit's last line.
    let last = if hit.end > hit.start { hit.end - 1 } else { hit.end };
    let mut end = last;
    for line in 0..=CONTEXT_LINES {
        match memchr::memchr(b'\n', &bytes[end..]) {
            Some(newline) if line == CONTEXT_LINES => end += newline,
            Some(newline) => end += newline + 1,
            None => {
                end = text.len();
                break;
            }
        }
    }
    start..end.max(hit.end)
}

/// The number and the text of the line that a byte is on.
pub(super) fn line_at(text: &str, offset: usize) -> (usize, &str) {
    let number = memchr::memchr_iter(b'\n', &text.as_bytes()[..offset]).count() + 1;
    (number, &text[line_range(text, offset)])
}

/// The line that a byte is on, without its newline.
fn line_range(text: &str, offset: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', &bytes[..offset]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &bytes[offset..]).map_or(text.len(), |length| offset + length);
    start..end
}

fn merge(mut head: Evidence, places: Evidence) -> Evidence {
    head.take_places(places);
    head
}

/// Every matching file is YAML, and there is one.
pub(super) fn yaml_valid(outputs: &Outputs, glob: &Glob) -> Finding {
    let mut evidence = Evidence::new();
    let mut unseen = Unseen::new(outputs, glob);
    let mut valid = 0_usize;
    for path in outputs.matching(glob) {
        let content = outputs.read(path);
        let text = match content {
            Content::Text(text) => text,
            Content::Binary(_) => {
                evidence.add(format!("{} is binary", name(path)));
                continue;
            }
            Content::Encoded(_) | Content::TooLarge(_) | Content::Unreadable(_) => {
                unseen.add(path, &content);
                continue;
            }
        };
        match yaml_problem(&text) {
            Some(YamlProblem::Wrong { reason, offset }) => {
                let (number, _) = line_at(&text, offset.min(text.len()));
                evidence.add(format!("{}:{number}: {reason}", name(path)));
            }
            Some(YamlProblem::TooLarge(reason)) => unseen.add_reason(path, &reason),
            None => valid += 1,
        }
    }
    if !evidence.is_empty() {
        return Finding::new(Verdict::Fails, evidence);
    }
    if valid + unseen.files() == 0 {
        return outputs.none_matches(glob);
    }
    unseen.tell(&mut evidence);
    let files = if valid == 1 { "file is" } else { "files are" };
    evidence.note(format!("{valid} {files} valid YAML"));
    Finding::new(unseen.unless(Verdict::Holds), evidence)
}

enum YamlProblem {
    Wrong {
        reason: String,
        offset: usize,
    },
    /// Perhaps valid, but too large to be sure.
    TooLarge(String),
}

/// The first problem of a text with any number of documents.
fn yaml_problem(text: &str) -> Option<YamlProblem> {
    let mut start = 0;
    loop {
        let result = yaml::parse(&text[start..], start);
        let (end, result) = match result {
            Err(YamlError::SecondDocument { offset })
                if offset > start && text.is_char_boundary(offset) =>
            {
                (offset, yaml::parse(&text[start..offset], start))
            }
            result => (text.len(), result),
        };
        match result {
            Ok(node) => {
                if let Some(key) = node.as_ref().and_then(repeated_key) {
                    let reason =
                        format!("the key `{}` occurs twice", key.scalar_text().unwrap_or("?"));
                    return Some(YamlProblem::Wrong { reason, offset: key.span.start });
                }
            }
            Err(error @ YamlError::TooLarge { .. }) => {
                return Some(YamlProblem::TooLarge(error.to_string()));
            }
            Err(error) => {
                let (reason, offset) = (error.to_string(), error.offset());
                return Some(YamlProblem::Wrong { reason, offset });
            }
        }
        if end >= text.len() {
            return None;
        }
        start = end;
    }
}

fn repeated_key(node: &Node) -> Option<&Node> {
    match &node.value {
        Value::Scalar(_) => None,
        Value::Sequence(items) => items.iter().find_map(repeated_key),
        Value::Mapping(mapping) => mapping
            .duplicates
            .first()
            .or_else(|| mapping.entries.iter().find_map(|entry| repeated_key(&entry.value))),
    }
}
