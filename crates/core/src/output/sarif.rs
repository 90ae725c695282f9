//! SARIF 2.1.0, for code scanning services.
//!
//! One run; its rules are the table of rules, its results are the findings of all skills, one a line. Everything
//! before the results is known before the first skill, so results are written as they come.
//!
//! Limits of GitHub's code scanning that shape the content: a rule needs short and full description and help, a
//! full description has at most 1,000 characters, a result needs a location, and paths are relative to
//! `%SRCROOT%`. The fingerprint has a name of its own: GitHub's upload action computes one for
//! `primaryLocationLineHash` and warns about every result that brings another.

mod fingerprint;
mod log;
mod uri;

use std::collections::HashMap;
use std::path::Path;

use log::{
    ArtifactChange, ArtifactLocation, Configuration, Descriptor, Fix as LogFix, Location, Message,
    Multiformat, PartialFingerprints, PhysicalLocation, Properties, Region as LogRegion,
    Replacement, ReplacementText, ResultEntry,
};

use super::json::compact;
use super::place::{Region, target};
use super::{Detail, Paths, Renderer, Scope, Totals};
use crate::finding::{Finding, Fix, Level};
use crate::rule::{DefaultLevel, Fixable, Origin, RULES, Rule};
use crate::skill::SKILL_MD;
use crate::validate::Checked;

/// The `sarif` format.
#[derive(Debug)]
pub struct Sarif {
    paths: Paths,
    version: String,
}

impl Sarif {
    /// With paths relative to the working folder, as found by skillgauge `version`.
    pub fn new(paths: Paths, version: impl Into<String>) -> Self {
        Self { paths, version: version.into() }
    }

    fn result<'a>(
        &self,
        checked: &Checked,
        finding: &'a Finding,
        seen: &mut HashMap<u64, usize>,
    ) -> ResultEntry<'a> {
        let artifact_location = self.artifact(&target(checked, finding));
        let hash = fingerprint::of(finding.rule.code, &artifact_location.uri, &finding.message);
        let occurrence = seen.entry(hash).and_modify(|count| *count += 1).or_insert(1);
        let region = Region::marked(checked, finding).map(LogRegion::from);
        ResultEntry {
            rule_id: finding.rule.code,
            rule_index: RULES.iter().position(|rule| *rule == finding.rule),
            level: finding.level.as_str(),
            message: Message { text: message_text(finding) },
            partial_fingerprints: PartialFingerprints {
                skillgauge: format!("{hash:016x}:{occurrence}"),
            },
            fixes: self.fix(checked, finding).into_iter().collect(),
            locations: [Location {
                physical_location: PhysicalLocation { artifact_location, region },
            }],
        }
    }

    /// Only changes of text can be told in SARIF; the mark at the start of a file and its name cannot.
    fn fix<'a>(&self, checked: &Checked, finding: &'a Finding) -> Option<LogFix<'a>> {
        let Fix::Replace { span, with } = finding.fix.as_ref()? else { return None };
        let replacement = Replacement {
            deleted_region: LogRegion::from(Region::of(checked.text(), *span)),
            inserted_content: ReplacementText { text: with },
        };
        let change = ArtifactChange {
            artifact_location: self.artifact(&checked.skill.path.join(SKILL_MD)),
            replacements: [replacement],
        };
        Some(LogFix { artifact_changes: [change] })
    }

    fn artifact(&self, path: &Path) -> ArtifactLocation {
        if let Some(uri) = uri::relative(&self.paths.relative(path)) {
            return ArtifactLocation { uri, uri_base_id: Some("%SRCROOT%") };
        }
        let uri = uri::absolute(&self.paths.absolute(path).to_string_lossy());
        ArtifactLocation { uri, uri_base_id: None }
    }
}

impl Renderer for Sarif {
    fn open(&self, _: Scope) -> String {
        let rules: Vec<String> = RULES.iter().map(|rule| compact(&descriptor(rule))).collect();
        format!(
            r#"{{
"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
"version": "2.1.0",
"runs": [{{
"tool": {{"driver": {{"name": "skillgauge", "semanticVersion": {version}, "rules": [
{rules}
]}}}},
"columnKind": "unicodeCodePoints",
"newlineSequences": ["\r\n", "\n", "\r"],
"results": ["#,
            version = compact(&self.version),
            rules = rules.join(",\n"),
        )
    }

    fn skill(&self, checked: &Checked, _: Scope, _: Detail) -> String {
        let mut out = String::new();
        let mut seen = HashMap::new();
        for finding in &checked.findings {
            out.push_str(if out.is_empty() { "\n" } else { ",\n" });
            out.push_str(&compact(&self.result(checked, finding, &mut seen)));
        }
        out
    }

    fn separator(&self) -> &'static str {
        ","
    }

    fn close(&self, _: &Totals, _: Scope) -> String {
        "\n]\n}]\n}\n".to_owned()
    }
}

fn message_text(finding: &Finding) -> std::borrow::Cow<'_, str> {
    match &finding.hint {
        Some(hint) => format!("{}\n{hint}", finding.message).into(),
        None => finding.message.as_str().into(),
    }
}

fn descriptor(rule: &'static Rule) -> Descriptor {
    let body = rule.body();
    let (enabled, level) = match rule.level {
        DefaultLevel::Off => (Some(false), Level::Warning),
        DefaultLevel::Warning | DefaultLevel::WarningOrStrictError => (None, Level::Warning),
        DefaultLevel::Error => (None, Level::Error),
    };
    let origin = match rule.origin {
        Origin::Contract => "contract",
        Origin::Extra => "extra",
    };
    let fixable = match rule.fixable {
        Fixable::Yes => Some("fixable"),
        Fixable::No => None,
    };
    Descriptor {
        id: rule.code,
        name: pascal_case(rule.code),
        short_description: Message { text: rule.title().into() },
        full_description: Message { text: first_section(&body, rule.title()).into() },
        help: Multiformat { text: plain(&body), markdown: body },
        default_configuration: Configuration { enabled, level: level.as_str() },
        properties: Properties { tags: [Some(origin), fixable].into_iter().flatten().collect() },
    }
}

/// `NAME_TOO_LONG` as `NameTooLong`: some viewers show the name only when it is one identifier.
fn pascal_case(code: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_owned() + &rest.to_ascii_lowercase()
    };
    code.split('_').map(word).collect()
}

/// The text under the first heading, which says what the rule does, as one line.
fn first_section(body: &str, title: &str) -> String {
    let lines = body.lines().skip_while(|line| !is_heading(line)).skip(1);
    let words: Vec<&str> =
        lines.take_while(|line| !is_heading(line)).flat_map(str::split_whitespace).collect();
    if words.is_empty() { title.to_owned() } else { words.join(" ") }
}

/// The documentation for a reader that does not know Markdown: headings and fences lose their marks.
fn plain(body: &str) -> String {
    let lines = body.lines().filter(|line| !line.starts_with("```"));
    lines.map(|line| line.strip_prefix("## ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn is_heading(line: &str) -> bool {
    line.starts_with("## ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_names() {
        assert_eq!(pascal_case("SKILL_MD_TOO_LONG"), "SkillMdTooLong");
        assert_eq!(pascal_case("UNREADABLE"), "Unreadable");
    }

    #[test]
    fn the_full_description_is_the_first_section_in_one_line() {
        let body = "## What it does\nReports a\nthing.\n\n## Why is this bad?\nIt is.";
        assert_eq!(first_section(body, "Title"), "Reports a thing.");
        assert_eq!(first_section("", "Title"), "Title");
    }

    #[test]
    fn plain_help_has_no_marks() {
        let body = "## Example\n```yaml\nname: a\n```\n";
        assert_eq!(plain(body), "Example\nname: a");
    }

    #[test]
    fn every_rule_fits_what_github_accepts() {
        for rule in RULES {
            let descriptor = descriptor(rule);
            let full = descriptor.full_description.text.chars().count();
            assert!(!descriptor.short_description.text.is_empty(), "{} has no title", rule.code);
            assert!((1..=1000).contains(&full), "{}: {full} characters", rule.code);
            assert!(!descriptor.help.text.is_empty(), "{} has no help", rule.code);
        }
    }
}
