//! Differences: of the files of two runs, and of two descriptions.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::outputs::{Outputs, text_of};
use crate::read::{Bytes, load_bytes};

/// A file larger than this is only compared byte by byte.
const MAX_BYTES: u64 = 512 << 10;
/// Lines of one difference that are shown.
const MAX_LINES: usize = 600;
/// A difference that takes longer is given up for a coarser one.
const PATIENCE: Duration = Duration::from_millis(500);

/// The difference of one file between two runs.
#[derive(Debug, Serialize)]
pub(crate) struct FileDiff {
    path: String,
    /// What there is to say instead of lines.
    note: Option<&'static str>,
    lines: Vec<DiffLine>,
    is_cut: bool,
}

/// A line, or a word, with its sign.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct DiffLine {
    pub(super) sign: &'static str,
    pub(super) text: String,
}

/// Compares the outputs of two runs, file by file.
pub(crate) fn diff_files(left: &Path, right: &Path) -> Vec<FileDiff> {
    let paths = |run: &Path| {
        Outputs::list(run).files.into_iter().map(|file| file.path).collect::<BTreeSet<String>>()
    };
    let (on_left, on_right) = (paths(left), paths(right));
    on_left
        .union(&on_right)
        .map(|path| {
            let note = match (on_left.contains(path), on_right.contains(path)) {
                (true, false) => Some("only on the left"),
                (false, true) => Some("only on the right"),
                _ => None,
            };
            if note.is_some() {
                return FileDiff { path: path.clone(), note, lines: Vec::new(), is_cut: false };
            }
            diff_file(path, &left.join("outputs").join(path), &right.join("outputs").join(path))
        })
        .collect()
}

fn diff_file(path: &str, left: &Path, right: &Path) -> FileDiff {
    let note = |note| FileDiff {
        path: path.to_owned(),
        note: Some(note),
        lines: Vec::new(),
        is_cut: false,
    };
    let (Bytes::Read(left), Bytes::Read(right)) =
        (load_bytes(left, MAX_BYTES), load_bytes(right, MAX_BYTES))
    else {
        return note("too large to compare");
    };
    if left == right {
        return note("the same");
    }
    let (Some(left), Some(right)) = (text_of(&left), text_of(&right)) else {
        return note("different, and not text");
    };
    let diff = TextDiff::configure().deadline(Instant::now() + PATIENCE).diff_lines(&left, &right);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(3) {
        if !lines.is_empty() {
            lines.push(DiffLine { sign: "…", text: String::new() });
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let text = change.value().trim_end_matches(['\n', '\r']).to_owned();
            lines.push(DiffLine { sign: sign(change.tag()), text });
        }
    }
    let is_cut = lines.len() > MAX_LINES;
    lines.truncate(MAX_LINES);
    FileDiff { path: path.to_owned(), note: None, lines, is_cut }
}

/// Compares two descriptions, word by word.
pub(crate) fn diff_words(left: &str, right: &str) -> Vec<DiffLine> {
    let diff = TextDiff::configure().deadline(Instant::now() + PATIENCE).diff_words(left, right);
    let mut words: Vec<DiffLine> = Vec::new();
    for change in diff.iter_all_changes() {
        let sign = sign(change.tag());
        match words.last_mut() {
            Some(last) if last.sign == sign => last.text.push_str(change.value()),
            _ => words.push(DiffLine { sign, text: change.value().to_owned() }),
        }
    }
    words
}

const fn sign(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => " ",
        ChangeTag::Delete => "−",
        ChangeTag::Insert => "+",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_kind_stand_together() {
        let words = diff_words("Reads a file.", "Reads two big files.");
        let neighbours = words.windows(2).filter(|pair| pair[0].sign == pair[1].sign);
        assert_eq!(neighbours.count(), 0, "{words:?}");
        let kept: String =
            words.iter().filter(|word| word.sign != "−").map(|word| word.text.as_str()).collect();
        assert_eq!(kept, "Reads two big files.");
    }

    #[test]
    fn files_are_compared_by_path() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        write("l/outputs/a.txt", "one\ntwo\n");
        write("r/outputs/a.txt", "one\n2\n");
        write("l/outputs/same", "x");
        write("r/outputs/same", "x");
        write("r/outputs/deep/new", "x");
        let diffs = diff_files(&folder.path().join("l"), &folder.path().join("r"));
        let shown: Vec<_> = diffs.iter().map(|diff| (diff.path.as_str(), diff.note)).collect();
        assert_eq!(
            shown,
            [("a.txt", None), ("deep/new", Some("only on the right")), ("same", Some("the same"))]
        );
        let lines: Vec<_> =
            diffs[0].lines.iter().map(|line| (line.sign, line.text.as_str())).collect();
        assert_eq!(lines, [(" ", "one"), ("−", "two"), ("+", "2")]);
    }
}
