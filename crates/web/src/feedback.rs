//! `feedback.json`: what people said about runs, in the skill-creator's shape with what we add. Fields of others are kept.

use std::path::Path;

use skillgauge_core::iteration::{Problem, Run, Standing};
use skillgauge_core::statistics::cohens_kappa;
use skillgauge_core::workspace::{WorkspaceError, write_atomically};
use skillgauge_format::evals::{Feedback as File, Review, ReviewFeedback, ReviewMark};
use skillgauge_format::write::{WriteError, to_text};

use crate::read::{load, load_bytes, parse};

const FILE: &str = "feedback.json";
const MAX_BYTES: u64 = 32 << 20;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Feedback(pub(crate) ReviewFeedback);

/// Why feedback was not saved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SaveError {
    /// Writing would lose what is there.
    #[error("feedback.json is broken ({0}); repair or remove it first")]
    Broken(String),
    #[error(transparent)]
    Json(#[from] WriteError),
    #[error(transparent)]
    Write(#[from] WorkspaceError),
}

/// How far people and the judge agree beyond chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Agreement {
    pub(crate) pairs: usize,
    /// Of these, how many they decided alike.
    pub(crate) alike: usize,
    /// Cohen's kappa; nothing when one answer is all that there is, because then chance explains everything.
    pub(crate) kappa: Option<f64>,
}

impl Agreement {
    fn of(pairs: &[(bool, bool)]) -> Self {
        let alike = pairs.iter().filter(|(left, right)| left == right).count();
        Self { pairs: pairs.len(), alike, kappa: cohens_kappa(pairs) }
    }
}

impl From<File> for Feedback {
    fn from(file: File) -> Self {
        Self(match file {
            File::Reviews(reviews) => reviews,
            // The form of agentskills.io: a text for each eval.
            File::ByEval(texts) => {
                let review = |(run_id, feedback)| Review { run_id, feedback, ..Review::default() };
                let reviews = texts.into_iter().map(review).collect();
                ReviewFeedback { reviews, ..ReviewFeedback::default() }
            }
        })
    }
}

impl Feedback {
    pub(crate) fn read(iteration: &Path, problems: &mut Vec<Problem>) -> Self {
        load::<File>(iteration, FILE, problems).map(Self::from).unwrap_or_default()
    }

    pub(crate) fn of(&self, run_id: &str) -> Option<&Review> {
        self.0.reviews.iter().find(|review| review.run_id == run_id)
    }

    /// Puts a review in the place of the one that the run had.
    fn put(&mut self, mut review: Review) {
        match self.0.reviews.iter_mut().find(|known| known.run_id == review.run_id) {
            Some(known) => {
                review.extra = std::mem::take(&mut known.extra);
                *known = review;
            }
            None => self.0.reviews.push(review),
        }
        self.0.status.get_or_insert_with(|| "in_progress".to_owned());
    }

    /// How far people and the judge agree: about whole runs, and about single expectations.
    pub(crate) fn agreement<'r>(
        &self,
        runs: impl Iterator<Item = &'r Run>,
    ) -> (Agreement, Agreement) {
        let (mut marks, mut verdicts) = (Vec::new(), Vec::new());
        for run in runs {
            let Some(review) = self.of(&run.id) else { continue };
            if let (Some(mark), Standing::Passed | Standing::Failed) = (review.mark, &run.standing)
            {
                marks.push((mark == ReviewMark::Good, run.is_passed()));
            }
            for decided in &review.verdicts {
                let judged = run.verdicts.iter().find(|judged| judged.text == decided.text);
                verdicts.extend(judged.map(|judged| (decided.passed, judged.passed)));
            }
        }
        (Agreement::of(&marks), Agreement::of(&verdicts))
    }
}

/// Adds a review to the file of an iteration: read, changed and renamed into place, so that a reader never sees half.
pub(crate) fn save(iteration: &Path, review: Review) -> Result<(), SaveError> {
    let path = iteration.join(FILE);
    let known: Option<File> = parse(load_bytes(&path, MAX_BYTES)).map_err(SaveError::Broken)?;
    let mut feedback = known.map(Feedback::from).unwrap_or_default();
    feedback.put(review);
    Ok(write_atomically(&path, to_text(&feedback.0)?.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use fs_err as fs;
    use serde_json::{Value, json};
    use skillgauge_format::evals::ReviewVerdict;

    use super::*;

    fn review(run_id: &str, comment: &str, mark: Option<ReviewMark>) -> Review {
        Review { run_id: run_id.into(), feedback: comment.into(), mark, ..Review::default() }
    }

    #[test]
    fn saving_keeps_the_reviews_and_fields_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feedback.json");
        let before = r#"{"reviews": [{"run_id": "a", "feedback": "x", "stars": 3}, {"run_id": "b", "feedback": ""}],
            "status": "complete", "who": "me"}"#;
        fs::write(&path, before).unwrap();
        save(folder.path(), review("a", "better", Some(ReviewMark::Good))).unwrap();
        save(folder.path(), review("c", "new", None)).unwrap();
        let after: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(
            after,
            json!({
                "reviews": [
                    {"run_id": "a", "feedback": "better", "mark": "good", "stars": 3},
                    {"run_id": "b", "feedback": ""},
                    {"run_id": "c", "feedback": "new"},
                ],
                "status": "complete",
                "who": "me",
            })
        );
    }

    #[test]
    fn a_broken_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feedback.json");
        for broken in ["{ precious", "[]"] {
            fs::write(&path, broken).unwrap();
            let saved = save(folder.path(), review("a", "", None));
            assert!(matches!(saved, Err(SaveError::Broken(_))));
            assert_eq!(fs::read_to_string(&path).unwrap(), broken);
        }
    }

    #[test]
    fn what_we_write_is_feedback_by_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let mut given = review("eval-1-with_skill-run-1", "fine", Some(ReviewMark::Bad));
        given.verdicts.push(ReviewVerdict { text: "a".into(), passed: false });
        save(folder.path(), given.clone()).unwrap();
        let bytes = fs::read(folder.path().join("feedback.json")).unwrap();
        let read = skillgauge_format::read::<File>(&bytes).unwrap().value;
        assert_eq!(read.comments(), [("eval-1-with_skill-run-1", "fine")]);
        assert_eq!(Feedback::from(read).of("eval-1-with_skill-run-1"), Some(&given));
    }

    #[test]
    fn the_form_with_a_text_for_each_eval_is_read() {
        let file: File = serde_json::from_str(r#"{"eval-1": "too long"}"#).unwrap();
        assert_eq!(Feedback::from(file).of("eval-1").unwrap().feedback, "too long");
    }

    #[test]
    fn kappa_is_that_of_the_textbook_table() {
        // 20 both yes, 5 only left, 10 only right, 15 both no: po 0.7, pe 0.5, kappa 0.4.
        let mut pairs = vec![(true, true); 20];
        pairs.extend([(true, false); 5]);
        pairs.extend([(false, true); 10]);
        pairs.extend([(false, false); 15]);
        let agreement = Agreement::of(&pairs);
        assert_eq!((agreement.pairs, agreement.alike), (50, 35));
        assert!((agreement.kappa.unwrap() - 0.4).abs() < 1e-9);
    }
}
