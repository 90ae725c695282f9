//! Blind preferences between the arms of a run, with the machinery of `compare`: run j with the skill beside run j without.

use std::sync::Arc;

use skillgauge_core::comparison::{Blinding, CasePair, ComparedRun, ComparisonStore};
use skillgauge_core::plan::RunId;
use skillgauge_core::text::{plural, sha256};
use skillgauge_core::workspace::Iteration;
use skillgauge_format::part::Configuration;
use skillgauge_run::budget::Budget;
use skillgauge_run::compare::{Again, Comparator, CompareRequest, compare};
use skillgauge_run::iteration::IterationResult;

use super::measurement::Measurement;
use crate::error::{CommandError, Explain as _};

impl Measurement<'_> {
    /// Has the judge say which of two runs it prefers, for every pair that has results and no answer yet. What it did not
    /// answer is a run without a grading: the same command asks again.
    pub(crate) fn prefer(
        &self,
        ids: &[RunId],
        iteration: &Iteration,
        result: &mut IterationResult,
        budget: &Arc<Budget>,
    ) -> Result<(), CommandError> {
        let Some(judge) = &self.judge else { return Ok(()) };
        let jobs = usize::try_from(self.jobs).unwrap_or(1);
        let name = std::slice::from_ref(&self.prepared.record.skill_name);
        let mut asked = 0;
        for case in self.prepared.cases() {
            let case_id = case.id();
            for baseline in self.baselines() {
                let numbers =
                    ids.iter().filter(|id| id.case == case_id && id.configuration == *baseline);
                let both = |id: &RunId| pair(id, case.prompt(), iteration);
                let pairs: Vec<CasePair> = numbers.filter_map(both).collect();
                asked += pairs.len();
                let request = CompareRequest {
                    pairs,
                    names: [Configuration::WithSkill, baseline.clone()].map(|it| it.to_string()),
                    skill: &self.target.skill,
                    // The skill's name tells the arm, even where it is a plain word.
                    blinding: Blinding::new([name, &[]]).or_bug()?,
                    store: ComparisonStore::of_runs(&iteration.case_dir(&case_id), baseline),
                    again: Again::No,
                };
                // Labels and orders are drawn for each case by itself.
                let seed = seed_of(self.prepared.record.seed, &case_id);
                let model = Arc::clone(&judge.model);
                let comparator = Comparator { model, seed, timeout: judge.timeout, jobs };
                let work = compare(request, &comparator, budget, &self.session.cancel);
                for compared in self.session.block_on(self.printer, work)? {
                    let Err(why) = compared.result else { continue };
                    let number = compared.case.trim_start_matches("run-").parse().unwrap_or(0);
                    let (case, configuration) = (case_id.clone().into_owned(), baseline.clone());
                    let why = format!("the comparator did not answer: {why}");
                    result.not_graded.push((RunId { case, configuration, number }, why));
                }
            }
        }
        result.spent = budget.spent();
        self.printer.say(&format!("{} compared, in both orders", plural(asked, "pair")));
        Ok(())
    }

    fn baselines(&self) -> impl Iterator<Item = &Configuration> {
        let all = self.prepared.record.configurations.iter();
        all.filter(|configuration| **configuration != Configuration::WithSkill)
    }
}

/// Both runs with this number; nothing unless both are results.
fn pair(baseline: &RunId, prompt: &str, iteration: &Iteration) -> Option<CasePair> {
    let with = RunId { configuration: Configuration::WithSkill, ..baseline.clone() };
    let compared = |id: RunId| {
        let dir = iteration.run_dir(&id);
        let is_result = dir.record().is_ok_and(|record| record.reason.is_result());
        let iteration = iteration.number().unwrap_or_default();
        is_result.then_some(ComparedRun { iteration, id, dir })
    };
    Some(CasePair {
        case: format!("run-{}", baseline.number),
        prompt: prompt.to_owned(),
        runs: [compared(with)?, compared(baseline.clone())?],
    })
}

fn seed_of(seed: u64, case: &str) -> u64 {
    let digest = sha256(format!("preference {seed} {case}"));
    u64::from_str_radix(&digest[..8], 16).unwrap_or(seed)
}
