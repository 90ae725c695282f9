//! What a surface says, in a form in which two surfaces can be held against each other.

use std::collections::BTreeMap;
use std::fmt;

/// One statement: a word, or a number as exactly as the surface shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    Word(String),
    Number { value: f64, precision: f64 },
}

impl Fact {
    /// Whether both can be true: numbers agree when they round to the same.
    fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word(one), Self::Word(other)) => one == other,
            (
                Self::Number { value: one, precision },
                Self::Number { value: other, precision: coarser },
            ) => (one - other).abs() <= precision.max(*coarser) / 2.0 + 1e-9,
            _ => false,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Number { value, .. } => write!(f, "{value}"),
        }
    }
}

/// Everything that one surface says.
#[derive(Debug, Default)]
pub(super) struct Facts {
    said: BTreeMap<String, Fact>,
    contradictions: Vec<String>,
}

impl Facts {
    pub(super) fn word(&mut self, key: String, word: &str) {
        self.add(key, Fact::Word(word.replace('_', " ")));
    }

    /// A number with so many digits behind the point; `None` for one that is exact.
    pub(super) fn number(&mut self, key: String, value: f64, precision: f64) {
        self.add(key, Fact::Number { value, precision });
    }

    fn add(&mut self, key: String, fact: Fact) {
        if let Some(known) = self.said.get(&key)
            && !known.agrees(&fact)
        {
            self.contradictions.push(format!("{key}: says both {known} and {fact}"));
        }
        self.said.insert(key, fact);
    }

    pub(super) fn get(&self, key: &str) -> Option<&Fact> {
        self.said.get(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.said.keys().map(String::as_str)
    }

    /// Where this surface is not what the reference is. Of the kinds of facts in `shown` it must have every one.
    pub(super) fn differences(&self, reference: &Self, shown: &[&str]) -> Vec<String> {
        let mut found = self.contradictions.clone();
        for (key, fact) in &self.said {
            match reference.get(key) {
                Some(known) if known.agrees(fact) => {}
                Some(known) => found.push(format!("{key}: {fact}, and {known} in benchmark.json")),
                None => found.push(format!("{key}: {fact}, and nothing in benchmark.json")),
            }
        }
        let is_shown = |key: &&str| shown.iter().any(|kind| kind_of(key) == *kind);
        for key in reference.keys().filter(is_shown).filter(|key| self.get(key).is_none()) {
            found.push(format!("{key}: not shown, and {} in benchmark.json", reference.said[key]));
        }
        found
    }
}

/// `arm with_skill rate` is of the kind `arm rate`; what stands between names who it is about.
fn kind_of(key: &str) -> String {
    let (first, rest) = key.split_once(' ').unwrap_or((key, ""));
    match first {
        "arm" | "case" | "difference" => {
            format!("{first} {}", rest.rsplit_once(": ").map_or("", |(_, what)| what))
        }
        _ => first.to_owned(),
    }
}
