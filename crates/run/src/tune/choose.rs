//! Which of a round's proposals becomes its iteration: the one that does best on the training queries.

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::{Score, halving, round};
use tokio_util::sync::CancellationToken;

use super::cycle::{Adoption, Cycle};
use super::join::joined;
use super::measure::{Basis, RoundFile, RoundReport};
use super::tuning::{Stage, StopReason, Trial, TuneError, TuneEvent};
use crate::probe::Sample;

impl Cycle<'_> {
    /// Measures the proposals of a round and takes the one that does best on the training queries.
    pub(super) async fn try_out(
        &mut self,
        number: u64,
        mut proposed: Vec<String>,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<Option<StopReason>, TuneError> {
        // An estimate costs nothing, and depends on all queries at once.
        let trial = match self.tuning.measure.basis() {
            Basis::Measured => Trial::of(proposed.len(), &self.split),
            Basis::Estimate => Trial::Whole,
        };
        let (train, test) = (self.part(&self.split.train), self.part(&self.split.test));
        let (all, runs) = (self.tuning.queries, self.tuning.settings.runs);
        let tried_on = match trial {
            Trial::Whole => all,
            Trial::TrainingFirst | Trial::Halving => train.as_slice(),
        };
        if trial == Trial::Halving {
            proposed = match self.halve(number, proposed, &train, cancel, on_event).await? {
                Ok(left) => left,
                Err(stop) => return Ok(Some(stop)),
            };
        }
        let mut chosen: Option<(Score, RoundReport)> = None;
        for description in &proposed {
            let whole = Sample { queries: tried_on, first_run: 1, runs };
            let taken =
                self.sample(number, Stage::Round, description, whole, cancel, on_event).await?;
            let taken = match taken {
                Ok(taken) => taken,
                Err(stop) => return Ok(Some(stop)),
            };
            let score = self.tested(description, &taken.report)?;
            let is_best = chosen
                .as_ref()
                .is_none_or(|(best, _)| (score.passed, score.margin) > (best.passed, best.margin));
            if is_best {
                chosen = Some((score, taken));
            }
        }
        let Some((_, mut taken)) = chosen else { return Ok(None) };
        if trial != Trial::Whole && !test.is_empty() {
            let description = taken.report.description.clone();
            let rest = Sample { queries: &test, first_run: 1, runs };
            let held_out =
                self.sample(number, Stage::Round, &description, rest, cancel, on_event).await?;
            let held_out = match held_out {
                Ok(held_out) => held_out,
                Err(stop) => return Ok(Some(stop)),
            };
            taken.report = joined(taken.report, held_out.report, all);
            taken.file = RoundFile::Report(Box::new(taken.report.clone()));
        }
        self.take(number, taken, Adoption::IfBetter, on_event)?;
        Ok(None)
    }

    /// The one that is left when the worse half has been dropped often enough.
    async fn halve(
        &mut self,
        number: u64,
        proposed: Vec<String>,
        train: &[LabelledQuery],
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<Result<Vec<String>, StopReason>, TuneError> {
        let settings = &self.tuning.settings;
        let labels: Vec<bool> = train.iter().map(|query| query.should_trigger).collect();
        let order = halving::order(&labels, settings.seed);
        let ordered: Vec<LabelledQuery> =
            order.into_iter().filter_map(|place| train.get(place)).cloned().collect();
        let runs = usize::try_from(settings.runs).unwrap_or(usize::MAX);
        let mut left: Vec<usize> = (0..proposed.len()).collect();
        let mut right = vec![(0, 0); proposed.len()];
        let mut asked = 0;
        for rung in halving::ladder(proposed.len(), ordered.len().saturating_mul(runs)) {
            for (run, part) in halving::parts(asked..rung.probes, ordered.len()) {
                // The queries of one part come from all descriptions before those of the next: what changes with time
                // changes for all.
                for &place in &left {
                    let sample =
                        Sample { queries: &ordered[part.clone()], first_run: run, runs: 1 };
                    let stage = Stage::Choosing { left: left.len() };
                    let taken = self
                        .sample(number, stage, &proposed[place], sample, cancel, on_event)
                        .await?;
                    let taken = match taken {
                        Ok(taken) => taken,
                        Err(stop) => return Ok(Err(stop)),
                    };
                    for result in &taken.report.results {
                        let (good, completed) = round::right_runs(result);
                        right[place] = (right[place].0 + good, right[place].1 + completed);
                    }
                }
            }
            asked = rung.probes;
            left = halving::better_half(&left, |place| halving::share(right[place]));
        }
        Ok(Ok(left.into_iter().filter_map(|place| proposed.get(place)).cloned().collect()))
    }

    /// The queries at these places.
    pub(super) fn part(&self, places: &[usize]) -> Vec<LabelledQuery> {
        places.iter().filter_map(|place| self.tuning.queries.get(*place)).cloned().collect()
    }
}
