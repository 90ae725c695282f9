//! Evidence: a few places that show what a check found, in one line.

use std::fmt;
use std::path::Path;

/// How many places are named.
const MOST: usize = 5;
/// How many characters of a line are shown.
const LONGEST: usize = 160;

/// Notes, and then at most five places.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    notes: Vec<String>,
    places: Vec<String>,
    more: usize,
}

impl Evidence {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Says something that is true of the whole.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Names a place, or counts it when there are enough.
    pub(super) fn add(&mut self, place: impl Into<String>) {
        if self.places.len() < MOST {
            self.places.push(place.into());
        } else {
            self.more += 1;
        }
    }

    /// Takes over the places of another.
    pub(super) fn take_places(&mut self, other: Self) {
        self.places.extend(other.places);
        self.more += other.more;
    }

    /// Whether another place would only be counted.
    pub(super) fn is_full(&self) -> bool {
        self.places.len() >= MOST
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<&str> = Vec::new();
        let places = self.places.join("; ");
        let more = format!("and {} more", self.more);
        let notes = self.notes.join("; ");
        let with_colon = format!("{notes}: {places}");
        match (self.notes.is_empty(), self.places.is_empty()) {
            (false, false) => parts.push(&with_colon),
            (false, true) => parts.push(&notes),
            (true, false) => parts.push(&places),
            (true, true) => {}
        }
        if self.more > 0 {
            parts.push(&more);
        }
        f.write_str(&parts.join("; "))
    }
}

/// A path as it is shown: control characters, newlines among them, written as escapes.
pub(super) fn name(path: &Path) -> String {
    escaped(&path.to_string_lossy())
}

/// A line of text as it is shown.
pub(super) fn line(text: &str) -> String {
    let text = text.trim();
    if text.chars().nth(LONGEST).is_none() {
        return escaped(text);
    }
    let short: String = text.chars().take(LONGEST).collect();
    format!("{}…", escaped(&short))
}

/// A place in a file, with what stands there.
pub(super) fn place(file: &str, number: usize, text: &str) -> String {
    let text = line(text);
    if text.is_empty() { format!("{file}:{number}") } else { format!("{file}:{number}: {text}") }
}

fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_five_places_are_named_and_the_rest_is_counted() {
        let mut evidence = Evidence::new();
        evidence.note("found");
        (1..=7).for_each(|number| evidence.add(format!("a:{number}")));
        assert_eq!(evidence.to_string(), "found: a:1; a:2; a:3; a:4; a:5; and 2 more");
    }

    #[test]
    fn names_with_newlines_stay_on_one_line() {
        assert_eq!(name(Path::new("a\nb\u{1b}[31m.txt")), r"a\nb\u{1b}[31m.txt");
    }

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(line(&"é".repeat(400)).chars().count(), LONGEST + 1);
    }
}
