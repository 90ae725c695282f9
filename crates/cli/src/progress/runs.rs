//! Follows the events of an iteration: counts on one line of a terminal, a line for each run elsewhere.

use std::fmt::Write as _;
use std::time::Instant;

use skillgauge_core::text::plural;
use skillgauge_format::transcript::Outcome;
use skillgauge_run::iteration::{IterationEvent, MAX_FAILURES};

use super::{StatusLine, pace};
use crate::Printer;

/// What has happened so far.
#[derive(Debug)]
pub(crate) struct RunProgress {
    printer: Printer,
    status: StatusLine,
    planned: usize,
    before: usize,
    running: usize,
    ended: usize,
    failed: usize,
    graded: usize,
    cost: f64,
    began: Instant,
}

impl RunProgress {
    pub(crate) fn new(printer: &Printer, planned: usize) -> Self {
        Self {
            printer: printer.clone(),
            status: StatusLine::new(printer),
            planned,
            before: 0,
            running: 0,
            ended: 0,
            failed: 0,
            graded: 0,
            cost: 0.0,
            began: Instant::now(),
        }
    }

    pub(crate) fn take(&mut self, event: &IterationEvent) {
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
                message,
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
                let said = message.as_ref().filter(|_| *outcome != Outcome::Completed);
                let said = said.map(|said| format!(": {said}")).unwrap_or_default();
                self.detail(&format!("{id}: {outcome}{why} in {seconds:.1} s{loaded}{said}"));
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
            IterationEvent::Warned { message } => self.line(&format!("warning: {message}")),
            IterationEvent::LeftAlone { runs } => {
                self.line(&format!(
                    "{} failed in {MAX_FAILURES} calls and {} not run again; `--retry-failed` runs {}",
                    plural(*runs, "run"),
                    if *runs == 1 { "is" } else { "are" },
                    if *runs == 1 { "it" } else { "them" },
                ));
            }
            IterationEvent::Stopped { why } => {
                self.line(&format!("nothing more is started: {why}"));
            }
            IterationEvent::Finished { .. } => {}
        }
        self.draw();
    }

    pub(crate) fn finish(&mut self) {
        self.status.clear();
    }

    /// Something that a terminal need not keep.
    fn detail(&mut self, text: &str) {
        if !self.status.is_terminal {
            self.printer.say(text);
        }
    }

    fn line(&mut self, text: &str) {
        self.status.clear();
        self.printer.say(text);
    }

    fn draw(&mut self) {
        if !self.status.is_terminal || !self.status.is_due() {
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
        let left = self.planned.saturating_sub(done);
        text.push_str(&pace(self.ended, left, self.began.elapsed()));
        self.status.draw(&text);
    }
}
