//! One case of an iteration: its task and its runs.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::json::{Problem, as_text, load, text};
use super::listing::folders;
use super::run::{Run, RunState, is_run_folder};

/// A case and its runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Case {
    /// The name of its folder, such as `eval-1`; unique in the iteration.
    pub key: String,
    /// Its id in the suite.
    pub id: String,
    pub name: String,
    pub prompt: Option<String>,
    pub expected_output: Option<String>,
    /// Its runs, by configuration and number.
    pub runs: Vec<Run>,
    /// Files that could not be used.
    pub problems: Vec<Problem>,
}

impl Case {
    /// Reads a case's folder; nothing when it holds no case.
    pub(crate) fn read(
        iteration: &Path,
        key: &str,
        suite: &BTreeMap<String, Value>,
    ) -> Option<Self> {
        let path = iteration.join(key);
        let mut case = Self { key: key.to_owned(), ..Self::default() };
        let metadata = load(&path.join("eval_metadata.json"))
            .or_problem(&format!("{key}/eval_metadata.json"), &mut case.problems);
        for configuration in folders(&path) {
            case.read_configuration(iteration, &configuration);
        }
        let named = key.strip_prefix("eval-");
        if case.runs.is_empty() && metadata.is_none() && named.is_none() {
            return None;
        }
        let none = Value::Null;
        let metadata = metadata.as_ref().unwrap_or(&none);
        case.id =
            metadata.get("eval_id").and_then(as_text).unwrap_or(named.unwrap_or(key).to_owned());
        let planned = suite.get(&case.id).unwrap_or(&none);
        case.name = text(metadata, "eval_name")
            .or_else(|| text(planned, "name"))
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| case.id.clone());
        case.prompt = text(metadata, "prompt").or_else(|| text(planned, "prompt"));
        case.expected_output = text(planned, "expected_output");
        case.runs.sort_by(|left, right| {
            (configuration_order(&left.configuration), left.number)
                .cmp(&(configuration_order(&right.configuration), right.number))
        });
        Some(case)
    }

    fn read_configuration(&mut self, iteration: &Path, configuration: &str) {
        let folder = format!("{}/{configuration}", self.key);
        let path = iteration.join(&folder);
        let mut numbered = false;
        for name in folders(&path) {
            let number = name.strip_prefix("run-").and_then(|number| number.parse().ok());
            if let Some(number) = number {
                let folder = format!("{folder}/{name}");
                self.runs.push(Run::read(iteration, &folder, configuration, number));
                numbered = true;
            }
        }
        // The skill-creator's prose and agentskills.io have no folder for the run's number.
        if !numbered && is_run_folder(&path) {
            self.runs.push(Run::read(iteration, &folder, configuration, 1));
        }
    }

    pub fn runs_of<'c>(&'c self, configuration: &'c str) -> impl Iterator<Item = &'c Run> {
        self.runs.iter().filter(move |run| run.configuration == configuration)
    }

    /// The mean pass rate of a configuration.
    pub fn pass_rate(&self, configuration: &str) -> Option<f64> {
        let rates: Vec<f64> = self.runs_of(configuration).filter_map(|run| run.pass_rate).collect();
        super::statistics::mean(&rates)
    }

    /// Whether some runs of a configuration passed and others failed.
    pub fn is_flaky(&self, configuration: &str) -> bool {
        let has = |state| self.runs_of(configuration).any(|run| run.state() == state);
        has(RunState::Passed) && has(RunState::Failed)
    }
}

/// With the skill first, then the baselines, then what other tools have.
pub(crate) fn configuration_order(name: &str) -> (usize, &str) {
    let known = ["with_skill", "new_skill", "without_skill", "old_skill"];
    (known.iter().position(|known| *known == name).unwrap_or(known.len()), name)
}
