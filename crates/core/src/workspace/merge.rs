//! Puts the shards of an iteration together.
//!
//! Shards measure the same when their keys are the same; anything else is refused with what differs. A run that two
//! shards have is taken once, from the first that has a result: a record can be stored twice without harm.

use std::path::{Path, PathBuf};

use skillgauge_format::record::{Baseline, BaselineKind, IterationRecord};

use super::error::WorkspaceError;
use super::iteration::Iteration;
use super::run_dir::RunDir;
use super::write_atomically;
use crate::comparison::ComparisonStore;
use crate::files::copy_folder;
use crate::plan::RunId;
use crate::text::counted;

/// What became of a merge.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    pub record: IterationRecord,
    pub planned: usize,
    /// Runs that were copied now.
    pub copied: usize,
    /// Runs of the plan that no shard has a result for.
    pub missing: Vec<RunId>,
}

/// Why shards cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A folder is no iteration.
    #[error("{} is no iteration: it has no iteration.json", folder.display())]
    NoIteration { folder: PathBuf },
    /// Two shards measure different things.
    #[error("{} and {} do not belong together: {}", first.display(), other.display(), differences.join("; "))]
    Differ { first: PathBuf, other: PathBuf, differences: Vec<String> },
}

/// Puts shards together in `target`, which may be one of them or an earlier merge. Blocks.
pub fn merge(shards: &[Iteration], target: &Iteration) -> Result<Merged, MergeError> {
    let record = same_record(shards, target)?;
    let first = shards.first().unwrap_or(target);
    if !target.suite_file().exists() {
        copy_suite(first, target, &record)?;
    }
    let plan = Iteration::plan(&record);
    let mut merged = Merged { planned: plan.runs().len(), copied: 0, missing: Vec::new(), record };
    for id in plan.runs() {
        if is_result(&target.run_dir(id)) {
            continue;
        }
        match shards.iter().find(|shard| is_result(&shard.run_dir(id))) {
            Some(shard) => {
                copy_run(&shard.run_dir(id), target, id)?;
                copy_preference(shard, target, id)?;
                merged.copied += 1;
            }
            None => merged.missing.push(id.clone()),
        }
    }
    // What is still missing may come with the next shard, so the iteration stays unfinished until then.
    if merged.missing.is_empty() {
        merged.record.partial = None;
    } else {
        merged.record.finished = None;
        merged.record.partial =
            Some(counted(merged.missing.len(), "run is missing", "runs are missing"));
    }
    target.write_record(&merged.record)?;
    Ok(merged)
}

fn same_record(shards: &[Iteration], target: &Iteration) -> Result<IterationRecord, MergeError> {
    let mut first: Option<(&Iteration, IterationRecord)> = None;
    let known = Some(target).filter(|target| target.record_file().is_file());
    for shard in shards.iter().chain(known) {
        if !shard.record_file().is_file() {
            return Err(MergeError::NoIteration { folder: shard.root().to_owned() });
        }
        let record = shard.record()?;
        match &first {
            None => first = Some((shard, record)),
            Some((_, one)) if one.key == record.key => {}
            Some((earlier, one)) => {
                return Err(MergeError::Differ {
                    first: earlier.root().to_owned(),
                    other: shard.root().to_owned(),
                    differences: differences(one, &record),
                });
            }
        }
    }
    let (_, record) =
        first.ok_or_else(|| MergeError::NoIteration { folder: target.root().to_owned() })?;
    Ok(record)
}

fn is_result(run: &RunDir) -> bool {
    run.record().is_ok_and(|record| record.reason.is_result())
}

fn copy_suite(
    from: &Iteration,
    into: &Iteration,
    record: &IterationRecord,
) -> Result<(), WorkspaceError> {
    let io = |path: &Path, source| WorkspaceError::Io { path: path.to_owned(), source };
    fs_err::create_dir_all(into.root()).map_err(|source| io(into.root(), source))?;
    let suite = fs_err::read(from.suite_file()).map_err(|source| io(&from.suite_file(), source))?;
    for case in &record.case_ids {
        let source = from.case_dir(case).join("eval_metadata.json");
        let Ok(bytes) = fs_err::read(&source) else { continue };
        let folder = into.case_dir(case);
        fs_err::create_dir_all(&folder).map_err(|source| io(&folder, source))?;
        write_atomically(&folder.join("eval_metadata.json"), &bytes)?;
    }
    write_atomically(&into.suite_file(), &suite)
}

/// What a comparator preferred, which is kept beside the runs of a baseline.
fn copy_preference(from: &Iteration, into: &Iteration, id: &RunId) -> Result<(), WorkspaceError> {
    let store = |iteration: &Iteration| {
        let case = iteration.case_dir(&id.case);
        let store = ComparisonStore::of_runs(&case, &id.configuration);
        store.root().join(format!("run-{}", id.number))
    };
    let (source, place) = (store(from), store(into));
    if !source.is_dir() {
        return Ok(());
    }
    let parent = place.parent().unwrap_or(&place);
    let io = |source| WorkspaceError::Io { path: place.clone(), source };
    fs_err::create_dir_all(parent).map_err(io)?;
    copy_folder(&source, &place).map_err(io)
}

/// Copies a run with all of its files, and moves it to its place in one step.
pub fn copy_run(run: &RunDir, into: &Iteration, id: &RunId) -> Result<RunDir, WorkspaceError> {
    let partial = into.begin_run(id)?;
    copy_folder(run.root(), partial.dir().root())
        .map_err(|source| WorkspaceError::Io { path: run.root().to_owned(), source })?;
    partial.finish(&run.record()?)
}

/// What is different between two iterations, for people.
pub fn differences(old: &IterationRecord, new: &IterationRecord) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, old: String, new: String| {
        if old != new {
            found.push(format!("{what} was {old} and is {new} now"));
        }
    };
    compare("the agent", old.agent.clone(), new.agent.clone());
    compare("the agent's version", shown(&old.agent_version), shown(&new.agent_version));
    compare("the model", shown(&old.model), shown(&new.model));
    compare("the judge", shown(&old.judge), shown(&new.judge));
    compare("the number of votes", shown(&old.judge_votes), shown(&new.judge_votes));
    let runs = |record: &IterationRecord| shown(&record.runs_per_configuration);
    compare("the number of runs", runs(old), runs(new));
    compare("the timeout", shown(&old.timeout_seconds), shown(&new.timeout_seconds));
    compare("the seed", shown(&old.seed), shown(&new.seed));
    compare("the list of cases", old.case_ids.join(", "), new.case_ids.join(", "));
    let baseline = |record: &IterationRecord| in_words(record.baseline.as_ref());
    compare("the baseline", baseline(old), baseline(new));
    if old.skill_digest != new.skill_digest {
        found.push("the skill has other files".to_owned());
    }
    if old.suite_digest != new.suite_digest {
        found.push("the suite was changed".to_owned());
    }
    if found.is_empty() && old.key != new.key {
        found.push("an input file has other content".to_owned());
    }
    found
}

fn in_words(baseline: Option<&Baseline>) -> String {
    match baseline {
        None => "none".to_owned(),
        Some(Baseline { kind: BaselineKind::Without, .. }) => "without the skill".to_owned(),
        Some(Baseline { kind: BaselineKind::Same, .. }) => "the same skill again".to_owned(),
        Some(Baseline { version: Some(version), .. }) => format!("v{version} of the skill"),
        Some(Baseline { kind: BaselineKind::Old, .. }) => "another version of the skill".to_owned(),
    }
}

fn shown<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(serde_json::Value::Null) | Err(_) => "not set".to_owned(),
        Ok(other) => other.to_string(),
    }
}
