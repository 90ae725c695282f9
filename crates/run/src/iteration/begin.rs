//! Begins an iteration, or resumes the one that was not finished.

use std::path::Path;

use skillgauge_core::plan::Shard;
use skillgauge_core::workspace::{Iteration, Workspace, WorkspaceError, differences, write_json};
use skillgauge_format::evals::EvalMetadata;
use skillgauge_format::part::{EvalId, Statement};
use skillgauge_format::record::IterationRecord;
use skillgauge_format::{Case, Expectation, Extra, Suite};

use super::drive::IterationResult;
use super::prepare::Prepared;
use crate::now;

/// Whether an unfinished iteration is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// Go on with it if it measures the same, else begin a new one.
    IfSame,
    Required,
    /// Begin a new one whatever is unfinished.
    Never,
}

/// An iteration that can be filled.
#[derive(Debug)]
pub struct OpenIteration {
    pub iteration: Iteration,
    pub record: IterationRecord,
    /// Whether it was begun earlier.
    pub resumed: bool,
    /// The unfinished iteration that was not resumed, and what is different now.
    pub left: Option<(u64, Vec<String>)>,
}

impl OpenIteration {
    /// Writes down what has become of it: whether the same command would find nothing left to do. Blocks.
    ///
    /// A part of a plan is never the whole.
    pub fn conclude(
        &self,
        result: &IterationResult,
        shard: Option<Shard>,
        is_interrupted: bool,
    ) -> Result<(), WorkspaceError> {
        let is_complete = result.is_complete() && shard.is_none();
        if is_complete {
            self.iteration.clear_partial()?;
        }
        let partial = match (&result.stopped, shard) {
            _ if is_complete => None,
            (Some(why), _) => Some(why.clone()),
            (None, _) if is_interrupted => Some("interrupted".to_owned()),
            (None, Some(shard)) if result.is_complete() => {
                Some(format!("only part {shard} of the plan is here"))
            }
            (None, _) => Some(result.lacking()),
        };
        let mut runs = self.iteration.runs().into_iter();
        let record = IterationRecord {
            // What was not run because it was decided before is not missing.
            runs_per_configuration: result
                .replicates
                .filter(|_| is_complete)
                .unwrap_or(self.record.runs_per_configuration),
            finished: is_complete.then(now),
            partial,
            executor_model: runs.find_map(|(_, run)| run.record().ok()?.model),
            ..self.record.clone()
        };
        self.iteration.write_record(&record)
    }
}

/// Why there is no iteration to fill.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// There is nothing to go on with.
    #[error("there is no unfinished iteration in {}", root.display())]
    NothingToResume { root: std::path::PathBuf },
    /// What was not finished measures something else.
    #[error("iteration-{number} can't be resumed: {}", differences.join("; "))]
    Differs { number: u64, differences: Vec<String> },
}

impl BeginError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Workspace(error) => error.hint(),
            Self::NothingToResume { .. } => "leave --resume out to begin a new iteration",
            Self::Differs { .. } => {
                "put back what was changed, or leave --resume out to begin a new iteration"
            }
        }
    }
}

/// Begins or goes on. The caller holds the workspace's lock. Blocks.
pub fn begin(
    workspace: &Workspace,
    prepared: &Prepared,
    continuation: Continuation,
) -> Result<OpenIteration, BeginError> {
    let newest = workspace.newest()?;
    let unfinished = newest.as_ref().and_then(|iteration| {
        let record = iteration.record().ok()?;
        record.finished.is_none().then_some((iteration.clone(), record))
    });
    let mut left = None;
    if let Some((iteration, record)) = unfinished {
        if record.key == prepared.record.key && continuation != Continuation::Never {
            iteration.clear_partial()?;
            // Which outcome decides changes no run, so it may be another one this time.
            let record = IterationRecord {
                primary_outcome: prepared.record.primary_outcome,
                margin: prepared.record.margin,
                ..record
            };
            return Ok(OpenIteration { iteration, record, resumed: true, left: None });
        }
        let number = iteration.number().unwrap_or_default();
        let differences = differences(&record, &prepared.record);
        if continuation == Continuation::Required {
            return Err(BeginError::Differs { number, differences });
        }
        left = Some((number, differences)).filter(|_| continuation != Continuation::Never);
    } else if continuation == Continuation::Required {
        return Err(BeginError::NothingToResume { root: workspace.root().to_owned() });
    }
    let iteration = make(workspace, &prepared.suite, &prepared.record)?;
    Ok(OpenIteration { iteration, record: prepared.record.clone(), resumed: false, left })
}

/// Begins an iteration that another machine has recorded. The caller holds the workspace's lock. Blocks.
pub fn begin_recorded(
    workspace: &Workspace,
    suite: &Suite,
    record: IterationRecord,
) -> Result<OpenIteration, WorkspaceError> {
    let iteration = make(workspace, suite, &record)?;
    Ok(OpenIteration { iteration, record, resumed: false, left: None })
}

/// Where an iteration is put together. There is one at most: whoever is here holds the workspace's lock.
const DRAFT: &str = ".draft-iteration";

/// Puts an iteration together elsewhere and moves it to its place in one step: one that was killed on the way has no
/// number, and the next attempt gets it.
fn make(
    workspace: &Workspace,
    suite: &Suite,
    record: &IterationRecord,
) -> Result<Iteration, WorkspaceError> {
    let number = workspace.iterations()?.last().map_or(1, |last| last + 1);
    let (iteration, draft) = (workspace.iteration(number), &*workspace.root().join(DRAFT));
    let io = |path: &Path, source| WorkspaceError::Io { path: path.to_owned(), source };
    match fs_err::remove_dir_all(draft) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(draft, error)),
        Ok(()) | Err(_) => {}
    }
    write_files(&Iteration::at(draft), suite, record)?;
    fs_err::rename(draft, iteration.root()).map_err(|source| io(iteration.root(), source))?;
    Ok(iteration)
}

fn write_files(
    iteration: &Iteration,
    suite: &Suite,
    record: &IterationRecord,
) -> Result<(), WorkspaceError> {
    let io = |path: &Path, source| WorkspaceError::Io { path: path.to_owned(), source };
    fs_err::create_dir_all(iteration.root()).map_err(|source| io(iteration.root(), source))?;
    let text = suite.to_json().map_err(|error| WorkspaceError::Unwritable {
        path: iteration.suite_file(),
        message: error.to_string(),
    })?;
    skillgauge_core::workspace::write_atomically(&iteration.suite_file(), text.as_bytes())?;
    for case in suite.cases().filter(|case| record.case_ids.contains(&case.id().into_owned())) {
        let folder = iteration.case_dir(&case.id());
        fs_err::create_dir_all(&folder).map_err(|source| io(&folder, source))?;
        write_json(&folder.join("eval_metadata.json"), &metadata(case))?;
    }
    iteration.write_record(record)
}

fn metadata(case: Case<'_>) -> EvalMetadata {
    let checks = case.checks().iter().map(|check| Statement::Text(check.description.clone()));
    let judged = case.expectations().into_iter().map(|expectation| match expectation {
        Expectation::Statement(statement) => statement.clone(),
        Expectation::Criterion(criterion) => Statement::Text(criterion.description.clone()),
    });
    EvalMetadata {
        eval_id: match case {
            Case::Criteria(case) => EvalId::Text(case.id.to_string()),
            Case::Eval(eval) => eval.id.clone(),
        },
        eval_name: Some(case.title().into_owned()),
        prompt: case.prompt().to_owned(),
        assertions: Some(checks.chain(judged).collect()),
        extra: Extra::new(),
    }
}
