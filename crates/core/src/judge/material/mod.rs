//! What a judge sees of a run, and what its quotes are looked up in.
//!
//! A [`Material`] is made once for each run: digests of transcript and outputs within a [`Budget`], and the [`Corpus`]
//! with the whole text of both. Nothing in it says under which conditions the run was made: folder names, the skill's
//! name and its paths are taken out ([`Blind`]), and so is every event that shows a skill being loaded or read (`unseen`), in all
//! arms alike. Quotes are looked up in what is left. Everything is untrusted; [`Fence`] puts it between lines that it cannot forge.

mod blind;
mod command;
mod corpus;
mod fence;
mod listing;
mod outputs;
mod phrases;
mod skill_mask;
mod transcript;
mod unseen;

use std::path::Path;

use skillgauge_format::part::LeftOut;
use skillgauge_format::transcript::{Event, EventKind, Transcript};

use crate::check::Unkept;

pub use blind::Blind;
use corpus::Gap;
pub(in crate::judge) use corpus::NO_LIST;
pub use corpus::{Corpus, Search, Unfound};
pub use fence::{Fence, FenceKey};
pub use outputs::OutputsDigest;
pub(crate) use skill_mask::{NAME, name_pattern};
pub use skill_mask::{SkillMask, Unshown};
pub use transcript::TranscriptDigest;
pub(crate) use transcript::last_words;

/// How much a judge is shown, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub transcript: usize,
    /// Of the contents of all output files together.
    pub outputs: usize,
    pub file: usize,
    /// How many output files are listed by name.
    pub listed: usize,
    /// Of the skill's SKILL.md, where it is shown.
    pub skill: usize,
}

/// About 40,000 tokens in all: enough for nearly every run, and cheap enough to ask three times.
impl Default for Budget {
    fn default() -> Self {
        Self { transcript: 60_000, outputs: 60_000, file: 24_000, listed: 400, skill: 30_000 }
    }
}

impl Budget {
    /// For a judge that takes so many tokens in all: a quarter is left for the answer, and some for the question itself. A
    /// token is taken for two and a half bytes, which is few for English and right for code.
    pub fn for_context(tokens: u32) -> Self {
        let usual = Self::default();
        let left = (tokens as usize * 3 / 4).saturating_sub(QUESTION_TOKENS);
        let bytes = (left * 5 / 2).max(LEAST_MATERIAL);
        let outputs = (bytes * 11 / 20).min(usual.outputs);
        Self {
            transcript: (bytes - bytes * 11 / 20).min(usual.transcript),
            outputs,
            file: (outputs * 2 / 3).min(usual.file),
            listed: (bytes / 150).clamp(10, usual.listed),
            skill: (bytes / 4).min(usual.skill),
        }
    }
}

/// What the question takes without its material.
const QUESTION_TOKENS: usize = 1200;
/// Less material than this is none, in bytes.
const LEAST_MATERIAL: usize = 1500;

/// Where the material comes from.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'s> {
    /// What the agent did; none when there is no transcript.
    pub transcript: Option<&'s Transcript>,
    /// The folder with what it produced; none when only a transcript is judged.
    pub outputs: Option<&'s Path>,
    /// The record of the run, which tells what was produced and not kept; none when there is none.
    pub record: Option<&'s Path>,
    /// The text of SKILL.md, where the judge is to see it.
    pub skill: Option<&'s str>,
    /// Paths that must not be shown.
    pub blind: &'s Blind,
    /// What the marks of events and files are made with.
    pub key: FenceKey,
}

/// What a judge sees of a run.
#[derive(Clone, Debug)]
pub struct Material {
    /// The transcript within its budget.
    pub transcript: TranscriptDigest,
    /// The outputs within their budget; none when only a transcript is judged.
    pub outputs: Option<OutputsDigest>,
    /// SKILL.md within its budget.
    pub skill: Option<String>,
    /// All of it, to look quotes up in.
    pub corpus: Corpus,
    /// What was taken out of it, and is taken out of the question, too.
    pub blind: Blind,
}

impl Material {
    /// Reads and digests. What cannot be read is said in the digest: there is always something to judge.
    pub fn gather(sources: &Sources<'_>, budget: &Budget) -> Self {
        let mut corpus = Corpus::default();
        let Sources { blind, key, .. } = *sources;
        let unkept = sources.record.map(Unkept::read);
        let outputs = sources.outputs.map(|folder| {
            outputs::digest(folder, unkept.as_ref(), blind, key, budget, &mut corpus)
        });
        let transcript = match sources.transcript {
            Some(found) => transcript::digest(found, blind, key, budget.transcript, &mut corpus),
            None => TranscriptDigest::absent(),
        };
        if sources.transcript.is_some_and(is_answer_cut) {
            corpus.has_gap(transcript::ANSWER, Gap::NotKept);
        }
        let skill = sources.skill.map(|text| {
            let text = blind.apply(text);
            crate::text::cut_middle(&text, budget.skill).0
        });
        Self { transcript, outputs, skill, corpus, blind: blind.clone() }
    }

    /// The marks of events and files.
    pub(crate) fn marks(&self) -> impl Iterator<Item = &str> {
        let of_outputs = self.outputs.as_ref().and_then(|digest| digest.mark.as_deref());
        self.transcript.mark.as_deref().into_iter().chain(of_outputs)
    }

    /// What is not shown; nothing when everything is.
    pub fn left_out(&self) -> Option<LeftOut> {
        let left_out = LeftOut {
            transcript: self.transcript.left_out.clone(),
            outputs: self.outputs.as_ref().and_then(|digest| digest.left_out.clone()),
            ..LeftOut::default()
        };
        (left_out != LeftOut::default()).then_some(left_out)
    }
}

/// The last words are not cut to less than this; a shorter text that tells of a cut is the agent's own.
const LEAST_CUT: usize = 100_000;

/// Whether the agent's last words were recorded without a part of them, or not at all.
fn is_answer_cut(transcript: &Transcript) -> bool {
    let is_text =
        |event: &&Event| event.sub_agent.is_none() && matches!(event.kind, EventKind::Text { .. });
    let last = transcript.events.iter().rev().find(is_text);
    let is_cut = |words: &str| words.len() > LEAST_CUT && words.contains(" bytes left out]");
    transcript.end.cut.is_some_and(|cut| cut.events > 0)
        || last.is_some_and(|event| event.cut_bytes.is_some_and(|bytes| bytes > 0))
        || last_words(transcript).is_some_and(is_cut)
}
