//! Arguments of `transcript`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use skillgauge_run::agent::adapter::ADAPTERS;

use super::{OutputArgs, PlainFormat};

/// Show what an agent did, from its raw event stream
///
/// Reads what Claude Code, Codex, Gemini CLI or opencode printed in their JSON mode, or what a command agent
/// printed, and shows it in one shape: texts, tool calls, skill loads, errors, usage and what became of the run.
#[derive(Debug, clap::Args)]
pub struct TranscriptArgs {
    /// The file with the event stream; `-` for standard input
    pub file: PathBuf,

    /// Which agent wrote it
    #[arg(long, value_name = "NAME", value_parser = agents())]
    pub agent: String,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PlainFormat>,

    /// The exit code of the agent, if it is known: some agents say only by it that they failed
    #[arg(long, value_name = "CODE")]
    pub exit_code: Option<i32>,
}

fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(
        ADAPTERS.iter().map(|kind| PossibleValue::new(kind.name).help(kind.about)),
    )
}
