//! Which version the skill is in the end.
//!
//! The best one, but only if it is better than the baseline beyond noise, by the test and the level of [`super::contrast`].
//! Otherwise the baseline stays, and the numbers say why. What is best is a matter of the open cases; whether it is
//! adopted is one of the sealed ones, where there are any.

use skillgauge_format::Extra;
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::improve::{
    Conclusion, Decision, Improvement, Measured, Question, Round, StopReason, StopRecord,
};
use skillgauge_format::json::Number;
use skillgauge_format::write::{round_probability, round_rate};

use super::contrast::{Contrast, fewest_cases, fewest_runs, significance};
use super::measured::beats;
use super::sealed::suite_for;
use super::step::{Stop, best};
use crate::benchmark::{Unit, name, proof};
use crate::text::plural;
use crate::version::VersionNumber;

/// How a loop ends when it ends now; none when not even the baseline was measured.
pub fn conclude(improvement: &Improvement, stop: &Stop) -> Option<Conclusion> {
    let first = improvement.rounds.first()?;
    let baseline = first.measured.as_ref()?;
    let contrast = |round: &Round, measured: &Measured| {
        let attempt = improvement.rounds.iter().position(|found| found.version == round.version);
        let attempt = attempt.unwrap_or_default() as u64;
        Contrast::new(measured, baseline, attempt, improvement.setting.seed)
    };
    let is_better = |round: &&Round| {
        round.measured.as_ref().is_some_and(|found| {
            beats(found, baseline) && contrast(round, found).verdict == DifferenceVerdict::Better
        })
    };
    let highest = best(&improvement.rounds)?;
    let proven = best(improvement.rounds.iter().skip(1).filter(is_better));
    // A version that only won a tie with the baseline is no better than it.
    let unproven = if beats(highest.1, baseline) { highest } else { (first, baseline) };
    let (round, measured) = proven.unwrap_or(unproven);
    let found = contrast(round, measured);
    let amount = |share: f64| round_rate(share * Unit::of(baseline.outcome).width());
    let decision = if round.version == first.version {
        Decision::BaselineIsBest
    } else if proven.is_some() {
        Decision::Adopted
    } else {
        Decision::MayBeNoise
    };
    Some(Conclusion {
        stop: StopRecord::from(stop),
        baseline: first.version,
        best: round.version,
        // Of two equal ones the first is the highest, though only the second was shown to be better.
        higher: Some(highest.0.version).filter(|_| beats(highest.1, measured)),
        decision,
        outcome: baseline.outcome,
        question: found.question,
        sealed: !baseline.sealed.is_empty(),
        cases: found.cases as u64,
        wins: found.wins as u64,
        losses: found.losses as u64,
        difference: amount(found.difference),
        interval: found.interval.map(|interval| [interval.low, interval.high].map(amount)),
        p_value: round_probability(found.p_value),
        attempt: found.attempt,
        significance: round_rate(significance(found.attempt)),
        reachable: found.is_reachable,
        verdict: found.verdict,
        extra: Extra::new(),
    })
}

/// What was decided and why.
pub fn sentence(conclusion: &Conclusion) -> String {
    let (best, baseline) = (VersionNumber(conclusion.best), VersionNumber(conclusion.baseline));
    let (numbers, cases) = (numbers(conclusion), cases(conclusion));
    match conclusion.decision {
        Decision::BaselineIsBest if is_paused(conclusion) => {
            format!(
                "{baseline} stays for now: the loop stopped before a better version was measured"
            )
        }
        Decision::BaselineIsBest => format!("{baseline} stays: nothing better was found"),
        Decision::Adopted => {
            let higher = conclusion.higher.map(VersionNumber);
            let higher = higher
                .map(|higher| format!("; {higher} scores higher still, but that may be noise"))
                .unwrap_or_default();
            match conclusion.question {
                Question::Beyond => format!("{best} is better than {baseline}: {numbers}{higher}"),
                Question::OnSuite => format!(
                    "{best} is better than {baseline} on these {cases}: {numbers}{higher}. {}",
                    beyond(conclusion)
                ),
            }
        }
        Decision::MayBeNoise => {
            let bar = bar(conclusion);
            format!(
                "{baseline} stays: {best} scores higher, but that may be noise: {numbers}; {bar}"
            )
        }
    }
}

fn numbers(conclusion: &Conclusion) -> String {
    let unit = Unit::of(conclusion.outcome);
    let interval = conclusion.interval.map(|ends| ends.map(Number::Float));
    format!(
        "{} {} ({}), better in {} and worse in {} of {}",
        name(conclusion.outcome),
        unit.signed(conclusion.difference),
        proof(interval, Some(Number::Float(conclusion.p_value)), None, unit),
        conclusion.wins,
        conclusion.losses,
        cases(conclusion),
    )
}

fn cases(conclusion: &Conclusion) -> String {
    let sealed = if conclusion.sealed { "sealed case" } else { "case" };
    plural(conclusion.cases, sealed)
}

/// What a decision on these cases leaves open.
fn beyond(conclusion: &Conclusion) -> String {
    let (cases, needed) = (conclusion.cases, fewest_cases(conclusion.attempt));
    let can = plural(cases, "case");
    if conclusion.sealed {
        let suite = suite_for(needed);
        return format!("{can} can't say how it does on other tasks; a suite of {suite} cases can");
    }
    let more = needed.saturating_sub(usize::try_from(cases).unwrap_or(usize::MAX));
    format!("{can} can't say how it does on other tasks; add {more} more")
}

/// Whether the loop goes on with the same command, so that nothing was looked for to the end.
fn is_paused(conclusion: &Conclusion) -> bool {
    let reason = conclusion.stop.reason;
    matches!(reason, StopReason::Budget | StopReason::Interrupted | StopReason::Incomplete)
}

/// What a version that scores higher would have had to show.
fn bar(conclusion: &Conclusion) -> String {
    let Conclusion { attempt, significance, cases: count, .. } = conclusion;
    let needed = match attempt {
        0 | 1 => format!("p must be at most {significance}"),
        2 => format!("the 2nd version tried needs p of at most {significance}"),
        3 => format!("the 3rd version tried needs p of at most {significance}"),
        n => format!("the {n}th version tried needs p of at most {significance}"),
    };
    if conclusion.reachable {
        return needed;
    }
    let count = usize::try_from(*count).unwrap_or_default();
    let remedy = fewest_runs(count, *attempt)
        .map_or_else(|| "add cases".to_owned(), |runs| format!("--runs {runs} or more can"));
    format!("{needed}, which so few runs of {} can't reach: {remedy}", cases(conclusion))
}
