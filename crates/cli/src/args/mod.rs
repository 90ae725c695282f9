//! What can be typed: clap types only, one file for each command.

mod doctor;
mod explain;
mod measure;
mod report;
mod schema;
mod serve;
mod transcript;
mod validate;

pub use doctor::DoctorArgs;
pub use explain::ExplainArgs;
pub(crate) use measure::duration;
pub use measure::{AgentArgs, BudgetArgs, TapeArgs};
pub use report::ReportArgs;
pub use schema::SchemaArgs;
pub use serve::ServeArgs;
pub use transcript::{TranscriptArgs, TranscriptFormat};
pub use validate::{FormatArg, ProfileArg, ValidateArgs};

use std::fmt::Write as _;

use clap::{Parser, Subcommand};

use crate::printer::Color;

/// Evaluates and improves Agent Skills
///
/// Tells the author of a skill (a folder with a SKILL.md) four things that can be believed: is it well formed,
/// does it trigger for the right requests, does it help, and which version is better.
#[derive(Debug, Parser)]
#[command(name = "skillgauge", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// When to use colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub color: Color,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check that skills are well formed
    Validate(ValidateArgs),
    /// Tell what a finding means and what to do about it
    Explain(ExplainArgs),
    /// Write the pages of a workspace as one HTML file
    Report(ReportArgs),
    /// Show a workspace in the browser
    Serve(ServeArgs),
    /// Show what an agent did, from its raw event stream
    Transcript(TranscriptArgs),
    /// Show which agents and models can be used, and what is missing
    Doctor(DoctorArgs),
    /// Print the JSON Schema of a file, or check a file against it
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// How `--help` groups the commands.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Look", &["validate", "explain"]),
    ("See", &["report", "serve", "transcript"]),
    ("About", &["doctor", "schema", "completions"]),
];

/// The command line with its commands in groups.
pub fn grouped(command: clap::Command) -> clap::Command {
    let mut listing = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(listing, "{group}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(|found| found.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(listing, "  {name:<12} {about}");
        }
        listing.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listing}Options:\n{{options}}\n\
         `skillgauge COMMAND --help` tells more about a command\n"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_is_in_a_group() {
        let command = Cli::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn the_declaration_is_sound() {
        super::super::command().debug_assert();
    }
}
