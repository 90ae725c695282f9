//! One run by itself, on a machine that does not have the iteration: the same executor, the same files.

use std::sync::Arc;

use skillgauge_core::workspace::{Iteration, RunDir};
use skillgauge_format::record::RunRecord;
use tokio_util::sync::CancellationToken;

use super::prepare::RunSpec;
use super::store::store;
use super::work::LostRun;
use crate::agent::{ExecuteError, Executor};
use crate::pool::RetryRules;

/// Carries out a run and writes its folder below `iteration`, which need not have a record.
///
/// What a service or a login kept from a result is stored, too; the record's reason tells.
pub async fn carry_out(
    executor: &Arc<Executor>,
    iteration: &Iteration,
    spec: &RunSpec,
    skill: &str,
    rules: &RetryRules,
    cancel: &CancellationToken,
) -> Result<(RunDir, RunRecord), LostRun> {
    let partial = iteration.begin_run(&spec.id)?;
    let outputs = partial.dir().outputs();
    // The seed decides how long to wait between attempts, and nothing else.
    let seed = u64::from(spec.id.number);
    let run = executor
        .execute(&spec.task, Some(&outputs), rules, seed, cancel, &mut |_| {})
        .await
        .map_err(LostRun::Execute)?;
    let (id, skill) = (spec.id.clone(), skill.to_owned());
    let stored = tokio::task::spawn_blocking(move || store(partial, &id, &skill, &run)).await;
    let internal = |error: tokio::task::JoinError| {
        LostRun::Execute(ExecuteError::Internal { message: error.to_string() })
    };
    Ok(stored.map_err(internal)??)
}
