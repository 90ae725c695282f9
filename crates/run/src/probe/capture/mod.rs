//! What a probe without an agent offers the model: what the agent really sends, captured, or a list of our own.
//!
//! The agent's words are not ours to ship, and they change with each of its versions. So the agent is run once, in the same
//! isolation and with the same skills, against a listener of ours on loopback; what it asks there is the request of every
//! probe, with the query in the place of a placeholder. Nothing leaves the machine: the agent has a key that is none and no
//! proxy, and it asks nobody but us.
//!
//! What stays different from the agent: it sees that its address is not its vendor's and may leave out a feature, the day and
//! the state of the work folder are those of the capture, and a query that the agent itself would expand (a command, the
//! mention of a file) is sent as it is.
//!
//! Where the agent is not installed, or speaks another protocol than the model, the request is built in, and the report says
//! so. What was found is recorded: a replay needs no agent.

mod dialect;
mod listener;
mod request;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillgauge_core::scratch::Hold;
use skillgauge_core::trigger::listing::{ListedSkill, Listing, ListingRule};
use tokio_util::sync::CancellationToken;

use self::dialect::{DIALECTS, DUMMY_KEY, Dialect};
use self::listener::Listener;
use self::request::{Origin, PLACEHOLDER};
use super::error::ProbeError;
use super::measure::Probing;
use super::prober::ProbeEvent;
use super::prober::Prober;
use super::surroundings::Surroundings;
use crate::agent::auto::AUTO;
use crate::agent::{AgentTask, Attempt, BASE_VARIABLES, Descriptor, Executor, Located, TaskSkill};
use crate::cassette::{EntryKind, Mode, Places, Playback, Question, digest_of};
use crate::model::{Environment, ModelName};

pub use self::request::CapturedRequest;

/// How long an agent may take to ask and to end.
const LIMIT: Duration = Duration::from_mins(2);

/// Where the request of a probe without an agent comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestSource {
    /// Captured where that is possible.
    #[default]
    Auto,
    /// Captured; an error where that is not possible.
    Captured,
    BuiltIn,
}

/// What a model is offered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// The list of skills in Claude Code's form, with tools in our words: its lines, as far as there is room.
    BuiltIn(Vec<String>),
    Captured(#[serde(with = "shared")] Arc<CapturedRequest>),
}

impl Offer {
    /// The list of our own.
    pub fn built_in(skills: &[ListedSkill]) -> Self {
        Self::BuiltIn(Listing::of(skills, &ListingRule::claude_code()).lines)
    }

    /// What of it decides the answer.
    pub(super) fn identity(&self) -> Value {
        match self {
            Self::BuiltIn(lines) => json!(lines),
            Self::Captured(request) => json!({"captured": request.identity}),
        }
    }
}

/// An offer, and why it is built in, if nobody asked for that.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offering {
    pub(crate) offer: Offer,
    pub(crate) instead: Option<String>,
}

/// What is kept in a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Found {
    Captured(CapturedRequest),
    Nothing { reason: String },
}

/// What the probes of a measurement offer; nothing when an agent is asked, which offers what it likes.
pub(crate) async fn offering(
    prober: &Prober,
    probing: &Probing,
    skills: &[TaskSkill],
    listed: &[ListedSkill],
    around: &Surroundings,
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<Option<Offering>, ProbeError> {
    let Probing::Api { model, agent, source, .. } = probing else { return Ok(None) };
    let built_in = |instead| Offering { offer: Offer::built_in(listed), instead };
    if *source == RequestSource::BuiltIn {
        return Ok(Some(built_in(None)));
    }
    let ModelName::Of { name, .. } = model else { return Ok(Some(built_in(None))) };
    let wanted = Wanted { model, agent, agent_model: Some(name), skills, around };
    let identity = digest_of(&wanted.identity(agent, None));
    if let Some(request) = prober.captured(&identity) {
        return Ok(Some(Offering { offer: Offer::Captured(request), instead: None }));
    }
    let found = wanted.recorded(prober.executor(), cancel).await?;
    if cancel.is_cancelled() {
        return Err(ProbeError::Cancelled);
    }
    match found {
        Found::Captured(request) => {
            let version = request.version.as_deref();
            on_event(ProbeEvent::RequestCaptured { agent: &request.agent, version });
            let request = Arc::new(request);
            prober.keep_captured(identity, &request);
            Ok(Some(Offering { offer: Offer::Captured(request), instead: None }))
        }
        Found::Nothing { reason } if *source == RequestSource::Captured => {
            Err(ProbeError::NoCapture { reason })
        }
        Found::Nothing { reason } => {
            on_event(ProbeEvent::RequestBuiltIn { reason: &reason });
            Ok(Some(built_in(Some(reason))))
        }
    }
}

/// What is to be captured.
struct Wanted<'w> {
    model: &'w ModelName,
    agent: &'w str,
    /// The model that the agent is told to use; its own choice if absent.
    agent_model: Option<&'w str>,
    skills: &'w [TaskSkill],
    /// What lies around the query and gets into the request.
    around: &'w Surroundings,
}

/// The entries of the list of skills that an agent sends, heard from the agent itself; nothing when it can't be heard.
pub(crate) async fn listing(
    prober: &Prober,
    probing: &Probing,
    agent: &Descriptor,
    skills: &[TaskSkill],
    cancel: &CancellationToken,
) -> Option<Vec<String>> {
    let Probing::Agent { model, .. } = probing else { return None };
    let dialect = DIALECTS.iter().find(|dialect| dialect.adapter == agent.adapter.name)?;
    let name = ModelName::of(dialect.provider, model.as_deref().unwrap_or_default());
    let around = Surroundings::default();
    let agent_model = model.as_deref();
    let wanted =
        Wanted { model: &name, agent: agent.name.as_str(), agent_model, skills, around: &around };
    match wanted.recorded(prober.executor(), cancel).await {
        Ok(Found::Captured(request)) => {
            let found = request.listing(skills.iter().map(|skill| skill.name.as_str()));
            (!found.is_empty()).then_some(found)
        }
        // A recording without it is an older one.
        Ok(Found::Nothing { .. }) | Err(_) => None,
    }
}

impl Wanted<'_> {
    /// Captures, or tells again what was captured when this was recorded.
    async fn recorded(
        &self,
        executor: &Executor,
        cancel: &CancellationToken,
    ) -> Result<Found, ProbeError> {
        let request = self.identity(self.agent, None);
        let places = Places::default();
        let question = Question {
            kind: EntryKind::Agent,
            purpose: "capture",
            title: PLACEHOLDER,
            request: &request,
            places: &places,
        };
        let cassette = &executor.settings().cassette;
        let broken = |error: crate::cassette::CassetteError| {
            ProbeError::Execute(crate::agent::ExecuteError::Cassette(error))
        };
        match cassette.mode() {
            Mode::Off => Ok(self.find(executor, cancel).await),
            Mode::Replay(_) => {
                let asked = cassette.ask(&question).map_err(broken)?;
                cassette.replay(&asked).map_err(broken).map(Playback::into_response)
            }
            Mode::Record(_) => {
                let asked = cassette.ask(&question).map_err(broken)?;
                let found = self.find(executor, cancel).await;
                if !cancel.is_cancelled() {
                    cassette.record(&asked, &found).map_err(broken)?;
                }
                Ok(found)
            }
        }
    }

    /// Everything that decides what the agent sends, and no path.
    fn identity(&self, agent: &str, version: Option<&str>) -> Value {
        let skill = |skill: &TaskSkill| json!([skill.name, skill.digest, skill.description]);
        let mut identity = json!({
            "capture": 1, "agent": agent, "version": version, "model": self.model,
            "skills": self.skills.iter().map(skill).collect::<Vec<Value>>(),
        });
        if let Some(place) = self.around.place() {
            identity["around"] = place;
        }
        identity
    }

    async fn find(&self, executor: &Executor, cancel: &CancellationToken) -> Found {
        match self.capture(executor, cancel).await {
            Ok(request) => Found::Captured(request),
            Err(reason) => Found::Nothing { reason },
        }
    }

    async fn capture(
        &self,
        executor: &Executor,
        cancel: &CancellationToken,
    ) -> Result<CapturedRequest, String> {
        let ModelName::Of { provider, .. } = self.model else {
            return Err("the model has no name".to_owned());
        };
        let own = DIALECTS.iter().find(|dialect| dialect.provider == *provider);
        let own = own.ok_or_else(|| format!("no agent is known that asks `{}`", self.model))?;
        let agent = if self.agent == AUTO { own.adapter } else { self.agent };
        let located = match executor.prepare(agent).await {
            Ok(Some(located)) => located,
            Ok(None) => return Err("nothing is looked for in a replay".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        let descriptor = &located.descriptor;
        if descriptor.adapter.name != own.adapter {
            return Err(format!("`{agent}` does not speak the protocol of `{}`", self.model));
        }
        if !own.reaches_us(descriptor) {
            return Err(format!("`{agent}` does not take its address from {}", own.base_url));
        }
        self.ask_agent(own, &located, executor, cancel).await
    }

    /// Runs the agent once with nobody but us to ask.
    async fn ask_agent(
        &self,
        dialect: &'static Dialect,
        located: &Located,
        executor: &Executor,
        cancel: &CancellationToken,
    ) -> Result<CapturedRequest, String> {
        let text = |error: &dyn std::fmt::Display| format!("its request was not captured: {error}");
        let listener = Listener::start(dialect).await.map_err(|error| text(&error))?;
        // As long as it is held, all private places lie in the same folder.
        let hold = Hold::take(&executor.settings().scratch).map_err(|error| text(&error))?;
        let environment = environment(&executor.settings().environment, dialect, &listener);
        let aside = executor.aside(environment).await;
        let name = located.descriptor.name.as_str();
        let mut task = AgentTask::new(name, PLACEHOLDER);
        task.model = self.agent_model.map(str::to_owned);
        task.skills = self.skills.to_vec();
        self.around.surround(&mut task);
        task.limits.timeout = LIMIT;
        task.limits.silence = None;
        let attempt = Attempt { task: &task, number: 1, outputs: None };
        let run = aside.attempt(attempt, cancel, &mut |_| ()).await;
        let run = run.map_err(|error| text(&error))?;
        let Some(question) = listener.question() else {
            let said =
                run.transcript.end.message.clone().unwrap_or_else(|| run.reason().to_string());
            return Err(text(&said));
        };
        let version = located.version.as_ref().map(ToString::to_string);
        let origin = Origin {
            agent: name.to_owned(),
            identity: digest_of(&self.identity(name, version.as_deref())),
            version,
            skills: located.descriptor.skills.clone(),
            around: hold.path().to_string_lossy().into_owned(),
        };
        Ok(CapturedRequest::new(dialect, question, origin))
    }
}

/// What the agent gets of the user's variables: no login, no proxy, no address but ours.
fn environment(user: &Environment, dialect: &Dialect, listener: &Listener) -> Environment {
    let is_proxy = |name: &str| name.to_ascii_lowercase().ends_with("_proxy");
    let passed = user.pick(&BASE_VARIABLES).into_iter().filter(|(name, _)| !is_proxy(name));
    let passed = passed.map(|(name, value)| (name, value.expose().to_owned()));
    let ours = [
        (dialect.base_url.to_owned(), listener.base_url()),
        (dialect.key.to_owned(), DUMMY_KEY.to_owned()),
    ];
    passed.chain(ours).collect()
}

/// A spec is a value of its own when it is sent elsewhere; here, all specs of a batch share one request.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::CapturedRequest;

    pub(super) fn serialize<S: Serializer>(
        request: &Arc<CapturedRequest>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        request.as_ref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<CapturedRequest>, D::Error> {
        CapturedRequest::deserialize(deserializer).map(Arc::new)
    }
}
