//! Keys: a hash of what was asked, the same on every machine.
//!
//! The hash is of canonical JSON: keys sorted, no white space, numbers as serde_json writes them. So the order in which
//! a type lists its fields does not matter, and a request that was written to a file and read back has the same key.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillgauge_core::text::sha256;

use super::entry::EntryKind;

/// How many digits of a key are in the name of a file.
const SHORT: usize = 16;

/// The key of a question: 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// The key of a request.
    pub(super) fn of(kind: EntryKind, request: &Value) -> Self {
        let mut text = format!("{kind}\n");
        write_canonical(request, &mut text);
        Self(sha256(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part that is in the name of a file.
    pub(super) fn short(&self) -> &str {
        self.0.get(..SHORT).unwrap_or(&self.0)
    }

    /// Whether a text can be the part of a key that is in the name of a file.
    pub(super) fn is_short(text: &str) -> bool {
        text.len() == SHORT
            && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The hash of a value's canonical form.
pub(crate) fn digest_of(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    sha256(text)
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (number, (key, value)) in fields.into_iter().enumerate() {
                if number > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_fields_does_not_matter_and_everything_else_does() {
        let key = |value: Value| Key::of(EntryKind::Model, &value);
        let one = key(json!({"a": 1, "b": [{"c": "x", "d": null}]}));
        assert_eq!(one, key(json!({"b": [{"d": null, "c": "x"}], "a": 1})));
        assert_ne!(one, key(json!({"a": 2, "b": [{"c": "x", "d": null}]})));
        assert_ne!(one, key(json!({"a": 1, "b": [{"c": "x"}]})));
        assert_ne!(one, Key::of(EntryKind::Agent, &json!({"a": 1, "b": [{"c": "x", "d": null}]})));
    }

    #[test]
    fn a_key_is_what_sha256sum_says() {
        // printf 'model\n{"a":1}' | sha256sum
        let key = Key::of(EntryKind::Model, &json!({"a": 1}));
        assert_eq!(
            key.as_str(),
            "7cd44004b44508d933d753dd3678baec1f1f2ef8fbd40c8c5920048bd96f998b"
        );
        assert_eq!(key.short().len(), SHORT);
        assert!(Key::is_short(key.short()) && !Key::is_short("g") && !Key::is_short(key.as_str()));
    }

    proptest! {
        #[test]
        fn a_request_that_was_stored_and_read_has_the_same_key(text in "\\PC{0,30}", number: f64, whole: i64) {
            let value = json!({"z": text, "a": [number, whole], "m": {"y": 1, "x": text}});
            let stored: Value = serde_json::from_str(&serde_json::to_string_pretty(&value).unwrap()).unwrap();
            prop_assert_eq!(Key::of(EntryKind::Agent, &stored), Key::of(EntryKind::Agent, &value));
        }
    }
}
