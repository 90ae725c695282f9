//! From observations to what a report says of runs that went wrong, and of turns.

use skillgauge_format::transcript::{Outcome, Reason};
use skillgauge_format::trigger::{LoadsAt, TurnLimit, TurnUse, WrongRun};

use super::observation::{Answer, Observation};
use super::set::LabelledQuery;
use crate::text::shorten;

/// As many wrong runs of a query as are reported.
const MOST: usize = 3;
/// As many limits on turns as are tried out.
const LIMITS: usize = 8;
/// As many queries as are named for each.
const QUERIES: usize = 5;
/// Characters of what an agent said.
const SAID: usize = 200;

/// The first runs that went wrong; those without a result come last. Nothing when all went right.
pub fn wrong_runs<'o>(
    observations: impl IntoIterator<Item = &'o Observation>,
    verdict: impl Fn(&Observation) -> Option<bool>,
) -> Option<Vec<WrongRun>> {
    let mut wrong = Vec::new();
    let mut unmeasured = Vec::new();
    for (place, seen) in observations.into_iter().enumerate() {
        let list = match verdict(seen) {
            Some(true) => continue,
            Some(false) => &mut wrong,
            None => &mut unmeasured,
        };
        if list.len() < MOST {
            list.push(wrong_run(place as u64 + 1, seen, verdict(seen).is_some()));
        }
    }
    wrong.extend(unmeasured);
    wrong.truncate(MOST);
    (!wrong.is_empty()).then_some(wrong)
}

fn wrong_run(run: u64, seen: &Observation, is_measured: bool) -> WrongRun {
    let outcome = if is_measured { Outcome::Completed } else { seen.outcome };
    let message = seen.message.as_deref().filter(|_| !is_measured);
    WrongRun {
        run,
        outcome: outcome.to_string(),
        did: seen.steps.did.clone(),
        did_more: seen.steps.more,
        loaded: seen.loaded.iter().map(|loaded| loaded.name.clone()).collect(),
        said: message.map(|text| shorten(text, SAID)).or_else(|| seen.steps.said.clone()),
        turns: seen.steps.turns,
        turn_limit: seen.is_turn_limited(),
    }
}

/// At which turn a skill was loaded and how long other runs went on; nothing when no turn is known.
pub(super) fn turn_use(
    queries: &[LabelledQuery],
    observations: &[Vec<Observation>],
    skill: &str,
    max_turns: Option<u64>,
) -> Option<TurnUse> {
    let mut loads: Vec<(u64, &str)> = Vec::new();
    let mut quiet: Vec<(u64, &[u64])> = Vec::new();
    for (query, seen) in queries.iter().zip(observations) {
        for seen in seen {
            match seen.answer(skill) {
                Answer::Triggered(_) => {
                    loads.extend(seen.load_turn(skill).map(|turn| (turn, query.text.as_str())));
                }
                Answer::NotTriggered => {
                    quiet.extend(
                        seen.steps.turns.map(|turns| (turns, seen.steps.tokens.as_slice())),
                    );
                }
                Answer::Unmeasured(_) => {}
            }
        }
    }
    if loads.is_empty() && quiet.is_empty() {
        return None;
    }
    // One run that doesn't tell makes the sum unknown.
    let tokens_after = |limit: u64| {
        let skipped = usize::try_from(limit).unwrap_or(usize::MAX);
        let sums = quiet.iter().map(|(turns, tokens)| {
            (tokens.len() as u64 == *turns).then(|| tokens.iter().skip(skipped).sum::<u64>())
        });
        sums.sum::<Option<u64>>()
    };
    let mut at: Vec<u64> = loads.iter().map(|(turn, _)| *turn).collect();
    at.sort_unstable();
    let counted = |turn: u64| at.iter().filter(|other| **other == turn).count() as u64;
    let mut turns = at.clone();
    turns.dedup();
    let limit = |limit: u64| {
        let missed = || loads.iter().filter(|(turn, _)| *turn > limit);
        let mut names: Vec<String> = missed().map(|(_, query)| (*query).to_owned()).collect();
        names.dedup();
        names.truncate(QUERIES);
        TurnLimit {
            max_turns: limit,
            missed: missed().count() as u64,
            queries: names,
            turns_saved: quiet.iter().map(|(turns, _)| turns.saturating_sub(limit)).sum(),
            tokens_saved: tokens_after(limit),
        }
    };
    let mut limits: Vec<u64> = turns.iter().copied().chain([1, 2, 3, 5, 10]).collect();
    limits.sort_unstable();
    limits.dedup();
    // A limit that nothing reaches changes nothing.
    let limits = limits.into_iter().map(limit).filter(|it| it.missed > 0 || it.turns_saved > 0);
    Some(TurnUse {
        loads: turns.iter().map(|turn| LoadsAt { turn: *turn, runs: counted(*turn) }).collect(),
        quiet_runs: quiet.len() as u64,
        quiet_turns: quiet.iter().map(|(turns, _)| turns).sum(),
        quiet_tokens: tokens_after(0),
        limits: if max_turns.is_none() { limits.take(LIMITS).collect() } else { Vec::new() },
    })
}

impl Observation {
    /// Whether a limit on turns ended it.
    pub fn is_turn_limited(&self) -> bool {
        self.reason == Reason::MaxTurns
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::Steps;
    use super::*;

    fn seen(loaded_at: Option<u64>, turns: u64, tokens: &[u64]) -> Observation {
        let mut seen = Observation::completed(loaded_at.map(|_| "x".to_owned()));
        if let Some(loaded) = seen.loaded.first_mut() {
            loaded.turn = loaded_at;
        }
        seen.steps = Steps { turns: Some(turns), tokens: tokens.to_vec(), ..Steps::default() };
        seen
    }

    #[test]
    fn a_limit_misses_what_came_later_and_saves_what_went_on() {
        let queries = [LabelledQuery::new("a", true), LabelledQuery::new("b", false)];
        let all = [
            vec![seen(Some(1), 1, &[]), seen(Some(4), 4, &[])],
            vec![seen(None, 6, &[10, 20, 30, 40, 50, 60]), seen(None, 1, &[5])],
        ];
        let found = turn_use(&queries, &all, "x", None).unwrap();
        assert_eq!(found.loads, [LoadsAt { turn: 1, runs: 1 }, LoadsAt { turn: 4, runs: 1 }]);
        assert_eq!((found.quiet_runs, found.quiet_turns, found.quiet_tokens), (2, 7, Some(215)));
        let limits: Vec<_> = (found.limits.iter())
            .map(|it| (it.max_turns, it.missed, it.turns_saved, it.tokens_saved))
            .collect();
        let expected = [
            (1, 1, 5, Some(200)),
            (2, 1, 4, Some(180)),
            (3, 1, 3, Some(150)),
            (4, 0, 2, Some(110)),
            (5, 0, 1, Some(60)),
        ];
        assert_eq!(limits, expected);
        assert_eq!(found.limits[0].queries, ["a"]);
        // Nobody knows what a limit would save when there was one.
        assert!(turn_use(&queries, &all, "x", Some(4)).unwrap().limits.is_empty());
    }

    #[test]
    fn tokens_that_one_run_does_not_tell_are_unknown() {
        let queries = [LabelledQuery::new("b", false)];
        let all = [vec![seen(None, 2, &[1, 2]), seen(None, 3, &[])]];
        let found = turn_use(&queries, &all, "x", None).unwrap();
        assert_eq!((found.quiet_tokens, found.limits[0].tokens_saved), (None, None));
        assert_eq!(turn_use(&queries, &[vec![Observation::completed([])]], "x", None), None);
    }

    #[test]
    fn wrong_runs_come_before_those_without_a_result_and_there_are_few() {
        let (no, error) = (Observation::completed([]), Observation::failed(Reason::Crashed, "why"));
        let all = [error.clone(), no.clone(), error, no.clone(), no];
        let verdict = |seen: &Observation| (seen.outcome == Outcome::Completed).then_some(false);
        let wrong = wrong_runs(&all, verdict).unwrap();
        let told: Vec<_> = wrong.iter().map(|it| (it.run, it.said.as_deref())).collect();
        assert_eq!(told, [(2, None), (4, None), (5, None)]);
        assert_eq!(wrong_runs(&all, |_| Some(true)), None);
        let errors = wrong_runs(&all[..1], verdict).unwrap();
        assert_eq!(
            (errors[0].outcome.as_str(), errors[0].said.as_deref()),
            ("failed", Some("why"))
        );
    }
}
