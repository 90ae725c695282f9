//! Our side: a process that carries out a batch of runs with the library, as the product does.
//!
//! Each run is a whole one: private folders with the input files, the agent under its guard, its events read into a
//! transcript, the collection of outputs, the folders removed; a pool of `jobs` keeps them going. What the process
//! itself sees is left as JSON in a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};
use skillgauge_format::transcript::Outcome;
use skillgauge_run::agent::{AgentTask, Attempt, Executor, ExecutorSettings, Registry, TaskInput};
use skillgauge_run::cassette::Cassette;
use skillgauge_run::outputs::CollectLimits;
use skillgauge_run::pool::{Asked, Pool, Problem, RetryRules, Services, Work, run_all};
use skillgauge_run::process::Guard;
use tokio_util::sync::CancellationToken;

use super::memory::{own_peak_kib, own_resident_kib};

/// The hidden first argument of a process that does only this.
pub(crate) const CARRY_OUT: &str = "--carry-out";

#[derive(Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) agent: PathBuf,
    pub(crate) guard: PathBuf,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) outputs: PathBuf,
    pub(crate) jobs: u32,
    pub(crate) result: PathBuf,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Carried {
    pub(crate) runs: Vec<Timed>,
    /// Resident memory of this process before the first run, and its peak.
    pub(crate) before_kib: u64,
    pub(crate) peak_kib: u64,
}

/// One run: all of it, and the agent's own part.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) all: Duration,
    pub(crate) agent: Duration,
}

impl Timed {
    /// Everything but the agent's own time, in milliseconds.
    pub(crate) fn overhead_ms(&self) -> f64 {
        self.all.saturating_sub(self.agent).as_secs_f64() * 1e3
    }
}

/// The process's whole work.
pub(crate) fn carry_out(order: &Path) -> Result<()> {
    let batch: Batch = serde_json::from_slice(&fs_err::read(order)?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let carried = runtime.block_on(carry_out_all(&batch))?;
    fs_err::write(&batch.result, serde_json::to_vec(&carried)?)?;
    Ok(())
}

async fn carry_out_all(batch: &Batch) -> Result<Carried> {
    let before_kib = own_resident_kib()?;
    let registry = Registry::load(&[]).map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
    let executor = Executor::new(ExecutorSettings {
        registry,
        environment: [("PATH", "/usr/bin:/bin")].into_iter().collect(),
        guard: Guard::subcommand_of(&batch.guard),
        scratch: batch.outputs.with_file_name("scratch"),
        folder: batch.outputs.clone(),
        cassette: Arc::new(Cassette::off()),
        collect: CollectLimits::default(),
        services: Services::default(),
    });
    let agent = format!("command:{}", batch.agent.display());
    let work = Arc::new(Run { executor, agent, outputs: batch.outputs.clone() });
    let (pool, cancel) = (Pool::new(batch.jobs, work.executor.breaker()), CancellationToken::new());
    let rules = RetryRules::for_runs();
    let mut results = run_all(work, batch.folders.clone(), &pool, rules, 42, &cancel);
    let mut runs = Vec::new();
    while let Some(done) = results.recv().await {
        runs.push(done.output??);
    }
    Ok(Carried { runs, before_kib, peak_kib: own_peak_kib()? })
}

struct Run {
    executor: Executor,
    agent: String,
    outputs: PathBuf,
}

impl Work for Run {
    type Item = PathBuf;
    type Output = Result<Timed>;

    async fn attempt(
        &self,
        folder: &PathBuf,
        number: u32,
        cancel: CancellationToken,
    ) -> Result<Timed> {
        let started = Instant::now();
        let mut task = AgentTask::new(self.agent.as_str(), "Make a report.");
        for path in ["sales.csv", "data/notes.txt", "data/more.csv"] {
            task.inputs.push(TaskInput::read(folder, Path::new(path))?);
        }
        let outputs = self.outputs.join(folder.file_name().context("a folder without a name")?);
        let attempt = Attempt { task: &task, number, outputs: Some(&outputs) };
        let run = self.executor.attempt(attempt, &cancel, &mut |_| ()).await?;
        ensure!(run.outcome() == Outcome::Completed, "the agent failed: {run:?}");
        let copied = run.outputs.copied().count();
        ensure!(copied == 1, "the report was not found: {run:?}");
        Ok(Timed { all: started.elapsed(), agent: Duration::from_millis(run.timing.agent_ms) })
    }

    fn problem(&self, output: &Result<Timed>) -> Option<Problem> {
        // A failure ends the benchmark: what was retried would be measured twice.
        output
            .as_ref()
            .err()
            .map(|_| Problem::new(skillgauge_format::transcript::Reason::BadRequest))
    }

    fn asked(&self, _: &Result<Timed>) -> Asked {
        Asked::No
    }
}
