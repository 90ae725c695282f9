//! JSON Schemas from our types.
//!
//! schemars does the work; what is done here makes the schemas say exactly what the reader accepts. Formats such as
//! `uint64` mean nothing outside of Rust, so whole numbers get the bounds within which every JSON reader keeps them
//! exactly. A default of null says no more than that the field may be absent, and is left out.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::check::MAX_COUNT;

/// The schema of a type, draft 2020-12, under a title of its own.
pub(crate) fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    tidy(&mut schema);
    schema.insert("title".to_owned(), title.into());
    // What a reader wants to know comes first, what it refers to last.
    let mut ordered = Map::new();
    for key in ["$schema", "title", "description"] {
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
    #[expect(clippy::cast_possible_truncation, reason = "2^53 - 1 is whole and fits")]
    let exact = MAX_COUNT as i64;
    let (minimum, maximum) = match format {
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        unsigned if unsigned.starts_with("uint") => (0, exact),
        signed if signed.starts_with("int") => (-exact, exact),
        _ => return None,
    };
    Some([("minimum", minimum), ("maximum", maximum)])
}
