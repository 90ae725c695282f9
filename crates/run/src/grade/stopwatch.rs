//! When a grading began and ended, for the `grader_*` fields of `timing.json`.

use std::time::{Instant, SystemTime};

use skillgauge_core::time::timestamp;
use skillgauge_format::evals::Timing;

/// Runs from its making on.
pub(super) struct Stopwatch {
    started: SystemTime,
    /// The clock on the wall may be set back meanwhile.
    since: Instant,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self { started: SystemTime::now(), since: Instant::now() }
    }

    /// The run's timing with that of its grading, which ends now. The totals stay those of the agent's work: they are
    /// what a skill is measured by.
    pub(super) fn stop(&self, of_run: &Timing) -> Timing {
        let elapsed = self.since.elapsed();
        let seconds = (elapsed.as_secs_f64() * 1000.0).round() / 1000.0;
        Timing {
            grader_start: Some(timestamp(self.started)),
            grader_end: Some(timestamp(self.started + elapsed)),
            grader_duration_seconds: Some(seconds.into()),
            ..of_run.clone()
        }
    }
}
