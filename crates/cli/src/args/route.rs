//! Arguments of `route`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, PageFormat, ProbeArgs};

/// Find out which of several skills takes each query
///
/// Installs all skills below a folder at once and asks the queries of their own trigger sets. Shows which skill took each
/// query, how often a skill took what it wants and what it does not, and which skills take each other's queries. A run that
/// loads two skills counts for both: a probe goes on until the agent does something other than loading skills, which takes
/// one model request more. A query that no skill wants and that one takes is a false fire, and fails.
///
/// Exit code 0 when every query went where it should, 1 when some did not, 2 for bad input, 3 when none went wrong but some
/// are undecided or the measurement is broken, 130 when it was interrupted: run the same command again to resume.
#[derive(Args, Debug)]
pub struct RouteArgs {
    /// The folders with the skills
    #[arg(value_name = "DIR", default_value = ".")]
    pub folders: Vec<PathBuf>,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PageFormat>,

    /// The name that `--out FILE.html` had.
    #[arg(long, value_name = "FILE", hide = true)]
    pub page: Option<PathBuf>,

    /// How to probe.
    #[command(flatten)]
    pub probe: ProbeArgs,
}
