//! Has runs graded by a judge.
//!
//! ```text
//! stored run -- StoredRun --> GradeInput -- core::judge: material, question --> votes (model) -- core::judge --> Graded
//! ```
//!
//! What is asked and what follows from the answers is `core::judge`'s business; here is who is asked, how often, and what
//! becomes of failures. The one invariant: a judge that does not answer is a judge error, never a fail and never a pass.
//! Everything can be redone from the files of a run.

mod ask;
mod behaviour;
mod evaluator;
mod find;
mod judge;
mod self_test;
mod store;
mod stored;

use std::path::Path;

use skillgauge_core::judge::NO_JUDGE;
use skillgauge_core::judge::answer::Answer;
use skillgauge_core::judge::grading::{
    CasesSubject, EvalsSubject, Need, Votes, disagreements_of_cases, disagreements_of_evals,
    grade_cases, grade_evals,
};
use skillgauge_core::judge::material::{
    Blind, Budget, FenceKey, Material, SkillMask, Sources, Unshown,
};
use skillgauge_core::judge::question;
use skillgauge_core::judge::template::TemplateKind;
use skillgauge_core::skill::Skill;
use skillgauge_core::workspace::RunDir;
use skillgauge_format::cases::{CasesGrading, SuiteCase};
use skillgauge_format::evals::{Eval, EvalsGrading, Metrics, Structural, Timing};
use skillgauge_format::part::{Grader, GraderSpending};
use skillgauge_format::transcript::Transcript;
use skillgauge_format::{Case, Suite};
use tokio_util::sync::CancellationToken;

use ask::Ballot;
pub use behaviour::grade_behaviour;
pub use evaluator::{
    Evaluator, GradeTask, GradedWhen, GradingSummary, NotGraded, OldSkill, Subject,
};
pub use find::{FindError, Instead, find_runs};
pub use judge::{Caution, Context, Judge, is_same_model, same_model};
pub use self_test::{Plant, PlantedVerdict, References, SelfTest, SelfTestError};
use store::{
    Stopwatch, add_earlier, add_spending, forget_spending, fuller, keep_spending, store_timing,
};
pub use store::{cases_grading_file, read_cases_grading, store};
pub use stored::{StoredRun, StoredRunError};

/// A run that is to be graded.
#[derive(Clone, Copy, Debug)]
pub struct GradeInput<'r> {
    pub suite: &'r Suite,
    /// The case of the suite.
    pub case: Case<'r>,
    /// The folder of the run.
    pub run: &'r RunDir,
    /// What the agent did; none when nothing was kept.
    pub transcript: Option<&'r Transcript>,
    /// What the structural checks found; none when they were not evaluated.
    pub structural: Option<&'r Structural>,
    /// What the run did, in numbers.
    pub metrics: Option<&'r Metrics>,
    pub timing: Option<&'r Timing>,
    /// The skill that was tested; a `cases` grading says how it keeps to the conventions.
    pub skill_dir: Option<&'r Path>,
    /// The version of the skill that other runs of the case had, if there is one: it must not show either.
    pub other_skill: Option<&'r Path>,
    /// The version of the skill.
    pub version: u64,
    /// Which run it is, from 1.
    pub run_number: u64,
    /// The model that did the work, if it is known.
    pub executor_model: Option<&'r str>,
    /// The skill under test, in whichever configuration: the judge must not see it. None when nobody knows it.
    pub skill_name: Option<&'r str>,
}

/// A grading in the shape of its suite's dialect.
#[derive(Clone, Debug, PartialEq)]
pub enum GradingFile {
    /// For an `evals` suite.
    Evals(Box<EvalsGrading>),
    /// For a `cases` suite.
    Cases(Box<CasesGrading>),
}

/// What became of a grading.
#[derive(Clone, Debug)]
pub struct Graded {
    /// The grading; none when nothing could be graded, or when it was cancelled.
    pub file: Option<GradingFile>,
    /// What has no verdict, and why.
    pub judge_errors: Vec<String>,
    /// How many calls of the judge were made, repeated ones included.
    pub calls: u64,
    /// What they cost in US dollars; none when that is not known.
    pub cost_usd: Option<f64>,
    /// What they took in all; none when nobody was asked.
    pub spent: Option<GraderSpending>,
    /// Whether the gate kept it from the judge.
    pub gated: bool,
    /// What a reader should know before believing the grading.
    pub cautions: Vec<Caution>,
    /// The run's timing with that of the grading; none when the run has none.
    pub timing: Option<Box<Timing>>,
}

/// How often grading this run asks the judge, if nothing has to be asked again: not at all when there is nothing to judge,
/// or when the gate is closed.
pub fn calls_needed(input: &GradeInput<'_>, judge: Option<&Judge>) -> u64 {
    let is_judged = match input.case {
        Case::Criteria(_) => true,
        Case::Eval(eval) => evals_subject(input, eval, judge).need() == Need::Judge,
    };
    judge.filter(|_| is_judged).map_or(0, |judge| u64::from(judge.votes.get()))
}

/// Grades a run. Without a judge everything that needs one is a judge error.
pub async fn grade_run(
    input: &GradeInput<'_>,
    judge: Option<&Judge>,
    cancel: &CancellationToken,
) -> Graded {
    let watch = Stopwatch::start();
    match input.case {
        Case::Eval(eval) => grade_eval(input, eval, judge, &watch, cancel).await,
        Case::Criteria(case) => grade_criteria(input, case, judge, &watch, cancel).await,
    }
}

fn evals_subject<'r>(
    input: &GradeInput<'r>,
    eval: &'r Eval,
    judge: Option<&Judge>,
) -> EvalsSubject<'r> {
    EvalsSubject {
        eval,
        structural: input.structural,
        structural_gate: input.suite.config().structural_gate,
        has_judge: judge.is_some(),
        metrics: input.metrics,
        timing: input.timing,
        skill: input.skill_name,
        transcript: input.transcript,
    }
}

async fn grade_eval(
    input: &GradeInput<'_>,
    eval: &Eval,
    judge: Option<&Judge>,
    watch: &Stopwatch,
    cancel: &CancellationToken,
) -> Graded {
    let subject = evals_subject(input, eval, judge);
    let need = subject.need();
    let has_questions = !input.case.expectations().is_empty() || input.case.rubric().is_some();
    let gated = judge.is_some() && has_questions && matches!(need, Need::Gated(_));
    let (asked, record, material) = match judge.filter(|_| need == Need::Judge) {
        None => {
            let asked = Ballot { cautions: cautions(input), ..Ballot::nobody(judge.is_none()) };
            let warnings = asked.cautions.iter().map(ToString::to_string).collect();
            (asked, Grader { warnings, ..Grader::default() }, None)
        }
        Some(judge) => {
            let template = judge.templates.get(TemplateKind::Evals);
            let blind = blind(input);
            let subject = judge::Subject {
                gather: &|budget| material(input, None, &blind, judge.key, budget),
                question: &|material, asked| {
                    question::evals(eval, input.structural, material, template, judge.key, asked)
                },
            };
            let (asked, record, material) = put(input, judge, &subject, cancel).await;
            (asked, record, Some(material))
        }
    };
    if asked.is_cancelled {
        return asked.cancelled();
    }
    let corpus = material.map(|material| material.corpus).unwrap_or_default();
    let timing = input.timing.map(|timing| Box::new(watch.stop(timing)));
    let subject = EvalsSubject { timing: timing.as_deref(), ..subject };
    let mut grading = grade_evals(&subject, &asked.votes, &corpus);
    let record = Grader { disagreements: disagreements_of_evals(&grading), ..record };
    grading.grader = Some(record);
    let judge_errors = grading.judge_errors.clone().unwrap_or_default();
    let file = GradingFile::Evals(Box::new(grading));
    Graded { gated, timing, ..asked.graded(Some(file), judge_errors) }
}

async fn grade_criteria(
    input: &GradeInput<'_>,
    case: &SuiteCase,
    judge: Option<&Judge>,
    watch: &Stopwatch,
    cancel: &CancellationToken,
) -> Graded {
    let Some(judge) = judge else {
        let reason = vec![format!("{}: {NO_JUDGE}", case.id)];
        return Ballot::<()>::nobody(true).graded(None, reason);
    };
    let skill = input.skill_dir.map(Skill::read);
    let template = judge.templates.get(TemplateKind::Cases);
    let blind = blind(input);
    let shown = skill.as_ref().and_then(Skill::document).map(|document| document.text.clone());
    let graded = judge::Subject {
        gather: &|budget| material(input, shown.as_deref(), &blind, judge.key, budget),
        question: &|material, asked| question::cases(case, material, template, judge.key, asked),
    };
    let (asked, record, material) = put(input, judge, &graded, cancel).await;
    if asked.is_cancelled {
        return asked.cancelled();
    }
    let subject = CasesSubject {
        case,
        version: input.version,
        run: input.run_number,
        skill: skill.as_ref(),
        metrics: input.metrics,
    };
    match grade_cases(&subject, &asked.votes, &material.corpus) {
        Ok(mut grading) => {
            let record = Grader { disagreements: disagreements_of_cases(&grading), ..record };
            grading.grader = Some(record);
            let file = GradingFile::Cases(Box::new(grading));
            let timing = input.timing.map(|timing| Box::new(watch.stop(timing)));
            Graded { timing, ..asked.graded(Some(file), Vec::new()) }
        }
        Err(error) => asked.graded(None, vec![format!("{}: {error}", case.id)]),
    }
}

/// What the judge must not see: where the run lies, and the skill. The same for every arm of a case.
fn blind(input: &GradeInput<'_>) -> Blind {
    let expectations = input.case.expectations();
    let texts = expectations.iter().map(|expectation| expectation.text());
    let unshown = input.skill_name.map(|name| {
        let folders = input.skill_dir.into_iter().chain(input.other_skill);
        folders.fold(Unshown::named(name), Unshown::and)
    });
    let case = std::iter::once(input.case.prompt()).chain(texts);
    let mask = unshown.and_then(|unshown| SkillMask::new(&unshown, case));
    Blind::of_run(input.run.root(), input.skill_dir).hiding(mask)
}

/// What the judge sees of a run, for a person who judges the same: as blind, and within the same bounds. Without a task nobody
/// knows the skill's name. Blocks.
pub fn material_for_people(
    run: RunDir,
    task: Option<&GradeTask>,
    prompt: &str,
) -> Result<String, StoredRunError> {
    let stored = StoredRun::read(run)?;
    let of_task = task.and_then(|task| Some((task, task.subject.case(&task.id.case)?)));
    let blind = match of_task {
        Some((task, case)) => blind(&task.input(&stored, case)),
        None => Blind::of_run(stored.dir.root(), None),
    };
    let (outputs, record) = (stored.dir.outputs(), stored.dir.record_file());
    let sources = Sources {
        transcript: stored.transcript.as_ref(),
        outputs: Some(&outputs),
        record: Some(&record),
        skill: None,
        blind: &blind,
        key: crate::ask_once::fence_key(),
    };
    let Material { transcript, outputs, .. } = Material::gather(&sources, &Budget::default());
    let outputs = outputs.map(|digest| digest.text).unwrap_or_default();
    Ok(format!(
        "# Task\n\n{}\n\n# What the agent did\n\n{}\n\n# What the agent produced\n\n{outputs}",
        blind.apply(prompt),
        transcript.text
    ))
}

/// What the judge sees. Only bounded amounts are read, so this may happen between two waits.
fn material(
    input: &GradeInput<'_>,
    skill: Option<&str>,
    blind: &Blind,
    key: FenceKey,
    budget: &Budget,
) -> Material {
    let (outputs, record) = (input.run.outputs(), input.run.record_file());
    let sources = Sources {
        transcript: input.transcript,
        outputs: Some(&outputs),
        record: Some(&record),
        skill,
        blind,
        key,
    };
    Material::gather(&sources, budget)
}

/// Puts the question, and says who was asked and with what.
async fn put<A: Answer>(
    input: &GradeInput<'_>,
    judge: &Judge,
    subject: &judge::Subject<'_>,
    cancel: &CancellationToken,
) -> (Ballot<A>, Grader, Material) {
    let (mut asked, mut record, material) = judge.put(subject, cancel).await;
    let same = judge.same_model(input.executor_model, record.answered_by.as_deref());
    asked.cautions.extend(same);
    if input.transcript.is_none() {
        asked.cautions.push(Caution::NoTranscript);
    }
    asked.cautions.extend(cautions(input));
    record.warnings = asked.cautions.iter().map(ToString::to_string).collect();
    (asked, record, material)
}

/// What a reader should know of the run itself.
fn cautions(input: &GradeInput<'_>) -> Vec<Caution> {
    if input.run.outputs().is_dir() { Vec::new() } else { vec![Caution::NoOutputs] }
}

/// Nothing was asked, because there is no need.
impl<A> Ballot<A> {
    fn nobody(needed: bool) -> Self {
        let failures = if needed { vec![NO_JUDGE.to_owned()] } else { Vec::new() };
        Self::with(Votes { failures, ..Votes::default() })
    }

    fn graded(self, file: Option<GradingFile>, judge_errors: Vec<String>) -> Graded {
        let spent = self.spent();
        let Self { calls, cost_usd, cautions, .. } = self;
        Graded { file, judge_errors, calls, cost_usd, spent, gated: false, cautions, timing: None }
    }

    fn cancelled(self) -> Graded {
        self.graded(None, vec!["the grading was cancelled".to_owned()])
    }
}
