//! Counts things of one kind, such as probes, and says how many are done.

use std::time::{Duration, Instant};

use super::{StatusLine, pace};
use crate::Printer;

/// Counts what is done, and says so.
#[derive(Debug)]
pub(crate) struct Progress {
    what: String,
    total: usize,
    done: usize,
    /// Of these, known before anything was begun.
    resumed: usize,
    /// What is worth telling beside the counts, such as errors.
    note: String,
    started: Instant,
    status: StatusLine,
}

impl Progress {
    /// Progress of so many things, some of which are known already.
    pub(crate) fn new(what: impl Into<String>, printer: &Printer) -> Self {
        Self {
            what: what.into(),
            total: 0,
            done: 0,
            resumed: 0,
            note: String::new(),
            started: Instant::now(),
            status: StatusLine::new(printer),
        }
    }

    /// Begins with so many things, some of which are known already.
    pub(crate) fn begin(&mut self, total: usize, resumed: usize) {
        (self.total, self.done, self.resumed) = (total, 0, resumed);
        self.started = Instant::now();
        self.status.drawn = None;
    }

    pub(crate) fn step(&mut self, note: &str) {
        self.done += 1;
        note.clone_into(&mut self.note);
        let is_last = self.done >= self.total;
        if self.done > self.resumed && (is_last || self.status.is_due()) {
            self.status.draw(&line(self, self.started.elapsed()));
        }
    }

    /// Nothing more comes: a terminal gets its line back.
    pub(crate) fn end(&mut self) {
        self.status.clear();
    }
}

/// Counts, rate and time left.
fn line(progress: &Progress, elapsed: Duration) -> String {
    let Progress { what, total, done, resumed, note, .. } = progress;
    let rate = pace(done.saturating_sub(*resumed), total.saturating_sub(*done), elapsed);
    let mut line = format!("{what}: {done}/{total}{rate}");
    if !note.is_empty() {
        line += ", ";
        line += note;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Voice;
    use crate::printer::Color;

    #[test]
    fn a_line_has_counts_rate_and_time_left_of_what_is_really_done() {
        let mut progress = Progress::new("probes", &Printer::new(Color::Never, Voice::Normal));
        (progress.total, progress.done, progress.resumed) = (60, 30, 20);
        progress.note = "2 errors".to_owned();
        assert_eq!(
            line(&progress, Duration::from_secs(30)),
            "probes: 30/60, 20 a minute, 2 min left, 2 errors"
        );
        progress.done = 20;
        assert_eq!(line(&progress, Duration::from_secs(30)), "probes: 20/60, 2 errors");
    }
}
