//! Files as we write them, and the rounding of the numbers in them.
//!
//! One form for all: two spaces of indent, keys in the seeds' order (the order of the fields of our types), then what
//! we do not know in the order in which it was read, a final newline. Where the text goes is the caller's business.

use serde::Serialize;

use crate::json::Number;

/// Why a value cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A number that JSON cannot hold, or a map with keys that are not text.
    #[error("the value cannot be written as JSON")]
    NotJson(#[from] serde_json::Error),
}

/// The text of a file.
pub fn to_text<T: Serialize>(value: &T) -> Result<String, WriteError> {
    let mut bytes = to_bytes(value)?;
    bytes.push(b'\n');
    // What serde writes into JSON is text.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// The text of a value inside of a file: no final newline.
pub fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::with_capacity(256);
    append(value, &mut bytes)?;
    Ok(bytes)
}

/// Appends the text of a value inside of a file: no final newline.
pub fn append<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), WriteError> {
    Ok(serde_json::to_writer_pretty(bytes, value)?)
}

/// Rounds to 4 decimals, as rates are written.
pub fn round_rate(rate: f64) -> f64 {
    round(rate, 4)
}

/// Rounds a probability: four decimals, and of a small one the first two digits that are not zero. 0.0000 would claim too
/// much.
pub fn round_probability(probability: f64) -> f64 {
    if probability >= 0.001 || probability <= 0.0 {
        return round_rate(probability);
    }
    format!("{probability:.1e}").parse().unwrap_or(probability)
}

/// Rounds to 1 decimal, as scores are written.
pub fn round_score(score: f64) -> f64 {
    round(score, 1)
}

/// `part / whole` as it is written; of nothing, it is 0.
pub fn rate(part: u64, whole: u64) -> Number {
    if whole == 0 {
        return Number::Float(0.0);
    }
    Number::Float(round_rate(Number::Unsigned(part).as_f64() / Number::Unsigned(whole).as_f64()))
}

/// Rounds the exact value of a double, a true tie to the even digit: what Python's `round` does.
///
/// The seeds' tools and the public skill-creator are Python, and the numbers of an iteration must be the same whoever
/// computes them. Multiplying by a power of ten and rounding that would round twice, and differ for 0.285 or 1.005.
/// Never gives `-0`, which reads like a mistake.
fn round(number: f64, decimals: usize) -> f64 {
    if !number.is_finite() {
        return number;
    }
    // Most rates are round already, and the quotient of two whole numbers is the double that reads like them.
    let unit = 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let is_round = ((number * unit).round() / unit).to_bits() == number.to_bits();
    if is_round && number != 0.0 {
        return number;
    }
    // Formatting is exact, and what it writes is always a number.
    let rounded = format!("{number:.decimals$}").parse().unwrap_or(number);
    if rounded == 0.0 { 0.0 } else { rounded }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_and_scores_round_as_in_python() {
        for (number, rounded) in [
            (1.0 / 3.0, 0.3333),
            (2.0 / 3.0, 0.6667),
            // Ties as they read: the doubles lie just above and just below.
            (0.00005, 0.0001),
            (0.00015, 0.0001),
            // A true tie goes to the even digit.
            (0.03125, 0.0312),
            (0.09375, 0.0938),
            (0.000_049_99, 0.0),
            (1.0, 1.0),
            (0.99995, 1.0),
            (-0.09375, -0.0938),
            (1e300, 1e300),
        ] {
            assert_eq!(round_rate(number).to_bits(), f64::to_bits(rounded), "{number}");
        }
        for (number, rounded) in [
            (4.25, 4.2),
            (4.75, 4.8),
            (4.35, 4.3),
            (0.05, 0.1),
            (2.449_999, 2.4),
            (9.96, 10.0),
            (3.0, 3.0),
        ] {
            assert_eq!(round_score(number).to_bits(), f64::to_bits(rounded), "{number}");
        }
    }

    #[test]
    fn negative_zero_is_never_written() {
        for number in [-0.0, -0.01, -1e-300] {
            assert_eq!(round_score(number).to_bits(), 0.0_f64.to_bits(), "{number}");
        }
        assert!(round_rate(f64::NAN).is_nan());
    }

    #[test]
    fn a_rate_of_nothing_is_zero() {
        assert_eq!(rate(0, 0), Number::Float(0.0));
        assert_eq!(rate(5, 6), Number::Float(0.8333));
    }

    #[test]
    fn text_has_two_spaces_and_a_final_newline() {
        let text = to_text(&serde_json::json!({"b": [1], "a": {}})).unwrap();
        assert_eq!(text, "{\n  \"b\": [\n    1\n  ],\n  \"a\": {}\n}\n");
    }

    proptest! {
        #[test]
        fn numbers_that_are_round_stay_and_others_are_rounded_exactly(
            whole in -1_000_000_i64..1_000_000, apart in -2_i64..=2, decimals in proptest::sample::select(vec![1_usize, 4]),
        ) {
            let unit = 10_f64.powi(i32::try_from(decimals).unwrap());
            let near = Number::from(whole).as_f64() / unit;
            let number = f64::from_bits(near.to_bits().saturating_add_signed(apart));
            prop_assume!(number.is_finite());
            let exact: f64 = format!("{number:.decimals$}").parse().unwrap();
            prop_assert_eq!(round(number, decimals).to_bits(), (exact + 0.0).to_bits());
        }

        #[test]
        fn rounding_moves_a_number_by_at_most_half_a_unit_and_is_stable(number in -1e6_f64..1e6) {
            let rounded = round_rate(number);
            prop_assert!((rounded - number).abs() <= 0.000_05 + 1e-9);
            prop_assert_eq!(round_rate(rounded).to_bits(), rounded.to_bits());
        }
    }
}
