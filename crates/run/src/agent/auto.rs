//! `auto`: picks an agent that is there, and says why it is that one.

use std::sync::Arc;

use serde::Serialize;
use skillgauge_core::text::chain;

use super::descriptor::{AgentName, Descriptor};
use super::locate::{LocateError, Located, Search};
use super::login;
use super::registry::Registry;
use crate::model::Environment;

/// The name that lets us choose.
pub const AUTO: &str = "auto";

/// An agent that `auto` considered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentCandidate {
    pub agent: AgentName,
    /// What speaks against it; absent for one that can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

/// What `auto` chose.
#[derive(Clone, Debug)]
pub(crate) struct AgentChoice {
    /// The agent; absent when none can be used.
    pub(crate) chosen: Option<Arc<Located>>,
    /// Those that were considered before it, and it.
    pub(crate) considered: Vec<AgentCandidate>,
}

impl Search<'_> {
    /// The first agent that is there, recent enough and logged in: those of the user first, then the built-in ones.
    pub(crate) async fn choose(&self, registry: &Registry) -> AgentChoice {
        let mut considered = Vec::new();
        for descriptor in registry.candidates() {
            let located = self.locate(descriptor).await;
            let against = against(descriptor, &located, self.environment);
            let is_usable = against.is_none();
            considered.push(AgentCandidate { agent: descriptor.name.clone(), against });
            if let (true, Ok(located)) = (is_usable, located) {
                return AgentChoice { chosen: Some(Arc::new(located)), considered };
            }
        }
        AgentChoice { chosen: None, considered }
    }
}

/// What speaks against an agent; nothing when it can be used.
pub(crate) fn against(
    descriptor: &Descriptor,
    located: &Result<Located, LocateError>,
    environment: &Environment,
) -> Option<String> {
    match located {
        Err(error) => Some(chain(error)),
        Ok(_) if descriptor.login.is_empty() => None,
        Ok(_) if login::find(descriptor, environment).is_empty() => Some(no_login(descriptor)),
        Ok(_) => None,
    }
}

fn no_login(descriptor: &Descriptor) -> String {
    let found = "no login was found";
    descriptor
        .login_help
        .as_ref()
        .map_or_else(|| found.to_owned(), |help| format!("{found}; {help}"))
}
