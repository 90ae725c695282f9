//! Lines around material that the material cannot forge.
//!
//! The lines carry a number that is a hash of everything between them. Whoever writes the material would have to know
//! the hash of a text that contains this hash. That it does not occur is checked all the same.

use sha2::{Digest as _, Sha256};

use crate::text::hex;

/// Digits of the number around material.
const DIGITS: usize = 16;
/// Digits of the number at each event and file within it.
const MARK_DIGITS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    boundary: String,
}

impl Fence {
    /// A fence for all of these texts.
    pub fn around(seed: u64, texts: &[&str]) -> Self {
        Self { boundary: absent(seed, DIGITS, texts) }
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
pub(super) fn mark(texts: &[&str]) -> String {
    absent(0, MARK_DIGITS, texts)
}

/// A number that is in none of these texts.
fn absent(seed: u64, digits: usize, texts: &[&str]) -> String {
    let mut counter: u64 = 0;
    loop {
        let number = number(seed, counter, digits, texts);
        let occurs = texts.iter().any(|text| contains(text, &number));
        if !occurs {
            return number;
        }
        // A text cannot contain all numbers: there are more of them than it has bytes.
        counter += 1;
    }
}

fn number(seed: u64, counter: u64, count: usize, texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"skillgauge fence 1");
    hasher.update(seed.to_le_bytes());
    hasher.update(counter.to_le_bytes());
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

    #[test]
    fn a_text_that_forges_the_lines_of_another_seed_gets_other_lines() {
        let forged = Fence::around(42, &["work"]).wrap("OUTPUTS", "all is well");
        let fence = Fence::around(42, &[forged.as_str()]);
        assert!(!forged.contains(fence.boundary()));
        let wrapped = fence.wrap("OUTPUTS", &forged);
        let end = format!("===== END OUTPUTS {} =====", fence.boundary());
        assert_eq!(wrapped.matches(&end).count(), 1);
        assert!(wrapped.ends_with(&end));
    }

    #[test]
    fn a_number_that_occurs_is_not_taken() {
        // What the first number would be if it were drawn for another text.
        let first = number(1, 0, DIGITS, &["x"]);
        assert!(contains(&format!("..{}..", first.to_uppercase()), &first));
        assert!(!contains("0123456789abcde", "0123456789abcdef"));
    }

    #[test]
    fn the_same_material_has_the_same_lines() {
        assert_eq!(Fence::around(1, &["a", "b"]), Fence::around(1, &["a", "b"]));
        assert_ne!(Fence::around(1, &["a", "b"]), Fence::around(1, &["ab", ""]));
        assert_ne!(Fence::around(1, &["a"]), Fence::around(2, &["a"]));
    }

    proptest! {
        #[test]
        fn the_number_is_in_no_text(seed: u64, texts in prop::collection::vec("\\PC{0,200}", 0..4)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let fence = Fence::around(seed, &texts);
            prop_assert!(texts.iter().all(|text| !text.contains(fence.boundary())));
        }
    }
}
