//! Reads an agent's lines and says when what we want to know is known.

use std::collections::HashSet;

use skillgauge_format::transcript::{Event, EventKind, SkillState, ToolCallId, names_skill};

use super::super::adapter::Adapter;
use super::super::task::StopCondition;
use super::Progress;
use crate::process::Flow;

/// What one attempt has shown of the skills that are waited for.
pub(super) struct StopWatch<'s> {
    stop: &'s StopCondition,
    /// The places of the skills that were loaded.
    loaded: HashSet<usize>,
    /// The calls that ask for a skill. A stream may name the skill before it reports the call.
    asks: HashSet<ToolCallId>,
}

impl<'s> StopWatch<'s> {
    pub(super) fn new(stop: &'s StopCondition) -> Self {
        Self { stop, loaded: HashSet::new(), asks: HashSet::new() }
    }

    /// Hands a line on, and says whether it was the last that matters.
    pub(super) fn take(
        &mut self,
        reader: &mut Adapter,
        line: &[u8],
        on_progress: &mut (dyn FnMut(Progress<'_>) + Send),
    ) -> Flow {
        let was_loaded = !self.loaded.is_empty();
        let events = reader.line(line);
        for event in events {
            on_progress(Progress::Event(event));
            self.hear(event);
        }
        let is_enough = match self.stop {
            StopCondition::AtEnd => false,
            StopCondition::AtLoadOf(_) => !self.loaded.is_empty(),
            StopCondition::AfterLoadsOf(names) => {
                self.loaded.len() == names.len() || (was_loaded && self.is_other_work(events))
            }
        };
        if is_enough || reader.is_stuck() { Flow::Enough } else { Flow::Continue }
    }

    fn hear(&mut self, event: &Event) {
        let EventKind::SkillLoad(load) = &event.kind else { return };
        self.asks.extend(load.call.clone());
        if load.state == SkillState::Loaded {
            let named = self.stop.watched().iter().enumerate();
            self.loaded.extend(
                named.filter(|(_, name)| names_skill(&load.name, name)).map(|(place, _)| place),
            );
        }
    }

    /// Whether a line has a tool call that asks for no skill. No adapter reports a call before it knows that.
    fn is_other_work(&self, events: &[Event]) -> bool {
        let is_other = |event: &Event| matches!(&event.kind, EventKind::ToolCall(call) if !self.asks.contains(&call.id));
        events.iter().any(is_other)
    }
}
