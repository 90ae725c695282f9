//! What can be concluded from the runs: intervals, paired differences with a verdict, statistics by case.
//!
//! The unit is the case: runs of one case are averaged before anything is said about the skill. All arms of a comparison
//! are looked at over the same cases, so that the rates beside a difference are the ones that it is the difference of.
//! That holds for each number by itself: time, tokens and the like are over the cases in which every arm knows them.

use indexmap::IndexMap;
use skillgauge_format::Extra;
use skillgauge_format::evals::{
    Always, BenchmarkStatistics, CaseConfiguration, CaseStatistics, ConfigurationStatistics,
    DifferenceStatistics, Estimate, NeverDiscriminating, PassAtK, PrimaryOutcome, Stats,
};
use skillgauge_format::json::Number;
use skillgauge_format::part::{Configuration, EvalId};
use skillgauge_format::transcript::Outcome;

use super::outcome::{Metric, Question, TOKENS, metric};
use super::sides::Sides;
use super::summary::{stats_by, whole_stats};
use super::{Rounding, Settings, dollars, rounded};
use crate::calibration;
use crate::iteration::{Case, Iteration, Preference, Roles, Run};
use crate::statistics::{
    CONFIDENCE, DEFAULT_SEED, Interval, Spread, case_difference, cluster_interval, number,
    pass_all_k, pass_at_k,
};

/// Nobody asks for the chance to pass in more attempts than this.
const MOST_ATTEMPTS: usize = 10;

pub(super) fn infer(iteration: &Iteration, settings: &Settings) -> BenchmarkStatistics {
    let question = Question::of(iteration, settings);
    let of_record = || iteration.record.as_ref().map(|record| record.seed);
    let seed = settings.seed.or_else(of_record).unwrap_or(DEFAULT_SEED);
    let roles = iteration.roles();
    let all: Vec<&Case> = iteration.cases.iter().collect();
    let comparable: Vec<&Case> =
        all.iter().copied().filter(|case| iteration.is_comparable(case)).collect();
    let arms = arms(&roles);
    let of = |configuration: &Configuration| {
        let (cases, arms): (_, &[&Configuration]) =
            if roles.is_arm(configuration) { (&comparable, &arms) } else { (&all, &[]) };
        let found = of_configuration(cases, &all, arms, configuration, question);
        (configuration.as_str().to_owned(), found)
    };
    let differences = roles.primary.iter().flat_map(|primary| {
        let not_comparable: Vec<EvalId> = all
            .iter()
            .filter(|case| !iteration.is_comparable(case))
            .map(|case| case.id.clone())
            .collect();
        let (cases, arms) = (&comparable, &arms);
        roles.baselines.iter().map(move |baseline| {
            let not_comparable = not_comparable.clone();
            Sides { cases, arms, not_comparable, primary, baseline, question, seed }.difference()
        })
    });
    let mut statistics = BenchmarkStatistics {
        confidence: Number::Float(CONFIDENCE),
        seed,
        primary_outcome: question.outcome,
        configurations: iteration.configurations.iter().map(of).collect(),
        differences: differences.collect(),
        cases: all.iter().map(|case| of_case(case, iteration, &roles, question)).collect(),
        never_discriminating: never_discriminating(&all, &roles),
        corrected: None,
        judge: iteration.judged().statistics(),
        extra: Extra::new(),
    };
    // A comparator that reads positions has preferred nobody.
    let is_biased = |found: &DifferenceStatistics| found.verdict.on_suite.position_bias.is_some();
    if statistics.differences.iter().any(is_biased) {
        for found in statistics.configurations.values_mut() {
            found.primary = None;
        }
    }
    statistics.corrected = calibration::correct(iteration, &statistics);
    statistics
}

/// The pairs of the first comparison, by the number of their runs.
pub(super) fn replicates(iteration: &Iteration) -> Option<Vec<Vec<[f64; 2]>>> {
    let roles = iteration.roles();
    let cases: Vec<&Case> =
        iteration.cases.iter().filter(|case| iteration.is_comparable(case)).collect();
    let sides = Sides {
        cases: &cases,
        arms: &arms(&roles),
        not_comparable: Vec::new(),
        primary: roles.primary.as_ref()?,
        baseline: roles.baselines.first()?,
        question: Question::of(iteration, &Settings::default()),
        seed: 0,
    };
    Some(sides.evidence().replicates)
}

pub(super) fn count(number: usize) -> u64 {
    number as u64
}

/// The mean of a number over runs; nothing when none of them has it.
pub(super) fn mean<'r>(runs: impl Iterator<Item = &'r Run>, metric: Metric) -> Option<f64> {
    Spread::of(&runs.filter_map(metric).collect::<Vec<_>>()).map(|spread| spread.mean)
}

/// One number for each case that has it: the mean of its runs.
fn by_case(cases: &[&Case], configuration: &Configuration, metric: Metric) -> Vec<f64> {
    cases.iter().filter_map(|case| mean(case.measured(configuration), metric)).collect()
}

/// The sides of the comparison.
pub(super) fn arms(roles: &Roles) -> Vec<&Configuration> {
    roles.primary.iter().chain(&roles.baselines).collect()
}

/// The cases in which every arm has the number; an arm that has it nowhere keeps no other from showing it.
pub(super) fn shared<'c>(
    cases: &[&'c Case],
    arms: &[&Configuration],
    metric: impl Fn(&Run) -> Option<f64>,
) -> Vec<&'c Case> {
    let has = |case: &Case, arm| case.measured(arm).any(|run| metric(run).is_some());
    let mut arms = arms.to_vec();
    arms.retain(|arm| cases.iter().any(|case| has(case, arm)));
    cases.iter().copied().filter(|case| arms.iter().all(|arm| has(case, arm))).collect()
}

fn of_configuration(
    cases: &[&Case],
    all: &[&Case],
    arms: &[&Configuration],
    configuration: &Configuration,
    question: Question,
) -> ConfigurationStatistics {
    let runs: Vec<&Run> = cases.iter().flat_map(|case| case.measured(configuration)).collect();
    let everywhere = || all.iter().flat_map(|case| case.runs_of(configuration));
    let measured = everywhere().filter(|run| run.is_measured()).count();
    // By case, whether each run passed.
    let passes: Vec<Vec<bool>> = cases
        .iter()
        .map(|case| case.measured(configuration).map(Run::is_passed).collect())
        .filter(|runs: &Vec<bool>| !runs.is_empty())
        .collect();
    let stats_in = |metric: Metric, round: Rounding| -> Option<Stats> {
        let cases = shared(cases, arms, metric);
        let runs = cases.iter().flat_map(|case| case.measured(configuration));
        let values: Vec<f64> = runs.filter_map(metric).collect();
        let mean = Spread::of(&by_case(&cases, configuration, metric))?.mean;
        Some(stats_by(&Spread { mean, ..Spread::of(&values)? }, round))
    };
    let stats = |metric: Metric| stats_in(metric, rounded);
    let has_costs = knows_costs(cases, configuration);
    ConfigurationStatistics {
        cases: count(passes.len()),
        runs: count(runs.len()),
        not_compared: count(measured - runs.len()),
        unmeasured: count(everywhere().count() - measured),
        timed_out: count(
            runs.iter().filter(|run| run.bad_end() == Some(Outcome::TimedOut)).count(),
        ),
        passed: count(runs.iter().filter(|run| run.is_passed()).count()),
        primary: estimate_of(cases, configuration, question),
        pass_rate: estimate(&by_case(cases, configuration, |run| run.pass_rate)),
        run_pass_rate: estimate(&passes.iter().map(|runs| pass_share(runs)).collect::<Vec<_>>()),
        pass_at_k: attempts(&passes),
        // As in the differences: leaving crashes out would make the rows of two arms no two sides of their difference.
        rubric_normalized: stats(metric(PrimaryOutcome::RubricNormalized)),
        overall_efficiency: stats(|run| run.overall_efficiency),
        overall_score: stats(metric(PrimaryOutcome::OverallScore)),
        required_score: stats(metric(PrimaryOutcome::RequiredScore)),
        time_seconds: stats(|run| run.seconds),
        tokens: stats(TOKENS).map(whole_stats),
        partial_tokens: count(
            (shared(cases, arms, TOKENS).iter().flat_map(|case| case.measured(configuration)))
                .filter(|run| run.tokens.is_some() && !run.usage_basis.is_reported())
                .count(),
        ),
        cost_usd: stats_in(|run| run.cost_usd, dollars).filter(|_| has_costs),
        extra: Extra::new(),
    }
}

/// Whether the cost of every run is known: a part of the costs says nothing about all of them.
pub(super) fn knows_costs(cases: &[&Case], configuration: &Configuration) -> bool {
    let mut runs = cases.iter().flat_map(|case| case.measured(configuration));
    runs.all(|run| run.cost_usd.is_some())
}

/// The primary outcome of an arm in its own units.
fn estimate_of(
    cases: &[&Case],
    configuration: &Configuration,
    question: Question,
) -> Option<Estimate> {
    let shares: Vec<f64> =
        cases.iter().filter_map(|case| share_of(case, configuration, question)).collect();
    let Interval { low, high } = cluster_interval(&shares)?;
    let [mean, low, high] =
        [Spread::of(&shares)?.mean, low, high].map(|share| rounded(question.value(share)));
    Some(Estimate { mean, low, high, extra: Extra::new() })
}

/// The primary outcome of a case in an arm, from 0 to 1.
fn share_of(case: &Case, configuration: &Configuration, question: Question) -> Option<f64> {
    let shares: Vec<f64> = match question.outcome {
        // A preference belongs to a pair: a baseline wins where the skill loses.
        PrimaryOutcome::Preference => {
            let of_baseline =
                case.preferences.iter().filter(|pair| pair.baseline == *configuration);
            let lost: Vec<f64> = of_baseline.map(|pair| 1.0 - pair.share()).collect();
            let first = case.preferences.first().map(|pair| &pair.baseline);
            let of_first = || case.preferences.iter().filter(|pair| Some(&pair.baseline) == first);
            let is_baseline = !lost.is_empty();
            if is_baseline { lost } else { of_first().map(Preference::share).collect() }
        }
        _ => case.measured(configuration).filter_map(|run| question.share(run)).collect(),
    };
    Spread::of(&shares).map(|spread| spread.mean)
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    let Interval { low, high } = cluster_interval(values)?;
    let mean = rounded(Spread::of(values)?.mean);
    Some(Estimate { mean, low: rounded(low), high: rounded(high), extra: Extra::new() })
}

fn passes(runs: &[bool]) -> usize {
    runs.iter().filter(|passed| **passed).count()
}

fn pass_share(runs: &[bool]) -> f64 {
    number(passes(runs)) / number(runs.len())
}

fn attempts(by_case: &[Vec<bool>]) -> Vec<PassAtK> {
    let most = by_case.iter().map(Vec::len).min().unwrap_or(0).min(MOST_ATTEMPTS);
    let mean = |k, chance: fn(usize, usize, usize) -> Option<f64>| {
        let of = |runs: &Vec<bool>| chance(runs.len(), passes(runs), k);
        by_case.iter().filter_map(of).sum::<f64>() / number(by_case.len())
    };
    (1..=most)
        .map(|k| PassAtK {
            k: count(k),
            any: rounded(mean(k, pass_at_k)),
            all: rounded(mean(k, pass_all_k)),
            extra: Extra::new(),
        })
        .collect()
}

fn of_case(
    case: &Case,
    iteration: &Iteration,
    roles: &Roles,
    question: Question,
) -> CaseStatistics {
    let mut configurations = IndexMap::new();
    for configuration in &iteration.configurations {
        let rates: Vec<f64> =
            case.measured(configuration).filter_map(|run| run.pass_rate).collect();
        let Some(spread) = Spread::of(&rates) else { continue };
        let passed = case.measured(configuration).filter(|run| run.is_passed()).count();
        let found = CaseConfiguration {
            runs: count(rates.len()),
            passed: count(passed),
            pass_rate: rounded(spread.mean),
            stddev: rounded(spread.deviation),
            primary: share_of(case, configuration, question)
                .map(|share| rounded(question.value(share))),
            flaky: passed > 0 && passed < rates.len(),
            extra: Extra::new(),
        };
        configurations.insert(configuration.as_str().to_owned(), found);
    }
    let level =
        |configuration| share_of(case, configuration, question).map(|share| question.value(share));
    let sides = roles.primary.as_ref().zip(roles.baselines.first());
    let difference = sides
        .filter(|_| iteration.is_comparable(case))
        .and_then(|(with, without)| case_difference(&[level(with)?], &[level(without)?]));
    CaseStatistics {
        eval_id: case.id.clone(),
        eval_name: case.name.clone(),
        configurations,
        difference: difference.map(rounded),
        extra: Extra::new(),
    }
}

/// Runs and passes of an expectation.
pub(super) type Seen = [u64; 2];

/// By the text of an expectation, what was seen of it with the skill and in the baselines.
pub(super) fn expectations<'c>(
    case: &'c Case,
    with: &Configuration,
    without: &[Configuration],
) -> IndexMap<&'c str, [Seen; 2]> {
    let mut seen: IndexMap<&str, [Seen; 2]> = IndexMap::new();
    for run in case.runs.iter().filter(|run| run.is_measured()) {
        let side = match &run.configuration {
            found if found == with => 0,
            found if without.contains(found) => 1,
            _ => continue,
        };
        for verdict in &run.verdicts {
            let counts = &mut seen.entry(&verdict.text).or_default()[side];
            counts[0] += 1;
            counts[1] += u64::from(verdict.passed);
        }
    }
    seen
}

fn never_discriminating(cases: &[&Case], roles: &Roles) -> Vec<NeverDiscriminating> {
    let mut found = Vec::new();
    let Some(primary) = &roles.primary else { return found };
    for case in cases {
        for (text, [with, without]) in expectations(case, primary, &roles.baselines) {
            let (runs, passes) = (with[0] + without[0], with[1] + without[1]);
            let always = match passes {
                _ if with[0] == 0 || without[0] == 0 => continue,
                0 => Always::Fails,
                passes if passes == runs => Always::Passes,
                _ => continue,
            };
            let (eval_id, text) = (case.id.clone(), text.to_owned());
            found.push(NeverDiscriminating { eval_id, text, always, runs, extra: Extra::new() });
        }
    }
    found
}
