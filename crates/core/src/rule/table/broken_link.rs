//! `BROKEN_LINK`.

use std::path::Path;

use crate::rule::scan::link::{Destination, destination};
use crate::rule::{Context, rule};
use crate::skill::Skill;

rule! {
    /// A link leads to a file that is not there
    ///
    /// ## What it does
    /// Reports Markdown links, images and link definitions in SKILL.md to a path inside the folder that does not
    /// exist. Anchors and queries are cut off, percent signs decoded. Links in code, web addresses and templates such
    /// as `references/{name}.md` do not count; links that leave the folder are `DEEP_LINK_TARGET`.
    ///
    /// ## Why is this bad?
    /// The agent follows the link when it needs the details, and gets nothing.
    ///
    /// ## Example
    /// ```markdown
    /// See [the fields](reference/fields.md).
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// See [the fields](references/fields.md).
    /// ```
    BROKEN_LINK, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let skill = context.skill;
    for link in &document.markdown().links {
        let Some(path) = missing(skill, &link.target) else { continue };
        let reported = context.report_at(link.span, format!("link to a file that is not there: `{path}`"));
        match same_name(skill, &path) {
            Some(near) => reported.hint(format!("did you mean `{near}`?")),
            None => reported.hint("correct the path, or add the file"),
        };
    }
}

/// The path that a target means, if it should be a file of the skill and is not there.
fn missing(skill: &Skill, target: &str) -> Option<String> {
    if is_template(target) {
        return None;
    }
    let Some(Destination::Inside(path)) = destination(target) else { return None };
    if path.is_empty() || !names_file(&path) {
        return None;
    }
    let relative = Path::new(&path);
    let is_listed = skill.files.binary_search_by(|file| file.path.as_path().cmp(relative)).is_ok();
    // What git ignores, and what a nested skill holds, is not listed.
    (!is_listed && !skill.path.join(relative).exists()).then_some(path)
}

/// Whether somebody has to fill something in before the target means a file.
fn is_template(target: &str) -> bool {
    target.contains(['{', '}', '<', '>', '*', '$', '|', '[', ']', '"', '\''])
        || target.contains("...")
        || target.contains("path/to")
}

/// Whether a path looks like a file or a folder and not like a word in a text about links: `[title](url)`.
fn names_file(path: &str) -> bool {
    if Path::new(path).extension().is_some_and(|extension| extension == "md") {
        return true;
    }
    let first = path.split('/').next().unwrap_or(path);
    let is_host = first.starts_with("www.")
        || (path.contains('/')
            && [".com", ".org", ".net", ".io", ".dev", ".ai"].iter().any(|end| first.ends_with(end)));
    !is_host && path.contains(['.', '/']) && !path.contains(' ')
}

/// The only file of the skill with the same name in another place, or in another case.
fn same_name(skill: &Skill, path: &str) -> Option<String> {
    let name = Path::new(path).file_name()?;
    let mut same = skill
        .files
        .iter()
        .filter(|file| file.path.file_name().is_some_and(|other| other.eq_ignore_ascii_case(name)));
    let only = same.next().filter(|_| same.next().is_none())?;
    only.path.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{is_template, names_file};

    #[test]
    fn templates_and_words_are_not_files() {
        for target in ["references/{name}.md", "<file>", "src/*.rs", "$DIR/x", "path/to/file.md", "a/.../b"] {
            assert!(is_template(target), "{target}");
        }
        for path in ["url", "link", "example.com/x", "www.x.y"] {
            assert!(!names_file(path), "{path}");
        }
        for path in ["a.md", "references/a", "my file.md", "x/y.com/z"] {
            assert!(names_file(path), "{path}");
        }
    }
}
