//! What one probe saw, and what that means for a skill.
//!
//! An [`Observation`] is a record that can be stored twice without harm and knows nothing of the skill under test: routing
//! asks it about every skill. [`Observation::answer`] is the one place that decides what counts as a trigger.

use serde::{Deserialize, Serialize};
use skillgauge_format::transcript::{
    EventKind, Outcome, Reason, SkillState, Transcript, names_skill,
};

use super::steps::{Steps, load_turn};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// What became of the probe.
    pub outcome: Outcome,
    pub reason: Reason,
    /// What was said about it, if it did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The skills whose body was given to the model, in the order of loading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<LoadedSkill>,
    /// The skills that were asked for and refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// The skills whose files were touched although they were never loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<String>,
    /// What the agent did.
    #[serde(default, skip_serializing_if = "Steps::is_empty")]
    pub steps: Steps,
    /// What of the agent's events could not be understood, once each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedSkill {
    /// Its name, as the agent gives it.
    pub name: String,
    pub by: LoadedBy,
    /// The turn at which it was loaded, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadedBy {
    Agent,
    SubAgent,
}

/// What an observation means for one skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Triggered(LoadedBy),
    /// The agent did without it.
    NotTriggered,
    /// Nothing was measured: an error, or a load that was refused.
    Unmeasured(Outcome),
}

impl Observation {
    /// A probe that ended before an agent or a model could say anything.
    pub fn failed(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            outcome: reason.outcome(),
            reason,
            message: Some(message.into()),
            loaded: Vec::new(),
            denied: Vec::new(),
            touched: Vec::new(),
            steps: Steps::default(),
            notes: Vec::new(),
        }
    }

    /// A probe that ended well, with the skills that it loaded.
    pub fn completed(loaded: impl IntoIterator<Item = String>) -> Self {
        let loaded = loaded.into_iter();
        let loaded = loaded.map(|name| LoadedSkill { name, by: LoadedBy::Agent, turn: None });
        Self {
            outcome: Outcome::Completed,
            reason: Reason::Completed,
            message: None,
            loaded: loaded.collect(),
            denied: Vec::new(),
            touched: Vec::new(),
            steps: Steps::default(),
            notes: Vec::new(),
        }
    }

    pub fn of(transcript: &Transcript) -> Self {
        let end = &transcript.end;
        let loaded_by = |name: &str| {
            let is_load = |kind: &EventKind| matches!(kind, EventKind::SkillLoad(load) if load.state == SkillState::Loaded && load.name == name);
            let mut loads =
                transcript.events.iter().filter(|event| is_load(&event.kind)).peekable();
            // An event that was left out for want of space says nothing about a sub-agent.
            if loads.peek().is_some() && loads.all(|event| event.sub_agent.is_some()) {
                LoadedBy::SubAgent
            } else {
                LoadedBy::Agent
            }
        };
        let loaded = end.skills_loaded.iter().map(|name| LoadedSkill {
            name: name.clone(),
            by: loaded_by(name),
            turn: load_turn(&transcript.events, name),
        });
        Self {
            outcome: end.outcome,
            reason: end.reason,
            message: end.message.clone(),
            loaded: loaded.collect(),
            denied: end.skills_denied.clone(),
            touched: end.skills_touched.clone(),
            steps: Steps::of(transcript),
            notes: not_understood(transcript),
        }
    }

    /// What it means for a skill.
    ///
    /// A proof counts whatever came after it. A refusal of another skill does not matter, and neither does a limit on turns
    /// that we set ourselves: in both cases the agent had its chance.
    pub fn answer(&self, skill: &str) -> Answer {
        if let Some(loaded) = self.loaded.iter().find(|loaded| names_skill(&loaded.name, skill)) {
            return Answer::Triggered(loaded.by);
        }
        if self.denied.iter().any(|name| names_skill(name, skill)) {
            return Answer::Unmeasured(Outcome::Denied);
        }
        match (self.outcome, self.reason) {
            (Outcome::Completed | Outcome::Denied, _) | (Outcome::Failed, Reason::MaxTurns) => {
                Answer::NotTriggered
            }
            (outcome, _) => Answer::Unmeasured(outcome),
        }
    }

    /// Whether it measured anything about a skill.
    pub fn is_measured(&self, skill: &str) -> bool {
        !matches!(self.answer(skill), Answer::Unmeasured(_))
    }

    /// The turn at which a skill was loaded.
    pub fn load_turn(&self, skill: &str) -> Option<u64> {
        self.loaded.iter().find(|loaded| names_skill(&loaded.name, skill))?.turn
    }

    /// The first skill that was loaded.
    pub fn first_loaded(&self) -> Option<&str> {
        self.loaded.first().map(|loaded| loaded.name.as_str())
    }

    /// Whether files of a skill were touched although it was not loaded.
    pub fn has_touched(&self, skill: &str) -> bool {
        self.touched.iter().any(|name| names_skill(name, skill))
    }
}

/// As many notes as are kept.
const NOTES: usize = 5;

/// What an author of a `command:` agent should know; the events of other agents aren't the user's to put right.
pub fn not_understood(transcript: &Transcript) -> Vec<String> {
    let mut notes = Vec::new();
    for event in transcript.events.iter().filter(|_| transcript.header.adapter == "command") {
        if let EventKind::Unknown(unknown) = &event.kind
            && let Some(note) = &unknown.note
            && !notes.contains(note)
            && notes.len() < NOTES
        {
            notes.push(note.clone());
        }
    }
    notes
}

impl Answer {
    /// The outcome that it is counted under.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Triggered(_) | Self::NotTriggered => Outcome::Completed,
            Self::Unmeasured(outcome) => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(reason: Reason, loaded: &[&str], denied: &[&str]) -> Observation {
        Observation {
            outcome: reason.outcome(),
            reason,
            denied: denied.iter().map(|&name| name.to_owned()).collect(),
            ..Observation::completed(loaded.iter().map(|&name| name.to_owned()))
        }
    }

    #[test]
    fn only_a_loaded_body_is_a_trigger() {
        use Answer::{NotTriggered, Triggered, Unmeasured};
        for (reason, loaded, denied, answer) in [
            (Reason::Completed, &["x"][..], &[][..], Triggered(LoadedBy::Agent)),
            (Reason::StoppedAtProof, &["p:x"], &[], Triggered(LoadedBy::Agent)),
            (Reason::Crashed, &["x"], &[], Triggered(LoadedBy::Agent)),
            (Reason::SkillDenied, &[], &["x"], Unmeasured(Outcome::Denied)),
            (Reason::SkillDenied, &[], &["y"], NotTriggered),
            (Reason::Completed, &["y"], &[], NotTriggered),
            (Reason::MaxTurns, &[], &[], NotTriggered),
            (Reason::Crashed, &[], &[], Unmeasured(Outcome::Failed)),
            (Reason::RateLimit, &[], &[], Unmeasured(Outcome::RateLimited)),
            (Reason::Timeout, &["y"], &[], Unmeasured(Outcome::TimedOut)),
            (Reason::Cancelled, &[], &[], Unmeasured(Outcome::Cancelled)),
        ] {
            assert_eq!(observation(reason, loaded, denied).answer("x"), answer, "{reason}");
        }
    }

    #[test]
    fn an_observation_survives_a_journal() {
        let mut seen = observation(Reason::SkillDenied, &["a"], &["b"]);
        seen.loaded[0].by = LoadedBy::SubAgent;
        seen.touched.push("c".into());
        let text = serde_json::to_string(&seen).unwrap();
        assert_eq!(serde_json::from_str::<Observation>(&text).unwrap(), seen);
    }
}
