//! Checks right after a run, for plans without a judge: what nobody has to be asked for needs no job of its own.
//!
//! They are made with the same evaluator as in a grading job, in the run's folder before it is packed, and cannot cost the
//! run: one whose checks do not work is stored without, and whoever collects it has it graded.

use std::collections::BTreeMap;
use std::sync::Arc;

use skillgauge_core::workspace::{RunDir, Workspace};
use skillgauge_format::record::RunRecord;
use skillgauge_run::budget::Budget;
use skillgauge_run::iteration::{Evaluate as _, Evaluator};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::job::Kept;
use super::{Shared, WorkerEvent};
use crate::fleet::Fleet;
use crate::job::{GradingCounts, Lease};
use crate::manifest::Manifest;

/// The checks of plans, by the digest of the manifest: a suite is read once and not for each run.
#[derive(Debug, Default)]
pub(super) struct Checkers(Mutex<BTreeMap<String, Evaluator>>);

impl<F: Fleet> Shared<F> {
    /// Checks a run in its folder, if its plan has no judge.
    pub(super) async fn check(
        &self,
        lease: &Lease<F::Ticket>,
        manifest: &Manifest,
        run: &RunDir,
        record: &RunRecord,
        cancel: &CancellationToken,
    ) -> Option<GradingCounts> {
        if lease.entry.judge.is_some() {
            return None;
        }
        let evaluated = match self.checker(&lease.entry.manifest, manifest).await {
            Ok(checker) => {
                let (id, run, record) = (lease.run.clone(), run.clone(), record.clone());
                checker.evaluate(id, run, record, cancel.clone()).await
            }
            Err(kept) => Err(kept.why),
        };
        match evaluated {
            Ok(evaluated) => Some(GradingCounts {
                passed: evaluated.passed,
                total: evaluated.total,
                gated: evaluated.gated,
                judge_errors: evaluated.judge_errors,
                cost_usd: Some(0.0),
                calls: 0,
            }),
            Err(why) => {
                let message = format!("{} is stored without its grading: {why}", lease.run);
                self.tell(&WorkerEvent::Trouble { message });
                None
            }
        }
    }

    async fn checker(&self, sha256: &str, manifest: &Manifest) -> Result<Evaluator, Kept> {
        let mut known = self.checkers.0.lock().await;
        if let Some(checker) = known.get(sha256) {
            return Ok(checker.clone());
        }
        let workspace = Workspace::at(self.bundles.folder().join("workspace"));
        let checker =
            self.evaluator(manifest, None, workspace, Arc::new(Budget::default())).await?;
        known.insert(sha256.to_owned(), checker.clone());
        Ok(checker)
    }
}
