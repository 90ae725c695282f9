//! Numbers that remember how they were written.
//!
//! JSON does not tell `4` from `4.0`, but people, Python and a diff do. The seeds write token counts of a benchmark as
//! `3800` and rates as `0.85` under the same field name, so a plain `f64` could not write back what it read.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// A JSON number.
///
/// Equality is equality of the written form: `Unsigned(4)` and `Float(4.0)` differ. Compare [`Number::as_f64`] to
/// compare amounts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number of at least zero, written without fraction.
    Unsigned(u64),
    /// A whole number below zero, written without fraction.
    Signed(i64),
    /// Everything else. NaN and the infinities can be held, but not written: JSON has no such numbers.
    Float(f64),
}

impl Number {
    pub(crate) fn from_json(number: &serde_json::Number) -> Option<Self> {
        let signed = || number.as_i64().map(Self::Signed);
        let float = || number.as_f64().map(Self::Float);
        number.as_u64().map(Self::Unsigned).or_else(signed).or_else(float)
    }

    /// The amount, rounded to the nearest double when it is a whole number above 2^53.
    #[expect(
        clippy::cast_precision_loss,
        reason = "documented: the nearest double is what a caller asks for"
    )]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Unsigned(number) => number as f64,
            Self::Signed(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    /// Whether the number has no fraction, however it was written; JSON Schema calls that an integer.
    pub fn is_integer(self) -> bool {
        match self {
            Self::Unsigned(_) | Self::Signed(_) => true,
            Self::Float(number) => number.fract() == 0.0,
        }
    }

    /// The number as a whole number in the form that serde asks for, if it is one.
    pub(crate) fn to_whole(self) -> Option<Number> {
        /// All whole doubles up to here are exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Float(number) if number.fract() == 0.0 && number.abs() <= EXACT =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "whole and at most 2^53 in size"
                )]
                Some(if number < 0.0 {
                    Self::Signed(number as i64)
                } else {
                    Self::Unsigned(number as u64)
                })
            }
            Self::Float(_) => None,
            whole => Some(whole),
        }
    }
}

impl Default for Number {
    fn default() -> Self {
        Self::Unsigned(0)
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self::Unsigned(number)
    }
}

impl From<u32> for Number {
    fn from(number: u32) -> Self {
        Self::Unsigned(u64::from(number))
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        u64::try_from(number).map_or(Self::Signed(number), Self::Unsigned)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsigned(number) => number.fmt(f),
            Self::Signed(number) => number.fmt(f),
            // `{:?}` writes `4.0` and `1e300`, as JSON does; `{}` would write `4` and 300 zeros.
            Self::Float(number) => write!(f, "{number:?}"),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Unsigned(number) => serializer.serialize_u64(number),
            Self::Signed(number) => serializer.serialize_i64(number),
            Self::Float(number) if number.is_finite() => serializer.serialize_f64(number),
            // serde_json would write null, and a missing measurement would look like a measured nothing.
            Self::Float(number) => {
                Err(ser::Error::custom(format_args!("JSON cannot hold the number {number}")))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        Self::from_json(&number).ok_or_else(|| de::Error::custom("expected a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_back_as_it_was_read() {
        for text in
            ["0", "3800", "-7", "0.85", "4.0", "18446744073709551615", "-9223372036854775808"]
        {
            let number: Number = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&number).unwrap(), text);
            assert_eq!(number.to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_number_cannot_be_written() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = serde_json::to_string(&Number::from(number)).unwrap_err();
            assert!(error.to_string().contains("JSON cannot hold"), "{error}");
        }
    }

    #[test]
    fn whole_floats_count_as_integers() {
        assert_eq!(Number::Float(3.0).to_whole(), Some(Number::Unsigned(3)));
        assert_eq!(Number::Float(-3.0).to_whole(), Some(Number::Signed(-3)));
        assert_eq!(Number::Float(-0.0).to_whole(), Some(Number::Unsigned(0)));
        assert_eq!(Number::Float(3.5).to_whole(), None);
        assert_eq!(Number::Float(1e300).to_whole(), None);
        assert!(Number::Float(1e300).is_integer());
        assert_eq!(Number::from(-5_i64).to_whole(), Some(Number::Signed(-5)));
    }
}
