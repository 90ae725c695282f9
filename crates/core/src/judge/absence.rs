//! Whether an expectation says that something is not there.
//!
//! A pass of such an expectation can be proven by a search that we make ourselves; of any other it can't, whatever the judge
//! lists. Read from its words: a wrong guess costs a proof, and never makes one.

use std::sync::LazyLock;

use regex::Regex;

static ABSENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(?:not|no|none|never|without|nothing|neither|nor|cannot|absent|absence|missing|free\ of|avoid\w*|omit\w*|
        exclud\w*|remov\w*|delet\w*|refrain\w*|instead\ of|rather\ than|only|zero|lack\w*|
        nicht|kein\w*|ohne|nie|pas|sans|aucun\w*|jamais|sin|ning[uú]n\w*|nunca|não|sem|nenhum\w*|non|senza|nessun\w*)\b
        | n['’]t\b | \b(?:не|без|нет)\b | 不|没|沒|無|无|ない|없",
    )
    .ok()
});

/// Whether an expectation says that something is not there.
pub(super) fn is_about_absence(text: &str) -> bool {
    ABSENCE.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_is_known_by_its_words() {
        for text in [
            "The report does not mention prices",
            "Doesn't use jargon",
            "No TODO is left",
            "Written without passive voice",
            "The old file was removed",
            "Keine Platzhalter",
            "不包含占位符",
        ] {
            assert!(is_about_absence(text), "{text}");
        }
        for text in ["The report names the total", "Notes are in a table", "The node is annotated"]
        {
            assert!(!is_about_absence(text), "{text}");
        }
    }
}
