//! One probe, as a value that can be stored, sent elsewhere and run there.
//!
//! Its id is a hash of everything that decides the answer and of its number among the repetitions: the same on every
//! machine, and another one as soon as the skill, its description, a neighbour, the agent's version or the model changes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::api::ApiAsk;
use crate::agent::{AgentTask, TaskSkill};
use crate::cassette::digest_of;

/// How many digits an id has: enough to tell all probes of a lifetime apart.
const DIGITS: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProbeId(String);

impl fmt::Display for ProbeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// One execution of one query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeSpec {
    pub id: ProbeId,
    /// Which repetition it is, from 1; 0 for a control.
    pub run: u32,
    /// What is asked, and whom.
    pub ask: Ask,
}

/// What is asked, and whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    Agent(AgentTask),
    /// A model, without an agent.
    Api(ApiAsk),
}

impl ProbeSpec {
    /// A probe of an agent; `version` says which one was found, when anybody knows.
    pub fn agent(task: AgentTask, run: u32, version: Option<&str>) -> Self {
        let skill = |skill: &TaskSkill| json!([skill.name, skill.digest, skill.description]);
        let mut what = json!({
            "agent": task.agent, "version": version, "model": task.model, "prompt": task.prompt,
            "skills": task.skills.iter().map(skill).collect::<Vec<Value>>(),
            "inputs": task.inputs.iter().map(|input| json!([input.path, input.digest])).collect::<Vec<Value>>(),
            "bundled_skills": task.bundled_skills, "stop": task.stop, "max_turns": task.limits.max_turns,
            "max_cost_usd": task.limits.max_cost_usd, "run": run,
        });
        if let Some(context) = &task.context {
            what["context"] = json!(context);
        }
        let task = AgentTask { run: Some(recorded_as(run)), ..task };
        Self { id: id(&what), run, ask: Ask::Agent(task) }
    }

    /// A probe of a model.
    pub fn api(ask: ApiAsk, run: u32) -> Self {
        let mut what = json!({"model": ask.model, "prompt": ask.prompt, "listing": ask.offer.identity(), "run": run});
        if !ask.turns.is_empty() {
            what["turns"] = json!(ask.turns);
        }
        if ask.context.is_some() || !ask.files.is_empty() {
            what["around"] = json!([ask.files, ask.context]);
        }
        Self { id: id(&what), run, ask: Ask::Api(ask) }
    }

    /// What a recording keeps it apart by from the other runs of its query.
    pub(super) fn recorded_as(&self) -> String {
        recorded_as(self.run)
    }

    pub fn query(&self) -> &str {
        match &self.ask {
            Ask::Agent(task) => &task.prompt,
            Ask::Api(ask) => &ask.prompt,
        }
    }
}

fn recorded_as(run: u32) -> String {
    format!("probe-{run}")
}

fn id(what: &Value) -> ProbeId {
    let mut digest = digest_of(what);
    digest.truncate(DIGITS);
    ProbeId(digest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_id_depends_on_what_decides_the_answer_and_on_nothing_else() {
        let task = AgentTask::new("claude", "Make a report");
        let id = |task: &AgentTask, run| ProbeSpec::agent(task.clone(), run, Some("1.0")).id;
        let first = id(&task, 1);
        assert_eq!(first, id(&task, 1));
        assert_eq!(first.to_string().len(), DIGITS);
        let mut slower = task.clone();
        slower.limits.timeout = Duration::from_secs(1);
        assert_eq!(first, id(&slower, 1));
        assert_ne!(first, id(&task, 2));
        assert_ne!(first, ProbeSpec::agent(task.clone(), 1, Some("2.0")).id);
        let mut other = task;
        other.model = Some("m".into());
        assert_ne!(first, id(&other, 1));
        let told = AgentTask {
            context: Some("Be short.".into()),
            ..AgentTask::new("claude", "Make a report")
        };
        assert_ne!(first, id(&told, 1));
    }

    #[test]
    fn a_spec_can_be_sent_elsewhere() {
        let spec = ProbeSpec::agent(AgentTask::new("codex", "x"), 3, None);
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<ProbeSpec>(&text).unwrap(), spec);
    }
}
