//! Arguments of `improve`.

use std::path::PathBuf;

use clap::Args;

use super::trigger::threshold;
use super::{AgentArgs, BudgetArgs, OutputArgs, PlainFormat, TapeArgs};

/// Improve a skill in rounds: measure, compare blind, analyse, change
///
/// The present state is stored as a version and measured. Then each round has the best version so far analysed, applies
/// the suggestions that leave the skill well formed, stores the result as a new version, runs and grades every case with it,
/// and compares it blind with the version that it was made from. The loop ends at the target, after the rounds, after two
/// rounds without improvement, or at a limit. The best version is made current only if it is better than the one that the
/// loop began with beyond noise; otherwise that one is put back. Beyond noise means a paired test over cases with p at most
/// 0.05 for the first version that is tried and less for each further one (0.017, 0.008, 0.005, ...), so that all together a
/// loop adopts a version that is no better in at most 5 of 100 times. That takes at least 6 cases, and one more per round.
///
/// Exit code 0 when the loop came to its end, 2 for bad input, 3 when it was stopped by a limit or an error, 130 when it
/// was interrupted: run the same command again to resume.
#[derive(Args, Debug)]
pub struct ImproveArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,

    /// The suite; `<skill>/evals/evals.json` if absent
    #[arg(long, value_name = "FILE")]
    pub evals: Option<PathBuf>,

    /// Only the cases whose id matches, such as `login-*`; may be given more than once
    #[arg(long = "case", value_name = "GLOB")]
    pub cases: Vec<String>,

    /// Stop when a version has this mean pass rate
    #[arg(long, value_name = "RATE", default_value_t = 1.0, value_parser = threshold)]
    pub target: f64,

    /// How many versions are made, at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub rounds: u64,

    /// How often each case is run with each version [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub runs: Option<u64>,

    /// The model that judges and compares; none: only structural checks, and no comparison
    #[arg(long, value_name = "MODEL")]
    pub judge: Option<String>,

    /// How often the judge is asked; the majority decides
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub judge_votes: Option<u32>,

    /// The model that analyses
    #[arg(long, value_name = "MODEL")]
    pub improver: Option<String>,

    /// How often a run is tried again that a service or this machine kept from its result
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub retries: u32,

    /// The seed of everything that is drawn
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Begin a new loop although the last one is unfinished
    #[arg(long)]
    pub fresh: bool,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PlainFormat>,

    /// Who runs.
    #[command(flatten)]
    pub agent: AgentArgs,

    /// What may be spent.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Record and replay.
    #[command(flatten)]
    pub tape: TapeArgs,
}
