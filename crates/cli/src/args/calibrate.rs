//! Arguments of `calibrate`.

use std::path::PathBuf;

use super::{OutputArgs, PlainFormat};

/// Measure a judge by verdicts of people
///
/// Compares what the judge decided about the runs of an iteration with what people decided about the same expectations:
/// on the review page of `skillgauge serve`, or in a file. Says how often both agree, beyond chance too, and how much of what
/// people pass or fail the judge passes or fails. 20 to 40 labels are enough for a useful answer.
///
/// The result is kept in calibration.json of the workspace, bound to the judge, its prompt and the suite. Benchmarks then show
/// pass rates with the judge's mistakes taken out, and `--judge-gate calibrated` lets the judge decide about exit codes.
/// The exit code is 1 when the judge could be guessing, and 3 when there are too few labels to say.
#[derive(Debug, clap::Args)]
pub struct CalibrateArgs {
    /// The folder of an iteration, or a workspace or skill: then its newest iteration
    #[arg(value_name = "ITERATION", default_value = ".")]
    pub iteration: PathBuf,

    /// Verdicts of people, beside those of feedback.json; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub labels: Vec<PathBuf>,

    /// Write so many verdicts at random for a person to decide, without what the judge said and which runs had the skill, and
    /// measure nothing; needs --out, beside which the material is written
    #[arg(long, value_name = "N", conflicts_with = "labels", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,

    /// The seed of the sample
    #[arg(long, value_name = "N", requires = "sample")]
    pub seed: Option<u64>,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PlainFormat>,
}
