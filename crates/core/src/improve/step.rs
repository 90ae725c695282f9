//! What comes next, from what was done.

use skillgauge_format::Extra;
use skillgauge_format::improve::{Compared, Improvement, Measured, Round, StopReason, StopRecord};

use super::measured::{beats, is_perfect, level};
use crate::version::VersionNumber;

/// So many rounds in a row without a better version end the loop.
const PATIENCE: usize = 2;

/// When a loop ends by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The outcome that is good enough, as a share of its scale.
    pub target: f64,
    /// The most versions that are made.
    pub rounds: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Begin,
    /// Run and grade a version.
    Measure {
        version: VersionNumber,
    },
    /// Compare a version with the one that it was made from, blind.
    Compare {
        old: VersionNumber,
        new: VersionNumber,
    },
    /// Analyse, and make a new version of the best one.
    Change {
        /// The best version so far.
        base: VersionNumber,
        /// The two versions that were compared last; none after the baseline.
        compared: Option<[VersionNumber; 2]>,
    },
    /// There is nothing left to do.
    Stop(Stop),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The baseline leaves nothing to improve.
    TooEasy,
    Target,
    Rounds,
    /// Nothing was gained for some rounds.
    NoImprovement,
    /// No further version can be made, for this reason.
    DeadEnd(String),
    /// The budget is used up.
    Budget(String),
    Interrupted,
    /// A step could not be done.
    Incomplete(String),
}

impl Stop {
    /// Whether the same command goes on later.
    pub fn is_pause(&self) -> bool {
        matches!(self, Self::Budget(_) | Self::Interrupted | Self::Incomplete(_))
    }
}

impl From<&Stop> for StopRecord {
    fn from(stop: &Stop) -> Self {
        let (reason, detail) = match stop {
            Stop::TooEasy => (StopReason::TooEasy, None),
            Stop::Target => (StopReason::Target, None),
            Stop::Rounds => (StopReason::Rounds, None),
            Stop::NoImprovement => (StopReason::NoImprovement, None),
            Stop::DeadEnd(why) => (StopReason::DeadEnd, Some(why)),
            Stop::Budget(why) => (StopReason::Budget, Some(why)),
            Stop::Interrupted => (StopReason::Interrupted, None),
            Stop::Incomplete(why) => (StopReason::Incomplete, Some(why)),
        };
        Self { reason, detail: detail.cloned(), extra: Extra::new() }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooEasy => {
                f.write_str("the evals are too easy: the baseline leaves nothing to improve")
            }
            Self::Target => f.write_str("the target is reached"),
            Self::Rounds => f.write_str("all rounds are done"),
            Self::NoImprovement => write!(f, "{PATIENCE} rounds brought no improvement"),
            Self::DeadEnd(why) => write!(f, "no further version can be made: {why}"),
            Self::Budget(why) => write!(f, "the budget: {why}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Incomplete(why) => f.write_str(why),
        }
    }
}

/// What comes next. Follows from the record alone, so a loop that was killed goes on where it was.
pub fn next(improvement: &Improvement, rules: &Rules) -> Step {
    let Some(last) = improvement.rounds.last() else { return Step::Begin };
    let version = VersionNumber(last.version);
    if last.measured.is_none() {
        return Step::Measure { version };
    }
    let compared = last.from.map(|old| [VersionNumber(old), version]);
    if let Some([old, new]) = compared
        && last.compared.is_none()
    {
        return Step::Compare { old, new };
    }
    match (stop(improvement, rules), best(&improvement.rounds)) {
        (Some(stop), _) => Step::Stop(stop),
        (None, Some((base, _))) => Step::Change { base: VersionNumber(base.version), compared },
        // The last round is measured, so there is a best one.
        (None, None) => Step::Measure { version },
    }
}

fn stop(improvement: &Improvement, rules: &Rules) -> Option<Stop> {
    let rounds = &improvement.rounds;
    let (_, best) = best(rounds)?;
    if rounds.len() == 1 && is_perfect(best) {
        Some(Stop::TooEasy)
    } else if level(best) >= rules.target {
        Some(Stop::Target)
    } else if rounds.len() as u64 > rules.rounds {
        Some(Stop::Rounds)
    } else if stale(rounds) >= PATIENCE {
        Some(Stop::NoImprovement)
    } else {
        improvement.dead_end.clone().map(Stop::DeadEnd)
    }
}

/// The best round that was measured. Of equals it is the first, unless a blind comparison with it preferred the other.
pub(super) fn best<'r>(
    rounds: impl IntoIterator<Item = &'r Round>,
) -> Option<(&'r Round, &'r Measured)> {
    let is_better = |(new, measured): &Found<'_>, (old, best): &Found<'_>| {
        beats(measured, best)
            || !beats(best, measured) && new.from == Some(old.version) && is_preferred(new)
    };
    leading(rounds, is_better)
}

type Found<'r> = (&'r Round, &'r Measured);

fn leading<'r>(
    rounds: impl IntoIterator<Item = &'r Round>,
    is_better: impl Fn(&Found<'_>, &Found<'_>) -> bool,
) -> Option<Found<'r>> {
    let mut best = None;
    for round in rounds {
        let Some(found) = round.measured.as_ref().map(|measured| (round, measured)) else {
            continue;
        };
        if best.as_ref().is_none_or(|best| is_better(&found, best)) {
            best = Some(found);
        }
    }
    best
}

/// Whether a version won more cases of its comparison than the one that it was made from.
fn is_preferred(round: &Round) -> bool {
    let prefers = |found: &Compared| !found.position_bias && found.new_wins > found.old_wins;
    round.compared.as_ref().is_some_and(prefers)
}

/// How many rounds were measured since the one with the highest scores; a tie that was broken is no gain.
pub(super) fn stale(rounds: &[Round]) -> usize {
    let best = leading(rounds, |new, old| beats(new.1, old.1)).map(|(round, _)| round.version);
    let measured = rounds.iter().rev().filter(|round| round.measured.is_some());
    measured.take_while(|round| Some(round.version) != best).count()
}
