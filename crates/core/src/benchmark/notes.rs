//! What an analyst would point out, computed from the data: the `notes` of a benchmark.
//!
//! The order is that of importance: what the answer is, what it rests on, what is odd about the skill, what is odd about
//! the suite, what could not be read. Lists are cut after a few, with a count of the rest.

mod words;

use std::collections::BTreeMap;

use skillgauge_format::evals::{
    Always, BenchmarkStatistics, ConfigurationSummary, RunSummary, Stats,
};
use skillgauge_format::json::Number;
use skillgauge_format::part::Configuration;

use self::words::{SHORT, cost_note, difference_note, listed, shown_id, tallied};
pub(super) use self::words::{case_name, pair};
use super::measured::{Measured, Unmeasured};
use super::record::{CaseRuns, Iteration, Run, State};
use super::role::Roles;
use super::tally::ByText;
use crate::statistics::{PairedDifference, case_difference};
use crate::text::{counted, plural, shorten};

/// Problems of reading that become notes.
const PROBLEMS: usize = 20;

/// From this pass rate of the baseline on, a suite leaves nothing to improve.
const CEILING: f64 = 0.95;

/// A case that is worse by this much is worth a look, significant or not.
const NOTABLE: f64 = 0.2;

/// Time or tokens that grow by this factor are worth a word.
const COSTLY: f64 = 1.5;

/// A number that a configuration has.
type Metric = fn(&ConfigurationSummary) -> Option<&Stats>;

/// A number that a run has.
type Amount = fn(&Measured) -> Option<Number>;

/// Everything that the notes are made from.
struct Analyst<'a> {
    iteration: &'a Iteration,
    configurations: &'a [Configuration],
    roles: &'a Roles,
    summary: &'a RunSummary,
    statistics: &'a BenchmarkStatistics,
    notes: Vec<String>,
}

pub(super) fn write(
    iteration: &Iteration,
    configurations: &[Configuration],
    roles: &Roles,
    summary: &RunSummary,
    statistics: &BenchmarkStatistics,
) -> Vec<String> {
    let notes = Vec::new();
    let mut analyst = Analyst { iteration, configurations, roles, summary, statistics, notes };
    analyst.differences();
    analyst.unmeasured();
    analyst.undecided();
    analyst.notes.extend(iteration.mixture.warnings());
    analyst.loading();
    analyst.cases();
    analyst.costs();
    analyst.unknown_tokens();
    analyst.suite();
    analyst.problems();
    analyst.notes
}

impl Analyst<'_> {
    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    fn differences(&mut self) {
        for difference in &self.statistics.differences {
            self.notes.push(difference_note(difference));
        }
        if self.configurations.len() > 1 && self.statistics.differences.is_empty() {
            let names: Vec<&str> = self.configurations.iter().map(Configuration::as_str).collect();
            self.note(format!(
                "no difference was computed: of {}, none is known to be the baseline of another",
                listed(&names)
            ));
        }
    }

    fn unmeasured(&mut self) {
        let (mut outcomes, mut unfinished) = (BTreeMap::new(), BTreeMap::new());
        for run in self.iteration.cases.iter().flat_map(|case| &case.runs) {
            match &run.state {
                State::Unmeasured(Unmeasured { outcome, reason }) => {
                    // One reason is enough to know where to look; benchmark.md has them all.
                    let entry = outcomes.entry(&**outcome);
                    entry.or_insert((0, reason.as_deref())).0 += 1;
                }
                State::Measured(measured) => {
                    if let Some(outcome) = measured.outcome {
                        unfinished.entry(outcome.as_str()).or_insert((0, None)).0 += 1;
                    }
                }
            }
        }
        let ((lost, by), (failed, failed_by)) = (tallied(&outcomes), tallied(&unfinished));
        if lost > 0 {
            let runs = counted(lost, "run was", "runs were");
            self.note(format!("{runs} not measured and in no rate: {by}"));
        }
        if failed > 0 {
            let runs = counted(failed, "run did", "runs did");
            self.note(format!("{runs} not complete and cannot pass as a whole: {failed_by}"));
        }
    }

    fn undecided(&mut self) {
        let runs = self.iteration.cases.iter().flat_map(CaseRuns::all_measured);
        let (runs, gaps) = runs
            .filter(|run| run.judge_errors > 0)
            .fold((0, 0), |found, run| (found.0 + 1, found.1 + run.judge_errors));
        if runs > 0 {
            self.note(format!(
                "the judge left {} of {} undecided: they are in no rate, and the run is neither passed nor failed by them; \
                 `skillgauge grade` asks again",
                plural(gaps, "expectation"),
                plural(runs, "run"),
            ));
        }
    }

    fn loading(&mut self) {
        let count = |configuration: &Configuration, loaded| {
            let runs = self.iteration.cases.iter().flat_map(|case| case.measured(configuration));
            runs.filter(|run| run.skill_loaded == Some(loaded)).count() as u64
        };
        let mut notes = Vec::new();
        if let Some(primary) = &self.roles.primary {
            let (used, unused) = (count(primary, true), count(primary, false));
            if unused > 0 {
                let all = used + unused;
                notes.push(format!(
                    "the skill was not loaded in {unused} of {all} runs of {primary}; look at its description first"
                ));
            }
        }
        let without = Configuration::WithoutSkill;
        let leaked = count(&without, true);
        if leaked > 0 {
            notes.push(format!(
                "the skill was loaded in {} of {without}: the baseline is contaminated",
                plural(leaked, "run")
            ));
        }
        self.notes.extend(notes);
    }

    fn cases(&mut self) {
        let worse: Vec<String> = self
            .statistics
            .cases
            .iter()
            .filter_map(|case| Some((case, case.difference?.as_f64())))
            .filter(|(_, difference)| *difference <= -NOTABLE)
            .map(|(case, difference)| format!("{} ({difference:+.2})", case_name(case)))
            .collect();
        if !worse.is_empty() {
            self.note(format!("worse with the skill: {}", listed(&worse)));
        }
        for configuration in self.configurations {
            let flaky: Vec<String> = self
                .statistics
                .cases
                .iter()
                .filter_map(|case| Some((case, case.configurations.get(configuration.as_str())?)))
                .filter(|(_, found)| found.flaky)
                .map(|(case, found)| {
                    format!("{} ({} of {} passed)", case_name(case), found.passed, found.runs)
                })
                .collect();
            if !flaky.is_empty() {
                self.note(format!("flaky in {configuration}: {}", listed(&flaky)));
            }
        }
    }

    fn costs(&mut self) {
        let is_there = |found: &&Configuration| self.summary.get(found).is_some();
        let with = self.roles.primary.as_ref().filter(is_there);
        let without = self.roles.baselines.iter().find(is_there);
        let Some((with, without)) = with.zip(without) else { return };
        let metrics: [(&str, Metric, Amount); 2] = [
            ("time", |found| found.time_seconds.as_ref(), |run| run.seconds),
            ("tokens", |found| found.tokens.as_ref(), |run| run.tokens.map(Number::Unsigned)),
        ];
        let mut notes = Vec::new();
        for (name, metric, amount) in metrics {
            let mean = |configuration| {
                let found = self.summary.get(configuration)?;
                metric(&found).map(|stats| stats.mean.as_f64())
            };
            let Some((mean_with, mean_without)) = mean(with).zip(mean(without)) else { continue };
            let (high, low) = (mean_with.max(mean_without), mean_with.min(mean_without));
            if low <= 0.0 || high / low < COSTLY {
                continue;
            }
            let found = self.paired(with, without, amount);
            notes.push(cost_note(name, mean_with / mean_without, found.as_ref()));
        }
        self.notes.extend(notes);
    }

    /// The difference of an amount, by case like every other one.
    fn paired(
        &self,
        with: &Configuration,
        without: &Configuration,
        amount: Amount,
    ) -> Option<PairedDifference> {
        let of = |case: &CaseRuns, configuration: &Configuration| -> Vec<f64> {
            case.measured(configuration).filter_map(amount).map(Number::as_f64).collect()
        };
        let cases = self.iteration.cases.iter();
        let differences: Vec<f64> =
            cases.filter_map(|case| case_difference(&of(case, with), &of(case, without))).collect();
        PairedDifference::of(&differences, self.statistics.seed)
    }

    fn unknown_tokens(&mut self) {
        let cases = &self.iteration.cases;
        let runs = || {
            let measured = |run: &Run| match &run.state {
                State::Measured(measured) => Some(measured.tokens.is_none()),
                State::Unmeasured(_) => None,
            };
            cases.iter().flat_map(|case| &case.runs).filter_map(measured)
        };
        let (unknown, total) = (runs().filter(|unknown| *unknown).count(), runs().count());
        if unknown > 0 {
            self.note(format!(
                "the tokens of {unknown} of {total} runs are not known and are in no mean"
            ));
        }
    }

    fn suite(&mut self) {
        for baseline in &self.roles.baselines {
            let rate = self.summary.get(baseline).map(|found| found.pass_rate.mean.as_f64());
            if rate.is_some_and(|rate| rate >= CEILING) {
                self.notes.push(format!(
                    "{baseline} already passes {:.0} % of the expectations: the suite is too easy to show a gain",
                    100.0 * rate.unwrap_or_default()
                ));
            }
        }
        for (always, what) in [
            (Always::Passes, "always passed, with the skill and without it"),
            (Always::Fails, "never passed, with the skill or without it"),
        ] {
            let texts: Vec<String> = self
                .statistics
                .never_discriminating
                .iter()
                .filter(|found| found.always == always)
                .map(|found| {
                    format!("\"{}\" of {}", shorten(&found.text, SHORT), shown_id(&found.eval_id))
                })
                .collect();
            if !texts.is_empty() {
                let expectations = plural(texts.len(), "expectation");
                self.note(format!("{expectations} {what}: {}", listed(&texts)));
            }
        }
        self.harmed();
    }

    /// Expectations that hold without the skill and never with it.
    fn harmed(&mut self) {
        let Some((primary, baseline)) =
            self.roles.primary.as_ref().zip(self.roles.baselines.first())
        else {
            return;
        };
        let mut texts = Vec::new();
        for case in &self.iteration.cases {
            let mut seen = ByText::<4>::new();
            for (side, configuration) in [(0, primary), (2, baseline)] {
                for run in case.measured(configuration) {
                    seen.count(&run.verdicts, |counts, passed| {
                        counts[side] += 1;
                        counts[side + 1] += u64::from(passed);
                    });
                }
            }
            let is_harmed = |(_, counts): &(&str, [u64; 4])| {
                let [with, with_passed, without, without_passed] = *counts;
                with > 0 && with_passed == 0 && without > 0 && without_passed == without
            };
            let mut harmed: Vec<&str> =
                seen.into_iter().filter(is_harmed).map(|(text, _)| text).collect();
            harmed.sort_unstable();
            let shown =
                |text: &&str| format!("\"{}\" of {}", shorten(text, SHORT), shown_id(&case.id));
            texts.extend(harmed.iter().map(shown));
        }
        if !texts.is_empty() {
            let expectations = plural(texts.len(), "expectation");
            self.note(format!(
                "{expectations} held in {baseline} and never with the skill: {}",
                listed(&texts)
            ));
        }
    }

    fn problems(&mut self) {
        let problems = &self.iteration.problems;
        self.notes.extend(problems.iter().take(PROBLEMS).cloned());
        if problems.len() > PROBLEMS {
            self.note(format!(
                "and {} more things that could not be read",
                problems.len() - PROBLEMS
            ));
        }
    }
}
