//! Our checker against the `jsonschema` crate: the same files fit the same schemas.

use std::sync::OnceLock;

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use skillgauge_format::problem::{MeaningIssue, ShapeIssue};
use skillgauge_format::{Issue, Kind, Level};

use crate::fixture::{self, Fixture};

/// Whether our checker finds the shape of a file right.
fn ours(kind: Kind, text: &str) -> bool {
    let problems = kind.check(text.as_bytes());
    assert_eq!(problems.omitted(), 0, "too many problems to compare");
    let is_about_shape = |issue: &Issue| match issue {
        Issue::Shape(ShapeIssue::DuplicateKey { .. }) => false,
        // A sound file of another kind is reported as that, and nothing else.
        Issue::Shape(_) | Issue::Meaning(MeaningIssue::OtherKind { .. }) => true,
        Issue::Unreadable(_) => {
            panic!("the schema of {kind} accepts what its type does not: {problems}\n{text}")
        }
        Issue::Syntax(_) | Issue::Meaning(_) => false,
    };
    !problems
        .iter()
        .any(|problem| problem.level() == Level::Error && is_about_shape(&problem.issue))
}

fn validator(kind: Kind) -> &'static Validator {
    static VALIDATORS: OnceLock<Vec<Validator>> = OnceLock::new();
    let all = VALIDATORS.get_or_init(|| {
        Kind::all().map(|kind| jsonschema::validator_for(kind.schema()).unwrap()).collect()
    });
    &all[kind as usize]
}

fn fixtures() -> &'static [Fixture] {
    static FIXTURES: OnceLock<Vec<Fixture>> = OnceLock::new();
    FIXTURES.get_or_init(fixture::good)
}

#[test]
fn the_schemas_are_valid_schemas() {
    for kind in Kind::all() {
        assert!(jsonschema::meta::is_valid(kind.schema()), "{kind}");
    }
}

#[test]
fn both_agree_on_every_fixture_under_every_kind() {
    let bad = fixture::bad();
    for fixture in fixtures().iter().chain(&bad) {
        let Ok(value) = serde_json::from_slice::<Value>(&fixture.bytes) else { continue };
        for kind in Kind::all() {
            let theirs = validator(kind).is_valid(&value);
            assert_eq!(ours(kind, &value.to_string()), theirs, "{} as {kind}", fixture.name);
        }
    }
}

/// All places of a value, as JSON pointers.
fn pointers(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                pointers(
                    member,
                    &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")),
                    found,
                );
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// A reader's own number types have edges that a random change seldom meets, so every one is tried everywhere.
#[test]
fn both_agree_on_every_number_of_every_fixture() {
    let edges = || {
        let edges = [1, u64::from(u16::MAX), u64::from(u32::MAX), (1 << 53) - 1, u64::MAX - 1];
        let whole = edges.into_iter().flat_map(|edge| [json!(edge), json!(edge + 1)]);
        whole.chain([
            json!(-1),
            json!(i32::MIN),
            json!(i64::MIN),
            json!(1.0),
            json!(2.5),
            json!(1e300),
        ])
    };
    for fixture in fixtures() {
        let good = fixture.value();
        let mut places = Vec::new();
        pointers(&good, "", &mut places);
        places.retain(|place| good.pointer(place).is_some_and(Value::is_number));
        for (place, edge) in places.iter().flat_map(|place| edges().map(move |edge| (place, edge)))
        {
            let mut value = good.clone();
            *value.pointer_mut(place).unwrap() = edge;
            let theirs = validator(fixture.kind).is_valid(&value);
            assert_eq!(
                ours(fixture.kind, &value.to_string()),
                theirs,
                "{}: {place} in {value:#}",
                fixture.name
            );
        }
    }
}

/// A value that might stand anywhere: other types, and values at the edges of ranges.
fn anything() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1),
        json!(1.0),
        json!(5),
        json!(6),
        json!(10),
        json!(11),
        json!(0.5),
        json!(2.5),
        json!(1e300),
        json!(9_007_199_254_740_991_u64),
        json!(9_007_199_254_740_992_u64),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!(" \u{a0}"),
        json!("\u{85}"),
        json!("case-01"),
        json!("Case 01"),
        json!("8/10"),
        json!("a\n"),
        json!("with_skill"),
        json!("file_count"),
        json!("pass"),
        json!("=="),
        json!("error"),
        json!("A"),
        json!([]),
        json!([""]),
        json!([1, "a", {}]),
        json!({}),
        json!({"text": "t", "passed": true}),
        json!({"mean": 1}),
    ])
}

#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Remove,
    Rename(&'static str),
    Insert(&'static str, Value),
    Repeat,
}

fn change() -> impl Strategy<Value = Change> {
    let names = || {
        prop::sample::select(vec![
            "query",
            "prompt",
            "match",
            "match_any",
            "match_regex",
            "expectations",
            "assertion_results",
            "type",
            "pattern",
            "reviews",
            "cases",
            "evals",
            "weight",
            "count",
            "promt",
            "unknown",
        ])
    };
    prop_oneof![
        4 => anything().prop_map(Change::Replace),
        2 => Just(Change::Remove),
        1 => names().prop_map(Change::Rename),
        2 => (names(), anything()).prop_map(|(name, value)| Change::Insert(name, value)),
        1 => Just(Change::Repeat),
    ]
}

fn apply(value: &mut Value, place: Index, change: Change) {
    let mut found = Vec::new();
    pointers(value, "", &mut found);
    let pointer = place.get(&found);
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        if let Change::Replace(with) = change {
            *value = with;
        }
        return;
    };
    match (value.pointer_mut(parent).unwrap(), change) {
        (Value::Object(members), Change::Remove) => drop(members.shift_remove(last)),
        (Value::Object(members), Change::Rename(name)) => {
            if let Some(member) = members.shift_remove(last) {
                members.insert(name.to_owned(), member);
            }
        }
        (Value::Object(members), Change::Insert(name, inserted)) => {
            members.insert(name.to_owned(), inserted);
        }
        (Value::Array(items), Change::Remove) => drop(items.remove(last.parse().unwrap())),
        (Value::Array(items), Change::Repeat) => {
            items.push(items[last.parse::<usize>().unwrap()].clone());
        }
        (parent, Change::Replace(with)) => match parent {
            Value::Object(members) => drop(members.insert(last.to_owned(), with)),
            Value::Array(items) => items[last.parse::<usize>().unwrap()] = with,
            _ => unreachable!("a parent has children"),
        },
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6_000))]

    #[test]
    fn both_agree_on_changed_fixtures(
        which in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), change()), 1..4),
    ) {
        let fixture = which.get(fixtures());
        let mut value = fixture.value();
        for (place, change) in changes {
            apply(&mut value, place, change);
        }
        let theirs = validator(fixture.kind).is_valid(&value);
        prop_assert_eq!(ours(fixture.kind, &value.to_string()), theirs, "{} became {:#}", fixture.name, value);
    }
}
