//! What an analyst would point out, computed from the data: the `notes` of a benchmark.
//!
//! The order is that of importance: what the answer is, what it rests on, what is odd about the skill, what is odd about
//! the suite, what could not be read. Lists are cut after a few, with a count of the rest.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skillgauge_format::evals::{
    Always, BenchmarkStatistics, CaseStatistics, CorrectedRate, DifferenceVerdict, Estimate,
    MeasuredJudge, RunSummary,
};
use skillgauge_format::json::Number;
use skillgauge_format::part::{Configuration, EvalId};

use super::inference::{arms, expectations};
use super::outcome::{Metric, Question, TOKENS};
use super::sides::{Sides, differences};
use super::text::compared;
use super::verdict::Unit;
use crate::iteration::{Case, Iteration, Roles, Run};
use crate::mixture::Mixture;
use crate::statistics::{FEWEST_CASES, PairedDifference, SIGNIFICANCE, Spread, is_at_most};
use crate::text::{counted, plural, shorten};

/// Problems of reading that become notes.
const PROBLEMS: usize = 20;

/// From this pass rate of the baseline on, a suite leaves nothing to improve.
const CEILING: f64 = 0.95;

/// A case that is worse by this much is worth a look, significant or not.
const NOTABLE: f64 = 0.2;

/// Time or tokens that grow by this factor are worth a word.
const COSTLY: f64 = 1.5;

/// Everything that the notes are made from.
struct Analyst<'a> {
    iteration: &'a Iteration,
    roles: Roles,
    summary: &'a RunSummary,
    statistics: &'a BenchmarkStatistics,
    notes: Vec<String>,
}

pub(super) fn write(
    iteration: &Iteration,
    summary: &RunSummary,
    statistics: &BenchmarkStatistics,
) -> Vec<String> {
    let (roles, notes) = (iteration.roles(), Vec::new());
    let mut analyst = Analyst { iteration, roles, summary, statistics, notes };
    analyst.differences();
    analyst.judges();
    analyst.corrected();
    analyst.not_comparable();
    analyst.unmeasured();
    analyst.after_decision();
    let judged = iteration.judged();
    analyst.notes.extend(judged.sentence().into_iter().chain(judged.price()));
    analyst.notes.extend(mixture(iteration).warnings());
    analyst.loading();
    analyst.cases();
    analyst.costs();
    analyst.unknown_tokens();
    analyst.suite();
    analyst.problems();
    analyst.notes
}

/// What the measured runs were made with: a run that measured nothing is in no number.
fn mixture(iteration: &Iteration) -> Mixture {
    let measured = iteration.runs().filter(|run| run.is_measured());
    measured.map(|run| (run.skillgauge_version.as_deref(), run.agent_version.as_deref())).collect()
}

impl Analyst<'_> {
    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    fn differences(&mut self) {
        let differences = &self.statistics.differences;
        let note = |found| format!("{}{}", compared(found, differences.len()), found.sentence);
        self.notes.extend(differences.iter().map(note));
        let configurations = &self.iteration.configurations;
        if configurations.len() > 1 && self.statistics.differences.is_empty() {
            let names: Vec<&str> = configurations.iter().map(Configuration::as_str).collect();
            self.note(format!(
                "no difference was computed: of {}, none is known to be the baseline of another",
                listed(&names)
            ));
        }
    }

    fn after_decision(&mut self) {
        if self.iteration.after_decision > 0 {
            let runs = plural(self.iteration.after_decision, "run");
            self.note(format!("{runs} came after the pairs had decided and count for nothing"));
        }
    }

    /// A difference between arms that were judged by different judges may be one between the judges.
    fn judges(&mut self) {
        let mut runs: BTreeMap<&MeasuredJudge, usize> = BTreeMap::new();
        for judge in self.iteration.runs().filter_map(|run| run.judged_by.as_ref()) {
            *runs.entry(judge).or_default() += 1;
        }
        if runs.len() < 2 {
            return;
        }
        let named = |(judge, runs): (&&MeasuredJudge, &usize)| {
            let prompt = judge.prompt_digest.as_deref().unwrap_or("unknown");
            let votes = plural(judge.votes, "vote");
            format!("{} ({votes}, prompt {prompt}): {}", judge.model, plural(*runs, "run"))
        };
        let named: Vec<String> = runs.iter().map(named).collect();
        self.note(format!(
            "the runs were judged by different judges, so a difference may be theirs: {}; `skillgauge grade --force` has \
             all of them judged by one",
            named.join("; ")
        ));
    }

    /// What the rates are when the mistakes of a measured judge are taken out.
    fn corrected(&mut self) {
        let Some(found) = &self.statistics.corrected else { return };
        let unit = Unit::Points;
        let share = |share: &Option<Estimate>| {
            share.as_ref().map_or_else(|| "?".to_owned(), |share| unit.level(share.mean.as_f64()))
        };
        let measured = format!(
            "{} labels: it passes {} of what people pass and fails {} of what they fail",
            found.labels,
            share(&found.sensitivity),
            share(&found.specificity),
        );
        let rate = |(name, rate): (&String, &Option<CorrectedRate>)| {
            let CorrectedRate { raw, corrected, .. } = rate.as_ref()?;
            let [raw, value, low, high] =
                [raw.mean, corrected.mean, corrected.low, corrected.high].map(Number::as_f64);
            let range = unit.range(low, high);
            Some(format!(
                "{name} {} instead of {} (95%: {range})",
                unit.level(value),
                unit.level(raw)
            ))
        };
        let mut parts: Vec<String> = found.pass_rate.iter().filter_map(rate).collect();
        for corrected in found.differences.iter().flatten().map(|found| &found.corrected) {
            let [value, low, high] =
                [corrected.mean, corrected.low, corrected.high].map(Number::as_f64);
            let (low, high) = (unit.plain(low), unit.plain(high));
            parts.push(format!("difference {} (95%: {low} to {high})", unit.signed(value)));
        }
        let judge = &found.judge.model;
        self.note(if parts.is_empty() {
            format!(
                "the judge {judge} was measured by {measured}; it could be guessing, so no rate can be corrected"
            )
        } else {
            format!(
                "pass rates without the mistakes of the judge {judge} (measured by {measured}): {}",
                parts.join("; ")
            )
        });
    }

    /// The cases that are in neither rate because an arm has no measured run of them.
    fn not_comparable(&mut self) {
        let lost: Vec<String> = self
            .iteration
            .cases
            .iter()
            .filter(|case| !self.iteration.is_comparable(case))
            .map(Case::title)
            .collect();
        if !lost.is_empty() {
            let cases = counted(lost.len(), "case is", "cases are");
            self.note(format!(
                "{cases} not comparable and in no rate of the comparison, since an arm was not measured: {}",
                listed(&lost)
            ));
        }
    }

    fn unmeasured(&mut self) {
        let (mut outcomes, mut unfinished) = (BTreeMap::new(), BTreeMap::new());
        let undecided = undecided(self.iteration);
        for run in self.iteration.runs() {
            if let Some(why) = run.not_measured() {
                // One reason is enough to know where to look; benchmark.md has them all.
                let reason = match &*why.kind {
                    JUDGE_ERROR => Some(undecided.as_str()),
                    _ => why.reason.as_deref(),
                };
                outcomes.entry(&*why.kind).or_insert((0, reason)).0 += 1;
            } else if let Some(outcome) = run.bad_end() {
                unfinished.entry(outcome.as_str()).or_insert((0, None)).0 += 1;
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
        let unit = Unit::of(self.statistics.primary_outcome);
        let worse: Vec<String> = self
            .statistics
            .cases
            .iter()
            .filter_map(|case| Some((case, case.difference?.as_f64())))
            .filter(|(_, difference)| *difference <= -NOTABLE * unit.width())
            .map(|(case, difference)| format!("{} ({})", case_name(case), unit.plain(difference)))
            .collect();
        // The same skill on both sides is not worse than itself.
        let is_same = self.roles.baselines.first().is_some_and(|it| it.as_str() == "same_skill");
        if !worse.is_empty() && !is_same {
            self.note(format!("worse with the skill: {}", listed(&worse)));
        }
        for configuration in &self.iteration.configurations {
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
        let (Some(primary), Some(baseline)) = (&self.roles.primary, self.roles.baselines.first())
        else {
            return;
        };
        let cases: Vec<&Case> =
            self.iteration.cases.iter().filter(|case| self.iteration.is_comparable(case)).collect();
        let sides = Sides {
            cases: &cases,
            arms: &arms(&self.roles),
            not_comparable: Vec::new(),
            primary,
            baseline,
            question: Question {
                outcome: self.statistics.primary_outcome,
                margin: 0.0,
                until_decided: false,
            },
            seed: self.statistics.seed,
        };
        let metrics: [(&str, Metric); 3] =
            [("time", |run| run.seconds), ("tokens", TOKENS), ("money", |run| run.cost_usd)];
        let mut notes = Vec::new();
        for (name, metric) in metrics {
            if name == "money" && !sides.knows_costs() {
                continue;
            }
            // The factor and its test are over the same cases.
            let pairs = sides.pairs(metric);
            let mean = |side: usize| {
                let values: Vec<f64> = pairs.iter().map(|pair| pair[side]).collect();
                Spread::of(&values).map(|spread| spread.mean)
            };
            let Some((with, without)) = mean(0).zip(mean(1)) else { continue };
            let (high, low) = (with.max(without), with.min(without));
            if low <= 0.0 || high / low < COSTLY {
                continue;
            }
            let found = PairedDifference::of(&differences(&pairs), self.statistics.seed);
            notes.extend(found.map(|found| cost_note(name, with / without, &found)));
        }
        self.notes.extend(notes);
    }

    fn unknown_tokens(&mut self) {
        let measured: Vec<&Run> = self.iteration.runs().filter(|run| run.is_measured()).collect();
        let unknown = measured.iter().filter(|run| run.tokens.is_none()).count();
        if unknown > 0 {
            self.note(format!(
                "the tokens of {unknown} of {} runs are not known and are in no mean",
                measured.len()
            ));
        }
        let partial = |run: &&&Run| run.tokens.is_some() && !run.usage_basis.is_reported();
        let partial = measured.iter().filter(partial).count();
        if partial > 0 {
            self.note(format!(
                "{partial} of {} runs ended before the agent reported its tokens: they count with what was seen until then, and a difference in tokens may be off",
                measured.len()
            ));
        }
    }

    fn suite(&mut self) {
        for baseline in &self.roles.baselines {
            let mut differences = self.statistics.differences.iter();
            let found = differences.find(|found| found.baseline == *baseline);
            let verdict = found.map(|found| found.verdict.on_suite.verdict);
            // A difference that was found is shown, however easy the suite is.
            if matches!(verdict, Some(DifferenceVerdict::Better | DifferenceVerdict::Worse)) {
                continue;
            }
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
            let seen = expectations(case, primary, std::slice::from_ref(baseline));
            let is_harmed = |[with, without]: &[[u64; 2]; 2]| {
                with[0] > 0 && with[1] == 0 && without[0] > 0 && without[0] == without[1]
            };
            let harmed = seen.into_iter().filter(|(_, counts)| is_harmed(counts));
            let mut harmed: Vec<&str> = harmed.map(|(text, _)| text).collect();
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
        if let Some(reason) = &self.iteration.about.partial {
            self.note(format!("the iteration is not finished: {reason}"));
        }
        let problems: Vec<String> =
            self.iteration.all_problems().map(|found| found.to_string()).collect();
        self.notes.extend(problems.iter().take(PROBLEMS).cloned());
        if problems.len() > PROBLEMS {
            let rest = counted(problems.len() - PROBLEMS, "more thing", "more things");
            self.note(format!("and {rest} that could not be read"));
        }
    }
}

/// Things that a note lists by name.
const LISTED: usize = 5;

/// Characters of a text that a note quotes.
const SHORT: usize = 80;

/// The kind of a run that the judge did not decide.
const JUDGE_ERROR: &str = "judge_error";

/// What the judge left open in all the runs that are not measured because of it.
fn undecided(iteration: &Iteration) -> String {
    let is_open = |run: &&Run| run.not_measured().is_some_and(|why| why.kind == JUDGE_ERROR);
    let open: usize = iteration.runs().filter(is_open).map(|run| run.judge_errors.len()).sum();
    let expectations = plural(open, "expectation");
    format!("the judge left {expectations} undecided; `skillgauge grade` asks again")
}

/// The sum of the counts, and each of them with its name and an example of its reasons.
fn tallied(counts: &BTreeMap<&str, (u64, Option<&str>)>) -> (u64, String) {
    let shown: Vec<String> = counts
        .iter()
        .map(|(outcome, (count, reason))| match reason {
            Some(reason) => format!("{count} {outcome} ({})", shorten(reason, SHORT)),
            None => format!("{count} {outcome}"),
        })
        .collect();
    (counts.values().map(|(count, _)| count).sum(), shown.join(", "))
}

/// Says what the skill costs or saves, or that nobody can tell.
fn cost_note(name: &str, factor: f64, found: &PairedDifference) -> String {
    let plain = format!("runs with the skill took {factor:.1} times the {name}");
    if found.cases < FEWEST_CASES {
        let cases = plural(found.cases, "case");
        return format!(
            "{plain}, which may be chance: {cases}, and it takes {FEWEST_CASES} to tell"
        );
    }
    let test = format!("permutation test p = {:.4}", found.p_value);
    if !is_at_most(found.p_value, SIGNIFICANCE) {
        return format!("{plain}, which is within the noise ({test})");
    }
    if factor > 1.0 {
        format!("the skill costs {factor:.1} times the {name} ({test})")
    } else {
        format!("the skill saves {:.0} % of the {name} ({test})", 100.0 * (1.0 - factor))
    }
}

/// A case as people call it.
pub(super) fn case_name(case: &CaseStatistics) -> String {
    case.eval_name.clone().unwrap_or_else(|| shown_id(&case.eval_id))
}

fn shown_id(id: &EvalId) -> String {
    match id {
        EvalId::Number(number) => format!("eval {number}"),
        EvalId::Text(text) => text.clone(),
    }
}

fn listed(items: &[impl AsRef<str>]) -> String {
    let shown: Vec<&str> = items.iter().take(LISTED).map(AsRef::as_ref).collect();
    let mut text = shown.join(", ");
    if items.len() > LISTED {
        let _ = write!(text, " and {} more", items.len() - LISTED);
    }
    text
}
