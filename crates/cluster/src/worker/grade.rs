//! A grading as a job: the run's archive, the same checks and the same judge as everywhere, the two files that come of it.

use std::path::PathBuf;
use std::sync::Arc;

use skillgauge_core::check::compile_suite;
use skillgauge_core::workspace::{RunDir, Workspace};
use skillgauge_format::Suite;
use skillgauge_run::budget::Budget;
use skillgauge_run::grade::{Evaluator, GradeTask, Judge, OldSkill, Subject};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::job::{JobEnd, JobFailure, JobResult, Reach};
use crate::archive::{make_way, pack};
use crate::fleet::{Fleet, FleetError, patiently};
use crate::job::{GradingCounts, Lease, Queue, Standing};
use crate::manifest::Manifest;

impl<F: Fleet> Shared<F> {
    pub(super) async fn grade(
        &self,
        lease: &Lease<F::Ticket>,
        cancel: &CancellationToken,
    ) -> Result<JobEnd, JobFailure> {
        let token = lease.token();
        let result = patiently(|| self.fleet.result(Queue::Runs, &lease.plan, &token)).await?;
        // A run that was taken back is graded when it is there again.
        let Some(archive) = result.and_then(|result| result.archive) else {
            return Ok(JobEnd::NotNeeded);
        };
        let manifest = self.bundles.manifest(&*self.fleet, &lease.entry.manifest).await?;
        let judge = self.judge(&manifest)?;
        let folder = self.bundles.job_folder()?;
        let run = RunDir::at(folder.path().join("run"));
        while let Err(error) = archive.unpack(&*self.fleet, run.root(), folder.path()).await {
            match error {
                // A folder that is away comes back; nobody is asked to judge before.
                FleetError::Folder { .. } => self.wait_for_a_place(error, cancel).await?,
                error => return Err(error.into()),
            }
        }
        make_way(&run)?;
        let budget = Arc::new(Budget::default());
        let workspace = Workspace::at(folder.path().join("workspace"));
        let subject = Arc::new(self.subject(&manifest, workspace).await?);
        let evaluator = self.evaluator(judge, Arc::clone(&budget));
        let task = GradeTask { id: lease.run.clone(), run: run.clone(), subject };
        let graded = evaluator.evaluate(&task, cancel).await;
        let summary = evaluator.summary(&graded.map_err(|error| kept(error.to_string()))?);
        let archive = folder.path().join("grade.zip");
        let made = [run.grading_file(), run.structural_file()];
        let below: Vec<PathBuf> = made
            .iter()
            .filter(|file| file.is_file())
            .filter_map(|file| Some(file.strip_prefix(run.root()).ok()?.to_owned()))
            .collect();
        let archive = pack(run.root(), below, &archive).await?;
        let spent = budget.spent();
        Ok(JobEnd::JobResult(Box::new(JobResult {
            standing: Standing::Graded(GradingCounts {
                passed: summary.passed,
                total: summary.total,
                gated: summary.gated,
                judge_errors: summary.judge_errors,
                cost_usd: (spent.unknown_costs == 0).then_some(spent.cost_usd),
                calls: spent.model_calls,
            }),
            grading: None,
            agent_version: None,
            summary: format!("{} of {} passed", summary.passed, summary.total),
            archive,
            folder,
        })))
    }

    /// The judge of the plan, with the keys of this machine.
    fn judge(&self, manifest: &Manifest) -> Result<Option<Judge>, JobFailure> {
        let record = &manifest.record;
        let Some(name) = &record.judge else { return Ok(None) };
        let judge = self.settings.judges.open(name, record.judge_votes);
        judge.map(Some).map_err(|why| JobFailure { why, reach: Reach::Plan })
    }

    pub(super) fn evaluator(&self, judge: Option<Judge>, budget: Arc<Budget>) -> Evaluator {
        Evaluator { judge, scripts: self.settings.scripts.clone(), budget }
    }

    /// What the runs of a plan are checked and graded by, with its files on this machine.
    pub(super) async fn subject(
        &self,
        manifest: &Manifest,
        workspace: Workspace,
    ) -> Result<Subject, JobFailure> {
        let suite = Suite::read(manifest.suite.as_bytes());
        let suite = suite.map_err(|error| kept(error.to_string()))?.value;
        let checks = compile_suite(&suite).map_err(|problems| {
            kept(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        let skill = self.bundles.place(&*self.fleet, &manifest.skill).await?;
        let baseline = manifest.record.baseline.as_ref();
        let old =
            baseline.and_then(|old| Some((manifest.bundle(old.digest.as_deref()?)?, old.version?)));
        let old = match old {
            Some((bundle, version)) => {
                let folder = self.bundles.place(&*self.fleet, bundle).await?;
                Some(OldSkill { folder, version })
            }
            None => None,
        };
        let inputs = match &manifest.workspace_files {
            Some(bundle) => Workspace::at(self.bundles.place(&*self.fleet, bundle).await?),
            None => workspace,
        };
        Ok(Subject {
            suite,
            checks: checks.into_iter().map(Arc::new).collect(),
            inputs_from: Some(skill.clone()),
            skill: Some(skill),
            skill_name: Some(manifest.record.skill_name.clone()),
            version: manifest.version,
            old,
            workspace: inputs,
            is_recorded: true,
            model: None,
        })
    }
}

fn kept(why: impl Into<String>) -> JobFailure {
    JobFailure { why: why.into(), reach: Reach::Job }
}
