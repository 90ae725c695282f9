//! A trigger report against an earlier one: is the skill right more often?
//!
//! Queries are matched by their text and situation. Within a query runs are exchangeable between the reports if nothing differs, so the
//! test deals them anew query by query ([`WithinCases`]). It says something about these queries, not about others.
//!
//! All completed runs count, those of undecided queries too. Leaving out what is undecided would leave out queries by how
//! their runs went: with 30 % of the runs of one report errored, that claims a difference between equal ones in 9 %.

use std::collections::HashSet;
use std::fmt::Write as _;

use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::json::Number;
use skillgauge_format::trigger::{
    LeftOutQuery, LeftOutReason, QueryResult, TriggerComparison, TriggerReport,
};
use skillgauge_format::write::{round_probability, round_rate};
use skillgauge_format::{Extra, read};

use super::set::LabelledQuery;
use crate::statistics::{
    CaseRuns, DEFAULT_SEED, Design, EQUIVALENCE_MARGIN, WithinCases, conclude,
};
use crate::text::{counted, plural, printable, probability, shorten};

/// A file can claim any number of runs, and each of them is dealt.
const MOST_RUNS: u64 = 1_000;

/// An earlier report that a measurement can be compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// The name of its file.
    pub file: String,
    pub report: TriggerReport,
}

/// Why a report can't be compared with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EarlierError {
    #[error("it can't be read as a trigger report: {problem}")]
    Unreadable { problem: String },
    #[error("it is about the skill `{found}`, not about `{skill}`")]
    OtherSkill { found: String, skill: String },
    /// Its rates are of runs that stopped when the verdict was certain: that makes them more extreme.
    #[error("it was measured with `--early-stop`, so its runs can't be compared one by one")]
    EarlyStop,
    #[error("it says that {triggers} of {completed} completed runs of \"{query}\" triggered")]
    Contradiction { query: String, triggers: u64, completed: u64 },
    #[error("it has \"{query}\" twice")]
    Repeated { query: String },
    #[error("it has {runs} runs of one query; at most {MOST_RUNS} can be compared")]
    TooManyRuns { runs: u64 },
    #[error("it has no measured query with the text and the label of one of the {queries} here")]
    NothingShared { queries: String },
}

impl Earlier {
    /// Reads a report, and makes sure that it can be compared with a measurement of this skill and these queries.
    pub fn read(
        file: impl Into<String>,
        bytes: &[u8],
        skill: &str,
        queries: &[LabelledQuery],
    ) -> Result<Self, EarlierError> {
        let report = read::<TriggerReport>(bytes)
            .map_err(|error| EarlierError::Unreadable { problem: error.to_string() })?
            .value;
        if report.skill_name != skill {
            let (found, skill) = (report.skill_name, skill.to_owned());
            return Err(EarlierError::OtherSkill { found, skill });
        }
        if report.results.iter().any(|result| result.runs_saved.unwrap_or_default() > 0) {
            return Err(EarlierError::EarlyStop);
        }
        let contradicts = |result: &&QueryResult| result.triggers > result.completed();
        if let Some(result) = report.results.iter().find(contradicts) {
            let (query, triggers) = (shorten(&result.query, 60), result.triggers);
            let completed = result.completed();
            return Err(EarlierError::Contradiction { query, triggers, completed });
        }
        let mut seen = HashSet::new();
        for result in &report.results {
            if !seen.insert((&result.query, &result.situation)) {
                return Err(EarlierError::Repeated { query: shorten(&result.query, 60) });
            }
        }
        let most = report.results.iter().map(|result| result.runs).max().unwrap_or_default();
        if most > MOST_RUNS {
            return Err(EarlierError::TooManyRuns { runs: most });
        }
        let earlier = Self { file: file.into(), report };
        if earlier.shared(queries).is_empty() {
            let queries = counted(queries.len(), "query", "queries");
            return Err(EarlierError::NothingShared { queries });
        }
        Ok(earlier)
    }

    /// Its measured results for these queries.
    fn shared(&self, queries: &[LabelledQuery]) -> Vec<&QueryResult> {
        let is_shared = |result: &&QueryResult| {
            result.completed() > 0
                && queries.iter().any(|query| {
                    query.is_of(result) && query.should_trigger == result.should_trigger
                })
        };
        self.report.results.iter().filter(is_shared).collect()
    }

    /// The design of a measurement of these queries against it: as many runs as both have on average, rounded down, so that
    /// nothing is promised that errored runs took away.
    pub fn design(&self, queries: &[LabelledQuery], runs: u64) -> Design {
        let shared = self.shared(queries);
        let pairs = shared.iter().map(|result| count(result.completed().min(runs)));
        Design::new(shared.len(), pairs.sum::<usize>() / shared.len().max(1))
    }

    /// Compares a later report with it.
    pub fn compare(&self, now: &TriggerReport) -> TriggerComparison {
        let (cases, left_out) = matched(&now.results, &self.report.results);
        let found = WithinCases::of(&cases, DEFAULT_SEED);
        let number = |share: f64| Number::Float(round_rate(share));
        let rate = |side: fn(&CaseRuns) -> &[f64]| {
            let means = cases.iter().filter_map(|case| mean(side(case)));
            mean(&means.collect::<Vec<f64>>()).map(number)
        };
        TriggerComparison {
            report: self.file.clone(),
            description: self.report.description.clone(),
            queries: cases.len() as u64,
            verdict: self.sure(now, judged(found.as_ref())),
            difference: found.as_ref().map(|found| number(found.difference)),
            interval: (found.as_ref())
                .and_then(|found| found.interval)
                .map(|interval| [interval.low, interval.high].map(number)),
            p: found.as_ref().map(|found| Number::Float(round_probability(found.p_value))),
            method: found.as_ref().map(|found| found.method.into()),
            rate: rate(|case| &case.with),
            earlier_rate: rate(|case| &case.without),
            resolvable: WithinCases::resolvable(&cases).map(number),
            left_out,
            extra: Extra::default(),
        }
    }

    /// The verdict, unless runs without a result could turn it: had they gone the other way, it must still hold.
    fn sure(&self, now: &TriggerReport, verdict: DifferenceVerdict) -> DifferenceVerdict {
        let [now_counts, earlier_counts] = match verdict {
            DifferenceVerdict::Better => [0.0, 1.0],
            DifferenceVerdict::Worse => [1.0, 0.0],
            verdict => return verdict,
        };
        let all = |result: &QueryResult, missing: f64| {
            let mut runs = right(result);
            runs.resize(count(result.runs.max(result.completed())), missing);
            runs
        };
        let pair = |result: &QueryResult| {
            let mut earlier = self.report.results.iter();
            let other = earlier.find(|other| {
                other.is_same_query(result)
                    && other.should_trigger == result.should_trigger
                    && other.files_digest == result.files_digest
            })?;
            Some(CaseRuns { with: all(result, now_counts), without: all(other, earlier_counts) })
        };
        let cases: Vec<CaseRuns> = now.results.iter().filter_map(pair).collect();
        let is_sure = judged(WithinCases::of(&cases, DEFAULT_SEED).as_ref()) == verdict;
        if is_sure { verdict } else { DifferenceVerdict::Undecided }
    }

    /// What else differs between the measurements, one sentence each: the comparison can't tell it from the description.
    pub fn confounders(&self, now: &TriggerReport) -> Vec<String> {
        let (Some(then), Some(now)) = (&self.report.measurement, &now.measurement) else {
            return Vec::new();
        };
        let known = |name: &Option<String>| name.clone().unwrap_or_else(|| "unknown".to_owned());
        let turns = |most: Option<u64>| most.map_or_else(|| "none".to_owned(), |n| n.to_string());
        let facts = [
            ("probes", then.via.as_str().to_owned(), now.via.as_str().to_owned()),
            ("agent", known(&then.agent), known(&now.agent)),
            ("agent version", known(&then.agent_version), known(&now.agent_version)),
            ("model", known(&then.model), known(&now.model)),
            ("turn limit", turns(then.max_turns), turns(now.max_turns)),
        ];
        let differ = facts.into_iter().filter(|(_, then, now)| then != now);
        differ
            .map(|(what, then, now)| {
                format!(
                    "{} was measured with another {what} ({then}, now {now}): the difference may come from that",
                    self.file
                )
            })
            .collect()
    }
}

fn judged(found: Option<&WithinCases>) -> DifferenceVerdict {
    found.map_or(DifferenceVerdict::Undecided, |found| {
        conclude(found.p_value, found.difference, found.interval, EQUIVALENCE_MARGIN)
    })
}

/// The runs of the queries that both have, and the queries that can't be compared.
fn matched(now: &[QueryResult], earlier: &[QueryResult]) -> (Vec<CaseRuns>, Vec<LeftOutQuery>) {
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    let mut leave = |query: &str, reason| {
        left_out.push(LeftOutQuery { query: query.to_owned(), reason });
    };
    for result in now {
        match earlier.iter().find(|other| other.is_same_query(result)) {
            None => leave(&result.query, LeftOutReason::OnlyNow),
            Some(other) if other.should_trigger != result.should_trigger => {
                leave(&result.query, LeftOutReason::OtherLabel);
            }
            Some(other) if other.files_digest != result.files_digest => {
                leave(&result.query, LeftOutReason::OtherFiles);
            }
            Some(_) if result.completed() == 0 => {
                leave(&result.query, LeftOutReason::UnmeasuredNow);
            }
            Some(other) if other.completed() == 0 => {
                leave(&result.query, LeftOutReason::UnmeasuredEarlier);
            }
            Some(other) => {
                cases.push(CaseRuns { with: right(result), without: right(other) });
            }
        }
    }
    for other in earlier.iter().filter(|other| now.iter().all(|it| !it.is_same_query(other))) {
        leave(&other.query, LeftOutReason::OnlyEarlier);
    }
    (cases, left_out)
}

/// The completed runs of a query: 1 for each that is right, 0 for each that is not.
fn right(result: &QueryResult) -> Vec<f64> {
    let triggers = result.triggers.min(result.completed());
    let quiet = result.completed() - triggers;
    let (right, wrong) = if result.should_trigger { (triggers, quiet) } else { (quiet, triggers) };
    [vec![1.0; count(right)], vec![0.0; count(wrong)]].concat()
}

fn mean(values: &[f64]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts of runs")]
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn count(runs: u64) -> usize {
    usize::try_from(runs).unwrap_or(usize::MAX)
}

/// What a design can show, for people, before anything is paid.
pub fn can_show(design: Design, queries: &str) -> String {
    let runs = plural(design.runs, "run");
    match design.resolvable() {
        Some(least) => format!(
            "{queries} x {runs}: `--against` can show a change of {:.0} points or more",
            100.0 * least
        ),
        None => format!(
            "{queries} x {runs}: too few for `--against` to show any change; add queries, or take more `--runs`"
        ),
    }
}

/// The comparison in a sentence.
pub fn sentence(found: &TriggerComparison) -> String {
    let file = printable(&found.report);
    let queries = counted(found.queries, "query", "queries");
    let word = match found.verdict {
        DifferenceVerdict::Better => format!("better than {file}"),
        DifferenceVerdict::Worse => format!("worse than {file}"),
        DifferenceVerdict::NoDifference => format!("no difference from {file}"),
        DifferenceVerdict::Undecided => format!("undecided against {file}"),
    };
    let (Some(difference), Some(p)) = (found.difference, found.p) else {
        return format!("{word}: no query can be compared");
    };
    // Not `-0`.
    let points = |share: Number| format!("{:+.0}", (100.0 * share.as_f64()).round() + 0.0);
    let mut text = format!("{word} on these {queries}: {} points (", points(difference));
    if let Some([low, high]) = found.interval {
        let _ = write!(text, "95%: {} to {}, ", points(low), points(high));
    }
    let _ = write!(text, "{})", probability(p.as_f64()));
    if let (Some(now), Some(then)) = (found.rate, found.earlier_rate) {
        let percent = |share: Number| format!("{:.0} %", 100.0 * share.as_f64());
        let _ = write!(text, ", {} -> {} of runs right", percent(then), percent(now));
    }
    if found.verdict == DifferenceVerdict::Undecided {
        match found.resolvable {
            Some(least) => {
                let least = 100.0 * least.as_f64();
                let _ = write!(text, "; so few runs can show {:.0} points or more", least.ceil());
            }
            None => text.push_str("; so few runs can't show any change"),
        }
    }
    text
}

/// The queries that are not compared, a line for each reason.
pub fn left_out(found: &TriggerComparison) -> Vec<String> {
    let mut reasons: Vec<LeftOutReason> = found.left_out.iter().map(|it| it.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let line = |reason: LeftOutReason| {
        let queries = found.left_out.iter().filter(|it| it.reason == reason);
        let queries: Vec<String> = queries.map(|it| shorten(&it.query, 60)).collect();
        format!("not compared, {}: {}", reason.as_str(), queries.join("; "))
    };
    reasons.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests;
