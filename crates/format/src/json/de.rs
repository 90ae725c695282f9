//! Serde reads our types from a JSON value.
//!
//! What differs from serde_json: a whole number may be written `3.0` where a type wants an integer, as JSON Schema allows
//! and Python does. It is the one deserializer that our types are compiled for, and each of its methods takes only what
//! it is asked for: the hundred types of this crate make every further branch a hundred.
//!
//! By the time serde gets here the checker has accepted the file, so an error means that the schema and the type of a
//! file kind disagree; tests hold that they do not, and a reader still reports it as a problem of the file.

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value, map};

use super::Number;

/// Reads a type from a value.
pub(crate) fn from_value<T: DeserializeOwned, E: de::Error>(value: &Value) -> Result<T, E> {
    T::deserialize(Whole(value)).map_err(E::custom)
}

/// A value whose whole numbers are integers, however they are written.
#[derive(Clone, Copy)]
struct Whole<'v>(&'v Value);

impl Whole<'_> {
    fn unexpected(self, expected: &dyn Expected) -> Error {
        let found = match self.0 {
            Value::Null => Unexpected::Unit,
            Value::Bool(truth) => Unexpected::Bool(*truth),
            Value::Number(number) => Unexpected::Float(number.as_f64().unwrap_or_default()),
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        };
        de::Error::invalid_type(found, expected)
    }

    fn number(self) -> Option<Number> {
        match self.0 {
            Value::Number(number) => Number::from_json(number),
            _ => None,
        }
    }
}

/// Methods that take one kind of value.
macro_rules! only {
    ($($method:ident($pattern:pat) => |$visitor:ident| $visit:expr;)*) => {
        $(fn $method<V: Visitor<'de>>(self, $visitor: V) -> Result<V::Value, Error> {
            match self.0 {
                $pattern => $visit,
                _ => Err(self.unexpected(&$visitor)),
            }
        })*
    };
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.number().and_then(Number::to_whole) {
                Some(Number::Unsigned(number)) => visitor.visit_u64(number),
                Some(Number::Signed(number)) => visitor.visit_i64(number),
                Some(Number::Float(_)) | None => Err(self.unexpected(&visitor)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Whole<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(truth) => visitor.visit_bool(*truth),
            Value::Number(_) => match self.number() {
                Some(Number::Unsigned(number)) => visitor.visit_u64(number),
                Some(Number::Signed(number)) => visitor.visit_i64(number),
                Some(Number::Float(number)) => visitor.visit_f64(number),
                None => Err(self.unexpected(&visitor)),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Array(items) => visitor.visit_seq(Items(items.iter())),
            Value::Object(members) => {
                visitor.visit_map(Members { members: members.iter(), value: &Value::Null })
            }
        }
    }

    integers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
    }

    only! {
        deserialize_bool(Value::Bool(truth)) => |visitor| visitor.visit_bool(*truth);
        deserialize_str(Value::String(text)) => |visitor| visitor.visit_str(text);
        deserialize_string(Value::String(text)) => |visitor| visitor.visit_str(text);
        deserialize_seq(Value::Array(items)) => |visitor| visitor.visit_seq(Items(items.iter()));
        deserialize_map(Value::Object(members)) => |visitor| {
            visitor.visit_map(Members { members: members.iter(), value: &Value::Null })
        };
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.number() {
            Some(number) => visitor.visit_f64(number.as_f64()),
            None => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    /// Our enumerations are plain words.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(text) => visitor.visit_enum(StrDeserializer::new(text)),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

struct Items<'v>(std::slice::Iter<'v, Value>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|item| seed.deserialize(Whole(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Members<'v> {
    members: map::Iter<'v>,
    /// The value of the last key.
    value: &'v Value,
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.members.next() else { return Ok(None) };
        self.value = value;
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Whole(self.value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        WithSkill,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Sample {
        counts: Vec<u64>,
        rate: f64,
        word: Word,
        note: Option<String>,
        by_name: BTreeMap<String, Option<i32>>,
        #[serde(flatten)]
        extra: serde_json::Map<String, Value>,
    }

    #[test]
    fn a_type_is_read_and_the_rest_is_kept() {
        let value = json!({"counts": [3.0, 2], "rate": 1, "word": "with_skill", "note": null,
            "by_name": {"a": -3.0, "b": null}, "more": [1.0, {"a\n": -2}]});
        let sample: Sample = from_value::<_, Error>(&value).unwrap();
        assert_eq!(sample.counts, [3, 2]);
        assert!((sample.rate - 1.0).abs() < f64::EPSILON);
        assert_eq!(sample.word, Word::WithSkill);
        assert_eq!(sample.note, None);
        assert_eq!(sample.by_name, [("a".to_owned(), Some(-3)), ("b".to_owned(), None)].into());
        assert_eq!(Value::Object(sample.extra), json!({"more": [1.0, {"a\n": -2}]}));
    }

    #[test]
    fn a_value_of_another_type_is_an_error_and_not_a_panic() {
        for value in [json!(1.5), json!(-1.0), json!(1e300), json!("1"), json!(null), json!([])] {
            assert!(from_value::<u64, Error>(&value).is_err(), "{value}");
            assert!(from_value::<Sample, Error>(&value).is_err(), "{value}");
        }
    }
}
