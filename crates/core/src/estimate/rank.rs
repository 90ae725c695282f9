//! BM25: how well a description covers the words of a query, rare words counting more.
//!
//! How rare a word is is asked of a corpus: the descriptions that compete, and a small bundled background, without which
//! a skill that is alone would have no rare words at all.

use std::collections::HashMap;

use super::words::{Word, words};

/// How soon repeating a word stops to help.
const SATURATION: f64 = 1.2;

/// How much a long description is held back: it has more words to be hit by.
const LENGTH_WEIGHT: f64 = 0.75;

/// Descriptions of made-up skills, one a line: what people ask agents for.
const BACKGROUND: &str = include_str!("../../data/background.txt");

/// Descriptions that are ranked against each other.
#[derive(Clone, Debug)]
pub(crate) struct Corpus {
    documents: Vec<Document>,
    /// In how many texts of corpus and background a stem occurs.
    frequency: HashMap<String, u32>,
    texts: u32,
    mean_length: f64,
}

#[derive(Clone, Debug)]
struct Document {
    counts: HashMap<String, u32>,
    length: f64,
}

/// How well one description covers a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coverage {
    /// 0 with no word in common; each common word adds to it, a rare one more.
    pub(crate) score: f64,
    /// Words that both have, the weightiest first.
    pub(crate) caught: Vec<String>,
    /// Words that only the query has, the weightiest first.
    pub(crate) missing: Vec<String>,
}

impl Corpus {
    /// A corpus of these texts, in their order.
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let documents: Vec<Document> = texts.into_iter().map(Document::new).collect();
        let background: Vec<Document> = BACKGROUND.lines().map(Document::new).collect();
        let mut frequency = HashMap::new();
        let mut length = 0.0;
        let mut count = 0;
        for document in documents.iter().chain(&background) {
            #[expect(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
            for stem in document.counts.keys() {
                *frequency.entry(stem.clone()).or_default() += 1;
            }
            length += document.length;
            count += 1;
        }
        let mean_length = if count == 0 { 1.0 } else { (length / f64::from(count)).max(1.0) };
        Self { documents, frequency, texts: count, mean_length }
    }

    /// How well the text at `index` covers a query; a place that is not there covers nothing.
    pub(crate) fn cover(&self, index: usize, query: &str) -> Coverage {
        let mut asked: Vec<Word> = Vec::new();
        for word in words(query) {
            if asked.iter().all(|known| known.stem != word.stem) {
                asked.push(word);
            }
        }
        let document = self.documents.get(index);
        let mut caught = Vec::new();
        let mut missing = Vec::new();
        let mut score = 0.0;
        for word in asked {
            let rarity = self.rarity(&word.stem);
            let part = document.map_or(0.0, |document| self.part(document, &word.stem));
            score += rarity * part;
            let list = if part > 0.0 { &mut caught } else { &mut missing };
            list.push((rarity, word.shown));
        }
        Coverage { score, caught: weightiest_first(caught), missing: weightiest_first(missing) }
    }

    /// The idf of BM25, in the form that is never negative.
    fn rarity(&self, stem: &str) -> f64 {
        let with = f64::from(self.frequency.get(stem).copied().unwrap_or_default());
        let without = f64::from(self.texts) - with;
        ((without + 0.5) / (with + 0.5)).ln_1p()
    }

    /// How often a document has a word, with less for each further time and less in a long document.
    fn part(&self, document: &Document, stem: &str) -> f64 {
        let count = f64::from(document.counts.get(stem).copied().unwrap_or_default());
        let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * document.length / self.mean_length;
        count * (SATURATION + 1.0) / (count + SATURATION * length)
    }
}

impl Document {
    fn new(text: &str) -> Self {
        let mut counts = HashMap::new();
        let mut length = 0.0;
        for word in words(text) {
            *counts.entry(word.stem).or_default() += 1;
            length += 1.0;
        }
        Self { counts, length }
    }
}

fn weightiest_first(mut words: Vec<(f64, String)>) -> Vec<String> {
    words.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    words.into_iter().map(|(_, word)| word).collect()
}
