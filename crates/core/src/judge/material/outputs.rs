//! What a run produced, as a judge sees it: a list of all files, and the contents of those that are text.
//!
//! The list is complete, or says how many files it does not name. Contents share a budget: small files are shown whole,
//! and large ones without their middle, as much of each as of any other. Links are named and never followed. Each file
//! begins with a mark that no file contains, so that one file cannot pose as two.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use skillgauge_format::part::OutputsLeftOut;

use super::Budget;
use super::blind::Blind;
use super::corpus::{Corpus, Whose};
use super::fence::{FenceKey, mark};
use crate::files::{FileKind, Walk};
use crate::text::{cut_middle, printable};

/// How much of one file is read for looking up quotes.
const MAX_READ: u64 = 16 << 20;
/// How much of the beginning decides whether a file is text.
const SNIFFED: usize = 8 << 10;
/// Contents are not cut to less than this; rather, fewer files are shown.
const LEAST: usize = 200;
/// Files that are looked at; beyond that they are counted.
const MAX_FILES: usize = 10_000;
/// Bytes of contents that are held at once; beyond that only the beginnings are.
const MAX_HELD: usize = 8 << 20;

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
    blind: &Blind,
    key: FenceKey,
    budget: &Budget,
    corpus: &mut Corpus,
) -> OutputsDigest {
    // A folder that cannot be listed shows nothing.
    let entries = Walk::new(folder).flatten().filter(|entry| entry.kind != FileKind::Folder);
    let (mut beyond, mut held) = (0, 0);
    let mut found: Vec<Found> = Vec::new();
    for entry in entries {
        if found.len() == MAX_FILES {
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
    let mut left_out = OutputsLeftOut {
        of_files: found.len() as u64 + beyond,
        binary: found.iter().filter(|file| matches!(file.content, Content::Binary)).count() as u64,
        ..OutputsLeftOut::default()
    };
    let mut text = String::new();
    list(&found, beyond, budget.listed, &mut text, &mut left_out);
    add_names(&found, corpus);
    let mark = show(&found, key, budget, &mut text, &mut left_out);
    let is_complete =
        OutputsLeftOut { of_files: 0, ..left_out.clone() } == OutputsLeftOut::default();
    OutputsDigest { text, left_out: (!is_complete).then_some(left_out), mark: Some(mark) }
}

fn read(folder: &Path, path: &Path, blind: &Blind, limit: usize, corpus: &mut Corpus) -> Found {
    let name = blind.apply(&printable(&path.to_string_lossy())).into_owned();
    let file = &folder.join(path);
    let Ok(metadata) = fs_err::symlink_metadata(file) else {
        return Found { name, size: 0, content: Content::Unreadable };
    };
    let mut size = metadata.len();
    let content = if metadata.is_symlink() {
        Content::Link
    } else if metadata.is_file() {
        let most = MAX_READ.min(corpus.room().max(limit.max(SNIFFED)) as u64);
        match read_text(file, most) {
            Ok(Some(text)) => {
                let unread = size.saturating_sub(most);
                let written = text.len() as u64;
                let text = blind.written(&text);
                // A size that counts what is not shown would tell of it.
                size = (size + text.len() as u64).saturating_sub(written);
                let source = format!("outputs/{name}");
                corpus.add(&source, &text);
                if unread > 0 {
                    corpus.is_incomplete(&source);
                }
                let (shown, gone) = cut_middle(&text, limit);
                Content::Text { shown, gone: gone + unread }
            }
            Ok(None) => Content::Binary,
            Err(_) => Content::Unreadable,
        }
    } else {
        // A pipe would wait for a writer that never comes.
        Content::Unreadable
    };
    Found { name, size, content }
}

/// The beginning of a file; nothing when it is not text.
fn read_text(file: &Path, most: u64) -> std::io::Result<Option<String>> {
    let mut bytes = Vec::new();
    fs_err::File::open(file)?.take(most).read_to_end(&mut bytes)?;
    let head = &bytes[..bytes.len().min(SNIFFED)];
    let is_text = match std::str::from_utf8(head) {
        Ok(_) => true,
        // A letter that the end of the head cuts is no mistake.
        Err(error) => error.error_len().is_none() && bytes.len() >= SNIFFED,
    };
    if !is_text || head.contains(&0) {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// That a file is there is shown by its name, as it stands in the list and before its contents.
fn add_names(found: &[Found], corpus: &mut Corpus) {
    if found.is_empty() {
        // Nothing else shows that nothing was made.
        return corpus.add("list of files", NO_FILES);
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

fn list(
    found: &[Found],
    beyond: u64,
    listed: usize,
    text: &mut String,
    left_out: &mut OutputsLeftOut,
) {
    if found.is_empty() {
        text.push_str(NO_FILES);
        return;
    }
    let _ = writeln!(text, "[{} files]", left_out.of_files);
    for file in found.iter().take(listed) {
        let _ = writeln!(text, "- {}{}", file.name, file.about());
    }
    let unlisted = found.len().saturating_sub(listed) as u64 + beyond;
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
    let sizes: Vec<usize> = texts.iter().map(|(_, content, _)| content.len()).collect();
    let limit = level(&sizes, budget.outputs).max(LEAST);
    let mark = mark(key, &texts.iter().map(|(_, content, _)| *content).collect::<Vec<_>>());
    if !texts.is_empty() {
        let _ = writeln!(text, "\nEach file begins with its name and the mark {mark}.");
    }
    let mut left = budget.outputs;
    for (file, content, gone_before) in texts {
        let needed = content.len().min(limit);
        if needed > left {
            left_out.not_shown += 1;
            left_out.bytes += file.size;
            continue;
        }
        left -= needed;
        let (shown, gone) = cut_middle(content, limit);
        left_out.shortened += u64::from(gone + gone_before > 0);
        left_out.bytes += gone + gone_before;
        let _ = write!(text, "\n--- outputs/{} {mark} ---\n{}", file.name, shown);
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
