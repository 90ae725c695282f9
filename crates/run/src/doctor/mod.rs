//! `doctor`: what is there, how it will be called, what is missing and how to get it.
//!
//! [`Doctor::examine`] looks at every agent and every model and gives a [`Report`], which can be written as JSON or shown as
//! text ([`Report::text`]). It starts nothing but `--version`, and never says what a login is, only where.

mod report;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::agent::auto::{AgentCandidate, against};
use crate::agent::{
    BundledSkills, Descriptor, LocateError, Located, Registry, Search, described, login,
};
use crate::model::{Access, Environment, ModelError, Need, PROVIDERS, auto};
use crate::preflight;
use crate::process::Guard;
pub use report::{
    AddressReport, AgentReport, AutoAgent, AutoModel, FoundAt, LoginReport, ModelReport, Report,
    RoomReport, Standing,
};

/// Somebody who looks at everything.
#[derive(Clone, Debug)]
pub struct Doctor {
    pub registry: Registry,
    pub environment: Environment,
    /// What guards programs while they tell their version.
    pub guard: Guard,
    /// Where private folders are made.
    pub scratch: PathBuf,
    /// The folder that skillgauge works in.
    pub folder: PathBuf,
}

/// The programs that models need, by name, where they are: what [`Access`] wants to know.
pub fn find_programs(
    registry: &Registry,
    environment: &Environment,
    guard: &Guard,
) -> BTreeMap<String, PathBuf> {
    let search = Search { environment, guard, scratch: std::path::Path::new("") };
    let needs = PROVIDERS.iter().flat_map(|provider| provider.needs);
    let programs = needs.filter_map(|need| match need {
        Need::Program(program) => Some(*program),
        Need::OneOf(_) | Need::OneOfUnless(..) | Need::Address(_) | Need::Login(_) => None,
    });
    let found = programs.filter_map(|program| {
        let descriptor = registry.get(program, std::path::Path::new("")).ok()?;
        Some((program.to_owned(), search.find(&descriptor).ok()?.program))
    });
    found.collect()
}

impl Doctor {
    /// Looks at everything. Programs are asked for their versions at the same time.
    pub async fn examine(&self) -> Report {
        let mut asked = JoinSet::new();
        for (place, descriptor) in self.registry.candidates().into_iter().enumerate() {
            let (doctor, descriptor) = (self.clone(), Arc::clone(descriptor));
            asked.spawn(async move {
                let search = Search {
                    environment: &doctor.environment,
                    guard: &doctor.guard,
                    scratch: &doctor.scratch,
                };
                let found = search.find(&descriptor).ok();
                let located = search.locate(&descriptor).await;
                (place, doctor.agent(&descriptor, found.as_ref(), &located))
            });
        }
        let mut agents: Vec<(usize, AgentReport)> = asked.join_all().await;
        agents.sort_by_key(|(place, _)| *place);
        let agents: Vec<AgentReport> = agents.into_iter().map(|(_, agent)| agent).collect();
        let access = Access {
            environment: self.environment.clone(),
            programs: find_programs(&self.registry, &self.environment, &self.guard),
            ..Access::new(self.guard.clone(), &self.scratch, &self.folder)
        };
        Report {
            auto_agent: choose(&agents),
            models: models(&access),
            auto_model: AutoModel::new(auto::choose(&access)),
            scratch: RoomReport::of(&self.scratch),
            agents,
        }
    }

    fn agent(
        &self,
        descriptor: &Descriptor,
        found: Option<&Located>,
        located: &Result<Located, LocateError>,
    ) -> AgentReport {
        let environment = &self.environment;
        let used = login::find(descriptor, environment);
        let ignored: Vec<String> = login::all(descriptor, environment)
            .iter()
            .filter(|login| !used.contains(login))
            .map(login::LoginEntry::place)
            .collect();
        let hints = login::hints(descriptor, environment);
        let hints = hints.iter().map(|(hint, path)| format!("{} ({})", hint.about, path.display()));
        let against = against(descriptor, located, environment);
        let standing = match (located, &against) {
            (Ok(_), None) => Standing::Ready,
            (Ok(_), Some(_)) => Standing::NoLogin,
            (Err(LocateError::TooOld { .. }), _) => Standing::TooOld,
            (Err(LocateError::NotFound { .. } | LocateError::NoProgram { .. }), _) => {
                Standing::NotFound
            }
            (Err(_), _) => Standing::Broken,
        };
        let version = match located {
            Ok(located) => located.version.clone(),
            Err(LocateError::TooOld { found, .. }) => Some(found.clone()),
            Err(_) => None,
        };
        AgentReport {
            name: descriptor.name.clone(),
            about: descriptor.about.clone(),
            source: descriptor.source.clone(),
            standing,
            program: found.map(|located| located.program.clone()),
            launcher: found.and_then(|located| located.launcher.clone()),
            version,
            minimum: descriptor.version.minimum.clone(),
            tested: descriptor.version.tested.clone(),
            untested: located.as_ref().ok().and_then(Located::untested),
            arguments: described(descriptor, BundledSkills::Off),
            prompt: descriptor.prompt,
            skills: descriptor.skills.clone(),
            login: LoginReport {
                used: used
                    .iter()
                    .map(|login| FoundAt { place: login.place(), about: login.login.about.clone() })
                    .collect(),
                ignored,
                unusable: hints.collect(),
            },
            addresses: preflight::addresses_of_agent(descriptor, environment)
                .iter()
                .map(|variable| AddressReport::of(variable, environment))
                .collect(),
            missing: against,
            note: descriptor.switch(BundledSkills::Off).note.clone(),
        }
    }
}

/// The first agent that can be used, as [`Search::choose`] finds it.
fn choose(agents: &[AgentReport]) -> AutoAgent {
    let mut considered = Vec::new();
    for agent in agents {
        considered
            .push(AgentCandidate { agent: agent.name.clone(), against: agent.missing.clone() });
        if agent.standing == Standing::Ready {
            return AutoAgent { chosen: Some(agent.name.clone()), considered };
        }
    }
    AutoAgent { chosen: None, considered }
}

fn models(access: &Access) -> Vec<ModelReport> {
    let rows = PROVIDERS.iter().map(|provider| {
        let environment = &access.environment;
        let address = preflight::address_of_model(provider.kind, environment)
            .map(|variable| AddressReport::of(variable, environment));
        ModelReport {
            provider: provider.kind.prefix().to_owned(),
            about: provider.about.to_owned(),
            example: provider.example.to_owned(),
            finding: auto::look_for(provider.kind, access),
            address,
        }
    });
    rows.collect()
}

impl AutoModel {
    fn new(choice: Result<auto::Choice, ModelError>) -> Self {
        match choice {
            Ok(choice) => {
                Self { chosen: Some(choice.model), considered: choice.considered, missing: None }
            }
            Err(error) => {
                Self { chosen: None, considered: Vec::new(), missing: Some(error.to_string()) }
            }
        }
    }
}
