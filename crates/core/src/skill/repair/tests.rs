//! Cases and properties of the repair.

use proptest::prelude::*;

use super::*;
use crate::yaml::Mapping;

/// The text with every offered replacement made.
fn apply(text: &str, broken: &[BrokenValue]) -> String {
    let mut repaired = text.to_owned();
    for value in broken.iter().rev() {
        if let Some(quoted) = &value.quoted {
            repaired.replace_range(value.span.range(), quoted);
        }
    }
    repaired
}

fn mapping(text: &str) -> Option<Mapping> {
    match yaml::parse(text, 0) {
        Ok(Some(Node { value: Value::Mapping(mapping), .. })) => Some(mapping),
        _ => None,
    }
}

/// What the description reads as after the repair.
fn repaired_description(text: &str) -> String {
    assert!(yaml::parse(text, 0).is_err(), "{text:?} is fine as it stands");
    let broken = repair(text, 0).unwrap_or_else(|| panic!("{text:?}"));
    let mapping = mapping(&apply(text, &broken)).unwrap_or_else(|| panic!("{text:?}"));
    mapping.get("description").and_then(Node::as_str).unwrap().to_owned()
}

#[test]
fn values_that_break_yaml_read_as_written_after_quoting() {
    for value in [
        "Reviews code. Use when: reviewing.",
        "Use when reviewing:",
        "`foo` bar",
        "@foo bar",
        "%foo bar",
        ", foo",
        "[foo bar. Use when x.",
        "[Beta] Reviews code",
        "{foo} bar",
        "*bold* text",
        "\"Foo\" and bar. Use when x.",
        "'Foo' and it's: bar",
        "? foo bar",
        "- foo bar",
        "C:\\path is: \"here\"",
        "-x: y",
        "é: ü: ö",
    ] {
        let text = format!("name: my-skill\ndescription: {value}\nlicense: MIT\n");
        assert_eq!(repaired_description(&text), value, "{value}");
    }
}

#[test]
fn lines_of_a_value_stay_and_fold_as_plain_text_does() {
    for line_break in ["\n", "\r\n"] {
        let text = [
            "name: a",
            "description: One.",
            "  Use when: two.",
            "",
            "  Three: \"x\".",
            "license: MIT",
        ]
        .join(line_break);
        assert_eq!(repaired_description(&text), "One. Use when: two.\nThree: \"x\".");
        let repaired = apply(&text, &repair(&text, 0).unwrap());
        assert_eq!(repaired.lines().count(), text.lines().count());
    }
    assert_eq!(
        repaired_description("description:\n  Use when: a. Also:\n  b.\n"),
        "Use when: a. Also: b."
    );
}

#[test]
fn lists_and_mappings_on_lines_of_their_own_are_left_as_they_are() {
    let text = "description: One: two.\nmetadata:\n  {\n    \"a\":\n      { \"b\": [\"c\"] },\n  }\nx:\n  - y\n";
    assert_eq!(repaired_description(text), "One: two.");
}

#[test]
fn each_broken_value_is_named_with_its_sign() {
    let text = "name: a\ndescription: b: c\nmetadata:\n  author: d: e\nallowed-tools:\n  - Bash(x: *)\n  - Read\n";
    let broken = repair(text, 100).unwrap();
    let named: Vec<_> = broken.iter().map(|value| (value.key.as_deref(), value.problem)).collect();
    assert_eq!(
        named,
        [
            (Some("description"), Problem::Colon),
            (Some("author"), Problem::Colon),
            (None, Problem::Colon)
        ]
    );
    for value in &broken {
        assert_eq!(&text[value.sign.start - 100..value.sign.end - 100], ":");
    }
    assert!(mapping(&apply(text, &repair(text, 0).unwrap())).is_some());
}

#[test]
fn what_the_author_meant_is_not_guessed() {
    for value in ["\"Foo bar", "'tis: x", "| foo bar", "!Important: x", "a: b # c", "x # c\n  y"] {
        let text = format!("name: a\ndescription: {value}\n");
        let broken = repair(&text, 0).unwrap_or_else(|| panic!("{value}"));
        assert_eq!(
            broken.iter().map(|value| value.quoted.as_ref()).collect::<Vec<_>>(),
            [None],
            "{value}"
        );
    }
}

#[test]
fn a_list_with_text_after_it_is_quoted_only_where_a_text_is_expected() {
    let offers =
        |text| repair(text, 0).unwrap().into_iter().map(|value| value.quoted).collect::<Vec<_>>();
    assert_eq!(
        offers("argument-hint: [file] [options]\n"),
        [Some("\"[file] [options]\"".to_owned())]
    );
    assert_eq!(offers("tags: [a] [b]\n"), [None]);
}

#[test]
fn what_quoting_cannot_repair_is_left_alone() {
    for text in [
        "name: a\ndescription: b\nUse when c.\n",
        "name: a\n<<<<<<< HEAD\ndescription: b\n",
        "name: a\ntags: [a, b\n",
        "name: a\nallowed-tools: - Read\n",
        "name: a\nlicense: b\nmodel: !foo c\n",
        "name: a\nbase: &x y\ndescription: *z: a\n",
        "name: a\nmetadata: b\n  c: d\n",
        "name: a\nmetadata: version: 1.0\n",
        "name: a\u{7}b\n",
        "",
        "name: a\n",
    ] {
        assert_eq!(repair(text, 0), None, "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC*|([a-z:#'\"\\[\\]{}|>@`%&*!?,\\\\ \t\r\n-]|é){0,60}") {
        if let Some(broken) = repair(&text, 0) {
            for value in &broken {
                prop_assert!(text.get(value.span.range()).is_some());
                prop_assert!(text.get(value.sign.range()).is_some());
            }
            if broken.iter().all(|value| value.quoted.is_some()) {
                prop_assert!(mapping(&apply(&text, &broken)).is_some(), "{text:?}");
            }
        }
    }

    #[test]
    fn a_repaired_description_reads_as_the_text_that_was_written(
        lines in proptest::collection::vec("[a-zé:'\"\\[\\]{}@`%&*!?,\\\\.-][a-zé:'\"\\[\\]{}@`%&*!?,\\\\. -]{0,30}", 1..4)
    ) {
        let trimmed: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        let text = format!("name: my-skill\ndescription: {}\nlicense: MIT\n", trimmed.join("\n  "));
        if let Some(broken) = repair(&text, 0)
            && broken.iter().all(|value| value.quoted.is_some())
        {
            let mapping = mapping(&apply(&text, &broken)).unwrap();
            let value = |key| mapping.get(key).and_then(Node::as_str);
            prop_assert_eq!(value("description").unwrap(), trimmed.join(" "));
            prop_assert_eq!(value("name"), Some("my-skill"));
            prop_assert_eq!(value("license"), Some("MIT"));
        }
    }

    #[test]
    fn a_colon_in_plain_words_is_always_repaired(
        before in "[a-zA-Z.é]{1,9}( [a-zA-Z,.é]{1,9}){0,5}", after in "( [a-zA-Z,.é\"']{1,9}){1,5}"
    ) {
        let text = format!("name: my-skill\ndescription: {before}:{after}\n");
        prop_assert_eq!(repaired_description(&text), format!("{before}:{after}"));
    }
}
