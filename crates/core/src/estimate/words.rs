//! From text to words that can be compared: lower case, no filler words, word endings taken off.
//!
//! The stemming is light on purpose. It has to bring `extracts`, `extracted`, `extracting` and `extraction` together;
//! that two different words meet now and then costs less than a rule for every exception.

use std::borrow::Cow;

/// Words that say nothing about what a text is about, the usual words of descriptions of skills among them.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "although", "am", "an", "and", "any", "anything", "are", "as",
    "ask", "asked", "asks", "at", "be", "because", "been", "before", "being", "between", "both", "but", "by",
    "can", "cannot", "could", "did", "do", "does", "doesn", "doing", "don", "done", "each", "either", "else",
    "etc", "ever", "every", "for", "from", "get", "gets", "give", "given", "gives", "go", "had", "has", "have",
    "he", "help", "helps", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "isn", "it",
    "its", "just", "let", "like", "ll", "make", "makes", "may", "me", "mention", "mentions", "might", "more",
    "most", "my", "need", "needs", "no", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our",
    "out", "over", "own", "please", "re", "s", "same", "say", "she", "should", "skill", "skills", "so", "some",
    "something", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "through", "to", "too", "under", "until", "up", "us", "use", "used", "user", "users", "uses", "using",
    "ve", "very", "via", "want", "wants", "was", "we", "were", "what", "when", "whenever", "where", "whether",
    "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "would", "you", "your",
    "yours",
];

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// As it stands in the text, in lower case.
    pub(crate) shown: String,
    /// What it is compared by.
    pub(crate) stem: String,
}

/// The words of a text that say something, in their order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let lower = run.to_lowercase();
        if lower.chars().any(is_ideograph) {
            // Scripts without spaces: a sign is the smallest thing that means something.
            words.extend(lower.chars().map(|c| Word { shown: c.to_string(), stem: c.to_string() }));
        } else if FILLERS.binary_search(&lower.as_str()).is_err() {
            let stem = stem(&lower).into_owned();
            words.push(Word { shown: lower, stem });
        }
    }
    words
}

/// The different stems of a text, fillers included when it has nothing else; sorted.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let mut stems: Vec<String> = words(text).into_iter().map(|word| word.stem).collect();
    if stems.is_empty() {
        stems = text.split_whitespace().map(str::to_lowercase).collect();
    }
    stems.sort_unstable();
    stems.dedup();
    stems
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// Endings, the longer ones first, with what stays in their place and how many letters must be left.
const ENDINGS: &[(&str, &str, usize)] = &[
    ("isations", "iz", 3),
    ("izations", "iz", 3),
    ("isation", "iz", 3),
    ("ization", "iz", 3),
    ("ations", "at", 3),
    ("ation", "at", 3),
    ("tions", "t", 3),
    ("sions", "s", 3),
    ("tion", "t", 3),
    ("sion", "s", 3),
    ("ments", "", 4),
    ("ment", "", 4),
    ("ises", "iz", 4),
    ("ised", "iz", 4),
    ("ising", "iz", 4),
    ("ise", "iz", 4),
    ("ingly", "", 4),
    ("ings", "", 3),
    ("ing", "", 3),
    ("ies", "y", 2),
    ("ied", "y", 2),
    ("sses", "ss", 2),
    ("shes", "sh", 2),
    ("ches", "ch", 2),
    ("xes", "x", 2),
    ("ed", "", 3),
    ("ers", "", 4),
    ("er", "", 4),
    ("ly", "", 4),
];

/// The part of an English word that its forms share.
fn stem(word: &str) -> Cow<'_, str> {
    if !word.is_ascii() || word.len() < 4 || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(word);
    }
    for (ending, kept, least) in ENDINGS {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() >= *least
        {
            return Cow::Owned(settled(format!("{rest}{kept}")));
        }
    }
    let plural = word.strip_suffix('s').filter(|rest| !rest.ends_with(['s', 'u', 'i']));
    Cow::Owned(settled(plural.unwrap_or(word).to_owned()))
}

/// Without a doubled last letter (`planned`, `plan`) and without an `e` at the end (`merged`, `merge`).
fn settled(mut stem: String) -> String {
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    let bytes = stem.as_bytes();
    if let [.., before, last] = bytes
        && bytes.len() > 3
        && before == last
        && !matches!(last, b'l' | b's' | b'z')
    {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_fillers_are_sorted() {
        assert!(FILLERS.is_sorted());
    }

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            &["extract", "extracts", "extracted", "extracting", "extraction"][..],
            &["merge", "merges", "merged", "merging"],
            &["plan", "planned", "planning", "plans"],
            &["summarise", "summarises", "summarising", "summarize", "summarization", "summarized"],
            &["translate", "translation", "translations", "translating"],
            &["query", "queries"],
            &["document", "documents"],
            &["file", "files", "filed", "filing"],
            &["deploy", "deployment", "deploys"],
            &["patch", "patches"],
            &["convert", "converter", "converting"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
    }

    #[test]
    fn different_words_stay_apart() {
        for (one, other) in [
            ("form", "format"),
            ("test", "text"),
            ("class", "clause"),
            ("bus", "bust"),
            ("less", "lesson"),
            ("v2", "v3"),
        ] {
            assert_ne!(stem(one), stem(other));
        }
    }

    #[test]
    fn fillers_and_marks_are_left_out() {
        let shown: Vec<String> = words("Please make me the Q3-report of sales.csv!")
            .into_iter()
            .map(|w| w.shown)
            .collect();
        assert_eq!(shown, ["q3", "report", "sales", "csv"]);
        assert_eq!(words("报告 tables").len(), 3);
        assert_eq!(stems("do it"), ["do", "it"]);
    }

    proptest! {
        #[test]
        fn any_text_has_words_that_are_not_empty(text in "\\PC{0,80}") {
            for word in words(&text) {
                prop_assert!(!word.stem.is_empty() && !word.shown.is_empty());
            }
        }
    }
}
