//! What `iteration.json` says: who was asked, and which runs were planned. Iterations of other tools have none.

use std::collections::BTreeSet;
use std::path::Path;

use skillgauge_format::part::Configuration;
use skillgauge_format::record::IterationRecord;

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
