//! How a program ended and what it used.

use std::time::{Duration, SystemTime};

use skillgauge_format::transcript::ExitStatus;

use super::tail::Tail;
use crate::agent::adapter::Exit;

/// What became of a program that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code or signal, and why we stopped it if we did.
    pub status: ExitStatus,
    /// When we began to start it.
    pub started: SystemTime,
    /// How long the program itself ran.
    pub duration: Duration,
    /// What was read from standard output.
    pub stdout: StdoutTally,
    /// The end of standard error.
    pub stderr: Tail,
    /// What it and its children used; `None` when it was never started.
    pub usage: Option<ResourceUsage>,
    /// How many processes still ran when the program had ended by itself. They were ended, too.
    pub stragglers: u32,
    /// How many processes did not die even of KILL (the kernel holds them, as in a broken network file system).
    pub survivors: u32,
}

/// How much of standard output there was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StdoutTally {
    /// Bytes that the program wrote.
    pub bytes: u64,
    /// Lines that were handed on.
    pub lines: u64,
    /// Bytes that were left out because a line was too long.
    pub cut_from_lines: u64,
    /// Bytes that were left out because there was too much in all.
    pub cut_at_end: u64,
}

/// What a program and its children used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceUsage {
    /// The largest resident size of a single process, in bytes.
    pub peak_rss: u64,
    /// User and system time of all of them.
    pub cpu: Duration,
}

impl StdoutTally {
    /// What was left out, in words; `None` when nothing was.
    pub fn note(&self) -> Option<String> {
        let parts = [
            (self.cut_from_lines, "bytes of lines that were too long"),
            (self.cut_at_end, "bytes after the limit on all output"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(bytes, _)| *bytes > 0)
            .map(|(bytes, what)| format!("{bytes} {what}"))
            .collect();
        (!parts.is_empty()).then(|| format!("left out of standard output: {}", parts.join(", ")))
    }
}

impl Ended {
    /// When the program had ended.
    pub fn finished(&self) -> SystemTime {
        self.started + self.duration
    }

    /// What an adapter needs to know.
    pub fn exit(&self) -> Exit {
        Exit { status: Some(self.status), stderr: self.stderr.text() }
    }
}

#[cfg(test)]
mod tests {
    use super::StdoutTally;

    #[test]
    fn a_note_says_what_was_left_out_and_why() {
        assert_eq!(StdoutTally { bytes: 9, lines: 1, ..StdoutTally::default() }.note(), None);
        let cut = StdoutTally { cut_from_lines: 5, cut_at_end: 7, ..StdoutTally::default() };
        let note = cut.note().unwrap();
        assert!(note.contains("5 bytes of lines") && note.contains("7 bytes after"), "{note}");
    }
}
