//! Lists folders in a stable order, numbers in names counted as numbers, links left out.

use std::cmp::Ordering;
use std::path::Path;

use fs_err as fs;

pub(crate) fn folders(path: &Path) -> Vec<String> {
    list(path, Wanted::Folders)
}

/// The files in a folder.
pub(crate) fn files(path: &Path) -> Vec<String> {
    list(path, Wanted::Files)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Folders,
    Files,
}

fn list(path: &Path, wanted: Wanted) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| {
            entry.file_type().is_ok_and(|kind| match wanted {
                Wanted::Folders => kind.is_dir(),
                Wanted::Files => kind.is_file(),
            })
        })
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_by(|left, right| natural(left, right));
    names
}

/// Compares texts so that `run-2` comes before `run-10`.
pub(crate) fn natural(left: &str, right: &str) -> Ordering {
    let number = |text: &str| {
        let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (stem, digits) = text.split_at(text.len() - digits);
        (stem.to_owned(), digits.parse::<u64>().ok())
    };
    number(left).cmp(&number(right)).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let mut names = ["run-10", "run-2", "eval", "run-1", "run-"];
        names.sort_by(|left, right| natural(left, right));
        assert_eq!(names, ["eval", "run-", "run-1", "run-2", "run-10"]);
    }
}
