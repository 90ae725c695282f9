//! Cutting what is too long: the middle goes, because the beginning says what it is and the end how it went.

use serde_json::{Map, Value};
pub(super) use skillgauge_core::text::cut_middle;

/// Cuts `text` to at most `limit` bytes.
pub(super) fn cut_end(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// Copies a JSON value with long texts cut, and the rest left out once `room` bytes are used.
pub(super) struct ValueCutter {
    pub(super) text: usize,
    /// Bytes that may still be used.
    pub(super) room: usize,
    /// Bytes that were left out.
    pub(super) cut: u64,
}

/// What a number, a bracket or a comma is counted as.
const NODE: usize = 8;

impl ValueCutter {
    /// The copy. Depth is bounded by the JSON parser.
    pub(super) fn copy(&mut self, value: &Value) -> Value {
        self.room = self.room.saturating_sub(NODE);
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => {
                let mut copy = Vec::new();
                for item in items {
                    if self.room == 0 {
                        self.cut += size(item);
                    } else {
                        copy.push(self.copy(item));
                    }
                }
                Value::Array(copy)
            }
            Value::Object(fields) => {
                let mut copy = Map::new();
                for (key, item) in fields {
                    if self.room == 0 {
                        self.cut += key.len() as u64 + size(item);
                    } else {
                        let key = self.text(key);
                        let item = self.copy(item);
                        copy.insert(key, item);
                    }
                }
                Value::Object(copy)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let (kept, cut) = cut_middle(text, self.text.min(self.room));
        self.room = self.room.saturating_sub(kept.len());
        self.cut += cut;
        kept
    }
}

/// Roughly the bytes of a value as text.
fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(key, item)| key.len() as u64 + size(item)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => NODE as u64,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ValueCutter, cut_middle};

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let (kept, cut) = cut_middle(&format!("begin{}end", "x".repeat(1000)), 40);
        assert!(kept.starts_with("begin"), "{kept}");
        assert!(kept.ends_with("end"), "{kept}");
        assert_eq!(cut, 968);
        assert!(kept.contains("[968 bytes left out]"), "{kept}");
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        for limit in 0..40 {
            let (kept, _) = cut_middle(&"é🦀".repeat(20), limit);
            assert!(kept.len() <= limit + 40, "{limit}: {kept}");
        }
    }

    #[test]
    fn a_value_over_its_room_loses_its_rest_and_counts_it() {
        let value = json!({"a": "x".repeat(100), "b": ["y".repeat(50), 1, {"c": "z".repeat(60)}]});
        let mut cutter = ValueCutter { text: 1000, room: 130, cut: 0 };
        let copy = cutter.copy(&value);
        assert_eq!(copy["a"], value["a"]);
        assert!(cutter.cut >= 60, "{}", cutter.cut);
        let mut roomy = ValueCutter { text: 1000, room: 10_000, cut: 0 };
        assert_eq!(roomy.copy(&value), value);
        assert_eq!(roomy.cut, 0);
    }
}
