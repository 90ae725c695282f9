//! The loop itself.

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::{Improve, Score, Split, Tried, best, iteration, round, warnings};
use skillgauge_format::Number;
use skillgauge_format::trigger::{
    LoopIteration, LoopSummary, QueryResult, QueryVerdict, TriggerReport,
};
use skillgauge_format::write::round_rate;
use tokio_util::sync::CancellationToken;

use super::improver::Improver;
use super::join::joined;
use super::measure::{Basis, MeasureError, RoundFile, RoundReport};
use super::tuning::{StopReason, Trial, TuneError, TuneEvent, TuneResult, Tuning, split_of};
use crate::now;
use crate::probe::{ProbeEvent, Spending};

pub async fn tune(
    tuning: Tuning<'_>,
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
) -> Result<TuneResult, TuneError> {
    let mut cycle = Cycle::new(tuning);
    let (description, queries) = (cycle.tuning.description, cycle.tuning.queries);
    let first = cycle.measure(1, description, queries, cancel, on_event).await?;
    let first_shortfall = first.shortfall.clone();
    cycle.take(1, first, Adoption::First, on_event)?;
    let stop = match first_shortfall {
        Some(limit) => StopReason::Limit { limit },
        None => cycle.improve(cancel, on_event).await?,
    };
    cycle.finish(stop)
}

/// Whether the loop may go on from a description.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Adoption {
    /// It is where the loop begins.
    First,
    /// Only if it is better.
    IfBetter,
}

/// The state of a loop.
struct Cycle<'t> {
    tuning: Tuning<'t>,
    texts: Vec<String>,
    split: Split,
    iterations: Vec<LoopIteration>,
    reports: Vec<TriggerReport>,
    /// The place of the iteration that the loop goes on from.
    current: usize,
    tried: Vec<Tried>,
    spent: Spending,
}

impl<'t> Cycle<'t> {
    fn new(tuning: Tuning<'t>) -> Self {
        let split = split_of(tuning.queries, &tuning.settings);
        let before = |description: &String| Tried { description: description.clone(), train: None };
        let tried = tuning.proposals.tried().iter().map(before).collect();
        Self {
            texts: tuning.queries.iter().map(|query| query.text.clone()).collect(),
            split,
            iterations: Vec::new(),
            reports: Vec::new(),
            current: 0,
            tried,
            spent: Spending::default(),
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
        for number in 2..=u64::from(settings.rounds) + 1 {
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
        round::part(report, &self.texts, &self.split.train).into_iter().cloned().collect()
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
            self.tuning.proposals.keep(number, candidate, answer.description.as_deref())?;
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
        match &self.tuning.store {
            Some(store) => Ok(store.write_history(&self.tuning.history)?),
            None => Ok(()),
        }
    }

    /// Measures the proposals of a round and takes the one that does best on the training queries.
    async fn try_out(
        &mut self,
        number: u64,
        proposed: Vec<String>,
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<Option<StopReason>, TuneError> {
        // An estimate costs nothing, and depends on all queries at once.
        let trial = match self.tuning.measure.basis() {
            Basis::Measured => Trial::of(proposed.len() as u64, &self.split),
            Basis::Estimate => Trial::Whole,
        };
        let all = self.tuning.queries;
        let part = |places: &[usize]| -> Vec<LabelledQuery> {
            places.iter().filter_map(|place| all.get(*place)).cloned().collect()
        };
        let (train, test) = (part(&self.split.train), part(&self.split.test));
        let tried_on = match trial {
            Trial::Whole => all,
            Trial::TrainingFirst => train.as_slice(),
        };
        let mut chosen: Option<(Score, RoundReport)> = None;
        for description in &proposed {
            let taken = match self.sample(number, description, tried_on, cancel, on_event).await? {
                Ok(taken) => taken,
                Err(stop) => return Ok(Some(stop)),
            };
            let score = Score::of(round::part(&taken.report, &self.texts, &self.split.train));
            self.tested(description, &score);
            let is_best = chosen
                .as_ref()
                .is_none_or(|(best, _)| (score.passed, score.margin) > (best.passed, best.margin));
            if is_best {
                chosen = Some((score, taken));
            }
        }
        let Some((_, mut taken)) = chosen else { return Ok(None) };
        if trial == Trial::TrainingFirst {
            let description = taken.report.description.clone();
            let held_out = self.sample(number, &description, &test, cancel, on_event).await?;
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

    /// Measures a proposal on some queries, or says why the loop has to stop.
    async fn sample(
        &mut self,
        number: u64,
        description: &str,
        queries: &[LabelledQuery],
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<Result<RoundReport, StopReason>, TuneError> {
        let taken = match self.measure(number, description, queries, cancel, on_event).await {
            Ok(taken) => taken,
            Err(MeasureError::Cancelled) => return Ok(Err(StopReason::Interrupted)),
            Err(MeasureError::Limit { limit }) => return Ok(Err(StopReason::Limit { limit })),
            Err(error) => {
                return Ok(Err(StopReason::Measurement { message: error.to_string() }));
            }
        };
        let Some(limit) = taken.shortfall.clone() else { return Ok(Ok(taken)) };
        // Half of the probes say nothing about the whole: the report is kept, and is no iteration.
        if let Some(store) = &self.tuning.store {
            store.write_round(number, &taken.file)?;
        }
        Ok(Err(StopReason::Limit { limit }))
    }

    async fn measure(
        &mut self,
        round: u64,
        description: &str,
        queries: &[LabelledQuery],
        cancel: &CancellationToken,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<RoundReport, MeasureError> {
        on_event(TuneEvent::Measuring { round, description });
        let mut watch = |event: ProbeEvent<'_>| on_event(TuneEvent::Probe(event));
        let measure = self.tuning.measure;
        let taken = measure.measure(description, queries, cancel, &mut watch).await?;
        if let Some(measurement) = &taken.report.measurement {
            self.spent.add(&Spending {
                calls: measurement.calls,
                cost_usd: measurement.cost_usd.map(Number::as_f64),
                cost_at_least_usd: measurement.cost_at_least_usd.as_f64(),
                ..Spending::default()
            });
        }
        Ok(taken)
    }

    /// Makes an iteration of a report and writes everything down.
    fn take(
        &mut self,
        number: u64,
        taken: RoundReport,
        adoption: Adoption,
        on_event: &mut (dyn FnMut(TuneEvent<'_>) + Send),
    ) -> Result<(), TuneError> {
        let place = self.iterations.len();
        let mut made = iteration(number, &taken.report, &self.texts, &self.split, now());
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

    fn tested(&mut self, description: &str, score: &Score) {
        if let Some(tried) = self.tried.iter_mut().rfind(|tried| tried.description == description) {
            tried.train = Some((score.passed, score.total));
        }
    }

    fn summary(&self, stop: &StopReason) -> LoopSummary {
        let best = best(&self.iterations).and_then(|place| self.iterations.get(place));
        let best = best.cloned().unwrap_or_default();
        let mut warnings = warnings(&self.iterations);
        if self.tuning.measure.basis() == Basis::Estimate {
            warnings.insert(0, skillgauge_core::estimate::NOTE.to_owned());
        }
        LoopSummary {
            skill_name: self.tuning.skill_name.to_owned(),
            original_description: self.tuning.description.to_owned(),
            iterations: self.iterations.clone(),
            final_description: best.description.clone(),
            best_iteration: best,
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
            calls: Some(self.spent.calls),
            cost_usd: self.spent.cost_usd.map(|cost| Number::Float(round_rate(cost))),
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

fn untested(description: String) -> Tried {
    Tried { description, train: None }
}

#[expect(clippy::cast_precision_loss, reason = "counts of queries")]
fn is_reached(score: &Score, target: f64) -> bool {
    score.passed as f64 >= target * (score.total + score.undecided) as f64
}

#[cfg(test)]
mod tests;
