//! Finds the stored runs below some folders, and what is needed to grade them.
//!
//! A folder may be a run, a case, an iteration or a whole workspace. The suite and the skill are those that the iteration
//! kept, unless the caller names others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{Iteration, RunDir, Workspace, WorkspaceError, in_words};
use skillgauge_format::part::Configuration;
use skillgauge_format::record::IterationRecord;
use skillgauge_format::{ReadError, Suite};

/// A workspace has iterations with cases with configurations with runs.
const MAX_DEPTH: usize = 4;

/// What the caller names instead of what an iteration kept.
#[derive(Clone, Debug, Default)]
pub struct Instead {
    pub suite: Option<PathBuf>,
    pub skill: Option<PathBuf>,
}

/// A stored run that can be graded.
#[derive(Clone, Debug)]
pub struct GradeTask {
    pub id: RunId,
    pub run: RunDir,
    /// The iteration that it belongs to.
    pub iteration: Iteration,
    /// The workspace of that iteration.
    pub workspace: Workspace,
    /// The suite that it is a run of.
    pub suite: Arc<Suite>,
    /// The skill that was installed, as far as it is known.
    pub skill_dir: Option<PathBuf>,
    /// The version of that skill.
    pub version: u64,
    /// The model that did the work, as far as the iteration says.
    pub executor_model: Option<String>,
}

/// Why stored runs cannot be graded.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// There is nothing.
    #[error("there is no run in {}", path.display())]
    NoRuns { path: PathBuf },
    /// A folder is called like a run and lies elsewhere.
    #[error("{} is no run of an iteration; expected <iteration>/eval-<id>/<configuration>/run-<number>", path.display())]
    NotInIteration { path: PathBuf },
    /// A file or folder cannot be read.
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
        /// What is wrong with it.
        #[source]
        source: ReadError,
    },
    /// The record of an iteration is broken.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The suite has no such case.
    #[error("{} is a run of the case `{case}`, which the suite does not have", path.display())]
    NoCase { path: PathBuf, case: String },
}

impl FindError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoRuns { .. } | Self::NotInIteration { .. } => {
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
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    for path in paths {
        let real = fs_err::canonicalize(path)
            .map_err(|source| FindError::Io { path: path.clone(), source })?;
        let before = found.len();
        collect(&real, 0, &mut found);
        if found.len() == before && !found.iter().any(|run| run.starts_with(&real)) {
            return Err(FindError::NoRuns { path: path.clone() });
        }
    }
    let mut iterations: BTreeMap<PathBuf, Kept> = BTreeMap::new();
    let mut tasks = Vec::with_capacity(found.len());
    for path in found {
        let (root, id) =
            place(&path).ok_or_else(|| FindError::NotInIteration { path: path.clone() })?;
        if !iterations.contains_key(&root) {
            iterations.insert(root.clone(), Kept::read(&root, instead)?);
        }
        if let Some(kept) = iterations.get(&root) {
            tasks.push(kept.task(id, path, instead)?);
        }
    }
    tasks.sort_by(|one, other| {
        one.iteration.root().cmp(other.iteration.root()).then_with(|| one.id.cmp(&other.id))
    });
    Ok(tasks)
}

fn collect(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    if is_run(folder) {
        found.insert(folder.to_owned());
        return;
    }
    if depth == MAX_DEPTH {
        return;
    }
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !entry.file_name().to_string_lossy().starts_with('.') {
            collect(&entry.path(), depth + 1, found);
        }
    }
}

fn is_run(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_named = name.strip_prefix("run-").is_some_and(|number| number.parse::<u32>().is_ok());
    let run = RunDir::at(folder);
    is_named && (run.is_complete() || run.transcript_file().is_file() || run.outputs().is_dir())
}

/// The iteration of a run, and which run of it.
fn place(run: &Path) -> Option<(PathBuf, RunId)> {
    let root = run.ancestors().nth(3)?;
    let id = run.strip_prefix(root).ok()?.to_str()?.parse().ok()?;
    Some((root.to_owned(), id))
}

fn version_folder(workspace: &Path, version: u64) -> PathBuf {
    workspace.join(format!("v{version}")).join("skill")
}

struct Kept {
    iteration: Iteration,
    record: Option<IterationRecord>,
    suite: Arc<Suite>,
}

impl Kept {
    fn read(root: &Path, instead: &Instead) -> Result<Self, FindError> {
        let iteration = Iteration::at(root);
        let record =
            if iteration.record_file().is_file() { Some(iteration.record()?) } else { None };
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
        Ok(Self { iteration, record, suite: Arc::new(suite.value) })
    }

    fn task(&self, id: RunId, path: PathBuf, instead: &Instead) -> Result<GradeTask, FindError> {
        if !self.suite.cases().any(|case| case.id() == id.case.as_str()) {
            return Err(FindError::NoCase { path, case: id.case });
        }
        let parent = self.iteration.root().parent().unwrap_or(self.iteration.root());
        let record = self.record.as_ref();
        let old = record
            .and_then(|record| record.baseline.as_ref()?.version)
            .filter(|_| id.configuration == Configuration::OldSkill);
        let (skill_dir, version) = match (old, &id.configuration) {
            (Some(version), _) => (Some(version_folder(parent, version)), version),
            (None, Configuration::OldSkill) => (None, 0),
            (None, _) => {
                // The skill may have changed since; what was run of a stored version has not.
                let stored = record.and_then(|record| record.version);
                let stored = stored.map(|version| version_folder(parent, version));
                let present = record.map(|record| PathBuf::from(&record.skill_path));
                let kept = stored.filter(|folder| folder.is_dir()).or(present);
                let version = record.map(IterationRecord::graded_version).unwrap_or_default();
                (instead.skill.clone().or(kept), version)
            }
        };
        let model = record
            .and_then(|record| record.executor_model.clone().or_else(|| record.model.clone()));
        Ok(GradeTask {
            id,
            run: RunDir::at(path),
            workspace: Workspace::at(parent),
            iteration: self.iteration.clone(),
            suite: Arc::clone(&self.suite),
            skill_dir: skill_dir.filter(|folder| folder.is_dir()),
            version,
            executor_model: model,
        })
    }
}
