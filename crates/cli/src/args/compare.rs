//! Arguments of `compare` and `analyze`.

use std::path::PathBuf;

use clap::Args;
use skillgauge_core::version::VersionNumber;

use super::{AgentArgs, BudgetArgs, OutputArgs, PlainFormat, TapeArgs};

/// Which versions are meant.
#[derive(Args, Clone, Debug)]
pub struct PairArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,

    /// Two versions, such as v0 v1; the current one and the one before if absent
    #[arg(value_name = "VERSION", num_args = 0..=2)]
    pub versions: Vec<VersionNumber>,
}

/// Compare two versions blind, on the cases that both were run on
///
/// A comparator sees the results of stored runs without names, paths, version numbers and times, in both orders. A case
/// in which its answer changes with the order is a tie; the sign test over the other cases gives the verdict. If more than
/// a third of the cases are ties, the comparator follows positions rather than results: the verdict is undecided and the
/// exit code 3. Everything is kept below `<skill>-workspace/comparison`.
///
/// Only stored runs are compared, unless `--run` is given: then each version is first run on the cases of the present
/// suite that it lacks a run of, and graded, and nothing that is there is run again.
///
/// Exits with 1 when the second version is worse, with 2 when there is nothing to compare, with 3 when cases could not be
/// compared or the comparator follows positions.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// What is compared.
    #[command(flatten)]
    pub pair: PairArgs,

    /// Run what is missing first: each version on the cases that it has no stored run of
    #[arg(long)]
    pub run: bool,

    /// The suite for `--run`; `<skill>/evals/evals.json` if absent
    #[arg(long, value_name = "FILE", requires = "run")]
    pub evals: Option<PathBuf>,

    /// With `--run`, only the cases whose id matches, such as `login-*`; may be given more than once
    #[arg(long = "case", value_name = "GLOB", requires = "run")]
    pub cases: Vec<String>,

    /// With `--run`, how often each case is run; one run is compared [default: 1]
    #[arg(long, value_name = "N", requires = "run", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub runs: Option<u64>,

    /// With `--run`, how often a run is tried again that a service or this machine kept from its result
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub retries: u32,

    /// The model that compares, and that judges what is run
    #[arg(long, value_name = "MODEL")]
    pub judge: Option<String>,

    /// The seed that labels and orders are drawn with
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Compare again what was compared before
    #[arg(long)]
    pub again: bool,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PlainFormat>,

    /// Who runs what is missing.
    #[command(flatten)]
    pub agent: AgentArgs,

    /// What may be spent.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Record and replay.
    #[command(flatten)]
    pub tape: TapeArgs,
}

/// Say why a version won and what to change, after `compare`
///
/// Each suggestion replaces a passage that is really in the skill. With `--apply` the present state is stored first, and
/// each suggestion is applied as a whole or not at all.
#[derive(Args, Debug)]
pub struct AnalyzeArgs {
    /// What is compared.
    #[command(flatten)]
    pub pair: PairArgs,

    /// The model that analyses
    #[arg(long, value_name = "MODEL")]
    pub improver: Option<String>,

    /// Apply the suggestions with these numbers; all of them without a number
    #[arg(long, value_name = "N", num_args = 0..)]
    pub apply: Option<Vec<usize>>,

    /// Analyse again what was analysed before
    #[arg(long)]
    pub again: bool,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PlainFormat>,

    /// What may be spent.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Record and replay.
    #[command(flatten)]
    pub tape: TapeArgs,
}
