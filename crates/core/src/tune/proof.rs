//! Choosing is not proving: whether the candidate of a loop is better than the original, by fresh runs of both on the
//! held-out queries.
//!
//! The candidate was chosen by training queries only, and the runs that decide were not there when it was. A run is worth 1
//! when it went right (triggered when it should, or not when it shouldn't) and 0 when not; one that errored is left out.
//! Within a query the runs of both descriptions are exchangeable if nothing differs, so the one-sided permutation test is
//! exact: a loop in which no description differs ends with another one in at most 5 of 100 cases.

use std::fmt;

use skillgauge_format::Number;
use skillgauge_format::trigger::{ProofDesign, ProofResult, QueryResult, TuneProof};
use skillgauge_format::write::{round_probability, round_rate};

use super::halving;
use crate::statistics::{
    CaseRuns, Design, SIGNIFICANCE, Spread, Tail, WithinCases, is_at_most, permutation_test,
};
use crate::text::counted;

/// Runs of a held-out query with each description, unless somebody asks for another number: fewer show little.
pub const PROOF_RUNS: u32 = 5;

/// Differences that a larger design is recommended for, the largest one that the planned design misses.
const WORTH_FINDING: [f64; 4] = [0.25, 0.15, 0.1, 0.05];

/// Which of the two descriptions was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    Original,
    Candidate,
}

/// What a proof asks, and what it can show; known before anything is paid.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofPlan {
    /// Held-out queries.
    pub queries: usize,
    /// Runs of each of them with each description.
    pub runs: u32,
    /// The smallest difference that is found four times out of five; nothing when none is.
    pub resolvable: Option<f64>,
    can_prove: bool,
    needed: Option<ProofDesign>,
}

impl ProofPlan {
    pub fn new(queries: usize, runs: u32) -> Self {
        let design = Design { tail: Tail::Upper, ..Design::new(queries, count(runs)) };
        let resolvable = design.resolvable();
        let runs_needed = runs.max(PROOF_RUNS);
        let missed = WORTH_FINDING.into_iter().find(|worth| resolvable.is_none_or(|r| r > *worth));
        let needed = missed.and_then(|difference| {
            let queries = Design { runs: count(runs_needed), ..design }.cases_for(difference)?;
            Some(ProofDesign {
                queries: queries as u64,
                runs: runs_needed.into(),
                difference: Number::Float(difference),
                ..ProofDesign::default()
            })
        });
        Self { queries, runs, resolvable, can_prove: design.can_decide(), needed }
    }

    /// Whether any result would be a proof. If none would, nothing is asked.
    pub fn can_prove(&self) -> bool {
        self.can_prove
    }

    /// Probes of the proof.
    pub fn probes(&self) -> u64 {
        if self.can_prove { 2 * self.queries as u64 * u64::from(self.runs) } else { 0 }
    }

    /// The proof that wasn't asked for: nothing could have come of it.
    pub fn unasked(&self, round: u64, candidate: &str) -> TuneProof {
        TuneProof {
            round,
            candidate: candidate.to_owned(),
            needed: self.needed.clone(),
            ..TuneProof::default()
        }
    }

    /// The runs of a query, with those that have no result as they would speak against the candidate.
    fn worst_case(&self, result: &ProofResult) -> CaseRuns {
        let mut runs = case(result);
        let planned = usize::try_from(self.runs).unwrap_or(0);
        runs.with.resize(runs.with.len().max(planned), 0.0);
        runs.without.resize(runs.without.len().max(planned), 1.0);
        runs
    }

    /// What the fresh runs show.
    pub fn decide(
        &self,
        round: u64,
        candidate: &str,
        results: Vec<ProofResult>,
        seed: u64,
    ) -> TuneProof {
        let cases: Vec<CaseRuns> = results.iter().map(case).collect();
        let is_complete =
            |result: &ProofResult| result.original_runs > 0 && result.candidate_runs > 0;
        let left_out = results.iter().filter(|result| !is_complete(result));
        let left_out: Vec<String> = left_out.map(|result| result.query.clone()).collect();
        let within = WithinCases::of(&cases, seed);
        let p = within.map(|_| permutation_test(&cases, Tail::Upper, seed).0);
        // Runs without a result must not decide it: it has to hold if they had gone the other way.
        let worst: Vec<CaseRuns> = results.iter().map(|result| self.worst_case(result)).collect();
        let is_sure = || is_at_most(permutation_test(&worst, Tail::Upper, seed).0, SIGNIFICANCE);
        let proven = p.is_some_and(|p| is_at_most(p, SIGNIFICANCE)) && is_sure();
        let rate = |right: fn(&ProofResult) -> (u64, u64)| {
            let shares = results.iter().filter(|result| is_complete(result)).map(right);
            let shares: Vec<f64> = shares.map(halving::share).collect();
            let mean = Spread::of(&shares).map(|spread| spread.mean);
            mean.map(|mean| Number::Float(round_rate(mean)))
        };
        TuneProof {
            proven,
            queries: (results.len() - left_out.len()) as u64,
            runs: self.runs.into(),
            original_rate: rate(|result| (result.original_right, result.original_runs)),
            candidate_rate: rate(|result| (result.candidate_right, result.candidate_runs)),
            difference: within.map(|within| Number::Float(round_rate(within.difference))),
            interval: within.and_then(|within| within.interval).map(|interval| {
                [interval.low, interval.high].map(|end| Number::Float(round_rate(end)))
            }),
            p: p.map(|p| Number::Float(round_probability(p))),
            needed: self.needed.clone().filter(|_| !proven),
            results,
            left_out,
            ..self.unasked(round, candidate)
        }
    }
}

impl fmt::Display for ProofPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queries = counted(self.queries, "held-out query", "held-out queries");
        let runs = self.runs;
        if self.queries == 0 {
            f.write_str(
                "no queries are held out, so nothing can be proven and the original description stays; \
                 `--holdout 0.4` and at least 4 queries hold some out",
            )?;
        } else if !self.can_prove {
            write!(
                f,
                "{queries} x {runs} runs can't prove any gain, so the original description stays"
            )?;
        } else if let Some(resolvable) = self.resolvable {
            write!(
                f,
                "the proof asks {queries} {runs} times with each description; that finds a gain of {} \
                 points in 4 of 5 cases",
                points(resolvable)
            )?;
        } else {
            write!(
                f,
                "the proof asks {queries} {runs} times with each description; few gains show that way"
            )?;
        }
        match &self.needed {
            Some(needed) => write!(f, "; {}", would_show(needed)),
            None => Ok(()),
        }
    }
}

/// What a larger design would show, in words.
pub(super) fn would_show(needed: &ProofDesign) -> String {
    format!(
        "{} held-out queries x {} runs would show {} points",
        needed.queries,
        needed.runs,
        points(needed.difference.as_f64())
    )
}

/// A difference of rates in points, with its sign.
pub(super) fn points(difference: f64) -> String {
    let points = (100.0 * difference).round();
    // Not "-0".
    format!("{:+.0}", if points == 0.0 { 0.0 } else { points })
}

/// Counts the completed runs of some results in, query by query; results of other queries don't count.
pub fn count_in(cells: &mut [ProofResult], arm: Arm, results: &[QueryResult]) {
    for cell in cells {
        let Some(found) =
            results.iter().find(|result| result.is_of(&cell.query, cell.situation.as_ref()))
        else {
            continue;
        };
        let (right, completed) = super::round::right_runs(found);
        let (sum, runs) = match arm {
            Arm::Original => (&mut cell.original_right, &mut cell.original_runs),
            Arm::Candidate => (&mut cell.candidate_right, &mut cell.candidate_runs),
        };
        *sum += right;
        *runs += completed;
    }
}

fn case(result: &ProofResult) -> CaseRuns {
    let runs = |right: u64, runs: u64| -> Vec<f64> {
        (0..runs).map(|run| if run < right { 1.0 } else { 0.0 }).collect()
    };
    CaseRuns {
        with: runs(result.candidate_right, result.candidate_runs),
        without: runs(result.original_right, result.original_runs),
    }
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(original: [u64; 2], candidate: [u64; 2]) -> ProofResult {
        ProofResult {
            query: format!("{original:?}{candidate:?}"),
            original_right: original[0],
            original_runs: original[1],
            candidate_right: candidate[0],
            candidate_runs: candidate[1],
            ..ProofResult::default()
        }
    }

    /// What it rests on is in `statistics`; here it counts that nothing is dealt across queries or sides.
    #[test]
    fn the_test_is_one_sided_and_within_queries() {
        let plan = ProofPlan::new(2, 3);
        let better = plan.decide(2, "c", vec![cell([0, 3], [3, 3]), cell([0, 3], [3, 3])], 1);
        assert_eq!((better.proven, better.p), (true, Some(Number::Float(0.0025))), "1 of 20 x 20");
        assert_eq!((better.difference, better.needed), (Some(Number::Float(1.0)), None));
        let worse = plan.decide(2, "c", vec![cell([3, 3], [0, 3]), cell([3, 3], [0, 3])], 1);
        assert_eq!((worse.proven, worse.p), (false, Some(Number::Float(1.0))));
        assert!(worse.needed.is_some());
        // One query that is always right and one that never is differ from each other, and not between the sides.
        let same = plan.decide(2, "c", vec![cell([3, 3], [3, 3]), cell([0, 3], [0, 3])], 1);
        assert_eq!((same.proven, same.p), (false, Some(Number::Float(1.0))));
    }

    #[test]
    fn errored_runs_are_in_no_rate_and_a_query_without_runs_of_both_is_listed() {
        let plan = ProofPlan::new(3, 3);
        let cells = vec![cell([1, 1], [2, 2]), cell([0, 3], [0, 0]), cell([1, 2], [3, 3])];
        let name = cells[1].query.clone();
        let proof = plan.decide(2, "c", cells, 1);
        assert_eq!((proof.queries, proof.left_out), (2, vec![name]));
        assert_eq!(proof.original_rate, Some(Number::Float(0.75)));
        assert_eq!(proof.candidate_rate, Some(Number::Float(1.0)));
        let nothing = plan.decide(2, "c", vec![cell([0, 0], [0, 0])], 1);
        assert_eq!((nothing.proven, nothing.p, nothing.queries), (false, None, 0));
    }

    /// The candidate is rate limited exactly where it would be wrong.
    #[test]
    fn what_runs_without_a_result_could_turn_is_not_proven() {
        let plan = ProofPlan::new(8, 3);
        let good = || cell([0, 3], [3, 3]);
        let mut cells: Vec<ProofResult> = (0..4).map(|_| good()).collect();
        cells.extend((0..4).map(|_| cell([3, 3], [0, 0])));
        let proof = plan.decide(2, "c", cells.clone(), 1);
        assert!(proof.p.unwrap().as_f64() <= SIGNIFICANCE, "{:?}", proof.p);
        assert!(!proof.proven && crate::tune::is_open(&proof), "{proof:?}");
        // A single error beside a clear result turns nothing.
        let mut cells: Vec<ProofResult> = (0..7).map(|_| good()).collect();
        cells.push(cell([0, 3], [2, 2]));
        assert!(plan.decide(2, "c", cells, 1).proven);
    }

    #[test]
    fn runs_are_counted_in_by_what_is_right_for_their_query() {
        let mut cells = [ProofResult { query: "a".to_owned(), ..ProofResult::default() }];
        let result = QueryResult {
            query: "a".to_owned(),
            triggers: 1,
            runs: 4,
            errors: 1,
            ..QueryResult::default()
        };
        count_in(&mut cells, Arm::Original, &[result.clone(), QueryResult::default()]);
        let positive = QueryResult { should_trigger: true, ..result };
        count_in(&mut cells, Arm::Candidate, std::slice::from_ref(&positive));
        count_in(&mut cells, Arm::Candidate, &[positive]);
        assert_eq!((cells[0].original_right, cells[0].original_runs), (2, 3));
        assert_eq!((cells[0].candidate_right, cells[0].candidate_runs), (2, 6));
    }

    #[test]
    fn what_a_design_can_show_is_known_before() {
        let none = ProofPlan::new(0, 5);
        assert_eq!((none.can_prove(), none.probes(), none.resolvable), (false, 0, None));
        assert!(!ProofPlan::new(4, 1).can_prove(), "1 of 16 deals at best");
        assert!(ProofPlan::new(5, 1).can_prove(), "1 of 32");
        let plan = ProofPlan::new(8, 5);
        assert_eq!(plan.probes(), 80);
        assert!(plan.resolvable.is_some_and(|found| (0.2..=0.4).contains(&found)), "{plan:?}");
        let needed = plan.needed.unwrap();
        assert!((9..=14).contains(&needed.queries), "{needed:?}");
        assert_eq!((needed.runs, needed.difference), (5, Number::Float(0.25)));
        // Who can see 25 points is told what smaller ones take.
        let large = ProofPlan::new(24, 5);
        assert!(large.needed.is_none_or(|needed| needed.difference.as_f64() < 0.25));
    }
}
