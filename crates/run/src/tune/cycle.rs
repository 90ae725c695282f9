//! The loop itself.

use std::collections::BTreeMap;

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::{Improve, Score, Split, Tried, best, iteration, round, warnings};
use skillgauge_format::Number;
use skillgauge_format::trigger::{
    LoopIteration, LoopSummary, QueryResult, QueryVerdict, TriggerReport, TuneProof,
};
use skillgauge_format::write::round_rate;
use tokio_util::sync::CancellationToken;

use super::improver::Improver;
use super::measure::{Basis, MeasureError, RoundReport};
use super::tuning::{Stage, StopReason, TuneError, TuneEvent, TuneResult, Tuning, split_of};
use crate::now;
use crate::probe::{ProbeCost, ProbeEvent, ProbeId, Sample, Spending};

pub async fn tune(
    tuning: Tuning<'_>,
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
) -> Result<TuneResult, TuneError> {
    let mut cycle = Cycle::new(tuning);
    let (description, queries) = (cycle.tuning.description, cycle.tuning.queries);
    let whole = Sample { queries, first_run: 1, runs: cycle.tuning.settings.runs };
    let first = cycle.measure(1, Stage::Round, description, whole, cancel, on_event).await?;
    let first_shortfall = first.shortfall.clone();
    cycle.take(1, first, Adoption::First, on_event)?;
    let mut stop = match first_shortfall {
        Some(limit) => StopReason::Limit { limit },
        None => cycle.improve(cancel, on_event).await?,
    };
    if !stop.is_early()
        && let Some(early) = cycle.prove(cancel, on_event).await?
    {
        stop = early;
    }
    cycle.finish(stop)
}

/// Whether the loop may go on from a description.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Adoption {
    /// It is where the loop begins.
    First,
    /// Only if it is better.
    IfBetter,
}

/// The state of a loop.
pub(super) struct Cycle<'t> {
    pub(super) tuning: Tuning<'t>,
    pub(super) queries: Vec<LabelledQuery>,
    pub(super) split: Split,
    pub(super) iterations: Vec<LoopIteration>,
    reports: Vec<TriggerReport>,
    /// The place of the iteration that the loop goes on from: the one that did best on the training queries.
    pub(super) current: usize,
    tried: Vec<Tried>,
    /// What the improver cost.
    spent: Spending,
    /// What each probe cost: one that several samples have in common was paid for once.
    probes: BTreeMap<ProbeId, ProbeCost>,
    pub(super) proof: Option<TuneProof>,
}

impl<'t> Cycle<'t> {
    fn new(tuning: Tuning<'t>) -> Self {
        let split = split_of(tuning.queries, &tuning.settings);
        let before = |description: &String| Tried { description: description.clone(), train: None };
        let tried = tuning.proposals.tried().iter().map(before).collect();
        Self {
            queries: tuning.queries.to_vec(),
            split,
            iterations: Vec::new(),
            reports: Vec::new(),
            current: 0,
            tried,
            spent: Spending::default(),
            probes: BTreeMap::new(),
            proof: None,
            tuning,
        }
    }

    /// Round after round, until there is a reason to stop.
    async fn improve(
        &mut self,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<StopReason, TuneError> {
        let settings = self.tuning.settings.clone();
        for number in 2..=u64::from(settings.rounds) {
            let train = self.train(self.current);
            if is_reached(&Score::of(&train), settings.target) {
                return Ok(StopReason::TargetReached { target: settings.target });
            }
            if !train.iter().any(|result| result.verdict() == QueryVerdict::Failed) {
                return Ok(StopReason::NothingToLearn);
            }
            let proposed = match self.propose(number, &train, cancel, on_event).await? {
                Ok(proposed) => proposed,
                Err(stop) => return Ok(stop),
            };
            self.note(&proposed, &train)?;
            if proposed.is_empty() {
                on_event(TuneEvent::NothingUsable { round: number });
                continue;
            }
            if let Some(stop) = self.try_out(number, proposed, cancel, on_event).await? {
                return Ok(stop);
            }
        }
        let reached = is_reached(&Score::of(&self.train(self.current)), settings.target);
        Ok(if reached {
            StopReason::TargetReached { target: settings.target }
        } else {
            StopReason::RoundsUsed { rounds: settings.rounds }
        })
    }

    /// The results of the training queries in an iteration: all that an improver may know.
    fn train(&self, place: usize) -> Vec<QueryResult> {
        let Some(report) = self.reports.get(place) else { return Vec::new() };
        round::part(report, &self.queries, &self.split.train).into_iter().cloned().collect()
    }

    /// The descriptions of a round that can be tried: those of an earlier call, or what the improver says now.
    async fn propose(
        &mut self,
        number: u64,
        train: &[QueryResult],
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<Result<Vec<String>, StopReason>, TuneError> {
        let mut proposed = Vec::new();
        for candidate in 0..self.tuning.settings.candidates.max(1) {
            if let Some(known) = self.tuning.proposals.known(number, candidate) {
                let cost_usd = known.cost_usd.map(Number::as_f64);
                self.spent.add(&Spending {
                    calls: known.calls.unwrap_or_default(),
                    cost_usd,
                    cost_at_least_usd: cost_usd.unwrap_or_default(),
                    ..Spending::default()
                });
                let known = known.description.clone();
                self.tried.extend(known.clone().map(untested));
                proposed.extend(known);
                continue;
            }
            on_event(TuneEvent::Improving { round: number });
            let mut improver = Improver {
                model: self.tuning.improver,
                template: &self.tuning.settings.template,
                budget: &self.tuning.budget,
                cancel,
                spent: Spending::default(),
            };
            let improve = Improve {
                name: self.tuning.skill_name,
                description: &self.iterations[self.current].description,
                body: self.tuning.body,
                train,
                tried: &self.tried,
            };
            let answer = improver.propose(&improve).await;
            self.spent.add(&improver.spent);
            let answer = match answer {
                Ok(answer) => answer,
                Err(stop) => return Ok(Err(stop)),
            };
            let proposals = &mut self.tuning.proposals;
            proposals.keep(number, candidate, answer.description.as_deref(), &improver.spent)?;
            let next = answer.description.clone().or(answer.refused);
            self.tried.extend(next.map(untested));
            proposed.extend(answer.description);
        }
        Ok(Ok(proposed))
    }

    /// Adds what was proposed to the history, with the training results that led to it.
    fn note(&mut self, proposed: &[String], train: &[QueryResult]) -> Result<(), TuneError> {
        let history = &mut self.tuning.history;
        for description in proposed {
            if history.0.iter().any(|known| known.description == *description) {
                continue;
            }
            let number = history.0.iter().map(|known| known.round).max().unwrap_or(0) + 1;
            history.0.push(round::history_round(number, now(), description, train));
        }
        self.write_history()
    }

    /// Measures a description on a sample, or says why the loop has to stop.
    pub(super) async fn sample(
        &mut self,
        number: u64,
        stage: Stage,
        description: &str,
        sample: Sample<'_>,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<Result<RoundReport, StopReason>, TuneError> {
        let taken = match self.measure(number, stage, description, sample, cancel, on_event).await {
            Ok(taken) => taken,
            Err(MeasureError::Cancelled) => return Ok(Err(StopReason::Interrupted)),
            Err(MeasureError::Limit { limit }) => return Ok(Err(StopReason::Limit { limit })),
            Err(error) => {
                return Ok(Err(StopReason::Measurement { message: error.to_string() }));
            }
        };
        let Some(limit) = taken.shortfall.clone() else { return Ok(Ok(taken)) };
        // Half of the probes say nothing about the whole: the report is kept, and is no iteration.
        if let (Some(store), Stage::Round) = (&self.tuning.store, stage) {
            store.write_round(number, &taken.file)?;
        }
        Ok(Err(StopReason::Limit { limit }))
    }

    async fn measure(
        &mut self,
        round: u64,
        stage: Stage,
        description: &str,
        sample: Sample<'_>,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<RoundReport, MeasureError> {
        on_event(TuneEvent::Measuring { round, stage, description });
        let mut watch = |event: ProbeEvent<'_>| on_event(TuneEvent::Probe(event));
        let measure = self.tuning.measure;
        let taken = measure.measure(description, sample, cancel, &mut watch).await?;
        for cost in &taken.spent {
            let known = self.probes.entry(cost.id.clone()).or_insert_with(|| cost.clone());
            // One that measured nothing was asked again.
            if !known.is_measured && known != cost {
                known.spending.add(&cost.spending);
                known.is_measured = cost.is_measured;
            }
        }
        Ok(taken)
    }

    /// Makes an iteration of a report and writes everything down.
    pub(super) fn take(
        &mut self,
        number: u64,
        taken: RoundReport,
        adoption: Adoption,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<(), TuneError> {
        let place = self.iterations.len();
        let mut made = iteration(number, &taken.report, &self.queries, &self.split, now());
        self.reports.push(taken.report);
        let score = |place| Score::of(&self.train(place));
        let is_adopted =
            adoption == Adoption::First || score(place).is_better_than(&score(self.current));
        made.adopted = Some(is_adopted);
        if is_adopted {
            self.current = place;
        }
        if let Some(store) = &self.tuning.store {
            store.write_round(number, &taken.file)?;
        }
        on_event(TuneEvent::Measured(&made));
        self.iterations.push(made);
        // A loop that is killed has a summary of what it did so far.
        self.write(&self.summary(&StopReason::Interrupted))
    }

    /// Remembers how a proposal did on all training queries, for the improver and the history.
    pub(super) fn tested(
        &mut self,
        description: &str,
        report: &TriggerReport,
    ) -> Result<Score, TuneError> {
        let train = round::part(report, &self.queries, &self.split.train);
        let score = Score::of(train.iter().copied());
        if let Some(tried) = self.tried.iter_mut().rfind(|tried| tried.description == description) {
            tried.train = Some((score.passed, score.total));
        }
        let mut noted = self.tuning.history.0.iter_mut();
        if let Some(noted) = noted.rfind(|noted| noted.description == description) {
            // One that an older loop measured keeps what it had on the queries of then.
            noted.measured.get_or_insert_with(|| round::history_score(&train));
        }
        self.write_history()?;
        Ok(score)
    }

    fn write_history(&self) -> Result<(), TuneError> {
        match &self.tuning.store {
            Some(store) => Ok(store.write_history(&self.tuning.history)?),
            None => Ok(()),
        }
    }

    fn summary(&self, stop: &StopReason) -> LoopSummary {
        let best = best(&self.iterations).and_then(|place| self.iterations.get(place));
        let best = best.cloned().unwrap_or_default();
        let proven = self.proof.as_ref().filter(|proof| proof.proven);
        let final_description = proven.map_or(self.tuning.description, |proof| &proof.candidate);
        let mut spent = self.spent;
        for cost in self.probes.values() {
            spent.add(&cost.spending);
        }
        let mut warnings = warnings(&self.iterations);
        if self.tuning.measure.basis() == Basis::Estimate {
            warnings.insert(0, skillgauge_core::estimate::NOTE.to_owned());
        }
        LoopSummary {
            skill_name: self.tuning.skill_name.to_owned(),
            original_description: self.tuning.description.to_owned(),
            iterations: self.iterations.clone(),
            final_description: final_description.to_owned(),
            best_iteration: best,
            best_iteration_note: optimism(&self.iterations),
            proof: self.proof.clone(),
            total_rounds: self.iterations.len() as u64,
            warnings: Some(warnings),
            stop_reason: Some(stop.to_string()),
            partial: stop.is_early().then_some(true),
            basis: match self.tuning.measure.basis() {
                Basis::Measured => None,
                Basis::Estimate => Some("estimate".to_owned()),
            },
            holdout: Some(Number::Float(round_rate(self.tuning.settings.holdout))),
            seed: Some(self.tuning.settings.seed),
            calls: Some(spent.calls),
            cost_usd: spent.cost_usd.map(|cost| Number::Float(round_rate(cost))),
            ..LoopSummary::default()
        }
    }

    fn write(&self, summary: &LoopSummary) -> Result<(), TuneError> {
        match &self.tuning.store {
            Some(store) => Ok(store.write_summary(summary)?),
            None => Ok(()),
        }
    }

    fn finish(self, stop: StopReason) -> Result<TuneResult, TuneError> {
        let summary = self.summary(&stop);
        self.write(&summary)?;
        Ok(TuneResult { summary, reports: self.reports, split: self.split, stop })
    }
}

/// A rate that something was chosen by is better than it will be again.
fn optimism(iterations: &[LoopIteration]) -> Option<String> {
    let [first, _, ..] = iterations else { return None };
    let by = if first.test_total > 0 { "held-out rate" } else { "rate" };
    let count = iterations.len();
    Some(format!("chosen by its {by} among {count} rounds, so that rate is optimistic"))
}

fn untested(description: String) -> Tried {
    Tried { description, train: None }
}

#[expect(clippy::cast_precision_loss, reason = "counts of queries")]
fn is_reached(score: &Score, target: f64) -> bool {
    score.passed as f64 >= target * (score.total + score.undecided) as f64
}

#[cfg(test)]
mod simulations;
#[cfg(test)]
mod tests;
