//! Runs one program and says what it cost: wall time, CPU time, peak memory; and samples of such numbers.
//!
//! The kernel gives a parent the largest peak of *all* its children. So each measurement is made by a
//! fresh copy of this benchmark that starts exactly one child (`measure_only_child`). Invariant: that
//! copy stays small, because a child's peak is never below what its parent had when it started it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use serde::{Deserialize, Serialize};

/// The hidden first argument of the copy.
pub(crate) const MEASURE: &str = "--measure-only-child";

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) wall_seconds: f64,
    pub(crate) user_seconds: f64,
    pub(crate) system_seconds: f64,
    pub(crate) peak_kib: i64,
    /// Reads that the page cache could not answer.
    pub(crate) disk_reads: i64,
    pub(crate) exit_code: Option<i32>,
}

impl Cost {
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}

/// Measures a command whose exit code must be 0 or 1 (1: there are findings).
pub(crate) fn measure(program: &Path, arguments: &[&str]) -> Result<Cost> {
    let this = std::env::current_exe()?;
    let output = Command::new(this)
        .arg(MEASURE)
        .arg(program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start the measuring copy of this benchmark")?;
    ensure!(output.status.success(), "measuring {} failed", program.display());
    let cost: Cost = serde_json::from_slice(&output.stdout)?;
    match cost.exit_code {
        Some(0 | 1) => Ok(cost),
        code => bail!("{} {arguments:?} ended with {code:?}", program.display()),
    }
}

/// Measures again, twice at most, when the system had dropped files from its cache: waiting for a disk says
/// nothing about a validator.
pub(crate) fn measure_cached(program: &Path, arguments: &[&str]) -> Result<Cost> {
    let mut cost = measure(program, arguments)?;
    for _ in 0..2 {
        if cost.disk_reads == 0 {
            break;
        }
        cost = measure(program, arguments)?;
    }
    Ok(cost)
}

/// The copy's whole work: starts the command, waits for it, prints its [`Cost`] as JSON.
pub(crate) fn measure_only_child(command: &[String]) -> Result<()> {
    let (program, arguments) = command.split_first().context("no command to measure")?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    let wall_seconds = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cost = Cost {
        wall_seconds,
        user_seconds: seconds(usage.user_time()),
        system_seconds: seconds(usage.system_time()),
        peak_kib: usage.max_rss(),
        disk_reads: usage.block_reads(),
        exit_code: status.code(),
    };
    serde_json::to_writer(std::io::stdout(), &cost)?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a benchmark fit an f64")]
fn seconds(time: TimeVal) -> f64 {
    time.num_microseconds() as f64 / 1e6
}

/// The wall time of one start, in seconds, measured from here without the copy in between.
pub(crate) fn spawn_seconds(program: &Path, arguments: &[&str]) -> Result<f64> {
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let elapsed = start.elapsed().as_secs_f64();
    ensure!(matches!(status.code(), Some(0 | 1)), "{} ended with {status}", program.display());
    Ok(elapsed)
}

/// Repeated measurements of one number. An empty sample answers with NaN, which nobody can take for a result.
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The middle value; the lower one of two.
    pub(crate) fn median(&self) -> f64 {
        self.0.get(self.0.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
