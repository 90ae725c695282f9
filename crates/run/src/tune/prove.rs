//! Original and candidate once more, on the held-out queries: fresh runs, one of each in turn.

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::proof::{Arm, count_in};
use skillgauge_format::trigger::ProofResult;
use tokio_util::sync::CancellationToken;

use super::cycle::Cycle;
use super::measure::Basis;
use super::tuning::{Stage, StopReason, TuneError, TuneEvent};
use crate::probe::Sample;

/// The number of the first run of a proof, which no round reaches: the journal must not mistake one for the other.
const FIRST_RUN: u32 = 1_000_001;

impl Cycle<'_> {
    /// Decides whether the description that did best on the training queries is better than the original; says why it
    /// could not, if it could not. When nothing did better there is nothing to prove.
    pub(super) async fn prove(
        &mut self,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<Option<StopReason>, TuneError> {
        let original = self.tuning.description;
        let Some(candidate) = self.iterations.get(self.current) else { return Ok(None) };
        let (round, candidate) = (candidate.round, candidate.description.clone());
        if self.current == 0 || candidate == original {
            return Ok(None);
        }
        let plan = self.tuning.proof.clone();
        if self.tuning.measure.basis() == Basis::Estimate || !plan.can_prove() {
            self.proof = Some(plan.unasked(round, &candidate));
            return Ok(None);
        }
        let queries = self.part(&self.split.test);
        let cell = |query: &LabelledQuery| ProofResult {
            query: query.text.clone(),
            should_trigger: query.should_trigger,
            situation: query.situation.clone(),
            ..ProofResult::default()
        };
        let mut cells: Vec<ProofResult> = queries.iter().map(cell).collect();
        for run in 0..plan.runs {
            // Who goes first changes, too.
            let mut arms = [(Arm::Original, original), (Arm::Candidate, candidate.as_str())];
            arms.rotate_left(usize::from(run % 2 == 1));
            for (arm, description) in arms {
                let stage = Stage::Proof { arm, run: run + 1, runs: plan.runs };
                let first_run = FIRST_RUN.saturating_add(run);
                let sample = Sample { queries: &queries, first_run, runs: 1 };
                let taken =
                    self.sample(round, stage, description, sample, cancel, on_event).await?;
                match taken {
                    Ok(taken) => count_in(&mut cells, arm, &taken.report.results),
                    Err(stop) => return Ok(Some(stop)),
                }
            }
        }
        let seed = self.tuning.settings.seed;
        self.proof = Some(plan.decide(round, &candidate, cells, seed));
        Ok(None)
    }
}
