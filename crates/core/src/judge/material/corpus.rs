//! Everything that a quote may come from, and the looking up.
//!
//! A judge copies a passage with other spaces, other quotation marks, other capitals, without the marks of Markdown, or with
//! the name of the file before it. That is forgiven, on both sides alike; any other difference is not. An ellipsis in a quote
//! stands for anything.
//!
//! A quote must prove something. What we wrote ourselves around the material may be part of a quote, and proves nothing
//! ([`Whose`]); a quote of a few letters counts only as a whole word, and one of a single letter never ([`Substance`]).
//!
//! That something is absent is proven by a [`Search`] of ours. Memory is bounded by [`MAX_TOTAL`].

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::judge::absence::pattern_of;

/// Bytes of all sources together, as quotes are looked up in them; as they are, they take as much again.
const MAX_TOTAL: usize = 48 << 20;

/// The whole text of a run's outputs and transcript.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    sources: Vec<Source>,
    bytes: usize,
    /// Names of what is not here as a whole, and why.
    gaps: Vec<(String, Gap)>,
}

/// Why something can't be searched as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    TooLarge,
    NotText,
    Link,
    Unreadable,
    TooMany,
    /// It was produced or said, and the run does not have it.
    NotKept,
}

impl Gap {
    /// Whether it is there because of a bound of ours: then it says nothing about the agent's work.
    fn is_ours(self) -> bool {
        matches!(self, Self::TooLarge | Self::TooMany | Self::NotKept)
    }

    fn why(self) -> &'static str {
        match self {
            Self::TooLarge => "too large",
            Self::NotText => "not text",
            Self::Link => "a link",
            Self::Unreadable => "not readable",
            Self::TooMany => "too many files",
            Self::NotKept => "not kept",
        }
    }
}

/// What the list of no files is called.
pub(in crate::judge) const NO_LIST: &str = "empty list of files";

/// What became of the search for a text that must not be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// What was searched.
    pub searched: Vec<String>,
    /// Where it was found all the same.
    pub found_in: Option<String>,
    /// Why the search proves nothing, if it does not.
    pub flaw: Option<String>,
    /// Whether that is because of what we did not keep or can't read, and no fault of the search.
    pub is_cut: bool,
}

#[derive(Clone, Debug, Default)]
struct Source {
    name: String,
    text: String,
    /// What of it we did not write, as it is: patterns are about lines.
    raw: String,
    /// What of it we wrote.
    ours: Vec<Range<usize>>,
}

/// Who wrote a piece of what a judge sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The agent or its tools.
    Theirs,
    /// We: a mark, a number, "the agent says".
    Ours,
}

/// A quote that was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unfound {
    Absent,
    /// It is there, and proves nothing: it is too short, or only in what we wrote around the material.
    Slight,
}

/// How much a text can prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Substance {
    Enough,
    /// So short that it counts only as a whole word: any text has two letters somewhere.
    Word,
    None,
}

impl Substance {
    fn of(text: &str) -> Self {
        let (mut letters, mut marks, mut has_digit) = (0, 0, false);
        for letter in text.chars().filter(|letter| !letter.is_whitespace()) {
            has_digit |= letter.is_numeric();
            match letter {
                letter if letter.is_ascii_alphanumeric() => letters += 1,
                letter if letter.is_ascii() => marks += 1,
                // A word in Chinese is as short as this.
                _ => letters += 2,
            }
        }
        match letters {
            4.. => Self::Enough,
            2..4 => Self::Word,
            _ if has_digit || letters + marks >= 4 => Self::Word,
            _ => Self::None,
        }
    }
}

impl Source {
    /// Adds a piece, of which at most so many bytes are taken.
    fn push(&mut self, whose: Whose, text: &str, room: usize, state: &mut State) {
        let start = self.text.len();
        let text = &text[..text.floor_char_boundary(room)];
        normalise_into(text, &mut self.text, state);
        match whose {
            Whose::Ours => {
                self.ours.push(start..self.text.len());
                self.raw.push('\n');
            }
            Whose::Theirs => self.raw.push_str(text),
        }
    }

    /// Whether this stands anywhere in what we did not write. A few letters count only as a word, which may follow a mark:
    /// `.log` is in `a.log`.
    fn has(&self, text: &str) -> bool {
        let is_short = Substance::of(text) != Substance::Enough;
        memmem::find_iter(self.text.as_bytes(), text.as_bytes()).any(|at| {
            let place = at..at + text.len();
            let is_ours = self.theirs(&place).trim().is_empty();
            let is_part = is_short && self.is_within_word(&place);
            !is_ours && !is_part
        })
    }

    fn is_within_word(&self, place: &Range<usize>) -> bool {
        let (before, after) = (&self.text[..place.start], &self.text[place.end..]);
        let quote = &self.text[place.clone()];
        let are_letters = |one: Option<char>, other: Option<char>| {
            one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
        };
        are_letters(before.chars().next_back(), quote.chars().next())
            || are_letters(quote.chars().next_back(), after.chars().next())
    }

    /// The end of the first place at or after `from` where this stands and proves something, and how much.
    fn find(&self, quote: &str, from: usize) -> Result<(usize, Substance), Unfound> {
        let mut unfound = Unfound::Absent;
        let rest = self.text.get(from..).unwrap_or_default();
        for at in memmem::find_iter(rest.as_bytes(), quote.as_bytes()) {
            let place = from + at..from + at + quote.len();
            let substance = Substance::of(&self.theirs(&place));
            let counts = match substance {
                Substance::Enough => true,
                Substance::Word => self.is_bounded(&place),
                Substance::None => false,
            };
            if counts {
                return Ok((place.end, substance));
            }
            unfound = Unfound::Slight;
        }
        Err(unfound)
    }

    /// What of this place we did not write.
    fn theirs(&self, place: &Range<usize>) -> Cow<'_, str> {
        let first = self.ours.partition_point(|ours| ours.end <= place.start);
        let mut ours = self.ours[first..].iter().take_while(|ours| ours.start < place.end);
        let Some(one) = ours.next() else { return Cow::Borrowed(&self.text[place.clone()]) };
        let mut text = String::new();
        let mut start = place.start;
        for ours in std::iter::once(one).chain(ours) {
            text.push_str(self.text.get(start..ours.start).unwrap_or_default());
            start = ours.end;
        }
        text.push_str(self.text.get(start..place.end).unwrap_or_default());
        Cow::Owned(text)
    }

    /// Whether a place begins and ends where words do.
    fn is_bounded(&self, place: &Range<usize>) -> bool {
        let (before, after) = (&self.text[..place.start], &self.text[place.end..]);
        let quote = &self.text[place.clone()];
        let is_free = |edge: Option<char>, next: Option<char>| match (edge, next) {
            (_, None) => true,
            (Some(edge), Some(next)) if edge.is_alphanumeric() => !next.is_alphanumeric(),
            (_, Some(next)) => next.is_whitespace(),
        };
        is_free(quote.chars().next(), before.chars().next_back())
            && is_free(quote.chars().next_back(), after.chars().next())
    }
}

impl Corpus {
    /// Adds a text, as far as there is room.
    pub fn add(&mut self, name: &str, text: &str) {
        self.add_pieces(name, [(Whose::Theirs, text)]);
    }

    /// Adds a text of several pieces, as far as there is room.
    pub(super) fn add_pieces<'t>(
        &mut self,
        name: &str,
        pieces: impl IntoIterator<Item = (Whose, &'t str)>,
    ) {
        let mut source = Source { name: name.to_owned(), ..Source::default() };
        let mut state = State::default();
        for (whose, text) in pieces {
            let room = self.room().saturating_sub(source.text.len());
            if text.len() > room {
                self.has_gap(name, Gap::TooLarge);
            }
            source.push(whose, text, room, &mut state);
        }
        if !source.text.is_empty() {
            self.bytes += source.text.len();
            self.sources.push(source);
        }
    }

    /// Adds the question, as the judge reads it: a quote of it that is in no other source is of our own words.
    pub fn add_frame(&mut self, question: &str) {
        self.add_pieces("frame", [(Whose::Ours, question)]);
    }

    /// Notes that something is not here as a whole.
    pub(super) fn has_gap(&mut self, name: &str, gap: Gap) {
        if !self.gaps.iter().any(|(known, _)| known == name) {
            self.gaps.push((name.to_owned(), gap));
        }
    }

    /// How many more bytes there is room for.
    pub fn room(&self) -> usize {
        MAX_TOTAL.saturating_sub(self.bytes)
    }

    /// The first source that has this quote; an empty quote is nowhere.
    pub fn find(&self, quote: &str) -> Result<&str, Unfound> {
        let mut unfound = Unfound::Absent;
        for quote in readings(quote) {
            let quote = unwrapped(&quote);
            if quote.is_empty() {
                continue;
            }
            let whole = self.first(|source| source.find(quote, 0).map(drop));
            match whole
                .or_else(|unfound| self.find_parts(quote).map_err(|parts| parts.max(unfound)))
            {
                Ok(name) => return Ok(name),
                Err(reason) => unfound = unfound.max(reason),
            }
        }
        Err(unfound)
    }

    /// Searches for a text, or for a pattern between slashes, that must not be there: in a file, in `outputs`, in the
    /// `transcript`, or in all that the agent produced. Patterns are matched line by line against what is there as it is.
    /// Where only a transcript is judged, it is searched.
    pub fn search(&self, text: &str, place: &str) -> Search {
        let has_list = |source: &Source| matches!(source.name.as_str(), "list of files" | NO_LIST);
        let is_all = !self.sources.iter().any(has_list);
        self.search_in(text, &Scope { is_all, ..Scope::of(place) })
    }

    /// Searches for a text in all that the agent did and produced.
    pub(in crate::judge) fn search_all(&self, text: &str) -> Search {
        self.search_in(text, &Scope { is_all: true, ..Scope::of("") })
    }

    fn search_in(&self, text: &str, scope: &Scope) -> Search {
        let is_named = |name: &str| scope.is_file(name);
        // A file that nobody made was not meant: then all is searched.
        let names = || self.sources.iter().map(|source| &source.name);
        let gaps = || self.gaps.iter().map(|(name, _)| name);
        let is_known = names().chain(gaps()).any(|name| is_named(name));
        let is_meant = |name: &str| if is_known { is_named(name) } else { scope.is_within(name) };
        let sources: Vec<&Source> =
            self.sources.iter().filter(|source| is_meant(&source.name)).collect();
        let mut searched: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
        searched.dedup();
        let no_search = |flaw: String| Search {
            searched: searched.clone(),
            flaw: Some(flaw),
            ..Search::default()
        };
        let Ok(pattern) = pattern_of(text).transpose() else {
            return no_search("is no pattern that can be searched for".to_owned());
        };
        let plain = normalised(text);
        let plain = unwrapped(&plain);
        if pattern.is_none() && Substance::of(plain) == Substance::None {
            return no_search("is too short to search for".to_owned());
        }
        let has = |source: &&&Source| match &pattern {
            _ if source.name == NO_LIST => false,
            Some(pattern) => pattern.is_match(&source.raw) || source.has(plain),
            None => source.has(plain),
        };
        let found_in = sources.iter().find(has).map(|source| source.name.clone());
        let gaps = || self.gaps.iter().filter(|(name, _)| is_meant(name));
        let gap = gaps().find(|(_, gap)| gap.is_ours()).or_else(|| gaps().next());
        let is_cut = gap.is_some_and(|(_, gap)| gap.is_ours());
        let flaw = gap.map(|(name, gap)| {
            let advice = if is_cut { "" } else { "; name the file to search" };
            format!("can't be searched for in all of {name} ({}){advice}", gap.why())
        });
        Search { searched, found_in, flaw, is_cut }
    }

    /// Searches for a text in the files that the agent made, or in its answer where it made none: an answer may tell what was
    /// taken out of them.
    pub(in crate::judge) fn search_files(&self, text: &str) -> Search {
        let is_file = |name: &String| name.starts_with("outputs");
        let names = self.sources.iter().map(|source| &source.name);
        let has_files = names.chain(self.gaps.iter().map(|(name, _)| name)).any(is_file);
        let scope = Scope::of("");
        self.search_in(text, &Scope { is_files: has_files, ..scope })
    }

    /// The place that a name means: a file that was made, the answer, or the transcript.
    pub(in crate::judge) fn place(&self, name: &str) -> Option<String> {
        let scope = Scope::of(name);
        let names = self.sources.iter().map(|source| &source.name);
        let mut names = names.chain(self.gaps.iter().map(|(name, _)| name));
        names.find(|name| scope.is_file(name)).cloned()
    }

    /// What of the run is not here because of a bound of ours.
    pub(in crate::judge) fn cut(&self) -> Option<String> {
        let (name, gap) = self.gaps.iter().find(|(_, gap)| gap.is_ours())?;
        Some(format!("{name} is not there as a whole ({})", gap.why()))
    }

    /// Whether a text is part of the material as it is.
    pub fn holds_verbatim(&self, text: &str) -> bool {
        let plain = normalised(text);
        !plain.is_empty()
            && self.sources.iter().any(|source| {
                memmem::find_iter(source.text.as_bytes(), plain.as_bytes())
                    .any(|at| !source.theirs(&(at..at + plain.len())).trim().is_empty())
            })
    }

    /// The first source of which this holds, or the best of the reasons against it.
    fn first(&self, holds: impl Fn(&Source) -> Result<(), Unfound>) -> Result<&str, Unfound> {
        let mut unfound = Unfound::Absent;
        for source in &self.sources {
            match holds(source) {
                Ok(()) => return Ok(&source.name),
                Err(reason) => unfound = unfound.max(reason),
            }
        }
        Err(unfound)
    }

    /// The first source that has all parts between ellipses, in their order. One of them has to stand for itself: short
    /// words with anything between them are in any text.
    fn find_parts(&self, quote: &str) -> Result<&str, Unfound> {
        let quote = quote.replace("[...]", "...").replace("[…]", "...").replace('…', "...");
        let parts: Vec<&str> =
            quote.split("...").map(str::trim).filter(|part| !part.is_empty()).collect();
        let has_ellipsis = quote.contains("...");
        if !has_ellipsis || parts.is_empty() {
            return Err(Unfound::Absent);
        }
        let has_all = |source: &Source| {
            let (mut from, mut is_enough) = (0, false);
            for part in &parts {
                let (end, substance) = source.find(part, from)?;
                from = end;
                is_enough |= substance == Substance::Enough;
            }
            if is_enough { Ok(()) } else { Err(Unfound::Slight) }
        };
        self.first(has_all)
    }
}

/// Where a judge wants something searched.
struct Scope {
    is_transcript: bool,
    /// What was produced, and the transcript.
    is_all: bool,
    /// Files and their names only.
    is_files: bool,
    /// A path below the outputs; empty for all that was produced.
    file: String,
}

impl Scope {
    fn of(place: &str) -> Self {
        let place = place.trim().trim_matches(['`', '"', '\'']).to_lowercase();
        let file = place.trim_start_matches("./").trim_start_matches("outputs/").trim_matches('/');
        let is_all = matches!(file, "outputs" | "output" | "all" | "*");
        let file = if is_all { String::new() } else { file.to_owned() };
        Self { is_transcript: place == "transcript", is_all: false, is_files: false, file }
    }

    /// Whether this file is named.
    fn is_file(&self, name: &str) -> bool {
        if self.is_transcript {
            return name == "transcript";
        }
        let name = name.to_lowercase();
        let below = name.strip_prefix("outputs/").or((name == "answer").then_some("answer"));
        !self.file.is_empty()
            && below.is_some_and(|name| {
                name == self.file
                    || name.strip_suffix(self.file.as_str()).is_some_and(|head| head.ends_with('/'))
            })
    }

    /// Whether this is searched when no file is named.
    fn is_within(&self, name: &str) -> bool {
        let is_produced = name.starts_with("outputs")
            || matches!(name, "list of files" | NO_LIST)
            || (name == "answer" && !self.is_files);
        let is_transcript = name == "transcript";
        if self.is_transcript {
            is_transcript
        } else {
            is_produced || (self.is_all && is_transcript)
        }
    }
}

/// A quote without the quotation marks that a judge may have put around it.
fn unwrapped(quote: &str) -> &str {
    for mark in ['"', '\'', '`'] {
        let inner = quote.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        if let Some(inner) = inner.filter(|inner| !inner.contains(mark)) {
            return inner.trim();
        }
    }
    quote
}

/// How a quote may be meant, the most exact first.
fn readings(quote: &str) -> Vec<String> {
    let plain = normalised(quote);
    let mut found = vec![plain.clone()];
    let mut add = |reading: String| {
        if !reading.is_empty() && !found.contains(&reading) {
            found.push(reading);
        }
    };
    if let Some(rest) = without_place(quote) {
        add(normalised(rest));
    }
    // A judge that copies several lines into one keeps the marks before them, or escapes what needs none.
    let flat = [" - ", " > ", " + ", " # ", " ## ", "\\n"]
        .iter()
        .fold(plain.clone(), |text, mark| text.replace(mark, " "));
    add(normalised(&flat.replace("\\\"", "\"")));
    add(plain.trim_end_matches(['.', ',', ';', ':']).to_owned());
    found
}

/// A quote without the place that the judge put before or behind it: `outputs/report.md: `, `file: `, ` (report.md)`.
fn without_place(quote: &str) -> Option<&str> {
    let mut rest = quote.trim();
    let before = rest.len();
    // A file, its line, and once more what it is called.
    for number in 0..3 {
        let is_line = |head: &str| number > 0 && head.parse::<u32>().is_ok();
        let parts = rest.split_once(':').filter(|(head, _)| is_place(head) || is_line(head.trim()));
        let Some((_, tail)) = parts else { break };
        rest = tail.trim_start();
    }
    if let Some((text, place)) = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("))
        && is_place(place)
    {
        rest = text.trim_end();
    }
    (rest.len() < before && !rest.is_empty()).then_some(rest)
}

/// Whether this names a place and is no content: a file with an ending, a number of a line, a word of ours.
fn is_place(head: &str) -> bool {
    const WORDS: [&str; 11] = [
        "file",
        "files",
        "transcript",
        "output",
        "outputs",
        "stdout",
        "answer",
        "quote",
        "line",
        "list of files",
        "result",
    ];
    let head = head.trim().trim_matches(['`', '*', '"', '[', ']']).to_lowercase();
    let last = head.rsplit(['/', ' ']).next().unwrap_or(&head);
    let has_ending = last.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..=6).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    head.len() <= 160
        && (WORDS.contains(&head.as_str())
            || head.starts_with("outputs/")
            || (has_ending && head.split(' ').count() <= 2)
            || (is_number && matches!(head.split(' ').next(), Some("line" | "l"))))
}

/// One space for any white space, straight quotation marks, composed and small letters, no marks of Markdown.
fn normalised(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    normalise_into(text, &mut plain, &mut State::default());
    plain
}

/// Where a text stands when its next piece begins.
#[derive(Clone, Copy, Debug)]
struct State {
    /// White space comes before.
    gap: bool,
    /// Nothing of the line was there yet but marks.
    line_start: bool,
}

impl Default for State {
    fn default() -> Self {
        Self { gap: false, line_start: true }
    }
}

/// The same for the next piece of a text.
fn normalise_into(text: &str, plain: &mut String, state: &mut State) {
    let composed: Cow<'_, str> = match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    };
    plain.reserve(composed.len());
    let mut at = 0;
    while let Some(letter) = composed[at..].chars().next() {
        let here = &composed[at..];
        at += letter.len_utf8();
        // A byte order mark or a zero-width space is as invisible as a space.
        if letter.is_whitespace() || matches!(letter, '\u{feff}' | '\u{200b}') {
            state.gap = true;
            state.line_start |= letter == '\n';
            continue;
        }
        if state.line_start {
            let marks = line_marks(here);
            if marks > 0 {
                at += marks - letter.len_utf8();
                state.gap = true;
                continue;
            }
            state.line_start = false;
        }
        if matches!(letter, '*' | '`') {
            let end = here.find(|letter| !matches!(letter, '*' | '`')).unwrap_or(here.len());
            let is_inside = !state.gap
                && plain.ends_with(char::is_alphanumeric)
                && here[end..].starts_with(char::is_alphanumeric);
            at += end - letter.len_utf8();
            // Between two letters it is no emphasis: `2**3`.
            if is_inside {
                plain.push_str(&here[..end]);
            }
            continue;
        }
        if std::mem::take(&mut state.gap) && !plain.is_empty() {
            plain.push(' ');
        }
        match letter {
            '\u{2018}' | '\u{2019}' => plain.push('\''),
            '\u{201c}' | '\u{201d}' => plain.push('"'),
            other => plain.extend(other.to_lowercase()),
        }
    }
}

/// The length of the marks that a line of Markdown begins with: `> `, `- `, `## `.
fn line_marks(line: &str) -> usize {
    let Some(mark) = line.chars().next().filter(|mark| matches!(mark, '>' | '-' | '*' | '+' | '#'))
    else {
        return 0;
    };
    let end = line.find(|letter| letter != mark).unwrap_or(line.len());
    let is_mark = mark == '>' || line[end..].starts_with(char::is_whitespace);
    if is_mark { end } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn corpus() -> Corpus {
        let mut corpus = Corpus::default();
        corpus.add(
            "outputs/report.md",
            "# Report\n\n  Total:\t**42**  euros\u{a0}a day.\nIt’s “done”. Cafe\u{301}.",
        );
        corpus.add("transcript", "[0] says\nI wrote report.md.\n日本語の出力");
        corpus
    }

    #[test]
    fn spaces_quotation_marks_and_composed_letters_are_forgiven() {
        let corpus = corpus();
        for quote in [
            "Total: **42** euros a day.",
            "# Report Total:",
            "It's \"done\".",
            "Café",
            "\"Total: **42**\"",
            "`# Report`",
            "total: **42**",
            "Total: 42 euros",
            "> # Report",
            "- **Total:** 42 euros a day",
            "# Report - Total: 42",
            "outputs/report.md: Total: 42 euros",
            "report.md:3: Total: 42 euros",
            "file: report.md: Total: 42",
            "\"Total: **42** euros\" (outputs/report.md)",
            "Total: 42 euros a day,",
        ] {
            assert_eq!(corpus.find(quote), Ok("outputs/report.md"), "{quote}");
        }
        assert_eq!(corpus.find("日本語の\n出力"), Err(Unfound::Absent));
        assert_eq!(corpus.find("日本語の出力"), Ok("transcript"));
    }

    #[test]
    fn anything_else_is_not() {
        let corpus = corpus();
        for quote in [
            "Total: 43",
            "Total 42",
            "43",
            "",
            "  \n",
            "\"\"",
            "...",
            "[...]",
            "report.txt",
            "Summary: 42 euros",
        ] {
            assert_eq!(corpus.find(quote), Err(Unfound::Absent), "{quote}");
        }
    }

    #[test]
    fn an_ellipsis_stands_for_anything_within_one_source() {
        let corpus = corpus();
        assert_eq!(corpus.find("# Report ... euros"), Ok("outputs/report.md"));
        assert_eq!(corpus.find("Report […] day."), Ok("outputs/report.md"));
        assert!(corpus.find("euros ... # Report").is_err(), "the order counts");
        assert!(corpus.find("# Report ... I wrote").is_err(), "two sources are two quotes");
    }

    #[test]
    fn a_quote_of_no_source_is_found_nowhere() {
        assert_eq!(Corpus::default().find("a"), Err(Unfound::Absent));
    }

    #[test]
    fn a_few_letters_count_as_a_whole_word_and_one_letter_never() {
        let mut corpus = corpus();
        corpus.add("outputs/count.txt", "7\nOK |---| 出力\n");
        for (quote, found) in [
            ("o", Err(Unfound::Slight)),
            ("a", Err(Unfound::Slight)),
            ("ot", Err(Unfound::Slight)),
            ("day", Ok("outputs/report.md")),
            ("ay", Err(Unfound::Slight)),
            ("42", Ok("outputs/report.md")),
            ("4", Err(Unfound::Slight)),
            ("7", Ok("outputs/count.txt")),
            ("OK", Ok("outputs/count.txt")),
            ("|---|", Ok("outputs/count.txt")),
            ("--", Err(Unfound::Slight)),
            ("出力", Ok("transcript")),
        ] {
            assert_eq!(corpus.find(quote), found, "{quote}");
        }
    }

    #[test]
    fn what_is_left_of_a_quote_around_an_ellipsis_must_prove_something() {
        let corpus = corpus();
        for quote in ["R...t", "a ... y", "It ... 42", "Tot...a", "... a ...", "T...o...t...l"] {
            assert!(corpus.find(quote).is_err(), "{quote}");
        }
        assert_eq!(corpus.find("Total ... day"), Ok("outputs/report.md"));
    }

    #[test]
    fn our_own_words_prove_nothing_and_may_stand_around_what_does() {
        let mut corpus = Corpus::default();
        let pieces = [
            (Whose::Ours, "[0 ab12cd34] the agent says\n"),
            (Whose::Theirs, "I wrote report.md"),
            (Whose::Ours, "\n[1 ab12cd34] calls "),
            (Whose::Theirs, "Bash\ncommand: ls"),
            (Whose::Ours, "\nThe agent completed its work. ("),
            (Whose::Theirs, "well done"),
            (Whose::Ours, ")"),
        ];
        corpus.add_pieces("transcript", pieces);
        for quote in [
            "the agent says",
            "[0 ab12cd34]",
            "The agent completed its work.",
            "calls",
            "its ... work",
        ] {
            assert_eq!(corpus.find(quote), Err(Unfound::Slight), "{quote}");
        }
        for quote in [
            "I wrote report.md",
            "[1 ab12cd34] calls Bash",
            "the agent says I wrote report.md [1 ab12cd34] calls Bash command: ls",
            "completed its work. (well done)",
        ] {
            assert_eq!(corpus.find(quote), Ok("transcript"), "{quote}");
        }
    }

    proptest! {
        #[test]
        fn every_piece_of_a_text_is_found(text in "\\PC{1,80}", from in 0usize..80, to in 0usize..80) {
            let mut corpus = Corpus::default();
            corpus.add("t", &text);
            let letters: Vec<char> = normalised(&text).chars().collect();
            let (from, to) = (from.min(to).min(letters.len()), from.max(to).min(letters.len()));
            let piece: String = letters[from..to].iter().collect();
            // A piece that begins in the middle of a composition is no piece that a reader sees.
            prop_assume!(normalised(&piece) == piece && unwrapped(&piece) == piece);
            let found = corpus.find(&piece);
            match Substance::of(&piece) {
                Substance::Enough => prop_assert_eq!(found, Ok("t")),
                Substance::Word => prop_assert!(found != Err(Unfound::Absent)),
                Substance::None => prop_assert!(found.is_err()),
            }
        }

        #[test]
        fn no_quote_makes_it_panic(text in "\\PC{0,40}", quote in "[ .…\"'`\\[\\]a-c\\n]{0,20}") {
            let mut corpus = Corpus::default();
            corpus.add("t", &text);
            let _ = corpus.find(&quote);
        }
    }
}
