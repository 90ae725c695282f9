//! How far a judge's verdicts hold: how many of its passes are void, and how many verdicts it did not give.
//!
//! One count and one sentence for every surface: `run`, `grade`, `bench`, benchmark.json, benchmark.md and the pages.

use std::iter::Sum;

use skillgauge_format::cases::PASSING_SCORE;
use skillgauge_format::evals::JudgeStatistics;
use skillgauge_format::json::{Node, Number};
use skillgauge_format::write::round_rate;

use super::file::{amount, whole};
use crate::judge::NO_JUDGE;
use crate::text::plural;

/// From this share of void passes on, a judge is warned about.
const WORRYING: f64 = 0.2;

/// What a judge's verdicts come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JudgeTally {
    /// Runs that a judge was asked about.
    pub runs: u64,
    /// Passes that it gave: verdicts, and scores of 3 and more; void ones included.
    pub passes: u64,
    /// Of these, those that nothing proves.
    pub voided: u64,
    /// Verdicts and scores that it did not give.
    pub errors: u64,
    /// Verdicts and scores that it gave.
    pub verdicts: u64,
    /// What they took; nothing when a grading does not tell.
    pub spent: Option<JudgeSpending>,
}

/// What verdicts took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JudgeSpending {
    pub calls: u64,
    pub seconds: f64,
    /// Nothing when one of the gradings does not tell.
    pub tokens: Option<u64>,
    /// US dollars; nothing when one of the gradings does not tell.
    pub cost_usd: Option<f64>,
}

impl JudgeSpending {
    fn of(grader: &Node<'_>) -> Option<Self> {
        let spent = grader.get("spent")?;
        Some(Self {
            calls: whole(Some(spent), "calls")?,
            seconds: amount(Some(spent), "seconds")?.as_f64(),
            tokens: whole(Some(spent), "tokens"),
            cost_usd: amount(Some(spent), "cost_usd").map(Number::as_f64),
        })
    }

    fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            seconds: self.seconds + other.seconds,
            tokens: self.tokens.zip(other.tokens).map(|(one, other)| one + other),
            cost_usd: self.cost_usd.zip(other.cost_usd).map(|(one, other)| one + other),
        }
    }
}

impl JudgeTally {
    /// Of a grading of ours; nothing is known of other tools' judges.
    pub(super) fn of(root: &Node<'_>) -> Self {
        let grader = root.get("grader");
        if grader.and_then(|grader| grader.get("model")).is_none() {
            return Self::default();
        }
        let verdicts = ["expectations", "results"].into_iter().filter_map(|key| root.get(key));
        let verdicts = verdicts
            .flat_map(Node::items)
            .filter(|item| !item.has("type") && !item.has("not_judged"));
        let scores = root.get("rubric_scores").map(Node::members).unwrap_or_default();
        let scores = scores.iter().map(|member| &member.value);
        let is = |item: &Node<'_>, key: &str| item.get(key).and_then(Node::as_bool) == Some(true);
        let is_high = |item: &Node<'_>| {
            amount(Some(item), "score")
                .is_some_and(|score| score.as_f64() >= f64::from(PASSING_SCORE))
        };
        let spent = grader.and_then(JudgeSpending::of);
        let mut tally = Self { runs: 1, spent, ..Self::default() };
        let verdicts = verdicts.map(|item| (is(item, "voided"), is(item, "passed")));
        for (is_voided, is_passed) in
            verdicts.chain(scores.map(|item| (is(item, "voided"), is_high(item))))
        {
            tally.passes += u64::from(is_voided || is_passed);
            tally.voided += u64::from(is_voided);
            tally.verdicts += 1;
        }
        let errors = root.get("judge_errors").map(Node::items).unwrap_or_default();
        let errors = errors
            .iter()
            .filter(|error| error.as_str().is_none_or(|text| !text.ends_with(NO_JUDGE)));
        tally.errors = errors.count() as u64;
        tally
    }

    /// The share of passes that are void; none without a pass.
    pub fn void_rate(&self) -> Option<f64> {
        (self.passes > 0).then(|| as_number(self.voided) / as_number(self.passes))
    }

    /// Whether so many passes are void that the judge is the first thing to look at.
    pub fn is_worrying(&self) -> bool {
        self.void_rate().is_some_and(|rate| rate > WORRYING)
    }

    /// What it comes to, in a sentence; nothing where no judge was asked.
    pub fn sentence(&self) -> Option<String> {
        if self.runs == 0 {
            return None;
        }
        let Self { passes, voided, errors, .. } = self;
        let missing = match errors {
            0 => String::new(),
            _ => format!(", {} missing", plural(*errors, "verdict")),
        };
        let Some(rate) = self.void_rate() else {
            return Some(format!("judge: no passes{missing}"));
        };
        let percent = 100.0 * rate;
        Some(if self.is_worrying() {
            format!(
                "{voided} of {passes} passes voided ({percent:.0} %): the judge's quotes are not there{missing}; try a \
                 stronger judge (--judge MODEL), and see what is `voided` in grading.json"
            )
        } else {
            format!("judge: {voided} of {passes} passes voided ({percent:.0} %){missing}")
        })
    }

    /// What each verdict took, in a sentence; nothing where that is not known.
    pub fn price(&self) -> Option<String> {
        let JudgeSpending { calls, seconds, tokens, cost_usd } = self.spent?;
        let each = self.each()?;
        let mut parts = vec![format!("{:.1} s", each(seconds))];
        parts.extend(tokens.map(|tokens| format!("{:.0} tokens", each(as_number(tokens)))));
        parts.extend(cost_usd.map(|cost| format!("${:.4}", each(cost))));
        let unknown = if cost_usd.is_none() { ", unknown cost" } else { "" };
        let verdicts = plural(self.verdicts, "verdict");
        let (calls, parts) = (plural(calls, "call"), parts.join(", "));
        Some(format!("judge: {verdicts} in {calls}; {parts} each{unknown}"))
    }

    /// Divides by the number of verdicts.
    fn each(&self) -> Option<impl Fn(f64) -> f64 + use<>> {
        let verdicts = as_number(self.verdicts);
        (self.verdicts > 0).then_some(move |sum: f64| sum / verdicts)
    }

    pub(crate) fn statistics(&self) -> Option<JudgeStatistics> {
        let of_each = |sum: Option<f64>| {
            let share = self.each()?(sum?);
            // Cents of a verdict are small.
            Some(Number::Float((share * 1e6).round() / 1e6))
        };
        let spent = self.spent;
        (self.runs > 0).then(|| JudgeStatistics {
            verdicts: self.verdicts,
            calls: spent.map(|spent| spent.calls),
            seconds_per_verdict: of_each(spent.map(|spent| spent.seconds)),
            tokens_per_verdict: of_each(spent.and_then(|spent| spent.tokens).map(as_number)),
            cost_usd_per_verdict: of_each(spent.and_then(|spent| spent.cost_usd)),
            runs: self.runs,
            passes: self.passes,
            voided: self.voided,
            void_rate: self.void_rate().map(|rate| Number::Float(round_rate(rate))),
            judge_errors: self.errors,
            ..JudgeStatistics::default()
        })
    }
}

impl Sum for JudgeTally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |sum, one| Self {
            runs: sum.runs + one.runs,
            passes: sum.passes + one.passes,
            voided: sum.voided + one.voided,
            errors: sum.errors + one.errors,
            verdicts: sum.verdicts + one.verdicts,
            // A run that no judge was asked about took nothing.
            spent: match (sum.runs, one.runs) {
                (0, _) => one.spent,
                (_, 0) => sum.spent,
                _ => sum.spent.zip(one.spent).map(|(one, other)| one.and(other)),
            },
        })
    }
}

fn as_number(count: u64) -> f64 {
    Number::Unsigned(count).as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_of_a_verdict_is_told_as_far_as_it_is_known() {
        let spent =
            JudgeSpending { calls: 3, seconds: 6.0, tokens: Some(800), cost_usd: Some(0.02) };
        let one = JudgeTally { runs: 1, verdicts: 2, spent: Some(spent), ..JudgeTally::default() };
        assert_eq!(
            one.price().unwrap(),
            "judge: 2 verdicts in 3 calls; 3.0 s, 400 tokens, $0.0100 each"
        );
        let silent = JudgeSpending { tokens: None, cost_usd: None, ..spent };
        let two = JudgeTally { spent: Some(silent), ..one };
        let all: JudgeTally = [one, JudgeTally::default(), two].into_iter().sum();
        assert_eq!(all.price().unwrap(), "judge: 4 verdicts in 6 calls; 3.0 s each, unknown cost");
        let found = all.statistics().unwrap();
        assert_eq!((found.calls, found.seconds_per_verdict), (Some(6), Some(Number::Float(3.0))));
        assert_eq!((found.tokens_per_verdict, found.cost_usd_per_verdict), (None, None));
        let old = JudgeTally { spent: None, ..one };
        assert_eq!(
            [one, old].into_iter().sum::<JudgeTally>().price(),
            None,
            "half of it is no answer"
        );
    }

    fn tally(passes: u64, voided: u64, errors: u64) -> String {
        JudgeTally { runs: 1, passes, voided, errors, ..JudgeTally::default() }.sentence().unwrap()
    }

    #[test]
    fn a_judge_above_a_fifth_is_warned_about() {
        assert_eq!(tally(40, 8, 0), "judge: 8 of 40 passes voided (20 %)");
        assert_eq!(tally(40, 0, 1), "judge: 0 of 40 passes voided (0 %), 1 verdict missing");
        assert_eq!(tally(0, 0, 6), "judge: no passes, 6 verdicts missing");
        let warned = tally(40, 12, 2);
        assert!(warned.starts_with("12 of 40 passes voided (30 %): the judge's quotes are not there, 2 verdicts missing"), "{warned}");
        assert_eq!(JudgeTally::default().sentence(), None);
    }
}
