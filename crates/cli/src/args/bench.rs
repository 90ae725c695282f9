//! Arguments of `bench`.

use std::path::PathBuf;

use super::outcome::OutcomeArgs;
use super::{OutputArgs, RunFormat};

/// Aggregate the graded runs of an iteration, with intervals and a verdict
///
/// Reads every run below the iteration, in skillgauge's layout or in that of the skill-creator, and writes
/// benchmark.json, benchmark.md and eval_feedback_aggregate.json into it. Needs no agent and no model. The exit
/// code is 1 when the skill is worse than its baseline, and 3 when nothing was measured that could tell.
#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// The folder of an iteration, or a workspace or skill: then its newest iteration
    #[arg(value_name = "ITERATION", default_value = ".")]
    pub iteration: PathBuf,

    /// What decides.
    #[command(flatten)]
    pub outcome: OutcomeArgs,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<RunFormat>,

    /// The skill's name, if the folder does not tell it
    #[arg(long, value_name = "NAME")]
    pub skill_name: Option<String>,

    /// The skill's path, if the folder does not tell it
    #[arg(long, value_name = "PATH")]
    pub skill_path: Option<String>,

    /// The seed of the permutation test; that of the iteration if absent
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}
