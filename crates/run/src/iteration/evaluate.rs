//! Checks and grades stored runs while the others still run.
//!
//! Everything is read from the run's folder and written back to it, each file at once, so a run that was checked and not
//! graded when somebody was killed is only graded the next time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::check::CompiledChecks;
use skillgauge_core::plan::RunId;
use skillgauge_core::workspace::{RunDir, Workspace};
use skillgauge_format::cases::CasesGrading;
use skillgauge_format::evals::{EvalsGrading, Structural};
use skillgauge_format::part::Configuration;
use skillgauge_format::record::RunRecord;
use skillgauge_format::{Case, Suite, read};
use tokio_util::sync::CancellationToken;

use super::drive::{Evaluate, Evaluated, Evaluating};
use crate::budget::Budget;
use crate::check::{CheckJob, Scripts, check_run, input_files};
use crate::grade::{self, GradeInput, Graded, GradingFile, Judge, StoredRun};

/// What checks and grades need.
#[derive(Debug)]
pub struct EvaluatorSettings {
    pub suite: Suite,
    /// The checks of each case, in the order of the suite.
    pub checks: Vec<CompiledChecks>,
    /// The judge; nobody judges without one.
    pub judge: Option<Judge>,
    pub skill: PathBuf,
    /// The folder that the suite's input files are found in.
    pub inputs_from: PathBuf,
    pub skill_name: String,
    pub version: u64,
    /// What the runs of `old_skill` are about; none when there are none, or when it is not at hand.
    pub old: Option<OldSkill>,
    pub workspace: Workspace,
    /// Runs the scripts of checks.
    pub scripts: Scripts,
    pub budget: Arc<Budget>,
}

/// An earlier version of the skill, as the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldSkill {
    pub folder: PathBuf,
    pub version: u64,
}

impl EvaluatorSettings {
    /// The skill that a run is judged by, and its version: that of its own configuration.
    fn graded_skill(&self, configuration: &Configuration) -> (Option<&Path>, u64) {
        match (configuration, &self.old) {
            (Configuration::OldSkill, Some(old)) => (Some(&old.folder), old.version),
            (Configuration::OldSkill, None) => (None, 0),
            _ => (Some(&self.skill), self.version),
        }
    }
}

/// Checks and grades stored runs.
#[derive(Clone, Debug)]
pub struct Evaluator {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: EvaluatorSettings,
    checks: HashMap<String, Arc<CompiledChecks>>,
}

impl Evaluator {
    /// Ready for runs of this suite.
    pub fn new(mut settings: EvaluatorSettings) -> Self {
        let ids = settings.suite.cases().map(|case| case.id().into_owned());
        let checks: Vec<CompiledChecks> = std::mem::take(&mut settings.checks);
        let checks = ids.zip(checks.into_iter().map(Arc::new)).collect();
        Self { shared: Arc::new(Shared { settings, checks }) }
    }
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

impl Evaluate for Evaluator {
    fn is_done(&self, id: &RunId, run: &RunDir) -> bool {
        let has_checks = self.shared.checks.get(&id.case).is_some_and(|checks| !checks.is_empty());
        GradedWhen { has_checks, has_judge: self.shared.settings.judge.is_some() }.holds(run)
    }

    fn evaluate(
        &self,
        id: RunId,
        run: RunDir,
        record: RunRecord,
        cancel: CancellationToken,
    ) -> Evaluating {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.evaluate(&id, run, &record, &cancel).await })
    }
}

impl Shared {
    async fn evaluate(
        &self,
        id: &RunId,
        run: RunDir,
        record: &RunRecord,
        cancel: &CancellationToken,
    ) -> Result<Evaluated, String> {
        let case = self.settings.suite.cases().find(|case| case.id() == id.case);
        let case = case.ok_or_else(|| format!("the suite has no case {}", id.case))?;
        let structural = self.check(id, case, &run).await?;
        let mut stored = read_stored(run).await?;
        stored.structural = structural;
        let graded = self.grade(id, case, &stored, record, cancel).await?;
        if cancel.is_cancelled() {
            return Err("interrupted".to_owned());
        }
        let Some(file) = graded.file else {
            return Err(graded.judge_errors.join("; "));
        };
        if let Some(fuller) =
            self.settings.judge.as_ref().and_then(|_| grade::fuller(&stored.dir, &file))
        {
            let errors = fuller.judge_errors.clone().unwrap_or_default();
            let evaluated = evaluated(&GradingFile::Evals(fuller), &errors);
            return Ok(Evaluated { cautions: graded.cautions, ..evaluated });
        }
        let stored_timing = grade::store_timing(graded.timing.as_deref(), &stored.dir);
        stored_timing.map_err(|error| error.to_string())?;
        let store = grade::store(&file, &stored.dir, &id.configuration, &self.settings.workspace);
        store.map_err(|error| error.to_string())?;
        // Nobody was asked to judge, so nobody failed to.
        let errors = if self.settings.judge.is_some() { &graded.judge_errors[..] } else { &[] };
        let (gated, cautions) = (graded.gated, graded.cautions);
        Ok(Evaluated { gated, cautions, ..evaluated(&file, errors) })
    }

    /// The checks of a run; nothing for a case without checks.
    async fn check(
        &self,
        id: &RunId,
        case: Case<'_>,
        run: &RunDir,
    ) -> Result<Option<Structural>, String> {
        let Some(checks) = self.checks.get(&id.case).filter(|checks| !checks.is_empty()) else {
            return Ok(None);
        };
        let settings = &self.settings;
        let job = CheckJob {
            run_dir: run.root().to_owned(),
            checks: Arc::clone(checks),
            skill_dir: Some(settings.skill.clone()),
            skill_name: Some(settings.skill_name.clone()),
            inputs: input_files(case, Some(&settings.inputs_from), Some(settings.workspace.root())),
        };
        let structural = check_run(&settings.scripts, job).await;
        let structural = structural.map_err(|error| error.to_string())?;
        let stored = run.write_json(&run.structural_file(), &structural);
        stored.map_err(|error| error.to_string())?;
        Ok(Some(structural))
    }

    async fn grade(
        &self,
        id: &RunId,
        case: Case<'_>,
        stored: &StoredRun,
        record: &RunRecord,
        cancel: &CancellationToken,
    ) -> Result<Graded, String> {
        let settings = &self.settings;
        let (skill_dir, version) = settings.graded_skill(&id.configuration);
        let input = GradeInput {
            skill_dir,
            version,
            run_number: u64::from(id.number),
            executor_model: record.model.as_deref(),
            ..stored.input(&settings.suite, case)
        };
        let judge = settings.judge.as_ref();
        let calls = grade::calls_needed(&input, judge);
        settings.budget.take_model_calls(calls).map_err(|over| over.to_string())?;
        let graded = grade::grade_run(&input, judge, cancel).await;
        settings.budget.made_model_calls(calls, graded.calls, graded.cost_usd);
        Ok(graded)
    }
}

/// Reading a long transcript takes a while, so it is done off the event loop.
async fn read_stored(run: RunDir) -> Result<StoredRun, String> {
    let read = tokio::task::spawn_blocking(move || StoredRun::read(run)).await;
    read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

fn evaluated(file: &GradingFile, judge_errors: &[String]) -> Evaluated {
    let (passed, total) = match file {
        GradingFile::Evals(grading) => (grading.summary.passed, grading.summary.total),
        GradingFile::Cases(grading) => {
            let passed = grading.results.iter().filter(|result| result.passed).count();
            (passed as u64, grading.results.len() as u64)
        }
    };
    Evaluated { passed, total, judge_errors: judge_errors.len() as u64, ..Evaluated::default() }
}
