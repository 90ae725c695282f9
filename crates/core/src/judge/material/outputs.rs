//! What a run produced, as a judge sees it: a list of all files, and the contents of those that are text.
//!
//! The list is complete, or says how many files it does not name. All of it stays within a budget, headers and lists
//! included: small files are shown whole, and large ones without their middle, as much of each as of any other. Links are named and never followed. Each file
//! begins with a mark that no file contains, so that one file cannot pose as two.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use skillgauge_format::part::OutputsLeftOut;

use super::Budget;
use super::blind::Blind;
use super::corpus::{Corpus, Gap, NO_LIST, Whose};
use super::fence::{FenceKey, mark};
use crate::check::Unkept;
use crate::files::{FileKind, Walk};
use crate::text::{cut_middle, printable};

/// How much of one file is read for looking up quotes.
const MAX_READ: u64 = 16 << 20;
/// How much of the beginning decides whether a file is text.
const SNIFFED: usize = 8 << 10;
/// Contents are not cut to less than this; rather, fewer files are shown.
const LEAST: usize = 200;
/// What the note that a text was cut may take.
const CUT_NOTE: usize = 40;
/// Files that are looked at; beyond that they are counted.
const MAX_FILES: usize = 10_000;
/// Bytes of contents that are held at once; beyond that only the beginnings are.
const MAX_HELD: usize = 8 << 20;

/// Files that were not kept and are named.
const MAX_UNKEPT: usize = 20;

/// The list of no files.
const NO_FILES: &str = "No files were produced.\n";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputsDigest {
    pub text: String,
    /// What it does not see; none when it sees everything.
    pub left_out: Option<OutputsLeftOut>,
    /// What its files begin with.
    pub mark: Option<String>,
}

struct Found {
    /// Below the folder of outputs, with slashes, fit for a line.
    name: String,
    size: u64,
    content: Content,
}

enum Content {
    /// As much of it as can be shown, and how many bytes are missing.
    Text {
        shown: String,
        gone: u64,
    },
    Binary,
    Link,
    Unreadable,
}

pub(super) fn digest(
    folder: &Path,
    unkept: Option<&Result<Option<Unkept>, String>>,
    blind: &Blind,
    key: FenceKey,
    budget: &Budget,
    corpus: &mut Corpus,
) -> OutputsDigest {
    let (mut beyond, mut held) = (0, 0);
    let mut found: Vec<Found> = Vec::new();
    for entry in Walk::new(folder) {
        let entry = match entry {
            Ok(entry) if entry.kind == FileKind::Folder => continue,
            Ok(entry) => entry,
            Err(error) => {
                // It shows nothing; a folder that is not there has nothing to show.
                if error.source.kind() != std::io::ErrorKind::NotFound {
                    corpus.has_gap("outputs", Gap::Unreadable);
                }
                continue;
            }
        };
        if found.len() == MAX_FILES {
            corpus.has_gap("outputs", Gap::TooMany);
            beyond += 1;
            continue;
        }
        let limit = if held < MAX_HELD { budget.file } else { LEAST };
        let file = read(folder, &entry.path, blind, limit, corpus);
        if let Content::Text { shown, .. } = &file.content {
            held += shown.len();
        }
        found.push(file);
    }
    let unkept = unkept_lines(unkept, &found, blind, corpus);
    let mut left_out = OutputsLeftOut {
        of_files: found.len() as u64 + beyond,
        not_kept: unkept.count,
        binary: found.iter().filter(|file| matches!(file.content, Content::Binary)).count() as u64,
        ..OutputsLeftOut::default()
    };
    let mut text = String::new();
    list(&found, beyond, &unkept, budget, &mut text, &mut left_out);
    add_names(&found, &unkept, corpus);
    let mark = show(&found, key, budget, &mut text, &mut left_out);
    let is_complete =
        OutputsLeftOut { of_files: 0, ..left_out.clone() } == OutputsLeftOut::default();
    OutputsDigest { text, left_out: (!is_complete).then_some(left_out), mark: Some(mark) }
}

/// What the run produced and does not have.
#[derive(Default)]
struct NotKept {
    count: u64,
    /// Names, as far as they are known, and why.
    names: Vec<(String, &'static str)>,
    /// Whether there may be more that nobody counted.
    is_open: bool,
}

fn unkept_lines(
    unkept: Option<&Result<Option<Unkept>, String>>,
    found: &[Found],
    blind: &Blind,
    corpus: &mut Corpus,
) -> NotKept {
    let unkept = match unkept {
        None | Some(Ok(None)) => return NotKept::default(),
        Some(Err(_)) => {
            corpus.has_gap("outputs", Gap::Unreadable);
            return NotKept { is_open: true, ..NotKept::default() };
        }
        Some(Ok(Some(unkept))) => unkept,
    };
    let all = unkept
        .files
        .iter()
        .map(|(path, why)| (blind.apply(&printable(&path.to_string_lossy())).into_owned(), *why));
    // What somebody has put there since is there.
    let is_gone = |name: &str| !found.iter().any(|file| file.name == name);
    let names: Vec<_> = all.filter(|(name, _)| is_gone(name)).collect();
    for (name, _) in names.iter().take(MAX_FILES) {
        corpus.has_gap(&format!("outputs/{name}"), Gap::NotKept);
    }
    let is_open = unkept.is_partial || !unkept.folders.is_empty();
    if is_open || unkept.unnamed > 0 || names.len() > MAX_FILES {
        corpus.has_gap("outputs", Gap::NotKept);
    }
    NotKept { count: names.len() as u64 + unkept.unnamed, names, is_open }
}

impl NotKept {
    fn is_none(&self) -> bool {
        self.count == 0 && !self.is_open
    }

    /// What the judge is told of it.
    fn tell(&self, text: &mut String) {
        if self.is_none() {
            return;
        }
        let more = if self.is_open { " or more" } else { "" };
        let were = if self.count == 1 && !self.is_open { "file was" } else { "files were" };
        let _ = writeln!(
            text,
            "[{}{more} {were} produced and not kept: nobody can see them]",
            self.count
        );
        for (name, why) in self.names.iter().take(MAX_UNKEPT) {
            let _ = writeln!(text, "- {name} ({why})");
        }
    }
}

fn read(folder: &Path, path: &Path, blind: &Blind, limit: usize, corpus: &mut Corpus) -> Found {
    let name = blind.apply(&printable(&path.to_string_lossy())).into_owned();
    let file = &folder.join(path);
    let Ok(metadata) = fs_err::symlink_metadata(file) else {
        return Found { name, size: 0, content: Content::Unreadable };
    };
    let mut size = metadata.len();
    let source = format!("outputs/{name}");
    let content = if metadata.is_symlink() {
        corpus.has_gap(&source, Gap::Link);
        Content::Link
    } else if metadata.is_file() {
        let most = MAX_READ.min(corpus.room().max(limit.max(SNIFFED)) as u64);
        match read_text(file, most) {
            Ok(Some(Decoded { text, is_whole })) => {
                let unread = size.saturating_sub(most);
                let written = text.len() as u64;
                let text = blind.written(&text);
                // A size that counts what is not shown would tell of it.
                size = (size + text.len() as u64).saturating_sub(written);
                corpus.add(&source, &text);
                if unread > 0 {
                    corpus.has_gap(&source, Gap::TooLarge);
                } else if !is_whole {
                    corpus.has_gap(&source, Gap::NotText);
                }
                let (shown, gone) = cut_middle(&text, limit);
                Content::Text { shown, gone: gone + unread }
            }
            Ok(None) => {
                corpus.has_gap(&source, Gap::NotText);
                Content::Binary
            }
            Err(_) => {
                corpus.has_gap(&source, Gap::Unreadable);
                Content::Unreadable
            }
        }
    } else {
        // A pipe would wait for a writer that never comes.
        corpus.has_gap(&source, Gap::Unreadable);
        Content::Unreadable
    };
    Found { name, size, content }
}

/// A file as text.
struct Decoded {
    text: String,
    /// Whether every byte of it made sense.
    is_whole: bool,
}

/// The beginning of a file; nothing when it is not text.
fn read_text(file: &Path, most: u64) -> std::io::Result<Option<Decoded>> {
    let mut bytes = Vec::new();
    fs_err::File::open(file)?.take(most).read_to_end(&mut bytes)?;
    if let Some(wide) = Wide::of(&bytes) {
        return Ok(wide.decode(&bytes).map(|text| Decoded { text, is_whole: true }));
    }
    let head = &bytes[..bytes.len().min(SNIFFED)];
    let is_text = match std::str::from_utf8(head) {
        Ok(_) => true,
        // A letter that the end of the head cuts is no mistake.
        Err(error) => error.error_len().is_none() && bytes.len() >= SNIFFED,
    };
    if head.contains(&0) {
        return Ok(None);
    }
    if !is_text {
        return Ok(single_bytes(&bytes).map(|text| Decoded { text, is_whole: true }));
    }
    let is_utf8 = match std::str::from_utf8(&bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let is_whole = is_utf8 && !bytes.contains(&0);
    Ok(Some(Decoded { text: String::from_utf8_lossy(&bytes).into_owned(), is_whole }))
}

/// Text of which each letter takes one byte, in the code page of the west; nothing when it does not look like it.
fn single_bytes(bytes: &[u8]) -> Option<String> {
    // 0x80 to 0x9f of windows-1252; five of them mean nothing.
    const MARKS: &str = "€\u{fffd}‚ƒ„…†‡ˆ‰Š‹Œ\u{fffd}Ž\u{fffd}\u{fffd}‘’“”•–—˜™š›œ\u{fffd}žŸ";
    let letter = |byte: &u8| match byte {
        0x80..=0x9f => {
            MARKS.chars().nth(usize::from(byte - 0x80)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        byte => char::from(*byte),
    };
    let text: String = bytes.iter().map(letter).collect();
    let is_odd = |letter: &char| {
        (letter.is_control() && !letter.is_whitespace()) || *letter == char::REPLACEMENT_CHARACTER
    };
    let plain =
        bytes.iter().filter(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()).count();
    let is_text = !text.chars().any(|letter| is_odd(&letter)) && plain * 10 >= bytes.len() * 7;
    is_text.then_some(text)
}

/// Text of which each letter takes two or four bytes.
struct Wide {
    /// Bytes of a unit.
    unit: usize,
    is_big_endian: bool,
    /// Bytes of the mark before it.
    mark: usize,
}

impl Wide {
    /// By its mark, or because the upper bytes of nearly all letters are zero.
    fn of(bytes: &[u8]) -> Option<Self> {
        for (mark, unit, is_big_endian) in [
            (&b"\xff\xfe\0\0"[..], 4, false),
            (b"\0\0\xfe\xff", 4, true),
            (b"\xff\xfe", 2, false),
            (b"\xfe\xff", 2, true),
        ] {
            if bytes.starts_with(mark) {
                return Some(Self { unit, is_big_endian, mark: mark.len() });
            }
        }
        let head = &bytes[..bytes.len().min(SNIFFED)];
        let looks = |unit: usize, is_big_endian: bool| {
            let low = if is_big_endian { unit - 1 } else { 0 };
            let units = head.chunks_exact(unit);
            let is_plain = |letter: &[u8]| {
                let mut others = letter.iter().enumerate().filter(|(at, _)| *at != low);
                letter[low] != 0 && others.all(|(_, byte)| *byte == 0)
            };
            let (all, plain) = (units.len(), units.filter(|letter| is_plain(letter)).count());
            all >= 2 && bytes.len().is_multiple_of(unit) && plain * 10 >= all * 7
        };
        let found = [(4, false), (4, true), (2, false), (2, true)];
        let (unit, is_big_endian) = found.into_iter().find(|(unit, big)| looks(*unit, *big))?;
        Some(Self { unit, is_big_endian, mark: 0 })
    }

    /// Nothing when it is no such text after all.
    fn decode(&self, bytes: &[u8]) -> Option<String> {
        let number = |letter: &[u8]| {
            let add = |number: u32, byte: &u8| (number << 8) | u32::from(*byte);
            if self.is_big_endian {
                letter.iter().fold(0, add)
            } else {
                letter.iter().rev().fold(0, add)
            }
        };
        let units = bytes.get(self.mark..)?.chunks_exact(self.unit).map(number);
        let text: Option<String> = if self.unit == 4 {
            units.map(char::from_u32).collect()
        } else {
            let units = units.map(|unit| u16::try_from(unit).unwrap_or_default());
            char::decode_utf16(units).collect::<Result<_, _>>().ok()
        };
        text.filter(|text| !text.contains('\0'))
    }
}

/// That a file is there is shown by its name, as it stands in the list and before its contents.
fn add_names(found: &[Found], unkept: &NotKept, corpus: &mut Corpus) {
    let unkept_names = unkept.names.iter().take(MAX_UNKEPT);
    let pieces =
        unkept_names.flat_map(|(name, _)| [(Whose::Ours, "\n- "), (Whose::Theirs, &**name)]);
    corpus.add_pieces("list of files", pieces);
    if found.is_empty() && !unkept.is_none() {
        return;
    }
    if found.is_empty() {
        // Nothing else shows that nothing was made.
        return corpus.add(NO_LIST, NO_FILES);
    }
    let lines: Vec<(&str, String)> =
        found.iter().map(|file| (file.name.as_str(), file.about())).collect();
    let listed = lines.iter().flat_map(|(name, about)| {
        [(Whose::Ours, "\n- "), (Whose::Theirs, *name), (Whose::Ours, about.as_str())]
    });
    corpus.add_pieces("list of files", listed);
    let headed = lines
        .iter()
        .flat_map(|(name, _)| [(Whose::Ours, "\n--- outputs/"), (Whose::Theirs, *name)]);
    corpus.add_pieces("list of files", headed);
}

impl Found {
    /// What the list says of it, behind its name.
    fn about(&self) -> String {
        let about = match self.content {
            Content::Text { .. } => "",
            Content::Binary => ", not text",
            Content::Link => ", a link",
            Content::Unreadable => ", cannot be read",
        };
        format!(" ({} bytes{about})", self.size)
    }
}

/// What the list may take of the budget, as one part of so many.
const LIST_PART: usize = 4;
/// What the sentences around list and contents may take.
const NOTES: usize = 200;

fn list(
    found: &[Found],
    beyond: u64,
    unkept: &NotKept,
    budget: &Budget,
    text: &mut String,
    left_out: &mut OutputsLeftOut,
) {
    unkept.tell(text);
    if found.is_empty() {
        text.push_str(if unkept.is_none() { NO_FILES } else { "No file was kept.\n" });
        return;
    }
    let _ = writeln!(text, "[{} files]", left_out.of_files);
    let room = budget.outputs / LIST_PART;
    let mut listed = 0;
    for file in found.iter().take(budget.listed) {
        let line = format!("- {}{}\n", file.name, file.about());
        if text.len() + line.len() > room {
            break;
        }
        text.push_str(&line);
        listed += 1;
    }
    let unlisted = (found.len() - listed) as u64 + beyond;
    if unlisted > 0 {
        let _ = writeln!(text, "- and {unlisted} more files that are not listed");
        left_out.unlisted = unlisted;
    }
}

fn show(
    found: &[Found],
    key: FenceKey,
    budget: &Budget,
    text: &mut String,
    left_out: &mut OutputsLeftOut,
) -> String {
    let texts: Vec<(&Found, &str, u64)> = found
        .iter()
        .filter_map(|file| match &file.content {
            Content::Text { shown, gone } => Some((file, shown.as_str(), *gone)),
            Content::Binary | Content::Link | Content::Unreadable => None,
        })
        .collect();
    let mark = mark(key, &texts.iter().map(|(_, content, _)| *content).collect::<Vec<_>>());
    let header = |file: &Found| format!("\n--- outputs/{} {mark} ---\n", file.name);
    // With the line break behind it.
    let frames: Vec<usize> = texts.iter().map(|(file, ..)| header(file).len() + 1).collect();
    let mut left = budget.outputs.saturating_sub(text.len() + NOTES);
    let sizes: Vec<usize> =
        texts.iter().zip(&frames).map(|((_, content, _), frame)| content.len() + frame).collect();
    let limit = level(&sizes, left).max(LEAST);
    if !texts.is_empty() {
        let _ = writeln!(text, "\nEach file begins with its name and the mark {mark}.");
    }
    for ((file, content, gone_before), frame) in texts.into_iter().zip(frames) {
        let limit = limit.saturating_sub(frame + CUT_NOTE).max(LEAST);
        // A cut that saves less than its own note is none.
        let limit = if content.len() <= limit + CUT_NOTE { content.len() } else { limit };
        let (shown, gone) = cut_middle(content, limit);
        if frame + shown.len() > left {
            left_out.not_shown += 1;
            left_out.bytes += file.size;
            continue;
        }
        left -= frame + shown.len();
        left_out.shortened += u64::from(gone + gone_before > 0);
        left_out.bytes += gone + gone_before;
        text.push_str(&header(file));
        text.push_str(&shown);
        if !shown.ends_with('\n') {
            text.push('\n');
        }
    }
    if left_out.not_shown > 0 {
        let _ = writeln!(text, "\n({} more text files are not shown)", left_out.not_shown);
    }
    mark
}

/// The size up to which files are shown, so that all together fit.
fn level(sizes: &[usize], budget: usize) -> usize {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = budget;
    for (index, &size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if size > share {
            return share;
        }
        left -= size;
    }
    usize::MAX
}

#[cfg(test)]
mod tests;
