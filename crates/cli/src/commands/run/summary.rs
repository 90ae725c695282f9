//! What came out: the benchmark, what is missing, and the exit code.

use skillgauge_core::benchmark::{self, Aggregate, Answer, BenchmarkError, Settings};
use skillgauge_core::plan::{RunId, Shard};
use skillgauge_core::text::{ending, plural};
use skillgauge_core::workspace::{Iteration, WorkspaceError, is_out_of_room};
use skillgauge_format::record::IterationRecord;
use skillgauge_run::iteration::OpenIteration;

use super::DrivenIteration;
use crate::args::{OutputArgs, RunFormat};
use crate::commands::Outcome;
use crate::error::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer};

/// What to do about runs that are missing or not graded.
pub(crate) const SAME: &str =
    "the same command tries them again; what has a result is not run twice";

/// So many missing runs are named.
const NAMED: usize = 5;

/// The end of a run.
pub(crate) struct RunSummary<'a> {
    pub(crate) shard: Option<Shard>,
    pub(crate) output: &'a OutputArgs<RunFormat>,
    pub(crate) ran: &'a DrivenIteration,
    /// What to do about runs that are missing or not graded.
    pub(crate) remedy: &'a str,
}

impl RunSummary<'_> {
    pub(crate) fn conclude(&self, session: &Session, printer: &Printer) -> Outcome {
        let is_interrupted = session.cancel.is_cancelled();
        let is_noted = is_noted(self.mark(is_interrupted), printer)?;
        // More parts than runs: this one has done all that there is for it.
        if let (Some(shard), []) = (self.shard, self.ran.plan.runs()) {
            printer.say(&format!("part {shard} of the plan has no runs; there is nothing to do"));
            return Ok(ExitCode::Success);
        }
        if self.shard.is_some() && self.ran.result.missing.is_empty() {
            printer.say("this part is complete; `skillgauge merge` puts the parts together");
        }
        self.say_missing(printer);
        self.say_spent(printer);
        if is_interrupted {
            printer.say("run the same command again to resume");
            return Ok(ExitCode::Interrupted);
        }
        if self.ran.result.results == 0 {
            printer.say("no run has a result, so there is nothing to tell");
            // A CI system that gets nothing would not show that something was to be tested.
            if self.output.has(RunFormat::Junit) || self.output.has(RunFormat::Github) {
                let aggregate = aggregate(&self.ran.open.iteration, &self.ran.open.record)?;
                self.print(&aggregate, printer)?;
            }
            return Ok(ExitCode::Incomplete);
        }
        let (aggregate, is_written) = self.aggregate(printer)?;
        self.print(&aggregate, printer)?;
        say_undecided(&aggregate, printer);
        Ok(if is_noted && is_written { self.code(&aggregate) } else { ExitCode::Incomplete })
    }

    /// The benchmark, and whether it could be written: a full disk keeps nobody from being told what is there.
    fn aggregate(&self, printer: &Printer) -> Result<(Aggregate, bool), CommandError> {
        let OpenIteration { iteration, record, .. } = &self.ran.open;
        let settings = settings(record);
        match benchmark::write(iteration.root(), &settings) {
            Ok((aggregate, _)) => Ok((aggregate, true)),
            Err(error) if is_out_of_room(&error) => {
                let aggregate = benchmark::aggregate(iteration.root(), &settings);
                printer.say(&format!("warning: {error}; `skillgauge bench` writes it again"));
                Ok((aggregate.map_err(benchmark_error)?, false))
            }
            Err(error) => Err(benchmark_error(error)),
        }
    }

    /// Notes what became of the iteration, and says what is missing; `conclude` without the benchmark.
    pub(crate) fn note(&self, session: &Session, printer: &Printer) -> Result<(), CommandError> {
        self.mark(session.cancel.is_cancelled())?;
        self.say_missing(printer);
        Ok(())
    }

    fn mark(&self, is_interrupted: bool) -> Result<(), WorkspaceError> {
        self.ran.open.conclude(&self.ran.result, self.shard, is_interrupted)
    }

    fn say_missing(&self, printer: &Printer) {
        let say = |what: &str, list: &[(RunId, String)]| {
            if list.is_empty() {
                return;
            }
            printer.say(&format!("{} {what}:", list.len()));
            for (id, why) in list.iter().take(NAMED) {
                printer.say(&format!("  {id}: {why}"));
            }
            if list.len() > NAMED {
                printer.say(&format!("  and {} more", list.len() - NAMED));
            }
        };
        say(&format!("of {} runs have no result", self.wanted()), &self.ran.result.missing);
        say("runs could not be graded", &self.ran.result.not_graded);
        if !self.ran.result.missing.is_empty() || !self.ran.result.not_graded.is_empty() {
            printer.say(self.remedy);
        }
    }

    /// How many runs it took; what was spared because the pairs had decided is not wanted.
    fn wanted(&self) -> usize {
        let all = self.ran.plan.runs();
        let is_wanted =
            |last: u64| all.iter().filter(move |id| u64::from(id.number) <= last).count();
        self.ran.result.replicates.map_or(all.len(), is_wanted)
    }

    fn say_spent(&self, printer: &Printer) {
        let spent = self.ran.result.spent;
        if spent.calls() == 0 {
            return;
        }
        printer.say(&format!(
            "{}, {}, {spent}",
            plural(spent.agent_calls, "agent call"),
            plural(spent.model_calls, "judge call")
        ));
        let all = self.ran.result.all_attempts;
        if all > spent.agent_calls {
            printer.say(&format!("{} over all calls of this iteration", plural(all, "agent call")));
        }
    }

    fn print(&self, aggregate: &Aggregate, printer: &Printer) -> Result<(), CommandError> {
        self.output.write(printer, |format| {
            Ok(match format {
                RunFormat::Text => aggregate.summary_text(printer.style()),
                RunFormat::Markdown => aggregate.to_markdown(),
                RunFormat::Json => aggregate.to_json()?,
                RunFormat::Junit => aggregate.to_junit(),
                RunFormat::Github => aggregate.to_github(),
            })
        })?;
        printer.say(&format!("results: {}", self.ran.open.iteration.root().display()));
        Ok(())
    }

    fn code(&self, aggregate: &Aggregate) -> ExitCode {
        if !self.ran.result.is_complete() {
            return ExitCode::Incomplete;
        }
        match aggregate.answer() {
            Answer::Broken => ExitCode::Incomplete,
            // As `bench` says of the same iteration: what is not measured may change the answer. A part of a plan has
            // done its work without the runs of the others.
            Answer::Fine | Answer::Worse
                if aggregate.unmeasured().any(|run| run.outcome != "not_run") =>
            {
                ExitCode::Incomplete
            }
            Answer::Fine if aggregate.failed_cases().is_empty() => ExitCode::Success,
            Answer::Fine | Answer::Worse => ExitCode::Failure,
        }
    }
}

/// Whether the state of the iteration could be written; one that could not for lack of room stays unfinished, which is
/// right.
fn is_noted(marked: Result<(), WorkspaceError>, printer: &Printer) -> Result<bool, CommandError> {
    match marked {
        Ok(()) => Ok(true),
        Err(error) if is_out_of_room(&error) => {
            printer.say(&format!("warning: {error}"));
            printer.say("make room, then run the same command again to resume");
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// The benchmark of an iteration, which is written beside its runs.
pub(crate) fn aggregate(
    iteration: &Iteration,
    record: &IterationRecord,
) -> Result<Aggregate, CommandError> {
    let written = benchmark::write(iteration.root(), &settings(record));
    written.map(|(aggregate, _)| aggregate).map_err(benchmark_error)
}

fn settings(record: &IterationRecord) -> Settings {
    Settings {
        skill_name: Some(record.skill_name.clone()),
        skill_path: Some(record.skill_path.clone()),
        analyzer_model: record.judge.clone(),
        timestamp: Some(skillgauge_run::now()),
        ..Settings::default()
    }
}

fn benchmark_error(error: BenchmarkError) -> CommandError {
    let hint = match error {
        BenchmarkError::Unwritable { .. } => "make room; `skillgauge bench` writes it again",
        // There were runs a moment ago.
        BenchmarkError::Unreadable { .. } | BenchmarkError::NoRuns { .. } => {
            "something else changed the folder; put it back, or run the same command again"
        }
        BenchmarkError::NotJson { .. } => error.hint(),
    };
    CommandError::from(error).hinting(hint)
}

/// Says what the judge left open, and how to have it judged.
fn say_undecided(aggregate: &Aggregate, printer: &Printer) {
    let gaps: Vec<&Vec<String>> = aggregate
        .iteration
        .runs()
        .map(|run| &run.judge_errors)
        .filter(|errors| !errors.is_empty())
        .collect();
    let (expectations, runs) = (gaps.iter().copied().flatten().count(), gaps.len());
    let Some(first) = gaps.first().and_then(|errors| errors.first()) else { return };
    printer.say(&format!(
        "{expectations} expectation{} of {runs} run{} {} not judged, so {} in no rate: {first}",
        ending(expectations),
        ending(runs),
        if expectations == 1 { "was" } else { "were" },
        if runs == 1 { "the run is" } else { "these runs are" },
    ));
    printer.say(&format!(
        "the same command asks the judge again, and runs nothing again; so does `skillgauge grade {}`",
        aggregate.iteration.folder.display()
    ));
}
