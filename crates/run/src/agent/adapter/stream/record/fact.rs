//! What an adapter can say happened: one method per kind of fact.
//!
//! Agents repeat themselves: a call is announced and reported, a denial is an event and a field of the result, an
//! error is a message and a result. Here every fact is counted once.

use serde_json::Value;
use skillgauge_format::transcript::{
    ErrorEvent, ErrorLevel, ErrorRecord, EventKind, FileChange, FileChangeKind, PermissionDenial,
    Reason, Retry, SkillLoad, SkillState, SkillTouch, SubAgentEnd, SubAgentId, SubAgentStart,
    ToolCall, ToolResult, ToolStatus, Unknown,
};

use super::super::super::evidence::skill_paths;
use super::super::cap::cut_end;
use super::super::skills::Trouble;
use super::{Joining, MAX_NAME, Recorder, call_id};

/// The name of a skill that the agent did not name; it is in no list.
const UNNAMED: &str = "(not named)";
/// Error records; more say nothing new.
const MAX_ERRORS: usize = 200;

impl Recorder {
    pub(in super::super::super) fn text(&mut self, text: &str, joining: Joining) {
        let joined = joining != Joining::Separate && self.last_is_own_text();
        if text.is_empty() && !joined {
            return;
        }
        self.retrying = None;
        let newline = if joined && joining == Joining::Line { "\n" } else { "" };
        self.remember_words(newline, text, joined);
        if joined {
            self.extend_last_text(newline, text);
        } else {
            let text = self.keep(text);
            self.push(EventKind::Text { text });
        }
    }

    pub(in super::super::super) fn thinking(&mut self, text: &str) {
        let text = self.keep(text);
        self.push(EventKind::Thinking { text });
    }

    /// A tool was called. A call that is already known is not counted again.
    pub(in super::super::super) fn tool_call(&mut self, id: &str, name: &str, input: &Value) {
        let id = call_id(id);
        if self.tools.knows(&id) {
            return;
        }
        let name = cut_end(name, MAX_NAME).to_owned();
        let input = self.keep_value(input);
        let call = ToolCall { id: id.clone(), name: name.clone(), input };
        let index = self.push(EventKind::ToolCall(call));
        self.tools.call(&id, &name, index);
    }

    /// Notes the files of skills that a tool's input names, for skills that are not loaded.
    pub(in super::super::super) fn touches(&mut self, id: &str, input: &Value) {
        self.touch_all(id, skill_paths::in_value(input, &self.context.skills));
    }

    /// Notes the files of skills that a command's output quotes, for skills that are not loaded.
    pub(in super::super::super) fn touches_in_output(&mut self, id: &str, output: &str) {
        self.touch_all(id, skill_paths::quoted_in(output, &self.context.skills));
    }

    fn touch_all(&mut self, id: &str, touches: Vec<(String, String)>) {
        for (name, path) in touches {
            let name = cut_end(&name, MAX_NAME).to_owned();
            if !self.skills.is_loaded(&name) {
                self.skills.touch(&name);
                let path = self.note(&path);
                self.push(EventKind::SkillTouch(SkillTouch { name, path, call: call_id(id) }));
            }
        }
    }

    pub(in super::super::super) fn tool_result(
        &mut self,
        id: &str,
        status: ToolStatus,
        output: &str,
    ) {
        let id = call_id(id);
        if status == ToolStatus::Error {
            self.tools.fail(&id);
        }
        let output = self.keep(output);
        self.push(EventKind::ToolResult(ToolResult { id, status, output }));
    }

    pub(in super::super::super) fn skill_asked(&mut self, name: &str, call: &str) {
        let name = cut_end(name, MAX_NAME).to_owned();
        self.skills.ask(&name);
        self.push_skill(name, SkillState::Asked, call, None, None);
    }

    /// A skill's body was given to the model, or to the sub-agent that carries it out.
    pub(in super::super::super) fn skill_loaded(
        &mut self,
        name: &str,
        call: &str,
        forked_to: Option<&str>,
    ) {
        let name = cut_end(name, MAX_NAME).to_owned();
        self.skills.load(&name);
        let forked_to = forked_to.map(|id| SubAgentId(cut_end(id, MAX_NAME).to_owned()));
        self.push_skill(name, SkillState::Loaded, call, forked_to, None);
    }

    /// A skill was not loaded.
    pub(in super::super::super) fn skill_trouble(
        &mut self,
        name: &str,
        call: &str,
        trouble: Trouble,
        note: &str,
    ) {
        let name = cut_end(name, MAX_NAME).to_owned();
        self.skills.trouble(&name, trouble);
        let note = self.note(note);
        self.push_skill(name, trouble.state(), call, None, Some(note));
    }

    /// A skill was refused, and the agent does not say which.
    pub(in super::super::super) fn unnamed_skill_denied(&mut self, call: &str, note: &str) {
        self.skills.unnamed_trouble();
        let note = self.note(note);
        self.push_skill(UNNAMED.to_owned(), SkillState::Denied, call, None, Some(note));
    }

    pub(in super::super::super) fn sub_agent_start(
        &mut self,
        id: &str,
        call: Option<&str>,
        kind: Option<&str>,
        task: Option<&str>,
    ) {
        let start = SubAgentStart {
            id: SubAgentId(cut_end(id, MAX_NAME).to_owned()),
            call: call.map(call_id),
            kind: kind.map(|text| self.note(text)),
            task: task.map(|text| self.note(text)),
        };
        self.push(EventKind::SubAgentStart(start));
    }

    pub(in super::super::super) fn sub_agent_end(&mut self, id: &str, status: Option<&str>) {
        let id = SubAgentId(cut_end(id, MAX_NAME).to_owned());
        let status = status.map(|text| self.note(text));
        self.push(EventKind::SubAgentEnd(SubAgentEnd { id, status }));
    }

    /// A request failed and is tried again.
    pub(in super::super::super) fn retry(&mut self, mut retry: Retry) {
        retry.message = retry.message.map(|text| self.note(&text));
        let reason = retry.reason;
        self.push(EventKind::Retry(retry));
        self.retrying = Some(reason);
    }

    /// A tool call was refused; agents say so more than once.
    pub(in super::super::super) fn denial(&mut self, id: &str, tool: &str, message: Option<&str>) {
        let id = call_id(id);
        if self.tools.deny(&id) {
            self.denials += 1;
            self.tools.fail(&id);
            let tool = cut_end(tool, MAX_NAME).to_owned();
            let message = message.map(|text| self.note(text));
            self.push(EventKind::PermissionDenied(PermissionDenial {
                call: Some(id),
                tool,
                message,
            }));
        }
    }

    /// The agent reported a problem. The same words twice in a row are one problem.
    pub(in super::super::super) fn error(
        &mut self,
        level: ErrorLevel,
        reason: Reason,
        status: Option<u16>,
        message: &str,
    ) {
        let message = self.note(message);
        let event = ErrorEvent { level, reason, status, message };
        if self.is_last_error(&event) {
            self.pending_cut = 0;
            return;
        }
        if level == ErrorLevel::Error && self.errors.len() < MAX_ERRORS {
            let message = event.message.clone();
            self.errors.push(ErrorRecord { reason, status, message, line: self.line });
        }
        self.push(EventKind::Error(event));
    }

    fn is_last_error(&self, event: &ErrorEvent) -> bool {
        self.events.last().is_some_and(|last| match &last.kind {
            EventKind::Error(known) => known.message == event.message && known.level == event.level,
            _ => false,
        })
    }

    /// The agent said that it changed a file.
    pub(in super::super::super) fn file_change(&mut self, path: &str, change: FileChangeKind) {
        let path = self.note(path);
        self.push(EventKind::FileChange(FileChange { path, change }));
    }

    /// Something that the adapter does not know.
    pub(in super::super::super) fn unknown(&mut self, raw: &Value, note: Option<&str>) {
        let raw = self.keep_value(raw);
        let note = note.map(ToOwned::to_owned);
        self.push(EventKind::Unknown(Unknown { raw, note }));
    }

    fn push_skill(
        &mut self,
        name: String,
        state: SkillState,
        call: &str,
        forked_to: Option<SubAgentId>,
        note: Option<String>,
    ) {
        let call = (!call.is_empty()).then(|| call_id(call));
        self.push(EventKind::SkillLoad(SkillLoad { name, state, call, forked_to, note }));
    }

    /// Whether the last event is a text by the same speaker.
    fn last_is_own_text(&self) -> bool {
        self.events.last().is_some_and(|last| {
            matches!(last.kind, EventKind::Text { .. }) && last.sub_agent == self.sub_agent
        })
    }

    fn extend_last_text(&mut self, newline: &str, text: &str) {
        let Some(last) = self.events.last_mut() else { return };
        let EventKind::Text { text: known } = &mut last.kind else { return };
        let wanted = newline.len() + text.len();
        let fits = known.len() + wanted <= self.context.caps.text && wanted <= self.room;
        if fits && last.cut_bytes.is_none() {
            known.push_str(newline);
            known.push_str(text);
            self.room -= wanted;
        } else {
            last.cut_bytes = Some(last.cut_bytes.unwrap_or(0) + wanted as u64);
            self.cut.bytes += wanted as u64;
        }
    }

    fn remember_words(&mut self, newline: &str, text: &str, joined: bool) {
        if self.sub_agent.is_some() {
            return;
        }
        let words = self.last_text.get_or_insert_default();
        if !joined {
            words.clear();
        }
        for piece in [newline, text] {
            let room = self.context.caps.text.saturating_sub(words.len());
            words.push_str(cut_end(piece, room));
        }
    }
}
