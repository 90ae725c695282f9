//! Lines around material that the material cannot forge.
//!
//! The lines carry a number that is a hash of everything between them and of a key that is drawn anew by each process: an
//! agent knows its own texts, and not the key. That the number does not occur is checked all the same.

use sha2::{Digest as _, Sha256};

use crate::text::hex;

/// Digits of the number around material.
const DIGITS: usize = 16;
/// Digits of the number at each event and file within it.
const MARK_DIGITS: usize = 8;

/// What nobody who writes material can know: drawn at random, once for each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FenceKey(u64);

impl FenceKey {
    pub const fn new(drawn: u64) -> Self {
        Self(drawn)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    boundary: String,
}

impl Fence {
    /// A fence for all of these texts.
    pub fn around(key: FenceKey, texts: &[&str]) -> Self {
        Self { boundary: absent(key, DIGITS, texts) }
    }

    /// The number in the lines.
    pub fn boundary(&self) -> &str {
        &self.boundary
    }

    /// The text between its lines.
    pub fn wrap(&self, name: &str, text: &str) -> String {
        let boundary = &self.boundary;
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        format!(
            "===== BEGIN {name} {boundary} =====\n{text}{newline}===== END {name} {boundary} ====="
        )
    }
}

/// A short number that is in none of these texts: it marks where the next event or file begins, so that one cannot pose
/// as several.
pub(super) fn mark(key: FenceKey, texts: &[&str]) -> String {
    absent(key, MARK_DIGITS, texts)
}

/// A number that is in none of these texts.
fn absent(key: FenceKey, digits: usize, texts: &[&str]) -> String {
    let mut counter: u64 = 0;
    loop {
        let number = number(key, counter, digits, texts);
        let occurs = texts.iter().any(|text| contains(text, &number));
        // Digits alone could be taken for a date.
        if !occurs && number.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return number;
        }
        // A text cannot contain all numbers: there are more of them than it has bytes.
        counter += 1;
    }
}

fn number(key: FenceKey, counter: u64, count: usize, texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"skillgauge fence 2");
    hasher.update(key.0.to_le_bytes());
    hasher.update(counter.to_le_bytes());
    hasher.update(count.to_le_bytes());
    for text in texts {
        hasher.update(text.len().to_le_bytes());
        hasher.update(text.as_bytes());
    }
    let mut digits = hex(hasher.finalize());
    digits.truncate(count);
    digits
}

/// In any case of letters: a model may not see the difference.
fn contains(text: &str, boundary: &str) -> bool {
    let (text, boundary) = (text.as_bytes(), boundary.as_bytes());
    text.windows(boundary.len()).any(|window| window.eq_ignore_ascii_case(boundary))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: FenceKey = FenceKey::new(42);

    #[test]
    fn a_text_that_forges_the_lines_of_another_gets_other_lines() {
        let forged = Fence::around(KEY, &["work"]).wrap("OUTPUTS", "all is well");
        let fence = Fence::around(KEY, &[forged.as_str()]);
        assert!(!forged.contains(fence.boundary()));
        let wrapped = fence.wrap("OUTPUTS", &forged);
        let end = format!("===== END OUTPUTS {} =====", fence.boundary());
        assert_eq!(wrapped.matches(&end).count(), 1);
        assert!(wrapped.ends_with(&end));
    }

    #[test]
    fn a_number_that_occurs_is_not_taken() {
        // What the first number would be if it were drawn for another text.
        let first = number(KEY, 0, DIGITS, &["x"]);
        assert!(contains(&format!("..{}..", first.to_uppercase()), &first));
        assert!(!contains("0123456789abcde", "0123456789abcdef"));
    }

    #[test]
    fn the_same_material_has_the_same_lines() {
        assert_eq!(Fence::around(KEY, &["a", "b"]), Fence::around(KEY, &["a", "b"]));
        assert_ne!(Fence::around(KEY, &["a", "b"]), Fence::around(KEY, &["ab", ""]));
    }

    #[test]
    fn who_knows_the_text_and_not_the_key_knows_no_number() {
        let other = FenceKey::new(43);
        assert_ne!(Fence::around(KEY, &["a"]), Fence::around(other, &["a"]));
        assert_ne!(mark(KEY, &["a"]), mark(other, &["a"]));
        assert!(!Fence::around(KEY, &["a"]).boundary().starts_with(&mark(KEY, &["a"])));
    }

    proptest! {
        #[test]
        fn the_number_is_in_no_text(seed: u64, texts in prop::collection::vec("\\PC{0,200}", 0..4)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let fence = Fence::around(FenceKey::new(seed), &texts);
            prop_assert!(texts.iter().all(|text| !text.contains(fence.boundary())));
        }
    }
}
