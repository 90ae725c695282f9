//! Our parser against serde_json: the same texts are JSON, and they mean the same.
//!
//! Differences that are meant: a repeated key is a problem for us, and a file may be nested one level deeper.

use proptest::prelude::*;
use serde_json::Value;
use skillgauge_format::json::parse;

use crate::fixture;

/// What our parser makes of a text, as serde_json would hold it; nothing when it is refused.
fn ours(text: &[u8]) -> Option<Value> {
    let document = parse(text).ok()?;
    Some(document.root.deserialize().unwrap())
}

/// Compares the two, for texts without repeated keys or extreme depth.
fn compare(text: &[u8]) -> Result<(), TestCaseError> {
    let theirs: Option<Value> = serde_json::from_slice(text).ok();
    prop_assert_eq!(ours(text), theirs, "{}", String::from_utf8_lossy(text));
    Ok(())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter_map("finite", |number| number.is_finite().then(|| Value::from(number))),
        any::<String>().prop_map(Value::from),
        "[ -~äß\u{0}\u{1f}\u{7f}\u{2028}😀\"\\\\]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Texts that are nearly JSON.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\\u00e4\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"",
        "\\",
        "1",
        "-0",
        "0",
        "01",
        "1.5",
        "1e5",
        "1E+2",
        "-",
        "1.",
        ".5",
        "true",
        "false",
        "null",
        "nul",
        "True",
        " ",
        "\n",
        "\t",
        "\r",
        "\u{feff}",
        "é",
        "/",
        "#",
        "\u{0}",
    ]);
    prop::collection::vec(fragment, 0..12).prop_map(|parts| parts.concat())
}

/// Keys that stand twice, which the two parsers treat differently.
fn has_repeated_keys(text: &[u8]) -> bool {
    parse(text).is_ok_and(|document| document.repeated_keys > 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn texts_that_serde_json_writes_are_read_alike(value in json(), pretty in any::<bool>()) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        compare(text.as_bytes())?;
        prop_assert_eq!(ours(text.as_bytes()), Some(value));
    }

    #[test]
    fn texts_that_are_nearly_json_are_judged_alike(text in fragments()) {
        // A leading mark is accepted by us and not by serde_json.
        prop_assume!(!text.starts_with('\u{feff}') && !has_repeated_keys(text.as_bytes()));
        compare(text.as_bytes())?;
    }

    #[test]
    fn any_bytes_are_judged_alike_and_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assume!(!bytes.starts_with(b"\xEF\xBB\xBF") && !has_repeated_keys(&bytes));
        compare(&bytes)?;
    }

    #[test]
    fn damaged_fixtures_are_judged_alike(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..4),
    ) {
        let good = fixtures();
        let mut bytes = which.get(good).clone();
        for (index, byte, change) in changes {
            let at = index.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        prop_assume!(!bytes.starts_with(b"\xEF\xBB\xBF") && !has_repeated_keys(&bytes));
        compare(&bytes)?;
    }
}

fn fixtures() -> &'static Vec<Vec<u8>> {
    static GOOD: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
    GOOD.get_or_init(|| fixture::good().into_iter().map(|fixture| fixture.bytes).collect())
}

#[test]
fn repeated_keys_are_counted_in_small_and_large_objects() {
    for filler in [0, 40] {
        let filler: Vec<_> = (0..filler).map(|number| format!("\"k{number}\": 0, ")).collect();
        let filler = filler.concat();
        let text = format!("{{{filler}\"a\": 1, \"b\": 2, \"\\u0061\": 3, \"a\": 4}}");
        assert_eq!(parse(text.as_bytes()).unwrap().repeated_keys, 2);
    }
}

#[test]
fn spans_cover_exactly_what_they_name() {
    let text = "\u{feff}{ \"ä\" : [ 1.5 , \"x\\n\" ] }";
    let document = parse(text.as_bytes()).unwrap();
    let cut = |span: skillgauge_format::Span| &text[span.start..span.end];
    let member = &document.root.members()[0];
    assert_eq!(cut(document.root.span), "{ \"ä\" : [ 1.5 , \"x\\n\" ] }");
    assert_eq!((cut(member.key_span), cut(member.value.span)), ("\"ä\"", "[ 1.5 , \"x\\n\" ]"));
    let items: Vec<_> = member.value.items().iter().map(|item| cut(item.span)).collect();
    assert_eq!(items, ["1.5", "\"x\\n\""]);
}
