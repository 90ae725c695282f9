//! Where gradings go, and in which shape.
//!
//! A grading of a `cases` suite is in two places. `<workspace>/grading/` has it in the seed's own shape, if it is about
//! the skill itself and not about a baseline. The run's folder has it in the shape of the `evals` dialect, criteria as
//! expectations, with what only the other shape has as further fields: the public skill-creator's scripts read every
//! run's `grading.json`, and stop at a `user_notes_summary` that is a text. [`read_cases_grading`] understands both.
//!
//! What is in `<workspace>/grading/` says which state of the skill it is about and in which iteration it was made, so
//! that a version is not credited with the gradings of another state that once had its number.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use skillgauge_core::time::timestamp;
use skillgauge_core::workspace::{Iteration, RunDir, Workspace, WorkspaceError, write_json};
use skillgauge_format::cases::{CasesGrading, CriterionResult};
use skillgauge_format::evals::{
    EvalFeedback, EvalSuggestion, EvalsGrading, RubricSummary, Timing, UserNotesSummary,
};
use skillgauge_format::part::{Configuration, GradedExpectation, GraderSpending, Tally, Votes};
use skillgauge_format::{Number, ReadError, read};

use super::GradingFile;

/// Writes a grading into the folder of its run; one of a `cases` suite also to where the seed wants it, if it is about the
/// skill itself and not about a baseline.
pub fn store(
    file: &GradingFile,
    run: &RunDir,
    configuration: &Configuration,
    workspace: &Workspace,
) -> Result<(), WorkspaceError> {
    match file {
        GradingFile::Evals(grading) => run.write_json(&run.grading_file(), grading),
        GradingFile::Cases(grading) => {
            if *configuration == Configuration::WithSkill {
                let path = cases_grading_file(workspace, grading);
                if let Some(folder) = path.parent() {
                    fs_err::create_dir_all(folder)
                        .map_err(|source| WorkspaceError::Io { path: folder.to_owned(), source })?;
                }
                write_json(&path, &bound(grading, run))?;
            }
            // The last one: it makes the run a graded one.
            run.write_json(&run.grading_file(), &of_run(grading, run))
        }
    }
}

/// The grading that a run has, if the judge left fewer gaps in it than in the new one: it was paid for, and a judge that
/// is down is no reason to lose it.
pub(super) fn fuller(run: &RunDir, new: &GradingFile) -> Option<Box<EvalsGrading>> {
    let GradingFile::Evals(new) = new else { return None };
    let gaps = |grading: &EvalsGrading| grading.judge_errors.as_ref().map_or(0, Vec::len);
    if gaps(new) == 0 {
        return None;
    }
    let old = read::<EvalsGrading>(&fs_err::read(run.grading_file()).ok()?).ok()?.value;
    (gaps(&old) < gaps(new)).then(|| Box::new(old))
}

/// Where what a judge took for nothing is kept until a grading counts it.
fn spending_file(run: &RunDir) -> PathBuf {
    run.root().join("judging.json")
}

fn kept_spending(run: &RunDir) -> Option<GraderSpending> {
    serde_json::from_slice(&fs_err::read(spending_file(run)).ok()?).ok()
}

fn sum(one: Option<GraderSpending>, other: Option<GraderSpending>) -> Option<GraderSpending> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(&other)),
        (one, other) => one.or(other),
    }
}

/// Keeps what a judge took that came to no grading.
pub(super) fn keep_spending(
    run: &RunDir,
    spent: Option<&GraderSpending>,
) -> Result<(), WorkspaceError> {
    let Some(spent) = spent else { return Ok(()) };
    let all = sum(kept_spending(run), Some(spent.clone()));
    run.write_json(&spending_file(run), &all)
}

/// Counts what earlier judgings took that left something open: they were paid for.
pub(super) fn add_earlier(file: &mut GradingFile, run: &RunDir) {
    let is_open = |grading: &EvalsGrading| {
        grading.judge_errors.as_ref().is_some_and(|errors| !errors.is_empty())
    };
    let bytes = fs_err::read(run.grading_file()).ok();
    let old = bytes.and_then(|bytes| read::<EvalsGrading>(&bytes).ok()).map(|found| found.value);
    let of_old = old.filter(is_open).and_then(|old| old.grader?.spent);
    add_spending(file, sum(of_old, kept_spending(run)));
}

/// Counts this beside what a grading took itself.
pub(super) fn add_spending(file: &mut GradingFile, spent: Option<GraderSpending>) {
    let grader = match file {
        GradingFile::Evals(grading) => grading.grader.as_mut(),
        GradingFile::Cases(grading) => grading.grader.as_mut(),
    };
    if let Some(grader) = grader {
        grader.spent = sum(grader.spent.take(), spent);
    }
}

/// The grading counts it now.
pub(super) fn forget_spending(run: &RunDir) {
    // Without it nothing is lost, and a file that stays is counted once too often at worst.
    let _ = fs_err::remove_file(spending_file(run));
}

/// Writes down when a run was graded. To be done before the grading is written: that makes the run a finished one.
pub(super) fn store_timing(timing: Option<&Timing>, run: &RunDir) -> Result<(), WorkspaceError> {
    timing.map_or(Ok(()), |timing| run.write_json(&run.timing_file(), timing))
}

/// `<workspace>/grading/<case_id>_v<version>_run<run>.json`. An id is kebab-case, so it cannot lead elsewhere.
pub fn cases_grading_file(workspace: &Workspace, grading: &CasesGrading) -> PathBuf {
    let CasesGrading { case_id, version, run, .. } = grading;
    workspace.root().join("grading").join(format!("{case_id}_v{version}_run{run}.json"))
}

/// The grading with what it is about: the content of the skill, and the iteration.
fn bound(grading: &CasesGrading, run: &RunDir) -> CasesGrading {
    let mut grading = grading.clone();
    let is_iteration = |folder: &&Path| Iteration::at(*folder).record_file().is_file();
    // A run lies three folders below its iteration, one that is still being put together two.
    let Some(folder) = run.root().ancestors().skip(1).take(3).find(is_iteration) else {
        return grading;
    };
    let iteration = Iteration::at(folder);
    if let Some(hash) = iteration.record().ok().and_then(|record| record.content_hash) {
        grading.skill_content_hash = Some(hash);
    }
    grading.iteration = iteration.number();
    grading
}

/// The grading in the shape of the `evals` dialect.
fn of_run(grading: &CasesGrading, run: &RunDir) -> EvalsGrading {
    let results = &grading.results;
    let passed = results.iter().filter(|result| result.passed).count() as u64;
    let count = Number::Unsigned(results.len().max(1) as u64).as_f64();
    let mean = results.iter().map(|result| f64::from(result.score)).sum::<f64>() / count;
    let list = |text: &String| Some(text.clone()).into_iter().filter(|text| !text.is_empty());
    let reason = |reason: String| EvalSuggestion { reason, ..EvalSuggestion::default() };
    EvalsGrading {
        expectations: Some(results.iter().map(expectation).collect()),
        summary: Tally::new(passed, results.len() as u64 - passed),
        rubric_summary: Some(Some(RubricSummary::of(mean))),
        execution_metrics: Some(grading.execution_metrics.clone()),
        timing: timing_of(run),
        claims: Some(grading.claims.clone()),
        user_notes_summary: Some(UserNotesSummary {
            uncertainties: Some(list(&grading.user_notes_summary).collect()),
            ..UserNotesSummary::default()
        }),
        eval_feedback: Some(EvalFeedback {
            suggestions: Some(list(&grading.eval_feedback).map(reason).collect()),
            ..EvalFeedback::default()
        }),
        case_id: Some(grading.case_id.clone()),
        version: Some(grading.version),
        run: Some(grading.run),
        overall_score: Some(grading.overall_score),
        required_score: Some(grading.required_score),
        overall: Some(grading.overall),
        convention_compliance: Some(grading.convention_compliance.clone()),
        grader: grading.grader.clone(),
        extra: grading.extra.clone(),
        ..EvalsGrading::default()
    }
}

fn expectation(result: &CriterionResult) -> GradedExpectation {
    let CriterionResult { criterion, score, passed, reasoning, .. } = result.clone();
    GradedExpectation {
        text: criterion,
        passed,
        evidence: Some(reasoning),
        score: Some(Number::from(u32::from(score))),
        evidence_found: result.evidence_found,
        quotes: result.quotes.clone(),
        unfound_quotes: result.unfound_quotes,
        absent: result.absent.clone(),
        voided: result.voided,
        judged_score: result.judged_score,
        votes: result.votes.clone().map(Votes::Scores),
        disagreement: result.disagreement,
        extra: result.extra.clone(),
        ..GradedExpectation::default()
    }
}

/// Without its total, as in every grading: with one the public script takes characters for tokens.
fn timing_of(run: &RunDir) -> Option<Timing> {
    let timing = read::<Timing>(&fs_err::read(run.timing_file()).ok()?).ok()?.value;
    Some(Timing { total_duration_seconds: None, ..timing })
}

/// A grading of a `cases` suite in either shape: that of a run's folder, or the seed's.
pub fn read_cases_grading(bytes: &[u8]) -> Result<CasesGrading, ReadError> {
    read::<CasesGrading>(bytes).map(|found| found.value).or_else(|error| {
        let in_run = read::<EvalsGrading>(bytes).ok();
        in_run.and_then(|found| rebuilt(found.value)).ok_or(error)
    })
}

/// What [`of_run`] was made of.
fn rebuilt(grading: EvalsGrading) -> Option<CasesGrading> {
    let results = grading.expectations.unwrap_or_default().into_iter().map(|found| {
        Some(CriterionResult {
            criterion: found.text,
            score: match found.score? {
                Number::Unsigned(score) => u8::try_from(score).ok()?,
                Number::Signed(_) | Number::Float(_) => return None,
            },
            passed: found.passed,
            reasoning: found.evidence?,
            evidence_found: found.evidence_found,
            quotes: found.quotes,
            unfound_quotes: found.unfound_quotes,
            absent: found.absent,
            voided: found.voided,
            judged_score: found.judged_score,
            votes: found.votes.and_then(|votes| match votes {
                Votes::Scores(scores) => Some(scores),
                Votes::Verdicts(_) => None,
            }),
            disagreement: found.disagreement,
            extra: found.extra,
        })
    });
    let notes = grading.user_notes_summary.and_then(|notes| notes.uncertainties);
    let suggestions = grading.eval_feedback.and_then(|feedback| feedback.suggestions);
    let reasons = suggestions.unwrap_or_default().into_iter().map(|found| found.reason);
    Some(CasesGrading {
        case_id: grading.case_id?,
        version: grading.version?,
        run: grading.run?,
        overall_score: grading.overall_score?,
        required_score: grading.required_score?,
        results: results.collect::<Option<_>>()?,
        overall: grading.overall?,
        convention_compliance: grading.convention_compliance?,
        claims: grading.claims.unwrap_or_default(),
        user_notes_summary: notes.unwrap_or_default().join("\n"),
        eval_feedback: reasons.collect::<Vec<_>>().join("\n"),
        execution_metrics: grading.execution_metrics.unwrap_or_default(),
        grader: grading.grader,
        skill_content_hash: None,
        iteration: None,
        extra: grading.extra,
    })
}

/// Runs from its making on.
pub(super) struct Stopwatch {
    started: SystemTime,
    /// The clock on the wall may be set back meanwhile.
    since: Instant,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { started: SystemTime::now(), since: Instant::now() }
    }

    /// The run's timing with that of its grading, which ends now. The totals stay those of the agent's work: they are
    /// what a skill is measured by.
    pub(super) fn stop(&self, of_run: &Timing) -> Timing {
        let elapsed = self.since.elapsed();
        let seconds = (elapsed.as_secs_f64() * 1000.0).round() / 1000.0;
        Timing {
            grader_start: Some(timestamp(self.started)),
            grader_end: Some(timestamp(self.started + elapsed)),
            grader_duration_seconds: Some(seconds.into()),
            ..of_run.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRADING: &str = r#"{"case_id": "hello", "version": 3, "run": 2, "overall_score": 3.5, "required_score": 5,
        "results": [
          {"criterion": "greets", "score": 5, "passed": true, "reasoning": "it does", "quotes": [{"text": "Hello", "found_in": "transcript"}]},
          {"criterion": "short", "score": 2, "passed": false, "reasoning": "it is not"}],
        "overall": "pass", "convention_compliance": {
          "frontmatter": {"passed": true, "details": "d"}, "description_field": {"passed": true, "details": "d"},
          "token_efficiency": {"passed": true, "details": "d"},
          "progressive_disclosure": {"passed": true, "details": "d"}, "type_alignment": {"passed": true, "details": "d"}},
        "claims": [], "user_notes_summary": "which style?", "eval_feedback": "too easy",
        "execution_metrics": {"total_tool_calls": 3}, "grader": {"votes": 1}}"#;

    #[test]
    fn a_grading_of_a_run_is_in_the_other_shape_and_can_be_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDir::at(folder.path().join("run-2"));
        fs_err::create_dir_all(run.root()).unwrap();
        let workspace = Workspace::at(folder.path());
        let grading = read_cases_grading(GRADING.as_bytes()).unwrap();
        let file = GradingFile::Cases(Box::new(grading.clone()));
        store(&file, &run, &Configuration::OldSkill, &workspace).unwrap();
        let bytes = fs_err::read(run.grading_file()).unwrap();
        let shape = read::<EvalsGrading>(&bytes).unwrap().value;
        assert_eq!((shape.summary.passed, shape.summary.total), (1, 2));
        let notes = shape.user_notes_summary.unwrap().uncertainties;
        assert_eq!(notes, Some(vec!["which style?".to_owned()]));
        assert_eq!(read_cases_grading(&bytes).unwrap(), grading);
        assert!(!folder.path().join("grading").exists(), "a baseline is no version's grading");
    }
}
