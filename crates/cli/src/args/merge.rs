//! Arguments of `merge`.

use std::path::PathBuf;

/// Put the parts of a run together that `run --shard` made
///
/// Every part must measure the same thing: skill, suite, agent, model, judge, runs and seed. A run that two parts have is
/// taken once. A part that is not there is named, and the others are put together. Exits with 3 and names the runs that no
/// part has.
#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// Iterations, or workspaces, of which the newest iteration is taken
    #[arg(required = true, value_name = "DIR")]
    pub parts: Vec<PathBuf>,
    /// The folder for the whole, new or made by an earlier merge; more parts can be added to it later
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
}
