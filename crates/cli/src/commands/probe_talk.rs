//! Tells the user what probes are doing: the control, what is known already, counts while they run.

use std::fmt::Write as _;

use skillgauge_core::text::counted;
use skillgauge_core::trigger::Answer;
use skillgauge_run::probe::{MAX_FAILURES, ProbeEvent};
use skillgauge_run::tune::{Stage, TuneEvent};

use crate::Printer;
use crate::progress::Progress;

/// Listens to a batch of probes of one skill, or of several.
pub(crate) struct ProbeTalk {
    /// The skill; none when any that is loaded counts.
    skill: Option<String>,
    printer: Printer,
    progress: Progress,
    triggers: u64,
    errors: u64,
    saved: u64,
}

impl ProbeTalk {
    pub(crate) fn new(what: &str, skill: &str, printer: Printer) -> Self {
        Self { skill: Some(skill.to_owned()), ..Self::of_any(what, printer) }
    }

    /// For probes in which any skill may be loaded.
    pub(crate) fn of_any(what: &str, printer: Printer) -> Self {
        Self {
            skill: None,
            progress: Progress::new(what, &printer),
            printer,
            triggers: 0,
            errors: 0,
            saved: 0,
        }
    }

    pub(crate) fn hear(&mut self, event: &ProbeEvent<'_>) {
        match event {
            ProbeEvent::RequestCaptured { agent, version } => {
                let version = version.map(|version| format!(" {version}")).unwrap_or_default();
                self.printer.say(&format!("each probe sends what {agent}{version} would send"));
            }
            ProbeEvent::RequestBuiltIn { reason } => self.printer.say(&format!(
                "warning: each probe sends a request of our own, not the agent's: {reason}"
            )),
            ProbeEvent::ControlStarted { .. } => self.printer.say("asking the positive control"),
            ProbeEvent::Started { probes, resumed, left, journal } => {
                if let (1.., Some(path)) = (*resumed, journal) {
                    self.printer.say(&format!(
                        "{resumed} of {probes} probes are known from {}; `--fresh` measures them again",
                        path.display()
                    ));
                }
                if *left > 0 {
                    self.printer.say(&format!(
                        "{} failed in {MAX_FAILURES} calls and {} not asked again; `--retry-failed` asks {}",
                        counted(*left, "probe", "probes"),
                        if *left == 1 { "is" } else { "are" },
                        if *left == 1 { "it" } else { "them" },
                    ));
                }
                self.progress.begin(*probes, resumed + left);
            }
            ProbeEvent::Ended { result, .. } => {
                let seen = &result.observation;
                let skill = self.skill.as_deref().or(seen.first_loaded()).unwrap_or_default();
                match seen.answer(skill) {
                    Answer::Triggered(_) => self.triggers += 1,
                    Answer::NotTriggered => {}
                    Answer::Unmeasured(_) => self.errors += 1,
                }
                self.step();
            }
            ProbeEvent::Saved { .. } => {
                self.saved += 1;
                self.step();
            }
            _ => {}
        }
    }

    fn step(&mut self) {
        let mut note = format!("{} triggered", self.triggers);
        for (count, what) in [(self.errors, "errored"), (self.saved, "saved")] {
            if count > 0 {
                let _ = write!(note, ", {count} {what}");
            }
        }
        self.progress.step(&note);
    }

    pub(crate) fn end(&mut self) {
        self.progress.end();
    }
}

/// Tells the user how a loop goes.
pub(crate) struct TuneTalk {
    skill: String,
    printer: Printer,
    probes: Option<ProbeTalk>,
}

impl TuneTalk {
    pub(crate) fn new(skill: &str, printer: Printer) -> Self {
        Self { skill: skill.to_owned(), printer, probes: None }
    }

    pub(crate) fn hear(&mut self, event: &TuneEvent<'_>) {
        match event {
            TuneEvent::Measuring { round, stage, .. } => {
                self.end();
                let what = match stage {
                    Stage::Round => format!("round {round}"),
                    Stage::Choosing { left } => format!("round {round}, choosing among {left}"),
                    Stage::Proof { run, runs, .. } => format!("proof, run {run} of {runs}"),
                };
                self.probes = Some(ProbeTalk::new(&what, &self.skill, self.printer.clone()));
            }
            TuneEvent::Probe(event) => {
                if let Some(probes) = &mut self.probes {
                    probes.hear(event);
                }
            }
            TuneEvent::Measured(iteration) => {
                self.end();
                let test = if iteration.test_total > 0 {
                    format!(", {} of {} held-out ones", iteration.test_passed, iteration.test_total)
                } else {
                    String::new()
                };
                self.printer.say(&format!(
                    "round {}: {} of {} training queries pass{test}",
                    iteration.round, iteration.train_passed, iteration.train_total
                ));
            }
            TuneEvent::Improving { round } => {
                self.printer.say(&format!("round {round}: asking for a better description"));
            }
            TuneEvent::NothingUsable { round } => {
                self.printer.say(&format!("round {round}: nothing usable was proposed"));
            }
            _ => {}
        }
    }

    pub(crate) fn end(&mut self) {
        if let Some(mut probes) = self.probes.take() {
            probes.end();
        }
    }
}
