//! Arguments of `check`.

use std::path::PathBuf;

use super::{OutputArgs, PlainFormat};

/// Check finished runs against the structural expectations of their suite
///
/// Looks at the files that a run left, its transcript and its timing, and writes structural.json into its folder. No agent
/// and no model is asked. docs/checks.md describes the types of checks.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Folders of runs or of iterations; of a workspace or skill the newest iteration
    #[arg(value_name = "RUN|ITERATION", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// The suite; the copy in the iteration if absent
    #[arg(long, value_name = "FILE")]
    pub evals: Option<PathBuf>,

    /// The skill, for scripts and input files; the one that the iteration names if absent
    #[arg(long, value_name = "DIR")]
    pub skill: Option<PathBuf>,

    /// How many runs are checked at once; as many as there are processors if absent
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PlainFormat>,
}
