//! Renders the measurements as the section of docs/performance.md.
//!
//! Invariant: every number and every verdict is computed from the measurements of this run.

use std::fmt::Write as _;

use super::iteration::{Shape, Written};
use crate::child::{Cost, Sample};
use crate::page;

const WANTED: f64 = 8.0;

/// What each side cost, turn by turn.
#[derive(Default)]
pub(crate) struct Costs {
    /// Ours, on an iteration of ours.
    pub(crate) ours: Vec<Cost>,
    /// Ours, on an iteration of another tool.
    pub(crate) others: Vec<Cost>,
    pub(crate) floor: Vec<Cost>,
    /// The public script; empty when it was left out.
    pub(crate) script: Vec<Cost>,
}

pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) load: String,
    pub(crate) shape: Shape,
    pub(crate) written: Written,
    pub(crate) costs: Costs,
    /// Numbers of the script's summary that ours has too.
    pub(crate) numbers: Option<usize>,
}

impl Report {
    /// The section without its markers.
    pub(crate) fn render(&self) -> String {
        let runs = self.shape.all();
        let mut out = format!(
            "## Aggregating an iteration\n\nMeasured on {}; load {} at the start. The iteration has {runs} graded runs: {} \
             cases, with and without the skill, {} runs each; {} files, {:.0} MB, a grading of {:.1} kB. The files are in the \
             page cache. `skillgauge bench` reads them, computes intervals, paired differences and notes, and writes its \
             three files.\n\n",
            self.machine,
            self.load,
            self.shape.cases,
            self.shape.runs,
            self.written.files,
            number(self.written.bytes) / 1e6,
            number(self.written.grading_bytes) / f64::from(runs) / 1e3,
        );
        self.goal(&mut out);
        out.push_str("| | wall, median | best | CPU, median | best | peak memory |\n|---|---|---|---|---|---|\n");
        row("`skillgauge bench`, an iteration of ours", &self.costs.ours, &mut out);
        row("`skillgauge bench`, the same as another tool leaves it", &self.costs.others, &mut out);
        row(
            "reading every grading.json on all cores, and nothing else",
            &self.costs.floor,
            &mut out,
        );
        if let Some(numbers) = self.numbers {
            row("`aggregate_benchmark.py`", &self.costs.script, &mut out);
            let _ = writeln!(
                out,
                "\n{} turns of each, one after the other, from start to exit; in each turn a program is started twice, what it \
                 wrote is removed before, and the second start counts. The {numbers} values of the script's \
                 `run_summary` are also ours.",
                self.costs.ours.len(),
            );
        } else {
            out.push_str(
                "\nThe script was left out: `SKILLGAUGE_SKILL_CREATOR` did not say where the skill-creator is.\n",
            );
        }
        out
    }

    fn goal(&self, out: &mut String) {
        if self.costs.script.is_empty() {
            return;
        }
        let times =
            |of: fn(&Cost) -> f64| median(&self.costs.script, of) / median(&self.costs.ours, of);
        let ratio = times(|cost| cost.wall_seconds);
        let _ = writeln!(
            out,
            "| goal | measured | |\n|---|---|---|\n| at least {WANTED:.0} times faster than the skill-creator's \
             `aggregate_benchmark.py` | {ratio:.1} times | {} |\n\nBy CPU time, all cores together, it is {:.1} times.\n",
            page::met(ratio >= WANTED),
            times(Cost::cpu_seconds),
        );
    }
}

fn median(costs: &[Cost], of: fn(&Cost) -> f64) -> f64 {
    Sample::of(costs.iter().map(of)).median()
}

fn row(what: &str, costs: &[Cost], out: &mut String) {
    let wall = Sample::of(costs.iter().map(|cost| cost.wall_seconds));
    let cpu = Sample::of(costs.iter().map(Cost::cpu_seconds));
    #[expect(clippy::cast_precision_loss, reason = "a process has less than 2^52 KiB")]
    let memory = Sample::of(costs.iter().map(|cost| cost.peak_kib as f64 / 1024.0));
    let _ = writeln!(
        out,
        "| {what} | {:.0} ms | {:.0} ms | {:.0} ms | {:.0} ms | {:.0} MiB |",
        wall.median() * 1e3,
        wall.min() * 1e3,
        cpu.median() * 1e3,
        cpu.min() * 1e3,
        memory.max()
    );
}

#[expect(clippy::cast_precision_loss, reason = "nothing here comes near 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}
