//! `feedback.json`: what people said about runs, in the skill-creator's shape, with what we add.
//!
//! A review has the skill-creator's `run_id`, `feedback` and `timestamp`, and of ours `mark` (`good` or `bad`) and
//! `verdicts`, a list of `{text, passed}` where the person decided about an expectation. Fields of others are kept.

use std::path::Path;

use serde_json::{Map, Value, json};

use skillgauge_core::workspace::{WorkspaceError, write_atomically};

use super::json::{Problem, Source, items, load, text, truth};
use super::run::{Run, Verdict};
use super::statistics::{Agreement, agreement};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Feedback {
    reviews: Vec<Review>,
    status: Option<String>,
    extra: Map<String, Value>,
}

/// What a person said about one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    pub run_id: String,
    pub comment: String,
    pub timestamp: Option<String>,
    /// Good or bad, when the person said so.
    pub mark: Option<Mark>,
    /// What the person decided about expectations.
    pub verdicts: Vec<Verdict>,
    pub(crate) extra: Map<String, Value>,
}

/// What a person thinks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Good,
    Bad,
}

impl Mark {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
        }
    }

    /// The mark of a word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Good, Self::Bad].into_iter().find(|mark| mark.as_str() == word)
    }
}

/// Why feedback was not saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The file is there and is not feedback; writing would lose it.
    #[error("feedback.json is broken ({0}); repair or remove it first")]
    Broken(String),
    /// The folder cannot be written.
    #[error(transparent)]
    Write(#[from] WorkspaceError),
}

impl Feedback {
    /// Reads the file; what is broken goes to the problems.
    pub(crate) fn read(path: &Path, problems: &mut Vec<Problem>) -> Self {
        load(path)
            .or_problem("feedback.json", problems)
            .map(|value| Self::parse(&value))
            .unwrap_or_default()
    }

    fn parse(value: &Value) -> Self {
        let Value::Object(fields) = value else { return Self::default() };
        if !fields.get("reviews").is_some_and(Value::is_array) {
            // The form of agentskills.io: a text for each eval.
            let reviews = fields.iter().filter_map(|(eval, comment)| {
                let comment = comment.as_str()?.to_owned();
                Some(Review { run_id: eval.clone(), comment, ..Review::default() })
            });
            return Self { reviews: reviews.collect(), ..Self::default() };
        }
        let mut extra = fields.clone();
        extra.remove("reviews");
        extra.remove("status");
        Self {
            reviews: items(value, "reviews").iter().filter_map(Review::parse).collect(),
            status: text(value, "status"),
            extra,
        }
    }

    pub fn of(&self, run_id: &str) -> Option<&Review> {
        self.reviews.iter().find(|review| review.run_id == run_id)
    }

    pub fn reviews(&self) -> &[Review] {
        &self.reviews
    }

    /// Puts a review in the place of the one that the run had.
    pub fn put(&mut self, mut review: Review) {
        match self.reviews.iter_mut().find(|known| known.run_id == review.run_id) {
            Some(known) => {
                review.extra = std::mem::take(&mut known.extra);
                *known = review;
            }
            None => self.reviews.push(review),
        }
    }

    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        let reviews = self.reviews.iter().map(Review::to_json).collect();
        fields.insert("reviews".to_owned(), Value::Array(reviews));
        fields.insert("status".to_owned(), json!(self.status.as_deref().unwrap_or("in_progress")));
        fields.extend(self.extra.clone());
        Value::Object(fields)
    }

    /// How far people and judge agree: about whole runs, and about single expectations.
    pub fn agreement<'r>(&self, runs: impl Iterator<Item = &'r Run>) -> (Agreement, Agreement) {
        let (mut marks, mut verdicts) = (Vec::new(), Vec::new());
        for run in runs {
            let Some(review) = self.of(&run.id) else { continue };
            if let (Some(mark), Some(rate)) = (review.mark, run.pass_rate) {
                marks.push((mark == Mark::Good, rate >= 1.0));
            }
            for decided in &review.verdicts {
                if let Some(judged) = run.verdicts.iter().find(|judged| judged.text == decided.text)
                {
                    verdicts.push((decided.passed, judged.passed));
                }
            }
        }
        (agreement(&marks), agreement(&verdicts))
    }
}

/// Adds a review to the file of an iteration: read, changed and renamed into place, so that a reader never sees half.
pub fn save(iteration: &Path, review: Review) -> Result<Feedback, SaveError> {
    let path = iteration.join("feedback.json");
    let mut feedback = match load(&path) {
        Source::Missing => Feedback::default(),
        Source::Read(value) if value.is_object() => Feedback::parse(&value),
        Source::Read(_) => return Err(SaveError::Broken("not an object".to_owned())),
        Source::Broken(message) => return Err(SaveError::Broken(message)),
    };
    feedback.put(review);
    let text = format!("{:#}\n", feedback.to_json());
    write_atomically(&path, text.as_bytes())?;
    Ok(feedback)
}

impl Review {
    fn parse(value: &Value) -> Option<Self> {
        let mut extra = value.as_object()?.clone();
        for known in ["run_id", "feedback", "timestamp", "mark", "verdicts"] {
            extra.remove(known);
        }
        let verdicts = items(value, "verdicts").iter();
        Some(Self {
            run_id: text(value, "run_id")?,
            comment: text(value, "feedback").unwrap_or_default(),
            timestamp: text(value, "timestamp"),
            mark: text(value, "mark").and_then(|word| Mark::parse(&word)),
            verdicts: verdicts
                .filter_map(|item| {
                    Some(Verdict { text: text(item, "text")?, passed: truth(item, "passed")? })
                })
                .collect(),
            extra,
        })
    }

    fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("run_id".to_owned(), json!(self.run_id));
        fields.insert("feedback".to_owned(), json!(self.comment));
        if let Some(timestamp) = &self.timestamp {
            fields.insert("timestamp".to_owned(), json!(timestamp));
        }
        if let Some(mark) = self.mark {
            fields.insert("mark".to_owned(), json!(mark.as_str()));
        }
        if !self.verdicts.is_empty() {
            let verdicts = self.verdicts.iter();
            let verdicts: Vec<Value> = verdicts
                .map(|verdict| json!({"text": verdict.text, "passed": verdict.passed}))
                .collect();
            fields.insert("verdicts".to_owned(), Value::Array(verdicts));
        }
        fields.extend(self.extra.clone());
        Value::Object(fields)
    }
}

#[cfg(test)]
mod tests {
    use fs_err as fs;

    use super::*;

    fn review(run_id: &str, comment: &str, mark: Option<Mark>) -> Review {
        Review { run_id: run_id.into(), comment: comment.into(), mark, ..Review::default() }
    }

    #[test]
    fn saving_keeps_the_reviews_and_fields_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feedback.json");
        let before = r#"{"reviews": [{"run_id": "a", "feedback": "x", "stars": 3}, {"run_id": "b", "feedback": ""}],
            "status": "complete", "who": "me"}"#;
        fs::write(&path, before).unwrap();
        save(folder.path(), review("a", "better", Some(Mark::Good))).unwrap();
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
        fs::write(&path, "{ precious").unwrap();
        assert!(matches!(save(folder.path(), review("a", "", None)), Err(SaveError::Broken(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ precious");
    }

    #[test]
    fn what_we_write_is_feedback_by_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let mut given = review("eval-1-with_skill-run-1", "fine", Some(Mark::Bad));
        given.timestamp = Some("2026-01-02T03:04:05Z".to_owned());
        given.verdicts.push(Verdict { text: "a".into(), passed: false });
        let saved = save(folder.path(), given).unwrap();
        let bytes = fs::read(folder.path().join("feedback.json")).unwrap();
        let read = skillgauge_format::read::<skillgauge_format::evals::Feedback>(&bytes).unwrap();
        assert_eq!(read.value.comments(), [("eval-1-with_skill-run-1", "fine")]);
        assert_eq!(
            Feedback::parse(&serde_json::from_slice(&bytes).unwrap()),
            Feedback { status: Some("in_progress".into()), ..saved }
        );
    }

    #[test]
    fn the_form_with_a_text_for_each_eval_is_read() {
        let feedback = Feedback::parse(&json!({"eval-1": "too long", "n": 3}));
        assert_eq!(feedback.of("eval-1").unwrap().comment, "too long");
        assert_eq!(feedback.reviews().len(), 1);
    }
}
