//! Arguments of `lint-evals`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::OutputArgs;

/// Check the quality of a suite and a trigger set
///
/// Reads `<skill>/evals/evals.json` and `<skill>/evals/triggers.json`, needs no model and reports everything at once: what
/// cannot be read, cases that cannot fail, expectations that the prompt gives away or that state nothing, duplicates,
/// missing input files, too few cases, queries that give their label away.
///
/// Exits with 1 when there are errors, or warnings under --strict; with 2 when nothing can be read.
#[derive(Clone, Debug, clap::Args)]
pub struct LintEvalsArgs {
    /// The skill
    #[arg(default_value = ".")]
    pub skill: PathBuf,
    /// The suite; `<skill>/evals/evals.json` if absent
    #[arg(long, value_name = "FILE")]
    pub evals: Option<PathBuf>,
    /// The trigger set; `<skill>/evals/triggers.json` if absent
    #[arg(long, value_name = "FILE")]
    pub triggers: Option<PathBuf>,
    /// Try the checks on reference answers and on an empty one
    ///
    /// `DIR/<case id>/` holds the files of a good answer, as they would be in `outputs/`. Each must pass the checks of its
    /// case, and an empty answer must fail every case. The suite's own scripts are run for this, on a copy.
    #[arg(long, value_name = "DIR")]
    pub reference: Option<PathBuf>,
    /// Exit with 1 when there are warnings, and make errors of vague expectations
    #[arg(long)]
    pub strict: bool,
    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<LintFormat>,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// Each finding with the line that it is about.
    #[default]
    Text,
    /// One object with files, findings, notes and a summary.
    Json,
    /// Annotations for GitHub Actions.
    Github,
}
