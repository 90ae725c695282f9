//! The cursor against the long way.

use proptest::prelude::*;
use serde_json::Value;
use skillgauge_format::json;

use super::*;

fn accepts(text: &str) -> bool {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip().is_some() && cursor.is_at_end()
}

#[test]
fn what_is_unusual_or_broken_is_left_to_the_long_way() {
    for text in [
        "",
        "{",
        "[1",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1,]",
        "[1 2]",
        "01",
        "-",
        "1.",
        ".5",
        "1e3",
        "-0",
        "1234567890123456789",
        "tru",
        "nul",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u+123\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\\ud800\"",
        "\"a\nb\"",
        "{\"\\u0061\":1}",
        "1 2",
        "NaN",
        "'a'",
        "1.5.2",
    ] {
        assert!(!accepts(text), "{text}");
    }
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(accepts(&nested(DEPTH)));
    assert!(!accepts(&nested(DEPTH + 2)));
}

#[test]
fn what_is_usual_is_accepted() {
    for text in [
        "{}",
        "[]",
        " { \"a\" : [ 1 , -2.50 , \"\\u00e9\\n\\\"\" , true , false , null ] } \n",
        "0",
        "-1",
        "123456789012345678",
    ] {
        assert!(accepts(text), "{text}");
    }
}

/// Texts that are nearly JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        proptest::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "00e9", "\\n", " ", "\n",
            "true", "null", "0", "-", "12", ".", "5", "e", "a", "\u{1}", "é",
        ])
        .prop_map(str::to_owned),
        json_text(),
    ];
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    value.prop_map(|value| serde_json::to_string_pretty(&value).unwrap())
}

proptest! {
    #[test]
    fn nothing_is_accepted_that_the_long_way_refuses(text in nearly_json()) {
        if accepts(&text) {
            prop_assert!(json::parse(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_text_says_and_is_written_as_the_long_way_has_it(text in any::<String>(), style in 0..3) {
        let mut quoted = serde_json::to_string(&text).unwrap();
        if style == 1 {
            quoted = quoted.replace('/', "\\/");
        } else if style == 2 {
            quoted = quoted.chars().map(|c| if c.is_ascii() { c.to_string() } else { escaped(c) }).collect();
        }
        let mut cursor = Cursor { text: &quoted, at: 0 };
        let found = cursor.string().unwrap();
        prop_assert_eq!(found.text().unwrap(), text.as_str());
        let mut out = Vec::new();
        found.render(&mut out).unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
    }

    #[test]
    fn a_value_is_written_as_the_types_would_be_at_any_depth(text in json_text(), depth in 0_usize..8) {
        let value: Value = serde_json::from_str(&text).unwrap();
        let line = format!("\n{}", "  ".repeat(depth));
        let expected = serde_json::to_string_pretty(&value).unwrap().replace('\n', &line);
        for text in [text, value.to_string()] {
            let mut out = Vec::new();
            let mut cursor = Cursor { text: &text, at: 0 };
            if cursor.render(2 * depth, &mut out).is_some() {
                prop_assert_eq!(String::from_utf8(out).unwrap(), expected.as_str());
                prop_assert!(cursor.is_at_end());
            }
        }
    }

    #[test]
    fn a_number_is_the_same_as_in_the_long_way(text in "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,25})?") {
        let mut cursor = Cursor { text: &text, at: 0 };
        if let Some(found) = cursor.number() {
            prop_assert_eq!(Some(found), json::parse(text.as_bytes()).unwrap().root.as_number());
        } else {
            prop_assert_eq!(text.as_str(), "-0");
        }
    }

    #[test]
    fn the_plain_part_of_a_text_ends_at_the_first_byte_that_matters(bytes in proptest::collection::vec(
        prop_oneof![4 => any::<u8>(), 1 => Just(b'"'), 20 => 0x20_u8..0x80], 0..60,
    )) {
        let matters = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        let expected = bytes.iter().position(matters).unwrap_or(bytes.len());
        prop_assert_eq!(plain_length(&bytes), expected);
    }
}

fn escaped(character: char) -> String {
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units).iter();
    units.map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
}

#[test]
fn a_key_twice_and_too_many_keys_are_left_to_the_long_way() {
    let renders = |text: &str| Cursor { text, at: 0 }.render(0, &mut Vec::new()).is_some();
    let object = |count: usize| {
        let members: Vec<String> = (0..count).map(|key| format!("\"k{key}\": 1")).collect();
        format!("{{{}}}", members.join(", "))
    };
    assert!(renders(&object(16)));
    assert!(!renders(&object(17)));
    assert!(!renders("{\"a\": 1, \"a\": 2}"));
    assert!(renders("[{\"a\": 1}, {\"a\": 2}]"));
}
