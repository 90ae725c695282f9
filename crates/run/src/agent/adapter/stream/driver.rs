//! The adapter of every agent: from bytes to JSON events, and from the end of the process to an outcome.
//!
//! It bounds the length of a line, survives bytes that are not UTF-8 and lines that are
//! not JSON, and decides how a run ended that did not say so itself.
//!
//! Invariant: without a terminal event a run never counts as completed, whatever its exit code.

use serde_json::Value;
use skillgauge_format::transcript::{ErrorLevel, Event, Reason, Stop, Transcript};

use super::super::context::{Context, Exit};
use super::super::evidence::{limit, reason};
use super::cap::cut_end;
use super::record::Recorder;

/// Bytes that are kept of a line that is too long to parse.
const LONG_LINE_KEPT: usize = 4096;
/// Bytes that are kept of standard error as a message.
const STDERR_KEPT: usize = 1024;

/// One agent's event language.
pub(in super::super) trait Stream: Send {
    /// What a line that is no JSON object means.
    fn plain_text(&self) -> PlainText {
        PlainText::Noise
    }

    /// Takes one event: a JSON object.
    fn event(&mut self, event: &Value, log: &mut Recorder);

    /// Takes a line that is no JSON object.
    fn plain(&mut self, text: &str, note: &'static str, log: &mut Recorder) {
        log.unknown(&Value::from(text), Some(note));
    }

    /// Whether the agent waits for something that won't come by itself: nothing is gained by watching it.
    fn is_stuck(&self) -> bool {
        false
    }

    /// What the stream itself says about its end; `None` if it does not say.
    fn ending(&mut self, exit: &Exit, log: &mut Recorder) -> Option<Ending>;
}

/// What a line that is no JSON object means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum PlainText {
    /// Something that does not belong into the stream; an event may follow on the same line.
    Noise,
    Answer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Ending {
    pub(in super::super) reason: Reason,
    /// The HTTP status behind it.
    pub(in super::super) status: Option<u16>,
    /// What was said about it.
    pub(in super::super) message: Option<String>,
}

impl Ending {
    pub(in super::super) fn completed() -> Self {
        Self { reason: Reason::Completed, status: None, message: None }
    }

    /// It ended for this reason.
    pub(in super::super) fn because(
        reason: Reason,
        status: Option<u16>,
        message: Option<&str>,
    ) -> Self {
        Self { reason, status, message: message.map(ToOwned::to_owned) }
    }
}

/// Reads the event stream of one run or probe: runs a [`Stream`].
pub struct Adapter {
    stream: Box<dyn Stream>,
    log: Recorder,
    broken_lines: u64,
}

impl Adapter {
    pub(in super::super) fn new(
        name: &'static str,
        stream: Box<dyn Stream>,
        context: Context,
    ) -> Self {
        Self { stream, log: Recorder::new(name, context), broken_lines: 0 }
    }

    /// Takes one line of standard output, with or without its newline, and returns the events that it added.
    pub fn line(&mut self, line: &[u8]) -> &[Event] {
        let before = self.log.event_count();
        self.log.begin_line();
        self.take(line);
        self.log.events_from(before)
    }

    /// Whether the agent waits for something that won't come by itself; its end says for what.
    pub fn is_stuck(&self) -> bool {
        self.stream.is_stuck()
    }

    pub fn finish(mut self, exit: &Exit) -> Transcript {
        self.log.leave_stream();
        let ending = match self.stream.ending(exit, &mut self.log) {
            Some(ending) => self.second_look(ending),
            None => self.silent_ending(exit),
        };
        self.log.finish(ending, exit)
    }

    fn take(&mut self, line: &[u8]) {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            // An empty line is part of an answer, and nothing between events.
            if self.stream.plain_text() == PlainText::Answer {
                self.stream.plain("", "", &mut self.log);
            }
            return;
        }
        if line.len() > self.log.context.caps.line {
            let start =
                String::from_utf8_lossy(&line[..LONG_LINE_KEPT.min(line.len())]).into_owned();
            self.log.unknown(&Value::from(start), Some("the line is too long to be parsed"));
            return;
        }
        match parse(line, self.stream.plain_text()) {
            Line::Event(event) => self.stream.event(&event, &mut self.log),
            Line::NoiseThenEvent(noise, event) => {
                self.log
                    .unknown(&Value::from(noise), Some("text before an event on the same line"));
                self.stream.event(&event, &mut self.log);
            }
            Line::Broken(text) => {
                self.broken_lines += 1;
                self.stream.plain(&text, "not valid JSON", &mut self.log);
            }
            Line::Text(text) => self.stream.plain(&text, "not JSON", &mut self.log),
        }
    }

    /// How a run ended that did not say so itself.
    fn silent_ending(&self, exit: &Exit) -> Ending {
        let status = exit.status.unwrap_or_default();
        let stderr = last_words(&exit.stderr);
        let because = |reason| Ending::because(reason, None, stderr.as_deref());
        // An agent that died without a word still says something by how it did.
        let crashed = || {
            let how = match (status.signal, status.code) {
                (Some(signal), _) => Some(format!("it was ended by signal {signal}")),
                (None, Some(code)) => {
                    Some(format!("it ended with exit code {code} and said nothing"))
                }
                (None, None) => None,
            };
            let words = stderr.clone().or(how);
            Ending::because(Reason::Crashed, None, words.as_deref())
        };
        match status.stop {
            // Killed in the middle of retries: they are the cause, not our patience.
            Some(Stop::Timeout | Stop::Silence) if self.log.retrying().is_some() => {
                because(self.log.retrying().unwrap_or(Reason::Other))
            }
            Some(Stop::Timeout) => because(Reason::Timeout),
            Some(Stop::Silence) => because(Reason::Silence),
            Some(Stop::Cancel) => because(Reason::Cancelled),
            Some(Stop::Proof) => Ending::because(Reason::StoppedAtProof, None, None),
            None if self.log.interrupted
                || status.signal == Some(2)
                || status.code == Some(130) =>
            {
                because(Reason::Interrupted)
            }
            None if status.signal.is_some() => crashed(),
            None => match status.code {
                None | Some(0) if self.broken_lines > 0 => because(Reason::MalformedStream),
                None | Some(0) => because(Reason::NoTerminalEvent),
                Some(code) if self.log.line_count() == 0 && code < 128 => {
                    because(start_failure(&exit.stderr))
                }
                Some(_) => crashed(),
            },
        }
    }

    /// A run that looks completed may have been stopped by a limit that came as text, or may not have got its skill.
    fn second_look(&mut self, ending: Ending) -> Ending {
        if ending.reason != Reason::Completed {
            return ending;
        }
        if self.log.no_work_done()
            && let Some(words) = self.log.last_words()
            && let Some(reason) = limit::in_answer(words)
        {
            let words = words.to_owned();
            self.log.leave_stream();
            self.log.error(ErrorLevel::Error, reason, None, &words);
            return Ending::because(reason, None, Some(&words));
        }
        if self.log.skill_denied() {
            return Ending::because(Reason::SkillDenied, None, None);
        }
        ending
    }
}

enum Line {
    Event(Value),
    NoiseThenEvent(String, Value),
    Broken(String),
    Text(String),
}

fn parse(line: &[u8], plain_text: PlainText) -> Line {
    // Bytes that are not UTF-8 would fail the whole line; a replaced character fails nothing.
    let text = String::from_utf8_lossy(line);
    let is_event = |event: &Value| event.get("type").is_some_and(Value::is_string);
    match serde_json::from_str::<Value>(&text) {
        Ok(event @ Value::Object(_)) if plain_text == PlainText::Noise || is_event(&event) => {
            return Line::Event(event);
        }
        Ok(_) => return Line::Text(text.into_owned()),
        Err(_) => {}
    }
    if text.trim_start().starts_with('{') {
        return Line::Broken(text.into_owned());
    }
    // Another writer's unfinished line may stand before an event.
    if plain_text == PlainText::Noise
        && let Some(start) = text.find("{\"")
        && let Ok(event @ Value::Object(_)) = serde_json::from_str::<Value>(&text[start..])
        && is_event(&event)
    {
        return Line::NoiseThenEvent(text[..start].to_owned(), event);
    }
    Line::Text(text.into_owned())
}

fn start_failure(stderr: &str) -> Reason {
    match reason::in_words(stderr) {
        Some(found @ (Reason::NotLoggedIn | Reason::Authentication)) => found,
        _ => Reason::StartFailed,
    }
}

/// The last lines of standard error, as a message.
fn last_words(stderr: &str) -> Option<String> {
    let stderr = stderr.trim();
    let start = stderr.ceil_char_boundary(stderr.len().saturating_sub(STDERR_KEPT));
    let words = stderr[start..].trim();
    (!words.is_empty()).then(|| cut_end(words, STDERR_KEPT).to_owned())
}
