//! The recorder: takes facts from an adapter and keeps them as events, within bounds.
//!
//! Invariant: memory is bounded by the caps of the context, and evidence (skill loads, errors, denials) is the last
//! thing to be left out. Whatever is left out is counted.

mod fact;

use serde_json::Value;
use skillgauge_core::time::unix_seconds;
use skillgauge_format::transcript::{
    Cut, ErrorRecord, Event, EventKind, Reason, StepTokens, SubAgentId, ToolCallId, Transcript,
    TranscriptEnd, TranscriptHeader, Usage,
};

use super::super::context::{Context, Exit};
use super::cap::{ValueCutter, cut_end, cut_middle};
use super::driver::Ending;
use super::skills::SkillLedger;
use super::tools::ToolLedger;

/// Bytes of a name or an id; nothing longer is one.
const MAX_NAME: usize = 256;
/// Bytes of a message or a note.
const MAX_NOTE: usize = 2048;

/// How a text relates to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Joining {
    Separate,
    /// It continues the one before it.
    Piece,
    /// It is the next line of the one before it.
    Line,
}

/// Who the agent says that it is.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct Identity<'a> {
    pub(in super::super) model: Option<&'a str>,
    pub(in super::super) agent_version: Option<&'a str>,
    pub(in super::super) session_id: Option<&'a str>,
}

/// Keeps what an adapter found.
#[derive(Debug)]
pub(in super::super) struct Recorder {
    /// What the adapter knows beside the stream.
    pub(in super::super) context: Context,
    /// Tokens, if the agent said.
    pub(in super::super) usage: Option<Usage>,
    /// Cost, if the agent said and knows.
    pub(in super::super) cost_usd: Option<f64>,
    /// Duration, if the agent said.
    pub(in super::super) duration_ms: Option<u64>,
    /// The answer, where the agent marks it as such.
    pub(in super::super) final_text: Option<String>,
    /// Whether the agent said that it was interrupted.
    pub(in super::super) interrupted: bool,
    header: TranscriptHeader,
    line: Option<u64>,
    time: Option<String>,
    sub_agent: Option<SubAgentId>,
    lines: u64,
    events: Vec<Event>,
    room: usize,
    pending_cut: u64,
    cut: Cut,
    skills: SkillLedger,
    tools: ToolLedger,
    errors: Vec<ErrorRecord>,
    denials: u64,
    retrying: Option<Reason>,
    last_text: Option<String>,
}

impl Recorder {
    pub(super) fn new(adapter: &'static str, context: Context) -> Self {
        let mut header =
            TranscriptHeader::new(context.agent.as_deref().unwrap_or(adapter), adapter);
        header.agent_version.clone_from(&context.agent_version);
        header.model.clone_from(&context.model);
        Self {
            room: context.caps.total,
            context,
            header,
            usage: None,
            cost_usd: None,
            duration_ms: None,
            final_text: None,
            interrupted: false,
            line: None,
            time: None,
            sub_agent: None,
            lines: 0,
            events: Vec::new(),
            pending_cut: 0,
            cut: Cut::default(),
            skills: SkillLedger::default(),
            tools: ToolLedger::default(),
            errors: Vec::new(),
            denials: 0,
            retrying: None,
            last_text: None,
        }
    }

    // Where we are.

    /// Begins the next line of the stream.
    pub(super) fn begin_line(&mut self) {
        self.lines += 1;
        self.line = Some(self.lines);
        self.time = None;
        self.sub_agent = None;
    }

    /// Leaves the stream: what follows has no line.
    pub(super) fn leave_stream(&mut self) {
        self.line = None;
        self.time = None;
        self.sub_agent = None;
    }

    /// The time of the current line, as the agent wrote it.
    pub(in super::super) fn at(&mut self, time: Option<&str>) {
        self.time = time.filter(|text| unix_seconds(text).is_some()).map(str::to_owned);
    }

    /// The time of the current line, already in RFC 3339.
    pub(in super::super) fn at_instant(&mut self, time: Option<String>) {
        self.time = time;
    }

    /// The sub-agent that the current line belongs to.
    pub(in super::super) fn by(&mut self, sub_agent: Option<&str>) {
        self.sub_agent = sub_agent.map(|id| SubAgentId(cut_end(id, MAX_NAME).to_owned()));
    }

    /// Who it is, as far as the stream says; what it does not say stays as the caller knew it.
    pub(in super::super) fn identify(&mut self, who: Identity<'_>) {
        let known = |text: Option<&str>| text.map(|text| cut_end(text, MAX_NAME).to_owned());
        self.header.model = known(who.model).or(self.header.model.take());
        self.header.agent_version = known(who.agent_version).or(self.header.agent_version.take());
        self.header.session_id = known(who.session_id).or(self.header.session_id.take());
    }

    /// How many events there are.
    pub(in super::super) fn event_count(&self) -> usize {
        self.events.len()
    }

    /// The events from `index` on.
    pub(super) fn events_from(&self, index: usize) -> &[Event] {
        self.events.get(index..).unwrap_or_default()
    }

    /// How many lines there were.
    pub(super) fn line_count(&self) -> u64 {
        self.lines
    }

    /// Why the agent is trying again, if that is the last thing that happened.
    pub(super) fn retrying(&self) -> Option<Reason> {
        self.retrying
    }

    /// The agent's last words: the answer, or the last text of the main agent.
    pub(super) fn last_words(&self) -> Option<&str> {
        let words = self.final_text.as_deref().or(self.last_text.as_deref());
        words.map(str::trim_end).filter(|words| !words.is_empty())
    }

    /// Whether the agent used no tool at all.
    pub(super) fn no_work_done(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether a skill that matters was refused or broken.
    pub(super) fn skill_denied(&self) -> bool {
        self.skills.is_denied(&self.context.skills)
    }

    /// The tool that was called with this id.
    pub(in super::super) fn tool_name(&self, id: &str) -> Option<&str> {
        self.tools.name(&call_id(id))
    }

    /// Whether the call with this id was refused.
    pub(in super::super) fn is_denied(&self, id: &str) -> bool {
        self.tools.is_denied(&call_id(id))
    }

    pub(super) fn finish(self, ending: Ending, exit: &Exit) -> Transcript {
        let words = self.last_words().map(|text| cut_middle(text, self.context.caps.text).0);
        let message = ending.message.map(|text| cut_middle(&text, MAX_NOTE).0);
        let [skills_requested, skills_loaded, skills_denied, skills_touched] =
            self.skills.into_lists();
        let end = TranscriptEnd {
            outcome: ending.reason.outcome(),
            reason: ending.reason,
            message,
            status: ending.status,
            exit: exit.status,
            skills_requested,
            skills_loaded,
            skills_denied,
            skills_touched,
            tool_calls: self.tools.into_tallies(),
            permission_denials: self.denials,
            usage: self.usage,
            cost_usd: self.cost_usd.and_then(rounded),
            duration_ms: self.duration_ms,
            errors: self.errors,
            final_text: words,
            lines: self.lines,
            cut: (self.cut != Cut::default()).then_some(self.cut),
        };
        Transcript { header: self.header, end, events: self.events }
    }

    // Keeping.

    /// Keeps an event and returns its index, or counts it as left out.
    fn push(&mut self, kind: EventKind) -> Option<u64> {
        if !matches!(kind, EventKind::Unknown(_)) {
            self.retrying = None;
        }
        let cut = std::mem::take(&mut self.pending_cut);
        self.cut.bytes += cut;
        let evidence = matches!(
            kind,
            EventKind::SkillLoad(_)
                | EventKind::Error(_)
                | EventKind::PermissionDenied(_)
                | EventKind::Retry(_)
        );
        let limit = if evidence {
            self.context.caps.events.saturating_mul(2)
        } else {
            self.context.caps.events
        };
        if self.events.len() >= limit {
            self.cut.events += 1;
            return None;
        }
        let index = self.events.len() as u64;
        self.events.push(Event {
            index,
            line: self.line,
            time: self.time.clone(),
            sub_agent: self.sub_agent.clone(),
            cut_bytes: (cut > 0).then_some(cut),
            tokens: None,
            kind,
        });
        Some(index)
    }

    /// The tokens of the model's answer that begins with the event `first`; nothing when that event was left out.
    pub(in super::super) fn step_tokens(&mut self, first: usize, tokens: StepTokens) {
        if let Some(event) = self.events.get_mut(first) {
            event.tokens = Some(tokens);
        }
    }

    fn keep(&mut self, text: &str) -> String {
        let (kept, cut) = cut_middle(text, self.context.caps.text.min(self.room));
        self.room = self.room.saturating_sub(kept.len());
        self.pending_cut += cut;
        kept
    }

    fn note(&mut self, text: &str) -> String {
        let (kept, cut) = cut_middle(text, MAX_NOTE.min(self.context.caps.text));
        self.pending_cut += cut;
        kept
    }

    fn keep_value(&mut self, value: &Value) -> Value {
        let mut cutter = ValueCutter { text: self.context.caps.text, room: self.room, cut: 0 };
        let kept = cutter.copy(value);
        self.room = cutter.room;
        self.pending_cut += cutter.cut;
        kept
    }
}

/// A key for a map of an adapter: an id or a name, bounded.
pub(in super::super) fn key(id: &str) -> String {
    cut_end(id, MAX_NAME).to_owned()
}

fn call_id(id: &str) -> ToolCallId {
    ToolCallId(cut_end(id, MAX_NAME).to_owned())
}

/// Ten decimals are more than any price has, and hide the noise of adding.
fn rounded(cost: f64) -> Option<f64> {
    let rounded = (cost * 1e10).round() / 1e10;
    (rounded.is_finite() && rounded >= 0.0).then_some(rounded)
}
