//! Arguments of `explain`.

/// Tell what a finding means and what to do about it
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// A code such as NAME_FORMAT; without one, all codes are listed
    pub code: Option<String>,
}
