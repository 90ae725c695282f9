//! The plan: a deterministic list of run ids. What is left to do is the plan minus the results.
//!
//! Runs are interleaved: the first runs of all cases in all configurations come before the second ones, and which
//! configuration goes first changes from case to case, so that a drift of the model or the machine hits all alike.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use skillgauge_format::part::Configuration;

/// Which run it is. Its text is the run's folder below the iteration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId {
    pub case: String,
    pub configuration: Configuration,
    /// Which run of that case in that configuration, from 1.
    pub number: u32,
}

impl RunId {
    /// The run's folder below the iteration.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(format!("eval-{}", self.case))
            .join(self.configuration.as_str())
            .join(format!("run-{}", self.number))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "eval-{}/{}/run-{}", self.case, self.configuration, self.number)
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.to_string()
    }
}

/// A text that is no run id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no run; expected eval-<id>/<configuration>/run-<number>")]
pub struct BadRunId {
    pub text: String,
}

impl FromStr for RunId {
    type Err = BadRunId;

    fn from_str(text: &str) -> Result<Self, BadRunId> {
        let bad = || BadRunId { text: text.to_owned() };
        let mut parts = text.split('/');
        let (case, configuration, run) = (parts.next(), parts.next(), parts.next());
        let case = case.and_then(|case| case.strip_prefix("eval-"));
        let number = run.and_then(|run| run.strip_prefix("run-")?.parse().ok());
        match (case, configuration, number, parts.next()) {
            (Some(case), Some(configuration), Some(number), None)
                if !case.is_empty() && !configuration.is_empty() && number > 0 =>
            {
                let configuration = Configuration::from(configuration);
                Ok(Self { case: case.to_owned(), configuration, number })
            }
            _ => Err(bad()),
        }
    }
}

impl TryFrom<String> for RunId {
    type Error = BadRunId;

    fn try_from(text: String) -> Result<Self, BadRunId> {
        text.parse()
    }
}

/// The runs of an iteration, in the order in which they are started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    runs: Vec<RunId>,
}

impl Plan {
    /// Every case in every configuration, so many times.
    pub fn new(cases: &[String], configurations: &[Configuration], runs: u32) -> Self {
        let mut all = Vec::with_capacity(cases.len() * configurations.len() * runs as usize);
        for number in 1..=runs {
            for (place, case) in cases.iter().enumerate() {
                let first = place + number as usize;
                for step in 0..configurations.len() {
                    let configuration =
                        configurations[(first + step) % configurations.len()].clone();
                    all.push(RunId { case: case.clone(), configuration, number });
                }
            }
        }
        Self { runs: all }
    }

    /// The replicates: every case in every configuration once, then again.
    pub fn replicates(&self) -> impl Iterator<Item = &[RunId]> {
        self.runs.chunk_by(|one, next| one.number == next.number)
    }

    pub fn runs(&self) -> &[RunId] {
        &self.runs
    }

    /// What is left to do.
    pub fn without(&self, is_done: impl Fn(&RunId) -> bool) -> Vec<RunId> {
        self.runs.iter().filter(|id| !is_done(id)).cloned().collect()
    }

    /// The part of one machine among many. The configurations of one case and number stay together, so that both
    /// sides of a pair are measured on the same machine.
    #[must_use]
    pub fn shard(&self, shard: Shard) -> Self {
        let mut block = 0;
        let mut last: Option<(&str, u32)> = None;
        let mut runs = Vec::new();
        for id in &self.runs {
            let pair = (id.case.as_str(), id.number);
            if last.is_some_and(|last| last != pair) {
                block += 1;
            }
            last = Some(pair);
            if block % shard.count == shard.index - 1 {
                runs.push(id.clone());
            }
        }
        Self { runs }
    }
}

/// `3/16`: the third of sixteen parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let numbers =
            parts.and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err("write the part as 3/16: the third of sixteen".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests;
