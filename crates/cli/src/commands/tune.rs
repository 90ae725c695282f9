//! `skillgauge tune`.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use skillgauge_core::estimate;
use skillgauge_core::skill::{Document, Skill};
use skillgauge_core::trigger::{LabelledQuery, QuerySet};
use skillgauge_core::tune::apply::{Applied, ApplyError, apply};
use skillgauge_core::tune::page::page;
use skillgauge_core::tune::prompt::TEMPLATE;
use skillgauge_core::tune::text::render_text;
use skillgauge_core::workspace::{Workspace, write_atomically};
use skillgauge_format::trigger::ImprovementHistory;
use skillgauge_format::{read, write};
use skillgauge_run::agent::TaskSkill;
use skillgauge_run::model::{Model, ModelName};
use skillgauge_run::probe::{CostForecast, Crowd, Measurement};
use skillgauge_run::tune::{
    EstimateMeasure, Measure, MeasureError, ProbeMeasure, Proposals, StopReason, Store, TuneError,
    TuneResult, TuneSettings, Tuning, planned, tune,
};

use super::Outcome;
use super::estimate::described;
use super::probe_talk::TuneTalk;
use super::probing::{Probes, Subject, read_set};
use crate::args::{PageFormat, TuneArgs, ViaArg};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &TuneArgs, printer: &Printer) -> Outcome {
    let subject = Subject::read(&args.skill, None)?;
    let set = read_set(args.evals.as_deref(), &subject.skill.folder, printer)?;
    let session = Session::open(&args.probe.tape)?;
    let store = open_store(args, &subject.skill.folder)?;
    let history = read_history(store.history_file())?;
    let improver = session.model(session.settings.improver(args.improver.as_deref()).as_deref())?;
    let settings = TuneSettings {
        rounds: args.rounds,
        holdout: args.holdout,
        target: args.target,
        seed: session.settings.seed(args.seed),
        candidates: args.candidates,
        template: TEMPLATE.to_owned(),
    };
    let probes = Probes::new(&args.probe, &session, store.probes_folder());
    let crowd = Crowd::gather(&args.neighbours, 0, &subject.skill.name, session.scratch())
        .or_hint("see `--neighbours`")?;
    let measure = measure(args, &probes, &subject, &crowd.skills)?;
    let read = Skill::read(&subject.skill.folder);
    let body = read.document().map(Document::body).unwrap_or_default();
    let work = Work { args, subject: &subject, set: &set, probes: &probes, store: &store, body };
    work.announce(&settings, improver.name(), printer)?;
    let tuning = work.tuning(settings, measure.as_ref(), improver.as_ref(), history);
    let mut talk = TuneTalk::new(&subject.skill.name, printer.clone());
    let tuned = session.block_on(printer, async {
        let tuned = tune(tuning, &session.cancel, &mut |event| talk.hear(&event)).await;
        talk.end();
        tuned
    })?;
    match tuned {
        Ok(tuned) => work.conclude(&tuned, printer),
        Err(TuneError::Measure(MeasureError::Probe(error))) => Ok(probes.broken(&error, printer)),
        Err(TuneError::Measure(MeasureError::Cancelled)) => {
            printer.say("interrupted before the first description was measured; the same command goes on from here");
            Ok(ExitCode::Interrupted)
        }
        Err(TuneError::Measure(MeasureError::Limit { limit })) => {
            printer.say(&format!("error: {limit} before the first description was measured"));
            Ok(ExitCode::Incomplete)
        }
        Err(TuneError::Store(error)) => {
            Err(CommandError::usage(error.to_string(), "choose another `--out-dir`"))
        }
    }
}

fn open_store(args: &TuneArgs, skill: &Path) -> Result<Store, CommandError> {
    let folder = match &args.out_dir {
        Some(folder) => folder.clone(),
        None => Workspace::beside(skill)?.root().join("tune"),
    };
    Store::open(&folder, args.history.as_deref()).or_hint("choose another `--out-dir`")
}

fn read_history(path: &Path) -> Result<ImprovementHistory, CommandError> {
    let bytes = match fs_err::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(ImprovementHistory::default());
        }
        bytes => bytes.or_hint("see `--history`")?,
    };
    let history = read::<ImprovementHistory>(&bytes).map_err(|error| {
        CommandError::usage(
            format!("{}: {error}", path.display()),
            "`skillgauge schema improvement-history` prints what the file must look like",
        )
    })?;
    Ok(history.value)
}

fn measure(
    args: &TuneArgs,
    probes: &Probes<'_>,
    subject: &Subject,
    neighbours: &[TaskSkill],
) -> Result<Box<dyn Measure>, CommandError> {
    if args.probe.via == ViaArg::Estimate {
        let name = subject.skill.name.clone();
        let mut neighbours = described(&args.neighbours)?;
        neighbours.retain(|neighbour| neighbour.name != name);
        let settings = estimate::Settings::default();
        return Ok(Box::new(EstimateMeasure { name, neighbours, settings }));
    }
    let measurement = Measurement {
        neighbours: neighbours.to_vec(),
        ..probes.measurement(subject, args.probe.via, args.early_stop)?
    };
    Ok(Box::new(ProbeMeasure { prober: probes.prober(), measurement }))
}

/// What the parts of the command share.
struct Work<'w> {
    args: &'w TuneArgs,
    subject: &'w Subject,
    set: &'w QuerySet,
    probes: &'w Probes<'w>,
    store: &'w Store,
    body: &'w str,
}

impl<'w> Work<'w> {
    /// What the loop may need, told before it begins.
    fn announce(
        &self,
        settings: &TuneSettings,
        improver: &ModelName,
        printer: &Printer,
    ) -> Result<(), CommandError> {
        let (queries, probes) = (&self.set.queries, self.probes);
        let (calls, questions) = planned(settings, queries, probes.runs());
        let is_estimate = self.args.probe.via == ViaArg::Estimate;
        let rounds = settings.rounds;
        let planned = if is_estimate {
            format!(
                "no probes (the rates are estimates) and at most {questions} calls of `{improver}`"
            )
        } else {
            format!(
                "at most {} calls: {calls} probes and {questions} of `{improver}`",
                calls.saturating_add(questions)
            )
        };
        printer.say(&format!("{} queries, up to {rounds} rounds: {planned}", queries.len()));
        if probes.is_replay() {
            return Ok(());
        }
        let mut forecasts = Vec::new();
        if !is_estimate {
            let forecast = probes.forecast(&probes.probing(self.args.probe.via)?, calls);
            printer.say(&format!("the probes: {forecast}"));
            forecasts.push(forecast);
        }
        let asked = queries.iter().map(|query| query.text.len()).sum::<usize>();
        let bytes = TEMPLATE.len() + self.body.len() + asked;
        let forecast =
            CostForecast::of_questions(improver, bytes, questions, &probes.session.access());
        printer.say(&format!("the improver: {forecast}"));
        forecasts.push(forecast);
        let total: Option<f64> = forecasts.iter().map(CostForecast::usd).sum();
        let total = total.map_or_else(String::new, |usd| format!("about ${usd:.2} in all; "));
        printer.say(&format!("{total}{}", probes.limits(&forecasts)));
        Ok(())
    }

    fn tuning(
        &self,
        settings: TuneSettings,
        measure: &'w dyn Measure,
        improver: &'w dyn Model,
        history: ImprovementHistory,
    ) -> Tuning<'w> {
        let tried = history.0.iter().map(|round| round.description.clone()).collect();
        let key = json!({
            "description": self.subject.description,
            "digest": self.subject.skill.digest,
            "queries": self.set.queries,
            "holdout": settings.holdout,
            "seed": settings.seed,
            "candidates": settings.candidates,
            "improver": improver.name(),
            "via": format!("{:?}", self.args.probe.via),
            "agent": self.probes.session.settings.agent(&self.args.probe.agent),
            "model": self.probes.session.settings.model(&self.args.probe.agent),
            "runs": self.probes.runs(),
            "threshold": self.args.probe.threshold,
            "neighbours": self.args.neighbours,
            "template": settings.template,
        });
        let file = self.store.proposals_file();
        let proposals = if self.probes.journal.is_some() {
            if self.args.probe.fresh {
                // One that is not there is as good as one that is gone.
                let _ = fs_err::remove_file(&file);
            }
            Proposals::open(&file, &key.to_string(), tried)
        } else {
            Proposals::none(tried)
        };
        Tuning {
            skill_name: &self.subject.skill.name,
            description: &self.subject.description,
            body: self.body,
            queries: &self.set.queries,
            settings,
            measure,
            improver,
            budget: Arc::clone(&self.probes.budget),
            store: Some(self.store.clone()),
            history,
            proposals,
        }
    }

    fn conclude(&self, tuned: &TuneResult, printer: &Printer) -> Outcome {
        self.args.output.write(printer, |format| match format {
            PageFormat::Text => Ok(render_text(&tuned.summary)),
            PageFormat::Json => write::to_text(&tuned.summary).or_bug(),
            PageFormat::Html => self.page(tuned),
        })?;
        self.write_page(tuned, printer)?;
        printer.say(&format!("the rounds are in {}", self.store.summary_file().display()));
        self.apply(tuned, printer)?;
        Ok(match &tuned.stop {
            StopReason::Interrupted => {
                printer.say("the same command goes on from here");
                ExitCode::Interrupted
            }
            stop if stop.is_early() => ExitCode::Incomplete,
            _ => ExitCode::Success,
        })
    }

    fn page(&self, tuned: &TuneResult) -> Result<String, CommandError> {
        let pair = |query: &LabelledQuery| (query.text.clone(), query.should_trigger);
        let queries: Vec<(String, bool)> = self.set.queries.iter().map(pair).collect();
        let page = page(&tuned.summary, &tuned.reports, &queries, &tuned.split);
        skillgauge_web::tune_page(&page).or_bug()
    }

    fn write_page(&self, tuned: &TuneResult, printer: &Printer) -> Result<(), CommandError> {
        let html = self.page(tuned)?;
        let file = self.args.page.clone().unwrap_or_else(|| self.store.page_file());
        write_atomically(&file, html.as_bytes()).or_hint("choose another `--out-dir`")?;
        printer.say(&format!("the page is {}", file.display()));
        Ok(())
    }

    /// Writes the best description, when that was asked for and the loop came to its end.
    fn apply(&self, tuned: &TuneResult, printer: &Printer) -> Result<(), CommandError> {
        if !self.args.apply {
            return Ok(());
        }
        if tuned.stop.is_early() {
            printer.say("SKILL.md is not changed: the loop was stopped before its end");
            return Ok(());
        }
        let summary = &tuned.summary;
        let folder = &self.subject.skill.folder;
        let applied = apply(folder, &summary.original_description, &summary.final_description);
        match applied {
            Ok(Applied::Written) => printer.say("SKILL.md has the best description now"),
            Ok(Applied::Nothing) => printer.say("SKILL.md stays as it is"),
            Err(error) => {
                let hint = match &error {
                    ApplyError::Changed { .. } => "tune it again, or write the description by hand",
                    _ => "`skillgauge validate` shows what is wrong with SKILL.md",
                };
                return Err(CommandError::usage(format!("nothing was written: {error}"), hint));
            }
        }
        Ok(())
    }
}
