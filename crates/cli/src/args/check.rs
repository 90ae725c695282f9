//! Arguments of `check`.

use std::path::PathBuf;

/// Check finished runs against the structural expectations of their suite
///
/// Looks at the files that a run left, its transcript and its timing, and writes structural.json into its folder. No agent
/// and no model is asked. docs/checks.md describes the types of checks.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Folders of runs, or of iterations with all their runs
    #[arg(required = true, value_name = "RUN|ITERATION")]
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

    /// How to show the results
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CheckFormat,
}

/// How to show results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckFormat {
    /// For people
    Text,
    /// One JSON array with everything
    Json,
}
