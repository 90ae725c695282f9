//! Arguments of `route`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ProbeArgs;

/// Find out which of several skills takes each query
///
/// Installs all skills below a folder at once and asks the queries of their own trigger sets. Shows which skill took each
/// query, how often a skill took what it wants and what it does not, and which skills take each other's queries.
///
/// Exit code 0 when every query went where it should, 1 when some did not, 2 for bad input, 3 when the measurement is broken
/// or incomplete, 130 when it was interrupted: the same command then goes on where it stopped.
#[derive(Args, Debug)]
pub struct RouteArgs {
    /// The folders with the skills
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,

    /// Write the report as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Write a page with the report to this file
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,

    /// How to write the report to standard output
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: RouteFormat,

    /// How to probe.
    #[command(flatten)]
    pub probe: ProbeArgs,
}

/// How to write a route report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RouteFormat {
    /// For people.
    #[default]
    Text,
    /// The route report.
    Json,
}
