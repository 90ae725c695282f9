//! Arguments of `package`.

use std::path::PathBuf;

/// Pack a skill into a `.skill` archive
///
/// The skill is validated first. The same files give the same bytes. Evals, workspaces, version control, links, what git
/// ignores and files that look like secrets stay out, and are named.
#[derive(clap::Args, Debug)]
pub struct PackageArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,

    /// The archive, or a folder for it [default: NAME.skill in the working folder]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Show what would go in, and write nothing
    #[arg(long)]
    pub list: bool,
}
