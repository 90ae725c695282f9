//! Serde reads our types from a `serde_json::Value`, with whole numbers as everywhere: `3.0` is an integer.
//!
//! For the few types that must look at a field before they know what the others mean, and so have a value and not a
//! file in their hands.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

use super::Number;

/// A value whose whole numbers are integers, however they are written.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'de>(pub(crate) &'de Value);

impl<'de> Whole<'de> {
    fn visit_integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let whole = self.0.as_f64().filter(|_| self.0.is_f64());
        match whole.and_then(|number| Number::Float(number).to_whole()) {
            Some(Number::Unsigned(number)) => visitor.visit_u64(number),
            Some(Number::Signed(number)) => visitor.visit_i64(number),
            Some(Number::Float(_)) | None => self.deserialize_any(visitor),
        }
    }
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.visit_integer(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Whole<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter().map(Whole));
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Value::Object(members) => {
                let pairs = members.iter().map(|(key, value)| (key.as_str(), Whole(value)));
                let mut members = MapDeserializer::new(pairs);
                let value = visitor.visit_map(&mut members)?;
                members.end()?;
                Ok(value)
            }
            plain => plain.deserialize_any(visitor),
        }
    }

    integers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
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

    /// Our enumerations are plain words.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for Whole<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Sample {
        counts: Vec<u64>,
        by_name: BTreeMap<String, Option<i32>>,
        rest: Value,
    }

    #[test]
    fn whole_numbers_are_integers_at_any_depth_and_free_values_stay_as_they_are() {
        let value = json!({"counts": [1.0, 2], "by_name": {"a": -3.0, "b": null}, "rest": [1.0]});
        let sample = Sample::deserialize(Whole(&value)).unwrap();
        assert_eq!(sample.counts, [1, 2]);
        assert_eq!(sample.by_name, [("a".to_owned(), Some(-3)), ("b".to_owned(), None)].into());
        assert_eq!(sample.rest, json!([1.0]));
    }

    #[test]
    fn what_is_not_whole_or_does_not_fit_is_an_error() {
        for count in [json!(1.5), json!(-1.0), json!(1e300), json!("1"), json!(null)] {
            assert!(u64::deserialize(Whole(&count)).is_err(), "{count}");
        }
    }
}
