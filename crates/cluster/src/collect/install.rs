//! From an archive to the iteration's folder: checked, unpacked beside its place, and moved in with one step.

use serde_json::json;
use skillgauge_core::package::Links;
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{RunDir, write_atomically};
use skillgauge_format::cases::CasesGrading;
use skillgauge_format::evals::EvalsGrading;
use skillgauge_format::record::RunRecord;
use skillgauge_format::{Dialect, Number, read};
use skillgauge_run::grade::{self, GradingFile};
use skillgauge_run::iteration::IterationEvent;

use super::{CollectError, Collection};
use crate::fleet::{Fleet, FleetError};
use crate::job::{ArchiveRef, Queue, ResultRecord, Standing};
use crate::worker::unpack;

/// The largest grading that is read.
const MAX_GRADING: u64 = 64 << 20;

impl<F: Fleet> Collection<'_, F> {
    /// Puts a run into its place and has it graded. One whose archive is damaged is run again.
    pub(super) async fn take_run(&mut self, record: &ResultRecord) -> Result<(), CollectError> {
        let run = &record.run;
        let installed = match &record.archive {
            Some(archive) => self.install_run(run, archive, record).await,
            None => Err(damaged(run, "it has no archive").into()),
        };
        let stored = match installed {
            Err(CollectError::Fleet(error @ FleetError::Damaged { .. })) => {
                self.trouble(&format!("{run} is run again: {error}"));
                let token = crate::id::RunToken::of(&self.id, run);
                return Ok(self.fleet.forget(Queue::Runs, &self.id, &token).await?);
            }
            other => other?,
        };
        self.here.insert(run.clone());
        self.lost.remove(run);
        self.note(record);
        // Limits are looked at between results; what was paid for is kept.
        let _ = self.budget.take_agent_call();
        self.budget.add_cost(stored.cost_usd.map(Number::as_f64));
        self.teller.tell(&IterationEvent::RunEnded {
            id: run.clone(),
            outcome: stored.outcome,
            reason: stored.reason,
            seconds: stored.seconds.as_f64(),
            tokens: stored.total_tokens,
            cost_usd: stored.cost_usd.map(Number::as_f64),
            skill_loaded: stored.skill_loaded,
        })?;
        self.publish(Queue::Grades, std::slice::from_ref(run)).await
    }

    fn note(&mut self, record: &ResultRecord) {
        self.collected.tool_versions.insert(record.tool_version.clone());
        self.collected.agent_versions.extend(record.agent_version.clone());
        self.collected.given_out_again += usize::from(record.delivered > 1);
    }

    async fn install_run(
        &self,
        run: &RunId,
        archive: &ArchiveRef,
        result: &ResultRecord,
    ) -> Result<RunRecord, CollectError> {
        let folder = tempfile::tempdir().map_err(FleetError::Io)?;
        let file = folder.path().join("archive.zip");
        self.fleet.get_archive(archive, &file).await?;
        let partial = self.iteration.begin_run(run)?;
        let dir = partial.dir();
        unpack(&file, dir.root(), Links::Refused, &archive.name)?;
        let mut record = dir.record().map_err(|error| damaged(run, error))?;
        if record.id != run.to_string() || !record.reason.is_result() {
            return Err(damaged(run, format!("it is of {}", record.id)).into());
        }
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
        Ok(record)
    }

    /// Puts the files of a grading into the run's folder, each at once.
    pub(super) async fn take_grade(&mut self, record: &ResultRecord) -> Result<(), CollectError> {
        let run = &record.run;
        let installed = match &record.archive {
            Some(archive) => self.install_grade(run, archive).await,
            None => Err(damaged(run, "its grading has no archive").into()),
        };
        if let Err(CollectError::Fleet(error @ FleetError::Damaged { .. })) = &installed {
            self.trouble(&format!("{run} is graded again: {error}"));
            let token = crate::id::RunToken::of(&self.id, run);
            return Ok(self.fleet.forget(Queue::Grades, &self.id, &token).await?);
        }
        installed?;
        let Standing::Graded { passed, total, gated, judge_errors, cost_usd, calls } =
            record.standing
        else {
            return Ok(());
        };
        self.graded.insert(run.clone());
        self.not_graded.remove(run);
        self.collected.tool_versions.insert(record.tool_version.clone());
        self.collected.driven.judge_errors += judge_errors;
        if calls > 0 {
            self.budget.add_model_calls(calls);
            self.budget.add_cost(cost_usd);
        }
        let id = run.clone();
        self.teller.tell(&IterationEvent::Graded { id, passed, total, gated, judge_errors })?;
        Ok(())
    }

    async fn install_grade(&self, run: &RunId, archive: &ArchiveRef) -> Result<(), CollectError> {
        let folder = tempfile::tempdir().map_err(FleetError::Io)?;
        let file = folder.path().join("archive.zip");
        self.fleet.get_archive(archive, &file).await?;
        let made = RunDir::at(folder.path().join("files"));
        unpack(&file, made.root(), Links::Refused, &archive.name)?;
        let dir = self.iteration.run_dir(run);
        if made.structural_file().is_file() {
            let bytes = read_bounded(&made.structural_file(), run)?;
            read::<skillgauge_format::evals::Structural>(&bytes)
                .map_err(|error| damaged(run, error))?;
            write_atomically(&dir.structural_file(), &bytes)?;
        }
        let bytes = read_bounded(&made.grading_file(), run)?;
        let grading =
            match self.suite.dialect() {
                Dialect::Cases => read::<CasesGrading>(&bytes)
                    .map(|read| GradingFile::Cases(Box::new(read.value))),
                Dialect::Evals | Dialect::Trigger => read::<EvalsGrading>(&bytes)
                    .map(|read| GradingFile::Evals(Box::new(read.value))),
            };
        let grading = grading.map_err(|error| damaged(run, error))?;
        grade::store(&grading, &dir, &run.configuration, self.workspace)?;
        Ok(())
    }
}

fn damaged(run: &RunId, reason: impl std::fmt::Display) -> FleetError {
    FleetError::Damaged { name: run.to_string(), reason: reason.to_string() }
}

fn read_bounded(path: &std::path::Path, run: &RunId) -> Result<Vec<u8>, FleetError> {
    match fs_err::metadata(path) {
        Ok(metadata) if metadata.len() <= MAX_GRADING => Ok(fs_err::read(path)?),
        Ok(_) => Err(damaged(run, "its grading is too large")),
        Err(error) => Err(damaged(run, error)),
    }
}
