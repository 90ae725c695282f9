//! The suite that `init` writes when there is none.
//!
//! It has the form of a suite and leaves blank what only the author can know: the requests, and what their results must
//! be like. Blank texts are errors when the suite is read, so that nobody takes it for a test of anything.

use std::path::Path;

use skillgauge_format::cases::{CasesSuite, Criterion, SUITE_VERSION, SuiteCase};
use skillgauge_format::part::CaseId;
use skillgauge_format::write;

/// The cases: what kind of request each is for.
const CASES: [(&str, &str); 2] = [
    ("typical-request", "what most people will ask this skill for, in their words"),
    ("hard-request", "a request at the edge of what the skill covers, or with something missing"),
];

const HELP: &str = "prompt: what a user would type; description: one thing that must be true of the result, so concrete \
                    that two people judge it alike; `skillgauge lint-evals` tells what is still blank";

/// The text of the file.
pub(super) fn text(skill: &Path) -> String {
    let case = |(id, about): (&str, &str)| {
        let criterion =
            Criterion { criterion: "result".to_owned(), required: true, ..Criterion::default() };
        SuiteCase {
            id: CaseId::new(id),
            files: Some(Vec::new()),
            expectations: vec![criterion],
            about: Some(about.into()),
            ..SuiteCase::default()
        }
    };
    let suite = CasesSuite {
        version: Some(SUITE_VERSION.to_owned()),
        skill: Some(skill.display().to_string()),
        cases: CASES.map(case).to_vec(),
        help: Some(HELP.into()),
        ..CasesSuite::default()
    };
    // A suite is plain text and numbers, which JSON can always hold.
    write::to_text(&suite).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use skillgauge_format::Suite;

    use super::*;

    #[test]
    fn exactly_the_blanks_are_wrong_with_a_starter() {
        let text = text(Path::new("/skills/one"));
        let problems = Suite::read(text.as_bytes()).unwrap_err().problems;
        let places: Vec<String> = problems.iter().map(|problem| problem.path.to_string()).collect();
        assert_eq!(
            places,
            [
                "$.cases[0].prompt",
                "$.cases[0].expectations[0].description",
                "$.cases[1].prompt",
                "$.cases[1].expectations[0].description",
            ]
        );
        let filled =
            text.replace("\"prompt\": \"\"", "\"prompt\": \"Turn a.csv into a table\"").replace(
                "\"description\": \"\"",
                "\"description\": \"table.md has one row per line of a.csv\"",
            );
        let read = Suite::read(filled.as_bytes()).unwrap();
        assert_eq!(read.warnings.iter().count(), 0, "{}", read.warnings);
    }
}
