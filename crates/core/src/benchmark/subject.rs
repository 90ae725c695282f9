//! What is aggregated: an iteration, as far as it is known before one of its runs is read.
//!
//! An iteration of ours has a record of who was asked and which runs were planned, and its suite; those of other tools have
//! neither, and their runs must tell.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use skillgauge_format::Extra;
use skillgauge_format::evals::BenchmarkMetadata;
use skillgauge_format::json::{self, Node};
use skillgauge_format::part::EvalId;
use skillgauge_format::record::IterationRecord;

use super::file::{self, Found, Reader};
use super::layout::{self, CaseFolder, CasePlace, RunFolder};
use super::{BenchmarkError, Settings, find_iteration, loaded, quick, record};
use crate::workspace::Iteration;

/// An iteration before its runs are read.
pub(super) struct Subject<'s> {
    pub(super) folder: PathBuf,
    /// Where its cases may be, in the order of the ids that their names say.
    pub(super) places: Vec<CasePlace>,
    pub(super) skill_name: Option<String>,
    plan: Option<Plan>,
    /// The cases that a rubric is scored for, by the suite that lies in the iteration; absent when there is none.
    rubrics: Option<BTreeSet<String>>,
    /// What is wrong with the record.
    pub(super) problems: Vec<String>,
    settings: &'s Settings,
}

struct Plan {
    record: IterationRecord,
    folders: BTreeSet<String>,
}

/// Who did the work and who judged, as far as runs tell.
#[derive(Debug, Default)]
pub(super) struct Models {
    pub(super) executor: Option<String>,
    pub(super) analyzer: Option<String>,
}

impl<'s> Subject<'s> {
    /// The iteration that a path means.
    pub(super) fn find(path: &Path, settings: &'s Settings) -> Result<Self, BenchmarkError> {
        let folder = find_iteration(path)?;
        let mut places = layout::places(&folder)?;
        let mut problems = Vec::new();
        let record = read_record(&folder, &mut problems);
        if let Some(record) = &record {
            layout::add_planned(&mut places, record.case_ids.iter().map(String::as_str));
        }
        let planned_name = || record.as_ref().map(|record| record.skill_name.clone());
        let skill_name = settings.skill_name.clone().or_else(planned_name);
        Ok(Self {
            places,
            skill_name: skill_name.or_else(|| name_of_workspace(&folder)),
            rubrics: rubrics(&folder),
            plan: record.map(Plan::new),
            problems,
            folder,
            settings,
        })
    }

    /// Finds the runs of a case, those that were planned and are not there included.
    pub(super) fn case(&self, place: &CasePlace, reader: &mut Reader) -> CaseFolder {
        let mut case = place.read(reader);
        if let Some(Plan { record, folders }) = &self.plan
            && folders.contains(&case.folder)
        {
            case.add_planned(&record.configurations, record.runs_per_configuration);
        }
        if case.runs.is_empty() && case.problems.is_empty() {
            case.problems.push(format!("{} holds no runs and is left out", case.folder));
        }
        case
    }

    /// Whether a rubric is to be expected for a case; nothing when only the runs can tell.
    pub(super) fn expects_rubric(&self, case: &CaseFolder) -> Option<bool> {
        match &self.rubrics {
            Some(rubrics) => Some(rubrics.contains(&case.id.to_string())),
            None => case.has_rubric.then_some(true),
        }
    }

    /// What the benchmark says of itself, if neither that nor what it says of a run hangs on other runs, as it is when
    /// nothing contradicts the record of the iteration. Then each case can be written as soon as it is read.
    pub(super) fn settled_metadata(&self) -> Option<BenchmarkMetadata> {
        let record = &self.plan.as_ref()?.record;
        self.rubrics.as_ref()?;
        self.settings.executor_model.as_ref().or(record.executor_model.as_ref())?;
        self.settings.analyzer_model.as_ref().or(record.judge.as_ref())?;
        let evals_run = self.places.iter().map(|place| place.id.clone()).collect();
        Some(self.metadata_of(evals_run, &Models::default(), &[]))
    }

    /// What the benchmark says of itself.
    pub(super) fn metadata(&self, read: &record::Iteration) -> BenchmarkMetadata {
        let evals_run = read.folders.iter().map(|case| case.id.clone()).collect();
        self.metadata_of(evals_run, &read.models, &read.folders)
    }

    fn metadata_of(
        &self,
        mut evals_run: Vec<EvalId>,
        told: &Models,
        cases: &[CaseFolder],
    ) -> BenchmarkMetadata {
        let (settings, record) = (self.settings, self.plan.as_ref().map(|plan| &plan.record));
        let executor = settings.executor_model.clone();
        let executor = executor.or_else(|| record?.executor_model.clone());
        let executor = executor.or_else(|| told.executor.clone()).or_else(|| record?.model.clone());
        let analyzer = settings.analyzer_model.clone();
        let analyzer = analyzer.or_else(|| record?.judge.clone()).or_else(|| told.analyzer.clone());
        let skill_path = settings.skill_path.clone().or_else(|| Some(record?.skill_path.clone()));
        evals_run.dedup();
        let planned_runs = record.map(|record| record.runs_per_configuration);
        BenchmarkMetadata {
            skill_name: self.skill_name.clone(),
            skill_path: skill_path.or_else(|| self.path_of_skill()),
            executor_model: executor.or_else(|| model_of_transcript(cases)),
            analyzer_model: analyzer,
            timestamp: settings.timestamp.clone(),
            evals_run: Some(evals_run),
            runs_per_configuration: Some(planned_runs.unwrap_or_else(|| most_runs(cases))),
            extra: Extra::new(),
        }
    }

    /// The skill beside the workspace, if it is one.
    fn path_of_skill(&self) -> Option<String> {
        let skill = self.folder.parent()?.with_file_name(self.skill_name.as_ref()?);
        skill.join("SKILL.md").is_file().then(|| skill.display().to_string())
    }
}

impl Plan {
    fn new(record: IterationRecord) -> Self {
        Self {
            folders: record.case_ids.iter().map(|case| format!("eval-{case}")).collect(),
            record,
        }
    }
}

fn model_of_transcript(cases: &[CaseFolder]) -> Option<String> {
    loaded::model(cases.first()?.runs.first()?.path.as_ref()?)
}

/// The most runs that a case has in a configuration: what was planned, as far as folders tell.
fn most_runs(cases: &[CaseFolder]) -> u64 {
    let most = cases.iter().flat_map(|case| {
        let runs = case.runs.chunk_by(|a, b| a.configuration == b.configuration);
        runs.map(<[RunFolder]>::len)
    });
    most.max().unwrap_or(0) as u64
}

/// `testing-workspace/iteration-1` is about `testing`.
fn name_of_workspace(iteration: &Path) -> Option<String> {
    let workspace = iteration.parent()?.file_name()?.to_str()?;
    workspace.strip_suffix("-workspace").filter(|name| !name.is_empty()).map(str::to_owned)
}

/// The record of an iteration; one that is there and cannot be read is a problem.
fn read_record(folder: &Path, problems: &mut Vec<String>) -> Option<IterationRecord> {
    let iteration = Iteration::at(folder);
    if !iteration.record_file().is_file() {
        return None;
    }
    match iteration.record() {
        Ok(record) => {
            if let Some(reason) = &record.partial {
                problems.push(format!("the iteration is not finished: {reason}"));
            }
            Some(record)
        }
        Err(error) => {
            problems.push(format!("iteration.json: {error}"));
            None
        }
    }
}

/// The cases that a rubric is scored for, by the suite that lies in the iteration; nothing when there is none.
fn rubrics(folder: &Path) -> Option<BTreeSet<String>> {
    let Found::Bytes(bytes) = file::read(&Iteration::at(folder).suite_file()) else { return None };
    quick::scored_cases(&bytes).or_else(|| any_scored_cases(&bytes))
}

/// The same, of a suite in whatever form.
fn any_scored_cases(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let document = json::parse(bytes).ok()?;
    let evals = document.root.get("evals")?.items();
    let dimensions =
        |eval: &Node<'_>| Some(eval.get("quality_rubric")?.get("dimensions")?.items().len());
    let scored = evals.iter().filter(|eval| dimensions(eval).is_some_and(|count| count > 0));
    let id = |eval: &Node<'_>| eval.get("id")?.deserialize::<EvalId>().ok();
    Some(scored.filter_map(id).map(|id| id.to_string()).collect())
}
