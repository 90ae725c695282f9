//! Arguments of `improve`.

use std::path::PathBuf;

use clap::Args;
use skillgauge_format::evals::PrimaryOutcome;

use super::trigger::threshold;
use super::{AgentArgs, BudgetArgs, OutputArgs, PlainFormat, TapeArgs};

/// Improve a skill in rounds: measure, compare blind, analyse, change
///
/// The present state is stored as a version and measured. Then each round has the best version so far analysed, applies
/// the suggestions that leave the skill well formed, stores the result as a new version, runs and grades every case with it,
/// and compares it blind with the version that it was made from. The loop ends at the target, after the rounds, after two
/// rounds without improvement, or at a limit. The measurement decides; blind comparisons inform the analyst and break ties.
///
/// The best version is made current only if a test shows that it is better than the one that the loop began with;
/// otherwise that one is put back. The n-th version tried must reach p <= 0.05 / (n (n + 1) / 2): a loop in which no version
/// is better adopts one in at most 5 of 100 times. With few cases (fewer than 6 for the first version) the test is about
/// these cases, and the result says so. With 10 cases or more, 30 % are sealed: neither the analyst nor the loop sees them,
/// and they decide. A version that repeats expectations of the suite word for word is flagged.
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

    /// Stop when a version reaches this share of the suite's outcome: 1 is a pass rate of 100 %, or a score of 5
    #[arg(long, value_name = "RATE", default_value_t = 1.0, value_parser = threshold)]
    pub target: f64,

    /// The outcome that decides: pass_rate, rubric_normalized, overall_efficiency, overall_score or required_score; the
    /// suite's own if absent
    #[arg(long, value_name = "OUTCOME")]
    pub primary: Option<PrimaryOutcome>,

    /// How many versions are made, at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub rounds: u64,

    /// How often each case is run with each version [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub runs: Option<u64>,

    /// The model that judges and compares; none: only structural checks, and no comparison
    #[arg(long, value_name = "MODEL")]
    pub judge: Option<String>,

    /// Don't compare versions blind: saves two calls per case and version
    #[arg(long)]
    pub no_compare: bool,

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
