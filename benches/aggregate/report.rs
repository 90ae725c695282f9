//! Renders the measurements as the section of docs/performance.md.
//!
//! Invariant: every number and every verdict is computed from the measurements of this run.

use std::fmt::Write as _;

use super::child::Cost;
use super::iteration::{Shape, Written};
use super::sample::Sample;

const WANTED: f64 = 20.0;

/// The public script's side.
pub(crate) struct Rival {
    pub(crate) costs: Vec<Cost>,
    /// Numbers of its summary that ours has too.
    pub(crate) numbers: usize,
}

/// All results.
pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) load: String,
    pub(crate) shape: Shape,
    pub(crate) written: Written,
    pub(crate) ours: Vec<Cost>,
    pub(crate) rival: Option<Rival>,
}

impl Report {
    /// The section without its markers.
    pub(crate) fn render(&self) -> String {
        let runs = self.shape.all();
        let mut out = format!(
            "## Aggregating an iteration\n\nMeasured on {}; load {} at the start. The iteration has {runs} graded runs: {} \
             cases, with and without the skill, {} runs each; {} files, {:.0} MB, a grading of {:.1} kB. The files are in the \
             page cache. `skillgauge bench` reads them, computes intervals, paired differences and notes, and writes its \
             three files synced to the disk.\n\n",
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
        row("`skillgauge bench`", &self.ours, &mut out);
        if let Some(rival) = &self.rival {
            row("`aggregate_benchmark.py`", &rival.costs, &mut out);
            let _ = writeln!(
                out,
                "\n{} turns of each, one after the other, from start to exit. The {} values of the script's `run_summary` \
                 are also ours.",
                rival.costs.len(),
                rival.numbers
            );
        } else {
            out.push_str(
                "\nThe script was left out: `SKILLGAUGE_SKILL_CREATOR` did not say where the skill-creator is.\n",
            );
        }
        out
    }

    fn goal(&self, out: &mut String) {
        type Of = fn(&Cost) -> f64;
        let Some(rival) = &self.rival else { return };
        out.push_str("| goal | measured | |\n|---|---|---|\n");
        let rows: [(&str, Of); 2] =
            [("wall time", |cost| cost.wall_seconds), ("CPU time", Cost::cpu_seconds)];
        for (what, of) in rows {
            let ratio = median(&rival.costs, of) / median(&self.ours, of);
            let _ = writeln!(
                out,
                "| at least {WANTED:.0} times faster than the skill-creator's `aggregate_benchmark.py`, {what} | {ratio:.0} \
                 times | {} |",
                if ratio >= WANTED { "met" } else { "not met" }
            );
        }
        out.push('\n');
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
        "| {what} | {:.2} s | {:.2} s | {:.2} s | {:.2} s | {:.0} MiB |",
        wall.median(),
        wall.min(),
        cpu.median(),
        cpu.min(),
        memory.max()
    );
}

#[expect(clippy::cast_precision_loss, reason = "nothing here comes near 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}
