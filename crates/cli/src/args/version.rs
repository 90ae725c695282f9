//! Arguments of the commands that keep versions: `init`, `snapshot`, `history`, `restore`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use skillgauge_core::version::VersionNumber;

use super::{OutputArgs, PlainFormat};

/// Set up a skill for measuring: a suite to fill in, and its first version
///
/// Makes `evals/evals.json` in the skill if it is missing, and the workspace `<skill>-workspace` beside it with the first
/// version. Overwrites nothing and can be run again.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,
}

/// Store the skill as a new version
///
/// An unchanged skill makes no new version. What git ignores and what tools leave behind is no part of it.
#[derive(Args, Debug)]
pub struct SnapshotArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,

    /// What this version is
    #[arg(long, short, value_name = "TEXT")]
    pub message: Option<String>,
}

/// Show the versions of a skill, or what differs between two
#[derive(Args, Debug)]
pub struct HistoryArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PlainFormat>,

    /// What else to show.
    #[command(subcommand)]
    pub action: Option<HistoryAction>,
}

/// What `history` can show beside the list.
#[derive(Debug, Subcommand)]
pub enum HistoryAction {
    /// Show what differs between two versions
    Diff(DiffArgs),
}

/// The two versions of a difference.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// The version to start from, such as v1
    pub from: VersionNumber,

    /// The version to go to, such as v3
    pub to: VersionNumber,
}

/// Put a version back, after the present state was stored
///
/// Files that are in no version, such as those that git ignores, stay as they are.
#[derive(Args, Debug)]
pub struct RestoreArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,

    /// The version, such as v3
    #[arg(value_name = "VERSION")]
    pub number: Option<VersionNumber>,
}
