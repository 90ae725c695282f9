//! What the comparator sees of a run: what the agent said last, and what it produced.
//!
//! Not the transcript: it shows the agent reading the skill, and with it which version that is. Nor sentences about using it: a
//! comparator that knows which result had the skill is none.

use std::fmt::Write as _;
use std::path::Path;

use super::Blinding;
use crate::judge::material::{
    Blind, Budget, FenceKey, Material, SkillMask, Sources, Unshown, last_words,
};
use crate::text::cut_middle;
use crate::workspace::RunDir;

/// The most that is shown of the agent's last words, in bytes.
const MAX_ANSWER: usize = 16_000;

/// A result as the comparator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub(super) text: String,
    /// What its files begin with.
    pub(super) mark: Option<String>,
}

impl Shown {
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Makes a run of a case with this prompt fit to be shown: bounded, and without what tells versions or arms apart.
pub fn show(run: &RunDir, skill: &Path, blinding: &Blinding, prompt: &str, key: FenceKey) -> Shown {
    let mask = blinding.name().map(|name| Unshown::named(name).and(skill));
    let mask = mask.and_then(|unshown| SkillMask::new(&unshown, [prompt]));
    let blind = Blind::of_run(run.root(), Some(skill)).hiding(mask);
    let (outputs, record) = (run.outputs(), run.record_file());
    let sources = Sources {
        transcript: None,
        outputs: Some(&outputs),
        record: Some(&record),
        skill: None,
        blind: &blind,
        key,
    };
    let material = Material::gather(&sources, &Budget::default());
    let mut text = String::new();
    if let Some(answer) = run.transcript().as_ref().and_then(last_words) {
        let answer = blind.said(answer);
        let _ =
            writeln!(text, "What was said at the end:\n\n{}\n", cut_middle(&answer, MAX_ANSWER).0);
    }
    let (produced, drawn) =
        material.outputs.map(|digest| (digest.text, digest.mark)).unwrap_or_default();
    let _ = writeln!(text, "What was produced:\n\n{produced}");
    Shown { text: blinding.apply(&text).into_owned(), mark: drawn }
}
