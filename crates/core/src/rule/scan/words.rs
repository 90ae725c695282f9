//! Phrases of whole words in a text, in any case.

use crate::text::Span;

/// The words of a text with their places: letters, digits and apostrophes.
#[derive(Clone)]
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = (Span, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let is_word = |c: char| c.is_alphanumeric() || c == '\'';
        let rest = &self.text[self.at..];
        let start = self.at + rest.find(is_word)?;
        let length = self.text[start..].find(|c| !is_word(c)).unwrap_or(self.text.len() - start);
        self.at = start + length;
        Some((Span::new(start, self.at), &self.text[start..self.at]))
    }
}

/// Where one of the phrases stands first. A phrase is lower-case words with one space between; in the text
/// anything that is not a letter or a digit may stand between them.
pub(crate) fn find_phrase(text: &str, phrases: &[&str]) -> Option<Span> {
    let mut words = Words { text, at: 0 };
    while let Some((first, word)) = words.next() {
        for phrase in phrases {
            let (wanted, rest) = phrase.split_once(' ').unwrap_or((phrase, ""));
            if !word.eq_ignore_ascii_case(wanted) {
                continue;
            }
            if let Some(end) = end_of(words.clone(), rest, first.end) {
                return Some(Span::new(first.start, end));
            }
        }
    }
    None
}

/// Where the phrase ends, if the words go on with the rest of it.
fn end_of(mut words: Words<'_>, rest: &str, mut end: usize) -> Option<usize> {
    for wanted in rest.split(' ').filter(|word| !word.is_empty()) {
        let (span, word) = words.next()?;
        if !word.eq_ignore_ascii_case(wanted) {
            return None;
        }
        end = span.end;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_whole_words_in_any_case() {
        let found =
            |text| find_phrase(text, &["use when", "stop"]).map(|span: Span| span.slice(text));
        assert_eq!(found("Please USE, when needed"), Some("USE, when"));
        assert_eq!(found("please stop"), Some("stop"));
        assert_eq!(found("misuse when"), None);
        assert_eq!(found("use"), None);
        assert_eq!(found("use use when"), Some("use when"));
        assert_eq!(found(""), None);
    }
}
