//! What `iteration.json` says: who was asked, and which runs were planned. Iterations of other tools have none.

use std::collections::BTreeSet;
use std::path::Path;

use skillgauge_format::json::{self, Node};
use skillgauge_format::part::{Configuration, EvalId};
use skillgauge_format::record::IterationRecord;

use super::file::{self, Found};
use super::layout::Layout;
use crate::plan::RunId;
use crate::workspace::Iteration;

/// The record of an iteration; one that is there and cannot be read is a problem.
pub(super) fn record(folder: &Path, problems: &mut Vec<String>) -> Option<IterationRecord> {
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
pub(super) fn rubrics(folder: &Path) -> Option<BTreeSet<String>> {
    let Found::Bytes(bytes) = file::read(&Iteration::at(folder).suite_file()) else { return None };
    let document = json::parse(&bytes).ok()?;
    let evals = document.root.get("evals")?.items();
    let dimensions =
        |eval: &Node<'_>| Some(eval.get("quality_rubric")?.get("dimensions")?.items().len());
    let scored = evals.iter().filter(|eval| dimensions(eval).is_some_and(|count| count > 0));
    let id = |eval: &Node<'_>| eval.get("id")?.deserialize::<EvalId>().ok();
    Some(scored.filter_map(id).map(|id| id.to_string()).collect())
}

/// The runs that were planned and have no folder.
pub(super) fn missing(record: &IterationRecord, layout: &Layout) -> Vec<RunId> {
    let found: BTreeSet<(&str, &Configuration, u64)> = layout
        .cases
        .iter()
        .flat_map(|case| {
            case.runs.iter().map(|run| (case.folder.as_str(), &run.configuration, run.number))
        })
        .collect();
    let plan = Iteration::plan(record);
    let is_found = |id: &RunId| {
        let folder = format!("eval-{}", id.case);
        found.contains(&(folder.as_str(), &id.configuration, u64::from(id.number)))
    };
    plan.without(is_found)
}
