//! The plan minus what is here, lost or queued: queued again. A queue that somebody deleted heals by this alone.

use std::path::PathBuf;

use skillgauge_core::plan::RunId;

use super::{CollectError, Collection};
use crate::archive::pack;
use crate::fleet::{Fleet, FleetError};
use crate::id::{AttemptId, RunToken};
use crate::job::{ArchiveName, Commit, Queue, ResultRecord, Standing};

/// Who writes down that a job is lost, and who brings results that were here first.
const COORDINATOR: &str = "coordinator";

impl<F: Fleet> Collection<'_, F> {
    pub(super) async fn publish(&self, queue: Queue, runs: &[RunId]) -> Result<(), CollectError> {
        self.fleet.publish(queue, &self.id, &self.entry, runs).await?;
        Ok(())
    }

    /// Queues what is missing and not queued. One job per subject makes it harmless to be wrong.
    pub(super) async fn reconcile(&mut self) -> Result<(), CollectError> {
        self.fleet.open_queues(&self.id, &self.entry).await?;
        for queue in Queue::ALL {
            self.requeue(queue).await?;
        }
        Ok(())
    }

    /// Whether a run has to be run or graded, as far as is known here.
    pub(super) fn is_wanted(&self, queue: Queue, run: &RunId) -> bool {
        match queue {
            Queue::Runs => !self.here.contains(run) && !self.lost.contains_key(run),
            Queue::Grades => {
                self.here.contains(run)
                    && !self.graded.contains(run)
                    && !self.not_graded.contains_key(run)
            }
        }
    }

    async fn requeue(&self, queue: Queue) -> Result<(), CollectError> {
        let queued = self.fleet.queued(queue, &self.id).await?;
        let mut missing = Vec::new();
        for (token, run) in &self.tokens {
            // Asked after the queue was looked at: a result is stored before its job is gone from there.
            if self.is_wanted(queue, run)
                && !queued.contains(token)
                && self.fleet.result(queue, &self.id, token).await?.is_none()
            {
                missing.push(run.clone());
            }
        }
        self.publish(queue, &missing).await
    }

    /// Writes down that a job is lost, and then removes it. A result that came first stays the result.
    pub(super) async fn bury_dead(&mut self) -> Result<(), CollectError> {
        for dead in self.fleet.dead(&self.id).await? {
            if let Some(run) = self.tokens.get(&dead.token) {
                let record = self.own_record(run, Standing::Lost { why: dead.why.clone() });
                self.fleet.commit(dead.queue, &self.id, &record).await?;
            }
            self.fleet.bury(&dead).await?;
        }
        Ok(())
    }

    fn own_record(&self, run: &RunId, standing: Standing) -> ResultRecord {
        ResultRecord {
            run: run.clone(),
            attempt: AttemptId::new(),
            delivered: self.entry.times.max_deliver,
            worker: COORDINATOR.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            agent_version: None,
            standing,
            archive: None,
            grading: None,
        }
    }

    /// Runs that are here and not graded: the fleet gets those that it does not have, such as a baseline that was taken
    /// over, and forgets what it could not grade the last time.
    pub(super) async fn entrust(&mut self) -> Result<(), CollectError> {
        let ungraded: Vec<RunId> = self.here.difference(&self.graded).cloned().collect();
        for run in ungraded {
            let token = RunToken::of(&self.id, &run);
            let known = self.fleet.result(Queue::Runs, &self.id, &token).await?;
            if known.is_none_or(|known| known.archive.is_none()) {
                self.fleet.forget(Queue::Runs, &self.id, &token).await?;
                self.bring(&run, &token).await?;
            }
            let is_no_grade = |record: ResultRecord| match record.standing {
                Standing::Graded(graded) => graded.judge_errors > 0,
                Standing::Lost { .. } | Standing::Ran { .. } => true,
            };
            let grade = self.fleet.result(Queue::Grades, &self.id, &token).await?;
            if grade.is_some_and(is_no_grade) {
                self.fleet.forget(Queue::Grades, &self.id, &token).await?;
            }
        }
        Ok(())
    }

    async fn bring(&self, run: &RunId, token: &RunToken) -> Result<(), CollectError> {
        let dir = self.iteration.run_dir(run);
        let stored = dir.record()?;
        // Where the run was made before it came here, and where there is room for it.
        let scratch = self.iteration.begin_run(run)?.dir();
        let file = scratch.root().join("run.zip");
        let packed = pack(dir.root(), vec![PathBuf::new()], &file).await?;
        let mut record = self.own_record(
            run,
            Standing::Ran {
                outcome: stored.outcome,
                reason: stored.reason,
                seconds: stored.seconds.as_f64(),
            },
        );
        record.delivered = 1;
        let name = ArchiveName::new(Queue::Runs, &self.id, token, record.attempt.clone());
        let archive = if let Some(small) = packed.small(&name, self.entry.small_archive) {
            small
        } else {
            let file = packed.file().map_err(FleetError::Io)?;
            self.fleet.put_archive(&name, file).await?
        };
        let _ = fs_err::remove_dir_all(scratch.root());
        record.archive = Some(archive.clone());
        if let Commit::Lost { .. } = self.fleet.commit(Queue::Runs, &self.id, &record).await? {
            archive.remove(self.fleet).await?;
        }
        Ok(())
    }
}
