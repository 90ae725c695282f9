//! How texts are compared: words, neighbouring words, and pairs of texts that are nearly the same.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// How many texts are compared with each other; pairs grow with the square.
pub(super) const MOST_COMPARED: usize = 1000;

/// How many of the words of a very long text are looked at.
const MOST_WORDS: usize = 20_000;

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

/// The share of the sequences of three words of `part` that `whole` has, too; of all words when there are fewer.
pub(super) fn contained(part: &[String], whole: &[String]) -> f64 {
    let size = part.len().min(3);
    if size == 0 {
        return 0.0;
    }
    let there: HashSet<&[String]> = whole.windows(size).collect();
    let found = part.windows(size).filter(|window| there.contains(window)).count();
    share(found, part.len() + 1 - size)
}

/// Pairs of texts that are nearly the same, each text at most once and with the first one that it resembles. Texts that
/// are the same up to case and punctuation are not among them.
pub(super) fn near_pairs(texts: &[Vec<String>]) -> Vec<(usize, usize)> {
    let pairs: Vec<HashSet<&[String]>> =
        texts.iter().take(MOST_COMPARED).map(|words| words.windows(2).collect()).collect();
    let is_near = |first: usize, second: usize| {
        texts[first] != texts[second] && jaccard(&pairs[first], &pairs[second]) >= NEARLY
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

fn jaccard(first: &HashSet<&[String]>, second: &HashSet<&[String]>) -> f64 {
    let (small, large) = if first.len() < second.len() { (first, second) } else { (second, first) };
    // Sets of very different size cannot reach the threshold, and need not be compared.
    if share(small.len(), large.len()) < NEARLY {
        return 0.0;
    }
    let common = small.iter().filter(|pair| large.contains(*pair)).count();
    share(common, first.len() + second.len() - common)
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
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let printable = crate::text::printable(&line);
    if printable.chars().count() <= LONGEST {
        return format!("\"{printable}\"");
    }
    let start: String = printable.chars().take(LONGEST).collect();
    format!("\"{}…\"", start.trim_end())
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
        assert!(contained(&words("Save it as haiku.txt"), &prompt) > 0.99);
        assert!(contained(&words("The haiku is saved under the name haiku.txt"), &prompt) < 0.5);
        assert!(contained(&[], &prompt) < 0.1);
        assert!(contained(&words("sea"), &prompt) > 0.99);
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
