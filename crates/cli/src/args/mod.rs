//! What can be typed: clap types only, one file for each command.

mod bench;
mod check;
mod compare;
mod demo;
mod doctor;
mod explain;
mod fleet;
mod grade;
mod improve;
mod lint_evals;
mod measure;
mod merge;
mod output;
mod package;
mod probe;
mod report;
mod route;
mod run;
mod schema;
mod serve;
mod transcript;
mod trigger;
mod tune;
mod validate;
mod version;

pub use bench::BenchArgs;
pub use check::CheckArgs;
pub use compare::{AnalyzeArgs, CompareArgs, PairArgs};
pub use demo::DemoArgs;
pub use doctor::DoctorArgs;
pub use explain::ExplainArgs;
pub use fleet::{
    ArchiveArgs, FleetAction, FleetArgs, FleetCancelArgs, FleetCollectArgs, FleetInitArgs,
    FleetRunArgs, FleetStatusArgs, FleetSubmitArgs, FleetWorkerArgs, LoginArgs, PaceArgs,
    ServerArgs,
};
pub use grade::GradeArgs;
pub use improve::ImproveArgs;
pub use lint_evals::{LintEvalsArgs, LintFormat};
pub(crate) use measure::duration;
pub use measure::{AgentArgs, BudgetArgs, TapeArgs};
pub use merge::MergeArgs;
pub(crate) use output::write_file;
pub use output::{Format, OutputArgs, PageFormat, PlainFormat};
pub use package::PackageArgs;
pub use probe::ProbeArgs;
pub use report::ReportArgs;
pub use route::RouteArgs;
pub use run::{BaselineArg, RunArgs, RunFormat, VersionRun};
pub use schema::SchemaArgs;
pub use serve::ServeArgs;
pub use transcript::TranscriptArgs;
pub use trigger::{ApiRequestArg, TriggerArgs, TriggerFormat, ViaArg};
pub use tune::TuneArgs;
pub use validate::{FormatArg, ProfileArg, ValidateArgs};
pub use version::{DiffArgs, HistoryAction, HistoryArgs, InitArgs, RestoreArgs, SnapshotArgs};

use std::fmt::Write as _;

use clap::{Args as _, Parser, Subcommand};

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

    /// Say nothing but results and errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say what is done: commands of agents, calls of models, retries; -vv says more
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Write everything that is done to this file; secrets are left out
    #[arg(long, global = true, value_name = "FILE")]
    pub log_file: Option<std::path::PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check that skills are well formed
    #[command(alias = "lint")]
    Validate(ValidateArgs),
    /// Check the quality of a suite and a trigger set
    LintEvals(LintEvalsArgs),
    /// Tell what a finding means and what to do about it
    Explain(ExplainArgs),
    /// Run a suite with and without a skill: execute, check, grade, aggregate
    #[command(alias = "test", alias = "eval")]
    Run(RunArgs),
    /// Check finished runs against the structural expectations of their suite
    Check(CheckArgs),
    /// Aggregate the graded runs of an iteration, with intervals and a verdict
    Bench(BenchArgs),
    /// Have stored runs graded by a judge, or any transcript
    Grade(GradeArgs),
    /// Compare two versions blind, on the cases that both were run on
    Compare(CompareArgs),
    /// Say why a version won and what to change, after `compare`
    Analyze(AnalyzeArgs),
    /// Improve a skill in rounds: measure, compare blind, analyse, change
    Improve(ImproveArgs),
    /// Set up a skill for measuring: a suite to fill in, and its first version
    #[command(alias = "new")]
    Init(InitArgs),
    /// Store the skill as a new version
    Snapshot(SnapshotArgs),
    /// Show the versions of a skill, or what differs between two
    History(HistoryArgs),
    /// Put a version back, after the present state was stored
    Restore(RestoreArgs),
    /// Pack a skill into a `.skill` archive
    Package(PackageArgs),
    /// Measure whether a skill triggers for the right queries
    Trigger(TriggerArgs),
    /// Write the pages of a workspace as one HTML file
    Report(ReportArgs),
    /// Show a workspace in the browser
    #[command(alias = "view")]
    Serve(ServeArgs),
    /// Find out which of several skills takes each query
    Route(RouteArgs),
    /// Improve the description of a skill until it triggers for the right queries
    Tune(TuneArgs),
    /// Show what an agent did, from its raw event stream
    Transcript(TranscriptArgs),
    /// Put the parts of a run together that `run --shard` made
    Merge(MergeArgs),
    /// Carry out runs on many machines, over a NATS server
    Fleet(FleetArgs),
    /// See the whole way on a bundled example, with no key and no network
    Demo(DemoArgs),
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
const GROUPS: [(&str, &[&str]); 7] = [
    ("Look", &["validate", "lint-evals", "explain"]),
    ("Measure", &["trigger", "route", "run", "check", "grade", "bench"]),
    ("Improve", &["tune", "compare", "analyze", "improve"]),
    ("Keep", &["init", "snapshot", "history", "restore", "package"]),
    ("See", &["report", "serve", "transcript"]),
    ("Scale", &["merge", "fleet"]),
    ("About", &["demo", "doctor", "schema", "completions"]),
];

/// Puts the arguments of a command into it.
type Augment = fn(clap::Command) -> clap::Command;

/// Where the long help of each command stands: at its arguments, which the line of a variant in [`Command`] would hide.
const EXPLAINED: &[(&str, Augment)] = &[
    ("validate", ValidateArgs::augment_args),
    ("lint-evals", LintEvalsArgs::augment_args),
    ("explain", ExplainArgs::augment_args),
    ("trigger", TriggerArgs::augment_args),
    ("route", RouteArgs::augment_args),
    ("run", RunArgs::augment_args),
    ("check", CheckArgs::augment_args),
    ("grade", GradeArgs::augment_args),
    ("bench", BenchArgs::augment_args),
    ("tune", TuneArgs::augment_args),
    ("compare", CompareArgs::augment_args),
    ("analyze", AnalyzeArgs::augment_args),
    ("improve", ImproveArgs::augment_args),
    ("init", InitArgs::augment_args),
    ("snapshot", SnapshotArgs::augment_args),
    ("history", HistoryArgs::augment_args),
    ("restore", RestoreArgs::augment_args),
    ("package", PackageArgs::augment_args),
    ("report", ReportArgs::augment_args),
    ("serve", ServeArgs::augment_args),
    ("transcript", TranscriptArgs::augment_args),
    ("merge", MergeArgs::augment_args),
    ("fleet", FleetArgs::augment_args),
    ("demo", DemoArgs::augment_args),
    ("doctor", DoctorArgs::augment_args),
    ("schema", SchemaArgs::augment_args),
    ("completions", CompletionsArgs::augment_args),
];

/// The command line with its commands in groups, each with all that is to be said about it.
pub fn grouped(mut command: clap::Command) -> clap::Command {
    // Each one is put back at the end of the list, so that the documentation has them in the order of the groups.
    for (name, augment) in EXPLAINED {
        let long = augment(clap::Command::new(*name)).get_long_about().cloned();
        command = command.mut_subcommand(name, |found| match long {
            Some(long) => found.long_about(long),
            None => found,
        });
    }
    let mut listing = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(listing, "{group}:");
        for found in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = found.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(listing, "  {:<12} {about}", found.get_name());
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
    fn the_long_help_of_every_command_is_shown() {
        let mut command = super::super::command();
        let mut explained: Vec<&str> = EXPLAINED.iter().map(|(name, _)| *name).collect();
        let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        explained.sort_unstable();
        all.sort_unstable();
        assert_eq!(explained, all);
        let compare = command.find_subcommand_mut("compare").unwrap();
        let text = compare.render_long_help().to_string();
        assert!(text.contains("Exits with 1 when the second version is worse"), "{text}");
    }

    #[test]
    fn the_declaration_is_sound() {
        super::super::command().debug_assert();
    }
}
