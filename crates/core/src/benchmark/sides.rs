//! The two sides of a difference: what they show about the primary outcome, and how the other numbers differ.

use indexmap::IndexMap;
use skillgauge_format::Extra;
use skillgauge_format::evals::{
    DifferenceStatistics, LoadedRuns, PrimaryOutcome, SecondaryDifference,
};
use skillgauge_format::part::{Configuration, EvalId};

use super::inference::{count, knows_costs, mean, shared};
use super::outcome::{Metric, Question, RUBRIC, TOKENS, lowest, metric};
use super::verdict::{CaseEvidence, Evidence, sentence};
use super::{Rounding, dollars, rounded};
use crate::comparison::PositionBias;
use crate::iteration::{Case, Preference, Run};
use crate::statistics::{
    CaseRuns, Interval, PairedDifference, Spread, WithinCases, case_difference, mean_interval,
};

/// The two sides of a difference.
pub(super) struct Sides<'i> {
    /// Those that every arm has.
    pub(super) cases: &'i [&'i Case],
    /// All arms, those of other differences too.
    pub(super) arms: &'i [&'i Configuration],
    pub(super) not_comparable: Vec<EvalId>,
    pub(super) primary: &'i Configuration,
    pub(super) baseline: &'i Configuration,
    pub(super) question: Question,
    pub(super) seed: u64,
}

impl Sides<'_> {
    fn sides(&self) -> [&Configuration; 2] {
        [self.primary, self.baseline]
    }

    /// Whether the cost of every run of both sides is known.
    pub(super) fn knows_costs(&self) -> bool {
        self.sides().into_iter().all(|side| knows_costs(self.cases, side))
    }

    /// The number of each side for each case that has it on both.
    pub(super) fn pairs(&self, metric: Metric) -> Vec<[f64; 2]> {
        let pair = |case: &&Case| {
            let with = mean(case.measured(self.primary), metric)?;
            Some([with, mean(case.measured(self.baseline), metric)?])
        };
        shared(self.cases, self.arms, metric).iter().filter_map(pair).collect()
    }

    /// The runs of each case that has the number on both sides.
    fn runs(&self, of: impl Fn(&Run) -> Option<f64>) -> Vec<CaseRuns> {
        let side = |case: &Case, side| case.measured(side).filter_map(&of).collect::<Vec<f64>>();
        shared(self.cases, self.arms, &of)
            .into_iter()
            .map(|case| CaseRuns {
                with: side(case, self.primary),
                without: side(case, self.baseline),
            })
            .filter(|case| !case.with.is_empty() && !case.without.is_empty())
            .collect()
    }

    /// Run j of both sides of each case, by j.
    fn run_pairs(&self) -> Vec<Vec<[f64; 2]>> {
        let most = self.cases.iter().flat_map(|case| &case.runs).map(|run| run.number).max();
        let share = |case: &Case, side: &Configuration, number: u64| {
            case.measured(side)
                .find(|run| run.number == number)
                .and_then(|run| self.question.share(run))
        };
        let pair = |case: &Case, number| {
            Some([share(case, self.primary, number)?, share(case, self.baseline, number)?])
        };
        let replicate =
            |number| self.cases.iter().filter_map(|case| pair(case, number)).collect::<Vec<_>>();
        (1..=most.unwrap_or(0)).map(replicate).collect()
    }

    /// What the comparator preferred, by the number of the runs.
    fn preferred_pairs(&self) -> Vec<Vec<[f64; 2]>> {
        let found = || self.cases.iter().flat_map(|case| self.preferences(case));
        let most = found().map(|pair| pair.number).max().unwrap_or(0);
        let pair = |pair: &Preference| [pair.share(), 1.0 - pair.share()];
        let replicate = |number| found().filter(|it| it.number == number).map(pair).collect();
        (1..=most).map(replicate).collect()
    }

    fn preferences<'c>(&self, case: &'c Case) -> impl Iterator<Item = &'c Preference> {
        case.preferences.iter().filter(|pair| pair.baseline == *self.baseline)
    }

    pub(super) fn evidence(&self) -> Evidence {
        let Self { question, seed, .. } = *self;
        let is_preference = question.outcome == PrimaryOutcome::Preference;
        let cases = if is_preference {
            let shares = |case: &&Case| self.preferences(case).map(Preference::share).collect();
            let cases = self.cases.iter().map(shares).filter(|found: &Vec<f64>| !found.is_empty());
            cases.map(CaseEvidence::Preferences).collect()
        } else {
            self.runs(|run| question.share(run)).into_iter().map(CaseEvidence::Runs).collect()
        };
        let replicates = match question.until_decided {
            true if is_preference => self.preferred_pairs(),
            true => self.run_pairs(),
            false => Vec::new(),
        };
        let compared = self.cases.iter().flat_map(|case| self.preferences(case));
        let bias = PositionBias::of(compared.map(|pair| (pair.is_won.is_none(), pair.position)));
        Evidence { question, cases, replicates, bias: bias.filter(|_| is_preference), seed }
    }

    pub(super) fn difference(&self) -> DifferenceStatistics {
        let evidence = self.evidence();
        let verdict = evidence.verdict();
        let cases = evidence.cases.len();
        let levels: Vec<[f64; 2]> =
            evidence.cases.iter().filter_map(CaseEvidence::levels).collect();
        let level = |side: usize| {
            let means: Vec<f64> = levels.iter().map(|levels| levels[side]).collect();
            Spread::of(&means).map(|spread| rounded(self.question.value(spread.mean)))
        };
        let across = PairedDifference::of(&evidence.case_differences(), self.seed);
        let least = evidence.cases.iter().map(CaseEvidence::runs).min();
        DifferenceStatistics {
            configuration: self.primary.clone(),
            baseline: self.baseline.clone(),
            cases: count(cases),
            not_comparable: self.not_comparable.clone(),
            mean: level(0),
            baseline_mean: level(1),
            sentence: sentence(&verdict, cases, least.unwrap_or(0)),
            verdict,
            wins: count(across.map_or(0, |found| found.wins)),
            losses: count(across.map_or(0, |found| found.losses)),
            ties: count(across.map_or(0, |found| found.ties())),
            sign_p_value: across.map(|found| rounded(found.sign_p_value)),
            secondary: self.secondary(),
            loaded: self.loaded(),
            extra: Extra::new(),
        }
    }

    /// The runs that used the skill, when not all did.
    fn loaded(&self) -> Option<LoadedRuns> {
        let runs = || self.cases.iter().flat_map(|case| case.measured(self.primary));
        if !runs().any(|run| run.skill_loaded == Some(false)) {
            return None;
        }
        let metric = metric(self.question.outcome);
        let pair = |case: &&Case| {
            let used = case.measured(self.primary).filter(|run| run.skill_loaded == Some(true));
            Some([mean(used, metric)?, mean(case.measured(self.baseline), metric)?])
        };
        let pairs: Vec<[f64; 2]> = self.cases.iter().filter_map(pair).collect();
        let level = |side: usize| {
            let values: Vec<f64> = pairs.iter().map(|pair| pair[side]).collect();
            Spread::of(&values).map(|spread| rounded(spread.mean))
        };
        Some(LoadedRuns {
            runs: count(runs().filter(|run| run.skill_loaded == Some(true)).count()),
            of: count(runs().count()),
            cases: count(pairs.len()),
            mean: level(0),
            baseline_mean: level(1),
            extra: Extra::new(),
        })
    }

    /// All outcomes but the primary one, the dimensions of the rubric, time, tokens and cost.
    fn secondary(&self) -> IndexMap<String, SecondaryDifference> {
        let mut all = IndexMap::new();
        for outcome in PrimaryOutcome::ALL {
            if outcome != self.question.outcome
                && let Some(found) = self.other_outcome(outcome)
            {
                all.insert(outcome.as_str().to_owned(), found);
            }
        }
        for dimension in self.dimensions() {
            let score = |run: &Run| {
                let mut scores = run.rubric.iter().flat_map(|rubric| &rubric.scores);
                let found = scores.find(|found| found.dimension == dimension);
                lowest(run, 1.0).or_else(|| Some(found?.score))
            };
            if let Some(found) = self.bounded(score, 1.0, 5.0) {
                all.insert(format!("rubric.{dimension}"), found);
            }
        }
        let amounts: [(&str, Metric, Rounding); 3] = [
            ("time_seconds", |run| run.seconds, rounded),
            ("tokens", TOKENS, rounded),
            ("cost_usd", |run| run.cost_usd, dollars),
        ];
        for (name, metric, round) in amounts {
            if (name != "cost_usd" || self.knows_costs())
                && let Some(found) = self.amount(metric, round)
            {
                all.insert(name.to_owned(), found);
            }
        }
        all
    }

    fn other_outcome(&self, outcome: PrimaryOutcome) -> Option<SecondaryDifference> {
        let is_there = match outcome {
            // Without a rubric the efficiency is the pass rate, which says nothing new.
            PrimaryOutcome::OverallEfficiency | PrimaryOutcome::RubricNormalized => RUBRIC,
            outcome => metric(outcome),
        };
        let mut runs = self
            .sides()
            .into_iter()
            .flat_map(|side| self.cases.iter().flat_map(move |case| case.measured(side)));
        let is_scored = runs.any(|run| run.overall_score.is_none() && is_there(run).is_some())
            || matches!(
                outcome,
                PrimaryOutcome::OverallScore
                    | PrimaryOutcome::RequiredScore
                    | PrimaryOutcome::PassRate
            );
        let (low, high) = outcome.scale();
        self.bounded(metric(outcome), low, high).filter(|_| is_scored)
    }

    fn dimensions(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let runs = self.cases.iter().flat_map(|case| &case.runs);
        for found in runs.filter_map(|run| run.rubric.as_ref()).flat_map(|rubric| &rubric.scores) {
            if !names.contains(&found.dimension) {
                names.push(found.dimension.clone());
            }
        }
        names
    }

    /// A number between two ends, with the interval for these cases.
    fn bounded(
        &self,
        of: impl Fn(&Run) -> Option<f64>,
        low: f64,
        high: f64,
    ) -> Option<SecondaryDifference> {
        let share = |run: &Run| of(run).map(|value| ((value - low) / (high - low)).clamp(0.0, 1.0));
        let cases = self.runs(share);
        let interval = WithinCases::interval_of(&cases);
        secondary(&cases, interval, (low, high - low), rounded)
    }

    /// A number without an upper end, with Student's interval over cases.
    fn amount(&self, metric: Metric, round: Rounding) -> Option<SecondaryDifference> {
        let cases = self.runs(metric);
        let differences: Vec<f64> =
            cases.iter().filter_map(|case| case_difference(&case.with, &case.without)).collect();
        let mut found = secondary(&cases, mean_interval(&differences), (0.0, 1.0), round)?;
        let [with, without] = levels(&cases)?;
        found.ratio = (without > 0.0).then(|| rounded(with / without));
        Some(found)
    }
}

/// The means of both sides over cases.
fn levels(cases: &[CaseRuns]) -> Option<[f64; 2]> {
    let level = |side: fn(&CaseRuns) -> &[f64]| {
        let of = |case: &CaseRuns| Spread::of(side(case)).map(|spread| spread.mean);
        Spread::of(&cases.iter().filter_map(of).collect::<Vec<f64>>()).map(|spread| spread.mean)
    };
    Some([level(|case| &case.with)?, level(|case| &case.without)?])
}

/// A difference of shares, in units of the number that they are shares of.
fn secondary(
    cases: &[CaseRuns],
    interval: Option<Interval>,
    (low, width): (f64, f64),
    round: Rounding,
) -> Option<SecondaryDifference> {
    let [ours, theirs] = levels(cases)?;
    Some(SecondaryDifference {
        mean: round(low + ours * width),
        baseline_mean: round(low + theirs * width),
        difference: round((ours - theirs) * width),
        interval: interval.map(|found| [found.low, found.high].map(|end| round(end * width))),
        ratio: None,
        cases: count(cases.len()),
        extra: Extra::new(),
    })
}

pub(super) fn differences(pairs: &[[f64; 2]]) -> Vec<f64> {
    pairs.iter().filter_map(|[with, without]| case_difference(&[*with], &[*without])).collect()
}
