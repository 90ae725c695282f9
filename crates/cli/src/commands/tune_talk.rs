//! Tells the user how a loop goes.

use skillgauge_run::tune::TuneEvent;

use super::probe_talk::ProbeTalk;
use crate::Printer;

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
            TuneEvent::Measuring { round, .. } => {
                self.end();
                let what = format!("round {round}");
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
