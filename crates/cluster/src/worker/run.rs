//! A run as a job: the files to their places, the same executor and the same checks as everywhere, the run's folder as an
//! archive.

use std::path::PathBuf;

use skillgauge_core::workspace::Iteration;
use skillgauge_format::record::RunRecord;
use skillgauge_run::agent::{AgentTask, ExecuteError};
use skillgauge_run::iteration::{LostRun, RunSpec, carry_out};
use skillgauge_run::pool::RetryRules;
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::job::{JobEnd, JobFailure, JobResult, Reach};
use crate::archive::pack;
use crate::fleet::Fleet;
use crate::job::{Lease, Standing};
use crate::manifest::Manifest;

impl<F: Fleet> Shared<F> {
    pub(super) async fn run(
        &self,
        lease: &Lease<F::Ticket>,
        cancel: &CancellationToken,
    ) -> Result<JobEnd, JobFailure> {
        let manifest = self.bundles.manifest(&*self.fleet, &lease.entry.manifest).await?;
        let task = self.placed_task(&manifest, lease).await?;
        let folder = self.bundles.job_folder()?;
        let iteration = Iteration::passing(folder.path());
        let spec = RunSpec { id: lease.run.clone(), task };
        let rules = RetryRules::for_runs().retries(lease.entry.retries);
        let skill = &manifest.record.skill_name;
        let executor = &self.settings.executor;
        let carried = carry_out(executor, &iteration, &spec, skill, &rules, cancel).await;
        if cancel.is_cancelled() {
            return Err(JobFailure { why: "stopped".to_owned(), reach: Reach::Job });
        }
        let (dir, record) = match carried {
            Ok(carried) => carried,
            Err(lost) => {
                let reach = if is_missing_agent(&lost) { Reach::Plan } else { Reach::Job };
                return Err(JobFailure { why: lost.to_string(), reach });
            }
        };
        if !record.reason.is_result() {
            return Err(self.no_result(&record));
        }
        let grading = self.check(lease, &manifest, &dir, cancel).await;
        if cancel.is_cancelled() {
            return Err(JobFailure { why: "stopped".to_owned(), reach: Reach::Job });
        }
        let archive = folder.path().join("run.zip");
        let archive = pack(dir.root(), vec![PathBuf::new()], &archive).await?;
        Ok(JobEnd::JobResult(Box::new(JobResult {
            standing: Standing::Ran {
                outcome: record.outcome,
                reason: record.reason,
                seconds: record.seconds.as_f64(),
            },
            grading,
            agent_version: record.agent_version.clone(),
            summary: format!("{} in {:.1} s", record.outcome, record.seconds.as_f64()),
            archive,
            folder,
        })))
    }

    /// What a service, a login or this machine kept from a result.
    fn no_result(&self, record: &RunRecord) -> JobFailure {
        let message =
            record.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
        let reach = match record.reason {
            reason if reason.stops_all() => Reach::Worker,
            _ if self.settings.executor.settings().services.is_troubled() => Reach::Service,
            _ => Reach::Job,
        };
        JobFailure { why: format!("{} ({}){message}", record.outcome, record.reason), reach }
    }

    /// The task with all of its files on this machine.
    async fn placed_task(
        &self,
        manifest: &Manifest,
        lease: &Lease<F::Ticket>,
    ) -> Result<AgentTask, JobFailure> {
        let unknown = |what: &str| JobFailure {
            why: format!("the manifest has no {what}"),
            reach: Reach::Job,
        };
        let task = manifest.task(&lease.run).ok_or_else(|| unknown("task for this run"))?;
        let mut task = task.clone();
        for skill in &mut task.skills {
            let bundle =
                manifest.bundle(skill.digest.as_str()).ok_or_else(|| unknown("such skill"))?;
            skill.folder = self.bundles.place(&*self.fleet, bundle).await?;
        }
        for input in &mut task.inputs {
            let bundle =
                manifest.bundle(input.digest.as_str()).ok_or_else(|| unknown("such input"))?;
            input.root = self.bundles.place(&*self.fleet, bundle).await?;
        }
        Ok(task)
    }
}

/// Whether the next run of the plan would fare the same here, since its agent cannot be started.
fn is_missing_agent(lost: &LostRun) -> bool {
    use skillgauge_run::process::ProcessError;
    let LostRun::Execute(error) = lost else { return false };
    matches!(
        error,
        ExecuteError::Unknown(_)
            | ExecuteError::NoAgent { .. }
            | ExecuteError::Locate(_)
            | ExecuteError::Process(
                ProcessError::NotFound { .. }
                    | ProcessError::NoInterpreter { .. }
                    | ProcessError::NotExecutable { .. }
            )
    )
}
