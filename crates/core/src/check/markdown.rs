//! `markdown_section`: a heading and what stands below it.

use std::ops::Range;

use super::content::line_at;
use super::evidence::{Evidence, name};
use super::glob::Glob;
use super::needle::Needle;
use super::outputs::Outputs;
use super::unseen::Unseen;
use super::verdict::{Finding, Verdict};
use crate::skill::markdown::Markdown;

/// A matching file has the section, and the section contains what is looked for.
pub(super) fn section(
    outputs: &Outputs,
    glob: &Glob,
    heading: &str,
    needle: Option<&Needle>,
) -> Finding {
    let mut evidence = Evidence::new();
    let mut unseen = Unseen::new(outputs, glob);
    let mut count = 0_usize;
    for path in outputs.matching(glob) {
        let Some(file) = unseen.text(path, outputs.read(path)) else { continue };
        count += 1;
        let text = file.text.as_str();
        for section in sections(text, heading) {
            let body = &text[section.clone()];
            let hit = match needle {
                None => body.find(|c: char| !c.is_whitespace()).map(|at| at..at),
                Some(needle) => match needle.find(body, 0) {
                    Ok(hit) => hit,
                    Err(error) => {
                        return Finding::plain(
                            Verdict::Unknown,
                            format!("{}: {error}", name(path)),
                        );
                    }
                },
            };
            if let Some(hit) = hit {
                let hit = section.start + hit.start..section.start + hit.end;
                let mut evidence = Evidence::new();
                evidence.note(format!("Found in the section {heading:?}"));
                evidence.add(file.shown(path, &hit));
                return Finding::new(Verdict::Holds, evidence);
            }
            let (number, _) = line_at(text, section.start.min(text.len()));
            let what = needle.map_or_else(
                || "has nothing in it".to_owned(),
                |needle| format!("does not contain {needle}"),
            );
            evidence.add(format!("the section at {}:{number} {what}", name(path)));
        }
    }
    if count + unseen.files() == 0 {
        return outputs.none_matches(glob);
    }
    if evidence.is_empty() {
        let glob = glob.as_str();
        evidence.note(match (count, unseen.files()) {
            (0, _) => format!("No file that matches `{glob}` could be searched"),
            (1, 0) => format!("The file that matches `{glob}` has no heading {heading:?}"),
            (_, 0) => {
                format!("None of the {count} files that match `{glob}` has the heading {heading:?}")
            }
            (_, unseen) => format!(
                "{count} of the {} files that match `{glob}` have no heading {heading:?}",
                count + unseen
            ),
        });
    }
    outputs.note_links(glob, &mut evidence);
    unseen.tell(&mut evidence);
    Finding::new(unseen.unless(Verdict::Fails), evidence)
}

/// What stands below each heading of that text.
fn sections(text: &str, wanted: &str) -> Vec<Range<usize>> {
    let headings = Markdown::parse_file(text).headings;
    let wanted = normal(wanted);
    let mut sections = Vec::new();
    for (number, heading) in headings.iter().enumerate() {
        if normal(&heading.text) != wanted {
            continue;
        }
        let next = headings[number + 1..].iter().find(|next| next.level <= heading.level);
        let end = next.map_or(text.len(), |next| next.span.start);
        sections.push(heading.span.end.min(end)..end);
    }
    sections
}

/// Case and the number of spaces do not matter.
fn normal(heading: &str) -> String {
    let words: Vec<&str> = heading.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
