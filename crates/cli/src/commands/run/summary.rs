//! What came out: the benchmark, what is missing, and the exit code.

use std::io::Write as _;
use std::time::SystemTime;

use skillgauge_core::benchmark::{self, Aggregate, BenchmarkError, Settings, Standing};
use skillgauge_core::plan::{RunId, Shard};
use skillgauge_core::workspace::Iteration;
use skillgauge_format::evals::Benchmark;
use skillgauge_format::part::Timestamp;
use skillgauge_format::record::IterationRecord;
use skillgauge_run::agent::timestamp;

use super::Ran;
use crate::args::RunFormat;
use crate::commands::Outcome;
use crate::printer::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer};

/// What to do about runs that are missing or not graded.
pub(in crate::commands) const SAME: &str =
    "the same command tries them again; what has a result is not run twice";

/// So many missing runs are named.
const NAMED: usize = 5;

/// The end of a run.
pub(in crate::commands) struct Ended<'a> {
    pub(in crate::commands) shard: Option<Shard>,
    pub(in crate::commands) out_format: RunFormat,
    pub(in crate::commands) ran: &'a Ran,
    /// What to do about runs that are missing or not graded.
    pub(in crate::commands) remedy: &'a str,
}

impl Ended<'_> {
    pub(in crate::commands) fn conclude(&self, session: &Session, printer: &Printer) -> Outcome {
        let is_interrupted = session.cancel.is_cancelled();
        self.mark(is_interrupted)?;
        // More parts than runs: this one has done all that there is for it.
        if let (Some(shard), []) = (self.shard, self.ran.plan.runs()) {
            printer.say(&format!("part {shard} of the plan has no runs; there is nothing to do"));
            return Ok(ExitCode::Success);
        }
        if self.shard.is_some() && self.ran.driven.missing.is_empty() {
            printer.say("this part is complete; `skillgauge merge` puts the parts together");
        }
        self.say_missing(printer);
        self.say_spent(printer);
        if is_interrupted {
            printer.say("the same command goes on where this one stopped");
            return Ok(ExitCode::Interrupted);
        }
        if self.ran.driven.results == 0 {
            printer.say("no run has a result, so there is nothing to tell");
            return Ok(ExitCode::Incomplete);
        }
        let aggregate = aggregate(&self.ran.begun.iteration, &self.ran.begun.record)?;
        self.print(&aggregate, printer)?;
        Ok(self.code(&aggregate))
    }

    /// Notes what became of the iteration, and says what is missing; `conclude` without the benchmark.
    pub(in crate::commands) fn note(
        &self,
        session: &Session,
        printer: &Printer,
    ) -> Result<(), CommandError> {
        self.mark(session.cancel.is_cancelled())?;
        self.say_missing(printer);
        Ok(())
    }

    /// Notes in the iteration what has become of it: whether the same command would find nothing left to do.
    fn mark(&self, is_interrupted: bool) -> Result<(), CommandError> {
        let mut record = self.ran.begun.record.clone();
        let is_complete = self.ran.driven.is_complete() && self.shard.is_none();
        record.finished = is_complete.then(now);
        if is_complete {
            self.ran.begun.iteration.clear_partial().map_err(super::workspace_error)?;
        }
        record.partial = match (&self.ran.driven.stopped, is_interrupted) {
            _ if is_complete => None,
            (Some(why), _) => Some(why.clone()),
            (None, true) => Some("interrupted".to_owned()),
            (None, false) => Some(self.what_is_left()),
        };
        let models = self
            .ran
            .begun
            .iteration
            .runs()
            .into_iter()
            .filter_map(|(_, run)| run.record().ok()?.model);
        record.executor_model = models.into_iter().next();
        self.ran.begun.iteration.write_record(&record).map_err(super::workspace_error)
    }

    /// Why an iteration is unfinished that nobody stopped.
    fn what_is_left(&self) -> String {
        let driven = &self.ran.driven;
        match self.shard.filter(|_| driven.is_complete()) {
            Some(shard) => format!("only part {shard} of the plan is here"),
            None => driven.lacking(),
        }
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
        say(
            &format!("of {} runs have no result", self.ran.plan.runs().len()),
            &self.ran.driven.missing,
        );
        say("runs could not be graded", &self.ran.driven.not_graded);
        if self.ran.driven.judge_errors > 0 {
            let count = self.ran.driven.judge_errors;
            printer.say(&format!("the judge gave no verdict on {count} expectations"));
        }
        if !self.ran.driven.is_complete() {
            printer.say(self.remedy);
        }
    }

    fn say_spent(&self, printer: &Printer) {
        let spent = self.ran.driven.spent;
        if spent.calls() == 0 {
            return;
        }
        let cost = match spent.unknown_costs {
            0 => format!("${:.4}", spent.cost_usd),
            _ if spent.cost_usd > 0.0 => {
                format!("${:.4} and {} calls of unknown cost", spent.cost_usd, spent.unknown_costs)
            }
            _ => "unknown cost".to_owned(),
        };
        printer.say(&format!(
            "{} calls of the agent, {} of the judge, {cost}",
            spent.agent_calls, spent.model_calls
        ));
    }

    fn print(&self, aggregate: &Aggregate, printer: &Printer) -> Result<(), CommandError> {
        let text = match self.out_format {
            RunFormat::Text => aggregate.summary_text(printer.style()),
            RunFormat::Markdown => aggregate.to_markdown(),
            RunFormat::Json => aggregate
                .to_json()
                .map_err(|error| CommandError::usage(error.to_string(), error.hint()))?,
            RunFormat::Junit => aggregate.to_junit(),
            RunFormat::Github => aggregate.to_github(),
        };
        let mut out = printer.stdout();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        printer.say(&format!("results: {}", self.ran.begun.iteration.root().display()));
        Ok(())
    }

    fn code(&self, aggregate: &Aggregate) -> ExitCode {
        let driven = &self.ran.driven;
        if !driven.is_complete() {
            return ExitCode::Incomplete;
        }
        match aggregate.standing() {
            Standing::Broken => ExitCode::Incomplete,
            Standing::Fine if aggregate.failed_cases().is_empty() => ExitCode::Success,
            Standing::Fine | Standing::Worse => ExitCode::Failure,
        }
    }
}

/// The benchmark of an iteration, which is written beside its runs.
pub(in crate::commands) fn aggregate(
    iteration: &Iteration,
    record: &IterationRecord,
) -> Result<Aggregate, CommandError> {
    let settings = Settings {
        skill_name: Some(record.skill_name.clone()),
        skill_path: Some(record.skill_path.clone()),
        analyzer_model: record.judge.clone(),
        timestamp: Some(now()),
        seed: record.seed,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        ..Settings::default()
    };
    let (aggregate, _) = benchmark::write(iteration.root(), &settings).map_err(|error| {
        let hint = match error {
            BenchmarkError::Unwritable { .. } => "make room; `skillgauge bench` writes it again",
            BenchmarkError::Unreadable { .. }
            | BenchmarkError::Changed { .. }
            | BenchmarkError::NoRuns { .. }
            | BenchmarkError::NotJson { .. } => "please report this",
        };
        CommandError::usage(error.to_string(), hint)
    })?;
    Ok(aggregate)
}

/// The benchmark with its runs, as it was just written.
pub(in crate::commands) fn written(aggregate: &Aggregate) -> Result<Benchmark, CommandError> {
    aggregate.benchmark().map_err(|error| CommandError::usage(error.to_string(), error.hint()))
}

fn now() -> Timestamp {
    Timestamp::new(timestamp(SystemTime::now()))
}
