//! What `tune` and `route` make of the flags of probing, and how they say that there is no measurement.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::trigger::QuerySet;
use skillgauge_run::agent::{BundledSkills, ExecuteError, TaskLimits};
use skillgauge_run::budget::Budget;
use skillgauge_run::model::{ModelName, ProviderKind};
use skillgauge_run::probe::{
    CostForecast, Journal, Kept, ProbeError, Prober, ProberSettings, Probing, RequestSource,
};

use crate::args::{ApiRequestArg, BudgetArgs, ProbeArgs, ViaArg};
use crate::error::CommandError;
use crate::session::Session;
use crate::{ExitCode, Printer};

/// How often a query is asked when nobody says.
pub(crate) const RUNS: u64 = 3;
/// How long an attempt may take when nobody says.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(5);

pub(crate) fn probing(args: &ProbeArgs, session: &Session) -> Result<Probing, CommandError> {
    let settings = &session.settings;
    let timeout = settings.timeout(&args.agent).unwrap_or(TIMEOUT);
    let model = settings.model(&args.agent);
    Ok(match args.via {
        ViaArg::Api => {
            let model = api_model(args.api_model.as_deref().or(model.as_deref()))?;
            api_probing(model, settings.agent(&args.agent), args.api_request, timeout)
        }
        ViaArg::Agent | ViaArg::Estimate => Probing::Agent {
            agent: settings.agent(&args.agent),
            // With the model of another provider the agent would have to guess.
            model: model.filter(|model| model.parse::<ModelName>().is_err()),
            limits: TaskLimits { timeout, ..TaskLimits::default() },
            bundled_skills: BundledSkills::Off,
        },
    })
}

/// A model without an agent.
pub(crate) fn api_probing(
    model: ModelName,
    agent: String,
    request: ApiRequestArg,
    timeout: Duration,
) -> Probing {
    let source = match request {
        ApiRequestArg::Auto => RequestSource::Auto,
        ApiRequestArg::Captured => RequestSource::Captured,
        ApiRequestArg::BuiltIn => RequestSource::BuiltIn,
    };
    Probing::Api { model, agent, source, timeout }
}

/// How often each query is asked.
pub(crate) fn runs(args: &ProbeArgs, session: &Session) -> u32 {
    let runs = session.settings.runs(args.runs).unwrap_or(RUNS);
    u32::try_from(runs).unwrap_or(u32::MAX)
}

/// Whether what an earlier call measured counts.
pub(crate) fn kept(args: &ProbeArgs) -> Kept {
    if args.fresh { Kept::Discarded } else { Kept::Resumed }
}

/// What may be spent, by the probes and by everything else of the command.
pub(crate) fn budget(args: &ProbeArgs, session: &Session) -> Arc<Budget> {
    let settings = &session.settings;
    Arc::new(Budget::new(settings.max_calls(&args.budget), settings.max_cost(&args.budget)))
}

/// So many earlier probes are enough to tell what the next ones will cost.
const EARLIER: usize = 200;

/// What some probes will cost; `journals` is where earlier ones of the same command are.
pub(crate) fn forecast(
    probing: &Probing,
    calls: u64,
    journals: Option<&Path>,
    session: &Session,
) -> CostForecast {
    let earlier = journals.map(|folder| Journal::earlier(folder, EARLIER)).unwrap_or_default();
    CostForecast::of_probes(probing, calls, &earlier, &session.access())
}

/// When a command stops by itself. A cost that nobody knows cannot be a limit.
pub(crate) fn limits(args: &BudgetArgs, session: &Session, forecasts: &[CostForecast]) -> String {
    let (calls, cost) = (session.settings.max_calls(args), session.settings.max_cost(args));
    let is_unknown = forecasts.iter().any(|forecast| forecast.usd().is_none());
    match (calls, cost) {
        (None, None) => "no limit is set (--max-calls, --max-cost)".to_owned(),
        (calls, cost) => {
            let calls = calls.map(|calls| format!("{calls} calls"));
            let doubt = if is_unknown { ", as far as the cost gets known" } else { "" };
            let cost = cost.map(|cost| format!("${cost:.2}{doubt}"));
            format!("stops at {}", calls.into_iter().chain(cost).collect::<Vec<_>>().join(" or "))
        }
    }
}

pub(crate) fn prober(args: &ProbeArgs, session: &Session, budget: &Arc<Budget>) -> Arc<Prober> {
    let settings = ProberSettings {
        jobs: session.settings.jobs(&args.budget),
        retries: args.retries,
        seed: session.settings.seed(None),
        ..ProberSettings::default()
    };
    let executor = Arc::new(session.executor());
    Arc::new(Prober::new(executor, session.access(), settings, Arc::clone(budget)))
}

/// A plain name is one of Anthropic's.
pub(crate) fn api_model(name: Option<&str>) -> Result<ModelName, CommandError> {
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

/// Reads the trigger set of a skill, or the one that was named.
pub(crate) fn read_set(named: Option<&Path>, folder: &Path) -> Result<QuerySet, CommandError> {
    let usual = folder.join("evals").join("triggers.json");
    let path = named.unwrap_or(&usual);
    let bytes = fs_err::read(path).map_err(|error| {
        CommandError::usage(
            format!("there is no trigger set: {error}"),
            "write [{\"query\": \"...\", \"should_trigger\": true}, ...] there, or name a file with `--evals`",
        )
    })?;
    QuerySet::read(&bytes).map_err(|error| {
        CommandError::usage(
            format!("{}: {error}", path.display()),
            "`skillgauge schema trigger-set` prints what the file must look like",
        )
    })
}

/// Whether what was measured before a stop is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    Journal,
    /// A recording, or nothing.
    None,
}

/// There is no measurement: says why, and what to do.
pub(crate) fn broken(error: &ProbeError, memory: Memory, printer: &Printer) -> ExitCode {
    printer.say(&format!("error: {error}"));
    let (hint, code) = match error {
        ProbeError::Cancelled { .. } if memory == Memory::Journal => {
            ("the same command goes on from here", ExitCode::Interrupted)
        }
        ProbeError::Cancelled { .. } => ("nothing was kept", ExitCode::Interrupted),
        ProbeError::NoTools { .. } => ("see `--api-model`", ExitCode::Usage),
        ProbeError::NoCapture { .. } => (
            "install the agent that asks this model, or use `--api-request built-in`",
            ExitCode::Incomplete,
        ),
        ProbeError::Budget(over) => (over.hint(), ExitCode::Incomplete),
        ProbeError::Control { .. } => (
            "a rate would mean nothing: see whether the agent works (`skillgauge doctor`) and may load skills",
            ExitCode::Incomplete,
        ),
        ProbeError::Execute(ExecuteError::Unknown(_)) => {
            ("`skillgauge doctor` shows which agents can be used", ExitCode::Usage)
        }
        ProbeError::Execute(_)
        | ProbeError::Model { .. }
        | ProbeError::Journal(_)
        | ProbeError::Skill { .. }
        | ProbeError::NothingMeasured { .. }
        | ProbeError::Internal(_) => {
            ("`skillgauge doctor` shows which agents and models can be used", ExitCode::Incomplete)
        }
    };
    printer.say(&format!("\nhint: {hint}"));
    code
}
