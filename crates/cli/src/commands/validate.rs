//! `skillgauge validate`.

use std::path::PathBuf;

use skillgauge_core::output::{Format, Github, Json, Jsonl, Junit, Paths, Renderer, Sarif, Text};
use skillgauge_core::profile::{Names, Policy, Profile, Strictness};
use skillgauge_core::rule::rule_named;
use skillgauge_core::skill::discover::Ignore;
use skillgauge_core::validate::parallel::{self, Done, Fixing, Job};

use super::{Outcome, explain};
use crate::args::ValidateArgs;
use crate::error::CommandError;
use crate::{ExitCode, Printer};

pub(crate) fn run(args: &ValidateArgs, printer: &Printer) -> Outcome {
    let fixing = fixing(args)?;
    let policy = policy(args)?;
    let renderer = renderer(args.format, &args.paths, printer);
    let job = Job {
        paths: &args.paths,
        ignore: if args.no_ignore { Ignore::Disregarded } else { Ignore::Respected },
        policy: &policy,
        fixing,
        threads: args.jobs.map_or_else(processors, usize::from),
        renderer: &*renderer,
    };
    let done = parallel::run(&job, &mut printer.stdout())?;
    let code = conclude(fixing, &done, printer);
    // What is not there has findings, too; but it is the command that is wrong, not a skill.
    let is_typo = args.paths.iter().any(|path| !path.exists());
    Ok(if is_typo { ExitCode::Usage } else { code })
}

fn conclude(fixing: Fixing, done: &Done, printer: &Printer) -> ExitCode {
    let findings = if done.fixed == 1 { "1 finding" } else { &format!("{} findings", done.fixed) };
    match fixing {
        Fixing::Off => {}
        Fixing::On => printer.say(&format!("fixed {findings}")),
        Fixing::DryRun => printer.say(&format!("would fix {findings}; nothing was changed")),
    }
    for error in &done.failed {
        printer.say(&format!("error: {error}"));
    }
    let would_change = fixing == Fixing::DryRun && done.fixed > 0;
    if done.totals.invalid > 0 || would_change || !done.failed.is_empty() {
        ExitCode::Failure
    } else {
        ExitCode::Success
    }
}

fn fixing(args: &ValidateArgs) -> Result<Fixing, CommandError> {
    match (args.fix, args.dry_run) {
        (true, true) if args.format != Format::Text => Err(CommandError::usage(
            "a diff has no other format than text",
            "leave out `--format` with `--dry-run`",
        )),
        (true, true) => Ok(Fixing::DryRun),
        (true, false) => Ok(Fixing::On),
        (false, _) => Ok(Fixing::Off),
    }
}

fn policy(args: &ValidateArgs) -> Result<Policy, CommandError> {
    let code = |code: &String| {
        rule_named(code).map(|rule| rule.code).ok_or_else(|| explain::unknown(code))
    };
    let profiles = if args.profiles.is_empty() {
        vec![Profile::default_profile()]
    } else {
        args.profiles.clone()
    };
    Ok(Policy {
        profiles,
        strictness: if args.strict { Strictness::Strict } else { Strictness::Normal },
        ignored: args.ignore.iter().map(code).collect::<Result<_, _>>()?,
        names: args.allow_unicode_names.then_some(Names::Unicode),
    })
}

fn renderer(format: Format, given: &[PathBuf], printer: &Printer) -> Box<dyn Renderer> {
    let working_folder = std::env::current_dir().unwrap_or_default();
    let paths = Paths::new(working_folder, given);
    match format {
        Format::Text => Box::new(Text::new(printer.style())),
        Format::Json => Box::new(Json::new(paths)),
        Format::Jsonl => Box::new(Jsonl::new(paths)),
        Format::Sarif => Box::new(Sarif::new(paths, env!("CARGO_PKG_VERSION"))),
        Format::Github => Box::new(Github::new(paths)),
        Format::Junit => Box::new(Junit::new(paths)),
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
