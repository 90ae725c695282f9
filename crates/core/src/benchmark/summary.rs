//! The seed's own numbers: mean and spread by configuration, and the difference that the skill makes.
//!
//! They must be those of the public script to the last digit, so they are computed as it does: over all measured runs,
//! from the pass rates that the gradings state, rounded to 4 decimals, and the difference is that of the rounded means.
//! Unlike there, what is not known is absent and not 0.

use indexmap::IndexMap;
use serde_json::Value;
use skillgauge_format::evals::{ConfigurationSummary, Delta, DeltaValue, RunSummary, Stats};
use skillgauge_format::json::Number;
use skillgauge_format::part::Configuration;

use super::{Rounding, rounded};
use crate::iteration::{Iteration, Roles, Run};
use crate::statistics::Spread;

pub(super) fn summarize(iteration: &Iteration) -> RunSummary {
    let mut summary = RunSummary::default();
    for configuration in &iteration.configurations {
        let Some(found) = of_configuration(iteration, configuration) else { continue };
        match configuration {
            Configuration::WithSkill => summary.with_skill = Some(found),
            Configuration::WithoutSkill => summary.without_skill = Some(found),
            Configuration::OldSkill => summary.old_skill = Some(found),
            Configuration::Other(name) => {
                let value = serde_json::to_value(found).unwrap_or(Value::Null);
                summary.extra.insert(name.clone(), value);
            }
        }
    }
    summary.delta = delta(&summary, &iteration.roles());
    summary
}

fn of_configuration(
    iteration: &Iteration,
    configuration: &Configuration,
) -> Option<ConfigurationSummary> {
    let runs: Vec<&Run> =
        iteration.cases.iter().flat_map(|case| case.measured(configuration)).collect();
    let spread = |of: fn(&Run) -> Option<f64>| {
        Spread::of(&runs.iter().filter_map(|run| of(run)).collect::<Vec<f64>>())
    };
    let values = |of| spread(of).map(|spread| stats(&spread));
    let efficiency = spread(|run| run.overall_efficiency);
    Some(ConfigurationSummary {
        pass_rate: values(|run| run.stated_rate.map(Number::as_f64))?,
        rubric_normalized: values(|run| Some(run.rubric.as_ref()?.normalized)),
        overall_efficiency: efficiency.as_ref().map(stats),
        consistency: efficiency
            .as_ref()
            .and_then(|found| consistency_of(found.mean, found.deviation)),
        time_seconds: values(|run| run.seconds),
        tokens: values(|run| Some(Number::Unsigned(run.tokens?).as_f64())).map(whole_stats),
        rubric_dimensions: dimensions(&runs),
        overall_score: values(|run| run.overall_score),
        ..ConfigurationSummary::default()
    })
}

/// 1 - deviation / mean, from 0 to 1; undefined when everything failed.
pub(super) fn consistency_of(mean: f64, deviation: f64) -> Option<Number> {
    let share = 1.0 - deviation / mean;
    (mean > 0.0).then(|| rounded(share.clamp(0.0, 1.0)))
}

fn dimensions(runs: &[&Run]) -> Option<IndexMap<String, Stats>> {
    let mut scores: IndexMap<&str, Vec<f64>> = IndexMap::new();
    for found in runs.iter().filter_map(|run| run.rubric.as_ref()).flat_map(|rubric| &rubric.scores)
    {
        scores.entry(&found.dimension).or_default().push(found.score);
    }
    let stats: IndexMap<String, Stats> = scores
        .into_iter()
        .filter_map(|(name, scores)| Some((name.to_owned(), stats(&Spread::of(&scores)?))))
        .collect();
    (!stats.is_empty()).then_some(stats)
}

pub(super) fn stats(spread: &Spread) -> Stats {
    stats_by(spread, rounded)
}

pub(super) fn stats_by(spread: &Spread, round: Rounding) -> Stats {
    Stats {
        mean: round(spread.mean),
        stddev: Some(round(spread.deviation)),
        min: Some(round(spread.min)),
        max: Some(round(spread.max)),
        ..Stats::default()
    }
}

/// Counts read better as `3800` than as `3800.0`.
pub(super) fn whole_stats(stats: Stats) -> Stats {
    Stats {
        mean: whole(stats.mean),
        stddev: stats.stddev.map(whole),
        min: stats.min.map(whole),
        max: stats.max.map(whole),
        extra: stats.extra,
    }
}

fn whole(number: Number) -> Number {
    let value = number.as_f64();
    if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, positive and below 2^53"
        )]
        return Number::Unsigned(value as u64);
    }
    number
}

fn delta(summary: &RunSummary, roles: &Roles) -> Option<Delta> {
    let with = summary.get(roles.primary.as_ref()?)?;
    let baseline = roles.baselines.iter().find_map(|baseline| summary.get(baseline))?;
    let difference = |decimals: usize, of: fn(&ConfigurationSummary) -> Option<&Stats>| {
        let (with, baseline) = (of(&with)?.mean.as_f64(), of(&baseline)?.mean.as_f64());
        Some(DeltaValue::signed(with - baseline, decimals))
    };
    Some(Delta {
        pass_rate: difference(2, |found| Some(&found.pass_rate)),
        time_seconds: difference(1, |found| found.time_seconds.as_ref()),
        tokens: difference(0, |found| found.tokens.as_ref()),
        rubric_normalized: difference(2, |found| found.rubric_normalized.as_ref()),
        overall_efficiency: difference(2, |found| found.overall_efficiency.as_ref()),
        ..Delta::default()
    })
}
