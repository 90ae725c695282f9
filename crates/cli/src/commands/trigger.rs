//! `skillgauge trigger`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::output::{trigger_ci, trigger_text};
use skillgauge_core::statistics::Design;
use skillgauge_core::text::counted;
use skillgauge_core::trigger::against::{Earlier, can_show};
use skillgauge_core::trigger::{LabelledQuery, agreement};
use skillgauge_core::workspace::Workspace;
use skillgauge_format::evals::DifferenceVerdict;
use skillgauge_format::trigger::{TriggerCrowd, TriggerReport, TriggerSummary};
use skillgauge_format::write;
use skillgauge_run::probe::{
    Crowd, ListingSource, Measured, Measurement, ProbeError, Prober, Probing, measure,
    planned_calls,
};

use super::Outcome;
use super::probe_talk::ProbeTalk;
use super::probing::{Probes, Subject, Undescribed, read_set};
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
        if args.against.is_some() {
            return Err(CommandError::usage(
                "an estimate can't be compared with a report: nothing is measured",
                "drop `--against`, or `--via estimate`",
            ));
        }
        return super::estimate::run(args, printer);
    }
    let undescribed = match args.probe.via {
        ViaArg::Agent => Undescribed::FirstLine,
        ViaArg::Api | ViaArg::Estimate => Undescribed::Refused,
    };
    let subject = Subject::read(&args.skill, args.description.as_deref(), undescribed, printer)?;
    let set = read_set(args.evals.as_deref(), &subject.skill.folder, printer)?;
    let earlier = args.against.as_deref().map(|file| earlier(file, &subject, &set.queries));
    let earlier = earlier.transpose()?;
    let session = Session::open(&args.probe.tape)?;
    let count = usize::try_from(args.crowd).unwrap_or(usize::MAX);
    let crowd = Crowd::gather(&args.neighbours, count, &subject.skill.name, session.scratch())
        .or_hint("see `--neighbours`")?;
    let probes = Probes::new(&args.probe, &session, journal_folder(&subject.skill.folder)?);
    probes.check_agent(args.probe.via, std::slice::from_ref(&subject.skill), printer)?;
    let arms = arms(args, &probes, &subject, &crowd)?;
    announce(&arms, set.queries.len(), &probes, printer);
    if !args.early_stop {
        printer.say(&what_can_be_shown(earlier.as_ref(), &set.queries, probes.runs()));
    }
    let work = carry_out(&arms, &set.queries, probes.prober(), &session, printer);
    let (measured, error) = session.block_on(printer, work)?;
    let said = error.as_ref().map(|error| probes.broken(error, printer));
    if said == Some(ExitCode::Usage) {
        return Ok(ExitCode::Usage);
    }
    let shortfall = measured.iter().find_map(|(_, measured)| measured.shortfall.as_ref());
    let shortfall = shortfall.map(|shortfall| shortfall.reason.clone());
    let resumed = measured.first().map_or(0, |(_, alone)| alone.resumed);
    let mut report = joined(measured, &crowd);
    if let Some(earlier) = earlier.filter(|_| !report.results.is_empty()) {
        compare(&earlier, resumed, &mut report);
    }
    write_report(args, &report, printer)?;
    Ok(match (said, shortfall) {
        (Some(code), _) => code,
        (None, Some(reason)) if session.cancel.is_cancelled() => {
            probes.interrupted(&reason, printer)
        }
        (None, shortfall) => verdict(&report, shortfall.is_some()),
    })
}

/// The report of `--against`, read before anything is paid.
fn earlier(
    file: &Path,
    subject: &Subject,
    queries: &[LabelledQuery],
) -> Result<Earlier, CommandError> {
    let name = file.display().to_string();
    let hint = "name a report that `skillgauge trigger --out FILE.json` wrote for this skill and these queries";
    let bytes = fs_err::read(file).map_err(|error| CommandError::usage(error.to_string(), hint))?;
    Earlier::read(&name, &bytes, &subject.skill.name, queries)
        .map_err(|error| CommandError::usage(format!("`--against {name}`: {error}"), hint))
}

/// What the design can show, before it is paid.
fn what_can_be_shown(earlier: Option<&Earlier>, queries: &[LabelledQuery], runs: u32) -> String {
    let runs = u64::from(runs);
    if let Some(earlier) = earlier {
        let design = earlier.design(queries, runs);
        return can_show(design, &counted(design.cases, "shared query", "shared queries"));
    }
    let design = Design::new(queries.len(), usize::try_from(runs).unwrap_or(usize::MAX));
    can_show(design, &counted(queries.len(), "query", "queries"))
}

fn compare(earlier: &Earlier, resumed: usize, report: &mut TriggerReport) {
    let found = earlier.compare(report);
    let mut warnings = earlier.confounders(report);
    if resumed > 0 && found.description == report.description {
        warnings.push(format!(
            "the description is that of {}, and {resumed} runs are from an earlier call: they may be the same runs; \
             measure anew with `--fresh`",
            earlier.file
        ));
    }
    if !warnings.is_empty() {
        report.warnings.get_or_insert_default().extend(warnings);
    }
    report.against = Some(found);
}

fn arms(
    args: &TriggerArgs,
    probes: &Probes<'_>,
    subject: &Subject,
    crowd: &Crowd,
) -> Result<Vec<Arm>, CommandError> {
    let via = if args.calibrate { ViaArg::Agent } else { args.probe.via };
    let alone = probes.measurement(subject, via, args.early_stop)?;
    let alone = Measurement { listing: ListingSource::Captured, ..alone };
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

/// The arms one after the other, as far as it goes: one that could not be measured has a report that says so, and ends it.
async fn carry_out(
    arms: &[Arm],
    queries: &[LabelledQuery],
    prober: Arc<Prober>,
    session: &Session,
    printer: &Printer,
) -> (Vec<(&'static str, Measured)>, Option<ProbeError>) {
    let mut all = Vec::new();
    for (name, measurement) in arms {
        let mut talk = ProbeTalk::new(name, &measurement.skill.name, printer.clone());
        let measured =
            measure(&prober, measurement, queries, &session.cancel, &mut |event| talk.hear(&event))
                .await;
        talk.end();
        match measured {
            Ok(measured) => {
                let is_short = measured.shortfall.is_some();
                all.push((*name, measured));
                if is_short && session.cancel.is_cancelled() {
                    break;
                }
            }
            Err(error) => {
                let report = measurement.unmeasured(&error);
                all.push((
                    *name,
                    Measured { report, spent: Vec::new(), shortfall: None, resumed: 0 },
                ));
                return (all, Some(error));
            }
        }
    }
    (all, None)
}

fn write_report(
    args: &TriggerArgs,
    report: &TriggerReport,
    printer: &Printer,
) -> Result<(), CommandError> {
    args.output.write(printer, |format| match format {
        TriggerFormat::Text => Ok(trigger_text::render_text(report)),
        TriggerFormat::Json => write::to_text(report).or_bug(),
        TriggerFormat::Junit => Ok(trigger_ci::render_junit(report)),
        TriggerFormat::Github => {
            let file = args.skill.join("SKILL.md").display().to_string();
            Ok(trigger_ci::render_github(report, &file))
        }
    })
}

/// What is decided comes first: a query that failed has failed, whatever the others would have done.
fn verdict(report: &TriggerReport, is_short: bool) -> ExitCode {
    let crowd = report.crowd.as_ref().map(|crowd| &crowd.summary);
    let sum = |of: fn(&TriggerSummary) -> u64| of(&report.summary) + crowd.map_or(0, of);
    let is_worse =
        (report.against.as_ref()).is_some_and(|found| found.verdict == DifferenceVerdict::Worse);
    if is_worse || sum(|summary| summary.failed) > 0 {
        ExitCode::Failure
    } else if is_short || sum(|summary| summary.undecided) > 0 {
        ExitCode::Incomplete
    } else {
        ExitCode::Success
    }
}

/// One report of all arms: the first one's, with the others beside it.
fn joined(measured: Vec<(&'static str, Measured)>, crowd: &Crowd) -> TriggerReport {
    let mut all = measured.into_iter();
    let mut report = all.next().map(|(_, first)| first.report).unwrap_or_default();
    for (name, Measured { report: other, .. }) in all {
        let measurement = other.measurement.clone().unwrap_or_default();
        let warnings = other.warnings.iter().flatten();
        let warnings = warnings.map(|warning| format!("{name}: {warning}"));
        report.warnings.get_or_insert_default().extend(warnings);
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
            let found = agreement::calibrate(&report.results, &other.results, measurement);
            report.calibration = Some(found);
        }
    }
    report.warnings = report.warnings.filter(|warnings| !warnings.is_empty());
    report
}
