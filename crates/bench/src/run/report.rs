//! Renders the measurements as the section of docs/performance.md.
//!
//! Invariant: every number and every verdict is computed from the measurements of this run.

use std::fmt::Write as _;

use super::batch::{Carried, Timed};
use super::memory::GuardMemory;
use super::stage::{Effort, Pair};
use crate::child::{Cost, Sample};
use crate::page;

const WANTED_MS: f64 = 20.0;
const WANTED_MB: f64 = 5.0;

pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) load: String,
    pub(crate) effort: Effort,
    pub(crate) guard: GuardMemory,
    pub(crate) singles: Carried,
    pub(crate) batches: Vec<Pair>,
}

impl Report {
    /// The section without its markers.
    pub(crate) fn render(&self) -> String {
        let mut out = format!(
            "## Carrying out runs\n\nMeasured on {}; load {} at the start. The agent is a scripted program that reads a file, \
             writes another and says so: it takes {:.1} ms (median, by its guard's clock), so that our part shows. A run of ours is all \
             that the product does: private folders with the input files (3) and a git repository, the agent under its guard with \
             limits and a watchdog, its events read into a transcript, its output found and copied, the folders removed. The \
             shell loop is `xargs -P {}` around the same program with its output thrown away: no limits, \
             nothing collected, and what an agent leaves behind stays.\n\n",
            self.machine,
            self.load,
            Sample::of(self.singles.runs.iter().map(|run| run.agent.as_secs_f64() * 1e3)).median(),
            self.effort.jobs,
        );
        self.goals(&mut out);
        self.batches(&mut out);
        self.memory(&mut out);
        out
    }

    fn goals(&self, out: &mut String) {
        let single = Sample::of(self.singles.runs.iter().map(Timed::overhead_ms)).median();
        let cpu = self.median_difference(Cost::cpu_seconds);
        let wall = self.median_difference(|cost| cost.wall_seconds);
        let memory = self.per_run_mb();
        let Effort { runs, jobs, .. } = self.effort;
        let rows = [
            ("wall, one run at a time: everything but the agent's own time".to_owned(), single),
            (format!("CPU beyond the shell loop, {runs} runs at `--jobs {jobs}`"), cpu),
            (format!("wall beyond the shell loop, {runs} runs at `--jobs {jobs}`"), wall),
        ];
        out.push_str("| goal, per run | measured | |\n|---|---|---|\n");
        for (what, value) in rows {
            let _ = writeln!(
                out,
                "| below {WANTED_MS:.0} ms {what} | {value:.2} ms | {} |",
                page::met(value < WANTED_MS)
            );
        }
        let _ = writeln!(
            out,
            "| below {WANTED_MB:.0} MB of memory of ours, the guard included | {memory:.2} MB | {} |\n",
            page::met(memory < WANTED_MB)
        );
    }

    /// Milliseconds per run by which ours is above the shell loop beside it.
    fn median_difference(&self, of: impl Fn(&Cost) -> f64) -> f64 {
        let difference = |pair: &Pair| (of(&pair.ours) - of(&pair.shell)) * 1e3 / self.runs();
        Sample::of(self.batches.iter().map(difference)).median()
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of runs fits an f64")]
    fn runs(&self) -> f64 {
        self.effort.runs as f64
    }

    fn batches(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "### Batches\n\n{} batches of {} runs each, {} at once, taking turns; CPU is user and system time of all processes, \
             agents included.\n\n| | CPU per run, median | best | runs per second (wall), median | best |\n|---|---|---|---|---|",
            self.batches.len(),
            self.effort.runs,
            self.effort.jobs,
        );
        let ours: Vec<&Cost> = self.batches.iter().map(|pair| &pair.ours).collect();
        let shell: Vec<&Cost> = self.batches.iter().map(|pair| &pair.shell).collect();
        let script: Vec<&Cost> =
            self.batches.iter().filter_map(|pair| pair.script.as_ref()).collect();
        let has_script = !script.is_empty();
        for (what, costs) in
            [("skillgauge", ours), ("`run_eval.py`", script), ("shell loop", shell)]
        {
            if costs.is_empty() {
                continue;
            }
            let cpu = costs.iter().map(|cost| cost.cpu_seconds() * 1e3 / self.runs());
            let rate = costs.iter().map(|cost| self.runs() / cost.wall_seconds);
            let (cpu, rate) = (Sample::of(cpu), Sample::of(rate));
            let _ = writeln!(
                out,
                "| {what} | {:.2} ms | {:.2} ms | {:.0} | {:.0} |",
                cpu.median(),
                cpu.min(),
                rate.median(),
                rate.max()
            );
        }
        out.push_str(if has_script {
            "\n`run_eval.py` is the public skill-creator's, with the same scripted program as `claude` and as many workers as we \
             have jobs: all its runs share one folder and the user's settings, it reads the events up to the first tool \
             call, kills the program, and keeps a yes or no.\n"
        } else {
            "\nThe skill-creator's `run_eval.py` was left out: `SKILLGAUGE_SKILL_CREATOR` did not say where it is.\n"
        });
        let single = Sample::of(self.singles.runs.iter().map(Timed::overhead_ms));
        let _ = writeln!(
            out,
            "\nOne at a time, {} runs: everything but the agent's own time took {:.2} ms in the median, {:.2} ms at best and \
             {:.2} ms at worst.\n",
            single.len(),
            single.median(),
            single.min(),
            single.max()
        );
    }

    fn memory(&self, out: &mut String) {
        let peak = Sample::of(self.batches.iter().map(|pair| mb(pair.carried.peak_kib))).max();
        let before = Sample::of(self.batches.iter().map(|pair| mb(pair.carried.before_kib))).max();
        let _ = writeln!(
            out,
            "### Memory\n\nThe scheduling process: {before:.1} MB before the first run, {peak:.1} MB at its peak with {} runs at \
             once, so {:.2} MB per run. With {} guards at once, each has {:.2} MB resident; the program's code among it is \
             there once for all of them, and the share of one guard is {:.2} MB (its own pages, and its part of the shared \
             ones). The sum of the first and the last is the number above.",
            self.effort.jobs,
            self.growth_per_run_mb(),
            self.effort.jobs,
            mb(self.guard.resident),
            mb(self.guard.proportional),
        );
    }

    fn per_run_mb(&self) -> f64 {
        self.growth_per_run_mb() + mb(self.guard.proportional)
    }

    fn growth_per_run_mb(&self) -> f64 {
        let growth =
            |pair: &Pair| mb(pair.carried.peak_kib.saturating_sub(pair.carried.before_kib));
        Sample::of(self.batches.iter().map(growth)).max() / f64::from(self.effort.jobs)
    }
}

/// Megabytes of a number of KiB.
#[expect(clippy::cast_precision_loss, reason = "a process has less than 2^52 KiB")]
fn mb(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1e6
}
