//! The scripted judge: answers what the schema asks for, by looking for the headings of the skill in what it is shown.
//!
//! It speaks the smallest contract of a model (`command`): the request as a JSON file that a variable names, the answer on
//! standard output. Everything that happens to the answer of a real judge happens to its own: the schema is checked, and
//! its quotes are looked up.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

/// The headings of notes that follow the skill.
const HEADINGS: [&str; 4] = ["## Breaking changes", "## New", "## Fixed", "## Faster"];

pub(super) fn play(out: &mut dyn Write) -> io::Result<()> {
    let path = std::env::var_os("SKILLGAUGE_REQUEST").unwrap_or_default();
    let request: Value = serde_json::from_slice(&fs_err::read(path)?)?;
    let shown: String =
        request["user"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let found = HEADINGS.iter().copied().find(|heading| shown.contains(heading));
    write!(out, "{}", answer(&request["schema"], found))
}

/// An answer that fits the schema: good if the heading was found.
fn answer(schema: &Value, found: Option<&str>) -> Value {
    let properties = schema["properties"].as_object();
    let fields = properties.into_iter().flatten();
    Value::Object(fields.map(|(name, schema)| (name.clone(), field(name, schema, found))).collect())
}

fn field(name: &str, schema: &Value, found: Option<&str>) -> Value {
    let is_good = found.is_some();
    match (name, schema["type"].as_str()) {
        ("verdict", _) => json!(if is_good { "pass" } else { "fail" }),
        ("score", _) => json!(if is_good { 5 } else { 2 }),
        ("passed", _) => json!(is_good),
        ("quotes", _) => json!(found.into_iter().collect::<Vec<_>>()),
        ("reasoning" | "details", _) => json!(match found {
            Some(heading) => format!("scripted judge: the notes have the heading `{heading}`"),
            None => "scripted judge: the notes have none of the skill's headings".to_owned(),
        }),
        (_, Some("object")) => answer(schema, found),
        (_, Some("array")) => json!([]),
        (_, Some("boolean")) => json!(is_good),
        (_, Some("integer" | "number")) => json!(0),
        (_, Some(_)) => json!(""),
        (_, None) => Value::Object(Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_every_field_of_the_schema() {
        let schema = json!({"type": "object", "properties": {
            "expectations": {"type": "object", "properties": {"E1": {"type": "object", "properties": {
                "reasoning": {"type": "string"}, "quotes": {"type": "array"}, "verdict": {"type": "string"}}}}},
            "claims": {"type": "array"}}});
        let good = answer(&schema, Some("## New"));
        assert_eq!(good["expectations"]["E1"]["verdict"], "pass");
        assert_eq!(good["expectations"]["E1"]["quotes"], json!(["## New"]));
        assert_eq!(answer(&schema, None)["expectations"]["E1"]["verdict"], "fail");
        assert_eq!(good["claims"], json!([]));
    }
}
