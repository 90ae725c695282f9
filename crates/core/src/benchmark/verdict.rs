//! From the runs of two arms to an answer: on these cases, and on tasks like these.
//!
//! The rules are in docs/statistics.md. On these cases, the runs are dealt anew to the arms within each case; with
//! `--until-decided`, pairs of runs are bet on instead. On tasks like these, the sign-flip test over cases decides,
//! which takes six of them. The two are never mixed.

use std::fmt::Write as _;

use skillgauge_format::Extra;
use skillgauge_format::evals::{
    Beyond, DifferenceVerdict, OnSuite, PrimaryOutcome, TestMethod, Verdict,
};
use skillgauge_format::json::Number;
use skillgauge_format::write::round_probability;

use super::outcome::Question;
use super::rounded;
use crate::comparison::PositionBias;
use crate::statistics::{
    CaseRuns, FEWEST_CASES, Interval, PairTally, PairedDifference, Spread, WithinCases,
    case_difference, conclude, number,
};
use crate::text::{plural, probability};

/// More runs than this are not recommended for any case.
const MOST_RUNS: f64 = 50.0;

/// What the arms of a comparison have to show, from 0 to 1.
pub(super) struct Evidence {
    pub(super) question: Question,
    /// What each comparable case shows.
    pub(super) cases: Vec<CaseEvidence>,
    /// The runs of both arms with the same number, by number.
    pub(super) replicates: Vec<Vec<[f64; 2]>>,
    /// Set when the comparator mostly follows the position, so that its preferences decide nothing.
    pub(super) bias: Option<PositionBias>,
    pub(super) seed: u64,
}

/// What one case shows, from 0 to 1.
pub(super) enum CaseEvidence {
    Runs(CaseRuns),
    /// By pair of runs, whether the one with the skill was preferred.
    Preferences(Vec<f64>),
}

impl CaseEvidence {
    /// The means of both arms.
    pub(super) fn levels(&self) -> Option<[f64; 2]> {
        let mean = |values: &[f64]| Spread::of(values).map(|spread| spread.mean);
        match self {
            Self::Runs(CaseRuns { with, without }) => Some([mean(with)?, mean(without)?]),
            Self::Preferences(shares) => mean(shares).map(|share| [share, 1.0 - share]),
        }
    }

    /// How many runs there are of the arm that has fewer.
    pub(super) fn runs(&self) -> usize {
        match self {
            Self::Runs(CaseRuns { with, without }) => with.len().min(without.len()),
            Self::Preferences(shares) => shares.len(),
        }
    }
}

impl Evidence {
    fn parts(&self) -> (Vec<CaseRuns>, Vec<Vec<f64>>) {
        let (mut runs, mut preferences) = (Vec::new(), Vec::new());
        for case in &self.cases {
            match case {
                CaseEvidence::Runs(case) => runs.push(case.clone()),
                CaseEvidence::Preferences(shares) => preferences.push(shares.clone()),
            }
        }
        (runs, preferences)
    }

    fn resolvable(&self) -> Option<f64> {
        let (runs, preferences) = self.parts();
        if preferences.is_empty() {
            WithinCases::resolvable(&runs)
        } else {
            WithinCases::resolvable_preference(&preferences)
        }
    }

    fn within(&self) -> Option<WithinCases> {
        let (runs, preferences) = self.parts();
        if preferences.is_empty() {
            WithinCases::of(&runs, self.seed)
        } else {
            WithinCases::of_preferences(&preferences, self.seed)
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        if let Some(bias) = self.bias {
            return self.biased(bias);
        }
        let within = self.within();
        let across = PairedDifference::of(&self.case_differences(), self.seed);
        Verdict {
            outcome: self.question.outcome,
            margin: rounded(self.question.margin),
            on_suite: self.on_suite(within.as_ref()),
            beyond: self.beyond(across.as_ref(), within.as_ref()),
            resolvable: self.resolvable().map(|share| self.amount(share)),
            extra: Extra::new(),
        }
    }

    /// A comparator that reads positions says nothing about the skill.
    fn biased(&self, bias: PositionBias) -> Verdict {
        let none = self.beyond(None, None);
        let cases_needed = 0;
        let mut on_suite = self.on_suite(None);
        // What is compared here are pairs of runs, of which a case has several.
        on_suite.position_bias = Some(bias.to_string().replace("case", "pair"));
        Verdict {
            outcome: self.question.outcome,
            margin: rounded(self.question.margin),
            on_suite,
            beyond: Beyond { cases_needed, ..none },
            resolvable: None,
            extra: Extra::new(),
        }
    }

    pub(super) fn case_differences(&self) -> Vec<f64> {
        let levels = self.cases.iter().filter_map(CaseEvidence::levels);
        levels.filter_map(|[with, without]| case_difference(&[with], &[without])).collect()
    }

    /// A difference in units of the outcome.
    fn amount(&self, share: f64) -> Number {
        rounded(share * self.question.width())
    }

    fn ends(&self, interval: Interval) -> [Number; 2] {
        [interval.low, interval.high].map(|end| self.amount(end))
    }

    fn on_suite(&self, found: Option<&WithinCases>) -> OnSuite {
        let margin = self.question.margin;
        let mut on_suite = OnSuite {
            verdict: DifferenceVerdict::Undecided,
            difference: found.map(|found| self.amount(found.difference)),
            interval: found.and_then(|found| found.interval).map(|interval| self.ends(interval)),
            p: None,
            e: None,
            method: None,
            position_bias: None,
            extra: Extra::new(),
        };
        let Some(found) = found else { return on_suite };
        if self.question.until_decided {
            let tally = PairTally::until_decided(&self.replicates);
            // Many pairs that are won by little beside a few that are lost by much are no improvement.
            let is_leading = (tally.won > tally.lost) == (found.difference > 0.0);
            let p_value = if tally.is_decided() && is_leading { 0.0 } else { 1.0 };
            on_suite.verdict = conclude(p_value, found.difference, found.interval, margin);
            on_suite.e = Some(rounded(tally.e_value()));
            on_suite.method = Some(TestMethod::EValue);
        } else {
            on_suite.verdict = conclude(found.p_value, found.difference, found.interval, margin);
            on_suite.p = Some(Number::Float(round_probability(found.p_value)));
            on_suite.method = Some(found.method.into());
        }
        on_suite
    }

    fn beyond(&self, found: Option<&PairedDifference>, within: Option<&WithinCases>) -> Beyond {
        // Runs that were stopped when they decided on these cases give no p-value of a fixed number.
        let asked =
            found.filter(|found| found.cases >= FEWEST_CASES && !self.question.until_decided);
        let cases = self.cases.len();
        // What is unsure about these cases is at least as unsure about others, also where all of these differ alike.
        let on_suite = within.and_then(|found| found.interval);
        let interval = asked.and_then(|found| match (found.interval, on_suite) {
            (Some(one), Some(other)) => {
                Some(Interval { low: one.low.min(other.low), high: one.high.max(other.high) })
            }
            (one, other) => one.or(other),
        });
        let interval = interval.map(|interval| interval.clamped(-1.0, 1.0));
        Beyond {
            verdict: asked
                .map(|found| conclude(found.p_value, found.mean, interval, self.question.margin)),
            difference: asked.map(|found| self.amount(found.mean)),
            interval: interval.map(|interval| self.ends(interval)),
            p: asked.map(|found| Number::Float(round_probability(found.p_value))),
            cases_needed: FEWEST_CASES.saturating_sub(cases) as u64,
            extra: Extra::new(),
        }
    }
}

/// The answer in words. `runs` is how often each case was run in each arm.
pub(super) fn sentence(verdict: &Verdict, cases: usize, runs: usize) -> String {
    let Verdict { on_suite, beyond, .. } = verdict;
    if let Some(bias) = &on_suite.position_bias {
        return format!("Undecided: {bias}.");
    }
    let Some(difference) = on_suite.difference else {
        return "No verdict: no case has measured runs in both arms".to_owned();
    };
    let these = if cases == 1 { "this case".to_owned() } else { format!("these {cases} cases") };
    let unit = Unit::of(verdict.outcome);
    // What counts as no difference depends on the margin.
    let within = match on_suite.verdict {
        DifferenceVerdict::NoDifference => {
            format!(" of more than {}", unit.amount(verdict.margin.as_f64() * unit.width()))
        }
        _ => String::new(),
    };
    let mut text = format!(
        "{}{within} on {these}: {} {}",
        capital(&on_suite.verdict.to_string()),
        name(verdict.outcome),
        unit.signed(difference.as_f64()),
    );
    let _ = write!(text, " ({}).", proof(on_suite.interval, on_suite.p, on_suite.e, unit));
    if on_suite.verdict == DifferenceVerdict::Undecided {
        text.push_str(&more_runs(verdict, difference.as_f64().abs(), runs, unit));
    }
    match beyond.verdict {
        None if beyond.cases_needed == 0 => {
            text.push_str(" For tasks like these, run a fixed number of times (--runs).");
        }
        None => {
            let cases = plural(cases, "case");
            let needed = beyond.cases_needed;
            let _ =
                write!(text, " {cases} can't say how it does on other tasks; add {needed} more.");
        }
        Some(found) => {
            let same = if found == on_suite.verdict { ", too" } else { "" };
            let proof = proof(beyond.interval, beyond.p, None, unit);
            let _ = write!(text, " On tasks like these: {found}{same} ({proof})");
            let hint =
                if found == DifferenceVerdict::Undecided { "; more cases would help" } else { "" };
            let _ = write!(text, "{hint}.");
        }
    }
    text
}

/// What would decide: said only where more runs can.
fn more_runs(verdict: &Verdict, difference: f64, runs: usize, unit: Unit) -> String {
    if verdict.on_suite.e.is_some() {
        return String::new();
    }
    let Some(resolvable) = verdict.resolvable.map(Number::as_f64) else {
        return " Not enough runs: no result of so few could decide.".to_owned();
    };
    if difference >= resolvable {
        return " More runs would help.".to_owned();
    }
    let mut text = format!(" Not enough runs: these can show {} or more", unit.amount(resolvable));
    let margin = verdict.margin.as_f64() * unit.width();
    let wanted = difference.max(margin);
    let needed = (number(runs) * (resolvable / wanted).powi(2)).ceil();
    if wanted < resolvable && needed > number(runs) && needed <= MOST_RUNS {
        let _ = write!(
            text,
            "; about {needed:.0} runs of each case would show {}",
            unit.amount(wanted)
        );
    }
    text.push('.');
    text
}

/// The interval and what the test says, such as `95%: +40 to +90, p = 0.0003`.
pub(crate) fn proof(
    interval: Option<[Number; 2]>,
    p: Option<Number>,
    e: Option<Number>,
    unit: Unit,
) -> String {
    let mut parts = Vec::new();
    if let Some([low, high]) = interval.map(|ends| ends.map(Number::as_f64)) {
        parts.push(format!("95%: {} to {}", unit.plain(low), unit.plain(high)));
    }
    parts.extend(p.map(|p| probability(p.as_f64())));
    parts.extend(e.map(|e| format!("E = {:.1}, 20 decides", e.as_f64())));
    parts.join(", ")
}

/// A difference of an outcome as people read it, such as `+67 points`.
pub fn signed(outcome: PrimaryOutcome, value: f64) -> String {
    Unit::of(outcome).signed(value)
}

/// The outcome of an arm as people read it, such as `92 %`.
pub fn level(outcome: PrimaryOutcome, value: f64) -> String {
    Unit::of(outcome).level(value)
}

/// How the numbers of an outcome are shown.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    /// Hundredths.
    Points,
    /// From 1 to 5.
    Score,
}

impl Unit {
    pub(crate) const fn of(outcome: PrimaryOutcome) -> Self {
        match outcome {
            PrimaryOutcome::OverallScore | PrimaryOutcome::RequiredScore => Self::Score,
            PrimaryOutcome::PassRate
            | PrimaryOutcome::RubricNormalized
            | PrimaryOutcome::OverallEfficiency
            | PrimaryOutcome::Preference => Self::Points,
        }
    }

    pub(crate) const fn width(self) -> f64 {
        match self {
            Self::Points => 1.0,
            Self::Score => 4.0,
        }
    }

    /// Such as `+67 points`, `+1.25 of 5`.
    pub(crate) fn signed(self, value: f64) -> String {
        match self {
            Self::Points => format!("{} points", self.plain(value)),
            Self::Score => format!("{} on a scale of 1 to 5", self.plain(value)),
        }
    }

    /// Such as `+67`, `+1.25`.
    pub(super) fn plain(self, value: f64) -> String {
        match self {
            // Not `-0`.
            Self::Points => format!("{:+.0}", (100.0 * value).round() + 0.0),
            Self::Score => format!("{:+.2}", (100.0 * value).round() / 100.0 + 0.0),
        }
    }

    fn amount(self, value: f64) -> String {
        match self {
            Self::Points => format!("{:.0} points", (100.0 * value).ceil()),
            Self::Score => format!("{value:.1}"),
        }
    }

    /// The interval of an arm, such as `40-92 %`, `3.1-4.2`.
    pub(super) fn range(self, low: f64, high: f64) -> String {
        match self {
            Self::Points => format!("{:.0}-{:.0} %", 100.0 * low, 100.0 * high),
            Self::Score => format!("{low:.1}-{high:.1}"),
        }
    }

    /// The value of an arm, such as `92 %`, `4.2`.
    pub(super) fn level(self, value: f64) -> String {
        match self {
            Self::Points => format!("{:.0} %", 100.0 * value),
            Self::Score => format!("{value:.2}"),
        }
    }
}

/// As people read it.
pub(crate) fn name(outcome: PrimaryOutcome) -> String {
    outcome.as_str().replace('_', " ")
}

pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
