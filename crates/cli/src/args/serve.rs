//! Arguments of `serve`.

use std::path::PathBuf;

use super::fleet::LoginArgs;

/// Show a workspace in the browser
///
/// Serves the pages of a workspace on this machine only, follows a run that is going on, and saves reviews to
/// feedback.json. Ends with Ctrl-C.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The skill, its workspace, or one iteration of it; workspaces of the skill-creator work too
    #[arg(value_name = "SKILL|WORKSPACE", default_value = ".")]
    pub workspace: PathBuf,

    /// The port; when another program has it, the next free one is taken
    #[arg(long, value_name = "PORT", default_value_t = 8420)]
    pub port: u16,

    /// Do not open the browser
    #[arg(long)]
    pub no_open: bool,

    /// Show what the fleet of this server does too, on a page of its own
    #[arg(long, value_name = "URL", help_heading = "Fleet")]
    pub fleet: Option<String>,

    /// How to log in there.
    #[command(flatten)]
    pub login: LoginArgs,
}
