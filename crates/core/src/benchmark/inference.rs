//! What can be concluded from the runs: intervals, paired differences with a verdict, statistics by case.
//!
//! The unit is the case: runs of one case are averaged before anything is said about the skill.

use indexmap::IndexMap;
use skillgauge_format::Extra;
use skillgauge_format::evals::{
    Always, BenchmarkStatistics, CaseConfiguration, CaseStatistics, ConfigurationStatistics,
    DifferenceOver, DifferenceStatistics, DifferenceVerdict, Estimate, NeverDiscriminating,
    PassAtK,
};
use skillgauge_format::json::Number;
use skillgauge_format::part::Configuration;
use skillgauge_format::transcript::Outcome;
use skillgauge_format::write::round_rate;

use super::measured::Measured;
use super::record::{CaseRuns, Iteration, Run, State};
use super::role::Roles;
use super::tally::ByText;
use crate::statistics::{
    CONFIDENCE, EQUIVALENCE_MARGIN, Interval, Method, PairedDifference, Spread, case_difference,
    judge, number, pass_all_k, pass_at_k, wilson_of_mean,
};

/// Nobody asks for the chance to pass in more attempts than this.
const MOST_ATTEMPTS: usize = 10;

pub(super) fn infer(
    iteration: &Iteration,
    configurations: &[Configuration],
    roles: &Roles,
    seed: u64,
) -> BenchmarkStatistics {
    let of = |configuration: &Configuration| {
        let found = of_configuration(&iteration.cases, configuration);
        (configuration.as_str().to_owned(), found)
    };
    let differences = roles.primary.iter().flat_map(|primary| {
        roles.baselines.iter().flat_map(|baseline| {
            let side = Sides { cases: &iteration.cases, primary, baseline, seed };
            [Some(side.difference(DifferenceOver::Assigned)), side.loaded()].into_iter().flatten()
        })
    });
    BenchmarkStatistics {
        confidence: Number::Float(CONFIDENCE),
        seed,
        configurations: configurations.iter().map(of).collect(),
        differences: differences.collect(),
        cases: iteration.cases.iter().map(|case| of_case(case, configurations, roles)).collect(),
        never_discriminating: never_discriminating(&iteration.cases, roles),
        extra: Extra::new(),
    }
}

fn rounded(value: f64) -> Number {
    Number::Float(round_rate(value))
}

fn count(number: usize) -> u64 {
    number as u64
}

fn of_configuration(cases: &[CaseRuns], configuration: &Configuration) -> ConfigurationStatistics {
    let of = |run: &&Run| run.configuration == *configuration;
    let all = cases.iter().flat_map(|case| &case.runs).filter(of);
    let unmeasured = all.filter(|run| matches!(run.state, State::Unmeasured(_))).count();
    let by_case: Vec<Vec<&Measured>> = cases
        .iter()
        .map(|case| case.measured(configuration).collect::<Vec<_>>())
        .filter(|runs| !runs.is_empty())
        .collect();
    let runs = || by_case.iter().flatten();
    let mean = |value: fn(&Measured) -> f64| -> Vec<f64> {
        let of = |runs: &Vec<&Measured>| {
            Spread::of(&runs.iter().map(|run| value(run)).collect::<Vec<_>>())
        };
        by_case.iter().filter_map(of).map(|spread| spread.mean).collect()
    };
    let decided = decided(&by_case);
    ConfigurationStatistics {
        cases: count(by_case.len()),
        runs: count(runs().count()),
        unmeasured: count(unmeasured),
        timed_out: count(runs().filter(|run| run.outcome == Some(Outcome::TimedOut)).count()),
        passed: count(runs().filter(|run| run.run_passed == Some(true)).count()),
        undecided: undecided(runs().copied()),
        pass_rate: estimate(&mean(|run| run.pass_rate.as_f64())),
        run_pass_rate: estimate(
            &decided.iter().filter_map(|runs| pass_share(runs)).collect::<Vec<_>>(),
        ),
        pass_at_k: attempts(&decided),
        extra: Extra::new(),
    }
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    let Interval { low, high } = wilson_of_mean(values)?;
    let mean = rounded(Spread::of(values)?.mean);
    Some(Estimate { mean, low: rounded(low), high: rounded(high), extra: Extra::new() })
}

/// How many runs nobody can call passed or failed; absent when there is none.
fn undecided<'m>(runs: impl Iterator<Item = &'m Measured>) -> Option<u64> {
    Some(count(runs.filter(|run| run.run_passed.is_none()).count())).filter(|count| *count > 0)
}

/// For each case whether its runs passed as a whole, those left out of which nobody knows.
fn decided(by_case: &[Vec<&Measured>]) -> Vec<Vec<bool>> {
    let of = |runs: &Vec<&Measured>| runs.iter().filter_map(|run| run.run_passed).collect();
    by_case.iter().map(of).filter(|runs: &Vec<bool>| !runs.is_empty()).collect()
}

fn passes(runs: &[bool]) -> usize {
    runs.iter().filter(|passed| **passed).count()
}

fn pass_share(runs: &[bool]) -> Option<f64> {
    (!runs.is_empty()).then(|| number(passes(runs)) / number(runs.len()))
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
struct Sides<'i> {
    cases: &'i [CaseRuns],
    primary: &'i Configuration,
    baseline: &'i Configuration,
    seed: u64,
}

impl Sides<'_> {
    /// The difference over the runs that used the skill, when it is not that over all.
    fn loaded(&self) -> Option<DifferenceStatistics> {
        let unused = |run: &Measured| run.skill_loaded == Some(false);
        let runs = self.cases.iter().flat_map(|case| case.measured(self.primary));
        runs.into_iter().any(unused).then(|| self.difference(DifferenceOver::Loaded))
    }

    fn difference(&self, over: DifferenceOver) -> DifferenceStatistics {
        let (mut differences, mut blocked_runs) = (Vec::new(), 0);
        for case in self.cases {
            let blocked = |run: &&Run| {
                matches!(run.state, State::Unmeasured(_))
                    && (run.configuration == *self.primary || run.configuration == *self.baseline)
            };
            let blocked: Vec<u64> =
                case.runs.iter().filter(blocked).map(|run| run.number).collect();
            let rates = |configuration| -> (Vec<f64>, usize) {
                let (out, kept): (Vec<&Measured>, Vec<&Measured>) =
                    case.measured(configuration).partition(|run| blocked.contains(&run.number));
                let counts = |run: &&&Measured| {
                    over == DifferenceOver::Assigned
                        || configuration != self.primary
                        || run.skill_loaded == Some(true)
                };
                (kept.iter().filter(counts).map(|run| run.pass_rate.as_f64()).collect(), out.len())
            };
            let (primary, baseline) = (rates(self.primary), rates(self.baseline));
            blocked_runs += blocked.len() + primary.1 + baseline.1;
            differences.extend(case_difference(&primary.0, &baseline.0));
        }
        self.statistics(over, &differences, blocked_runs)
    }

    fn statistics(
        &self,
        over: DifferenceOver,
        differences: &[f64],
        blocked_runs: usize,
    ) -> DifferenceStatistics {
        let found = PairedDifference::of(differences, self.seed);
        let interval = found.and_then(|found| found.interval).map(|found| found.clamped(-1.0, 1.0));
        let verdict = judge(found.as_ref());
        DifferenceStatistics {
            configuration: self.primary.clone(),
            baseline: self.baseline.clone(),
            metric: "pass_rate".to_owned(),
            over,
            cases: count(differences.len()),
            blocked_runs: count(blocked_runs),
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
            verdict,
            reason: reason(found.as_ref(), verdict),
            extra: Extra::new(),
        }
    }
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
        DifferenceVerdict::NotEnoughRuns if found.cases < 6 => {
            format!("{cases}; with fewer than 6 no difference can be told from chance")
        }
        DifferenceVerdict::NotEnoughRuns => format!(
            "{cases}, permutation test p = {:.4}; a difference of more than {EQUIVALENCE_MARGIN} is \
             neither shown nor ruled out",
            found.p_value
        ),
    }
}

fn of_case(case: &CaseRuns, configurations: &[Configuration], roles: &Roles) -> CaseStatistics {
    let mut by_configuration = IndexMap::new();
    for configuration in configurations {
        let runs: Vec<&Measured> = case.measured(configuration).collect();
        let rates: Vec<f64> = runs.iter().map(|run| run.pass_rate.as_f64()).collect();
        let Some(spread) = Spread::of(&rates) else { continue };
        let decided: Vec<bool> = runs.iter().filter_map(|run| run.run_passed).collect();
        let passed = passes(&decided);
        let found = CaseConfiguration {
            runs: count(runs.len()),
            passed: count(passed),
            undecided: undecided(runs.iter().copied()),
            pass_rate: rounded(spread.mean),
            stddev: rounded(spread.deviation),
            flaky: passed > 0 && passed < decided.len(),
            extra: Extra::new(),
        };
        by_configuration.insert(configuration.as_str().to_owned(), found);
    }
    let rates = |configuration: &Configuration| -> Vec<f64> {
        case.measured(configuration).map(|run| run.pass_rate.as_f64()).collect()
    };
    let difference = roles.primary.as_ref().zip(roles.baselines.first());
    CaseStatistics {
        eval_id: case.id.clone(),
        eval_name: case.name.clone(),
        configurations: by_configuration,
        difference: difference
            .and_then(|(with, without)| case_difference(&rates(with), &rates(without)))
            .map(rounded),
        extra: Extra::new(),
    }
}

fn never_discriminating(cases: &[CaseRuns], roles: &Roles) -> Vec<NeverDiscriminating> {
    let mut found = Vec::new();
    let Some(primary) = &roles.primary else { return found };
    for case in cases {
        // By text: runs seen with the skill, runs seen in baselines, passes.
        let mut seen = ByText::<3>::new();
        let sides = [(0, std::slice::from_ref(primary)), (1, roles.baselines.as_slice())];
        for (side, configurations) in sides {
            for run in configurations.iter().flat_map(|configuration| case.measured(configuration))
            {
                seen.count(&run.verdicts, |counts, passed| {
                    counts[side] += 1;
                    counts[2] += u64::from(passed);
                });
            }
        }
        for (text, [with, without, passes]) in seen.into_iter() {
            let runs = with + without;
            let always = match passes {
                _ if with == 0 || without == 0 => continue,
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
