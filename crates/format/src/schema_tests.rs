//! JSON Schemas from our types: those in `schemas/`, which are embedded, are held to them.
//!
//! schemars does the work; what is done here makes the schemas say exactly what the reader accepts. Formats such as
//! `uint64` mean nothing outside of Rust, so whole numbers get the bounds within which every JSON reader keeps them
//! exactly. A default of null says no more than that the field may be absent, and is left out.

use std::borrow::Cow;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::Kind;
use crate::check::{KEBAB, MAX_COUNT};
use crate::evals::{CHECK_TYPES, CheckType, CheckTypeInfo, DeltaValue};
use crate::json::Number;
use crate::part::{CaseId, Configuration, EvalId, Timestamp};

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for kind in Kind::all() {
        let entry = kind.entry();
        let made = format!("{:#}\n", (entry.make_schema)(entry.name, entry.title));
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs_err::write(folder.join(kind.schema_file_name()), made).unwrap();
        } else {
            assert!(made == kind.schema_text(), "{kind} is out of date: run `make generate`");
        }
    }
    for entry in fs_err::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(Kind::all().any(|kind| kind.schema_file_name() == name), "nothing makes {name}");
    }
}

/// The schema of a type, draft 2020-12, under an id and a title of its own.
pub(crate) fn schema_of<T: JsonSchema>(name: &str, title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    tidy(&mut schema);
    schema.insert("$id".to_owned(), format!("urn:skillgauge:schema:{name}:1").into());
    schema.insert("title".to_owned(), title.into());
    // What a reader wants to know comes first, what it refers to last.
    let mut ordered = Map::new();
    for key in ["$schema", "$id", "title", "description"] {
        ordered.extend(schema.remove(key).map(|value| (key.to_owned(), value)));
    }
    let definitions = schema.remove("$defs").map(|value| ("$defs".to_owned(), value));
    if let Value::Object(rest) = schema.to_value() {
        ordered.extend(rest);
    }
    ordered.extend(definitions);
    Value::Object(ordered)
}

/// For an optional field in which null would not mean the same as nothing, since its presence says something.
pub(crate) fn not_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|branch| branch["type"] != "null");
    }
}

fn tidy(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        // What follows the first paragraph of a doc comment is for those who read the code.
        let first = description.split("\n\n").next().unwrap_or_default();
        *description = first.replace('\n', " ");
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    if let Some(bounds) = bounds(format) {
        schema.remove("format");
        for (keyword, bound) in bounds {
            if schema.get(keyword).is_none() {
                schema.insert(keyword.to_owned(), bound.into());
            }
        }
    }
    // Any number is one.
    if matches!(schema.get("format").and_then(Value::as_str), Some("double" | "float")) {
        schema.remove("format");
    }
    // Definitions are subschemas, too.
    transform_subschemas(&mut tidy, schema);
}

/// What a whole number of a Rust type can be, within what every JSON reader keeps exactly.
fn bounds(format: &str) -> Option<[(&'static str, i64); 2]> {
    let (minimum, maximum) = match format {
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        unsigned if unsigned.starts_with("uint") => (0, MOST),
        signed if signed.starts_with("int") => (-MOST, MOST),
        _ => return None,
    };
    Some([("minimum", minimum), ("maximum", maximum)])
}

/// Types with a schema of their own: they stand for a plain value, and are inlined.
macro_rules! plain {
    ($($type:ident => $schema:tt),* $(,)?) => {
        $(impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        })*
    };
}

/// The largest whole number that every JSON reader keeps exactly.
#[expect(clippy::cast_possible_truncation, reason = "2^53 - 1 is whole and fits")]
const MOST: i64 = MAX_COUNT as i64;

plain! {
    Number => { "type": "number" },
    DeltaValue => { "type": ["string", "number"] },
    CaseId => { "type": "string", "pattern": KEBAB },
    EvalId => { "type": ["integer", "string"], "minimum": -MOST, "maximum": MOST, "minLength": 1 },
    Configuration => { "type": "string", "minLength": 1, "examples": Configuration::OURS },
    Timestamp => { "type": "string", "format": "date-time" },
}

impl JsonSchema for CheckType {
    fn schema_name() -> Cow<'static, str> {
        "CheckType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let types: Vec<_> = CHECK_TYPES
            .iter()
            .map(|info| json!({ "type": "string", "const": info.name, "description": info.about }))
            .collect();
        json_schema!({ "description": "The type of a structural check.", "oneOf": types })
    }
}

/// What the schema says about checks of a type: `if` the type is this one, `then` these fields.
fn condition(info: &CheckTypeInfo) -> Value {
    let mut then = Map::new();
    if !info.required.is_empty() {
        then.insert("required".into(), json!(info.required));
    }
    if !info.exactly_one.is_empty() {
        let branches: Vec<_> =
            info.exactly_one.iter().map(|field| json!({ "required": [field] })).collect();
        then.insert("oneOf".into(), branches.into());
    }
    json!({
        "if": { "properties": { "type": { "const": info.name } }, "required": ["type"] },
        "then": then,
    })
}

/// Adds the conditions of all types to the schema of a structural expectation.
pub(crate) fn add_conditions(schema: &mut Schema) {
    let conditions = CHECK_TYPES.iter().map(condition);
    let conditions = conditions.filter(|condition| condition["then"] != json!({}));
    schema.insert("allOf".into(), conditions.collect::<Vec<_>>().into());
}

/// Says of each known type of event what it needs. A type that a newer version added may be anything, which a list of
/// alternatives could not say.
pub(crate) fn by_type(schema: &mut Schema) {
    let Some(Value::Array(kinds)) = schema.remove("oneOf") else { return };
    let mut conditions = Vec::new();
    for mut kind in kinds {
        let name = kind.pointer_mut("/properties/type").map(Value::take);
        let Some(name) = name.as_ref().and_then(|name| name.get("const")) else { continue };
        let condition = json!({"properties": {"type": {"const": name}}, "required": ["type"]});
        if let Some(properties) = kind.get_mut("properties").and_then(Value::as_object_mut) {
            properties.remove("type");
        }
        conditions.push(json!({"if": condition, "then": kind}));
    }
    schema.insert("allOf".to_owned(), conditions.into());
    let about = "What happened; what a reader does not know, it keeps.";
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("type".to_owned(), json!({"type": "string", "description": about}));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.push("type".into());
    }
}
