//! What can be concluded from the runs: intervals, paired differences with a verdict, statistics by case.
//!
//! The unit is the case: runs of one case are averaged before anything is said about the skill. All arms of a comparison
//! are looked at over the same cases, so that the rates beside a difference are the ones that it is the difference of.
//! That holds for each number by itself: time, tokens and the like are over the cases in which every arm knows them.

use indexmap::IndexMap;
use skillgauge_format::Extra;
use skillgauge_format::evals::{
    Always, BenchmarkStatistics, CaseConfiguration, CaseStatistics, ConfigurationStatistics, Delta,
    DeltaValue, DifferenceOver, DifferenceStatistics, DifferenceVerdict, Estimate,
    NeverDiscriminating, PassAtK, Stats,
};
use skillgauge_format::json::Number;
use skillgauge_format::part::{Configuration, EvalId};
use skillgauge_format::transcript::Outcome;

use super::rounded;
use super::summary::{stats, whole_stats};
use crate::iteration::{Case, Iteration, Roles, Run};
use crate::statistics::{
    CONFIDENCE, EQUIVALENCE_MARGIN, Interval, Method, PairedDifference, Spread, case_difference,
    judge, number, pass_all_k, pass_at_k, wilson_of_mean,
};

/// Nobody asks for the chance to pass in more attempts than this.
const MOST_ATTEMPTS: usize = 10;

/// A number that a run may have.
pub(super) type Metric = fn(&Run) -> Option<f64>;

pub(super) const RUBRIC: Metric = |run| Some(run.rubric.as_ref()?.normalized);
pub(super) const TOKENS: Metric = |run| Some(Number::Unsigned(run.tokens?).as_f64());

pub(super) fn infer(iteration: &Iteration, seed: u64) -> BenchmarkStatistics {
    let roles = iteration.roles();
    let all: Vec<&Case> = iteration.cases.iter().collect();
    let comparable: Vec<&Case> =
        all.iter().copied().filter(|case| iteration.is_comparable(case)).collect();
    let arms = arms(&roles);
    let of = |configuration: &Configuration| {
        let (cases, arms): (_, &[&Configuration]) =
            if roles.is_arm(configuration) { (&comparable, &arms) } else { (&all, &[]) };
        (configuration.as_str().to_owned(), of_configuration(cases, &all, arms, configuration))
    };
    let differences = roles.primary.iter().flat_map(|primary| {
        let not_comparable: Vec<EvalId> = all
            .iter()
            .filter(|case| !iteration.is_comparable(case))
            .map(|case| case.id.clone())
            .collect();
        let (cases, arms) = (&comparable, &arms);
        roles.baselines.iter().flat_map(move |baseline| {
            let not_comparable = not_comparable.clone();
            let sides = Sides { cases, arms, not_comparable, primary, baseline, seed };
            [Some(sides.difference(DifferenceOver::Assigned)), sides.loaded()].into_iter().flatten()
        })
    });
    BenchmarkStatistics {
        confidence: Number::Float(CONFIDENCE),
        seed,
        configurations: iteration.configurations.iter().map(of).collect(),
        differences: differences.collect(),
        cases: all.iter().map(|case| of_case(case, iteration, &roles)).collect(),
        never_discriminating: never_discriminating(&all, &roles),
        extra: Extra::new(),
    }
}

fn count(number: usize) -> u64 {
    number as u64
}

/// The mean of a number over runs; nothing when none of them has it.
fn mean<'r>(runs: impl Iterator<Item = &'r Run>, metric: Metric) -> Option<f64> {
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
fn shared<'c>(cases: &[&'c Case], arms: &[&Configuration], metric: Metric) -> Vec<&'c Case> {
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
    let stats = |metric: Metric| -> Option<Stats> {
        let cases = shared(cases, arms, metric);
        let runs = cases.iter().flat_map(|case| case.measured(configuration));
        let values: Vec<f64> = runs.filter_map(metric).collect();
        let mean = Spread::of(&by_case(&cases, configuration, metric))?.mean;
        Some(stats(&Spread { mean, ..Spread::of(&values)? }))
    };
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
        pass_rate: estimate(&by_case(cases, configuration, |run| run.pass_rate)),
        run_pass_rate: estimate(&passes.iter().map(|runs| pass_share(runs)).collect::<Vec<_>>()),
        pass_at_k: attempts(&passes),
        rubric_normalized: stats(RUBRIC),
        overall_efficiency: stats(|run| run.overall_efficiency),
        overall_score: stats(|run| run.overall_score),
        time_seconds: stats(|run| run.seconds),
        tokens: stats(TOKENS).map(whole_stats),
        cost_usd: stats(|run| run.cost_usd).filter(|_| has_costs),
        extra: Extra::new(),
    }
}

/// Whether the cost of every run is known: a part of the costs says nothing about all of them.
fn knows_costs(cases: &[&Case], configuration: &Configuration) -> bool {
    let mut runs = cases.iter().flat_map(|case| case.measured(configuration));
    runs.all(|run| run.cost_usd.is_some())
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    let Interval { low, high } = wilson_of_mean(values)?;
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

/// The two sides of a difference.
pub(super) struct Sides<'i> {
    /// Those that every arm has.
    pub(super) cases: &'i [&'i Case],
    /// All arms, those of other differences too.
    pub(super) arms: &'i [&'i Configuration],
    pub(super) not_comparable: Vec<EvalId>,
    pub(super) primary: &'i Configuration,
    pub(super) baseline: &'i Configuration,
    pub(super) seed: u64,
}

impl Sides<'_> {
    /// The difference over the runs that used the skill, when it is not that over all.
    fn loaded(&self) -> Option<DifferenceStatistics> {
        let mut runs = self.cases.iter().flat_map(|case| case.measured(self.primary));
        runs.any(|run| run.skill_loaded == Some(false))
            .then(|| self.difference(DifferenceOver::Loaded))
    }

    /// Whether the cost of every run of both sides is known.
    pub(super) fn knows_costs(&self) -> bool {
        [self.primary, self.baseline].into_iter().all(|side| knows_costs(self.cases, side))
    }

    /// The number of each side for each case that has it on both.
    pub(super) fn pairs(&self, over: DifferenceOver, metric: Metric) -> Vec<[f64; 2]> {
        let counts = |run: &&Run| match over {
            DifferenceOver::Assigned => true,
            DifferenceOver::Loaded => run.skill_loaded == Some(true),
        };
        let pair = |case: &&Case| {
            let with = mean(case.measured(self.primary).filter(counts), metric)?;
            Some([with, mean(case.measured(self.baseline), metric)?])
        };
        shared(self.cases, self.arms, metric).iter().filter_map(pair).collect()
    }

    fn difference(&self, over: DifferenceOver) -> DifferenceStatistics {
        let pairs = self.pairs(over, |run| run.pass_rate);
        let differences = differences(&pairs);
        let side = |place: usize| {
            let rates: Vec<f64> = pairs.iter().map(|pair| pair[place]).collect();
            Spread::of(&rates).map(|spread| rounded(spread.mean))
        };
        let found = PairedDifference::of(&differences, self.seed);
        let interval = found.and_then(|found| found.interval).map(|found| found.clamped(-1.0, 1.0));
        let verdict = judge(found.as_ref());
        DifferenceStatistics {
            configuration: self.primary.clone(),
            baseline: self.baseline.clone(),
            metric: "pass_rate".to_owned(),
            over,
            cases: count(differences.len()),
            not_comparable: self.not_comparable.clone(),
            rate: side(0),
            baseline_rate: side(1),
            difference: found.map(|found| rounded(found.mean)),
            low: interval.map(|interval| rounded(interval.low)),
            high: interval.map(|interval| rounded(interval.high)),
            p_value: found.map(|found| rounded(found.p_value)),
            method: found.map(|found| match found.method {
                Method::Exact => "exact".to_owned(),
                Method::MonteCarlo => "monte_carlo".to_owned(),
            }),
            wins: count(found.map_or(0, |found| found.wins)),
            losses: count(found.map_or(0, |found| found.losses)),
            ties: count(found.map_or(0, |found| found.ties())),
            sign_p_value: found.map(|found| rounded(found.sign_p_value)),
            means: self.means(over),
            verdict,
            reason: reason(found.as_ref(), verdict),
            extra: Extra::new(),
        }
    }

    fn means(&self, over: DifferenceOver) -> Delta {
        let of = |metric: Metric| {
            Spread::of(&differences(&self.pairs(over, metric)))
                .map(|found| DeltaValue::Number(rounded(found.mean)))
        };
        Delta {
            pass_rate: None,
            time_seconds: of(|run| run.seconds),
            tokens: of(TOKENS),
            rubric_normalized: of(RUBRIC),
            overall_efficiency: of(|run| run.overall_efficiency),
            overall_score: of(|run| run.overall_score),
            cost_usd: of(|run| run.cost_usd).filter(|_| self.knows_costs()),
            extra: Extra::new(),
        }
    }
}

pub(super) fn differences(pairs: &[[f64; 2]]) -> Vec<f64> {
    pairs.iter().filter_map(|[with, without]| case_difference(&[*with], &[*without])).collect()
}

fn reason(found: Option<&PairedDifference>, verdict: DifferenceVerdict) -> String {
    let Some(found) = found else {
        return "no case has measured runs on both sides".to_owned();
    };
    let cases = if found.cases == 1 { "1 case" } else { &format!("{} cases", found.cases) };
    match verdict {
        DifferenceVerdict::Better | DifferenceVerdict::Worse => {
            format!("{cases}, permutation test p = {:.4}", found.p_value)
        }
        DifferenceVerdict::NoDifference if found.interval.is_none() => {
            format!("{cases}, and all of them differ alike")
        }
        DifferenceVerdict::NoDifference => {
            format!("{cases}; a difference of more than {EQUIVALENCE_MARGIN} is ruled out")
        }
        DifferenceVerdict::Undecided if found.cases < 6 => {
            format!("{cases}; with fewer than 6 no difference can be told from chance")
        }
        DifferenceVerdict::Undecided => format!(
            "{cases}, permutation test p = {:.4}; a difference of more than {EQUIVALENCE_MARGIN} is \
             neither shown nor ruled out",
            found.p_value
        ),
    }
}

fn of_case(case: &Case, iteration: &Iteration, roles: &Roles) -> CaseStatistics {
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
            flaky: passed > 0 && passed < rates.len(),
            extra: Extra::new(),
        };
        configurations.insert(configuration.as_str().to_owned(), found);
    }
    let rate = |configuration| mean(case.measured(configuration), |run| run.pass_rate);
    let sides = roles.primary.as_ref().zip(roles.baselines.first());
    let difference = sides
        .filter(|_| iteration.is_comparable(case))
        .and_then(|(with, without)| case_difference(&[rate(with)?], &[rate(without)?]));
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
