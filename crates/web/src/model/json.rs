//! JSON files as they are found: there, missing or broken, and the values in them, if they have the right type.
//!
//! A workspace may come from another tool, or from a run that was killed. Nothing here fails: what cannot be read is a
//! [`Source::Broken`] that a page shows.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use fs_err as fs;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A file larger than this is not read.
const MAX_BYTES: u64 = 32 << 20;

/// What became of reading a JSON file.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// It is not there.
    Missing,
    /// It is there and cannot be used; why.
    Broken(String),
    Read(Value),
}

impl Source {
    /// The content, and the reason to a list of problems when the file is broken.
    pub(crate) fn or_problem(self, file: &str, problems: &mut Vec<Problem>) -> Option<Value> {
        match self {
            Self::Read(value) => Some(value),
            Self::Missing => None,
            Self::Broken(message) => {
                problems.push(Problem { file: file.to_owned(), message });
                None
            }
        }
    }
}

/// A file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The file, relative to the workspace or the iteration.
    pub file: String,
    /// What is wrong with it.
    pub message: String,
}

/// Reads a JSON file; links are not followed, because they may lead out of the workspace.
pub fn load(path: &Path) -> Source {
    load_without(path, &[])
}

/// Reads a JSON file without the fields of these names, in the document itself and in the items of its lists: a page of
/// thousands of runs needs their verdicts and not their evidence. An object in a field keeps all of its own, because its
/// names may be a user's: a rubric may well have a dimension `evidence`.
pub(crate) fn load_without(path: &Path, unwanted: &'static [&'static str]) -> Source {
    let bytes = match load_bytes(path, MAX_BYTES) {
        Bytes::Missing => return Source::Missing,
        Bytes::Broken(message) => return Source::Broken(message),
        Bytes::Read(bytes) => bytes,
    };
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    let value = Kept { unwanted, place: Place::ItemOrDocument }.deserialize(&mut reader);
    match value.and_then(|value| reader.end().map(|()| value)) {
        Ok(value) => Source::Read(value),
        Err(error) => Source::Broken(format!("not JSON: {error}")),
    }
}

/// Builds a value without the unwanted fields, so that nothing is allocated for them.
#[derive(Clone, Copy)]
struct Kept {
    unwanted: &'static [&'static str],
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    ItemOrDocument,
    Field,
}

impl<'de> DeserializeSeed<'de> for Kept {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Kept {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let item_of = Self { place: Place::ItemOrDocument, ..self };
        while let Some(item) = items.next_element_seed(item_of)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if self.place == Place::ItemOrDocument && self.unwanted.contains(&key.as_str()) {
                entries.next_value::<IgnoredAny>()?;
            } else {
                let field = Self { place: Place::Field, ..self };
                map.insert(key, entries.next_value_seed(field)?);
            }
        }
        Ok(Value::Object(map))
    }
}

/// What became of reading a file.
pub(crate) enum Bytes {
    /// It is not there.
    Missing,
    /// It is there and cannot be used; why.
    Broken(String),
    Read(Vec<u8>),
}

/// Reads a regular file of bounded size.
pub(crate) fn load_bytes(path: &Path, limit: u64) -> Bytes {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Bytes::Missing,
        Err(error) => return Bytes::Broken(error.kind().to_string()),
    };
    if metadata.is_symlink() {
        return Bytes::Broken("a link; links are not followed".to_owned());
    }
    if !metadata.is_file() {
        return Bytes::Broken("not a file".to_owned());
    }
    if metadata.len() > limit {
        return Bytes::Broken(format!("larger than {} MB", limit >> 20));
    }
    // Not `fs::read`, which asks for the size again, and again for the end.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    match fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Ok(_) => Bytes::Read(bytes),
        Err(error) => Bytes::Broken(error.kind().to_string()),
    }
}

/// The text of a field.
pub(crate) fn text(value: &Value, key: &str) -> Option<String> {
    as_text(value.get(key)?)
}

/// A text, or a number as text.
pub(crate) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The number of a field; texts such as `"+0.50"` count.
pub(crate) fn number(value: &Value, key: &str) -> Option<f64> {
    as_number(value.get(key)?)
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}

/// The whole number of a field.
pub(crate) fn count(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_u64()
}

/// The truth of a field.
pub(crate) fn truth(value: &Value, key: &str) -> Option<bool> {
    value.get(key)?.as_bool()
}

/// The items of a list; none when it is no list.
pub(crate) fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// An interval in any of the ways in which tools write one: `{low, high}`, `{lower, upper}`, `[low, high]`.
pub(crate) fn interval(value: &Value) -> Option<(f64, f64)> {
    if let Some([low, high]) = value.as_array().map(Vec::as_slice) {
        return Some((as_number(low)?, as_number(high)?));
    }
    low_high(value)
}

/// The interval in the fields of an object. `min` and `max` of statistics are none.
pub(crate) fn low_high(value: &Value) -> Option<(f64, f64)> {
    [("low", "high"), ("lower", "upper")]
        .into_iter()
        .find_map(|(low, high)| Some((number(value, low)?, number(value, high)?)))
}

/// The interval of a field of statistics, under the names that are in use.
pub(crate) fn interval_of(value: &Value) -> Option<(f64, f64)> {
    ["interval", "ci95", "ci", "confidence_interval", "trigger_rate_interval", "pass_rate_interval"]
        .into_iter()
        .find_map(|key| interval(value.get(key)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_interval_is_read_in_every_form() {
        for value in [
            json!([0.1, 0.9]),
            json!({"low": 0.1, "high": 0.9}),
            json!({"lower": "0.1", "upper": 0.9}),
        ] {
            assert_eq!(interval(&value), Some((0.1, 0.9)), "{value}");
        }
        assert_eq!(interval(&json!([1])), None);
        assert_eq!(interval(&json!("x")), None);
    }

    #[test]
    fn what_is_broken_is_said_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        assert_eq!(load(&path), Source::Missing);
        fs::write(&path, "{").unwrap();
        assert!(matches!(load(&path), Source::Broken(message) if message.contains("not JSON")));
        fs::write(&path, "{}").unwrap();
        assert_eq!(load(&path), Source::Read(json!({})));
        fs::write(&path, r#"{"a": [{"b": 1, "evidence": {"c": [2.5]}}, null, true], "evidence": "x", "d": {"evidence": -3}}"#)
            .unwrap();
        let kept = json!({"a": [{"b": 1}, null, true], "d": {"evidence": -3}});
        assert_eq!(load_without(&path, &["evidence"]), Source::Read(kept));
        fs::write(&path, r#"{"evidence": [1}"#).unwrap();
        assert!(matches!(load_without(&path, &["evidence"]), Source::Broken(_)));
        fs::write(&path, "{} {}").unwrap();
        assert!(matches!(load(&path), Source::Broken(_)));
        #[cfg(unix)]
        {
            let link = folder.path().join("b.json");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            assert!(matches!(load(&link), Source::Broken(message) if message.contains("link")));
        }
        assert!(matches!(load(folder.path()), Source::Broken(_)));
    }
}
