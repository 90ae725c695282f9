//! What `trigger`, `tune` and `route` make of the flags of probing, and how they say that there is no measurement.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::skill::{Document, Skill, edit};
use skillgauge_core::suite_lint::examine_set;
use skillgauge_core::trigger::QuerySet;
use skillgauge_core::workspace::Workspace;
use skillgauge_format::transcript::Reason;
use skillgauge_run::agent::{BundledSkills, ExecuteError, TaskLimits, TaskSkill};
use skillgauge_run::budget::Budget;
use skillgauge_run::cassette::Mode;
use skillgauge_run::model::{ModelName, ProviderKind};
use skillgauge_run::probe::{
    CostForecast, EarlyStop, Journal, ListingSource, Measurement, ProbeError, Prober,
    ProberSettings, Probing, RequestSource, Resume,
};

use crate::args::{ApiRequestArg, ProbeArgs, ViaArg};
use crate::error::{CommandError, Explain as _};
use crate::session::Session;
use crate::{ExitCode, Printer, caution, suite};

/// How often a query is asked when nobody says.
const RUNS: u64 = 3;
/// How long an attempt may take when nobody says.
const TIMEOUT: Duration = Duration::from_mins(5);
/// So many earlier probes are enough to tell what the next ones will cost.
const EARLIER: usize = 200;

/// What becomes of a skill without a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undescribed {
    /// There is nothing to work with.
    Refused,
    /// Claude Code lists it with its first line; an agent that doesn't is refused when it's known.
    FirstLine,
}

/// The skill under test with the description that is measured.
pub(crate) struct Subject {
    pub(crate) skill: TaskSkill,
    pub(crate) description: String,
}

impl Subject {
    /// Reads the skill, and says what `validate` finds.
    pub(crate) fn read(
        path: &Path,
        other: Option<&str>,
        undescribed: Undescribed,
        printer: &Printer,
    ) -> Result<Self, CommandError> {
        caution::skill(path, &caution::policy(), printer)?;
        let skill = TaskSkill::read(path).or_hint("name the folder of a skill")?;
        let read = Skill::read(path);
        let own = read.document().and_then(|document| {
            document.entry("description")?.value.scalar_text().map(|text| text.trim().to_owned())
        });
        let mut description = other.map(|text| text.trim().to_owned()).or(own).unwrap_or_default();
        let first = || {
            let body = read.document().map(Document::body).unwrap_or_default();
            body.lines().map(str::trim).find(|line| !line.is_empty())
        };
        if let (true, Undescribed::FirstLine, Some(first)) =
            (description.is_empty() && other.is_none(), undescribed, first())
        {
            printer.say(&format!(
                "warning: the skill `{}` has no description; an agent that lists it shows its first line: {first:?}",
                skill.name
            ));
            first.clone_into(&mut description);
        }
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

/// What the flags of probing mean in a session.
pub(crate) struct Probes<'p> {
    pub(crate) args: &'p ProbeArgs,
    pub(crate) session: &'p Session,
    /// What may be spent, by the probes and by everything else of the command.
    pub(crate) budget: Arc<Budget>,
    /// Where what was measured is kept; nowhere when a recording is the memory of the call.
    pub(crate) journal: Option<PathBuf>,
}

impl<'p> Probes<'p> {
    pub(crate) fn new(args: &'p ProbeArgs, session: &'p Session, journal: PathBuf) -> Self {
        let settings = &session.settings;
        let budget = Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget));
        let journal = (*session.cassette.mode() == Mode::Off).then_some(journal);
        Self { args, session, budget: Arc::new(budget), journal }
    }

    /// Who is asked.
    pub(crate) fn probing(&self, via: ViaArg) -> Result<Probing, CommandError> {
        let settings = &self.session.settings;
        let timeout = settings.timeout(&self.args.agent).unwrap_or(TIMEOUT);
        let (agent, model) = (settings.agent(&self.args.agent), settings.model(&self.args.agent));
        if via != ViaArg::Agent && self.args.max_turns.is_some() {
            return Err(CommandError::usage(
                "`--max-turns` needs an agent: a probe without one is a single request",
                "drop `--max-turns`, or use `--via agent`",
            ));
        }
        Ok(match via {
            ViaArg::Api => Probing::Api {
                model: api_model(self.args.api_model.as_deref().or(model.as_deref()))?,
                agent,
                source: match self.args.api_request {
                    ApiRequestArg::Auto => RequestSource::Auto,
                    ApiRequestArg::Captured => RequestSource::Captured,
                    ApiRequestArg::BuiltIn => RequestSource::BuiltIn,
                },
                timeout,
            },
            ViaArg::Agent | ViaArg::Estimate => Probing::Agent {
                agent,
                // With the model of another provider the agent would have to guess.
                model: model.filter(|model| model.parse::<ModelName>().is_err()),
                limits: TaskLimits {
                    timeout,
                    max_turns: self.args.max_turns,
                    ..TaskLimits::default()
                },
                bundled_skills: BundledSkills::Off,
            },
        })
    }

    /// Says what there is to know of the agent that is asked, and refuses skills that it would never list.
    pub(crate) fn check_agent(
        &self,
        via: ViaArg,
        skills: &[TaskSkill],
        printer: &Printer,
    ) -> Result<(), CommandError> {
        if via != ViaArg::Agent {
            return Ok(());
        }
        let name = self.session.settings.agent(&self.args.agent);
        caution::named_agent(&name, skills, self.session, printer)
    }

    pub(crate) fn measurement(
        &self,
        subject: &Subject,
        via: ViaArg,
        early_stop: bool,
    ) -> Result<Measurement, CommandError> {
        Ok(Measurement {
            skill: subject.skill.clone(),
            description: subject.description.clone(),
            neighbours: Vec::new(),
            probing: self.probing(via)?,
            runs: self.runs(),
            threshold: self.args.threshold,
            early_stop: if early_stop { EarlyStop::On } else { EarlyStop::Off },
            journal: self.journal.clone(),
            kept: self.kept(),
            listing: ListingSource::Modelled,
        })
    }

    /// How often each query is asked.
    pub(crate) fn runs(&self) -> u32 {
        let runs = self.session.settings.runs(self.args.runs).unwrap_or(RUNS);
        u32::try_from(runs).unwrap_or(u32::MAX)
    }

    /// Whether what an earlier call measured counts.
    pub(crate) fn kept(&self) -> Resume {
        match (self.args.fresh, self.args.retry_failed) {
            (true, _) => Resume::Nothing,
            (false, true) => Resume::RetryFailed,
            (false, false) => Resume::Earlier,
        }
    }

    pub(crate) fn prober(&self) -> Arc<Prober> {
        let settings = ProberSettings {
            jobs: self.session.settings.jobs(&self.args.budget),
            retries: self.args.retries,
            seed: self.session.settings.seed(None),
            ..ProberSettings::default()
        };
        let executor = Arc::new(self.session.executor());
        let budget = Arc::clone(&self.budget);
        Arc::new(Prober::new(executor, self.session.access(), settings, budget))
    }

    /// Whether nobody is called.
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self.session.cassette.mode(), Mode::Replay(_))
    }

    /// What some probes will cost, by earlier ones of the same command.
    pub(crate) fn forecast(&self, probing: &Probing, calls: u64) -> CostForecast {
        let earlier = self.journal.as_deref().map(|folder| Journal::earlier(folder, EARLIER));
        let earlier = earlier.unwrap_or_default();
        CostForecast::of_probes(probing, calls, &earlier, &self.session.access())
    }

    /// When a command stops by itself. A cost that nobody knows cannot be a limit.
    pub(crate) fn limits(&self, forecasts: &[CostForecast]) -> String {
        let (settings, args) = (&self.session.settings, &self.args.budget);
        let calls = settings.max_calls(args).map(|calls| format!("{calls} calls"));
        let is_unknown = forecasts.iter().any(|forecast| forecast.usd().is_none());
        let doubt = if is_unknown { ", as far as the cost gets known" } else { "" };
        let cost = settings.max_cost(args).map(|cost| format!("${cost:.2}{doubt}"));
        let limits: Vec<String> = calls.into_iter().chain(cost).collect();
        if limits.is_empty() {
            return "no limit is set (--max-calls, --max-cost)".to_owned();
        }
        format!("stops at {}", limits.join(" or "))
    }

    /// What to do after an interruption.
    fn how_to_resume(&self) -> &'static str {
        match self.journal {
            Some(_) => "run the same command again to resume",
            None => "nothing was kept",
        }
    }

    /// A measurement was interrupted: says how far it got, and what to do.
    pub(crate) fn interrupted(&self, how_far: &str, printer: &Printer) -> ExitCode {
        printer.say(&format!("error: {how_far}"));
        printer.say(&format!("\nhint: {}", self.how_to_resume()));
        ExitCode::Interrupted
    }

    /// There is no measurement: says why, and what to do.
    pub(crate) fn broken(&self, error: &ProbeError, printer: &Printer) -> ExitCode {
        printer.say(&format!("error: {error}"));
        let (hint, code) = match error {
            ProbeError::Cancelled => (self.how_to_resume(), ExitCode::Interrupted),
            ProbeError::NoTools { .. } => ("see `--api-model`", ExitCode::Usage),
            ProbeError::NoCapture { .. } => (
                "install the agent that asks this model, or use `--api-request built-in`",
                ExitCode::Incomplete,
            ),
            ProbeError::Execute(ExecuteError::Unknown(_)) => {
                ("`skillgauge doctor` shows which agents can be used", ExitCode::Usage)
            }
            ProbeError::NoTurnLimit { .. } => {
                ("drop `--max-turns`: probes of this agent can't be limited", ExitCode::Usage)
            }
            ProbeError::Input { .. } | ProbeError::Situation { .. } => {
                ("see `files` and `context` of the query in the trigger set", ExitCode::Usage)
            }
            ProbeError::Execute(ExecuteError::Unready(unready)) => {
                let code = if unready.is_usage() { ExitCode::Usage } else { ExitCode::Incomplete };
                (unready.hint(), code)
            }
            ProbeError::Budget(over) => (over.hint(), ExitCode::Incomplete),
            ProbeError::Down(down) => (down.hint(), ExitCode::Incomplete),
            ProbeError::Control { result, .. }
                if matches!(
                    result.observation.reason,
                    Reason::NotLoggedIn | Reason::Authentication
                ) =>
            {
                let hint = "the login was refused; `skillgauge doctor` shows which one is used and how to get \
                     another (a login that the agent keeps for itself, as with /login, is not read)";
                (hint, ExitCode::Incomplete)
            }
            ProbeError::Control { .. } => (
                "a rate would mean nothing: see whether the agent works (`skillgauge doctor`) and may load skills",
                ExitCode::Incomplete,
            ),
            ProbeError::Execute(_)
            | ProbeError::Model { .. }
            | ProbeError::Journal(_)
            | ProbeError::Skill { .. }
            | ProbeError::NothingMeasured { .. }
            | ProbeError::Internal(_) => (
                "`skillgauge doctor` shows which agents and models can be used",
                ExitCode::Incomplete,
            ),
        };
        printer.say(&format!("\nhint: {hint}"));
        code
    }
}

/// A plain name is one of Anthropic's.
fn api_model(name: Option<&str>) -> Result<ModelName, CommandError> {
    let hint = "name one with `--api-model anthropic:NAME` or `--api-model openai:NAME`";
    let Some(name) = name else {
        return Err(CommandError::usage("probing without an agent needs a model", hint));
    };
    let model =
        name.parse::<ModelName>().unwrap_or_else(|_| ModelName::of(ProviderKind::Anthropic, name));
    match &model {
        ModelName::Of { provider, .. } if provider.takes_tools() => Ok(model),
        _ => Err(CommandError::usage(format!("`{model}` cannot be asked without an agent"), hint)),
    }
}

/// Refuses a trigger set with input files that can't be used, with the place of each.
pub(crate) fn files_exist(path: &Path, bytes: &[u8], skill: &Path) -> Result<(), CommandError> {
    let workspace = Workspace::beside(skill).ok();
    let found = examine_set(bytes, skill, workspace.as_ref().map(Workspace::root)).findings;
    if found.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = found.iter().map(|finding| suite::line(path, finding)).collect();
    let hint = "nothing was asked; put it right and try again";
    Err(CommandError::usage(lines.join("\n"), hint))
}

/// Reads the trigger set of a skill, or the one that was named, and says what is odd about it.
pub(crate) fn read_set(
    named: Option<&Path>,
    folder: &Path,
    printer: &Printer,
) -> Result<QuerySet, CommandError> {
    let usual = folder.join("evals").join("triggers.json");
    let path = named.unwrap_or(&usual);
    let bytes = fs_err::read(path).map_err(|error| {
        CommandError::usage(
            format!("there is no trigger set: {error}"),
            "write [{\"query\": \"...\", \"should_trigger\": true}, ...] there, or name a file with `--evals`",
        )
    })?;
    let set = QuerySet::read(&bytes).map_err(|error| {
        CommandError::usage(
            format!("{}: {error}", path.display()),
            "`skillgauge schema trigger-set` prints what the file must look like",
        )
    })?;
    files_exist(path, &bytes, folder)?;
    for warning in &set.warnings {
        printer.say(&format!("warning: {warning}"));
    }
    Ok(set)
}
