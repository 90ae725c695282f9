//! The cost of reading alone: opens every grading of the iteration, reads it, and looks at nothing.
//!
//! An aggregation can hardly need less than this, so it says how far a better one could still get. It is measured like
//! one, as a process of its own. Invariant: one open, one read and one close for each grading, by all cores.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::iteration::CONFIGURATIONS;

/// The hidden first argument of a process that does only this.
pub(crate) const READ: &str = "--read-gradings";

/// Reads every grading below the folder of an iteration; the arguments are the folder, the cases and the runs of each.
pub(crate) fn read(arguments: &[String]) -> Result<()> {
    let [folder, cases, runs] = arguments else {
        anyhow::bail!("expected a folder and two counts")
    };
    let (cases, runs): (u32, u32) = (cases.parse()?, runs.parse()?);
    let folder = Path::new(folder);
    let threads = u32::try_from(std::thread::available_parallelism()?.get())?;
    let results: Vec<Result<u64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|first| {
                scope.spawn(move || {
                    let mine = (1..=cases).skip(first as usize).step_by(threads as usize);
                    read_cases(folder, mine, runs)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(0))).collect()
    });
    let read: u64 = results.into_iter().sum::<Result<u64>>()?;
    ensure!(read == u64::from(cases * runs * 2), "only {read} gradings were read");
    Ok(())
}

fn read_cases(folder: &Path, cases: impl Iterator<Item = u32>, runs: u32) -> Result<u64> {
    let mut buffer = vec![0; 64 * 1024];
    let mut read = 0;
    for case in cases {
        for configuration in CONFIGURATIONS {
            for run in 1..=runs {
                let path =
                    folder.join(format!("eval-{case}/{configuration}/run-{run}/grading.json"));
                let length = fs_err::File::open(path)?.read(&mut buffer).context("cannot read")?;
                ensure!(length > 0, "an empty grading");
                read += 1;
            }
        }
    }
    Ok(read)
}
