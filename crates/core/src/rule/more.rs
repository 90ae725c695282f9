//! "... and 3 more": how a finding that stands for several says so.

/// Nothing for none, ` and 1 more heading`, ` and 3 more headings`.
pub(super) fn and_more(count: usize, noun: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!(" and 1 more {noun}"),
        _ => format!(" and {count} more {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::and_more;

    #[test]
    fn one_has_no_plural() {
        assert_eq!(and_more(0, "file"), "");
        assert_eq!(and_more(1, "file"), " and 1 more file");
        assert_eq!(and_more(12, "file"), " and 12 more files");
    }
}
