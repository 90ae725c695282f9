//! Checks finished runs: reads a run's folder, evaluates its checks, and runs their scripts.
//!
//! What a check means is decided in `skillgauge-core`; here are the processes. The invariant: a script gets none of the
//! user's keys, and nothing that it has started outlives it.

mod script;

pub use script::{BlockingScripts, SCRIPT_TIMEOUT, Scripts};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::check::{CheckError, CompiledChecks, StoredRun, StoredRunError, evaluate};
use skillgauge_core::workspace::{RunDir, WorkspaceError, write_json};
use skillgauge_format::Case;
use skillgauge_format::evals::Structural;
use tokio::runtime::Handle;

/// A finished run, and what it is checked for.
#[derive(Clone, Debug)]
pub struct CheckJob {
    pub run_dir: PathBuf,
    /// The checks of its case.
    pub checks: Arc<CompiledChecks>,
    /// The skill under test, if it is known.
    pub skill_dir: Option<PathBuf>,
    /// The name of the skill under test, if it is known.
    pub skill_name: Option<String>,
    /// The input files of the case, see [`input_files`].
    pub inputs: Vec<PathBuf>,
}

/// Why a run could not be checked. None of these is a failed check.
#[derive(Debug, thiserror::Error)]
pub enum CheckRunError {
    /// The run's folder cannot be used.
    #[error(transparent)]
    Stored(#[from] StoredRunError),
    /// A check could not be carried out.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The record of the run is broken, so nobody knows what became of it.
    #[error("the record of the run cannot be used")]
    Record(#[source] WorkspaceError),
    /// The result could not be written.
    #[error(transparent)]
    Write(#[from] WorkspaceError),
    /// A mistake in a check.
    #[error("the checks of {0:?} broke off; this is a mistake of skillgauge, please report it")]
    Broken(PathBuf),
}

/// Checks one finished run. Nothing is written.
///
/// The work is done on a thread for blocking work, so that many runs can be checked at once.
pub async fn check_run(scripts: &Scripts, job: CheckJob) -> Result<Structural, CheckRunError> {
    let folder = job.run_dir.clone();
    let runner = scripts.on(Handle::current());
    let work = tokio::task::spawn_blocking(move || -> Result<Structural, CheckRunError> {
        let stored = StoredRun::read(&job.run_dir)?;
        let (skill_dir, skill_name) = (job.skill_dir.as_deref(), job.skill_name.as_deref());
        let context = stored.context(skill_dir, skill_name, &job.inputs, &runner);
        Ok(evaluate(&job.checks, &context)?)
    });
    work.await.map_err(|_| CheckRunError::Broken(folder))?
}

/// Checks one finished run and writes its `structural.json`.
pub async fn check_and_store(
    scripts: &Scripts,
    job: CheckJob,
) -> Result<Structural, CheckRunError> {
    let run = RunDir::at(&job.run_dir);
    if run.is_complete() {
        run.record().map_err(CheckRunError::Record)?;
    }
    let file = run.structural_file();
    let structural = check_run(scripts, job).await?;
    write_json(&file, &structural)?;
    Ok(structural)
}

/// Where the input files of a case are; those that are gone are left out.
pub fn input_files(case: Case<'_>, skill: Option<&Path>, workspace: Option<&Path>) -> Vec<PathBuf> {
    let roots = [skill, workspace];
    let find = |file: &String| {
        roots.iter().flatten().map(|root| root.join(file)).find(|path| path.is_file())
    };
    case.files().iter().filter_map(find).collect()
}
