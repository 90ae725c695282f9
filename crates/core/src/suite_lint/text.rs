//! How texts are compared: words, neighbouring words, and pairs of texts that are nearly the same.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// How many texts are compared with each other; pairs grow with the square.
pub(super) const MOST_COMPARED: usize = 1000;

/// How many of the words of a very long text are looked at.
const MOST_WORDS: usize = 2000;

/// The share of common pairs of words from which two texts are nearly the same.
const NEARLY: f64 = 0.8;

/// The words in lower case, without punctuation.
pub(super) fn words(text: &str) -> Vec<String> {
    let split = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    split.take(MOST_WORDS).map(str::to_lowercase).collect()
}

/// The words in one line: equal for texts that differ only in case, punctuation and spaces.
pub(super) fn normalised(text: &str) -> String {
    words(text).join(" ")
}

/// The sequences of so many neighbouring words that a text has, each as a number, sorted and once.
#[derive(Debug, PartialEq)]
pub(super) struct Sequences(Vec<u64>);

impl Sequences {
    pub(super) fn of(words: &[String], length: usize) -> Self {
        let number = |window: &[String]| {
            // The same keys in every process: the findings must not depend on chance.
            let mut hasher = DefaultHasher::new();
            window.hash(&mut hasher);
            hasher.finish()
        };
        let mut numbers: Vec<u64> = words.windows(length.max(1)).map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }

    /// The share of these sequences that the other text has, too.
    pub(super) fn share_in(&self, other: &Self) -> f64 {
        share(self.common(other), self.0.len())
    }

    /// The share of the sequences of both texts that they have in common.
    fn likeness(&self, other: &Self) -> f64 {
        let (small, large) = (self.0.len().min(other.0.len()), self.0.len().max(other.0.len()));
        // Texts of very different length cannot be alike, and need not be compared.
        if share(small, large) < NEARLY {
            return 0.0;
        }
        let common = self.common(other);
        share(common, small + large - common)
    }

    fn common(&self, other: &Self) -> usize {
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut count = 0;
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            match a.cmp(b) {
                Ordering::Less => drop(mine.next()),
                Ordering::Greater => drop(theirs.next()),
                Ordering::Equal => {
                    count += 1;
                    mine.next();
                    theirs.next();
                }
            }
        }
        count
    }
}

/// Pairs of texts that are nearly the same, each text at most once and with the first one that it resembles. Texts that
/// are the same up to case and punctuation are not among them.
pub(super) fn near_pairs(texts: &[Vec<String>]) -> Vec<(usize, usize)> {
    let pairs: Vec<Sequences> =
        texts.iter().take(MOST_COMPARED).map(|words| Sequences::of(words, 2)).collect();
    let is_near = |first: usize, second: usize| {
        pairs[first].likeness(&pairs[second]) >= NEARLY && texts[first] != texts[second]
    };
    (0..pairs.len())
        .filter_map(|second| Some(((0..second).find(|&first| is_near(first, second))?, second)))
        .collect()
}

/// Items that are the same as an earlier one: its index, and theirs.
pub(super) fn repeated<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> Vec<(usize, usize)> {
    let mut first = HashMap::new();
    let mut found = Vec::new();
    for (index, key) in keys.enumerate() {
        match first.entry(key) {
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(index);
            }
            std::collections::hash_map::Entry::Occupied(taken) => found.push((*taken.get(), index)),
        }
    }
    found
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        crate::statistics::number(part) / crate::statistics::number(whole)
    }
}

/// A text in quotes, cut to a length that fits into a message.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    format!("\"{}\"", crate::text::shorten(text, LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_punctuation_make_no_difference() {
        assert_eq!(normalised("Merge  a.pdf, please!"), normalised("merge A.PDF please"));
        assert_ne!(normalised("merge a"), normalised("merge b"));
    }

    #[test]
    fn a_text_is_contained_when_its_sequences_are() {
        let prompt = words("Write a haiku about the sea and save it as haiku.txt, please.");
        let prompt = Sequences::of(&prompt, 3);
        let share = |text: &str| Sequences::of(&words(text), 3).share_in(&prompt);
        assert!(share("Save it as haiku.txt") > 0.99);
        assert!(share("The haiku is saved under the name haiku.txt") < 0.5);
        assert!(share("") < 0.1);
    }

    #[test]
    fn near_pairs_differ_in_a_word_or_two() {
        let long = "Please read the notes of our last meeting and make a list of the open tasks with a name for each";
        let texts = [
            long,
            &long.replace("last", "first"),
            "Something else altogether",
            &long.to_uppercase(),
        ];
        let texts: Vec<_> = texts.iter().map(|text| words(text)).collect();
        assert_eq!(near_pairs(&texts), [(0, 1), (1, 3)]);
        assert_eq!(near_pairs(&[words("Make a PDF"), words("Make a CSV")]), []);
        assert_eq!(near_pairs(&[vec![], vec![]]), []);
    }

    #[test]
    fn repetition_names_the_first() {
        assert_eq!(repeated(["a", "b", "a", "a"].iter()), [(0, 2), (0, 3)]);
    }

    #[test]
    fn long_texts_are_cut_in_messages() {
        assert_eq!(quoted("a\n b"), "\"a b\"");
        assert_eq!(quoted(&"é".repeat(70)).chars().count(), 63);
    }
}
