//! What can be typed: clap types only, one file for each command.

mod bench;
mod calibrate;
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
mod outcome;
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
pub use calibrate::CalibrateArgs;
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
pub use outcome::{JudgeGateArg, OutcomeArgs};
pub(crate) use output::write_file;
pub use output::{Format, OutputArgs, PageFormat, PlainFormat};
pub use package::PackageArgs;
pub use probe::ProbeArgs;
pub use report::ReportArgs;
pub use route::RouteArgs;
pub use run::{RunArgs, RunFormat, VersionRun};
pub use schema::SchemaArgs;
pub use serve::ServeArgs;
pub use transcript::TranscriptArgs;
pub use trigger::{ApiRequestArg, TriggerArgs, TriggerFormat, ViaArg};
pub use tune::{ApplyArg, TuneArgs};
pub use validate::{FormatArg, ProfileArg, ValidateArgs};
pub use version::{DiffArgs, HistoryAction, HistoryArgs, InitArgs, RestoreArgs, SnapshotArgs};

use std::fmt::Write as _;

use clap::{Parser, Subcommand};

use crate::printer::Color;

/// Evaluates and improves Agent Skills
///
/// Measures whether a skill (a folder with a SKILL.md) is well formed, triggers for the right requests, helps, and
/// which version is better, and says how sure it is.
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

/// The commands, in the order of [`GROUPS`]; what each does stands at its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(alias = "lint")]
    Validate(ValidateArgs),
    LintEvals(LintEvalsArgs),
    Explain(ExplainArgs),
    Trigger(TriggerArgs),
    Route(RouteArgs),
    #[command(alias = "test", alias = "eval")]
    Run(Box<RunArgs>),
    Check(CheckArgs),
    Grade(GradeArgs),
    Calibrate(CalibrateArgs),
    Bench(BenchArgs),
    Tune(TuneArgs),
    Compare(CompareArgs),
    Analyze(AnalyzeArgs),
    Improve(ImproveArgs),
    #[command(alias = "new")]
    Init(InitArgs),
    Snapshot(SnapshotArgs),
    History(HistoryArgs),
    Restore(RestoreArgs),
    Package(PackageArgs),
    Report(ReportArgs),
    #[command(alias = "view")]
    Serve(ServeArgs),
    Transcript(TranscriptArgs),
    Merge(MergeArgs),
    Fleet(FleetArgs),
    Demo(DemoArgs),
    Doctor(DoctorArgs),
    Schema(SchemaArgs),
    Completions(CompletionsArgs),
}

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// How `--help` groups the commands.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Look", &["validate", "lint-evals", "explain"]),
    ("Measure", &["trigger", "route", "run", "check", "grade", "calibrate", "bench"]),
    ("Improve", &["tune", "compare", "analyze", "improve"]),
    ("Keep", &["init", "snapshot", "history", "restore", "package"]),
    ("See", &["report", "serve", "transcript"]),
    ("Scale", &["merge", "fleet"]),
    ("About", &["demo", "doctor", "schema", "completions"]),
];

/// The command line with its commands in groups, each with all that is to be said about it.
pub fn grouped(command: clap::Command) -> clap::Command {
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
    fn every_command_has_a_help_that_says_what_it_does() {
        let mut command = super::super::command();
        for below in command.get_subcommands_mut() {
            assert!(below.get_about().is_some(), "{}", below.get_name());
        }
        let compare = command.find_subcommand_mut("compare").unwrap();
        let text = compare.render_long_help().to_string();
        assert!(text.contains("Exits with 1 when the second version is worse"), "{text}");
    }

    #[test]
    fn the_declaration_is_sound() {
        super::super::command().debug_assert();
    }
}
