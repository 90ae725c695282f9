//! Finds the stored runs below some folders, and what is needed to grade them.
//!
//! A folder may be a run, a case, an iteration or a whole workspace. The suite and the skill are those that the iteration
//! kept, unless the caller names others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::iteration::layout::{StoredRun, stored_runs};
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{Iteration, RunDir, Workspace, WorkspaceError, in_words};
use skillgauge_format::record::IterationRecord;
use skillgauge_format::{ReadError, Suite};

use super::evaluator::{GradeTask, OldSkill, Subject};

/// What the caller names instead of what an iteration kept.
#[derive(Clone, Debug, Default)]
pub struct Instead {
    pub suite: Option<PathBuf>,
    pub skill: Option<PathBuf>,
}

/// Why stored runs cannot be graded.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("there is no run in {}", path.display())]
    NoRuns { path: PathBuf },
    #[error("{}: {}", path.display(), in_words(source))]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} has no suite.json, which would be the suite that it was run with", iteration.display())]
    NoSuite { iteration: PathBuf },
    #[error("{}: {source}", path.display())]
    BadSuite {
        path: PathBuf,
        #[source]
        source: ReadError,
    },
    /// The record of an iteration is broken.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error("{} is a run of the case `{case}`, which the suite does not have", path.display())]
    NoCase { path: PathBuf, case: String },
}

impl FindError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoRuns { .. } => {
                "give the folder of a run or of an iteration, such as skill-workspace/iteration-1"
            }
            Self::Io { .. } => "check the path and the permissions",
            Self::NoSuite { .. } => "--evals FILE names the suite",
            Self::BadSuite { .. } => "`skillgauge schema --check FILE` shows what is wrong",
            Self::Workspace(error) => error.hint(),
            Self::NoCase { .. } => "--evals FILE names the suite that it was run with",
        }
    }
}

/// All runs below the folders, each once, in the order of iteration and id.
pub fn find_runs(paths: &[PathBuf], instead: &Instead) -> Result<Vec<GradeTask>, FindError> {
    let mut found: BTreeMap<PathBuf, StoredRun> = BTreeMap::new();
    for path in paths {
        let runs = stored_runs(path)
            .map_err(|source| FindError::Io { path: path.clone(), source })?
            .into_iter()
            .filter(|found| can_be_graded(&RunDir::at(&found.run.path)));
        let count = runs.map(|run| found.insert(run.run.path.clone(), run)).count();
        if count == 0 {
            return Err(FindError::NoRuns { path: path.clone() });
        }
    }
    let mut subjects: BTreeMap<PathBuf, Arc<Subject>> = BTreeMap::new();
    let mut tasks = Vec::with_capacity(found.len());
    for (path, StoredRun { iteration, case, run }) in found {
        if !subjects.contains_key(&iteration) {
            subjects.insert(iteration.clone(), Arc::new(Subject::read(&iteration, instead)?));
        }
        let subject = Arc::clone(&subjects[&iteration]);
        let case = case.to_string();
        if subject.case(&case).is_none() {
            return Err(FindError::NoCase { path, case });
        }
        let number = u32::try_from(run.number).unwrap_or(u32::MAX);
        let id = RunId { case, configuration: run.configuration, number };
        tasks.push((iteration, GradeTask { id, run: RunDir::at(path), subject }));
    }
    tasks.sort_by(|(one, task), (other, with)| (one, &task.id).cmp(&(other, &with.id)));
    Ok(tasks.into_iter().map(|(_, task)| task).collect())
}

fn can_be_graded(run: &RunDir) -> bool {
    run.is_complete() || run.transcript_file().is_file() || run.outputs().is_dir()
}

impl Subject {
    /// What an iteration says of itself, without its checks. Blocks.
    pub fn read(root: &Path, instead: &Instead) -> Result<Self, FindError> {
        let iteration = Iteration::at(root);
        let record = iteration.record_file().is_file().then(|| iteration.record()).transpose()?;
        // The skill may have another suite by now: what a run is graded by is never guessed.
        let kept = Some(iteration.suite_file()).filter(|path| path.is_file());
        let path = instead
            .suite
            .clone()
            .or(kept)
            .ok_or_else(|| FindError::NoSuite { iteration: root.to_owned() })?;
        let bytes =
            fs_err::read(&path).map_err(|source| FindError::Io { path: path.clone(), source })?;
        let suite = Suite::read(&bytes).map_err(|source| FindError::BadSuite { path, source })?;
        Ok(Self::of_iteration(&iteration, record.as_ref(), suite.value, instead.skill.as_deref()))
    }

    /// The same for a suite that was read. `skill` is the one that somebody names instead of the kept one.
    pub fn of_iteration(
        iteration: &Iteration,
        record: Option<&IterationRecord>,
        suite: Suite,
        skill: Option<&Path>,
    ) -> Self {
        let parent = iteration.root().parent().unwrap_or(iteration.root());
        let folder_of = |version: u64| parent.join(format!("v{version}")).join("skill");
        // The skill may have changed since; what was run of a stored version has not.
        let stored = record.and_then(|record| record.version).map(folder_of);
        let stored = stored.filter(|folder| folder.is_dir());
        let present = record.map(|record| PathBuf::from(&record.skill_path));
        let named = skill.map(Path::to_owned).or(present).filter(|folder| folder.is_dir());
        let old = record.and_then(|record| record.baseline.as_ref()?.version);
        Self {
            checks: Vec::new(),
            skill: if skill.is_some() { named.clone() } else { stored.or_else(|| named.clone()) },
            inputs_from: named,
            skill_name: record.map(|record| record.skill_name.clone()),
            version: record.map(IterationRecord::graded_version).unwrap_or_default(),
            old: old.map(|version| OldSkill { folder: folder_of(version), version }),
            workspace: Workspace::at(parent),
            is_recorded: record.is_some(),
            model: record
                .and_then(|record| record.executor_model.clone().or_else(|| record.model.clone())),
            suite,
        }
    }
}
