//! What earlier calls of an iteration did, from its journal: how often each run failed, and how many attempts were made.

use std::collections::HashMap;

use serde::Deserialize;
use skillgauge_core::workspace::Iteration;
use skillgauge_format::transcript::Reason;

/// A run that failed in so many calls is left alone.
pub const MAX_FAILURES: u32 = 3;

/// Whether runs that failed too often are run again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailedRuns {
    /// They are left alone.
    #[default]
    Leave,
    Retry,
}

/// What earlier calls did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Past {
    failures: HashMap<String, u32>,
    /// All attempts of all runs.
    pub(super) attempts: u64,
}

/// A line of the journal, as far as it matters here.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    Started,
    RunStarted,
    RunEnded {
        id: String,
        reason: Reason,
    },
    Stopped,
    #[serde(other)]
    Other,
}

impl Past {
    /// Reads the journal; one that can't be read tells nothing. Blocks.
    pub(super) fn read(iteration: &Iteration) -> Self {
        let bytes = fs_err::read(iteration.journal_file()).unwrap_or_default();
        Self::of(&bytes)
    }

    /// Failures of a call that was stopped (an outage, a login, a limit) say nothing about a run, and are not counted.
    fn of(journal: &[u8]) -> Self {
        let mut past = Self::default();
        let mut in_call: Vec<String> = Vec::new();
        for line in journal.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Line::Started) => past.count(&mut in_call),
                Ok(Line::RunStarted) => past.attempts += 1,
                Ok(Line::RunEnded { id, reason }) if !reason.is_result() => in_call.push(id),
                Ok(Line::Stopped) => in_call.clear(),
                Ok(Line::RunEnded { .. } | Line::Other) | Err(_) => {}
            }
        }
        past.count(&mut in_call);
        past
    }

    fn count(&mut self, in_call: &mut Vec<String>) {
        for id in in_call.drain(..) {
            *self.failures.entry(id).or_default() += 1;
        }
    }

    /// Whether a run failed too often to be tried again.
    pub(super) fn is_hopeless(&self, id: &str) -> bool {
        self.failures.get(id).is_some_and(|failures| *failures >= MAX_FAILURES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_count_for_each_call_unless_it_was_stopped() {
        let call = |stopped: &str| {
            format!(
                "{{\"event\":\"started\",\"planned\":2,\"done\":0}}\n\
                 {{\"event\":\"run_started\",\"id\":\"a\",\"attempt\":1}}\n\
                 {{\"event\":\"run_started\",\"id\":\"a\",\"attempt\":2}}\n\
                 {{\"event\":\"run_ended\",\"id\":\"a\",\"outcome\":\"failed\",\"reason\":\"server_error\",\"seconds\":1.0}}\n\
                 {{\"event\":\"run_ended\",\"id\":\"b\",\"outcome\":\"failed\",\"reason\":\"crashed\",\"seconds\":1.0}}\n{stopped}"
            )
        };
        let outage = "{\"event\":\"stopped\",\"why\":\"down\"}\n";
        let journal = [call(""), call(outage), call("")].concat();
        let past = Past::of(journal.as_bytes());
        assert!(!past.is_hopeless("a"));
        assert_eq!(past.attempts, 6);
        // A killed process leaves a torn line.
        let past =
            Past::of([journal.as_str(), &call(""), "{\"event\":\"run_e"].concat().as_bytes());
        assert!(past.is_hopeless("a") && !past.is_hopeless("b"), "a crash is a result");
    }
}
