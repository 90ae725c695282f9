//! Arguments of `doctor`.

/// Show which agents and models can be used, and what is missing
///
/// Starts nothing but `--version`. Says where a login was found, never what it is. Exits with 3 when no agent can be used,
/// as `run` and `trigger` would.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Write the report as JSON
    #[arg(long)]
    pub json: bool,
}
