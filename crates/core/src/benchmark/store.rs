//! Puts the three files of a benchmark into its iteration, each complete or not there.

use std::path::PathBuf;

use skillgauge_format::write::to_text;

use super::{Aggregate, BenchmarkError};
use crate::workspace::write_atomically;

pub(super) fn write(aggregate: &Aggregate) -> Result<Vec<PathBuf>, BenchmarkError> {
    let json = |source| BenchmarkError::NotJson { source };
    let files = [
        ("benchmark.json", to_text(&aggregate.benchmark).map_err(json)?),
        ("benchmark.md", aggregate.to_markdown()),
        ("eval_feedback_aggregate.json", to_text(&aggregate.feedback).map_err(json)?),
    ];
    files
        .into_iter()
        .map(|(name, text)| {
            let path = aggregate.folder.join(name);
            write_atomically(&path, text.as_bytes())
                .map_err(|source| BenchmarkError::Unwritable { source })?;
            Ok(path)
        })
        .collect()
}
