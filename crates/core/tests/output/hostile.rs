//! Whatever a message, a hint, a path or a span contains, every format stays what it says it is.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use skillgauge_core::finding::{Finding, Fix, Level, Place};
use skillgauge_core::output::{Github, Json, Jsonl, Junit, Paths, Sarif, Scope};
use skillgauge_core::rule::RULES;
use skillgauge_core::text::Span;
use skillgauge_core::validate::Checked;

use crate::fixture::{made, whole};

/// Any characters, with those that end something in some format more often than chance has them.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        any::<char>(),
        prop::sample::select(
            "\0\u{1b}\r\n\t\u{85}\u{2028}\"\\/%:,;<>&]'{}é😀\u{fffe}".chars().collect::<Vec<_>>()
        ),
    ];
    prop::collection::vec(character, 0..12).prop_map(String::from_iter)
}

fn path() -> impl Strategy<Value = PathBuf> {
    #[cfg(unix)]
    let name = {
        use std::os::unix::ffi::OsStringExt as _;
        let bytes = prop::collection::vec(any::<u8>(), 1..8);
        prop_oneof![
            text().prop_map(std::ffi::OsString::from),
            bytes.prop_map(std::ffi::OsString::from_vec),
        ]
    };
    #[cfg(not(unix))]
    let name = text().prop_map(std::ffi::OsString::from);
    prop::collection::vec(name, 1..4).prop_map(PathBuf::from_iter)
}

fn place() -> impl Strategy<Value = Place> {
    // Spans that do not fit the text must not matter.
    let span = (0..40_usize, 0..40_usize).prop_map(|(start, end)| Span::new(start, end));
    prop_oneof![
        Just(Place::folder()),
        Just(Place::skill_md_file()),
        span.clone().prop_map(Place::skill_md),
        path().prop_map(|path| Place::file(&path)),
        (path(), text(), span).prop_map(|(path, source, span)| Place::part(
            &path,
            source.into(),
            span
        )),
    ]
}

fn finding() -> impl Strategy<Value = Finding> {
    let level = prop_oneof![Just(Level::Warning), Just(Level::Error)];
    let fix = (0..40_usize, 0..40_usize, text())
        .prop_map(|(start, end, with)| Fix::Replace { span: Span::new(start, end), with });
    let parts = (
        prop::sample::select(RULES.to_vec()),
        level,
        text(),
        place(),
        prop::option::of(text()),
        prop::option::of(fix),
    );
    parts.prop_map(|(rule, level, message, place, hint, fix)| Finding {
        rule,
        level,
        message,
        place,
        hint,
        fix,
    })
}

fn skills() -> impl Strategy<Value = Vec<Checked>> {
    let skill = (path(), text(), prop::collection::vec(finding(), 0..4))
        .prop_map(|(path, text, findings)| made(path, &text, findings));
    prop::collection::vec(skill, 0..4)
}

fn paths() -> Paths {
    Paths::new("/project".into(), &[])
}

fn all_findings(skills: &[Checked]) -> impl Iterator<Item = &Finding> {
    skills.iter().flat_map(|checked| &checked.findings)
}

proptest! {
    #[test]
    fn json_stays_evenly_indented_json(skills in skills()) {
        let text = whole(&Json::new(paths()), &skills, Scope::ManySkills);
        let document: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&text, &(serde_json::to_string_pretty(&document).unwrap() + "\n"));
        for checked in &skills {
            let text = whole(&Json::new(paths()), std::slice::from_ref(checked), Scope::OneSkill);
            let report: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(text, serde_json::to_string_pretty(&report).unwrap() + "\n");
        }
    }

    #[test]
    fn jsonl_keeps_messages_and_lines(skills in skills()) {
        let text = whole(&Jsonl::new(paths()), &skills, Scope::ManySkills);
        prop_assert_eq!(text.matches('\n').count(), skills.len());
        for (line, checked) in text.split_terminator('\n').zip(&skills) {
            let report: Value = serde_json::from_str(line).unwrap();
            for (list, level) in [("errors", Level::Error), ("warnings", Level::Warning)] {
                let written = report[list].as_array().unwrap().iter().map(|one| one["message"].as_str().unwrap());
                let meant = checked.findings.iter().filter(|one| one.level == level).map(|one| &*one.message);
                prop_assert!(written.eq(meant));
            }
        }
    }

    #[test]
    fn sarif_keeps_messages_and_gives_legal_places(skills in skills()) {
        let text = whole(&Sarif::new(paths(), "0.0.0"), &skills, Scope::ManySkills);
        let log: Value = serde_json::from_str(&text).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        prop_assert_eq!(results.len(), all_findings(&skills).count());
        for (result, finding) in results.iter().zip(all_findings(&skills)) {
            prop_assert!(result["message"]["text"].as_str().unwrap().starts_with(&finding.message));
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            let legal = |c: char| c.is_ascii_alphanumeric() || "-._~/%:".contains(c);
            prop_assert!(!uri.is_empty() && uri.chars().all(legal), "{}", uri);
            if let Some(region) = place.get("region") {
                let number = |name: &str| region[name].as_u64().unwrap();
                let start = (number("startLine"), number("startColumn"));
                let end = (number("endLine"), number("endColumn"));
                prop_assert!(start.0 >= 1 && start.1 >= 1 && start <= end, "{}", region);
            }
        }
    }

    #[test]
    fn github_has_one_line_for_each_finding(skills in skills()) {
        let text = whole(&Github::new(paths()), &skills, Scope::ManySkills);
        let lines: Vec<&str> = text.split_terminator(['\n', '\r']).collect();
        prop_assert_eq!(lines.len(), all_findings(&skills).count() + 1);
        for (line, finding) in lines.iter().zip(all_findings(&skills)) {
            let start = format!("::{} file=", finding.level.as_str());
            let title = format!(",title={}::", finding.rule.code);
            prop_assert!(line.starts_with(&start) && line.contains(&title), "{}", line);
            prop_assert!(!line.contains(char::is_control));
        }
    }

    #[test]
    fn junit_stays_xml(skills in skills()) {
        let text = whole(&Junit::new(paths()), &skills, Scope::ManySkills);
        let document = roxmltree::Document::parse(&text);
        prop_assert!(document.is_ok(), "{:?}\n{}", document.err(), text);
        let names = ["testsuites", "testsuite", "testcase", "failure", "system-out"];
        for node in document.unwrap().descendants().filter(roxmltree::Node::is_element) {
            prop_assert!(names.contains(&node.tag_name().name()));
        }
    }
}

#[test]
fn a_path_that_is_not_utf8_is_shown_as_far_as_it_can_be() {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff"));
        let text = whole(&Jsonl::new(paths()), &[made(path, "", vec![])], Scope::OneSkill);
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["skill_path"], "/project/a\u{fffd}");
    }
}
