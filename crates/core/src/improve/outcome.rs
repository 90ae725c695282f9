//! Which version the skill is in the end.
//!
//! The best one, but only if it is better than the baseline beyond noise: the paired test over cases that every benchmark
//! uses. Otherwise the baseline stays, and the numbers say why.

use serde::{Deserialize, Serialize};
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::write::round_rate;

use super::{Improvement, Stop};
use crate::statistics::{FEWEST_CASES, PairedDifference, case_difference, judge};
use crate::version::VersionNumber;

/// How a loop ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conclusion {
    /// Why it ended.
    pub stop: Stop,
    /// The version that it began with.
    pub baseline: u64,
    /// The version with the highest scores.
    pub best: u64,
    /// What became of the best one.
    pub decision: Decision,
    /// Cases that both were measured on.
    pub cases: u64,
    /// Cases in which the best version has the higher pass rate.
    pub wins: u64,
    /// Cases in which it has the lower one.
    pub losses: u64,
    /// The mean difference of the pass rates.
    pub difference: f64,
    /// How likely such a difference is when the versions are equally good.
    pub p_value: f64,
    /// What follows.
    pub verdict: DifferenceVerdict,
}

/// What became of the best version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is the baseline: nothing better was found.
    BaselineIsBest,
    /// It scores higher, and that may be noise: the baseline stays.
    MayBeNoise,
    /// It is better beyond noise, and is made current.
    Adopted,
}

impl Conclusion {
    /// The version that the skill should be now.
    pub fn current(&self) -> VersionNumber {
        match self.decision {
            Decision::Adopted => VersionNumber(self.best),
            Decision::BaselineIsBest | Decision::MayBeNoise => VersionNumber(self.baseline),
        }
    }

    /// What was decided and why, in one sentence.
    pub fn sentence(&self) -> String {
        let (best, baseline) = (VersionNumber(self.best), VersionNumber(self.baseline));
        let numbers = format!(
            "{:+.1} points of pass rate, better in {} and worse in {} of {} cases, p = {:.3}",
            self.difference * 100.0,
            self.wins,
            self.losses,
            self.cases,
            self.p_value
        );
        match self.decision {
            Decision::BaselineIsBest => format!("{baseline} stays: nothing better was found"),
            Decision::Adopted => format!("{best} is better than {baseline}: {numbers}"),
            Decision::MayBeNoise => {
                let few = if self.cases < FEWEST_CASES as u64 {
                    format!("; fewer than {FEWEST_CASES} cases can show nothing")
                } else {
                    String::new()
                };
                format!(
                    "{baseline} stays: {best} scores higher, but that may be noise ({numbers}){few}"
                )
            }
        }
    }
}

impl Improvement {
    /// How it ends when it ends now; none when not even the baseline was measured.
    pub fn conclude(&self, stop: Stop) -> Option<Conclusion> {
        let first = self.rounds.first()?;
        let baseline = first.measured.as_ref()?;
        let (round, best) = self.best()?;
        let pairs = best
            .cases
            .iter()
            .filter_map(|(case, with)| case_difference(&[*with], &[*baseline.cases.get(case)?]));
        let differences: Vec<f64> = pairs.collect();
        let difference = PairedDifference::of(&differences, self.setting.seed);
        let verdict = judge(difference.as_ref());
        let decision = if round.version == first.version {
            Decision::BaselineIsBest
        } else if verdict == DifferenceVerdict::Better {
            Decision::Adopted
        } else {
            Decision::MayBeNoise
        };
        Some(Conclusion {
            stop,
            baseline: first.version,
            best: round.version,
            decision,
            cases: differences.len() as u64,
            wins: difference.map_or(0, |found| found.wins as u64),
            losses: difference.map_or(0, |found| found.losses as u64),
            difference: round_rate(difference.map_or(0.0, |found| found.mean)),
            p_value: round_rate(difference.map_or(1.0, |found| found.p_value)),
            verdict,
        })
    }
}
