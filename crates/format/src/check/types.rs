//! Sets of the types that JSON values have.

use serde_json::Value as Json;

use crate::json::{Number, Value};

/// A set of types; the default is all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Default for Types {
    fn default() -> Self {
        Self(0b111_1111)
    }
}

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(1 << 1);
    /// Numbers without fraction only; a whole number is of this type and of [`Types::NUMBER`].
    pub(crate) const INTEGER: Self = Self(1 << 2);
    pub(crate) const NUMBER: Self = Self(1 << 3);
    pub(crate) const STRING: Self = Self(1 << 4);
    pub(crate) const ARRAY: Self = Self(1 << 5);
    pub(crate) const OBJECT: Self = Self(1 << 6);

    /// The value of the keyword `type`.
    pub(crate) fn from_schema(value: &Json) -> Option<Self> {
        match value {
            Json::String(name) => Self::from_name(name),
            Json::Array(names) => names.iter().try_fold(Self::NONE, |types, name| {
                Some(types.or(Self::from_name(name.as_str()?)?))
            }),
            _ => None,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    /// The types that a value has.
    pub(crate) fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if Number::is_integer(*number) => Self::INTEGER.or(Self::NUMBER),
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the two sets have a type in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.and(other) != Self::NONE
    }
}
