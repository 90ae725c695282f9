//! Live progress on standard error: one line that is written over on a terminal, one line per run elsewhere.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use skillgauge_run::iteration::IterationEvent;

use crate::Printer;

/// Not more often than this, so that a fast batch does not spend its time on it.
const EVERY: Duration = Duration::from_millis(100);

/// What has happened so far.
#[derive(Debug)]
pub(in crate::commands) struct Progress {
    printer: Printer,
    is_terminal: bool,
    planned: usize,
    before: usize,
    running: usize,
    ended: usize,
    failed: usize,
    graded: usize,
    cost: f64,
    began: Instant,
    drawn: Option<Instant>,
}

impl Progress {
    pub(in crate::commands) fn new(printer: &Printer, planned: usize) -> Self {
        Self {
            printer: printer.clone(),
            is_terminal: std::io::stderr().is_terminal(),
            planned,
            before: 0,
            running: 0,
            ended: 0,
            failed: 0,
            graded: 0,
            cost: 0.0,
            began: Instant::now(),
            drawn: None,
        }
    }

    /// Takes an event.
    pub(in crate::commands) fn take(&mut self, event: &IterationEvent) {
        match event {
            IterationEvent::Started { done, .. } => {
                self.before = *done;
                if *done > 0 {
                    self.line(&format!("{done} of {} runs are there already", self.planned));
                }
            }
            IterationEvent::RunStarted { attempt: 1, .. } => self.running += 1,
            IterationEvent::RunStarted { id, attempt } => {
                self.line(&format!("{id}: attempt {attempt}"));
            }
            IterationEvent::RunEnded {
                id,
                outcome,
                reason,
                seconds,
                cost_usd,
                skill_loaded,
                ..
            } => {
                self.running = self.running.saturating_sub(1);
                self.ended += 1;
                self.cost += cost_usd.unwrap_or_default();
                if !reason.is_result() {
                    self.failed += 1;
                }
                let why = if outcome.as_str() == reason.as_str() {
                    String::new()
                } else {
                    format!(" ({reason})")
                };
                let loaded = if *skill_loaded { ", skill loaded" } else { "" };
                self.detail(&format!("{id}: {outcome}{why} in {seconds:.1} s{loaded}"));
            }
            IterationEvent::RunLost { id, message } => {
                self.running = self.running.saturating_sub(1);
                self.ended += 1;
                self.failed += 1;
                self.line(&format!("{id}: {message}"));
            }
            IterationEvent::Graded { id, passed, total, gated, judge_errors } => {
                self.graded += 1;
                let gate = if *gated { ", stopped by the gate" } else { "" };
                let errors = if *judge_errors > 0 {
                    format!(", {judge_errors} not judged")
                } else {
                    String::new()
                };
                self.detail(&format!("{id}: {passed} of {total} passed{gate}{errors}"));
            }
            IterationEvent::NotGraded { id, message } => {
                self.line(&format!("{id}: not graded: {message}"));
            }
            IterationEvent::Stopped { why } => {
                self.line(&format!("nothing more is started: {why}"));
            }
            IterationEvent::Finished { .. } => {}
        }
        self.draw();
    }

    /// Removes the line.
    pub(in crate::commands) fn finish(&mut self) {
        self.clear();
    }

    /// Something that a terminal need not keep.
    fn detail(&mut self, text: &str) {
        if !self.is_terminal {
            self.printer.say(text);
        }
    }

    fn line(&mut self, text: &str) {
        self.clear();
        self.printer.say(text);
    }

    fn clear(&mut self) {
        if self.is_terminal && self.drawn.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    fn draw(&mut self) {
        if !self.is_terminal || self.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY) {
            return;
        }
        let done = self.before + self.ended;
        let mut text = format!(
            "{done}/{} runs, {} running, {} graded",
            self.planned, self.running, self.graded
        );
        if self.failed > 0 {
            let _ = write!(text, ", {} without a result", self.failed);
        }
        if self.cost > 0.0 {
            let _ = write!(text, ", ${:.2}", self.cost);
        }
        text.push_str(&self.pace());
        let _ = write!(std::io::stderr(), "\r\x1b[2K{text}");
        let _ = std::io::stderr().flush();
        self.drawn = Some(Instant::now());
    }

    /// How fast it goes, and how long it will still take.
    fn pace(&self) -> String {
        let left = self.planned.saturating_sub(self.before + self.ended);
        if self.ended == 0 || left == 0 {
            return String::new();
        }
        #[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
        let each = self.began.elapsed().as_secs_f64() / self.ended as f64;
        #[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
        let seconds = each * left as f64;
        format!(", {:.1}/min, about {} left", 60.0 / each, shown(seconds))
    }
}

fn shown(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{seconds:.0} s")
    } else if seconds < 5400.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}
