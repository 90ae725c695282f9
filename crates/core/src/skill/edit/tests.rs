use proptest::prelude::*;

use super::*;

/// The new front matter around a description in the old one.
fn edited(before: &str, description: &str) -> String {
    with_description(before, description).unwrap_or_else(|error| panic!("{error}: {before:?}"))
}

fn read(text: &str) -> String {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let FrontMatter::Mapping(mapping) = split(text).front_matter else { panic!("{text:?}") };
    mapping.get(KEY).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn each_style_keeps_its_surroundings() {
    let new = "Does new things.";
    for (before, after) in [
        ("description: Old.", "description: Does new things."),
        ("description: Old # why", "description: Does new things. # why"),
        ("description:   Old\n  on two lines # why", "description:   Does new things. # why"),
        ("description:\n  Old", "description:\n  Does new things."),
        ("description: \"Old\"   # why", "description: \"Does new things.\"   # why"),
        ("description: 'It''s old'", "description: 'Does new things.'"),
        ("\"description\" : Old", "\"description\" : Does new things."),
        ("description:", "description: Does new things."),
        ("description: ~", "description: Does new things."),
        ("description: | # why\n  Old\n  text.", "description: >- # why\n  Does new things."),
        ("description: >+\n    Old\n\n    text.\n", "description: >-\n    Does new things.\n"),
        ("description: |2\n    Old", "description: >-\n    Does new things."),
        ("description: |", "description: >-\n  Does new things."),
        ("description: !!str Old", "description: !!str Does new things."),
        ("description: &unused Old", "description: &unused Does new things."),
    ] {
        for (first, last) in [
            ("---\nname: a\n", "\nlicense: MIT # no\n---\n# Body\n\ndescription: stays\n"),
            ("\u{feff}---\n# note\n", "\nmetadata:\n  description: stays\n---\n"),
        ] {
            let text = format!("{first}{before}{last}");
            assert_eq!(edited(&text, new), format!("{first}{after}{last}"), "{text:?}");
        }
    }
}

#[test]
fn line_breaks_of_windows_stay() {
    let text =
        "---\r\nname: a\r\ndescription: >\r\n  Old\r\n  text.\r\nlicense: MIT\r\n---\r\nBody\r\n";
    let long = "word ".repeat(30).trim_end().to_owned();
    let after = edited(text, &long);
    assert_eq!(read(&after), long);
    assert!(!after.replace("\r\n", "").contains(['\r', '\n']), "{after:?}");
    assert!(after.ends_with("\r\nlicense: MIT\r\n---\r\nBody\r\n"), "{after:?}");
    let added = edited("---\r\nname: a\r\n---\r\n", "New.");
    assert_eq!(added, "---\r\ndescription: New.\r\nname: a\r\n---\r\n");
}

#[test]
fn a_long_block_is_wrapped_and_reads_as_one_line() {
    let long = "Makes reports of tables. ".repeat(20).trim_end().to_owned();
    let after = edited("---\ndescription: |\n   Old\nname: a\n---\n", &long);
    assert_eq!(read(&after), long);
    assert!(after.lines().all(|line| line.chars().count() <= WIDTH), "{after}");
    assert!(after.lines().filter(|line| line.starts_with("   ")).count() > 4, "{after}");
}

#[test]
fn text_that_means_something_to_yaml_is_quoted() {
    for text in [
        "Use when: x",
        "a # b",
        "yes",
        "12",
        "2024-01-31",
        "- a",
        "[a]",
        "@a",
        "",
        " padded ",
        "two\nlines",
        "a \"quote\" and a \\ back",
        "tab\tand nul \u{0}",
        "ends with:",
        "---",
        "é技\u{2028}",
        "null",
    ] {
        for old in ["Old", "'Old'", "\"Old\"", "|\n  Old\n  text", ">-\n  Old", ""] {
            let after = edited(&format!("---\nname: a\ndescription: {old}\n---\nBody\n"), text);
            assert_eq!(read(&after), text, "{after}");
            assert!(after.starts_with("---\nname: a\ndescription:"), "{after}");
            assert!(after.ends_with("\n---\nBody\n"), "{after}");
        }
    }
}

#[test]
fn a_front_matter_in_braces_can_be_edited_too() {
    let after = edited("---\n{name: a, description: Old, license: MIT}\n---\n", "One, two}");
    assert_eq!(after, "---\n{name: a, description: \"One, two}\", license: MIT}\n---\n");
}

#[test]
fn an_alias_is_replaced_where_it_stands() {
    let after = edited("---\nsummary: &d |\n  Old\ndescription: *d\n---\n", "New.");
    assert_eq!(after, "---\nsummary: &d |\n  Old\ndescription: \"New.\"\n---\n");
}

#[test]
fn what_cannot_be_edited_is_said() {
    for (text, error) in [
        ("# no front matter\n", EditError::NoFrontMatter),
        ("---\nname: a\n", EditError::NoFrontMatter),
        ("---\nname: a: b\n---\n", EditError::NoFrontMatter),
        ("---\ndescription: a\ndescription: b\n---\n", EditError::Repeated),
        ("---\ndescription: [a]\n---\n", EditError::NotText),
        ("---\ndescription:\n  a: b\n---\n", EditError::NotText),
        // Another value takes its text from here.
        ("---\ndescription: &d Old\nsummary: *d\n---\n", EditError::NotWritable),
    ] {
        assert_eq!(with_description(text, "New."), Err(error), "{text:?}");
    }
}

/// Values in every style, with what may follow them.
fn old_value() -> impl Strategy<Value = String> {
    let text = "[A-Za-z][A-Za-z0-9 .,]{0,20}[a-z]";
    prop_oneof![
        text,
        text.prop_map(|t| format!("{t} # note")),
        text.prop_map(|t| format!("'{t}'")),
        text.prop_map(|t| format!("\"{t}\"  # note")),
        (text, text).prop_map(|(a, b)| format!("{a}\n   {b}")),
        (text, text).prop_map(|(a, b)| format!("|\n  {a}\n\n  {b}\n")),
        (text, text).prop_map(|(a, b)| format!(">-   # note\n    {a}\n    {b}")),
        (text, text).prop_map(|(a, b)| format!("|2+\n    {a}\n  {b}\n\n")),
        Just(String::new()),
    ]
}

proptest! {
    #[test]
    fn any_description_can_be_written_and_nothing_else_changes(
        old in old_value(),
        new in "\\PC{0,60}|[ -~\n\r\t]{0,60}|([a-z]{1,9} ){0,40}[a-z]",
        line_break in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let text = format!("---\nname: a\ndescription: {old}\nlicense: MIT # x\n---\n# Body\n");
        let text = text.replace('\n', line_break);
        let after = with_description(&text, &new).unwrap();
        prop_assert_eq!(read(&after), new);
        let head = format!("---{line_break}name: a{line_break}description:");
        prop_assert!(after.starts_with(&head), "{:?}", after);
        let tail = format!("{line_break}license: MIT # x{line_break}---{line_break}# Body{line_break}");
        prop_assert!(after.ends_with(&tail), "{:?}", after);
        prop_assert_eq!(after.contains("# note"), text.contains("# note"));
        prop_assert_eq!(with_description(&after, &read(&after)).unwrap(), after);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(---\n)?\\PC{0,80}(\n---\n)?|[-a-z:|># \n\"']{0,80}", new in "\\PC{0,20}") {
        let _ = with_description(&text, &new);
    }
}
