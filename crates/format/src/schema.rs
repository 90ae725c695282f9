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
    if format.starts_with("uint") || format.starts_with("int") {
        schema.remove("format");
        if schema.get("maximum").is_none() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "2^53 - 1 is whole and fits"
            )]
            schema.insert("maximum".to_owned(), (MAX_COUNT as u64).into());
        }
    }
    // Definitions are subschemas, too.
    transform_subschemas(&mut tidy, schema);
}
