//! Live progress on standard error: one line that is redrawn on a terminal, a plain line now and then elsewhere.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// How long a log stays silent at most while something happens.
const QUIET: Duration = Duration::from_secs(15);

/// How often a terminal is redrawn at most.
const REDRAW: Duration = Duration::from_millis(80);

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
    shown: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    /// Progress of so many things, some of which are known already.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            total: 0,
            done: 0,
            resumed: 0,
            note: String::new(),
            started: Instant::now(),
            shown: None,
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Begins with so many things, some of which are known already.
    pub(crate) fn begin(&mut self, total: usize, resumed: usize) {
        (self.total, self.done, self.resumed) = (total, 0, resumed);
        self.started = Instant::now();
        self.shown = None;
    }

    /// One more is done.
    pub(crate) fn step(&mut self, note: &str) {
        self.done += 1;
        note.clone_into(&mut self.note);
        let pause = if self.is_terminal { REDRAW } else { QUIET };
        let is_last = self.done >= self.total;
        if self.done > self.resumed
            && (is_last || self.shown.is_none_or(|shown| shown.elapsed() >= pause))
        {
            self.show();
        }
    }

    /// Nothing more comes: a terminal gets its line back.
    pub(crate) fn end(&mut self) {
        if self.is_terminal && self.shown.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    fn show(&mut self) {
        self.shown = Some(Instant::now());
        let line = line(self, self.started.elapsed());
        let mut stderr = std::io::stderr();
        // A closed standard error is nobody's concern.
        let _ = if self.is_terminal {
            write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush())
        } else {
            writeln!(stderr, "{line}")
        };
    }
}

/// Counts, rate and time left.
fn line(progress: &Progress, elapsed: Duration) -> String {
    let Progress { what, total, done, resumed, note, .. } = progress;
    let fresh = u32::try_from(done.saturating_sub(*resumed)).unwrap_or(u32::MAX);
    let left = u32::try_from(total.saturating_sub(*done)).unwrap_or(u32::MAX);
    let mut line = format!("{what}: {done}/{total}");
    if fresh > 0 && !elapsed.is_zero() {
        let per_minute = f64::from(fresh) * 60.0 / elapsed.as_secs_f64();
        let _ = write!(line, ", {per_minute:.0} a minute");
        if left > 0 {
            let rest = elapsed.mul_f64(f64::from(left) / f64::from(fresh));
            let _ = write!(line, ", {} left", span(rest));
        }
    }
    if !note.is_empty() {
        line += ", ";
        line += note;
    }
    line
}

/// A time for people: `45 s`, `3 min`, `2 h 5 min`.
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds @ 90..5400 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_counts_rate_and_time_left_of_what_is_really_done() {
        let mut progress = Progress::new("probes");
        progress.is_terminal = false;
        (progress.total, progress.done, progress.resumed) = (60, 30, 20);
        progress.note = "2 errors".to_owned();
        assert_eq!(
            line(&progress, Duration::from_secs(30)),
            "probes: 30/60, 20 a minute, 90 s left, 2 errors".replace("90 s", "2 min")
        );
        progress.done = 20;
        assert_eq!(line(&progress, Duration::from_secs(30)), "probes: 20/60, 2 errors");
    }

    #[test]
    fn times_are_for_people() {
        let spans = [0, 89, 90, 5399, 7500].map(|seconds| span(Duration::from_secs(seconds)));
        assert_eq!(spans, ["0 s", "89 s", "2 min", "90 min", "2 h 5 min"]);
    }
}
