//! The measurements, in the order in which they are made.
//!
//! Ours and theirs take turns, so that a busy minute of the machine hits both. Invariant: every number
//! is raw here; medians, ratios and verdicts are the report's work.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::corpus::Corpus;
use super::floor;
use super::rival::{LibraryRun, Rival};
use crate::child::{self, Cost};
use crate::text;

/// How often things are measured.
pub(crate) struct Effort {
    /// Repetitions of a whole corpus; the library loop takes one part of it in each.
    pub(crate) repetitions: usize,
    /// Skills that are validated with one process each.
    pub(crate) single_skills: usize,
    pub(crate) starts: usize,
}

pub(crate) struct Throughput {
    pub(crate) all_jobs: Vec<Cost>,
    pub(crate) one_job: Vec<Cost>,
    /// A process that reads the same files and checks nothing.
    pub(crate) reading: Vec<Cost>,
    pub(crate) library: Vec<LibraryRun>,
}

/// One process per skill, ours and theirs.
pub(crate) struct Singles {
    pub(crate) ours: Vec<Cost>,
    pub(crate) theirs: Vec<Cost>,
}

/// The wall times of one command's starts.
pub(crate) struct Starts {
    pub(crate) what: &'static str,
    pub(crate) seconds: Vec<f64>,
}

/// The peaks of ours over corpora of several sizes.
pub(crate) struct Memory {
    pub(crate) sizes: Vec<(usize, Vec<Cost>)>,
    /// A program that does nothing, measured in the same way: what the method itself adds.
    pub(crate) floor: Cost,
}

pub(crate) struct Experiment {
    pub(crate) skillgauge: PathBuf,
    pub(crate) rival: Option<Rival>,
    pub(crate) effort: Effort,
}

impl Experiment {
    /// Ours must report every skill once, otherwise its speed means nothing.
    pub(crate) fn check(&self, corpus: &Corpus) -> Result<()> {
        let output = Command::new(&self.skillgauge)
            .args(["validate", "--format", "jsonl"])
            .arg(&corpus.root)
            .stdin(Stdio::null())
            .output()
            .context("cannot start skillgauge")?;
        let lines = output.stdout.split(|&byte| byte == b'\n').filter(|l| !l.is_empty()).count();
        ensure!(
            matches!(output.status.code(), Some(0 | 1)) && lines == corpus.skills.len(),
            "skillgauge validate wrote {lines} lines for {} skills and ended with {}: {}",
            corpus.skills.len(),
            output.status,
            String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default()
        );
        Ok(())
    }

    pub(crate) fn throughput(&self, corpus: &Corpus) -> Result<Throughput> {
        let root = text(&corpus.root)?;
        let this = std::env::current_exe()?;
        let mut result = Throughput {
            all_jobs: Vec::new(),
            one_job: Vec::new(),
            reading: Vec::new(),
            library: Vec::new(),
        };
        for part in 0..self.effort.repetitions {
            result.all_jobs.push(self.ours(&["validate", root, "--format", "jsonl"])?);
            let one = ["validate", root, "--format", "jsonl", "--jobs", "1"];
            result.one_job.push(self.ours(&one)?);
            result.reading.push(child::measure_cached(&this, &[floor::READ, root])?);
            if let Some(rival) = &self.rival {
                let step = self.effort.repetitions;
                result.library.push(rival.validate_in_a_loop(&corpus.list, step, part)?);
            }
        }
        Ok(result)
    }

    pub(crate) fn singles(&self, corpus: &Corpus) -> Result<Singles> {
        let mut singles = Singles { ours: Vec::new(), theirs: Vec::new() };
        let step = (corpus.skills.len() / self.effort.single_skills).max(1);
        for skill in corpus.skills.iter().step_by(step).take(self.effort.single_skills) {
            let skill = text(skill)?;
            singles.ours.push(self.ours(&["validate", skill, "--format", "jsonl"])?);
            if let Some(rival) = &self.rival {
                singles.theirs.push(child::measure_cached(&rival.program, &["validate", skill])?);
            }
        }
        Ok(singles)
    }

    pub(crate) fn starts(&self, corpus: &Corpus) -> Result<Vec<Starts>> {
        let skill = text(&corpus.skills[0])?;
        let nothing = Path::new("/bin/true");
        let mut starts = [
            ("`/bin/true`", nothing, vec![]),
            ("`skillgauge --version`", &*self.skillgauge, vec!["--version"]),
            ("`skillgauge validate ONE_SKILL`", &*self.skillgauge, vec!["validate", skill]),
        ]
        .map(|(what, program, arguments)| {
            (program, arguments, Starts { what, seconds: Vec::new() })
        });
        for _ in 0..self.effort.starts {
            for (program, arguments, starts) in &mut starts {
                starts.seconds.push(child::spawn_seconds(program, arguments)?);
            }
        }
        Ok(starts.map(|(_, _, starts)| starts).into())
    }

    pub(crate) fn memory(&self, corpora: &[&Corpus]) -> Result<Memory> {
        let mut sizes = Vec::new();
        for corpus in corpora {
            let root = text(&corpus.root)?;
            let costs = (0..3)
                .map(|_| self.ours(&["validate", root, "--format", "jsonl"]))
                .collect::<Result<Vec<_>>>()?;
            sizes.push((corpus.skills.len(), costs));
        }
        Ok(Memory { sizes, floor: child::measure(Path::new("/bin/true"), &[])? })
    }

    fn ours(&self, arguments: &[&str]) -> Result<Cost> {
        child::measure_cached(&self.skillgauge, arguments)
    }
}
