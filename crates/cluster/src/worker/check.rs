//! Checks right after a run, for plans without a judge: what nobody has to be asked for needs no job of its own.
//!
//! They are made with the same evaluator as in a grading job, in the run's folder before it is packed, and cannot cost the
//! run: one whose checks do not work is stored without, and whoever collects it has it graded.

use std::collections::BTreeMap;
use std::sync::Arc;

use skillgauge_core::workspace::{RunDir, Workspace};
use skillgauge_run::budget::Budget;
use skillgauge_run::grade::{GradeTask, Subject};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::job::JobFailure;
use super::{Shared, WorkerEvent};
use crate::fleet::Fleet;
use crate::job::{GradingCounts, Lease};
use crate::manifest::Manifest;

/// The checks of plans, by the digest of the manifest: a suite is read once and not for each run.
#[derive(Debug, Default)]
pub(super) struct Checkers(Mutex<BTreeMap<String, Arc<Subject>>>);

impl<F: Fleet> Shared<F> {
    /// Checks a run in its folder, if its plan has no judge.
    pub(super) async fn check(
        &self,
        lease: &Lease<F::Ticket>,
        manifest: &Manifest,
        run: &RunDir,
        cancel: &CancellationToken,
    ) -> Option<GradingCounts> {
        if lease.entry.judge.is_some() {
            return None;
        }
        let evaluator = self.evaluator(None, Arc::new(Budget::default()));
        let graded = match self.checks_of(&lease.entry.manifest, manifest).await {
            Ok(subject) => {
                let task = GradeTask { id: lease.run.clone(), run: run.clone(), subject };
                evaluator.evaluate(&task, cancel).await.map_err(|error| error.to_string())
            }
            Err(kept) => Err(kept.why),
        };
        match graded.map(|graded| evaluator.summary(&graded)) {
            Ok(summary) => Some(GradingCounts {
                passed: summary.passed,
                total: summary.total,
                gated: summary.gated,
                judge_errors: summary.judge_errors,
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

    async fn checks_of(
        &self,
        sha256: &str,
        manifest: &Manifest,
    ) -> Result<Arc<Subject>, JobFailure> {
        let mut known = self.checkers.0.lock().await;
        if let Some(subject) = known.get(sha256) {
            return Ok(Arc::clone(subject));
        }
        let workspace = Workspace::at(self.bundles.folder().join("workspace"));
        let subject = Arc::new(self.subject(manifest, workspace).await?);
        known.insert(sha256.to_owned(), Arc::clone(&subject));
        Ok(subject)
    }
}
