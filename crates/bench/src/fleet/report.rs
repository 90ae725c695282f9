//! Renders the measurements as the section of docs/performance.md.
//!
//! Invariant: every number and every verdict is computed from the measurements of this run.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::child::Sample;
use crate::page;

/// The engine may cost so much for each run.
const WANTED_MS: f64 = 10.0;

/// What one side of one turn cost, from start to exit.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
}

/// Both sides, one after the other.
pub(crate) struct Turn {
    pub(crate) workers: u32,
    pub(crate) slots: u32,
    pub(crate) local: Cost,
    pub(crate) fleet: Cost,
}

pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) load: String,
    pub(crate) runs: u32,
    pub(crate) turns: Vec<Turn>,
}

impl Report {
    /// The section without its markers.
    pub(crate) fn render(&self) -> String {
        let workers: BTreeSet<(u32, u32)> =
            self.turns.iter().map(|turn| (turn.workers, turn.slots)).collect();
        let repetitions = self.turns.len() / workers.len().max(1);
        let mut out = format!(
            "## A fleet beside the local pool\n\nMeasured on {}; load {} at the start. {} runs of an agent that does nothing, \
             one structural check each; `run --jobs N` and `run --fleet` with N slots in all take turns, {repetitions} of each, \
             from start to exit. Server (one nats-server that syncs every write), workers and the collecting command share \
             this machine, so more workers get no more cores: the table shows what the engine costs, not how it scales. \
             A run on the fleet is all that it is at home, its checks included, and a job that is queued, pulled and \
             acknowledged, a look whether there is a result and whether the plan is still wanted, the run's folder packed into \
             the record of its result, that record committed, read by the collecting command, unpacked and synced. The folders \
             are small enough for that; larger ones are uploaded, and a judge would be asked by a second job for each run: \
             neither is in these numbers. The cost is the fleet's time minus the local pool's, for each run.\n\n",
            self.machine, self.load, self.runs
        );
        out.push_str("| goal | measured | |\n|---|---|---|\n");
        for &(number, slots) in &workers {
            let cost = self.cost_ms(number, |cost| cost.wall_seconds);
            let verdict = page::met(cost <= WANTED_MS);
            let _ = writeln!(
                out,
                "| at most {WANTED_MS:.0} ms a run, {} of {} slots | {cost:.2} ms | {verdict} |",
                counted(number),
                slots / number
            );
        }
        out.push_str(
            "\n| | runs per second, fleet | local pool | wall cost per run | CPU cost per run | CPU per run, fleet | local pool |\n\
             |---|---|---|---|---|---|---|\n",
        );
        for &(number, slots) in &workers {
            let per_second = |of: fn(&Turn) -> Cost| {
                f64::from(self.runs) / self.median(number, |turn| of(turn).wall_seconds)
            };
            let cpu = |of: fn(&Turn) -> Cost| {
                self.median(number, |turn| of(turn).cpu_seconds) * 1e3 / f64::from(self.runs)
            };
            let _ = writeln!(
                out,
                "| {}, {slots} slots | {:.0} | {:.0} | {:.2} ms | {:.2} ms | {:.2} ms | {:.2} ms |",
                counted(number),
                per_second(|turn| turn.fleet),
                per_second(|turn| turn.local),
                self.cost_ms(number, |cost| cost.wall_seconds),
                self.cost_ms(number, |cost| cost.cpu_seconds),
                cpu(|turn| turn.fleet),
                cpu(|turn| turn.local),
            );
        }
        out
    }

    /// Milliseconds per run by which the fleet is above the local pool beside it, in the median.
    fn cost_ms(&self, workers: u32, of: impl Fn(&Cost) -> f64) -> f64 {
        let runs = f64::from(self.runs);
        self.median(workers, |turn| (of(&turn.fleet) - of(&turn.local)) * 1e3 / runs)
    }

    fn median(&self, workers: u32, of: impl Fn(&Turn) -> f64) -> f64 {
        Sample::of(self.turns.iter().filter(|turn| turn.workers == workers).map(of)).median()
    }
}

fn counted(workers: u32) -> String {
    if workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") }
}
