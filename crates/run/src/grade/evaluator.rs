//! Checks and grades stored runs: while others still run (`run`, a fleet's workers), and afterwards (`grade`).
//!
//! Everything is read from the run's folder and written back to it, each file at once, so a run that was checked and not
//! graded when somebody was killed is only graded the next time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::check::CompiledChecks;
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{RunDir, Workspace, WorkspaceError};
use skillgauge_format::cases::CasesGrading;
use skillgauge_format::evals::{EvalsGrading, Structural};
use skillgauge_format::part::Configuration;
use skillgauge_format::transcript::Reason;
use skillgauge_format::{Case, Suite, read};
use tokio_util::sync::CancellationToken;

use super::{
    GradeInput, Graded, GradingFile, Judge, StoredRun, StoredRunError, add_earlier, add_spending,
    calls_needed, forget_spending, fuller, grade_run, keep_spending, store, store_timing,
};
use crate::budget::{Budget, OverBudget};
use crate::check::{CheckJob, CheckRunError, Scripts, check_run, input_files};
use crate::pool::Panicked;

/// What the runs of an iteration are checked and graded by.
#[derive(Debug)]
pub struct Subject {
    pub suite: Suite,
    /// The checks of each case, in the order of the suite; none when what was found before counts.
    pub checks: Vec<Arc<CompiledChecks>>,
    /// The skill that was installed, as far as it is known.
    pub skill: Option<PathBuf>,
    pub skill_name: Option<String>,
    /// The folder that the suite's input files are found in.
    pub inputs_from: Option<PathBuf>,
    pub version: u64,
    /// What the runs of `old_skill` are about; none when there are none, or when it is not at hand.
    pub old: Option<OldSkill>,
    pub workspace: Workspace,
    /// Whether its iteration has a record of ours.
    pub is_recorded: bool,
    /// The model that did the work, for runs that do not say it.
    pub model: Option<String>,
}

/// An earlier version of the skill, as the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldSkill {
    pub folder: PathBuf,
    pub version: u64,
}

impl Subject {
    pub fn case(&self, id: &str) -> Option<Case<'_>> {
        self.suite.cases().find(|case| case.id() == id)
    }

    /// The skill that a run is judged by, and its version: that of its own configuration.
    fn graded_skill(&self, configuration: &Configuration) -> (Option<&Path>, u64) {
        match (configuration, &self.old) {
            (Configuration::OldSkill, Some(old)) => {
                (Some(&*old.folder).filter(|folder| folder.is_dir()), old.version)
            }
            (Configuration::OldSkill, None) => (None, 0),
            _ => (self.skill.as_deref(), self.version),
        }
    }

    /// The version of the skill that the runs of another configuration had.
    fn other_skill(&self, configuration: &Configuration) -> Option<&Path> {
        let old = self.old.as_ref().map(|old| &*old.folder);
        if *configuration == Configuration::OldSkill { self.skill.as_deref() } else { old }
    }

    /// The skill under test: its name, or the last part of the path that the suite gives.
    fn skill_name(&self) -> Option<&str> {
        let of_suite =
            || self.suite.skill().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
        self.skill_name.as_deref().or_else(of_suite).filter(|name| !name.is_empty())
    }

    /// What a run of a case is checked for; nothing when the suite has no such case.
    pub fn check_job(&self, case_id: &str, run: &RunDir) -> Option<CheckJob> {
        let mut checked = self.suite.cases().zip(&self.checks);
        let (case, checks) = checked.find(|(case, _)| case.id() == case_id)?;
        let workspace = Some(self.workspace.root());
        Some(CheckJob {
            run_dir: run.root().to_owned(),
            checks: Arc::clone(checks),
            skill_dir: self.skill.clone(),
            skill_name: self.skill_name.clone(),
            inputs: input_files(case, self.inputs_from.as_deref(), workspace),
        })
    }
}

/// A stored run that can be graded.
#[derive(Clone, Debug)]
pub struct GradeTask {
    pub id: RunId,
    pub run: RunDir,
    pub subject: Arc<Subject>,
}

impl GradeTask {
    /// The run as a grading needs it.
    pub(super) fn input<'r>(&'r self, stored: &'r StoredRun, case: Case<'r>) -> GradeInput<'r> {
        let (skill_dir, version) = self.subject.graded_skill(&self.id.configuration);
        GradeInput {
            skill_dir,
            other_skill: self.subject.other_skill(&self.id.configuration),
            version,
            run_number: u64::from(self.id.number),
            skill_name: self.subject.skill_name(),
            ..stored.input(&self.subject.suite, case)
        }
    }
}

/// Why a stored run was not graded.
#[derive(Debug, thiserror::Error)]
pub enum NotGraded {
    #[error("it has neither a transcript nor outputs")]
    Empty,
    /// The agent was stopped by something that says nothing about the skill.
    #[error("it has no result ({0}); run it again")]
    NoResult(Reason),
    #[error("the suite has no case {0}")]
    NoCase(String),
    #[error(transparent)]
    NotChecked(#[from] CheckRunError),
    /// A file of the run is damaged.
    #[error(transparent)]
    Broken(#[from] StoredRunError),
    #[error(transparent)]
    Budget(#[from] OverBudget),
    #[error("interrupted")]
    Cancelled,
    /// The judge did not answer.
    #[error("{}", .0.join("; "))]
    Judge(Vec<String>),
    /// The judge left gaps, and the grading that was there has fewer.
    #[error("the earlier grading is kept, because the new one would lack more: {}", errors.join("; "))]
    Kept { earlier: Box<Graded>, errors: Vec<String> },
    /// The grading cannot be written.
    #[error(transparent)]
    Unwritable(#[from] WorkspaceError),
    #[error(transparent)]
    Internal(#[from] Panicked),
}

/// Who checks and grades.
#[derive(Debug)]
pub struct Evaluator {
    /// The judge; nobody judges without one.
    pub judge: Option<Judge>,
    /// Runs the scripts of checks.
    pub scripts: Scripts,
    pub budget: Arc<Budget>,
}

/// A grading in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GradingSummary {
    pub passed: u64,
    pub total: u64,
    /// Whether the gate kept it from the judge.
    pub gated: bool,
    /// Expectations that the judge could not decide.
    pub judge_errors: u64,
}

impl Evaluator {
    /// Checks and grades a run, and writes what was found into its folder.
    pub async fn evaluate(
        &self,
        task: &GradeTask,
        cancel: &CancellationToken,
    ) -> Result<Graded, NotGraded> {
        let GradeTask { id, run, subject } = task;
        if cancel.is_cancelled() {
            return Err(NotGraded::Cancelled);
        }
        let record = run.is_complete().then(|| run.record()).transpose();
        let record = record.map_err(StoredRunError::Record)?;
        let reason = record.as_ref().map(|record| record.reason);
        if let Some(reason) = reason.filter(|reason| !reason.is_result()) {
            return Err(NotGraded::NoResult(reason));
        }
        let case = subject.case(&id.case).ok_or_else(|| NotGraded::NoCase(id.case.clone()))?;
        let structural = self.check(task, cancel).await?;
        let mut stored = read_stored(run.clone()).await?;
        if !stored.is_there() {
            return Err(NotGraded::Empty);
        }
        if !subject.checks.is_empty() {
            stored.structural = structural;
        }
        let base = task.input(&stored, case);
        let model = record.as_ref().and_then(|record| record.model.as_deref());
        let input = GradeInput {
            executor_model: model.or(subject.model.as_deref()).or(base.executor_model),
            ..base
        };
        let mut graded = self.grade(&input, cancel).await?;
        let Some(file) = &mut graded.file else {
            keep_spending(run, graded.spent.as_ref())?;
            let errors = graded.judge_errors;
            return Err(if cancel.is_cancelled() {
                NotGraded::Cancelled
            } else {
                NotGraded::Judge(errors)
            });
        };
        // Nobody was asked to judge, so nobody failed to: then it is what the user wants.
        if let Some(earlier) = self.judge.as_ref().and_then(|_| fuller(run, file)) {
            let errors = earlier.judge_errors.clone().unwrap_or_default();
            let mut earlier = GradingFile::Evals(earlier);
            add_spending(&mut earlier, graded.spent.clone());
            store(&earlier, run, &id.configuration, &subject.workspace)?;
            let earlier = Graded {
                file: Some(earlier),
                judge_errors: errors,
                gated: false,
                ..graded.clone()
            };
            return Err(NotGraded::Kept {
                earlier: Box::new(earlier),
                errors: graded.judge_errors,
            });
        }
        add_earlier(file, run);
        store_timing(graded.timing.as_deref(), run)?;
        store(file, run, &id.configuration, &subject.workspace)?;
        forget_spending(run);
        Ok(graded)
    }

    /// The checks of a run; nothing for a case without checks.
    async fn check(
        &self,
        GradeTask { id, run, subject }: &GradeTask,
        cancel: &CancellationToken,
    ) -> Result<Option<Structural>, NotGraded> {
        let job = subject.check_job(&id.case, run).filter(|job| !job.checks.is_empty());
        let Some(job) = job else { return Ok(None) };
        let structural = check_run(&self.scripts, job).await?;
        if cancel.is_cancelled() {
            // A script that was stopped has not failed.
            return Err(NotGraded::Cancelled);
        }
        run.write_json(&run.structural_file(), &structural)?;
        Ok(Some(structural))
    }

    pub(super) async fn grade(
        &self,
        input: &GradeInput<'_>,
        cancel: &CancellationToken,
    ) -> Result<Graded, NotGraded> {
        let judge = self.judge.as_ref();
        let calls = calls_needed(input, judge);
        self.budget.take_model_calls(calls)?;
        let graded = grade_run(input, judge, cancel).await;
        self.budget.made_model_calls(calls, graded.calls, graded.cost_usd);
        Ok(graded)
    }

    /// A grading in numbers. Where nobody was asked to judge, nobody failed to.
    pub fn summary(&self, graded: &Graded) -> GradingSummary {
        let (passed, total) = match &graded.file {
            Some(GradingFile::Evals(grading)) => (grading.summary.passed, grading.summary.total),
            Some(GradingFile::Cases(grading)) => {
                let passed = grading.results.iter().filter(|result| result.passed).count();
                (passed as u64, grading.results.len() as u64)
            }
            None => (0, 0),
        };
        let judge_errors = self.judge.as_ref().map_or(0, |_| graded.judge_errors.len() as u64);
        GradingSummary { passed, total, gated: graded.gated, judge_errors }
    }

    /// Whether nothing is left to check and grade of a run.
    pub fn is_done(&self, task: &GradeTask) -> bool {
        let job = task.subject.check_job(&task.id.case, &task.run);
        let has_checks = job.is_some_and(|job| !job.checks.is_empty());
        GradedWhen { has_checks, has_judge: self.judge.is_some() }.holds(&task.run)
    }
}

/// Reading a long transcript takes a while, so it is done off the event loop.
async fn read_stored(run: RunDir) -> Result<StoredRun, NotGraded> {
    let read = tokio::task::spawn_blocking(move || StoredRun::read(run)).await;
    Ok(read.map_err(Panicked::from)??)
}

/// When nothing is left to check and grade of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GradedWhen {
    /// Whether its case has structural checks.
    pub has_checks: bool,
    pub has_judge: bool,
}

impl GradedWhen {
    pub fn holds(&self, run: &RunDir) -> bool {
        if self.has_checks && !run.structural_file().is_file() {
            return false;
        }
        let Ok(bytes) = fs_err::read(run.grading_file()) else { return false };
        if !self.has_judge {
            return true;
        }
        // What the judge could not answer is asked again; a grading of cases exists only when all was answered.
        match read::<EvalsGrading>(&bytes) {
            Ok(read) => read.value.judge_errors.is_none_or(|errors| errors.is_empty()),
            Err(_) => read::<CasesGrading>(&bytes).is_ok(),
        }
    }
}
