//! Live progress on standard error: one line that is written over on a terminal, and now and then a plain one elsewhere.
//!
//! What is counted differs ([`Progress`] for probes, [`RunProgress`] for runs); how a line is drawn, how often, and how
//! fast things go is said here, once.

mod counted;
mod runs;

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::{Printer, Voice};

pub(crate) use counted::Progress;
pub(crate) use runs::RunProgress;

/// How often a terminal is redrawn at most, so that a fast batch does not spend its time on it.
const REDRAW: Duration = Duration::from_millis(80);

/// How long a log stays silent at most while something happens.
const QUIET: Duration = Duration::from_secs(15);

/// The line. A closed standard error is nobody's concern.
#[derive(Debug)]
struct StatusLine {
    is_terminal: bool,
    is_silent: bool,
    drawn: Option<Instant>,
}

impl StatusLine {
    fn new(printer: &Printer) -> Self {
        Self {
            is_terminal: printer.voice() == Voice::Normal && std::io::stderr().is_terminal(),
            is_silent: printer.voice() == Voice::Quiet,
            drawn: None,
        }
    }

    /// Whether it is time to draw again.
    fn is_due(&self) -> bool {
        let pause = if self.is_terminal { REDRAW } else { QUIET };
        !self.is_silent && self.drawn.is_none_or(|drawn| drawn.elapsed() >= pause)
    }

    fn draw(&mut self, text: &str) {
        if self.is_silent {
            return;
        }
        self.drawn = Some(Instant::now());
        let mut stderr = std::io::stderr();
        let _ = if self.is_terminal {
            write!(stderr, "\r\x1b[2K{text}").and_then(|()| stderr.flush())
        } else {
            writeln!(stderr, "{text}")
        };
    }

    /// A terminal gets its line back.
    fn clear(&mut self) {
        if self.is_terminal && self.drawn.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

/// Somebody else is about to write a line: the one that is drawn over makes way, and comes again with the next event.
pub(crate) fn interrupt() {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\r\x1b[2K");
    }
}

/// How fast it goes, and how long it will still take: `, 20 a minute, 45 s left`. Nothing before something was done.
fn pace(done: usize, left: usize, elapsed: Duration) -> String {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let (done, left) = (f64::from(count(done)), f64::from(count(left)));
    if done == 0.0 || elapsed.is_zero() {
        return String::new();
    }
    let per_minute = done * 60.0 / elapsed.as_secs_f64();
    if left == 0.0 {
        return format!(", {per_minute:.0} a minute");
    }
    format!(", {per_minute:.0} a minute, {} left", span(elapsed.mul_f64(left / done)))
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
    fn times_are_for_people() {
        let spans = [0, 89, 90, 5399, 7500].map(|seconds| span(Duration::from_secs(seconds)));
        assert_eq!(spans, ["0 s", "89 s", "2 min", "90 min", "2 h 5 min"]);
    }

    #[test]
    fn the_pace_is_that_of_what_was_done() {
        let half = Duration::from_secs(30);
        assert_eq!(pace(10, 5, half), ", 20 a minute, 15 s left");
        assert_eq!(pace(10, 0, half), ", 20 a minute");
        assert_eq!(pace(0, 5, half) + &pace(1, 5, Duration::ZERO), "");
    }
}
