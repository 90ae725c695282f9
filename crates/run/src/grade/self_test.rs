//! Whether a judge can tell a good answer from none at all, and from an answer to something else.
//!
//! Nobody has to label anything for it: a case's reference answer (a folder of files, or what `expected_output`
//! describes) should pass, an empty answer and the reference answer of another case should not. All three are judged as a
//! run would be, with the same prompt and the same looking up of quotes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::judge::answer::Absence;
use skillgauge_core::scratch::PrivateFolder;
use skillgauge_core::workspace::RunDir;
use skillgauge_format::cases::PASSING_SCORE;
use skillgauge_format::{Case, Suite};
use tokio_util::sync::CancellationToken;

use super::evaluator::{Evaluator, NotGraded};
use super::{GradeInput, Graded, GradingFile};
use crate::pool::Bounded;

/// The file that a text stands in that is no file of its own.
const ANSWER: &str = "answer.md";

/// What is given to the judge in the place of an agent's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plant {
    /// The answer that the suite calls right.
    Reference,
    /// Nothing at all.
    Empty,
    /// The reference answer of another case.
    Foreign(String),
}

/// Where a right answer comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reference {
    /// A folder with the files of an answer.
    Files(PathBuf),
    /// What the suite says of the right answer.
    Description(String),
}

/// What the judge said of one expectation of a planted answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlantedVerdict {
    pub case: String,
    pub plant: Plant,
    pub expectation: String,
    pub passed: bool,
    /// Whether it passed and no quote proves it.
    pub voided: bool,
}

/// What came out.
#[derive(Debug, Default)]
pub struct SelfTest {
    /// Cases whose reference is the description of an answer, and no answer.
    pub described: Vec<String>,
    pub verdicts: Vec<PlantedVerdict>,
    /// What has no verdict, and why.
    pub errors: Vec<String>,
    /// Cases that have no reference answer, or nothing to judge.
    pub left_out: Vec<String>,
    /// Verdicts on an empty answer that are left out: that something is absent it fulfils.
    pub absent: usize,
}

/// Why nothing was tried.
#[derive(Debug, thiserror::Error)]
pub enum SelfTestError {
    #[error("no case has a reference answer and something to judge")]
    NoReference,
    #[error("the reference answer of {case}, {}: {source}", path.display())]
    Unreadable {
        case: String,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the reference answers in {}: {source}", folder.display())]
    Folder {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("no private folder can be made: {0}")]
    Scratch(#[source] std::io::Error),
}

impl SelfTestError {
    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoReference => {
                "put the files of a right answer into evals/reference/<case id>/ of the skill, or give the case `expected_output`"
            }
            Self::Unreadable { .. } | Self::Folder { .. } => {
                "--reference names a folder with a folder of files for each case id"
            }
            Self::Scratch(_) => "check the permissions and the space of the temporary folder",
        }
    }
}

/// A case with its answers.
struct Planted {
    case: String,
    plant: Plant,
    run: PathBuf,
}

/// The right answers of a suite.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// By case.
    found: Vec<(String, Reference)>,
    /// Cases that have none, or nothing to judge.
    left_out: Vec<String>,
}

impl References {
    /// How many cases have one.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether no case has one.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Takes `folder/<case id>/` of each case, as `lint-evals --reference` does, or else its `expected_output`.
    pub fn of(suite: &Suite, folder: Option<&Path>) -> Result<Self, SelfTestError> {
        let folders = folder.map(list).transpose()?.unwrap_or_default();
        let mut references = Self::default();
        for case in suite.cases() {
            let id = case.id().into_owned();
            let is_judged = !case.expectations().is_empty() || case.rubric().is_some();
            let files = folders.iter().find(|(name, _)| *name == id);
            let described = case.expected_output().filter(|text| !text.trim().is_empty());
            let reference = match (files, described) {
                _ if !is_judged => None,
                (Some((_, path)), _) => Some(Reference::Files(path.clone())),
                (None, Some(text)) => Some(Reference::Description(text.to_owned())),
                (None, None) => None,
            };
            match reference {
                Some(reference) => references.found.push((id, reference)),
                None => references.left_out.push(id),
            }
        }
        if references.is_empty() { Err(SelfTestError::NoReference) } else { Ok(references) }
    }
}

/// The folders in a folder by name. Links are left out: they may lead anywhere.
fn list(folder: &Path) -> Result<Vec<(String, PathBuf)>, SelfTestError> {
    let unreadable = |source| SelfTestError::Folder { folder: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    Ok(found)
}

impl Evaluator {
    /// Has every answer judged, so many at once.
    pub async fn self_test(
        self: Arc<Self>,
        suite: &Suite,
        references: References,
        skill: &Path,
        scratch: &Path,
        jobs: usize,
        cancel: &CancellationToken,
    ) -> Result<SelfTest, SelfTestError> {
        let References { found: references, left_out } = references;
        let folder = PrivateFolder::new(scratch, "self-test").map_err(SelfTestError::Scratch)?;
        let planted = plant(&references, folder.path())?;
        // A gate would keep the empty answer from the judge.
        let suite = Arc::new(suite.without_checks());
        let mut under_way = Bounded::new(jobs);
        for (place, planted) in planted.into_iter().enumerate() {
            let (judge, suite) = (Arc::clone(&self), Arc::clone(&suite));
            let (cancel, skill) = (cancel.clone(), skill.to_owned());
            under_way.begin(place, async move {
                let end = judge.judge_planted(&suite, &planted, &skill, &cancel).await;
                (planted, end)
            });
        }
        let mut ends = under_way.all().await;
        ends.sort_by_key(|(place, _)| *place);
        let is_described = |(case, reference): &(String, Reference)| {
            matches!(reference, Reference::Description(_)).then(|| case.clone())
        };
        let described = references.iter().filter_map(is_described).collect();
        let mut found = SelfTest { described, left_out, ..SelfTest::default() };
        for (_, end) in ends {
            match end {
                Ok((planted, Ok(graded))) => found.take(&planted, graded),
                Ok((planted, Err(error))) => {
                    found.errors.push(format!("{}, {}: {error}", planted.case, planted.plant));
                }
                Err(panic) => found.errors.push(panic.to_string()),
            }
        }
        Ok(found)
    }

    async fn judge_planted(
        &self,
        suite: &Suite,
        planted: &Planted,
        skill: &Path,
        cancel: &CancellationToken,
    ) -> Result<Graded, NotGraded> {
        if cancel.is_cancelled() {
            return Err(NotGraded::Cancelled);
        }
        let is_meant = |case: &Case<'_>| case.id() == planted.case.as_str();
        let case = suite.cases().find(is_meant);
        let case = case.ok_or_else(|| NotGraded::NoCase(planted.case.clone()))?;
        let run = RunDir::at(&planted.run);
        let input = GradeInput {
            suite,
            case,
            run: &run,
            transcript: None,
            structural: None,
            metrics: None,
            timing: None,
            skill_dir: Some(skill),
            other_skill: None,
            version: 0,
            run_number: 1,
            executor_model: None,
            // There are no arms to be blind to.
            skill_name: None,
        };
        self.grade(&input, cancel).await
    }
}

impl SelfTest {
    fn take(&mut self, planted: &Planted, graded: Graded) {
        let Planted { case, plant, .. } = planted;
        let told = graded.judge_errors.iter().map(|error| format!("{case}, {plant}: {error}"));
        self.errors.extend(told);
        let (absent, verdicts) = (&mut self.absent, &mut self.verdicts);
        let mut add = |expectation: &str, passed: bool, voided: bool| {
            if *plant == Plant::Empty && Absence::of(expectation) == Absence::Whole {
                *absent += 1;
                return;
            }
            let (case, plant) = (case.clone(), plant.clone());
            let expectation = expectation.to_owned();
            verdicts.push(PlantedVerdict { case, plant, expectation, passed, voided });
        };
        match graded.file {
            Some(GradingFile::Evals(grading)) => {
                for found in grading.expectations.iter().flatten() {
                    add(&found.text, found.passed, found.voided == Some(true));
                }
                for (name, found) in grading.rubric_scores.iter().flatten() {
                    add(name, found.score >= PASSING_SCORE, false);
                }
            }
            Some(GradingFile::Cases(grading)) => {
                for found in &grading.results {
                    add(&found.criterion, found.passed, found.voided == Some(true));
                }
            }
            None => {}
        }
    }
}

impl std::fmt::Display for Plant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reference => f.write_str("reference answer"),
            Self::Empty => f.write_str("empty answer"),
            Self::Foreign(case) => write!(f, "answer of {case}"),
        }
    }
}

/// Makes a run folder for each answer of each case. The only case of a suite has nobody else's answer.
fn plant(references: &[(String, Reference)], folder: &Path) -> Result<Vec<Planted>, SelfTestError> {
    let mut all = Vec::new();
    for (place, (case, reference)) in references.iter().enumerate() {
        let (other, foreign) = &references[(place + 1) % references.len()];
        let mut plants = vec![(Plant::Reference, Some(reference)), (Plant::Empty, None)];
        if other != case {
            plants.push((Plant::Foreign(other.clone()), Some(foreign)));
        }
        for (plant, answer) in plants {
            let run = folder.join(all.len().to_string());
            put(answer, &run.join("outputs")).map_err(|source| SelfTestError::Unreadable {
                case: case.clone(),
                path: run.clone(),
                source,
            })?;
            all.push(Planted { case: case.clone(), plant, run });
        }
    }
    Ok(all)
}

fn put(answer: Option<&Reference>, outputs: &Path) -> std::io::Result<()> {
    fs_err::create_dir_all(outputs)?;
    match answer {
        None => Ok(()),
        Some(Reference::Description(text)) => fs_err::write(outputs.join(ANSWER), text),
        Some(Reference::Files(path)) => copy_files(path, outputs),
    }
}

/// Regular files only: a link of a reference answer leads nowhere that a judge should look.
fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let (kind, place) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            fs_err::create_dir_all(&place)?;
            copy_files(&entry.path(), &place)?;
        } else if kind.is_file() {
            fs_err::copy(entry.path(), &place)?;
        }
    }
    Ok(())
}
