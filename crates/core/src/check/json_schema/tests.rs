//! The checker against the `jsonschema` crate, and what is refused.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn ours(schema: &JsonSchema, value: &Value) -> bool {
    let text = value.to_string();
    let document = skillgauge_format::json::parse(text.as_bytes()).unwrap();
    match schema.check(&document.root) {
        Mismatches::Found(found) => found.is_empty(),
        Mismatches::TooMuchWork => panic!("too much work"),
    }
}

fn agree(schema: &Value, value: &Value) {
    let mine = JsonSchema::new(schema).unwrap_or_else(|problems| panic!("{schema}: {problems:?}"));
    let theirs = jsonschema::draft202012::new(schema).unwrap();
    assert_eq!(ours(&mine, value), theirs.is_valid(value), "{schema} {value}");
}

fn schemas() -> Vec<Value> {
    vec![
        json!(true),
        json!(false),
        json!({}),
        json!({"type": "integer"}),
        json!({"type": ["string", "null"]}),
        json!({"enum": [1, "a", null, [1], {"a": 1}]}),
        json!({"const": {"a": [1, 2.0]}}),
        json!({"minimum": 1, "maximum": 3}),
        json!({"exclusiveMinimum": 1, "exclusiveMaximum": 3}),
        json!({"multipleOf": 0.5}),
        json!({"minLength": 2, "maxLength": 3}),
        json!({"pattern": "^a+$"}),
        json!({"pattern": "\\d"}),
        json!({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2}),
        json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}),
        json!({"prefixItems": [{"type": "string"}], "items": false}),
        json!({"contains": {"type": "integer"}, "minContains": 2, "maxContains": 2}),
        json!({"contains": {"const": 1}}),
        json!({"contains": {"const": 1}, "minContains": 0}),
        json!({"uniqueItems": true}),
        json!({"properties": {"a": {"type": "integer"}}, "required": ["a"]}),
        json!({"properties": {"a": true}, "additionalProperties": false}),
        json!({"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}),
        json!({"propertyNames": {"maxLength": 1}}),
        json!({"minProperties": 1, "maxProperties": 1}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
        json!({"allOf": [{"type": "integer"}, {"minimum": 2}]}),
        json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}),
        json!({"not": {"type": "integer"}}),
        json!({"if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"type": "string"}}),
        json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}, "minimum": 2}),
        json!({"$defs": {"tree": {"type": "object", "properties": {"a": {"$ref": "#/$defs/tree"}}}}, "$ref": "#/$defs/tree"}),
        json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": false}),
    ]
}

#[test]
fn verdicts_are_those_of_another_implementation() {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(2),
        json!(3),
        json!(-1),
        json!(""),
        json!("a"),
        json!("aa"),
        json!("aaaa"),
        json!("é"),
        json!("ab\n"),
        json!("a\n"),
        json!("٣"),
        json!("x1"),
        json!([]),
        json!([1]),
        json!([1, 1]),
        json!([1, 1.0]),
        json!(["a", 1]),
        json!(["a", "b"]),
        json!([[1], [1]]),
        json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
        json!([1, 2, 3]),
        json!({}),
        json!({"a": 1}),
        json!({"a": "x"}),
        json!({"a": 1, "b": 2}),
        json!({"ab": 1}),
        json!({"b": "x"}),
        json!({"a": {"a": {}}}),
        json!({"a": {"a": {"b": 1}}}),
        json!({"a": [1, 2]}),
    ];
    for schema in schemas() {
        for value in &values {
            agree(&schema, value);
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..5).prop_map(Value::from),
        (-3_i32..5).prop_map(|number| Value::from(f64::from(number) / 2.0)),
        "[ab1]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[abc]{1,2}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn verdicts_agree_on_any_value(value in any_value(), first in 0..35_usize, second in 0..35_usize) {
        let schemas = schemas();
        agree(&schemas[first], &value);
        // References lead to the root, so that only schemas without them can be put together.
        let is_plain = |schema: &Value| !schema.to_string().contains("$ref");
        let (first, second) = (&schemas[first], &schemas[second]);
        if is_plain(first) && is_plain(second) {
            agree(&json!({"anyOf": [first, {"not": second}], "items": second}), &value);
        }
    }

    #[test]
    fn no_schema_panics(schema in any_value(), value in any_value()) {
        if let Ok(schema) = JsonSchema::new(&schema) {
            ours(&schema, &value);
        }
    }
}

fn problems(schema: &Value) -> Vec<String> {
    JsonSchema::new(schema).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let schema = json!({
        "format": "colour",
        "properties": {"a/b": {"unevaluatedProperties": false}},
        "items": [{"type": "integer"}],
        "type": "text",
        "allOf": [],
        "minLength": -1
    });
    insta::assert_snapshot!(problems(&schema).join("\n"));
    assert_eq!(problems(&json!([])), ["$ is not of type object or boolean"]);
}

#[test]
fn patterns_and_references_that_cannot_work_are_refused() {
    let schema = json!({
        "pattern": "(?<name>a)",
        "properties": {"a": {"$ref": "https://example.org/schema"}, "b": {"$ref": "#/$defs/none"}},
        "items": {"$ref": "#/const"},
        "const": {"type": "integer"},
    });
    let problems = problems(&schema);
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert!(problems[0].starts_with("$.pattern is `(?<name>a)`: "), "{problems:#?}");
    assert_eq!(
        problems[1],
        "$.properties.a.$ref refers to `https://example.org/schema`, another document, which is never fetched; copy it into `$defs`"
    );
    assert!(problems[2].starts_with("$.properties.b.$ref refers to `#/$defs/none`, where this"));
    assert!(
        problems[3].starts_with("$.items.$ref refers to `#/const`, where this schema has none")
    );
}

#[test]
fn the_schema_of_schemas_is_one_of_its_own() {
    assert!(JsonSchema::new(&META.root).is_ok(), "{:?}", JsonSchema::new(&META.root));
    assert!(jsonschema::draft202012::meta::is_valid(&META.root));
}

#[test]
fn references_lead_anywhere_in_the_same_schema() {
    agree(
        &json!({"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}}}),
        &json!({"b": "x"}),
    );
    agree(
        &json!({"$id": "https://example.org/x", "definitions": {"a~/b": {"type": "integer"}}, "items": {"$ref": "#/definitions/a~0~1b"}}),
        &json!([1, "x"]),
    );
}

#[test]
fn formats_are_checked_as_another_implementation_does() {
    for (format, texts) in [
        ("date", &["2026-02-28", "2026-02-30", "2026-2-1", "x"][..]),
        ("date-time", &["2026-02-28T10:00:00Z", "2026-02-28T10:00:00+01:00", "2026-02-28 10:00"]),
        ("time", &["10:00:00Z", "25:00:00Z", "10:00"]),
        ("email", &["a@example.org", "a.b+c@x-y.org", "a@", "@b", "a b@c.org", "plain"]),
        ("hostname", &["example.org", "-a.org", "a_b.org", ""]),
        ("ipv4", &["127.0.0.1", "256.0.0.1", "1.2.3"]),
        ("ipv6", &["::1", "fe80::1%eth0", ":::"]),
        ("uri", &["https://example.org/a?b#c", "urn:x:y", "/relative", "http://a b", "1x:y"]),
        (
            "uuid",
            &["2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08aa9811eab4aa73b441d16380", "x"],
        ),
        ("regex", &["^a+$", "(unclosed"]),
    ] {
        let schema = json!({"format": format});
        let mine = JsonSchema::new(&schema).unwrap();
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        let theirs = options.build(&schema).unwrap();
        for text in texts {
            let value = json!(text);
            assert_eq!(ours(&mine, &value), theirs.is_valid(&value), "{format} {text}");
        }
        assert!(ours(&mine, &json!(7)), "a format is about texts");
    }
}

#[test]
fn a_schema_that_refers_to_itself_without_end_is_no_hang() {
    let value = json!({"a": 1}).to_string();
    let document = skillgauge_format::json::parse(value.as_bytes()).unwrap();
    for schema in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}),
    ] {
        let schema = JsonSchema::new(&schema).unwrap();
        assert_eq!(schema.check(&document.root), Mismatches::TooMuchWork);
    }
}
