//! Results, page by page: which of them are new, several brought home at once, each noted and told in its turn.

use std::sync::Arc;

use futures_util::{StreamExt as _, future, stream};
use skillgauge_core::plan::RunId;
use skillgauge_format::Number;
use skillgauge_run::iteration::IterationEvent;

use super::install::{Arrival, InstalledRun, install};
use super::{CollectError, Collection};
use crate::fleet::Fleet;
use crate::id::RunToken;
use crate::job::{GradingCounts, Queue, ResultRecord, Standing, StoredResult};
use crate::plan::PlanState;

/// So many results are brought home at the same time.
const AT_ONCE: usize = 8;

impl<F: Fleet> Collection<'_, F> {
    /// Reads what is new of a queue's results: several are brought home at once, and told in their order.
    pub(super) async fn take_results(&mut self, queue: Queue) -> Result<(), CollectError> {
        loop {
            let after = self.read.get(&queue).copied().unwrap_or_default();
            let page = self.fleet.results(queue, &self.id, after).await?;
            let Some(last) = page.last().map(|stored| stored.revision) else { return Ok(()) };
            // Asked after the results were read: what is among them was stored before any cancel that is not seen yet.
            if let Some(entry) = self.fleet.plan(&self.id).await? {
                self.entry = entry;
            }
            let new: Vec<ResultRecord> = page
                .into_iter()
                .filter(|stored| self.entry.counts(queue, stored.revision))
                .filter(|stored| self.is_new(queue, stored))
                .map(|stored| stored.record)
                .collect();
            let ungraded = self.bring_home(queue, new).await?;
            // Nobody grades what belongs to a plan that is over; it is graded when the plan goes on.
            if self.entry.state == PlanState::Running {
                self.publish(Queue::Grades, &ungraded).await?;
            }
            if self.settings.cancel.is_cancelled() {
                return Ok(());
            }
            self.read.insert(queue, last);
        }
    }

    /// Puts results into their places, and tells which runs are to be graded. Whatever was begun is ended before this
    /// is: nobody else may be at the same place then.
    async fn bring_home(
        &mut self,
        queue: Queue,
        results: Vec<ResultRecord>,
    ) -> Result<Vec<RunId>, CollectError> {
        let (fleet, place) = (self.fleet, Arc::clone(&self.place));
        let enough = self.settings.cancel.child_token();
        let mut installs = stream::iter(results)
            .take_while(|_| future::ready(!enough.is_cancelled()))
            .map(|result| install(fleet, Arc::clone(&place), result))
            .buffered(AT_ONCE);
        let (mut ungraded, mut failed) = (Vec::new(), None);
        while let Some(installed) = installs.next().await {
            let taken = match installed {
                Ok((result, installed)) => self.take_result(queue, &result, installed).await,
                Err(error) => Err(error),
            };
            match taken {
                Ok(run) => ungraded.extend(run),
                Err(error) => {
                    failed.get_or_insert(error);
                    enough.cancel();
                }
            }
        }
        failed.map_or(Ok(ungraded), Err)
    }

    /// Whether a result tells something that is not known here.
    fn is_new(&self, queue: Queue, stored: &StoredResult) -> bool {
        let StoredResult { token, record, .. } = stored;
        let run = &record.run;
        // Somebody else's key: not of this plan, or not of this run, whatever it says.
        self.tokens.get(token) == Some(run)
            && match (&record.standing, queue) {
                (Standing::Lost { .. } | Standing::Ran { .. }, Queue::Runs) => {
                    !self.here.contains(run)
                }
                (Standing::Lost { .. }, Queue::Grades) => !self.graded.contains(run),
                (Standing::Graded(_), Queue::Grades) => {
                    self.here.contains(run) && !self.graded.contains(run)
                }
                (Standing::Graded(_), Queue::Runs) | (Standing::Ran { .. }, Queue::Grades) => false,
            }
    }

    /// Notes and tells a result whose files are here. The run is returned if it is to be graded.
    async fn take_result(
        &mut self,
        queue: Queue,
        record: &ResultRecord,
        installed: Arrival,
    ) -> Result<Option<RunId>, CollectError> {
        let (id, token) = (record.run.clone(), RunToken::of(&self.id, &record.run));
        match (installed, &record.standing, queue) {
            (Arrival::Run(run), _, _) => return self.note_run(record, *run),
            (Arrival::Grading, Standing::Graded(graded), _) => {
                self.note_grading(record, graded)?;
            }
            (Arrival::Damaged(error), _, Queue::Runs) => {
                self.trouble(&format!("{id} is run again: {error}"));
                self.fleet.forget(queue, &self.id, &token).await?;
            }
            (Arrival::Damaged(error), _, Queue::Grades) => {
                self.trouble(&format!("{id} is graded again: {error}"));
                self.fleet.forget(queue, &self.id, &token).await?;
            }
            (Arrival::Nothing, Standing::Lost { why }, Queue::Runs) => {
                if self.lost.insert(id.clone(), why.clone()).is_none() {
                    let message = why.clone();
                    self.teller.tell(&IterationEvent::RunLost { id, message })?;
                }
            }
            (Arrival::Nothing, Standing::Lost { why }, Queue::Grades) => {
                if self.not_graded.insert(id.clone(), why.clone()).is_none() {
                    let message = why.clone();
                    self.teller.tell(&IterationEvent::NotGraded { id, message })?;
                }
            }
            (Arrival::Grading | Arrival::Nothing, _, _) => {}
        }
        Ok(None)
    }

    /// A run is in its place. It is returned if its grading did not come with it.
    fn note_run(
        &mut self,
        result: &ResultRecord,
        installed: InstalledRun,
    ) -> Result<Option<RunId>, CollectError> {
        let (run, stored) = (&result.run, installed.record);
        self.here.insert(run.clone());
        self.lost.remove(run);
        let agent = result.agent_version.as_deref();
        self.collected.mixture.add(Some(&result.tool_version), agent);
        self.collected.given_out_again += usize::from(result.delivered > 1);
        // Limits are looked at between results; what was paid for is kept.
        let _ = self.budget.take_agent_call();
        self.budget.add_cost(1, stored.cost_usd.map(Number::as_f64));
        self.teller.tell(&IterationEvent::RunEnded {
            id: run.clone(),
            outcome: stored.outcome,
            reason: stored.reason,
            seconds: stored.seconds.as_f64(),
            tokens: stored.total_tokens,
            cost_usd: stored.cost_usd.map(Number::as_f64),
            skill_loaded: stored.skill_loaded,
            message: stored.message.clone(),
        })?;
        match installed.grading {
            Ok(Some(graded)) => {
                self.note_grading(result, &graded)?;
                return Ok(None);
            }
            Ok(None) => {}
            Err(error) => self.trouble(&format!("{run} is graded again: {error}")),
        }
        Ok(Some(run.clone()))
    }

    fn note_grading(
        &mut self,
        result: &ResultRecord,
        graded: &GradingCounts,
    ) -> Result<(), CollectError> {
        let GradingCounts { passed, total, gated, judge_errors, cost_usd, calls } = *graded;
        let id = result.run.clone();
        self.graded.insert(id.clone());
        self.not_graded.remove(&id);
        self.collected.mixture.add_grading(&result.tool_version);
        self.collected.result.judge_errors += judge_errors;
        self.budget.made_model_calls(0, calls, cost_usd);
        self.teller.tell(&IterationEvent::Graded { id, passed, total, gated, judge_errors })?;
        Ok(())
    }
}
