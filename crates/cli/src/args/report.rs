//! Arguments of `report`.

use std::path::PathBuf;

/// Write the pages of a workspace as one HTML file
///
/// The file shows the newest iteration: the verdict, every case with its outputs side by side, transcripts, triggering,
/// versions and review. It needs no server and no network, and reviews can be downloaded from it as feedback.json.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The skill, its workspace, or one iteration of it; workspaces of the skill-creator work too
    #[arg(value_name = "SKILL|WORKSPACE", default_value = ".")]
    pub workspace: PathBuf,

    /// Where to write it; `-` for standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
}
