//! Takes out of a result what tells which version made it: names, paths, version numbers, times.
//!
//! The same is taken out of both results, and a word in brackets stays in its place. Patterns run in linear time
//! whatever the text.

use std::borrow::Cow;

use regex::{Captures, Regex};

use crate::judge::material::{NAME, name_pattern};

/// What is taken out in any case: a pattern and what stays. Earlier ones go first.
const PATTERNS: [(&str, &str); 12] = [
    // Folders of a machine; the last part of a path is content.
    (
        r#"(?:/(?:home|Users|root|tmp|var|private|work|workspaces?|opt|mnt|srv)|\b[A-Za-z]:)[/\\](?:[^\s"'`<>|:;,(){}\[\]/\\]+[/\\])*"#,
        "[path]/",
    ),
    (r"\b(?:with_skill|without_skill|old_skill|new_skill)\b", "[configuration]"),
    (r"\b(?:iteration|run)-\d+\b", "[run]"),
    (r"\b[\w.-]+-workspace\b", "[workspace]"),
    // Times: with a date, compact, as people write them, alone, and in seconds since 1970.
    (
        r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?)?",
        "[time]",
    ),
    (r"\b20\d{6}(?:[T_-]?\d{4,6}Z?)?\b", "[time]"),
    (r"\b(?:\d{4}/\d{1,2}/\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{4})\b", "[time]"),
    (
        r"(?i)\b(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:day)?,? +)?(?:\d{1,2}(?:st|nd|rd|th)? +)?(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.? +(?:\d{1,2}(?:st|nd|rd|th)?,? +)?(?:\d{1,2}:\d{2}(?::\d{2})? +)?(?:[a-z]{3,4} +)?\d{4}\b",
        "[time]",
    ),
    (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b", "[time]"),
    (r"\b1[6-9]\d{8}(?:\d{3})?\b", "[time]"),
    // Versions: `v2`, `_v2.1`, `version: 1.2`, `"version": "2"`.
    (r"(?i)(?P<before>^|[^a-z0-9])v\d+(?:\.\d+)*", "${before}[version]"),
    (
        r#"(?i)(?P<before>\bversion["']?\s{0,2}[:=#]?\s{0,2}["']?)\d+(?:\.\d+)*"#,
        "${before}[version]",
    ),
];

/// What is taken out of the results of two versions.
#[derive(Debug)]
pub struct Blinding {
    patterns: Vec<(Regex, &'static str)>,
    /// What the skill is called.
    name: Option<String>,
}

impl Blinding {
    /// For two versions that go by these names.
    ///
    /// A plain word that both versions are called by, such as `csv`, tells nothing and may be what the task is about;
    /// names that differ, and names that nobody uses by chance (`csv-report`), are taken out.
    pub fn new(names: [&[String]; 2]) -> Result<Self, regex::Error> {
        let [one, other] = names;
        let is_telling = |name: &&String| {
            name.contains(['-', '_']) || !(one.contains(name) && other.contains(name))
        };
        let mut telling: Vec<&String> = one.iter().chain(other).filter(is_telling).collect();
        // The longest first: one name may be the beginning of another.
        telling.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        telling.dedup();
        let mut patterns = Vec::new();
        for name in telling.into_iter().filter(|name| !name.trim().is_empty()) {
            // A plain word may be a part of others.
            let edge = if name.contains(['-', '_']) { "" } else { r"\b" };
            let pattern = format!("(?i){edge}{}{edge}", name_pattern(name));
            patterns.push((Regex::new(&pattern)?, NAME));
        }
        // Paths and workspaces hold names, so they go before them.
        let mut all = Vec::new();
        for (index, (pattern, stays)) in PATTERNS.into_iter().enumerate() {
            if index == 4 {
                all.append(&mut patterns);
            }
            all.push((Regex::new(pattern)?, stays));
        }
        let name = one.iter().chain(other).find(|name| !name.trim().is_empty()).cloned();
        Ok(Self { patterns: all, name })
    }

    /// What the skill is called, if it has a name.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The text without what tells versions apart.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (pattern, stays) in &self.patterns {
            let expand = |found: &Captures<'_>| {
                let mut out = String::new();
                found.expand(stays, &mut out);
                out
            };
            if let Cow::Owned(changed) = pattern.replace_all(&text, expand) {
                text = Cow::Owned(changed);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    fn blinding() -> &'static Blinding {
        static BLINDING: LazyLock<Blinding> = LazyLock::new(|| {
            let names = |names: [&str; 2]| names.map(str::to_owned);
            Blinding::new([&names(["pdf-tools", "csv"]), &names(["pdf-helper", "csv"])]).unwrap()
        });
        &BLINDING
    }

    #[test]
    fn what_tells_versions_apart_is_taken_out() {
        let blinding = blinding();
        for (text, expected) in [
            ("made by v1", "made by [version]"),
            ("report_v2.md, V10, (v3.1)", "report_[version].md, [version], ([version])"),
            ("version: 1.2.0", "version: [version]"),
            (r#"{"version": "2"}"#, r#"{"version": "[version]"}"#),
            ("/home/me/one-workspace/iteration-3/eval-a/with_skill/run-1/a.md", "[path]/a.md"),
            (
                "see iteration-3/eval-a/old_skill/run-2/x",
                "see [run]/eval-a/[configuration]/[run]/x",
            ),
            (r"C:\Users\me\out.txt", "[path]/out.txt"),
            ("one-workspace/v0/skill", "[workspace]/[version]/skill"),
            ("2026-02-22T20:00:00Z", "[time]"),
            ("on 2026-02-22 at 20:00:01.5", "on [time] at [time]"),
            ("Mon Nov 16 01:30:52 UTC 2026", "[time]"),
            ("16 November 2026, Nov 16, 2026", "[time], [time]"),
            ("16/11/2026 16.11.2026 2026/11/16", "[time] [time] [time]"),
            ("1794770746 1794770746876", "[time] [time]"),
            ("20261116T013052Z 20261116", "[time] [time]"),
            ("by pdf-tools or PDF_helper", "by project or project"),
            ("a csv file", "a csv file"),
            (
                "nothing: 3 of 4, 12:30, va, review1, may be",
                "nothing: 3 of 4, 12:30, va, review1, may be",
            ),
        ] {
            assert_eq!(blinding.apply(text), expected, "{text}");
        }
    }

    #[test]
    fn a_plain_name_that_differs_is_telling() {
        let blinding = Blinding::new([&["draw".to_owned()], &["paint".to_owned()]]).unwrap();
        assert_eq!(blinding.apply("draw or paint"), "project or project");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn twice_is_once_and_no_version_or_time_is_left(text in "([a-z ]{0,5}(v[0-9]{1,3}|2026-0[1-9]-1[0-9]T0[0-9]:11:22Z|/tmp/x/v1/|pdf-tools)[ ,./]){0,6}") {
            let blinding = blinding();
            let once = blinding.apply(&text).into_owned();
            prop_assert_eq!(blinding.apply(&once), once.as_str());
            prop_assert!(!once.contains("2026") && !once.contains("pdf-tools") && !once.contains("/tmp"), "{}", once);
        }
    }
}
