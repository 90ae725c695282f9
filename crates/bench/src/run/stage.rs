//! The work folders, the fake agent, and the ways in which it is started.
//!
//! Invariant: all ways start the same program with the same script; ours and the shell loop get folders of the same
//! content, the public script uses the one that it finds.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use skillgauge_testkit::agent::{AgentScript, Finish, Step, install};
use tempfile::TempDir;

use super::batch::{self, Batch, Carried};
use super::run_eval::RunEval;
use crate::child::{self, Cost};
use crate::text;

#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) runs: usize,
    pub(crate) jobs: u32,
    pub(crate) repetitions: usize,
    pub(crate) singles: usize,
}

/// A fake agent in a folder of its own.
pub(crate) struct Stage {
    place: TempDir,
    agent: PathBuf,
    effort: Effort,
    script: Option<RunEval>,
    /// The build of skillgauge that is the guard.
    guard: PathBuf,
}

/// One batch of ours and the shell loop that ran after it.
pub(crate) struct Pair {
    pub(crate) ours: Cost,
    pub(crate) carried: Carried,
    pub(crate) shell: Cost,
    /// The public skill-creator's run_eval.py, if somebody said where it is.
    pub(crate) script: Option<Cost>,
}

impl Stage {
    pub(crate) fn new(effort: Effort, program: &Path) -> Result<Self> {
        let place = tempfile::tempdir_in(crate::place()?)?;
        let script = AgentScript::new([
            Step::Say("I will look at the data.".into()),
            Step::Read { path: "sales.csv".into() },
            Step::Write { path: "report.md".into(), text: "# Sales\n\n| a | b |\n".repeat(50) },
            Step::Finish(Finish::text("The report is in report.md.")),
        ]);
        let agent = install(place.path(), "agent", &script)?;
        let script = RunEval::find(place.path(), &script, effort)?;
        Ok(Self { place, agent, effort, script, guard: program.to_owned() })
    }

    /// Ours and theirs, taking turns.
    pub(crate) fn batches(&self) -> Result<Vec<Pair>> {
        let mut pairs = Vec::new();
        for _ in 0..self.effort.repetitions {
            let (ours, carried) = self.batch(self.effort.runs, self.effort.jobs)?;
            let script = self.script.as_ref().map(RunEval::measure).transpose()?;
            pairs.push(Pair { ours, carried, shell: self.shell_loop()?, script });
        }
        Ok(pairs)
    }

    /// One run at a time, without anything beside it.
    pub(crate) fn singles(&self) -> Result<Carried> {
        Ok(self.batch(self.effort.singles, 1)?.1)
    }

    fn batch(&self, runs: usize, jobs: u32) -> Result<(Cost, Carried)> {
        let round = Round::new(&self.place, runs)?;
        let result = round.folder.path().join("result.json");
        let batch = Batch {
            agent: self.agent.clone(),
            guard: self.guard.clone(),
            folders: round.folders.clone(),
            outputs: round.folder.path().join("outputs"),
            jobs,
            result: result.clone(),
        };
        let order = round.folder.path().join("batch.json");
        fs_err::write(&order, serde_json::to_vec(&batch)?)?;
        let this = std::env::current_exe()?;
        let cost = child::measure(&this, &[batch::CARRY_OUT, text(&order)?])?;
        let carried: Carried = serde_json::from_slice(&fs_err::read(result)?)?;
        ensure!(carried.runs.len() == runs, "only {} runs came back", carried.runs.len());
        Ok((cost, carried))
    }

    /// `xargs -P`: no limit, no watchdog, nothing kept, whatever is left behind stays.
    fn shell_loop(&self) -> Result<Cost> {
        let round = Round::new(&self.place, self.effort.runs)?;
        let list = round.folder.path().join("list");
        let names = round.folders.iter().map(|folder| text(folder)).collect::<Result<Vec<_>>>()?;
        fs_err::write(&list, names.join("\n") + "\n")?;
        let jobs = self.effort.jobs.to_string();
        let arguments = ["-a", text(&list)?, "-P", &jobs, "-n", "1", text(&self.agent)?, "--cd"];
        let cost = child::measure(Path::new("/usr/bin/xargs"), &arguments)?;
        for folder in &round.folders {
            ensure!(folder.join("report.md").is_file(), "the shell loop did not do its work");
        }
        Ok(cost)
    }
}

/// Fresh work folders, made before anything is measured.
struct Round {
    folder: TempDir,
    folders: Vec<PathBuf>,
}

impl Round {
    fn new(place: &TempDir, runs: usize) -> Result<Self> {
        let folder = tempfile::tempdir_in(place.path())?;
        let mut folders = Vec::new();
        for run in 0..runs {
            let work = folder.path().join(format!("work-{run:04}"));
            fs_err::create_dir_all(work.join("data"))?;
            fs_err::write(work.join("sales.csv"), "region,amount\nnorth,1\n".repeat(100))?;
            fs_err::write(work.join("data/notes.txt"), "notes\n".repeat(20))?;
            fs_err::write(work.join("data/more.csv"), "a,b\n".repeat(5000))?;
            folders.push(work);
        }
        Ok(Self { folder, folders })
    }
}
