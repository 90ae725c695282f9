//! What the comparator sees of a run: what the agent said last, and what it produced.
//!
//! Not the transcript: it shows the agent reading the skill, and with it which version that is.

use std::fmt::Write as _;
use std::path::Path;

use skillgauge_format::transcript::{EventKind, Transcript};

use super::Blinding;
use crate::judge::material::{Blind, Budget, Material, Sources};
use crate::text::cut_middle;
use crate::workspace::RunDir;

/// The most that is shown of the agent's last words, in bytes.
const MAX_ANSWER: usize = 16_000;

/// A result as the comparator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(pub(super) String);

impl Shown {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Makes a run fit to be shown: bounded, and without what tells versions apart.
pub fn show(run: &RunDir, skill: &Path, blinding: &Blinding) -> Shown {
    let blind = Blind::of_run(run.root(), Some(skill));
    let outputs = run.outputs();
    let sources = Sources { transcript: None, outputs: Some(&outputs), skill: None, blind: &blind };
    let material = Material::gather(&sources, &Budget::default());
    let mut text = String::new();
    if let Some(answer) = run.transcript().as_ref().and_then(last_words) {
        let answer = blind.apply(answer);
        let _ =
            writeln!(text, "What was said at the end:\n\n{}\n", cut_middle(&answer, MAX_ANSWER).0);
    }
    let produced = material.outputs.map(|digest| digest.text).unwrap_or_default();
    let _ = writeln!(text, "What was produced:\n\n{produced}");
    Shown(blinding.apply(&text).into_owned())
}

/// The last thing that the agent itself said.
fn last_words(transcript: &Transcript) -> Option<&str> {
    let said = transcript.events.iter().rev().filter(|event| event.sub_agent.is_none());
    let text = said.filter_map(|event| match &event.kind {
        EventKind::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let last = transcript.end.final_text.as_deref();
    last.into_iter().chain(text).find(|text| !text.trim().is_empty())
}
