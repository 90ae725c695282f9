//! `skillgauge trigger`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::output::{trigger_ci, trigger_text};
use skillgauge_core::trigger::{LabelledQuery, agreement};
use skillgauge_core::workspace::Workspace;
use skillgauge_format::trigger::{TriggerCrowd, TriggerReport};
use skillgauge_format::write;
use skillgauge_run::probe::{
    Crowd, Measured, Measurement, ProbeError, Prober, Probing, measure, planned_calls,
};

use super::Outcome;
use super::probe_talk::ProbeTalk;
use super::probing::{Probes, Subject, read_set};
use crate::args::{TriggerArgs, TriggerFormat, ViaArg};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer};

const ALONE: &str = "alone";
const IN_A_CROWD: &str = "in a crowd";
const BY_API: &str = "by api";

/// One measurement of the call, with its name.
type Arm = (&'static str, Measurement);

pub(crate) fn run(args: &TriggerArgs, printer: &Printer) -> Outcome {
    if args.probe.via == ViaArg::Estimate {
        return super::estimate::run(args, printer);
    }
    let subject = Subject::read(&args.skill, args.description.as_deref())?;
    let set = read_set(args.evals.as_deref(), &subject.skill.folder, printer)?;
    let session = Session::open(&args.probe.tape)?;
    let count = usize::try_from(args.crowd).unwrap_or(usize::MAX);
    let crowd = Crowd::gather(&args.neighbours, count, &subject.skill.name, session.scratch())
        .or_hint("see `--neighbours`")?;
    let probes = Probes::new(&args.probe, &session, journal_folder(&subject.skill.folder)?);
    let arms = arms(args, &probes, &subject, &crowd)?;
    announce(&arms, set.queries.len(), &probes, printer);
    let work = carry_out(&arms, &set.queries, probes.prober(), &session, printer);
    match session.block_on(printer, work)? {
        Ok(measured) => conclude(args, measured, &crowd, printer),
        Err(error) => Ok(probes.broken(&error, printer)),
    }
}

fn arms(
    args: &TriggerArgs,
    probes: &Probes<'_>,
    subject: &Subject,
    crowd: &Crowd,
) -> Result<Vec<Arm>, CommandError> {
    let via = if args.calibrate { ViaArg::Agent } else { args.probe.via };
    let alone = probes.measurement(subject, via, args.early_stop)?;
    let mut arms = Vec::new();
    if !crowd.skills.is_empty() {
        let neighbours = crowd.skills.clone();
        arms.push((IN_A_CROWD, Measurement { neighbours, ..alone.clone() }));
    }
    if args.calibrate {
        let probing = probes.probing(ViaArg::Api)?;
        arms.push((BY_API, Measurement { probing, ..alone.clone() }));
    }
    arms.insert(0, (ALONE, alone));
    Ok(arms)
}

/// Beside the skill, where everything is that was produced for it.
fn journal_folder(skill: &Path) -> Result<PathBuf, CommandError> {
    let workspace = Workspace::beside(skill).or_hint("name the skill by its folder")?;
    Ok(workspace.root().join("trigger"))
}

fn announce(arms: &[Arm], queries: usize, probes: &Probes<'_>, printer: &Printer) {
    let mut forecasts = Vec::new();
    for (name, measurement) in arms {
        let calls = planned_calls(queries, measurement.runs);
        let whom = match &measurement.probing {
            Probing::Agent { agent, .. } => format!("the agent `{agent}`"),
            Probing::Api { model, .. } => format!("`{model}`"),
        };
        printer.say(&format!(
            "{name}: {queries} queries x {} runs and a control, {calls} calls of {whom} (more when some are tried again)",
            measurement.runs
        ));
        if !probes.is_replay() {
            let forecast = probes.forecast(&measurement.probing, calls as u64);
            printer.say(&format!("{name}: {forecast}"));
            forecasts.push(forecast);
        }
    }
    if !probes.is_replay() {
        printer.say(&probes.limits(&forecasts));
    }
}

async fn carry_out(
    arms: &[Arm],
    queries: &[LabelledQuery],
    prober: Arc<Prober>,
    session: &Session,
    printer: &Printer,
) -> Result<Vec<(&'static str, Measured)>, ProbeError> {
    let mut all = Vec::new();
    for (name, measurement) in arms {
        let mut talk = ProbeTalk::new(name, &measurement.skill.name, printer.clone());
        let measured =
            measure(&prober, measurement, queries, &session.cancel, &mut |event| talk.hear(&event))
                .await;
        talk.end();
        all.push((*name, measured?));
    }
    Ok(all)
}

fn conclude(
    args: &TriggerArgs,
    measured: Vec<(&'static str, Measured)>,
    crowd: &Crowd,
    printer: &Printer,
) -> Outcome {
    let is_short = measured.iter().any(|(_, measured)| measured.shortfall.is_some());
    let Some(report) = joined(args, measured, crowd) else { return Ok(ExitCode::Incomplete) };
    args.output.write(printer, |format| match format {
        TriggerFormat::Text => Ok(trigger_text::render_text(&report)),
        TriggerFormat::Json => write::to_text(&report).or_bug(),
        TriggerFormat::Junit => Ok(trigger_ci::render_junit(&report)),
        TriggerFormat::Github => {
            let file = args.skill.join("SKILL.md").display().to_string();
            Ok(trigger_ci::render_github(&report, &file))
        }
    })?;
    let crowd_failed = report.crowd.as_ref().map_or(0, |crowd| crowd.summary.failed);
    Ok(if is_short {
        ExitCode::Incomplete
    } else if report.summary.failed + crowd_failed > 0 {
        ExitCode::Failure
    } else {
        ExitCode::Success
    })
}

/// One report of all arms: the first one's, with the others beside it.
fn joined(
    args: &TriggerArgs,
    measured: Vec<(&'static str, Measured)>,
    crowd: &Crowd,
) -> Option<TriggerReport> {
    let mut all = measured.into_iter();
    let mut report = all.next()?.1.report;
    for (name, Measured { report: other, .. }) in all {
        let measurement = other.measurement.clone().unwrap_or_default();
        if name == IN_A_CROWD {
            report.crowd = Some(TriggerCrowd {
                neighbours: crowd.names(),
                made_up: crowd.made_up as u64,
                summary: other.summary,
                metrics: other.metrics.unwrap_or_default(),
                listing: other.listing,
                measurement,
                results: other.results,
            });
        } else {
            let threshold = args.probe.threshold;
            let found =
                agreement::calibrate(&report.results, &other.results, threshold, measurement);
            report.calibration = Some(found);
        }
    }
    Some(report)
}
