//! Arguments of `compare` and `analyze`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use skillgauge_core::version::VersionNumber;

use super::measure::{BudgetArgs, TapeArgs};

/// Which versions are meant.
#[derive(Args, Clone, Debug)]
pub struct PairArgs {
    /// The skill
    #[arg(value_name = "SKILL")]
    pub skill: PathBuf,

    /// Two versions, such as v0 v1; the current one and the one before if absent
    #[arg(value_name = "VERSION", num_args = 0..=2)]
    pub versions: Vec<VersionNumber>,
}

/// Compare two versions blind, on the cases that both were run on
///
/// A comparator sees the results of stored runs without names, paths, version numbers and times, in both orders; a third
/// question decides when it prefers a position. Everything is kept below `<skill>-workspace/comparison`.
///
/// Exits with 1 when the second version is worse, with 3 when cases could not be compared.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// What is compared.
    #[command(flatten)]
    pub pair: PairArgs,

    /// The model that compares
    #[arg(long, value_name = "MODEL")]
    pub judge: Option<String>,

    /// The seed that labels and orders are drawn with
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Compare again what was compared before
    #[arg(long)]
    pub again: bool,

    /// How to write the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: CompareFormat,

    /// What may be spent.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Record and replay.
    #[command(flatten)]
    pub tape: TapeArgs,
}

/// How a comparison or an analysis is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
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

    /// How to write the analysis
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: CompareFormat,

    /// What may be spent.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Record and replay.
    #[command(flatten)]
    pub tape: TapeArgs,
}
