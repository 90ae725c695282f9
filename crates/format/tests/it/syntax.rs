//! The exact words about texts that are not JSON.

use skillgauge_format::Kind;

/// What is said about a text, with its place.
fn said(text: &str) -> String {
    Kind::Metrics.check(text.as_bytes()).to_string()
}

#[test]
fn every_mistake_is_called_by_its_name() {
    for (text, expected) in [
        ("", "1:1: $: the file is empty"),
        (" \n\t", "2:2: $: the file is empty"),
        ("{\"a\": 1,}", "1:8: $: trailing comma in the object; remove it"),
        ("{\"a\": [1,\n2,\n]}", "2:2: $.a: trailing comma in the array; remove it"),
        (
            "{\"a\": 1, // one\n}",
            "1:10: $: JSON has no comments; remove it, or keep the note in a field of its own",
        ),
        (
            "/* a */ {}",
            "1:1: $: JSON has no comments; remove it, or keep the note in a field of its own",
        ),
        (
            "# a\n{}",
            "1:1: $: JSON has no comments; remove it, or keep the note in a field of its own",
        ),
        ("{'a': 1}", "1:2: $: strings and keys need straight double quotes, found `'`"),
        ("{\"a\": 'b'}", "1:7: $.a: strings and keys need straight double quotes, found `'`"),
        ("{\"a\": “b”}", "1:7: $.a: strings and keys need straight double quotes, found `“`"),
        ("{a: 1}", "1:2: $: the key `a` needs double quotes"),
        ("{1: 1}", "1:2: $: expected a key in double quotes, found `1`"),
        ("{\"a\" 1}", "1:6: $.a: expected `:` after the key, found `1`"),
        ("{\"a\": 1 \"b\": 2}", "1:9: $: expected `,` or `}`, found a string"),
        ("[1 2]", "1:4: $: expected `,` or `]`, found `2`"),
        ("[1}", "1:3: $: expected `,` or `]`, found `}`"),
        ("{\"a\": }", "1:7: $.a: expected a value, found `}`"),
        ("[,1]", "1:2: $[0]: expected a value, found `,`"),
        ("{} {}", "1:4: $: expected the end of the file after the value, found `{`"),
        ("{}\n}", "2:1: $: expected the end of the file after the value, found `}`"),
        ("{\"a\": True}", "1:7: $.a: `True` is not JSON; write true"),
        ("{\"a\": None}", "1:7: $.a: `None` is not JSON; write null"),
        ("{\"a\": NaN}", "1:7: $.a: `NaN` is not JSON; write null, JSON has no such number"),
        (
            "{\"a\": -Infinity}",
            "1:7: $.a: `-Infinity` is not JSON; write null, JSON has no such number",
        ),
        ("{\"a\": hello}", "1:7: $.a: `hello` is not a JSON value; a string needs double quotes"),
        ("[01]", "1:2: $[0]: `01` is not a JSON number: it cannot start with 0"),
        ("[+1]", "1:2: $[0]: `+1` is not a JSON number: it cannot start with `+`"),
        ("[.5]", "1:2: $[0]: `.5` is not a JSON number: it needs a digit in front"),
        ("[-]", "1:2: $[0]: `-` is not a JSON number: it needs a digit in front"),
        ("[5.]", "1:2: $[0]: `5.` is not a JSON number: it needs a digit after the point"),
        ("[1e]", "1:2: $[0]: `1e` is not a JSON number: it needs a digit in the exponent"),
        ("[0x1F]", "1:2: $[0]: `0x1F` is not a JSON number: it has characters that are no digits"),
        ("[1e999]", "1:2: $[0]: `1e999` is not a JSON number: it is too large"),
        (
            "[\"C:\\path\"]",
            "1:5: $[0]: `\\p` is not an escape of JSON; a backslash itself is written `\\\\`",
        ),
        (
            "[\"\\ué\"]",
            "1:3: $[0]: `\\u` is not an escape of JSON; a backslash itself is written `\\\\`",
        ),
        (
            "[\"\\é\"]",
            "1:3: $[0]: `\\é` is not an escape of JSON; a backslash itself is written `\\\\`",
        ),
        (
            "[\"\\ud83d!\"]",
            "1:3: $[0]: `\\ud83d` is one half of a surrogate pair, and the other half is missing",
        ),
        (
            "[\"\\ude00\"]",
            "1:3: $[0]: `\\ude00` is one half of a surrogate pair, and the other half is missing",
        ),
        ("[\"a\nb\"]", "1:4: $[0]: a string cannot hold a line break as it is; write `\\n`"),
        ("[\"a\tb\"]", "1:4: $[0]: a string cannot hold a tab as it is; write `\\t`"),
        (
            "[\"a\u{1}b\"]",
            "1:4: $[0]: a string cannot hold the control character U+0001 as it is; write `\\u0001`",
        ),
        ("\u{0}", "1:1: $: expected a value, found the character U+0000"),
    ] {
        assert_eq!(said(text), expected, "{text:?}");
    }
}

#[test]
fn a_truncated_file_says_what_is_open() {
    for (text, expected) in [
        (
            "{\n \"a\": [\n  {\"b\": 1",
            "3:10: $.a[0]: the file ends inside the object that starts at line 3, column 3",
        ),
        (
            "{\n \"a\": [\n  1,",
            "3:5: $.a: the file ends inside the array that starts at line 2, column 7",
        ),
        (
            "{\"a\": \"text",
            "1:12: $.a: the file ends inside the string that starts at line 1, column 7",
        ),
        (
            "{\"a\": \"\\u12",
            "1:12: $.a: the file ends inside the string that starts at line 1, column 7",
        ),
        ("{\"a\":", "1:6: $.a: the file ends inside the object that starts at line 1, column 1"),
        ("{\"a\"", "1:5: $: the file ends inside the object that starts at line 1, column 1"),
        ("{", "1:2: $: the file ends inside the object that starts at line 1, column 1"),
    ] {
        assert_eq!(said(text), expected, "{text:?}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_named_with_their_place() {
    let problems = Kind::Metrics.check(b"{\n  \"\xc3\xa4\": \"\xff\"}");
    assert_eq!(
        problems.to_string(),
        "2:9: $: the byte 0xFF is not valid UTF-8; save the file as UTF-8"
    );
    let problems = Kind::Metrics.check(b"\xff\xfe{\0");
    assert_eq!(problems.to_string(), "1:1: $: the file is encoded as UTF-16; save it as UTF-8");
}

#[test]
fn escapes_mean_what_json_says() {
    let text = r#"{"files_created": ["\"\\\/\b\f\n\r\tä\u00e4\ud83d\ude00"]}"#;
    let read =
        skillgauge_format::read::<skillgauge_format::evals::Metrics>(text.as_bytes()).unwrap();
    assert_eq!(read.value.files_created.unwrap(), ["\"\\/\u{8}\u{c}\n\r\tää😀"]);
}
