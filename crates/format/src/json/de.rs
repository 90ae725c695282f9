//! Serde reads our types from the tree.
//!
//! Two things differ from a plain JSON reader. A whole number may be written `3.0` where a type wants an integer, as
//! JSON Schema allows and Python does. And text is lent out for as long as the file lives.
//!
//! By the time serde gets here the checker has accepted the file, so an error means that the schema and the type of a
//! file kind disagree; tests hold that they do not, and a reader still reports it as a problem of the file.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::{Member, Node, Number, Value};

/// Why serde could not read a type from a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    reason: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Unreadable {}

impl de::Error for Unreadable {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self { reason: reason.to_string() }
    }
}

impl<'de> Node<'de> {
    /// Reads a type from this value.
    pub fn deserialize<T: de::Deserialize<'de>>(&self) -> Result<T, Unreadable> {
        T::deserialize(self)
    }

    fn visit_integer<V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.as_number().and_then(Number::to_whole) {
            Some(number) => visit_number(number, visitor),
            None => self.deserialize_any(visitor),
        }
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: Number, visitor: V) -> Result<V::Value, Unreadable> {
    match number {
        Number::Unsigned(number) => visitor.visit_u64(number),
        Number::Signed(number) => visitor.visit_i64(number),
        Number::Float(number) => visitor.visit_f64(number),
    }
}

fn visit_text<'de, V: Visitor<'de>>(
    text: &Cow<'de, str>,
    visitor: V,
) -> Result<V::Value, Unreadable> {
    match text {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_str(text),
    }
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
            self.visit_integer(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for &Node<'de> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match &self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(truth) => visitor.visit_bool(*truth),
            Value::Number(number) => visit_number(*number, visitor),
            Value::String(text) => visit_text(text, visitor),
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter());
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Value::Object(members) => {
                let pairs = members.iter().map(|Member { key, value, .. }| (Key(key), value));
                let mut members = MapDeserializer::new(pairs);
                let value = visitor.visit_map(&mut members)?;
                members.end()?;
                Ok(value)
            }
        }
    }

    integers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    /// Our enumerations are plain words.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        match &self.value {
            Value::String(text) => visitor.visit_enum(StrDeserializer::new(text)),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Unreadable> for &Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// A key of an object.
#[derive(Clone, Copy)]
struct Key<'n, 'de>(&'n Cow<'de, str>);

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visit_text(self.0, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Unreadable> for Key<'_, 'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::parse;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        WithSkill,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Sample {
        count: u64,
        rate: f64,
        word: Word,
        note: Option<String>,
        #[serde(flatten)]
        extra: serde_json::Map<String, serde_json::Value>,
    }

    #[test]
    fn a_type_is_read_and_the_rest_is_kept() {
        let text = br#"{"count": 3.0, "rate": 1, "word": "with_skill", "note": null, "more": [1.0, {"a\n": -2}]}"#;
        let sample: Sample = parse(text).unwrap().root.deserialize().unwrap();
        assert_eq!(sample.count, 3);
        assert!((sample.rate - 1.0).abs() < f64::EPSILON);
        assert_eq!(sample.word, Word::WithSkill);
        assert_eq!(sample.note, None);
        let extra = serde_json::json!({"more": [1.0, {"a\n": -2}]});
        assert_eq!(serde_json::Value::Object(sample.extra), extra);
    }

    #[test]
    fn a_value_of_another_type_is_an_error_and_not_a_panic() {
        for text in
            [r#"{"count": 3.5}"#, r#"{"count": "3"}"#, r#"{"count": -1}"#, "[]", "null", "{}"]
        {
            assert!(
                parse(text.as_bytes()).unwrap().root.deserialize::<Sample>().is_err(),
                "{text}"
            );
        }
    }
}
