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
        while let Some((false, length)) = self.look() {
            self.at += length;
        }
        let start = self.at;
        while let Some((true, length)) = self.look() {
            self.at += length;
        }
        (self.at > start).then(|| (Span::new(start, self.at), &self.text[start..self.at]))
    }
}

impl Words<'_> {
    /// Whether the next character is part of a word, and how many bytes it has.
    fn look(&self) -> Option<(bool, usize)> {
        let byte = *self.text.as_bytes().get(self.at)?;
        if byte.is_ascii() {
            return Some((byte.is_ascii_alphanumeric() || byte == b'\'', 1));
        }
        let character = self.text[self.at..].chars().next()?;
        Some((character.is_alphanumeric(), character.len_utf8()))
    }
}

/// Where one of the phrases stands first. A phrase is lower-case words with one space between; in the text
/// anything that is not a letter or a digit may stand between them.
pub(crate) fn find_phrase(text: &str, phrases: &[&str]) -> Option<Span> {
    let firsts = phrases.iter().fold(0, |letters, phrase| letters | letter(phrase));
    let mut words = Words { text, at: 0 };
    while let Some((first, word)) = words.next() {
        // Most words start with a letter that no phrase starts with.
        if letter(word) & firsts == 0 {
            continue;
        }
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

/// The first letter of a word as a bit.
fn letter(word: &str) -> u32 {
    match word.as_bytes().first().map(u8::to_ascii_lowercase) {
        Some(letter @ b'a'..=b'z') => 1 << (letter - b'a'),
        _ => 1 << 26,
    }
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
