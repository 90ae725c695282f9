//! Which tools were called, and which calls failed.

use std::collections::{BTreeMap, HashMap, HashSet};

use skillgauge_format::transcript::{ToolCallId, ToolTally};

/// More calls than this are counted but no longer told apart.
const MAX_CALLS: usize = 20_000;
/// More names than this are counted together.
const MAX_NAMES: usize = 500;
/// The name of all tools beyond [`MAX_NAMES`].
const OTHER: &str = "(other)";

/// Calls by id, counts by name.
#[derive(Debug, Default)]
pub(super) struct ToolLedger {
    tallies: BTreeMap<String, ToolTally>,
    open: HashMap<ToolCallId, String>,
    failed: HashSet<ToolCallId>,
    denied: HashSet<ToolCallId>,
}

impl ToolLedger {
    /// Whether this call was counted before: some agents report a call twice.
    pub(super) fn knows(&self, id: &ToolCallId) -> bool {
        self.open.contains_key(id)
    }

    pub(super) fn name(&self, id: &ToolCallId) -> Option<&str> {
        self.open.get(id).map(String::as_str)
    }

    /// Whether any call was made.
    pub(super) fn is_empty(&self) -> bool {
        self.tallies.is_empty()
    }

    /// Counts a call; `event` is the index of its event, if that was kept.
    pub(super) fn call(&mut self, id: &ToolCallId, name: &str, event: Option<u64>) {
        let full = self.tallies.len() >= MAX_NAMES && !self.tallies.contains_key(name);
        let name = if full { OTHER } else { name };
        let tally = self.tallies.entry(name.to_owned()).or_default();
        tally.count += 1;
        tally.events.extend(event);
        if self.open.len() < MAX_CALLS {
            self.open.insert(id.clone(), name.to_owned());
        }
    }

    /// Counts a failed call, once.
    pub(super) fn fail(&mut self, id: &ToolCallId) {
        if let Some(name) = self.open.get(id)
            && self.failed.insert(id.clone())
            && let Some(tally) = self.tallies.get_mut(name)
        {
            tally.failed += 1;
        }
    }

    /// Notes a refused call; false if it was known to be refused.
    pub(super) fn deny(&mut self, id: &ToolCallId) -> bool {
        self.denied.len() < MAX_CALLS && self.denied.insert(id.clone())
    }

    /// Whether the call was refused.
    pub(super) fn is_denied(&self, id: &ToolCallId) -> bool {
        self.denied.contains(id)
    }

    pub(super) fn into_tallies(self) -> BTreeMap<String, ToolTally> {
        self.tallies
    }
}
