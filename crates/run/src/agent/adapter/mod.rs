//! Adapters: from an agent's own event stream to one transcript.
//!
//! The process layer feeds the agent's standard output line by line ([`Adapter::line`]) and says at the end how the
//! process went ([`Adapter::finish`]). A prober looks at the events that each line gave and may stop the agent at the
//! first proof. An adapter is a state machine without clock, files or threads.
//!
//! Invariant: an adapter never fails and never panics. What it does not understand it keeps, and a run that did not
//! provably end well has an outcome that says so.

mod claude;
mod codex;
mod command;
mod command_event;
mod context;
mod evidence;
mod gemini;
mod opencode;
mod stream;

pub(crate) use codex::skills_asked_for;
pub use command_event::{COMMAND_EVENTS, COMMON_FIELDS, CommandEvent, EventField};
pub use context::{Caps, Context, Exit, InstalledSkill};
use skillgauge_format::transcript::Transcript;
use stream::Stream;
pub use stream::{Adapter, LineSplitter};

/// One kind of event stream that can be read.
#[derive(Debug, Clone, Copy)]
pub struct AdapterKind {
    /// The name in descriptors and on the command line.
    pub name: &'static str,
    pub about: &'static str,
    stream: fn() -> Box<dyn Stream>,
}

impl AdapterKind {
    /// An adapter for one run or probe.
    pub fn open(&self, context: Context) -> Adapter {
        Adapter::new(self.name, (self.stream)(), context)
    }

    /// Reads a whole stream at once.
    #[expect(clippy::needless_pass_by_value, reason = "nobody needs the end of a process twice")]
    pub fn read(&self, context: Context, stream: &[u8], exit: Exit) -> Transcript {
        let mut adapter = self.open(context);
        let mut lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
        // What follows the last newline is a line only if there is something.
        if lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        for line in lines {
            adapter.line(line);
        }
        adapter.finish(&exit)
    }
}

pub static ADAPTERS: [AdapterKind; 5] = [
    AdapterKind {
        name: "claude",
        about: "Claude Code, --output-format stream-json (with or without partial messages)",
        stream: stream::<claude::Claude>,
    },
    AdapterKind { name: "codex", about: "Codex, exec --json", stream: stream::<codex::Codex> },
    AdapterKind {
        name: "gemini",
        about: "Gemini CLI, --output-format stream-json",
        stream: stream::<gemini::Gemini>,
    },
    AdapterKind {
        name: "opencode",
        about: "opencode, run --format json",
        stream: stream::<opencode::Opencode>,
    },
    AdapterKind {
        name: "command",
        about: "any program: plain text, or JSON lines as documented for command agents",
        stream: stream::<command::Command>,
    },
];

pub fn adapter(name: &str) -> Option<&'static AdapterKind> {
    ADAPTERS.iter().find(|kind| kind.name == name)
}

fn stream<S: Stream + Default + 'static>() -> Box<dyn Stream> {
    Box::new(S::default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ADAPTERS, Context, Exit, adapter};

    #[test]
    fn every_adapter_is_found_by_its_own_name() {
        let names: BTreeSet<&str> = ADAPTERS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), ADAPTERS.len());
        for kind in &ADAPTERS {
            assert_eq!(adapter(kind.name).map(|found| found.name), Some(kind.name));
        }
        assert!(adapter("clippy").is_none());
    }

    #[test]
    fn an_empty_stream_is_never_a_completed_run() {
        for kind in &ADAPTERS {
            let transcript = kind.read(Context::default(), b"", Exit::unknown());
            assert_eq!(transcript.end.reason.as_str(), "no_terminal_event", "{}", kind.name);
            assert_eq!(transcript.header.agent, kind.name);
        }
    }
}
