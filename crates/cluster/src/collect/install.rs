//! From an archive to the iteration's folder: checked, unpacked beside its place, and moved in with one step.
//!
//! Several at once, each on a thread where it may block: every file of ours is synced, and a disk that is asked for one
//! at a time is slow. Nothing here needs what the coordinator keeps in mind.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{Iteration, PartialRun, RunDir, Workspace, write_atomically};
use skillgauge_format::evals::{EvalsGrading, Structural};
use skillgauge_format::record::RunRecord;
use skillgauge_format::{Dialect, read};
use skillgauge_run::grade::{self, GradingFile};

use super::CollectError;
use crate::archive::make_way;
use crate::fleet::{Fleet, FleetError};
use crate::job::{ArchiveRef, GradingCounts, ResultRecord, Standing};

/// The largest grading that is read.
const MAX_GRADING: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct Place {
    pub(super) iteration: Iteration,
    pub(super) workspace: Workspace,
    pub(super) dialect: Dialect,
}

/// What of a result is here now.
#[derive(Debug)]
pub(super) enum Arrival {
    /// The run, in its place.
    Run(Box<InstalledRun>),
    /// The grading, in the folder of its run.
    Grading,
    /// Nothing: it was lost, and has no files.
    Nothing,
    /// Nothing: it is not what it should be.
    Damaged(FleetError),
}

/// A run that is in its place.
#[derive(Debug)]
pub(super) struct InstalledRun {
    pub(super) record: RunRecord,
    /// The grading that came with it, or why it cannot be one.
    pub(super) grading: Result<Option<GradingCounts>, FleetError>,
}

/// Fetches what a result points at and puts it into its place. Called again, it does the same again.
pub(super) async fn install<F: Fleet>(
    fleet: &F,
    place: Arc<Place>,
    result: ResultRecord,
) -> Result<(ResultRecord, Arrival), CollectError> {
    if let Standing::Lost { .. } = result.standing {
        return Ok((result, Arrival::Nothing));
    }
    let arrival = match &result.archive {
        Some(archive) => place.fetch(fleet, &result, archive).await,
        None => Err(FleetError::damaged(&result.run, "it has no archive").into()),
    };
    let arrival = match arrival {
        Ok(partial) => {
            let (place, result) = (place, result.clone());
            let installing = tokio::task::spawn_blocking(move || place.install(&result, partial));
            installing.await.unwrap_or_else(|error| {
                let (action, reason) = ("putting a result into its place", error.to_string());
                Err(FleetError::Server { action, reason }.into())
            })
        }
        Err(error) => Err(error),
    };
    match arrival {
        Ok(arrival) => Ok((result, arrival)),
        Err(CollectError::Fleet(error @ FleetError::Damaged { .. })) => {
            Ok((result, Arrival::Damaged(error)))
        }
        Err(error) => Err(error),
    }
}

impl Place {
    /// Unpacks an archive beside where its files will be.
    async fn fetch<F: Fleet>(
        &self,
        fleet: &F,
        result: &ResultRecord,
        archive: &ArchiveRef,
    ) -> Result<PartialRun, CollectError> {
        let partial = self.iteration.begin_run(&result.run)?;
        let dir = partial.dir();
        archive.unpack(fleet, dir.root(), dir.root().parent().unwrap_or(dir.root())).await?;
        Ok(partial)
    }

    fn install(&self, result: &ResultRecord, partial: PartialRun) -> Result<Arrival, CollectError> {
        if let Standing::Ran { .. } = result.standing {
            return self.run(result, partial).map(|run| Arrival::Run(Box::new(run)));
        }
        // In the place where its run was made: the run is home, so nobody is there.
        let made = partial.dir();
        let installed = self.grading(&result.run, &made).map(|()| Arrival::Grading);
        // What stays is removed before anything else is put there.
        let _ = fs_err::remove_dir_all(made.root());
        installed
    }

    fn run(
        &self,
        result: &ResultRecord,
        partial: PartialRun,
    ) -> Result<InstalledRun, CollectError> {
        let run = &result.run;
        let dir = partial.dir();
        let mut record = dir.record().map_err(|error| FleetError::damaged(run, error))?;
        if record.id != run.to_string() || !record.reason.is_result() {
            return Err(FleetError::damaged(run, format!("it is of {}", record.id)).into());
        }
        // An older worker writes less into a record than it tells.
        record.skillgauge_version = Some(result.tool_version.clone());
        record.agent_version = record.agent_version.or_else(|| result.agent_version.clone());
        let kept = result.grading.map(|graded| self.keep_grading(run, &dir).map(|()| graded));
        let grading = match kept.transpose() {
            Ok(graded) => Ok(graded),
            Err(CollectError::Fleet(error @ FleetError::Damaged { .. })) => {
                // What the agent did is there all the same, and can be graded.
                let _ = fs_err::remove_file(dir.grading_file());
                Err(error)
            }
            Err(other) => return Err(other),
        };
        make_way(&dir).map_err(FleetError::Io)?;
        // Who wants to know which runs were executed more than once finds it here.
        let fleet = json!({
            "worker": result.worker,
            "tool_version": result.tool_version,
            "attempt": result.attempt,
            "delivered": result.delivered,
        });
        if let Some(execution) = record.execution.as_mut().and_then(|value| value.as_object_mut()) {
            execution.insert("fleet".to_owned(), fleet);
        }
        partial.finish(&record)?;
        Ok(InstalledRun { record, grading })
    }

    /// Looks at a grading that came with its run and is moved in with it, and syncs it as any other is.
    fn keep_grading(&self, run: &RunId, dir: &RunDir) -> Result<(), CollectError> {
        structural(run, dir)?;
        let grading = self.grading_file(run, dir)?;
        if let GradingFile::Cases(_) = grading {
            grade::store(&grading, dir, &run.configuration, &self.workspace)?;
        }
        for file in [dir.structural_file(), dir.grading_file()] {
            if file.is_file() {
                sync(&file)?;
            }
        }
        Ok(())
    }

    /// Puts the files of a grading into the run's folder, each at once.
    fn grading(&self, run: &RunId, made: &RunDir) -> Result<(), CollectError> {
        let checked = structural(run, made)?;
        let grading = self.grading_file(run, made)?;
        let dir = self.iteration.run_dir(run);
        if let Some(bytes) = checked {
            write_atomically(&dir.structural_file(), &bytes)?;
        }
        grade::store(&grading, &dir, &run.configuration, &self.workspace)?;
        Ok(())
    }

    fn grading_file(&self, run: &RunId, dir: &RunDir) -> Result<GradingFile, FleetError> {
        let bytes = read_bounded(&dir.grading_file(), run)?;
        let grading = match self.dialect {
            Dialect::Cases => grade::read_cases_grading(&bytes)
                .map(|grading| GradingFile::Cases(Box::new(grading))),
            Dialect::Evals | Dialect::Trigger => {
                read::<EvalsGrading>(&bytes).map(|read| GradingFile::Evals(Box::new(read.value)))
            }
        };
        grading.map_err(|error| FleetError::damaged(run, error))
    }
}

/// What the checks found, if there were any.
fn structural(run: &RunId, dir: &RunDir) -> Result<Option<Vec<u8>>, FleetError> {
    if !dir.structural_file().exists() {
        return Ok(None);
    }
    let bytes = read_bounded(&dir.structural_file(), run)?;
    read::<Structural>(&bytes).map_err(|error| FleetError::damaged(run, error))?;
    Ok(Some(bytes))
}

fn sync(file: &Path) -> Result<(), FleetError> {
    Ok(fs_err::File::open(file)?.sync_data()?)
}

fn read_bounded(path: &Path, run: &RunId) -> Result<Vec<u8>, FleetError> {
    match fs_err::symlink_metadata(path) {
        // What is in an archive is its maker's business, and no reason to stop for whoever collects.
        Ok(metadata) if !metadata.is_file() => {
            let name = path.file_name().unwrap_or_default();
            Err(FleetError::damaged(run, format!("{} is no file", name.display())))
        }
        Ok(metadata) if metadata.len() <= MAX_GRADING => Ok(fs_err::read(path)?),
        Ok(_) => Err(FleetError::damaged(run, "its grading is too large")),
        Err(error) => Err(FleetError::damaged(run, error)),
    }
}
