//! Has a model say why a version won and what to change; a suggestion that is not in the files is sent back once.
//!
//! The one invariant: every suggestion of the analysis replaces a passage that is really in the version that was analysed; the
//! others are named in its notes.

use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::analysis::{AnalysisAnswer, AnalysisSubject, Sorted, question, sort};
use skillgauge_format::Extra;
use skillgauge_format::cases::Analysis;
use tokio_util::sync::CancellationToken;

use crate::ask_once::{self, Unanswered, fence_key};
use crate::budget::Budget;
use crate::model::{Model, Purpose};

#[derive(Clone, Debug)]
pub struct Analyst {
    pub model: Arc<dyn Model>,
    /// How long one attempt may take.
    pub timeout: Duration,
}

pub async fn analyze(
    subject: &AnalysisSubject<'_>,
    analyst: &Analyst,
    budget: &Budget,
    cancel: &CancellationToken,
) -> Result<Analysis, Unanswered> {
    let put = async |misplaced: &[_]| -> Result<AnalysisAnswer, Unanswered> {
        let question = question(subject, misplaced, fence_key())
            .map_err(|error| Unanswered::Failed(error.to_string()))?;
        let request = ask_once::request(Purpose::new("analyze"), &question, analyst.timeout);
        ask_once::ask(analyst.model.as_ref(), &request, budget, cancel).await
    };
    let first = put(&[]).await?;
    let Sorted { mut kept, misplaced } = sort(subject.files, first.suggestions);
    let mut notes = Vec::new();
    if !misplaced.is_empty() {
        // What could be used stays, whatever becomes of the rest.
        match put(&misplaced).await {
            Ok(second) => {
                let corrected = sort(subject.files, second.suggestions);
                // A model that gives all suggestions again would have the same passage replaced twice.
                for suggestion in corrected.kept {
                    if kept.iter().all(|known| known.before != suggestion.before) {
                        kept.push(suggestion);
                    }
                }
                notes.extend(corrected.misplaced.iter().map(|(suggestion, reason)| {
                    format!("a suggestion about {} was dropped: {reason}", suggestion.area)
                }));
            }
            Err(Unanswered::Cancelled) => return Err(Unanswered::Cancelled),
            Err(reason) => notes.extend(misplaced.iter().map(|(suggestion, misplaced)| {
                format!(
                    "a suggestion about {} was dropped: {misplaced}; nobody corrected it: {reason}",
                    suggestion.area
                )
            })),
        }
    }
    Ok(Analysis {
        winner_version: subject.winner.to_owned(),
        loser_version: subject.loser.to_owned(),
        analyzed_version: Some(subject.version.to_owned()),
        strengths: first.strengths,
        weaknesses: first.weaknesses,
        suggestions: kept,
        analyst: Some(analyst.model.name().to_string()),
        notes: (!notes.is_empty()).then_some(notes),
        extra: Extra::new(),
    })
}
