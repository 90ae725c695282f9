//! Renders the measurements as the section of docs/performance.md.
//!
//! Invariant: every number and every verdict is computed from the measurements of this run; a goal
//! that could not be measured says so.

use std::fmt::Write as _;

use super::experiment::{Memory, Singles, Starts, Throughput};
use super::rival::LibraryRun;
use crate::child::{Cost, Sample};
use crate::page;

/// So much CPU time a skill, in times of what reading the files alone takes.
const WANTED_READINGS: f64 = 6.0;
const WANTED_START_MS: f64 = 5.0;
/// Twice the skills may need this much more memory: the noise of an allocator, not growth.
const WANTED_GROWTH: f64 = 1.10;

/// All results of one run.
pub(crate) struct Report {
    pub(crate) load: String,
    pub(crate) version: String,
    pub(crate) skills: usize,
    pub(crate) throughput: Throughput,
    pub(crate) singles: Singles,
    pub(crate) starts: Vec<Starts>,
    pub(crate) memory: Memory,
    /// Why there is no rival, when there is none.
    pub(crate) no_rival: Option<String>,
}

impl Report {
    /// The section without its markers.
    pub(crate) fn render(&self) -> String {
        let mut out = format!(
            "## `skillgauge validate`\n\nMeasured with {} on {}; load {} at the start.\n\n",
            self.version,
            page::describe(),
            self.load
        );
        self.goals(&mut out);
        self.speed(&mut out);
        self.one_process_per_skill(&mut out);
        self.start_up(&mut out);
        self.peaks(&mut out);
        let _ = writeln!(
            out,
            "The corpus is generated from a seed, with the mix of 20,002 public skills: how descriptions are written, sizes, \
             files, and the flaws of real authors (crates/bench/src/validate/skill.rs)."
        );
        out
    }

    fn skills(&self) -> f64 {
        number(self.skills)
    }

    /// CPU seconds per skill of the library loop, one value per part of the corpus.
    fn library(&self) -> Sample {
        Sample::of(self.throughput.library.iter().map(LibraryRun::cpu_per_skill))
    }

    fn per_skill(&self, costs: &[Cost]) -> Sample {
        Sample::of(costs.iter().map(|cost| cost.cpu_seconds() / self.skills()))
    }

    fn goals(&self, out: &mut String) {
        let readings = self.per_skill(&self.throughput.all_jobs).median()
            / self.per_skill(&self.throughput.reading).median();
        let start = self.starts.last().map_or(f64::NAN, |starts| median_ms(&starts.seconds));
        let peaks: Vec<f64> = self.memory.sizes.iter().map(|(_, costs)| peak(costs)).collect();
        let growth = match peaks[..] {
            [.., before, last] => last / before,
            _ => f64::NAN,
        };
        out.push_str("| goal | measured | |\n|---|---|---|\n");
        let _ = writeln!(
            out,
            "| at most {WANTED_READINGS:.0} times the CPU time of reading alone, a skill | {} | {} |",
            measured(readings, |x| format!("{x:.1} times")),
            verdict(readings, |x| x <= WANTED_READINGS)
        );
        let _ = writeln!(
            out,
            "| start-up below {WANTED_START_MS:.0} ms (one small skill, from start to exit) | {} | {} |",
            measured(start, |x| format!("{x:.2} ms")),
            verdict(start, |x| x < WANTED_START_MS)
        );
        let _ = writeln!(
            out,
            "| memory does not grow with the number of skills (twice as many need at most {:.0} % more) | {} | {} |\n",
            (WANTED_GROWTH - 1.0) * 100.0,
            measured(growth, |x| format!("{:+.1} %", (x - 1.0) * 100.0)),
            verdict(growth, |x| x <= WANTED_GROWTH)
        );
    }

    fn speed(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "### Speed\n\nThe files are in the page cache{}. CPU is user and system time of the whole process, \
             the search for skills included; for the skills-ref library it is the loop alone, with the list of skills \
             given to it and neither the start of Python nor its imports counted. skills-ref checks the front \
             matter; skillgauge also checks the body and what is in the skill's folder. \"Reading alone\" is a program that \
             lists the same folders and reads each SKILL.md with as few system calls as it can, and checks nothing.\n\n\
             | | CPU per skill, median | best | skills per CPU second | skills per second (wall) | peak memory |\n\
             |---|---|---|---|---|---|",
            self.not_cached()
        );
        let rows = [
            ("skillgauge, all cores", &self.throughput.all_jobs),
            ("skillgauge `--jobs 1`", &self.throughput.one_job),
            ("reading alone", &self.throughput.reading),
        ];
        for (what, costs) in rows {
            let wall = Sample::of(costs.iter().map(|cost| cost.wall_seconds));
            let rate = self.skills() / wall.median();
            speed_row(out, what, &self.per_skill(costs), rate, peak(costs));
        }
        if let Some(why) = &self.no_rival {
            let _ = writeln!(out, "\nskills-ref was not measured: {why}\n");
            return;
        }
        let library = &self.throughput.library;
        let rate = Sample::of(library.iter().map(|run| number(run.skills) / run.wall_seconds));
        let peaks = Sample::of(library.iter().map(|run| kib(run.peak_kib)));
        speed_row(out, "skills-ref, library", &self.library(), rate.median(), peaks.max());
        self.ratios(out);
    }

    /// Admits runs that had to wait for a disk; empty when there was none.
    fn not_cached(&self) -> String {
        let Throughput { all_jobs, one_job, reading, .. } = &self.throughput;
        let costs = || [all_jobs, one_job, reading].into_iter().flatten();
        match costs().filter(|cost| cost.disk_reads > 0).count() {
            0 => String::new(),
            some => format!(" (but {some} of {} runs still read from the disk)", costs().count()),
        }
    }

    fn ratios(&self, out: &mut String) {
        let theirs = self.library();
        let all = self.per_skill(&self.throughput.all_jobs);
        let one = self.per_skill(&self.throughput.one_job);
        let _ = writeln!(
            out,
            "\nskillgauge does **{:.0} times** as many skills per CPU second as the skills-ref library ({:.0} times with \
             `--jobs 1`; {:.0} times when our median meets their best). Reading alone would be {:.0} times as many: with the \
             files in the cache, the system calls that find and read them set the limit.\n",
            theirs.median() / all.median(),
            theirs.median() / one.median(),
            theirs.min() / all.median(),
            theirs.median() / self.per_skill(&self.throughput.reading).median(),
        );
        let library = &self.throughput.library;
        if let Some(run) = library.first() {
            let skills: usize = library.iter().map(|run| run.skills).sum();
            let valid: usize = library.iter().map(|run| run.valid).sum();
            let crashed: usize = library.iter().map(|run| run.crashed).sum();
            let _ = writeln!(
                out,
                "{} repetitions of the {} skills, interleaved with skills-ref {} (Python {}, strictyaml {}), which took one \
                 part of the corpus in each: {skills} skills in all, {valid} of them valid for it, {crashed} crashes.\n",
                all.len(),
                self.skills,
                run.skills_ref,
                run.python,
                run.strictyaml,
            );
        }
    }

    fn one_process_per_skill(&self, out: &mut String) {
        let cpu = |costs: &[Cost]| Sample::of(costs.iter().map(Cost::cpu_seconds));
        let wall = |costs: &[Cost]| Sample::of(costs.iter().map(|cost| cost.wall_seconds));
        let rows = [("skillgauge", &self.singles.ours), ("`agentskills`", &self.singles.theirs)];
        let _ = writeln!(
            out,
            "### One process per skill\n\n`skillgauge validate SKILL` and skills-ref's command line `agentskills validate SKILL`, \
             {} skills.\n\n| | CPU, median | best | wall, median | peak memory |\n|---|---|---|---|---|",
            self.singles.ours.len()
        );
        for (what, costs) in rows.iter().filter(|(_, costs)| !costs.is_empty()) {
            let _ = writeln!(
                out,
                "| {what} | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} MiB |",
                cpu(costs).median() * 1e3,
                cpu(costs).min() * 1e3,
                wall(costs).median() * 1e3,
                peak(costs),
            );
        }
        if !self.singles.theirs.is_empty() {
            let theirs = cpu(&self.singles.theirs).median();
            let _ = writeln!(
                out,
                "\nRatio per CPU second: {:.0}. Against one skillgauge for the whole corpus: {:.0}.",
                theirs / cpu(&self.singles.ours).median(),
                theirs / self.per_skill(&self.throughput.all_jobs).median()
            );
        }
        out.push('\n');
    }

    fn start_up(&self, out: &mut String) {
        let starts = self.starts.first().map_or(0, |starts| starts.seconds.len());
        let _ = writeln!(
            out,
            "### Start-up\n\nWall time from start to exit, {starts} starts of each, taking turns.\n\n\
             | | median | best |\n|---|---|---|"
        );
        for starts in &self.starts {
            let sample = Sample::of(starts.seconds.iter().map(|seconds| seconds * 1e3));
            let _ = writeln!(
                out,
                "| {} | {:.2} ms | {:.2} ms |",
                starts.what,
                sample.median(),
                sample.min()
            );
        }
        out.push('\n');
    }

    fn peaks(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "### Memory\n\nPeak resident memory of one process, the largest of {} runs, each in a process of its own. \
             `/bin/true` measured in the same way: {:.1} MiB.\n\n| skills | peak |\n|---|---|",
            self.memory.sizes.first().map_or(0, |(_, costs)| costs.len()),
            kib(self.memory.floor.peak_kib),
        );
        for (skills, costs) in &self.memory.sizes {
            let _ = writeln!(out, "| {skills} | {:.1} MiB |", peak(costs));
        }
        out.push('\n');
    }
}

fn speed_row(out: &mut String, what: &str, cpu: &Sample, rate: f64, peak: f64) {
    let _ = writeln!(
        out,
        "| {what} | {:.1} µs | {:.1} µs | {:.0} | {rate:.0} | {peak:.1} MiB |",
        cpu.median() * 1e6,
        cpu.min() * 1e6,
        1.0 / cpu.median(),
    );
}

fn measured(value: f64, show: impl Fn(f64) -> String) -> String {
    if value.is_finite() { show(value) } else { "not measured".to_owned() }
}

fn verdict(value: f64, goal: impl Fn(f64) -> bool) -> &'static str {
    match (value.is_finite(), goal(value)) {
        (true, true) => "met",
        (true, false) => "not met",
        (false, _) => "unknown",
    }
}

fn median_ms(seconds: &[f64]) -> f64 {
    Sample::of(seconds.iter().copied()).median() * 1e3
}

fn peak(costs: &[Cost]) -> f64 {
    Sample::of(costs.iter().map(|cost| kib(cost.peak_kib))).max()
}

/// Mebibytes of a number of kibibytes.
#[expect(clippy::cast_precision_loss, reason = "a process has less than 2^52 KiB")]
fn kib(kib: i64) -> f64 {
    kib as f64 / 1024.0
}

#[expect(clippy::cast_precision_loss, reason = "counts of a corpus fit an f64")]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}
