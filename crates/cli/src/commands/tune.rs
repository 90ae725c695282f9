//! `skillgauge tune`.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use skillgauge_core::estimate;
use skillgauge_core::skill::edit::EditError;
use skillgauge_core::skill::{Document, Skill};
use skillgauge_core::trigger::QuerySet;
use skillgauge_core::tune::apply::{Applied, ApplyError, apply, check_editable};
use skillgauge_core::tune::page::page;
use skillgauge_core::tune::prompt::TEMPLATE;
use skillgauge_core::tune::text::render_text;
use skillgauge_core::tune::{PROOF_RUNS, ProofPlan, is_open};
use skillgauge_core::workspace::{Workspace, write_atomically};
use skillgauge_format::trigger::ImprovementHistory;
use skillgauge_format::{read, write};
use skillgauge_run::agent::TaskSkill;
use skillgauge_run::model::{Model, ModelName};
use skillgauge_run::probe::{CostForecast, Crowd, Measurement};
use skillgauge_run::tune::{
    EstimateMeasure, Measure, MeasureError, Planned, ProbeMeasure, Proposals, StopReason, Store,
    TuneError, TuneResult, TuneSettings, Tuning, held_out, tune,
};

use super::Outcome;
use super::estimate::described;
use super::probe_talk::TuneTalk;
use super::probing::{Probes, Subject, Undescribed, read_set};
use crate::args::{ApplyArg, PageFormat, TuneArgs, ViaArg};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &TuneArgs, printer: &Printer) -> Outcome {
    if args.apply.is_some() && args.probe.via == ViaArg::Estimate {
        return Err(CommandError::usage(
            "`--via estimate` proposes a description from words alone, which can't be applied",
            "leave out `--apply`, or measure with `--via agent` or `--via api`",
        ));
    }
    let subject = Subject::read(&args.skill, None, Undescribed::Refused, printer)?;
    let set = read_set(args.evals.as_deref(), &subject.skill.folder, printer)?;
    check_edit(args, &subject, printer)?;
    let session = Session::open(&args.probe.tape)?;
    let store = open_store(args, &subject.skill.folder)?;
    let history = read_history(store.history_file())?;
    let improver = session.settings.improver(args.improver.as_deref());
    let improver = session.model(improver.as_deref(), &args.probe.budget)?;
    let probes = Probes::new(&args.probe, &session, store.probes_folder());
    probes.check_agent(args.probe.via, std::slice::from_ref(&subject.skill), printer)?;
    let settings = TuneSettings {
        rounds: args.rounds,
        runs: probes.runs(),
        holdout: args.holdout,
        target: args.target,
        seed: session.settings.seed(args.seed),
        candidates: args.candidates,
        template: TEMPLATE.to_owned(),
    };
    let crowd = Crowd::gather(&args.neighbours, 0, &subject.skill.name, session.scratch())
        .or_hint("see `--neighbours`")?;
    let measure = measure(args, &probes, &subject, &crowd.skills)?;
    let read = Skill::read(&subject.skill.folder);
    let body = read.document().map(Document::body).unwrap_or_default();
    let work = Work { args, subject: &subject, set: &set, probes: &probes, store: &store, body };
    let proof = ProofPlan::new(
        held_out(&set.queries, &settings),
        args.proof_runs.unwrap_or(PROOF_RUNS.max(settings.runs)),
    );
    work.announce(&settings, &proof, improver.name(), printer)?;
    let tuning = work.tuning(settings, proof, measure.as_ref(), improver.as_ref(), history);
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
            printer.say("interrupted before the first description was measured; run the same command again to resume");
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

/// A description that can't be replaced is said before anything is paid. An agent gets every candidate by the same edit, so
/// nothing could be measured either; a model alone could still be asked.
fn check_edit(args: &TuneArgs, subject: &Subject, printer: &Printer) -> Result<(), CommandError> {
    let Err(error) = check_editable(&subject.skill.folder, &subject.description) else {
        return Ok(());
    };
    let is_needed = match args.probe.via {
        ViaArg::Agent => matches!(error, ApplyError::Edit(_)) || args.apply.is_some(),
        ViaArg::Api | ViaArg::Estimate => args.apply.is_some(),
    };
    if is_needed {
        return Err(CommandError::usage(
            format!("the description can't be replaced: {error}"),
            apply_hint(&error),
        ));
    }
    printer.say(&format!("warning: {error}, so `--apply` will be refused; {}", apply_hint(&error)));
    Ok(())
}

fn apply_hint(error: &ApplyError) -> &'static str {
    match error {
        ApplyError::Changed { .. } => "tune it again, or write the description by hand",
        ApplyError::Edit(EditError::NotWritable) => {
            "write `description` out as plain text: a YAML anchor (`&name`) or alias (`*name`) ties it to another key"
        }
        ApplyError::Edit(EditError::Repeated) => "keep one `description`",
        ApplyError::Link { .. } => "tune the skill that the link leads to",
        ApplyError::Read { .. } | ApplyError::Replace(_) => {
            "see whether SKILL.md can be read and written"
        }
        ApplyError::Edit(_) | ApplyError::Invalid { .. } => {
            "`skillgauge validate` shows what is wrong with SKILL.md"
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
    let measure = ProbeMeasure::new(probes.prober(), measurement)
        .or_hint("choose another `--out-dir`, or start again with `--fresh`")?;
    Ok(Box::new(measure))
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
        proof: &ProofPlan,
        improver: &ModelName,
        printer: &Printer,
    ) -> Result<(), CommandError> {
        let (queries, probes) = (&self.set.queries, self.probes);
        let Planned { probes: calls, proof: proving, questions } =
            Planned::of(settings, queries, proof);
        let is_estimate = self.args.probe.via == ViaArg::Estimate;
        let rounds = settings.rounds;
        let planned = if is_estimate {
            format!(
                "no probes (the rates are estimates) and at most {questions} calls of `{improver}`"
            )
        } else {
            format!(
                "at most {} calls: {calls} probes ({proving} of them for the proof) and {questions} of `{improver}`",
                calls.saturating_add(questions)
            )
        };
        printer.say(&format!("{} queries, up to {rounds} rounds: {planned}", queries.len()));
        if !is_estimate {
            printer.say(&proof.to_string());
        }
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
        proof: ProofPlan,
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
            "runs": settings.runs,
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
            proof,
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
                printer.say("run the same command again to resume");
                ExitCode::Interrupted
            }
            stop if stop.is_early() => ExitCode::Incomplete,
            _ if tuned.summary.proof.as_ref().is_some_and(is_open) => ExitCode::Incomplete,
            _ => ExitCode::Success,
        })
    }

    fn page(&self, tuned: &TuneResult) -> Result<String, CommandError> {
        let page = page(&tuned.summary, &tuned.reports, &self.set.queries, &tuned.split);
        skillgauge_web::tune_page(&page).or_bug()
    }

    fn write_page(&self, tuned: &TuneResult, printer: &Printer) -> Result<(), CommandError> {
        let html = self.page(tuned)?;
        let file = self.args.page.clone().unwrap_or_else(|| self.store.page_file());
        write_atomically(&file, html.as_bytes()).or_hint("choose another `--out-dir`")?;
        printer.say(&format!("the page is {}", file.display()));
        Ok(())
    }

    /// Writes the description, when that was asked for, may be done, and the loop came to its end.
    fn apply(&self, tuned: &TuneResult, printer: &Printer) -> Result<(), CommandError> {
        let Some(when) = self.args.apply else { return Ok(()) };
        if tuned.stop.is_early() {
            printer.say("SKILL.md is not changed: the loop was stopped before its end; run the same command again to resume");
            return Ok(());
        }
        let Some(proof) = &tuned.summary.proof else {
            printer
                .say("SKILL.md stays as it is: no description did better on the training queries");
            return Ok(());
        };
        if !proof.proven && when == ApplyArg::Proven {
            printer.say("SKILL.md stays as it is: the candidate isn't shown to be better; `--apply=anyway` writes it all the same");
            return Ok(());
        }
        let folder = &self.subject.skill.folder;
        let applied = apply(folder, &tuned.summary.original_description, &proof.candidate);
        let applied = applied.map_err(|error| {
            CommandError::usage(format!("nothing was written: {error}"), apply_hint(&error))
        })?;
        printer.say(match applied {
            Applied::Written if proof.proven => "SKILL.md has the proven description now",
            Applied::Written => "SKILL.md has the candidate now, which isn't shown to be better",
            Applied::Nothing => "SKILL.md stays as it is",
        });
        Ok(())
    }
}
