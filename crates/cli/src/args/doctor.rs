//! Arguments of `doctor`.

/// Show which agents and models can be used, and what is missing
///
/// Starts nothing but `--version`. Says where a login was found, never what it is.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Write the report as JSON
    #[arg(long)]
    pub json: bool,
}
