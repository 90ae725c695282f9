//! `skillgauge trigger`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::output::{trigger_ci, trigger_text};
use skillgauge_core::skill::{Skill, edit};
use skillgauge_core::trigger::{LabelledQuery, agreement};
use skillgauge_core::workspace::Workspace;
use skillgauge_format::trigger::{TriggerCrowd, TriggerReport};
use skillgauge_format::write;
use skillgauge_run::agent::{BundledSkills, TaskLimits, TaskSkill};
use skillgauge_run::budget::Budget;
use skillgauge_run::cassette::Mode;
use skillgauge_run::model::ModelName;
use skillgauge_run::probe::{
    Crowd, EarlyStop, Kept, Measured, Measurement, ProbeError, Prober, ProberSettings, Probing,
    measure, planned_calls,
};

use super::Outcome;
use super::probe_talk::ProbeTalk;
use super::probing::{
    Memory, RUNS, TIMEOUT, api_model, api_probing, broken, forecast, limits, read_set,
};
use crate::args::{TriggerArgs, TriggerFormat, ViaArg};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &TriggerArgs, printer: &Printer) -> Outcome {
    if args.via == ViaArg::Estimate {
        return super::estimate::run(args, printer);
    }
    let subject = Subject::read(&args.skill, args.description.as_deref())?;
    let set = read_set(args.evals.as_deref(), &subject.skill.folder)?;
    for warning in &set.warnings {
        printer.say(&format!("warning: {warning}"));
    }
    let session = Session::open(&args.tape)?;
    let executor = Arc::new(session.executor());
    let count = usize::try_from(args.crowd).unwrap_or(usize::MAX);
    let scratch = &executor.settings().scratch;
    let crowd = Crowd::gather(&args.neighbours, count, &subject.skill.name, scratch)
        .or_hint("see `--neighbours`")?;
    let plan = Plan::new(args, &session, subject)?;
    let arms = plan.arms(args, &crowd);
    announce(args, &arms, set.queries.len(), &session, printer);
    let budget = Budget::new(
        session.settings.max_calls(&args.budget),
        session.settings.max_cost(&args.budget),
    );
    let settings = ProberSettings {
        jobs: session.settings.jobs(&args.budget),
        retries: args.retries,
        seed: session.settings.seed(None),
        ..ProberSettings::default()
    };
    let prober = Prober::new(executor, session.access(), settings, Arc::new(budget));
    let work = carry_out(&arms, &set.queries, Arc::new(prober), &session, printer);
    match session.block_on(printer, work)? {
        Ok(measured) => conclude(args, measured, &crowd, printer),
        Err(error) => {
            let memory = if plan.base.journal.is_some() { Memory::Journal } else { Memory::None };
            Ok(broken(&error, memory, printer))
        }
    }
}

/// The skill under test with the description that is measured.
pub(crate) struct Subject {
    pub(crate) skill: TaskSkill,
    pub(crate) description: String,
}

impl Subject {
    /// Reads the skill; one without a description cannot trigger.
    pub(crate) fn read(path: &Path, other: Option<&str>) -> Result<Self, CommandError> {
        let skill = TaskSkill::read(path).or_hint("name the folder of a skill")?;
        let read = Skill::read(path);
        let own = read.document().and_then(|document| {
            document.entry("description")?.value.scalar_text().map(|text| text.trim().to_owned())
        });
        let description = other.map(|text| text.trim().to_owned()).or(own).unwrap_or_default();
        if description.is_empty() {
            return Err(CommandError::usage(
                format!("the skill `{}` has no description, so nothing can trigger it", skill.name),
                "write one into SKILL.md, or try one with `--description TEXT`",
            ));
        }
        let Some(other) = other else { return Ok(Self { skill, description }) };
        let text = read.document().map(|document| document.text.as_str()).unwrap_or_default();
        edit::with_description(text, other.trim())
            .or_hint("`skillgauge validate` shows what is wrong with SKILL.md")?;
        Ok(Self { skill: skill.with_description(other.trim()), description })
    }
}

/// What all arms have in common.
struct Plan {
    base: Measurement,
    api: Option<Probing>,
}

/// One measurement of the call.
struct Arm {
    name: &'static str,
    measurement: Measurement,
}

impl Plan {
    fn new(args: &TriggerArgs, session: &Session, subject: Subject) -> Result<Self, CommandError> {
        let settings = &session.settings;
        let timeout = settings.timeout(&args.agent).unwrap_or(TIMEOUT);
        let model = settings.model(&args.agent);
        let api = if args.calibrate || args.via == ViaArg::Api {
            let model = api_model(args.api_model.as_deref().or(model.as_deref()))?;
            let agent = settings.agent(&args.agent);
            Some(api_probing(model, agent, args.api_request, timeout))
        } else {
            None
        };
        let agent = Probing::Agent {
            agent: settings.agent(&args.agent),
            // With the model of another provider the agent would have to guess.
            model: model.filter(|model| model.parse::<ModelName>().is_err()),
            limits: TaskLimits { timeout, ..TaskLimits::default() },
            bundled_skills: BundledSkills::Off,
        };
        let probing = match (args.via, args.calibrate, &api) {
            (ViaArg::Api, false, Some(api)) => api.clone(),
            _ => agent,
        };
        let runs = settings.runs(args.runs).unwrap_or(RUNS);
        // A recording is the memory of a call that has one.
        let journal = match session.cassette.mode() {
            Mode::Off => Some(journal_folder(&subject.skill.folder)?),
            Mode::Record(_) | Mode::Replay(_) => None,
        };
        let base = Measurement {
            skill: subject.skill,
            description: subject.description,
            neighbours: Vec::new(),
            probing,
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
            threshold: args.threshold,
            early_stop: if args.early_stop { EarlyStop::On } else { EarlyStop::Off },
            journal,
            kept: if args.fresh { Kept::Discarded } else { Kept::Resumed },
        };
        Ok(Self { base, api })
    }

    fn arms(&self, args: &TriggerArgs, crowd: &Crowd) -> Vec<Arm> {
        let mut arms = vec![Arm { name: ALONE, measurement: self.base.clone() }];
        if !crowd.skills.is_empty() {
            let neighbours = crowd.skills.clone();
            arms.push(Arm {
                name: IN_A_CROWD,
                measurement: Measurement { neighbours, ..self.base.clone() },
            });
        }
        if let (true, Some(api)) = (args.calibrate, &self.api) {
            let probing = api.clone();
            arms.push(Arm {
                name: BY_API,
                measurement: Measurement { probing, ..self.base.clone() },
            });
        }
        arms
    }
}

const ALONE: &str = "alone";
const IN_A_CROWD: &str = "in a crowd";
const BY_API: &str = "by api";

/// Beside the skill, where everything is that was produced for it.
fn journal_folder(skill: &Path) -> Result<PathBuf, CommandError> {
    let workspace = Workspace::beside(skill).or_hint("name the skill by its folder")?;
    Ok(workspace.root().join("trigger"))
}

fn announce(
    args: &TriggerArgs,
    arms: &[Arm],
    queries: usize,
    session: &Session,
    printer: &Printer,
) {
    let mut forecasts = Vec::new();
    for Arm { name, measurement } in arms {
        let calls = planned_calls(queries, measurement.runs);
        let whom = match &measurement.probing {
            Probing::Agent { agent, .. } => format!("the agent `{agent}`"),
            Probing::Api { model, .. } => format!("`{model}`"),
        };
        printer.say(&format!(
            "{name}: {queries} queries x {} runs and a control, {calls} calls of {whom} (more when some are tried again)",
            measurement.runs
        ));
        let journals = measurement.journal.as_deref();
        let forecast = forecast(&measurement.probing, calls as u64, journals, session);
        if !matches!(session.cassette.mode(), Mode::Replay(_)) {
            printer.say(&format!("{name}: {forecast}"));
        }
        forecasts.push(forecast);
    }
    if !matches!(session.cassette.mode(), Mode::Replay(_)) {
        printer.say(&limits(&args.budget, session, &forecasts));
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
    for Arm { name, measurement } in arms {
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
            let found =
                agreement::calibrate(&report.results, &other.results, args.threshold, measurement);
            report.calibration = Some(found);
        }
    }
    Some(report)
}
