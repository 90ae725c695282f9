//! The question to the analyst, and the schema of its answer.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use skillgauge_format::{AnswerSchema, UnsupportedSchema};

use super::SkillFiles;
use super::locate::{PlacementError, SuggestionAnswer};
use crate::judge::material::{Fence, FenceKey};
use crate::judge::question::{Question, QuestionError};
use crate::judge::template::{Rendered, Template, TemplateKind};
use crate::text::cut_middle;

/// The most that is told of the comparisons and of the gradings, in bytes each.
const MAX_TOLD: usize = 48_000;

/// A comparison after the labels were lifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedCase {
    pub case: String,
    pub prompt: String,
    /// The version that won; none of a tie.
    pub winner: Option<String>,
    /// What the comparator said, and which version it called A.
    pub reasoning: String,
    /// The version that was called A.
    pub a: String,
    /// The version that was called B.
    pub b: String,
}

/// What the comparisons came to over all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Won,
    /// Neither version won more cases, or the comparator decides nothing.
    Tied,
}

#[derive(Clone, Debug)]
pub struct AnalysisSubject<'a> {
    /// The version that won over all; of a tie, the newer one.
    pub winner: &'a str,
    pub loser: &'a str,
    pub standing: Standing,
    pub cases: &'a [ComparedCase],
    /// What failed in the gradings, a line each.
    pub failures: &'a [String],
    /// The version that is to be changed.
    pub version: &'a str,
    pub files: &'a SkillFiles,
}

#[derive(Serialize)]
struct Context<'c> {
    boundary: &'c str,
    winner: &'c str,
    loser: &'c str,
    is_tied: bool,
    version: &'c str,
    files: String,
    comparisons: String,
    gradings: String,
    problems: String,
}

/// Asks for an analysis, or for corrections of suggestions that could not be used.
pub fn question(
    subject: &AnalysisSubject<'_>,
    misplaced: &[(SuggestionAnswer, PlacementError)],
    key: FenceKey,
) -> Result<Question, QuestionError> {
    let template = Template::built_in(TemplateKind::Analyze)?;
    let (comparisons, files) = (comparisons(subject.cases), files(subject.files));
    let gradings = cut_middle(&subject.failures.join("\n"), MAX_TOLD).0;
    let problems = problems(misplaced);
    let fence = Fence::around(key, &[&*comparisons, &*files, &*gradings, &*problems]);
    let wrap =
        |name, text: &str| if text.is_empty() { String::new() } else { fence.wrap(name, text) };
    let context = Context {
        boundary: fence.boundary(),
        winner: subject.winner,
        loser: subject.loser,
        is_tied: subject.standing == Standing::Tied,
        version: subject.version,
        files: wrap("SKILL", &files),
        comparisons: wrap("COMPARISONS", &comparisons),
        gradings: wrap("GRADINGS", &gradings),
        problems: wrap("PROBLEMS", &problems),
    };
    let Rendered { system, user } = template.render(&context)?;
    Ok(Question {
        system,
        user,
        schema: schema()?,
        template: template.record().clone(),
        wanted: Vec::new(),
        drawn: vec![fence.boundary().to_owned()],
    })
}

fn comparisons(cases: &[ComparedCase]) -> String {
    let mut out = String::new();
    for case in cases {
        let ComparedCase { case, prompt, winner, reasoning, a, b } = case;
        // Writing to a string does not fail. What was said for a position is not passed on.
        let _ = match winner {
            Some(winner) => writeln!(
                out,
                "## {case}: {winner} won\n\nTask: {prompt}\n\nThe comparator (A was {a}, B was {b}): {reasoning}\n",
            ),
            None => writeln!(
                out,
                "## {case}: a tie\n\nTask: {prompt}\n\nThe comparator's answer changed with the order of the results.\n",
            ),
        };
    }
    cut_middle(&out, MAX_TOLD).0
}

fn files(files: &SkillFiles) -> String {
    let mut out = String::new();
    for (name, text) in &files.texts {
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(out, "##### file {name}\n{text}{newline}");
    }
    for name in &files.left_out {
        let _ = writeln!(out, "##### file {name} (not shown: not text, or too large)");
    }
    out
}

fn problems(misplaced: &[(SuggestionAnswer, PlacementError)]) -> String {
    let mut out = String::new();
    for (suggestion, reason) in misplaced {
        let _ = writeln!(
            out,
            "- {} ({}): {reason}\n  before: {}\n  after: {}",
            suggestion.area, suggestion.file, suggestion.before, suggestion.after
        );
    }
    out
}

fn schema() -> Result<AnswerSchema, UnsupportedSchema> {
    let text = || json!({"type": "string"});
    let texts = json!({"type": "array", "items": text()});
    let fields = ["reasoning", "area", "file", "before", "after"];
    let properties: serde_json::Map<String, Value> =
        fields.iter().map(|name| ((*name).to_owned(), text())).collect();
    let suggestion = json!({
        "type": "object", "properties": properties, "required": fields, "additionalProperties": false,
    });
    let value = json!({
        "type": "object",
        "properties": {
            "strengths": texts,
            "weaknesses": texts,
            "suggestions": {"type": "array", "items": suggestion},
        },
        "required": ["strengths", "weaknesses", "suggestions"],
        "additionalProperties": false,
    });
    AnswerSchema::new("analysis", value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_shows_comparisons_and_files_and_asks_for_corrections() {
        let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let files = SkillFiles { texts: [text("SKILL.md", "Body.\n")].into(), left_out: vec![] };
        let cases = [ComparedCase {
            case: "case-01".into(),
            prompt: "Do it.".into(),
            winner: Some("v1".into()),
            reasoning: "A is clearer.".into(),
            a: "v1".into(),
            b: "v0".into(),
        }];
        let failures = ["case-01: result: not there".to_owned()];
        let subject = AnalysisSubject {
            winner: "v1",
            loser: "v0",
            standing: Standing::Won,
            version: "v1",
            cases: &cases,
            failures: &failures,
            files: &files,
        };
        let first = question(&subject, &[], FenceKey::new(1)).unwrap();
        insta::assert_snapshot!(first.user);
        let cases = [ComparedCase { winner: None, ..cases[0].clone() }];
        let tied = AnalysisSubject { standing: Standing::Tied, cases: &cases, ..subject.clone() };
        let tied = question(&tied, &[], FenceKey::new(1)).unwrap().user;
        assert!(tied.contains("Neither v1 nor v0 won."), "{tied}");
        assert!(tied.contains("## case-01: a tie") && !tied.contains("A is clearer"), "{tied}");
        let bad = SuggestionAnswer { before: "x".into(), ..SuggestionAnswer::default() };
        let second =
            question(&subject, &[(bad, PlacementError::Nowhere)], FenceKey::new(1)).unwrap();
        assert!(second.user.contains("# Put these right") && second.user.contains("in no file"));
    }
}
