//! Arguments of `doctor`.

use super::{OutputArgs, PlainFormat};

/// Show which agents and models can be used, and what is missing
///
/// Starts nothing but `--version`. Says where a login was found, never what it is. Exits with 3 when no agent can be used,
/// as `run` and `trigger` would.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PlainFormat>,

    /// The name that `--format json` had.
    #[arg(long, hide = true)]
    pub json: bool,
}
