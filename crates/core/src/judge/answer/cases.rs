//! The answer about a run of a `cases` suite.

use serde::Deserialize;
use serde_json::json;
use skillgauge_format::{AnswerSchema, UnsupportedSchema};

use super::read::{Said, verdict};
use super::{Absent, Answer, ById, Corpus, JudgedClaim, JudgedScore, JudgedVerdict, Rest, Wanted};
use super::{
    claims, each, fields, object, of_letter, proof_of_score, quotes, scored, text, with_letter,
};

/// The conventions of skill writing that a judge decides.
pub const CONVENTIONS: [&str; 3] =
    ["description_field", "progressive_disclosure", "type_alignment"];

/// What a judge said about a run of a `cases` suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct CasesAnswer {
    /// Criteria, by `C1`, `C2`, ...
    #[serde(default)]
    pub criteria: ById<JudgedScore>,
    /// Conventions, by their names; none when the judge did not see the skill.
    #[serde(default)]
    pub conventions: ById<JudgedConvention>,
    #[serde(default)]
    pub claims: Vec<JudgedClaim>,
    /// What the agent was unsure about.
    #[serde(default)]
    pub user_notes_summary: String,
    /// How the case could be better.
    #[serde(default)]
    pub eval_feedback: String,
}

/// What a judge said about a convention.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct JudgedConvention {
    pub details: String,
    pub passed: bool,
}

/// Whether the judge sees the skill, and so can say something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum SkillShown {
    Yes,
    No,
}

impl Answer for CasesAnswer {
    fn read(text: &str, wanted: &[String], material: &Corpus) -> Self {
        let said = Said::read(text, &["criteria", "conventions"], material);
        let convention = |value: &serde_json::Value| {
            let passed = verdict(value.get("passed")?)? == JudgedVerdict::Pass;
            let details = value.get("details").and_then(serde_json::Value::as_str);
            Some(JudgedConvention { details: details.unwrap_or_default().to_owned(), passed })
        };
        Self {
            criteria: said.scores("criteria", &with_letter('C', wanted)),
            conventions: said.each(
                "conventions",
                &CONVENTIONS.map(str::to_owned),
                convention,
                |found| u8::from(found.passed),
            ),
            claims: claims(&said),
            user_notes_summary: said.field("user_notes_summary").unwrap_or_default(),
            eval_feedback: said.field("eval_feedback").unwrap_or_default(),
        }
    }

    fn missing(&self, wanted: &[String]) -> Vec<String> {
        wanted.iter().filter(|id| !self.criteria.contains_key(*id)).cloned().collect()
    }

    fn complete(&mut self, later: Self) {
        self.criteria.extend(later.criteria);
    }

    fn passed(&self, id: &str) -> Option<(&[String], &[Absent])> {
        proof_of_score(self.criteria.get(id)?)
    }
}

impl CasesAnswer {
    /// The schema for these criteria (`C1`, ...).
    pub(in crate::judge) fn schema(
        wanted: &[Wanted],
        skill: SkillShown,
        rest: Rest,
    ) -> Result<AnswerSchema, UnsupportedSchema> {
        let mut parts = vec![("criteria", each(&of_letter('C', wanted), scored))];
        if skill == SkillShown::Yes && rest == Rest::Asked {
            let convention = fields([
                ("details", text("What shows it, in one sentence.")),
                ("passed", json!({ "type": "boolean" })),
            ]);
            let conventions = CONVENTIONS.map(|name| (name.to_owned(), convention.clone()));
            parts.push(("conventions", object(conventions)));
        }
        if rest == Rest::Asked {
            let claim = fields([
                ("claim", text("What the agent claims.")),
                ("evidence", text("What shows that it holds or does not.")),
                ("quotes", quotes()),
                ("verified", json!({ "type": "boolean" })),
            ]);
            parts.push(("claims", json!({ "type": "array", "items": claim })));
            parts
                .push(("user_notes_summary", text("In a sentence; empty when there was nothing.")));
            parts.push((
                "eval_feedback",
                text("In a sentence or two; empty when there is nothing."),
            ));
        }
        let parts = parts.into_iter().map(|(name, schema)| (name.to_owned(), schema));
        AnswerSchema::new("grading", object(parts))
    }
}
