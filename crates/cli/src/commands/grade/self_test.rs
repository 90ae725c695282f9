//! `skillgauge grade --self-test`: whether a judge can tell at all.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use skillgauge_core::statistics::Accuracy;
use skillgauge_core::text::{self, counted, plural, printable, shorten};
use skillgauge_format::Suite;
use skillgauge_run::budget::Budget;
use skillgauge_run::check::Scripts;
use skillgauge_run::grade::{
    Evaluator, Plant, PlantedVerdict, References, SelfTest, SelfTestError,
};

use super::Outcome;
use crate::args::{GradeArgs, PlainFormat};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer, judge, keep};

/// The seed of what is drawn for the answer.
const SEED: u64 = 42;
/// Mistakes that are named.
const NAMED: usize = 10;

pub(super) fn run(args: &GradeArgs, session: &Session, printer: &Printer) -> Outcome {
    let [skill] = &args.paths[..] else {
        return Err(CommandError::usage(
            "--self-test takes one skill".to_owned(),
            "name one skill, or its workspace",
        ));
    };
    let skill = args.skill.as_ref().unwrap_or(skill);
    let file = args.evals.clone().unwrap_or_else(|| skill.join("evals/evals.json"));
    let suite = read_suite(&file)?;
    let usual = Some(skill.join("evals/reference")).filter(|folder| folder.is_dir());
    let folder = args.reference.clone().or(usual);
    let found = References::of(&suite, folder.as_deref()).map_err(|error| explain(&error))?;
    let judge = judge::open(
        session,
        args.judge.as_deref(),
        suite.config().judge_model,
        (args.judge_votes, args.judge_context, &args.budget),
    )?;
    let name = judge.model.name().to_string();
    let settings = &session.settings;
    let answers = if found.len() > 1 { 3 } else { 2 };
    let calls = found.len() * answers * judge.votes.get() as usize;
    printer.say(&format!(
        "asking {name} about {}: {}",
        plural(found.len(), "case"),
        plural(calls, "call")
    ));
    let budget =
        Arc::new(Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget)));
    let (guard, environment) = (session.guard().clone(), session.environment().clone());
    let scripts = Scripts::new(guard, environment, session.cancel.clone());
    let evaluator =
        Arc::new(Evaluator { judge: Some(judge), scripts, budget: Arc::clone(&budget) });
    let jobs = settings.jobs(&args.budget) as usize;
    let scratch = std::env::temp_dir();
    let work = evaluator.self_test(&suite, found, skill, &scratch, jobs, &session.cancel);
    let tested = session.block_on(printer, work)?.map_err(|error| explain(&error))?;
    let answer = Answer::of(name, &tested);
    printer.print_text(&match args.format {
        PlainFormat::Text => answer.text(),
        PlainFormat::Json => skillgauge_format::write::to_text(&answer).or_bug()?,
    })?;
    keep::say_spent(&budget.spent(), printer);
    Ok(if session.cancel.is_cancelled() {
        ExitCode::Interrupted
    } else if !answer.errors.is_empty() {
        ExitCode::Incomplete
    } else if answer.can_tell {
        ExitCode::Success
    } else {
        ExitCode::Failure
    })
}

fn read_suite(file: &Path) -> Result<Suite, CommandError> {
    let bytes = fs_err::read(file).or_hint("--evals names another suite")?;
    let suite = Suite::read(&bytes).map_err(|error| {
        CommandError::usage(
            format!("{}: {error}", file.display()),
            "`skillgauge lint-evals SKILL` shows what is wrong",
        )
    })?;
    Ok(suite.value)
}

fn explain(error: &SelfTestError) -> CommandError {
    let hint = error.hint();
    CommandError::usage(error.to_string(), hint)
}

/// What the judge says. Nothing can be quoted of an empty answer, so every pass of it is void: there its own word counts.
fn says_pass(found: &PlantedVerdict) -> bool {
    found.passed || (found.voided && found.plant == Plant::Empty)
}

/// How many of so many verdicts are passes.
#[derive(Clone, Copy, Debug, Serialize)]
struct Share {
    passed: usize,
    verdicts: usize,
}

/// What came out, as it is shown.
#[derive(Debug, Serialize)]
struct Answer {
    judge: String,
    /// Whether it tells reference answers from empty ones.
    can_tell: bool,
    reference: Share,
    empty: Share,
    foreign: Share,
    /// Passes of the judge that no quote proves.
    voided: usize,
    mistakes: Vec<Mistake>,
    errors: Vec<String>,
    /// Cases whose reference is what `expected_output` describes.
    described: Vec<String>,
    left_out: Vec<String>,
    /// Verdicts on empty answers that do not count: nothing is what these expectations want.
    absent: usize,
}

/// A verdict that may be wrong.
#[derive(Debug, Serialize)]
struct Mistake {
    case: String,
    answer: String,
    expectation: String,
    passed: bool,
    voided: bool,
}

impl Answer {
    fn of(judge: String, tested: &SelfTest) -> Self {
        let share = |is_meant: &dyn Fn(&Plant) -> bool| {
            let meant = || tested.verdicts.iter().filter(|found| is_meant(&found.plant));
            Share {
                passed: meant().filter(|found| says_pass(found)).count(),
                verdicts: meant().count(),
            }
        };
        let told = tested.verdicts.iter().filter_map(|found| match found.plant {
            Plant::Reference => Some((true, found.passed)),
            Plant::Empty => Some((false, says_pass(found))),
            Plant::Foreign(_) => None,
        });
        let is_wrong = |found: &&PlantedVerdict| found.passed != (found.plant == Plant::Reference);
        let mistake = |found: &PlantedVerdict| Mistake {
            case: found.case.clone(),
            answer: found.plant.to_string(),
            expectation: found.expectation.clone(),
            passed: says_pass(found),
            voided: found.voided,
        };
        Self {
            judge,
            can_tell: Accuracy::of(told).can_tell(SEED),
            reference: share(&|plant| *plant == Plant::Reference),
            empty: share(&|plant| *plant == Plant::Empty),
            foreign: share(&|plant| matches!(plant, Plant::Foreign(_))),
            voided: tested.verdicts.iter().filter(|found| found.voided).count(),
            mistakes: tested.verdicts.iter().filter(is_wrong).map(mistake).collect(),
            errors: tested.errors.clone(),
            described: tested.described.clone(),
            left_out: tested.left_out.clone(),
            absent: tested.absent,
        }
    }

    fn text(&self) -> String {
        let Self { judge, reference, empty, foreign, .. } = self;
        let passed = |share: &Share| format!("{} of {}", share.passed, share.verdicts);
        let start = match (self.can_tell, self.errors.is_empty()) {
            (true, _) => format!("{judge} can tell right answers from empty ones"),
            (false, true) => format!("{judge} can't tell right answers from empty ones"),
            (false, false) => {
                format!("{judge} did not answer often enough to say whether it can tell")
            }
        };
        let mut sentence = format!(
            "{start}: it passed {} expectations on reference answers and {} on empty ones",
            passed(reference),
            passed(empty)
        );
        if foreign.verdicts > 0 {
            let _ = write!(sentence, "; of answers to other cases it passed {}", passed(foreign));
        }
        sentence.push('.');
        let mut out = text::wrap(&sentence, 80);
        out.push('\n');
        for (number, found) in self.mistakes.iter().enumerate() {
            if number == 0 {
                out.push_str("\nLook at these:\n");
            }
            if number == NAMED {
                let _ = writeln!(out, "- and {} more (--format json)", self.mistakes.len() - NAMED);
                break;
            }
            let verdict = match (found.passed, found.voided) {
                (true, _) => "passed",
                (false, true) => "failed (no quote proves the pass)",
                (false, false) => "failed",
            };
            let expectation = shorten(&found.expectation, 60);
            let line = format!("- case {}, {}: {verdict}: {expectation}", found.case, found.answer);
            let _ = writeln!(out, "{}", printable(&line));
        }
        for error in self.errors.iter().take(NAMED) {
            let _ = writeln!(out, "- not judged: {}", printable(error));
        }
        if self.voided > 0 {
            let _ = writeln!(
                out,
                "\n{} voided: no quote proves them.",
                counted(self.voided, "pass was", "passes were")
            );
        }
        if !self.described.is_empty() {
            let cases = self.described.join(", ");
            let note = format!(
                "The reference of {cases} is `expected_output`, which may describe an answer instead of being one: a fail there \
                 may be right. Put the files of a real answer into evals/reference/<case id>/."
            );
            let _ = writeln!(out, "\n{}", text::wrap(&note, 80));
        }
        if self.absent > 0 {
            let left_out = counted(
                self.absent,
                "verdict on an empty answer is",
                "verdicts on empty answers are",
            );
            let note = format!(
                "{left_out} left out: an expectation that something is absent holds there, too."
            );
            let _ = writeln!(out, "\n{}", text::wrap(&note, 80));
        }
        if !self.left_out.is_empty() {
            let _ = writeln!(
                out,
                "\nLeft out, without a reference or anything to judge: {}",
                self.left_out.join(", ")
            );
        }
        out
    }
}
